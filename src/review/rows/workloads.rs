//! What runs no longer, or with less protection.

use crate::results::Reason;
use crate::review::Risk;
use crate::review::row::{FieldChange, FiresWhen, Row};
use crate::review::walk::text;

const WORKLOADS: &[&str] = &[
    "apps/Deployment",
    "apps/StatefulSet",
    "apps/ReplicaSet",
    "ReplicationController",
];
const BUDGET: &[&str] = &["policy/PodDisruptionBudget"];
const API: &str = "Kubernetes API reference";

const fn row(
    kinds: &'static [&'static str],
    path: &'static str,
    when: FiresWhen,
    message: &'static str,
) -> Row {
    Row {
        kinds,
        path,
        when,
        risk: Risk::Dangerous,
        reason: Reason::ScaledToZero,
        message,
        source: API,
    }
}

pub(crate) const ROWS: &[Row] = &[
    row(
        WORKLOADS,
        "spec.replicas",
        FiresWhen::Becomes(&["0"], "1"),
        "no pods run any longer",
    ),
    row(
        &["autoscaling/HorizontalPodAutoscaler"],
        "spec.minReplicas",
        FiresWhen::Becomes(&["0"], "1"),
        "the autoscaler may stop all pods",
    ),
    row(
        &["batch/CronJob"],
        "spec.suspend",
        FiresWhen::Becomes(&["true"], "false"),
        "the job no longer starts",
    ),
    row(
        &["batch/Job"],
        "spec.suspend",
        FiresWhen::Becomes(&["true"], "false"),
        "the job does not run",
    ),
    row(
        BUDGET,
        "spec.minAvailable",
        FiresWhen::Becomes(&["0", "0%"], ""),
        "the budget protects no pod: all may be evicted",
    ),
    row(BUDGET, "spec.maxUnavailable", FiresWhen::Says(budget), ""),
];

fn budget(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = (text(change.before()), text(change.after())?);
    match after {
        _ if before == Some(after) => None,
        "0" | "0%" => Some("no pod may be evicted: nodes cannot be drained".to_owned()),
        "100%" => Some("the budget protects no pod: all may be evicted".to_owned()),
        _ => None,
    }
}

//! The rules of `rules.txt`, by class. To add a rule, add a line to it. If the table has no word for the condition,
//! write a function in a module here. `UPDATE_EXPECT=1 cargo test -p krm-review` writes the rules into `docs/review.md`.

mod access;
mod admission;
mod definitions;
mod immutable;
mod network;
mod order;
mod pods;
mod routes;
mod strings;
mod tls;

use std::sync::LazyLock;

use super::Risk;
use super::row::{FiresWhen, Row};
use super::table::{section, words};
use krm_core::results::Reason;

/// The classes of rules, each a section of the table.
pub(super) const CLASSES: [&str; 8] = [
    "Immutable fields",
    "Strings",
    "Pods",
    "Workloads",
    "Roles and bindings",
    "Networks",
    "Admission",
    "Custom resources",
];

pub(super) static RULES: LazyLock<Vec<Row>> =
    LazyLock::new(|| CLASSES.into_iter().flat_map(of_class).collect());

/// The rules of a class.
pub(super) fn of_class(class: &str) -> impl Iterator<Item = Row> {
    section(class).into_iter().filter_map(row)
}

/// Makes a rule from the columns of its line. `None` if a column is invalid; a test checks that no line of the table
/// is.
fn row([kinds, path, condition, message, source, risk, reason]: [&'static str; 7]) -> Option<Row> {
    let (condition, absent) = condition
        .split_once(", absent is ")
        .unwrap_or((condition, ""));
    let when = match condition.split_once(' ').unwrap_or((condition, "")) {
        ("changes", "") => FiresWhen::Changes(absent),
        ("is", "removed") => FiresWhen::Removed,
        ("is", "added") => FiresWhen::Added,
        (word @ ("becomes" | "turns"), values) => {
            let values = values.trim_start_matches("into ").split(" or ");
            FiresWhen::Becomes(values.collect(), absent, word == "turns")
        }
        ("if", name) => holds(name)?,
        ("by", name) => says(name).or_else(|| finds(name))?,
        _ => return None,
    };
    let reason = Reason::ALL.iter().find(|(_, name, _)| *name == reason);
    Some(Row {
        kinds: words(kinds),
        path,
        when,
        risk: Risk::ALL.into_iter().find(|known| known.as_str() == risk)?,
        reason: reason?.0,
        message,
        source,
    })
}

/// The condition function with this name.
fn holds(name: &str) -> Option<FiresWhen> {
    Some(FiresWhen::Holds(match name {
        "account" => pods::account,
        "asked_about_more" => admission::asked_about_more,
        "becomes_public" => network::becomes_public,
        "changes_address" => immutable::changes_address,
        "changes_balancer" => immutable::changes_balancer,
        "changes_claim" => immutable::changes_claim,
        "changes_completions" => immutable::changes_completions,
        "changes_family" => immutable::changes_family,
        "changes_frozen" => immutable::changes_frozen,
        "changes_health_port" => immutable::changes_health_port,
        "changes_pod" => immutable::changes_pod,
        "changes_ranges" => immutable::changes_ranges,
        "changes_templates" => immutable::changes_templates,
        "changes_volume" => immutable::changes_volume,
        "closes_egress" => network::closes_egress,
        "closes_ingress" => network::closes_ingress,
        "collects" => access::collects,
        "drops_size" => immutable::drops_size,
        "exposes_headless" => immutable::exposes_headless,
        "leaves_selector" => immutable::leaves_selector,
        "loses_authority" => tls::loses_authority,
        "loses_filter" => admission::loses_filter,
        "lowers" => immutable::lowers,
        "lowers_level" => pods::lowers_level,
        "opens_egress" => network::opens_egress,
        "opens_ingress" => network::opens_ingress,
        "selects_others" => network::selects_others,
        "shrinks" => immutable::shrinks,
        "stops_denying" => admission::stops_denying,
        "stops_redirect" => tls::stops_redirect,
        "unguards" => network::unguards,
        _ => return None,
    }))
}

/// The message function with this name.
fn says(name: &str) -> Option<FiresWhen> {
    Some(FiresWhen::Says(match name {
        "adds_capabilities" => pods::adds_capabilities,
        "aggregates" => access::aggregates,
        "arguments" => pods::arguments,
        "changes_storage" => definitions::changes_storage,
        "drops_served" => definitions::drops_served,
        "drops_stored" => definitions::drops_stored,
        "drops_type" => network::drops_type,
        "environment" => pods::environment,
        "gets_identity" => access::gets_identity,
        "grants_more" => access::grants_more,
        "image" => pods::image,
        "leaves_claims" => pods::leaves_claims,
        "loses_ports" => network::loses_ports,
        "loses_routes" => routes::loses_routes,
        "loses_tls" => tls::loses_tls,
        "mounts_node" => pods::mounts_node,
        "new_subjects" => access::new_subjects,
        "not_a_string" => strings::not_a_string,
        "redirects_ports" => network::redirects_ports,
        "redirects_routes" => routes::redirects_routes,
        "weakens_listeners" => tls::weakens_listeners,
        "widens_constraints" => access::widens_constraints,
        "widens_sources" => network::widens_sources,
        _ => return None,
    }))
}

/// The function with this name that finds fields at a place and below it.
fn finds(name: &str) -> Option<FiresWhen> {
    Some(FiresWhen::Finds(match name {
        "fails_closed" => admission::fails_closed,
        "init_order" => order::init_order,
        "keeps_capabilities" => pods::keeps_capabilities,
        "loses_seccomp" => pods::loses_seccomp,
        "may_escalate" => pods::may_escalate,
        "may_run_as_root" => pods::may_run_as_root,
        "may_write_root" => pods::may_write_root,
        "mounts_nothing" => pods::mounts_nothing,
        "narrows" => definitions::narrows,
        "probes_nothing" => pods::probes_nothing,
        "rule_order" => order::rule_order,
        "variable_order" => order::variable_order,
        _ => return None,
    }))
}

//! Network access: NetworkPolicies, and the ports and source ranges of Services.

use crate::row::FieldChange;
use crate::walk::{given, items, strings, text};
use krm_yaml::NodeRef;

pub(super) fn opens_ingress(change: &FieldChange<'_, '_>) -> bool {
    opens(change, "from", "ingress")
}

pub(super) fn opens_egress(change: &FieldChange<'_, '_>) -> bool {
    opens(change, "to", "egress")
}

/// Whether a policy restricts a direction. Without `policyTypes` it restricts ingress, and egress if it has rules for it.
fn restricts(policy: NodeRef<'_>, what: &str) -> bool {
    match given(policy.get_path(&["spec", "policyTypes"])) {
        Some(types) => strings(Some(types))
            .iter()
            .any(|word| word.eq_ignore_ascii_case(what)),
        None => what == "ingress" || policy.get_path(&["spec", what]).is_some(),
    }
}

fn opens(change: &FieldChange<'_, '_>, peers: &str, what: &str) -> bool {
    let [Some(before), Some(after)] = change.roots else {
        // A new policy opens nothing. A removed policy has its own finding.
        return false;
    };
    let admits = admits_more(change.before(), change.after(), peers);
    restricts(before, what) && (admits || !restricts(after, what))
}

/// Whether a rule of the second list admits what no rule of the first one does.
fn admits_more(one: Option<NodeRef<'_>>, other: Option<NodeRef<'_>>, peers: &str) -> bool {
    items(other).any(|rule| {
        let covers = |known: NodeRef<'_>| {
            let mut fields = ["ports", peers].into_iter();
            fields.all(|field| within(rule.get(field), known.get(field)))
        };
        !items(one).any(covers)
    })
}

pub(super) fn closes_ingress(change: &FieldChange<'_, '_>) -> bool {
    closes(change, "from", "ingress")
}

pub(super) fn closes_egress(change: &FieldChange<'_, '_>) -> bool {
    closes(change, "to", "egress")
}

fn closes(change: &FieldChange<'_, '_>, peers: &str, what: &str) -> bool {
    let [_, after] = change.roots;
    let restricts = after.is_some_and(|after| restricts(after, what));
    change.object_remains && restricts && admits_more(change.after(), change.before(), peers)
}

/// Whether each element of a list is in the other list. An absent or empty list contains everything.
fn within(one: Option<NodeRef<'_>>, other: Option<NodeRef<'_>>) -> bool {
    let values = |list| -> Vec<_> { items(list).filter_map(|item| item.value()).collect() };
    let (one, other) = (values(one), values(other));
    other.is_empty() || !one.is_empty() && one.iter().all(|item| other.contains(item))
}

pub(super) fn drops_type(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = change.both()?;
    let types = |list: NodeRef<'_>| -> Vec<String> {
        list.items()
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect()
    };
    let after = types(after);
    let dropped = types(before)
        .into_iter()
        .find(|word| !after.contains(word))?;
    Some(format!(
        "the policy no longer restricts {}",
        dropped.to_lowercase()
    ))
}

/// An empty selector selects all pods, so no pod loses its protection.
pub(super) fn selects_others(change: &FieldChange<'_, '_>) -> bool {
    let both = change.both();
    both.is_some_and(|(_, after)| after.entries().next().is_some())
}

pub(super) fn widens_sources(change: &FieldChange<'_, '_>) -> Option<String> {
    let before = change.before()?;
    let ranges = |list: Option<NodeRef<'_>>| -> Vec<String> {
        let items = list.into_iter().flat_map(|list| list.items());
        items
            .filter_map(|item| text(Some(item)).map(str::to_owned))
            .collect()
    };
    let (before, after) = (ranges(Some(before)), ranges(change.after()));
    let is_gone = after.is_empty() && change.place.owner_remains;
    let new: Vec<String> = after
        .into_iter()
        .filter(|range| !before.contains(range))
        .collect();
    if is_gone {
        return Some("the load balancer accepts traffic from anywhere".to_owned());
    }
    (!new.is_empty()).then(|| format!("the load balancer accepts traffic from {}", new.join(", ")))
}

/// The ports of a Service, each with what distinguishes it: `80/TCP`.
fn ports(list: NodeRef<'_>) -> Vec<(String, NodeRef<'_>)> {
    let ports = items(Some(list)).filter_map(|port| {
        let protocol = text(port.get("protocol")).unwrap_or("TCP");
        Some((format!("{}/{protocol}", text(port.get("port"))?), port))
    });
    ports.collect()
}

pub(super) fn loses_ports(change: &FieldChange<'_, '_>) -> Option<String> {
    let after = change.after().map(ports).unwrap_or_default();
    let before = ports(change.before()?);
    let lost = before.into_iter().map(|(name, _)| name);
    let lost: Vec<String> = lost
        .filter(|name| !after.iter().any(|(other, _)| other == name))
        .collect();
    let is_lost = change.place.owner_remains && !lost.is_empty();
    is_lost.then(|| format!("clients can no longer use the port {}", lost.join(", ")))
}

/// The ports that remain, and lead elsewhere or have another name.
pub(super) fn redirects_ports(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = change.both()?;
    let after = ports(after);
    let mut found = Vec::new();
    for (key, old) in ports(before) {
        let Some((_, new)) = after.iter().find(|(other, _)| *other == key) else {
            continue;
        };
        for field in ["targetPort", "nodePort", "name"] {
            // Without a targetPort, it is the port. A targetPort with a name can be the same port. A cluster keeps its
            // nodePort if the manifest does not have one.
            let value = |port: NodeRef<'_>| {
                let default = (field == "targetPort").then(|| text(port.get("port")));
                text(port.get(field))
                    .or(default.flatten())
                    .map(str::to_owned)
            };
            let is_number = |text: &str| text.parse::<u16>().is_ok();
            if let (Some(was), Some(is)) = (value(old), value(*new))
                && was != is
                && is_number(&was) == is_number(&is)
            {
                found.push(format!("the {field} of {key} changes from {was} to {is}"));
            }
        }
    }
    (!found.is_empty()).then(|| found.join("; "))
}

/// The annotations by which clouds make a load balancer internal, and their values for that.
const INTERNAL: [(&str, &str); 6] = [
    ("cloud.google.com/load-balancer-type", "Internal"),
    ("networking.gke.io/load-balancer-type", "Internal"),
    (
        "service.beta.kubernetes.io/aws-load-balancer-internal",
        "true",
    ),
    (
        "service.beta.kubernetes.io/aws-load-balancer-scheme",
        "internal",
    ),
    (
        "service.beta.kubernetes.io/azure-load-balancer-internal",
        "true",
    ),
    (
        "service.beta.kubernetes.io/openstack-internal-load-balancer",
        "true",
    ),
];

pub(super) fn becomes_public(change: &FieldChange<'_, '_>) -> bool {
    let [_, annotations] = change.of_root(&["metadata", "annotations"]);
    let [_, kind] = change.of_root(&["spec", "type"]);
    let is_internal = |name: &str, value: Option<&str>| {
        let word = INTERNAL.iter().find(|(known, _)| *known == name);
        let both = word.zip(value);
        both.is_some_and(|((_, word), value)| value.eq_ignore_ascii_case(word))
    };
    let mut others = annotations.into_iter().flat_map(|all| all.entries());
    text(kind) == Some("LoadBalancer")
        && is_internal(change.last_field(), text(change.before()))
        && !others.any(|entry| is_internal(entry.key.field_name(), text(Some(entry.value))))
}

/// Whether an annotation goes that asks for a login, or limits the addresses of clients.
pub(super) fn unguards(change: &FieldChange<'_, '_>) -> bool {
    let (_, name) = change.last_field().split_once('/').unwrap_or_default();
    let guards = ["auth-url", "auth-type", "auth-tls-secret", "auth-signin"].contains(&name)
        || name.ends_with("-source-range");
    let [_, after] = change.roots;
    guards && change.before().is_some() && change.after().is_none() && after.is_some()
}

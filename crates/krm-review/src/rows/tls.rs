//! Traffic that is no longer encrypted, and certificates that are no longer checked.

use std::collections::BTreeSet;

use crate::row::FieldChange;
use crate::walk::{given, items, strings, text};
use krm_yaml::NodeRef;

/// The hosts of an Ingress's rules. `None` is a rule for any host, and the default backend.
fn routed(ingress: NodeRef<'_>) -> BTreeSet<Option<&str>> {
    let rules = items(ingress.get_path(&["spec", "rules"]));
    let mut hosts: BTreeSet<_> = rules.map(|rule| text(rule.get("host"))).collect();
    if hosts.is_empty() {
        hosts.insert(None);
    }
    hosts
}

/// The entry of `tls` for a host. One without hosts is for all.
fn entry_of<'n>(tls: Option<NodeRef<'n>>, host: Option<&str>) -> Option<NodeRef<'n>> {
    let is_for = |name: &str| {
        let end = name.strip_prefix('*');
        host.is_some_and(|host| {
            let first = host.find('.').map(|at| &host[at..]);
            host == name || end.is_some() && first == end
        })
    };
    items(tls).find(|entry| {
        let hosts = strings(entry.get("hosts"));
        hosts.is_empty() || hosts.into_iter().any(is_for)
    })
}

pub(super) fn loses_tls(change: &FieldChange<'_, '_>) -> Option<String> {
    let [Some(was), Some(is)] = change.roots else {
        return None;
    };
    let (before, after) = (change.before(), change.after());
    let mut known = routed(was);
    let mut remaining = routed(is);
    let named: Vec<Option<&str>> = items(before)
        .flat_map(|entry| strings(entry.get("hosts")))
        .map(Some)
        .collect();
    if remaining.contains(&None) {
        remaining.extend(&named);
    }
    known.extend(named);
    let (mut open, mut unsigned) = (Vec::new(), Vec::new());
    for host in known.intersection(&remaining) {
        let Some(old) = entry_of(before, *host) else {
            continue;
        };
        let certificate = |entry: NodeRef<'_>| text(entry.get("secretName")).is_some();
        match entry_of(after, *host) {
            None => open.push(host.unwrap_or("any host")),
            Some(new) if certificate(old) && !certificate(new) => {
                unsigned.push(host.unwrap_or("any host"));
            }
            Some(_) => {}
        }
    }
    match (open.as_slice(), unsigned.as_slice()) {
        ([], []) => None,
        ([], hosts) => Some(format!(
            "the Ingress no longer names a certificate for {}",
            hosts.join(", ")
        )),
        (hosts, _) => Some(format!(
            "the Ingress no longer uses TLS for {}",
            hosts.join(", ")
        )),
    }
}

/// What a listener of a Gateway does with TLS. `None` if it does not use TLS.
fn mode(listener: NodeRef<'_>) -> Option<&str> {
    let tls = given(listener.get("tls"))?;
    let is_plain = matches!(text(listener.get("protocol")), Some("HTTP" | "TCP" | "UDP"));
    (!is_plain).then(|| text(tls.get("mode")).unwrap_or("Terminate"))
}

pub(super) fn weakens_listeners(change: &FieldChange<'_, '_>) -> Option<String> {
    let (before, after) = change.both()?;
    let mut found = Vec::new();
    for old in items(Some(before)) {
        let Some(name) = text(old.get("name")) else {
            continue;
        };
        let mut others = items(Some(after));
        let Some(new) = others.find(|other| text(other.get("name")) == Some(name)) else {
            continue;
        };
        let certificates = |listener: NodeRef<'_>| {
            let references = items(listener.get_path(&["tls", "certificateRefs"]));
            references.count()
        };
        match (mode(old), mode(new)) {
            (Some(_), None) => found.push(format!("the listener `{name}` no longer uses TLS")),
            (Some("Terminate"), Some("Passthrough")) => found.push(format!(
                "the listener `{name}` no longer terminates TLS: its backends must"
            )),
            (Some("Terminate"), Some(_)) if certificates(old) > 0 && certificates(new) == 0 => {
                found.push(format!("the listener `{name}` no longer has a certificate"));
            }
            _ => {}
        }
    }
    (!found.is_empty()).then(|| found.join("; "))
}

/// Tools write the authority of a webhook in the cluster if an annotation asks for it, and manifests have a
/// placeholder then.
pub(super) fn loses_authority(change: &FieldChange<'_, '_>) -> bool {
    let [_, annotations] = change.of_root(&["metadata", "annotations"]);
    let mut names = annotations.into_iter().flat_map(|all| all.entries());
    let is_injected = names.any(|entry| entry.key.field_name().contains("/inject"));
    let is_given = |bundle| text(bundle).is_some_and(|bundle| !matches!(bundle, "" | "Cg=="));
    let is_lost = is_given(change.before()) && !is_given(change.after());
    change.place.owner_remains && is_lost && !is_injected
}

/// Whether an annotation no longer sends plain HTTP to HTTPS.
pub(super) fn stops_redirect(change: &FieldChange<'_, '_>) -> bool {
    let (_, name) = change.last_field().split_once('/').unwrap_or_default();
    let is = |node, word| text(node) == Some(word);
    match name {
        // The default is true where there is TLS.
        "ssl-redirect" => is(change.after(), "false") && change.object_remains,
        "force-ssl-redirect" => is(change.before(), "true") && change.object_remains,
        _ => false,
    }
}

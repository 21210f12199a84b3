//! What `kpt fn render` records in a Kptfile about its last run: `status.renderStatus` and the condition
//! `Rendered`. Both describe the package in which they were written and no other one.

use krm_yaml::{Editor, NodeRef, Value};

/// The field of `status` that records the last run.
pub const RENDER_STATUS: &str = "renderStatus";
/// The type of kpt's condition.
pub(crate) const RENDERED: &str = "Rendered";

/// Whether a condition is kpt's `Rendered`.
pub fn is_rendered(condition: NodeRef<'_>) -> bool {
    let kind = condition.resolved().get("type");
    kind.and_then(|kind| kind.as_str()) == Some(RENDERED)
}

/// Whether a `status` holds any bookkeeping.
pub fn is_in_status(status: NodeRef<'_>) -> bool {
    let conditions = status.get("conditions");
    let mut conditions = conditions.into_iter().flat_map(|list| list.items());
    status.get(RENDER_STATUS).is_some() || conditions.any(is_rendered)
}

/// Whether a Kptfile holds any bookkeeping.
pub fn has_bookkeeping(kptfile: NodeRef<'_>) -> bool {
    kptfile.get("status").is_some_and(is_in_status)
}

/// Removes the bookkeeping from a Kptfile, with the lists and maps that it leaves empty.
pub fn remove_bookkeeping<'d>(kptfile: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
    let Some(status) = kptfile.get("status").filter(|status| is_in_status(*status)) else {
        return;
    };
    let conditions = status.get("conditions");
    let all = || conditions.into_iter().flat_map(|list| list.items());
    let is_kept = |key: Option<&str>| match key {
        Some(RENDER_STATUS) => false,
        Some("conditions") => all().next().is_none() || all().any(|one| !is_rendered(one)),
        _ => true,
    };
    let keys = || status.entries().map(|entry| entry.key.as_str());
    if !keys().any(is_kept) {
        editor.remove_entry(kptfile, "status");
        return;
    }
    for key in keys().flatten().filter(|key| !is_kept(Some(key))) {
        editor.remove_entry(status, key);
    }
    if let Some(list) = conditions.filter(|_| is_kept(Some("conditions"))) {
        let rendered: Vec<bool> = all().map(is_rendered).collect();
        editor.remove_parts(list, |index| rendered[index]);
    }
}

/// Removes the bookkeeping from the value of a Kptfile, to compare it.
pub fn without_bookkeeping(kptfile: &mut Value) {
    let Value::Mapping(entries) = kptfile else {
        return;
    };
    retain(entries, "status", |status| {
        let Value::Mapping(entries) = status else {
            return true;
        };
        let before = entries.len();
        entries.retain(|(key, _)| key.as_str() != Some(RENDER_STATUS));
        retain(entries, "conditions", |conditions| {
            let Value::Sequence(all) = conditions else {
                return true;
            };
            let before = all.len();
            all.retain(|condition| condition.get("type").and_then(Value::as_str) != Some(RENDERED));
            !all.is_empty() || before == 0
        });
        !entries.is_empty() || before == 0
    });
}

/// Removes the entry of a key, unless `keep` returns true for its value.
fn retain(entries: &mut Vec<(Value, Value)>, name: &str, mut keep: impl FnMut(&mut Value) -> bool) {
    entries.retain_mut(|(key, value)| key.as_str() != Some(name) || keep(value));
}

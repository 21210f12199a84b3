//! The `status` of a PackageVariant or PackageVariantSet: its conditions and downstream targets.

use krm_core::conditions::Condition;
use krm_yaml::{Content, EditError, Editor, NodeRef, Value};

/// The message of a true `Ready` in a `status`, exactly as Porch writes it, so that the status does not change when
/// Porch and these functions take turns.
pub const ENSURED: &str = "successfully ensured downstream package variant";

/// The outcome of a run.
#[derive(Debug, Clone, Copy)]
pub enum StepsOutcome {
    /// The PackageVariant is not valid; no step ran.
    Invalid,
    /// A step failed; nothing changes.
    Failed,
    /// The package is rendered.
    Ready,
}

impl StepsOutcome {
    /// The conditions `Stalled` and `Ready`; a true `Ready` has the message `ready`. Every failure stalls, because a
    /// person must fix it.
    pub fn conditions(self, ready: &str) -> [Condition<'_>; 2] {
        let condition = |kind, status, reason, message| Condition {
            kind,
            status,
            reason,
            message,
        };
        match self {
            Self::Invalid => {
                let message = "the PackageVariant is not valid";
                [
                    condition("Stalled", "True", "ValidationError", message),
                    condition("Ready", "False", "Error", "invalid packagevariant object"),
                ]
            }
            Self::Failed => {
                let message = "a step failed; nothing is changed";
                [
                    condition("Stalled", "True", "Error", message),
                    condition("Ready", "False", "Error", message),
                ]
            }
            Self::Ready => [
                condition("Stalled", "False", "Valid", "all validation checks passed"),
                condition("Ready", "True", "NoErrors", ready),
            ],
        }
    }
}

/// Writes conditions and the names of targets into the status of a PackageVariant, or of a set, which has no targets.
/// An existing entry of a target that remains, such as Porch's `renderStatus`, keeps its bytes. Without names, the
/// existing targets are kept, because none is known.
///
/// # Errors
/// As [`Editor::set`].
pub fn write_status<'d>(
    root: NodeRef<'d>,
    conditions: &[Condition<'_>],
    targets: &[String],
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let Some(status) = root.entry("status").map(|entry| entry.value) else {
        let mut status = vec![(Value::from("conditions"), Condition::list(conditions))];
        if !targets.is_empty() {
            let targets = targets.iter().map(|name| target(name)).collect();
            status.push((Value::from("downstreamTargets"), Value::Sequence(targets)));
        }
        let status = Content::Value(Value::Mapping(status));
        return editor.set(root, "status", status);
    };
    match status.entry("conditions").map(|entry| entry.value) {
        Some(old) if old.resolved().kind().is_sequence() => {
            Condition::update(conditions, old, editor)?
        }
        _ => {
            let value = Content::Value(Condition::list(conditions));
            editor.set(status, "conditions", value)?;
        }
    }
    if targets.is_empty() {
        return Ok(());
    }
    let old = status.get("downstreamTargets");
    let name = |item: &NodeRef<'d>| item.get("name").and_then(|name| name.as_str());
    let known: Vec<Option<&str>> = old
        .iter()
        .flat_map(NodeRef::items)
        .map(|item| name(&item))
        .collect();
    let stays =
        |known: &Option<&str>| known.is_some_and(|name| targets.iter().any(|one| one == name));
    let new = targets
        .iter()
        .filter(|name| !known.contains(&Some(name.as_str())));
    let Some(old) = old.filter(|_| known.iter().any(stays)) else {
        let targets = targets.iter().map(|name| target(name)).collect();
        let targets = Content::Value(Value::Sequence(targets));
        return editor.set(status, "downstreamTargets", targets);
    };
    for name in new {
        let position = known
            .iter()
            .position(|known| known.is_some_and(|known| known > name.as_str()));
        editor.insert_item(old, position, Content::Value(target(name)))?;
    }
    if !known.iter().all(stays) {
        editor.remove_parts(old, |index| !stays(&known[index]));
    }
    Ok(())
}

fn target(name: &str) -> Value {
    Value::Mapping(vec![("name".into(), name.into())])
}

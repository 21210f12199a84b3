//! The conditions of a PackageVariantSet, as results and in its `status`.

use crate::results::FunctionResult;
use crate::yaml::{Content, EditError, Editor, NodeRef, Path, Value};

/// A condition of the status.
pub(super) struct Condition {
    name: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &'static str,
}

pub(super) const NOT_STALLED: Condition = Condition {
    name: "Stalled",
    status: "False",
    reason: "Valid",
    message: "all validation checks passed",
};
pub(super) const STALLED: Condition = Condition {
    name: "Stalled",
    status: "True",
    reason: "ValidationError",
    message: "the PackageVariantSet cannot be expanded",
};
pub(super) const READY: Condition = Condition {
    name: "Ready",
    status: "True",
    reason: "Reconciled",
    message: "package variants successfully reconciled",
};
pub(super) const NOT_READY: Condition = Condition {
    name: "Ready",
    status: "False",
    reason: "Error",
    message: "nothing was generated",
};

impl Condition {
    /// As the results tell it.
    pub(super) fn result(&self) -> FunctionResult {
        let message = format!("{} is {}: {}", self.name, self.status, self.message);
        let result = FunctionResult::info(message).at(Path::fields(&["status", "conditions"]));
        result
            .tag("condition", self.name)
            .tag("status", self.status)
    }

    fn fields(&self) -> [(&'static str, &'static str); 3] {
        [
            ("status", self.status),
            ("reason", self.reason),
            ("message", self.message),
        ]
    }

    fn value(&self) -> Value {
        let name = (Value::from("type"), Value::from(self.name));
        let fields = self
            .fields()
            .map(|(key, value)| (Value::from(key), Value::from(value)));
        Value::Mapping(std::iter::once(name).chain(fields).collect())
    }
}

/// Puts the conditions of a set that was expanded into its status.
pub(super) fn write_status<'d>(
    resource: NodeRef<'d>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    let wanted = [&NOT_STALLED, &READY];
    let all = || Value::Sequence(wanted.iter().map(|condition| condition.value()).collect());
    let entry = (Value::from("conditions"), all());
    let Some(status) = resource.entry("status").map(|entry| entry.value) else {
        return editor.set(
            resource,
            "status",
            Content::Value(Value::Mapping(vec![entry])),
        );
    };
    let conditions = status.entry("conditions").map(|entry| entry.value);
    let Some(conditions) = conditions.filter(|conditions| conditions.kind().is_sequence()) else {
        return editor.set(status, "conditions", Content::Value(all()));
    };
    for condition in wanted {
        let text = |item: NodeRef<'d>, key| item.get(key).and_then(|value| value.scalar_text());
        let found = conditions
            .items()
            .find(|item| text(*item, "type") == Some(condition.name));
        let Some(found) = found else {
            editor.insert_item(conditions, None, Content::Value(condition.value()))?;
            continue;
        };
        if text(found, "status") != Some(condition.status) {
            // It would tell of another transition.
            editor.remove_entry(found, "lastTransitionTime")?;
        }
        for (key, value) in condition.fields() {
            if text(found, key) != Some(value) {
                editor.set(found, key, Content::Value(Value::from(value)))?;
            }
        }
    }
    Ok(())
}

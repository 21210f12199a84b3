//! Conditions of a `status`, as results and as fields.

use crate::results::FunctionResult;
use krm_yaml::{Content, EditError, Editor, NodeRef, Path, Value};

/// A Kubernetes condition without a time, because no output depends on the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition<'a> {
    pub kind: &'a str,
    pub status: &'static str,
    pub reason: &'a str,
    pub message: &'a str,
}

impl Condition<'_> {
    /// The condition as an info result. Programs find type, status and reason in the tags.
    pub fn result(&self) -> FunctionResult {
        let message = format!("{} is {}: {}", self.kind, self.status, self.message);
        let result =
            FunctionResult::info(message).with_field(Path::fields(&["status", "conditions"]));
        result
            .tag("reason", self.reason)
            .tag("type", self.kind)
            .tag("status", self.status)
    }

    pub(crate) fn fields(&self) -> [(&'static str, &str); 3] {
        [
            ("status", self.status),
            ("reason", self.reason),
            ("message", self.message),
        ]
    }

    pub(crate) fn value(&self) -> Value {
        let fields = std::iter::once(("type", self.kind)).chain(self.fields());
        Value::Mapping(fields.map(|(k, v)| (k.into(), v.into())).collect())
    }

    /// Conditions as the value of a `conditions` field.
    pub fn list(conditions: &[Self]) -> Value {
        Value::Sequence(conditions.iter().map(Self::value).collect())
    }

    /// Updates existing conditions field by field, and adds missing ones. Other conditions and fields are unchanged.
    pub fn update<'d>(
        conditions: &[Self],
        old: NodeRef<'d>,
        editor: &mut Editor<'d, '_>,
    ) -> Result<(), EditError> {
        let text =
            |node: NodeRef<'d>, field: &str| node.get(field).and_then(|value| value.as_str());
        for condition in conditions {
            let is_it = |node: &NodeRef<'d>| text(*node, "type") == Some(condition.kind);
            let Some(node) = old.items().find(is_it) else {
                editor.insert_item(old, None, Content::Value(condition.value()))?;
                continue;
            };
            // The old time belongs to the old status, and a function has no new time.
            if text(node, "status") != Some(condition.status) {
                editor.remove_entry(node, "lastTransitionTime");
            }
            let fields = condition.fields().map(|(field, text)| (field, Some(text)));
            editor.set_fields(node, &[], fields)?;
        }
        Ok(())
    }
}

//! Conditions and readiness gates of a Kptfile.

use std::collections::HashMap;

use super::remove_ids;
use crate::conditions::Condition;
use crate::resource_list::{ItemId, ResourceList};
use crate::results::{FunctionResult, Refusal, Results, listed};
use krm_yaml::{Content, EditError, Editor, NodeRef, Value, has_comments};

const CONDITIONS: &str = "status.conditions";
const GATES: &str = "info.readinessGates";

/// A condition to record, and whether the package waits for it.
pub struct ConditionRecord {
    /// Type of the condition.
    pub condition: String,
    /// Whether the condition is a readiness gate too.
    pub is_gate: bool,
    pub status: &'static str,
    pub reason: &'static str,
    pub message: String,
}

impl ConditionRecord {
    fn as_condition(&self) -> Condition<'_> {
        Condition {
            kind: &self.condition,
            status: self.status,
            reason: self.reason,
            message: &self.message,
        }
    }
}

fn gate(condition: &str) -> Value {
    Value::Mapping(vec![("conditionType".into(), condition.into())])
}

/// Writes conditions and gates; existing entries are updated field by field.
pub fn record_conditions(
    list: &mut ResourceList,
    kptfile: ItemId,
    records: &[ConditionRecord],
    results: &mut Results,
) {
    let in_package = list.is_package();
    let mut conditions = Vec::new();
    let mut gates = Vec::new();
    let outcome = list.edit(kptfile, |root, editor| {
        let condition_list = elements_of(root, "status", "conditions");
        let gate_list = elements_of(root, "info", "readinessGates");
        let mut new_conditions = Vec::new();
        let mut new_gates = Vec::new();
        let by_type = index(condition_list, "type");
        let gated = index(gate_list, "conditionType");
        for record in records {
            let name = record.condition.as_str();
            let changed = match by_type.get(name) {
                None => {
                    new_conditions.push(record.as_condition().value());
                    true
                }
                Some(old) => update(old, record, editor).map_err(Refusal::at(CONDITIONS))?,
            };
            if changed {
                conditions.push(record.as_condition());
            }
            if record.is_gate && !gated.contains_key(name) {
                new_gates.push(gate(name));
                gates.push(name);
            }
        }
        let moves = [(condition_list, &new_conditions), (gate_list, &new_gates)];
        let restores = moves
            .iter()
            .any(|(list, new)| !new.is_empty() && list.is_some_and(has_comments));
        let appended = append(root, "info", "readinessGates", new_gates, editor);
        appended.map_err(Refusal::at(GATES))?;
        let appended = append(root, "status", "conditions", new_conditions, editor);
        appended.map_err(Refusal::at(CONDITIONS))?;
        if restores && !in_package {
            remove_ids(root, editor);
        }
        Ok::<_, Refusal>(())
    });
    let resource = list.resource(kptfile);
    if let Err(refusal) = outcome {
        results.push(refusal.result().with_resource(resource));
        return;
    }
    if !gates.is_empty() {
        let message = format!("added the readiness gates {}", listed(&gates));
        results.push(
            FunctionResult::info(message)
                .with_resource(resource)
                .with_field(GATES),
        );
    }
    for condition in conditions {
        results.push(condition.result().with_resource(resource));
    }
}

fn elements_of<'d>(root: NodeRef<'d>, outer: &str, inner: &str) -> Option<NodeRef<'d>> {
    let outer = root.entry(outer)?.value;
    outer.entry(inner).map(|entry| entry.value)
}

/// The elements of a list, grouped by the value of a field.
fn index<'d>(list: Option<NodeRef<'d>>, key: &str) -> HashMap<&'d str, Vec<NodeRef<'d>>> {
    let mut index: HashMap<_, Vec<_>> = HashMap::new();
    for item in list.into_iter().flat_map(|list| list.resolved().items()) {
        if let Some(name) = item.get(key).and_then(|value| value.as_str()) {
            index.entry(name).or_default().push(item);
        }
    }
    index
}

/// Updates the fields of conditions. Returns whether anything changed.
fn update<'d>(
    conditions: &[NodeRef<'d>],
    record: &ConditionRecord,
    editor: &mut Editor<'d, '_>,
) -> Result<bool, EditError> {
    let record = record.as_condition();
    let fields = record.fields();
    let mut changed = false;
    for condition in conditions {
        let text = |field| condition.get(field).and_then(|old| old.as_str());
        changed |= fields
            .iter()
            .any(|(field, value)| text(field) != Some(value));
        let fields = fields.map(|(field, text)| (field, Some(text)));
        editor.set_fields(*condition, &[], fields)?;
    }
    Ok(changed)
}

/// Adds elements to the list `inner` of the mapping `outer`; creates both if absent.
fn append<'d>(
    root: NodeRef<'d>,
    outer: &str,
    inner: &str,
    new: Vec<Value>,
    editor: &mut Editor<'d, '_>,
) -> Result<(), EditError> {
    if new.is_empty() {
        return Ok(());
    }
    match elements_of(root, outer, inner) {
        Some(list) => new
            .into_iter()
            .try_for_each(|value| editor.insert_item(list, None, Content::Value(value))),
        None => editor.set_path(root, &[outer, inner], Value::Sequence(new).into()),
    }
}

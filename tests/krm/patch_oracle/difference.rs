//! Where two values differ.

use krm_yaml::Value;

/// A place with what stands there on either side.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    /// Keys, and `[]` for elements.
    pub(crate) path: Vec<String>,
    pub(crate) own: Option<Value>,
    pub(crate) theirs: Option<Value>,
}

impl Difference {
    pub(crate) fn line(&self) -> String {
        let text = |value: &Option<Value>| {
            let text = value.as_ref().map_or("(none)".to_owned(), Value::to_json);
            text.chars().take(400).collect::<String>()
        };
        format!(
            "{}: own {} kubectl {}",
            self.path.join("."),
            text(&self.own),
            text(&self.theirs)
        )
    }
}

/// All places in which two values differ: single fields, elements of lists of one length, else lists.
pub(crate) fn differences(own: &Value, theirs: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(Some(own), Some(theirs), &mut Vec::new(), &mut found);
    found
}

fn walk(
    own: Option<&Value>,
    theirs: Option<&Value>,
    path: &mut Vec<String>,
    found: &mut Vec<Difference>,
) {
    match (own, theirs) {
        (Some(Value::Mapping(a)), Some(Value::Mapping(b))) => {
            let missing = b
                .iter()
                .filter(|(key, _)| a.iter().all(|(other, _)| other != key));
            for (key, _) in a.iter().chain(missing) {
                let key = key.as_str().unwrap_or_default();
                let get = |value: Option<&Value>| value.and_then(|value| value.get(key)).cloned();
                path.push(key.to_owned());
                walk(get(own).as_ref(), get(theirs).as_ref(), path, found);
                path.pop();
            }
        }
        (Some(Value::Sequence(a)), Some(Value::Sequence(b))) if a.len() == b.len() => {
            path.push("[]".to_owned());
            for (a, b) in a.iter().zip(b) {
                walk(Some(a), Some(b), path, found);
            }
            path.pop();
        }
        (own, theirs) if own == theirs => {}
        (own, theirs) => found.push(Difference {
            path: path.clone(),
            own: own.cloned(),
            theirs: theirs.cloned(),
        }),
    }
}

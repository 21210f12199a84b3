//! The keys of a resource as kustomize reads them.
//!
//! ```yaml
//! n: 5   # kubectl: the key "false"; kustomize: the key "n", which it prints in quotes
//! ```
//!
//! kustomize reads resources with go-yaml 3, which takes `y`, `n`, `yes`, `no`, `on` and `off` for strings. It refuses
//! resources whose keys are other booleans or numbers.
//!
//! Source: kustomize 5.8, `kustomize build` of resources and patches with each of these keys.

use super::super::node::{Field, ListItem, Node, Shape};
use krm_yaml::NodeRef;
use krm_yaml::scalar::Reading;

/// A resource whose keys are those that kustomize reads.
pub fn with_keys_as_read<'a>(node: &Node<'a>) -> Node<'a> {
    // Few resources have such a key, and nothing is built for the others.
    if has_word(node) {
        renamed(node)
    } else {
        node.clone()
    }
}

/// Whether kustomize reads another key than kubectl somewhere in a node.
fn has_word(node: &Node<'_>) -> bool {
    match node.shape() {
        Shape::Null | Shape::Scalar => false,
        Shape::List => node.placed_items().any(|item| has_word(&item.value)),
        Shape::Map => node.each_field().any(|field| {
            field.entry.is_some_and(|entry| word(entry.key).is_some()) || has_word(&field.value)
        }),
    }
}

fn renamed<'a>(node: &Node<'a>) -> Node<'a> {
    match node.shape() {
        Shape::Null | Shape::Scalar => node.clone(),
        Shape::List => {
            let items = node.placed_items().map(|item| ListItem {
                value: renamed(&item.value),
                ..item
            });
            Node::list(items.collect(), node.source())
        }
        Shape::Map => {
            let fields = node.each_field().map(|field| {
                let value = renamed(&field.value);
                match field.entry.and_then(|entry| word(entry.key)) {
                    Some(word) => Field::made(word, value),
                    None => field.with(value),
                }
            });
            Node::map(fields.collect(), node.source())
        }
    }
}

/// The text of a key that is a boolean to kubectl, and a string to kustomize.
fn word<'a>(key: NodeRef<'a>) -> Option<&'a str> {
    let text = key.resolved().scalar_text()?;
    let is_boolean = key
        .key_text()
        .is_some_and(|key| key != text && matches!(key, "true" | "false"));
    (is_boolean && Reading::Core.is_string(text)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::{OwnedDocument, Value};

    #[test]
    fn words_are_strings_and_other_keys_stay() {
        for (text, expected) in [
            ("n: 1\n", Some(r#"{"n":1}"#)),
            (
                "a: [{Yes: {off: 1}}]\n",
                Some(r#"{"a":[{"Yes":{"off":1}}]}"#),
            ),
            ("'n': 1\n", None),
            ("'false': {a: b}\n", None),
            ("0x10: 1\n0b11: 2\n", None),
            ("TRUE: 1\n", None),
        ] {
            let document = OwnedDocument::parse_resource(text.to_owned()).expect(text);
            let root = Node::Text(document.root().expect(text));
            let found = has_word(&root).then(|| with_keys_as_read(&root).to_value());
            assert_eq!(
                found.as_ref().map(Value::to_json).as_deref(),
                expected,
                "{text}"
            );
        }
    }
}

//! Whether a JSON text has the value of a node, entry for entry.

use std::fmt::{self, Formatter};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::yaml::value::Number;
use crate::yaml::{EntryRef, NodeRef, Value};

/// Whether a text is JSON with the value of a node, its keys in the same order.
pub(super) fn is_json_of(node: NodeRef<'_>, text: &str) -> bool {
    let mut json = serde_json::Deserializer::from_str(text);
    // The node has at most as many levels as a document may have.
    json.disable_recursion_limit();
    Same(node).deserialize(&mut json).is_ok() && json.end().is_ok()
}

/// Reads a value, and fails if it is another one than that of a node.
struct Same<'a>(NodeRef<'a>);

impl Same<'_> {
    fn is<E: Error>(&self, value: &Value) -> Result<(), E> {
        check(self.0.value().as_ref() == Some(value))
    }
}

fn check<E: Error>(is_same: bool) -> Result<(), E> {
    if is_same {
        Ok(())
    } else {
        Err(E::custom("another value"))
    }
}

impl<'de> DeserializeSeed<'de> for Same<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Same<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("the value of a node")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        check(self.0.is_null())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.is(&Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.is(&Value::from(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.is(&Value::Number(Number::Int(value.into())))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.is(&Value::Number(Number::Float(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        check(self.0.as_str() == Some(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        check(self.0.kind().is_sequence())?;
        for item in self.0.items() {
            check(list.next_element_seed(Same(item))?.is_some())?;
        }
        check(list.next_element::<serde::de::IgnoredAny>()?.is_none())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        check(self.0.kind().is_mapping())?;
        for EntryRef { key, value } in self.0.entries() {
            check(map.next_key_seed(Same(key))?.is_some())?;
            map.next_value_seed(Same(value))?;
        }
        check(map.next_key::<serde::de::IgnoredAny>()?.is_none())
    }
}

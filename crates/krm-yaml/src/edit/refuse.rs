//! Edits that an editor refuses: endless aliases, duplicate keys.

use std::collections::HashSet;

use super::Editor;
use super::slot::Slot;
use crate::content::Content;
use crate::error::EditError;
use crate::node::{EntryRef, NodeRef};
use crate::value::Value;

impl<'d, 'f> Editor<'d, 'f> {
    /// Refuses a new key that is a collection and that the mapping already has, in any spelling.
    pub(super) fn refuse_keys_twice(
        &self,
        mapping: NodeRef<'d>,
        slots: &[Slot<'f>],
    ) -> Result<(), EditError> {
        let is_collection = |key: &Value| matches!(key, Value::Mapping(_) | Value::Sequence(_));
        // The key of a copy is a scalar.
        let new = slots.iter().filter_map(|slot| match slot {
            Slot::New(new) => new.key.as_ref().filter(|key| is_collection(key)),
            _ => None,
        });
        let mut new = new.peekable();
        if new.peek().is_none() {
            return Ok(());
        }
        let keys: Vec<_> = mapping.entries().map(|entry| entry.key).collect();
        let kept = slots.iter().filter_map(|slot| keys[slot.kept()?].value());
        let mut seen: HashSet<_> = kept.collect();
        match new.find(|key| !seen.insert((*key).clone())) {
            Some(key) => Err(EditError::KeyTwice {
                place: mapping.path().to_string(),
                key: key.to_json(),
            }),
            None => Ok(()),
        }
    }
}

/// Checks content that is written from its value: its aliases must expand within the limits, and no mapping may have
/// equal keys in different spellings.
pub(super) fn readable(content: Content<'_>) -> Result<Content<'_>, EditError> {
    check_readable(&content)?;
    Ok(content)
}

fn check_readable(content: &Content<'_>) -> Result<(), EditError> {
    let node = match content {
        Content::Node(node) => Some(*node),
        Content::Text(text) => text.root(),
        Content::Value(_) | Content::Quoted(_) => None,
        Content::Map(entries) => {
            return entries
                .iter()
                .try_for_each(|(_, value)| check_readable(value));
        }
    };
    if let Some(node) = node.filter(NodeRef::is_complex) {
        let place = match content {
            Content::Text(_) => "the new value".to_owned(),
            _ => node.path().to_string(),
        };
        let Some(value) = node.value() else {
            return Err(EditError::Endless { place });
        };
        if let Some(key) = key_twice(&value) {
            let key = key.to_json();
            return Err(EditError::KeyTwice { place, key });
        }
    }
    Ok(())
}

/// A key that a mapping within has twice. The parser accepts that for collections as keys, if their spellings differ.
fn key_twice(value: &Value) -> Option<&Value> {
    match value {
        Value::Mapping(entries) => {
            let mut keys = HashSet::new();
            let mut twice = entries.iter().map(|(key, _)| key);
            let found = twice.find(|key| !keys.insert(*key));
            let mut parts = entries.iter().flat_map(|(key, value)| [key, value]);
            found.or_else(|| parts.find_map(key_twice))
        }
        Value::Sequence(items) => items.iter().find_map(key_twice),
        _ => None,
    }
}

pub(super) fn key_of(entry: EntryRef<'_>) -> Result<Value, EditError> {
    entry.key.value().ok_or_else(|| endless(entry.key))
}

pub(super) fn endless(node: NodeRef<'_>) -> EditError {
    let path = node.path().to_string();
    let place = if path.is_empty() {
        "the text".to_owned()
    } else {
        path
    };
    EditError::Endless { place }
}

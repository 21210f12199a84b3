//! The directives of a patch: keys that say how to merge, and are not fields.
//!
//! ```yaml
//! $patch: replace                      # of a map, or as an element of a list
//! $retainKeys: [type]                  # the keys of the map that stay
//! $setElementOrder/env: [{name: A}]    # the order of a list
//! $deleteFromPrimitiveList/finalizers: [a]
//! ```
//!
//! Source: preserve-order document; contract, apply-patch.

use std::hash::RandomState;

use indexmap::IndexMap;

use super::finding::Findings;
use super::node::{Field, Fields, ListItem, Node, Shape};
use super::rules::Rules;
use krm_core::results::Reason;
use krm_yaml::{Trail, Value};

/// The key of the directive for a whole map or element.
pub const PATCH: &str = "$patch";
/// The key of the directive that lists the keys to keep.
pub(crate) const RETAIN_KEYS: &str = "$retainKeys";
/// Prefix of the key of an order directive; the name of the list follows.
pub(crate) const SET_ELEMENT_ORDER: &str = "$setElementOrder/";
/// Prefix of the key of a directive that deletes elements; the name of the list follows.
pub(crate) const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList/";

/// The value of [`PATCH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Merge, as without a directive.
    Merge,
    /// Replace the live value.
    Replace,
    /// Delete the live value.
    Delete,
}

/// Directives for one list.
#[derive(Debug, Clone, Default)]
pub(super) struct ListDirective<'a> {
    /// The elements of `$setElementOrder`.
    pub(super) order: Option<Vec<ListItem<'a>>>,
    /// The elements of `$deleteFromPrimitiveList`.
    pub(super) delete: Option<Vec<ListItem<'a>>>,
}

/// A map of a patch: its directives and its fields.
#[derive(Debug, Default)]
pub(super) struct PatchMap<'a> {
    pub(super) word: Option<Word>,
    pub(super) retain: Option<Vec<Value>>,
    /// Directives for lists, by the name of the list.
    pub(super) lists: IndexMap<String, ListDirective<'a>, RandomState>,
    pub(super) fields: Fields<'a>,
}

/// The value of `$patch` in a map; `None` if there is none or it is another word.
pub(super) fn word(map: &Node<'_>) -> Option<Word> {
    match map.get(PATCH)?.as_str()? {
        "merge" => Some(Word::Merge),
        "replace" => Some(Word::Replace),
        "delete" => Some(Word::Delete),
        _ => None,
    }
}

impl<'a> PatchMap<'a> {
    /// Reads a map of a patch. An invalid directive is reported as a finding and then ignored.
    pub(super) fn read(
        patch: &Node<'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
        findings: &mut Findings,
    ) -> Self {
        let fields = patch.fields();
        let directives = (0..fields.len()).filter(|at| is_directive(fields.key(*at), rules));
        let directives: Vec<Field<'a>> = directives.map(|at| fields.get(at)).collect();
        let mut map = Self {
            fields,
            ..Self::default()
        };
        map.fields.retain(|_, key| !is_directive(key, rules));
        for field in &directives {
            let key = field.key.as_ref();
            let at = trail.field(key);
            if key == PATCH {
                map.word = word(patch);
                if map.word.is_none() {
                    findings.error(
                        &at,
                        Reason::InvalidPatch,
                        format!(
                            "expected merge, replace or delete, found `{}`",
                            short(&field.value)
                        ),
                    );
                }
            } else if key == RETAIN_KEYS {
                if let Some(items) = list(&field.value, &at, findings) {
                    let values = items.iter().map(|item| item.value.to_value());
                    map.retain = Some(values.collect());
                }
            } else if let Some(name) = key.strip_prefix(SET_ELEMENT_ORDER) {
                if let Some(items) = for_list(name, &field.value, rules, &at, findings) {
                    map.lists.entry(name.to_owned()).or_default().order = Some(items);
                }
            } else if let Some(name) = key.strip_prefix(DELETE_FROM_PRIMITIVE_LIST) {
                if let Some(items) = for_list(name, &field.value, rules, &at, findings) {
                    map.lists.entry(name.to_owned()).or_default().delete = Some(items);
                }
            } else {
                let message = format!(
                    "expected a field or one of the directives $patch, $retainKeys, $setElementOrder/<list> \
                     and $deleteFromPrimitiveList/<list>, found `{key}`"
                );
                findings.error(&at, Reason::UnknownDirective, message);
            }
        }
        map
    }
}

/// The elements in a directive for a list; `None`, with a finding, if the directive is not valid.
fn for_list<'a>(
    name: &str,
    value: &Node<'a>,
    rules: Rules<'_>,
    at: &Trail<'_>,
    findings: &mut Findings,
) -> Option<Vec<ListItem<'a>>> {
    if name.is_empty() {
        let message = "expected the name of a list after the slash, found none";
        findings.error(at, Reason::InvalidPatch, message);
        return None;
    }
    if !rules.is_known() {
        findings.error(at, Reason::InvalidPatch, NO_SCHEMA);
        return None;
    }
    list(value, at, findings)
}

/// Whether a key of a patch is a directive, known or not, rather than a field.
fn is_directive(key: &str, rules: Rules<'_>) -> bool {
    let is_word = || [PATCH, RETAIN_KEYS].contains(&key) || is_of_list(key);
    key.starts_with('$') && (is_word() || !rules.takes_dollar(key))
}

/// Whether a key is a list directive, with or without the name of a list.
fn is_of_list(key: &str) -> bool {
    [SET_ELEMENT_ORDER, DELETE_FROM_PRIMITIVE_LIST]
        .iter()
        .any(|directive| key.starts_with(directive.trim_end_matches('/')))
}

/// The message for a list directive of a kind without a schema.
pub(super) const NO_SCHEMA: &str = "expected no directive for lists: the kind has no schema, so its lists are replaced; \
     supply its CustomResourceDefinition among the items";

fn list<'a>(
    value: &Node<'a>,
    at: &Trail<'_>,
    findings: &mut Findings,
) -> Option<Vec<ListItem<'a>>> {
    if value.shape() == Shape::List {
        return Some(value.items());
    }
    let message = format!("expected a list, found {}", value.shape().with_article());
    findings.error(at, Reason::InvalidPatch, message);
    None
}

/// A value for a message, cut after 64 characters.
pub(super) fn short(value: &Node<'_>) -> String {
    let mut text = match value.shape() {
        Shape::Scalar | Shape::Null => value.to_value().plain_text(),
        shape => shape.with_article().to_owned(),
    };
    if let Some((end, _)) = text.char_indices().nth(64) {
        text.truncate(end);
        text.push('…');
    }
    text
}

//! JSON merge patches (RFC 7396), for kinds without a schema: maps merge, everything else is replaced.
//!
//! [`super::apply()`] applies one where there is no schema; this module makes one, three-way.
//!
//! Source: contract, apply-config (custom resources); kubectl does the same.

use super::create::{as_patch, push_removed};
use super::node::{Fields, Finder, Node, Shape};

/// Makes the patch that takes live to modified; `None` if there is nothing to patch.
#[must_use]
pub fn create<'a>(
    original: Option<&Node<'a>>,
    modified: &Node<'a>,
    live: Option<&Node<'a>>,
) -> Option<Node<'a>> {
    let (old, find_theirs) = (Finder::of(original), Finder::of(live));
    let is_map = |node: &Node<'_>| node.shape() == Shape::Map;
    let mut fields = Fields::default();
    let mut differs = false;
    for field in modified.each_field() {
        let original = old.find(&field.key);
        let theirs = find_theirs.find(&field.key);
        let value = match field.value.shape() {
            Shape::Map => {
                let original = original.filter(is_map);
                let theirs = theirs.filter(is_map);
                create(original.as_ref(), &field.value, theirs.as_ref())
            }
            Shape::Null if live.is_some() && theirs.is_none() => None,
            _ => {
                let same = theirs.is_some_and(|theirs| theirs.equals(&field.value));
                (!same).then(|| field.value.clone())
            }
        };
        differs |= !value.as_ref().is_some_and(|value| value.is(&field.value));
        fields.extend(value.map(|value| field.with(value)));
    }
    differs |= push_removed(original, modified, &mut fields);
    as_patch(fields, modified, live, differs)
}

//! A merge and `compare` call the same elements the same.

use super::merged;
use crate::compare::pair_elements;
use crate::rule::Side;
use krm_core::schema::ListType;
use krm_yaml::{NodeRef, OwnedDocument, Value};
use proptest::prelude::*;

/// An element: its name, and its tag.
type Named = (usize, i64);

/// A field by which elements are named, or none: then their parts show which is which.
const NAMES: [Option<&str>; 6] = [
    Some("name"),
    Some("id"),
    Some("key"),
    Some("path"),
    Some("host"),
    None,
];

fn text(field: Option<&str>, list: &[Named], mine: Option<usize>) -> String {
    let mut text = "apiVersion: example.com/v1\nkind: Thing\nspec:\n  list:\n".to_owned();
    for (at, (name, tag)) in list.iter().enumerate() {
        match field {
            Some(field) => text += &format!("  - {field}: n{name}\n    tag: {tag}\n"),
            None => {
                text +=
                    &format!("  - a: {name}a\n    b: {name}b\n    c: {name}c\n    tag: {tag}\n");
            }
        }
        if mine == Some(at) {
            text += "    mine: 7\n";
        }
    }
    text
}

fn document(text: &str) -> OwnedDocument {
    OwnedDocument::parse_resource(text.to_owned()).expect("YAML")
}

fn list(document: &OwnedDocument) -> NodeRef<'_> {
    let root = document.root().expect("a root");
    root.get_path(&["spec", "list"]).expect("a list")
}

/// Two versions of a list: upstream moves, removes, adds and changes elements.
fn versions() -> impl Strategy<Value = (Option<&'static str>, Vec<Named>, Vec<Named>)> {
    let order = Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle();
    let tags = prop::collection::vec(0..3_i64, 6);
    (0..NAMES.len(), 1..5_usize, order, 1..6_usize, tags).prop_map(
        |(field, before, order, after, tags)| {
            let base = (0..before).map(|name| (name, 0)).collect();
            let upstream = order[..after].iter().map(|name| (*name, tags[*name]));
            (NAMES[field], base, upstream.collect())
        },
    )
}

proptest! {
    #[test]
    fn an_edit_stays_with_the_element_that_a_comparison_calls_the_same(
        (field, base, upstream) in versions(),
        edited in 0..4_usize,
    ) {
        let edited = edited % base.len();
        let texts = [text(field, &base, None), text(field, &base, Some(edited)), text(field, &upstream, None)];
        let (result, conflicts) = merged(&texts[0], &texts[1], &texts[2], Side::Local);
        let documents = texts.each_ref().map(|text| document(text));
        let pairs = pair_elements(ListType::Atomic, list(&documents[0]), list(&documents[2]));
        let partner = pairs.iter().find(|pair| pair.0 == edited).map(|pair| pair.1);
        let result = document(&result);
        let value = |node: NodeRef<'_>| node.value().expect("a value");
        let mine = list(&result).items().find(|item| item.get("mine").is_some());
        if conflicts.is_empty() {
            let theirs = list(&documents[2]).items().nth(partner.expect("a partner"));
            let mut expected = value(theirs.expect("an element"));
            expected.push("mine", Value::from(7_i64));
            prop_assert_eq!(value(mine.expect("the edit")), expected, "{:?}", texts);
        }
        // Nothing is paired twice, and equal elements are paired.
        for side in [|pair: &(usize, usize)| pair.0, |pair: &(usize, usize)| pair.1] {
            let mut seen: Vec<usize> = pairs.iter().map(side).collect();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), pairs.len());
        }
        for (at, one) in base.iter().enumerate() {
            if let Some(other) = upstream.iter().position(|other| one == other) {
                prop_assert!(pairs.contains(&(at, other)), "{:?} in {:?}", one, texts);
            }
        }
    }
}

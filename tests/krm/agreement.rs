//! What one feature calls the same element of a list, all do: merges, reviews, patches for kubectl and kustomize, and overlays.
//!
//! The lists have keys. In others, patches replace the list, and the tests of krm-merge compare merges with `compare`.
//!
//! Source: contract, Which element is which.

use std::collections::BTreeSet;

use krm_core::resource::Resource;
use krm_core::schema::Schema;
use krm_merge::MergeSchema;
use krm_overlay::{OverlayInput, PackageTexts};
use krm_patch::create::create;
use krm_patch::finding::Findings;
use krm_patch::kustomize;
use krm_patch::node::Node;
use krm_patch::rules::Rules;
use krm_review::fields::{PairedField, pair_fields};
use krm_yaml::{NodeRef, OwnedDocument, Value};
use proptest::prelude::*;

/// A list of a kind: what is above its elements, its path, and the key of its elements.
type Keyed = (&'static str, [&'static str; 2], &'static str);

const LISTS: [Keyed; 3] = [
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n",
        ["spec", "containers"],
        "name",
    ),
    (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  volumes:\n",
        ["spec", "volumes"],
        "name",
    ),
    (
        "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n",
        ["spec", "ports"],
        "port",
    ),
];

/// An element: its key, and a value.
type Element = (usize, i64);

fn text((head, _, key): Keyed, list: &[Element]) -> String {
    let elements = list.iter().map(|(number, tag)| {
        let name = if key == "port" { "1" } else { "n" };
        format!("  - {key}: {name}{number}\n    tag: {tag}\n")
    });
    head.to_owned() + &elements.collect::<String>()
}

/// What leads from one list to the other: the keys of the elements that are removed, and of those that are new or changed.
#[derive(Debug, Default, PartialEq, Eq)]
struct ElementChanges {
    removed: BTreeSet<String>,
    written: BTreeSet<String>,
}

fn key_of(element: &Value, key: &str) -> String {
    element.get(key).map(Value::plain_text).expect("a key")
}

/// By the pairs of a merge, which `krmv blame`, `--bisect` and lists of changes ask for, too.
fn of_merge(
    (_, path, key): Keyed,
    [before, after]: [NodeRef<'_>; 2],
    schema: &Schema,
) -> ElementChanges {
    let root = MergeSchema::of(&Resource::read(before), schema, true);
    let place = path.iter().fold(root, |schema, name| schema.field(name));
    let lists = [before, after].map(|root| root.get_path(&path).expect("a list"));
    let pairs = place.pairs(lists[0], lists[1]);
    let [old, new] = lists.map(|list| list.value().expect("a value").items().to_vec());
    let mut changes = ElementChanges::default();
    for (at, element) in old.iter().enumerate() {
        if !pairs.iter().any(|pair| pair.0 == at) {
            changes.removed.insert(key_of(element, key));
        }
    }
    for (at, element) in new.iter().enumerate() {
        let partner = pairs.iter().find(|pair| pair.1 == at);
        if partner.is_none_or(|(old_at, _)| old[*old_at] != *element) {
            changes.written.insert(key_of(element, key));
        }
    }
    changes
}

/// By a review, which names the fields `tag` of the elements: by their names, or else by their positions.
fn of_review(list: Keyed, nodes: [NodeRef<'_>; 2], schema: &Schema) -> ElementChanges {
    let (_, path, key) = list;
    let root = MergeSchema::of(&Resource::read(nodes[0]), schema, true);
    let mut changes = ElementChanges::default();
    let element = |side: usize, field: &str| {
        let name = field.strip_suffix("].tag")?.rsplit_once('[')?.1;
        if let Some(name) = name.strip_prefix("name=") {
            return Some(name.to_owned());
        }
        let element = nodes[side]
            .get_path(&path)?
            .items()
            .nth(name.parse().ok()?)?;
        Some(key_of(&element.value()?, key))
    };
    pair_fields(nodes, root, &mut |found| match found {
        PairedField::Same(_) => {}
        PairedField::Removed(field) => changes.removed.extend(element(0, &field)),
        PairedField::Added(field) | PairedField::Changed(field) => {
            changes.written.extend(element(1, &field));
        }
    });
    changes
}

/// By a patch. An element with only its key says where the others are.
fn of_patch((_, path, key): Keyed, patch: &Value) -> ElementChanges {
    let mut changes = ElementChanges::default();
    for element in patch.get_path(&path).map_or(&[][..], Value::items) {
        if element.get("$patch").and_then(Value::as_str) == Some("delete") {
            changes.removed.insert(key_of(element, key));
        } else if element.entries().len() > 1 {
            changes.written.insert(key_of(element, key));
        }
    }
    changes
}

/// By the patch of an overlay over `before` that builds `after`.
fn of_overlay(list: Keyed, texts: &[String; 2], schema: &Schema) -> ElementChanges {
    let [upstream, fork] = texts.each_ref().map(|text| {
        let file = ("all.yaml".to_owned(), text.clone());
        PackageTexts::read([file].into())
    });
    let input = OverlayInput {
        fork: &fork,
        upstream: &upstream,
        base: None,
        schema,
    };
    let overlay = krm_overlay::create(input).expect("an overlay");
    assert_eq!(overlay.differences, [], "the overlay builds the fork");
    let patches = overlay.files.iter();
    let mut patches = patches.filter(|(path, _)| path.starts_with("patches/"));
    let patch = patches.next().map(|(_, text)| document(text));
    let patch = patch.and_then(|patch| patch.root()?.value());
    of_patch(list, &patch.unwrap_or(Value::Null))
}

fn document(text: &str) -> OwnedDocument {
    OwnedDocument::parse_resource(text.to_owned()).expect("YAML")
}

proptest! {
    #[test]
    fn all_features_pair_the_same_elements(
        list in 0..LISTS.len(),
        before in 1..6_usize,
        order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle(),
        after in 1..7_usize,
        tags in prop::collection::vec(0..2_i64, 7),
    ) {
        let list = LISTS[list];
        let old: Vec<Element> = (0..before).map(|number| (number, 0)).collect();
        let new: Vec<Element> = order[..after].iter().map(|number| (*number, tags[*number])).collect();
        let texts = [text(list, &old), text(list, &new)];
        let documents = texts.each_ref().map(|text| document(text));
        let nodes = documents.each_ref().map(|document| document.root().expect("a root"));
        let schema = Schema::builtin();
        let expected = of_merge(list, nodes, &schema);
        prop_assert_eq!(&of_review(list, nodes, &schema), &expected, "review");

        let resource = Resource::read(nodes[0]);
        let rules = Rules::of(&schema, &resource.api_version, &resource.kind);
        let [live, modified] = nodes.map(Node::Text);
        let patch = create(Some(&live), &modified, &live, rules, &mut Findings::default());
        let patch = patch.map_or(Value::Null, |patch| patch.to_value());
        prop_assert_eq!(&of_patch(list, &patch), &expected, "patch for kubectl");

        let patches = kustomize::create(&live, &modified, rules);
        prop_assert!(patches.operations.is_empty(), "elements with keys are named by them");
        let patch = patches.merge.map_or(Value::Null, |patch| patch.to_value());
        prop_assert_eq!(&of_patch(list, &patch), &expected, "patch for kustomize");
        prop_assert_eq!(&of_overlay(list, &texts, &schema), &expected, "overlay");
    }
}

#[test]
fn elements_that_moved_are_compared_with_themselves() {
    let upstream = text(LISTS[0], &[(0, 1), (1, 2)]);
    for (fork, is_reordered) in [
        (
            "  - name: n1\n    tag: 2\n  - name: n0\n    tag: 1\n",
            false,
        ),
        ("  - name: n1\n    tag: 2\n  - tag: 1\n    name: n0\n", true),
        ("  - tag: 2\n    name: n1\n", true),
        ("  - name: n1\n    tag: 2\n", false),
    ] {
        let fork = LISTS[0].0.to_owned() + fork;
        let read =
            |text: &String| PackageTexts::read([("all.yaml".to_owned(), text.clone())].into());
        let (upstream, fork) = (read(&upstream), read(&fork));
        let schema = Schema::builtin();
        let input = OverlayInput {
            fork: &fork,
            upstream: &upstream,
            base: None,
            schema: &schema,
        };
        let overlay = krm_overlay::create(input).expect("an overlay");
        let omitted: Vec<&str> = overlay.omitted.iter().map(|(_, what)| &**what).collect();
        let expected: &[&str] = if is_reordered {
            &["the order of its keys"]
        } else {
            &[]
        };
        assert_eq!(omitted, expected);
    }
}

/// kustomize merges ports by their keys, and so does the check of its patches.
#[test]
fn parts_of_a_patch_are_needless_by_the_keys_of_their_list() {
    let base = text(LISTS[2], &[(0, 1), (1, 2), (2, 1)]);
    let patch = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n  - {port: 10, tag: 1}\n  - {port: 11, tag: 3}\n";
    let kustomization = "resources: [all.yaml]\npatches: [{path: patch.yaml}]\n";
    let files = [
        ("all.yaml", &*base),
        ("patch.yaml", patch),
        ("kustomization.yaml", kustomization),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let texts = PackageTexts::read(files.into());
    let findings = krm_overlay::check(&texts, &Schema::builtin(), &|_| Ok(Vec::new()));
    let findings = findings.expect("a kustomization");
    let messages: Vec<&str> = findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(
        messages,
        ["`spec.ports[port=10].tag` changes nothing: the base already has this value"]
    );
}

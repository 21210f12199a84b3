//! A merge and `compare` call the same elements the same.

use super::merged;
use crate::MergeSchema;
use crate::compare::pair_elements;
use crate::rule::Side;
use krm_core::resource::Resource;
use krm_core::schema::Schema;
use krm_yaml::{NodeRef, OwnedDocument, Value};
use proptest::prelude::*;

/// An element: its name, and its tag.
type Named = (usize, i64);

/// A list: what is above its elements, its path, and how an element with a number begins.
#[derive(Debug)]
struct ListShape {
    head: &'static str,
    path: &'static [&'static str],
    element: fn(usize) -> String,
}

const THING: &str = "apiVersion: example.com/v1\nkind: Thing\nspec:\n  list:\n";
const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n";

macro_rules! kustomization {
    ($list:literal) => {
        concat!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
            $list,
            ":\n"
        )
    };
}

/// Lists whose elements are named by a field of the table, by their schema, by the rules of kustomizations, or by nothing:
/// then their parts show which is which.
static SHAPES: [ListShape; 12] = {
    const fn thing(element: fn(usize) -> String) -> ListShape {
        let (head, path): (_, &[&str]) = (THING, &["spec", "list"]);
        ListShape {
            head,
            path,
            element,
        }
    }
    [
        thing(|at| format!("name: n{at}")),
        thing(|at| format!("id: n{at}")),
        thing(|at| format!("key: n{at}")),
        thing(|at| format!("path: n{at}")),
        thing(|at| format!("host: n{at}")),
        thing(|at| format!("title: n{at}")),
        thing(|at| format!("a: {at}a\n    b: {at}b\n    c: {at}c")),
        ListShape {
            head: POD,
            path: &["spec", "containers"],
            element: |at| format!("name: n{at}"),
        },
        ListShape {
            head: "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports:\n",
            path: &["spec", "ports"],
            element: |at| format!("port: {at}"),
        },
        ListShape {
            head: kustomization!("patches"),
            path: &["patches"],
            element: |at| format!("path: n{at}.yaml"),
        },
        ListShape {
            head: kustomization!("helmCharts"),
            path: &["helmCharts"],
            element: |at| format!("name: n{at}"),
        },
        ListShape {
            head: kustomization!("replicas"),
            path: &["replicas"],
            element: |at| format!("name: n{at}"),
        },
    ]
};

fn text(shape: &ListShape, list: &[Named], mine: Option<usize>) -> String {
    let mut text = shape.head.to_owned();
    for (at, (name, tag)) in list.iter().enumerate() {
        text += &format!("  - {}\n    tag: {tag}\n", (shape.element)(*name));
        if mine == Some(at) {
            text += "    mine: 7\n";
        }
    }
    text
}

fn document(text: &str) -> OwnedDocument {
    OwnedDocument::parse_resource(text.to_owned()).expect("YAML")
}

fn list<'a>(shape: &ListShape, document: &'a OwnedDocument) -> NodeRef<'a> {
    let root = document.root().expect("a root");
    root.get_path(shape.path).expect("a list")
}

/// The pairs of two versions, as `krmv blame` and `--bisect` ask for them.
fn pairs(shape: &ListShape, [before, after]: [&OwnedDocument; 2]) -> Vec<(usize, usize)> {
    let schema = Schema::builtin();
    let resource = Resource::read(before.root().expect("a root"));
    let root = MergeSchema::of(&resource, &schema, true);
    let place = shape
        .path
        .iter()
        .fold(root, |schema, key| schema.field(key));
    let [before, after] = [before, after].map(|document| list(shape, document));
    let pairs = place.pairs(before, after);
    if place.kustomization_list().is_none() {
        assert_eq!(
            pairs,
            pair_elements(place.list(), before, after),
            "as a review"
        );
    }
    pairs
}

/// Two versions of a list: upstream moves, removes, adds and changes elements.
fn versions() -> impl Strategy<Value = (&'static ListShape, Vec<Named>, Vec<Named>)> {
    let order = Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle();
    let tags = prop::collection::vec(0..3_i64, 6);
    (0..SHAPES.len(), 1..5_usize, order, 1..6_usize, tags).prop_map(
        |(shape, before, order, after, tags)| {
            let base = (0..before).map(|name| (name, 0)).collect();
            let upstream = order[..after].iter().map(|name| (*name, tags[*name]));
            (&SHAPES[shape], base, upstream.collect())
        },
    )
}

proptest! {
    #[test]
    fn an_edit_stays_with_the_element_that_a_comparison_considers_the_same(
        (shape, base, upstream) in versions(),
        edited in 0..4_usize,
    ) {
        let edited = edited % base.len();
        let texts = [text(shape, &base, None), text(shape, &base, Some(edited)), text(shape, &upstream, None)];
        let (result, conflicts) = merged(&texts[0], &texts[1], &texts[2], Side::Local);
        let documents = texts.each_ref().map(|text| document(text));
        let pairs = pairs(shape, [&documents[0], &documents[2]]);
        let partner = pairs.iter().find(|pair| pair.0 == edited).map(|pair| pair.1);
        let result = document(&result);
        let value = |node: NodeRef<'_>| node.value().expect("a value");
        let mine = list(shape, &result).items().find(|item| item.get("mine").is_some());
        if conflicts.is_empty() {
            let theirs = list(shape, &documents[2]).items().nth(partner.expect("a partner"));
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

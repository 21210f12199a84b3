//! Any text: an error or a tree whose nodes are within the text and within each other.

#![no_main]

use krm_yaml::{Document, NodeRef, ParseOptions, Tree};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(tree) = Tree::parse(text, ParseOptions::default()) else {
        return;
    };
    let document = Document::new(text, &tree);
    for index in 0..document.len() {
        let range = document.range(index).expect("each document has a range");
        assert!(text.get(range).is_some());
        if let Some(root) = document.root(index) {
            check(root);
        }
    }
    for comment in document.comments() {
        assert!(text[comment].starts_with('#'));
    }
});

fn check(node: NodeRef<'_>) {
    let range = node.range();
    assert!(range.start <= range.end);
    assert!(node.document.text.get(range.clone()).is_some());
    let entries = node.entries().flat_map(|entry| [entry.key, entry.value]);
    let mut from = range.start;
    for child in entries.chain(node.items()) {
        assert_eq!(child.parent().map(|parent| parent.id), Some(node.id));
        assert!(
            from <= child.range().start,
            "children stand in the order of the text"
        );
        from = child.range().end;
        check(child);
    }
    assert!(from <= range.end, "children lie within their parent");
}

//! Any text and any edit: refused, or a text that parses to what the edit asked for.

#![no_main]

use krm_yaml::{Content, Document, EditError, Editor, ParseOptions, Tree, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &str, &str)| {
    let (what, place, value, text) = input;
    let Ok(tree) = Tree::parse(text, ParseOptions::default()) else {
        return;
    };
    let document = Document::new(text, &tree);
    let Some(root) = document.root(0) else {
        return;
    };
    let mut mappings = vec![root];
    let mut at = 0;
    while let Some(node) = mappings.get(at).copied() {
        mappings.extend(node.entries().map(|entry| entry.value));
        mappings.extend(node.items());
        at += 1;
    }
    let node = mappings[usize::from(place) % mappings.len()];
    let mut editor = Editor::new(document);
    let content = || Content::Value(Value::from(value));
    let edited = match what % 4 {
        0 => editor.set(node, "fuzz", content()),
        1 => editor.replace(node, content()),
        2 => editor.insert_item(node, None, content()),
        _ => match node
            .entries()
            .next()
            .and_then(|entry| entry.key.as_str().map(str::to_owned))
        {
            Some(key) => {
                editor.remove_entry(node, &key);
                Ok(())
            }
            None => Ok(()),
        },
    };
    if edited.is_err() {
        return;
    }
    match editor.finish() {
        Ok(text) => {
            Tree::parse(&text, ParseOptions::default()).expect("an edited text parses");
        }
        // The nesting limit can be passed by one; anything else is a fault of the editor, in what KRM files are written in.
        Err(EditError::Broken(error)) if Tree::parse_fast(text, ParseOptions::default()).is_some() => {
            assert!(
                error.message.contains("nested") || error.message.contains("recursion"),
                "{error}\n{text}"
            );
        }
        Err(_) => {}
    }
});

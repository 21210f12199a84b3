//! Appends results to a wrapper.

use crate::yaml::{Content, Document, EditError, Editor, Value};

/// Inserts results into a wrapper.
pub(super) fn append_results<'d>(
    document: Document<'d>,
    editor: &mut Editor<'d, '_>,
    results: Vec<Value>,
) -> Result<(), EditError> {
    let Some(root) = document.root(0).filter(|_| !results.is_empty()) else {
        return Ok(());
    };
    match root.entry("results") {
        Some(entry) => {
            for result in results {
                editor.insert_item(entry.value.resolved(), None, Content::Value(result))?;
            }
            Ok(())
        }
        None => editor.insert_entry(
            root,
            None,
            "results",
            Content::Value(Value::Sequence(results)),
        ),
    }
}

//! Appends results to a wrapper.

use crate::results::{FunctionResult, Results};
use krm_yaml::{Content, Document, EditError, Editor, Value};

/// Appends results to the `results` of a wrapper, which are added if they are missing.
pub(super) fn append_results<'d>(
    document: Document<'d>,
    editor: &mut Editor<'d, '_>,
    results: &Results,
) -> Result<(), EditError> {
    let Some(root) = document.root(0).filter(|_| !results.is_empty()) else {
        return Ok(());
    };
    let results = results.iter().map(FunctionResult::to_value);
    match root.entry("results") {
        Some(entry) => {
            let list = entry.value.resolved();
            results
                .map(Content::Value)
                .try_for_each(|result| editor.insert_item(list, None, result))
        }
        None => {
            let list = Value::Sequence(results.collect());
            editor.insert_entry(root, None, "results", Content::Value(list))
        }
    }
}

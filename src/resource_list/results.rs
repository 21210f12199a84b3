//! Appends results to a wrapper. Many results are written in batches, so that they are never all in
//! memory as values and as a tree.

use crate::results::Results;
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::{Content, Document, EditError, Editor, Value};

/// Results per batch.
const BATCH: usize = 1000;

/// Appends results to a wrapper; gives the texts that follow its own.
pub(super) fn append_all(
    wrapper: &mut SourceText,
    results: &Results,
) -> Result<Vec<Text>, EditError> {
    let mut left = results.iter().map(|result| result.to_value());
    let mut next = || left.by_ref().take(BATCH).collect::<Vec<Value>>();
    let before = wrapper.snapshot();
    let first = next();
    wrapper.edit_last(|document, editor| append_results(document, editor, first))?;
    if results.len() <= BATCH {
        return Ok(Vec::new());
    }
    if items_of(&before, wrapper.text()).is_none() {
        let all = left.collect();
        wrapper.edit(|document, editor| append_results(document, editor, all))?;
        return Ok(Vec::new());
    }
    let mut pieces = Vec::new();
    loop {
        let some = next();
        if some.is_empty() {
            return Ok(pieces);
        }
        // Their items look the same as if they were the only ones.
        let text = before.rewritten(|document, editor| append_results(document, editor, some))?;
        let items = text
            .as_ref()
            .and_then(|text| items_of(&before, text.as_str()));
        pieces.extend(items.map(|items| Text::from(items.to_owned())));
    }
}

/// The items of `results` where these were inserted last, on lines of their own.
fn items_of<'t>(before: &SourceText, text: &'t str) -> Option<&'t str> {
    let added = text.strip_prefix(before.text())?;
    let items = added.strip_prefix("results:")?;
    let items = items.strip_prefix("\r\n").or(items.strip_prefix('\n'))?;
    items.ends_with('\n').then_some(items)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::FunctionResult;
    use crate::yaml::{ParseOptions, Tree};

    /// The batches together are what one edit of the wrapper gives.
    #[test]
    fn many_results_are_written_like_few() {
        let mut results = Results::default();
        for number in 0..2 * BATCH + 7 {
            results.push(FunctionResult::info(format!("number {number}")).tag("a", "b"));
        }
        let items = "items:\n- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n";
        let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
        for list in [
            format!("{head}{items}"),
            format!("{head}{items}functionConfig:\n  a:\n    - b\n"),
            format!("{head}{items}# foot\n"),
            format!("{head}{items}results:\n- message: before\n"),
            format!("{head}{items}").replace('\n', "\r\n"),
            format!("{head}{items}z: 1"),
        ] {
            let values: Vec<Value> = results.iter().map(FunctionResult::to_value).collect();
            let mut whole = SourceText::parse(Text::from(list.clone())).expect("YAML");
            let edited = whole.edit(|document, editor| append_results(document, editor, values));
            edited.expect("an edit");
            let mut wrapper = SourceText::parse(Text::from(list)).expect("YAML");
            let more = append_all(&mut wrapper, &results).expect("an edit");
            let more: String = more.iter().map(|text| &**text).collect();
            let text = format!("{}{more}", wrapper.text());
            assert!(text == whole.text(), "{}", &text[..500]);
            Tree::parse(&text, ParseOptions::default()).expect("YAML");
        }
    }
}

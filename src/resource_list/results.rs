//! Appends results to a wrapper. Of many only the first is an edit: the others are written behind it, and are
//! never all in memory as values and as a tree.

use crate::results::{FunctionResult, Results};
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::{Content, Document, Draft, EditError, Editor, Value, draft_items_text};

/// Results per batch.
const BATCH: usize = 1000;

/// Appends results to a wrapper; gives the texts that follow its own.
pub(super) fn append_all(
    wrapper: &mut SourceText,
    results: &Results,
) -> Result<Vec<Text>, EditError> {
    if results.is_empty() {
        return Ok(Vec::new());
    }
    let mut left = results.iter();
    let before = wrapper.snapshot();
    let style = style(&before)?;
    let batch = if style.is_some() { 1 } else { BATCH };
    let first = values(&mut left, batch);
    wrapper.edit(|document, editor| append_results(document, editor, first))?;
    let mut pieces = Vec::new();
    if items_of(&before, wrapper.text()).is_none() {
        let all = values(&mut left, usize::MAX);
        wrapper.edit(|document, editor| append_results(document, editor, all))?;
        return Ok(pieces);
    }
    if let Some((column, newline)) = style {
        while left.len() > 0 {
            let some: Vec<Draft<'_>> = left.by_ref().take(BATCH).map(|r| r.to_draft()).collect();
            pieces.push(Text::from(draft_items_text(&some, column, newline)));
        }
    }
    while left.len() > 0 {
        let some = values(&mut left, BATCH);
        // Their items look the same as if they were the only ones.
        let text = before.rewritten(|document, editor| append_results(document, editor, some))?;
        let items = text
            .as_ref()
            .and_then(|text| items_of(&before, text.as_str()));
        pieces.extend(items.map(|items| Text::from(items.to_owned())));
    }
    Ok(pieces)
}

/// The next results as values.
fn values(left: &mut std::slice::Iter<'_, FunctionResult>, most: usize) -> Vec<Value> {
    left.take(most).map(FunctionResult::to_value).collect()
}

/// The column and the line break of results, if an edit of the wrapper writes them as new text is written:
/// an edit goes by the style of the text around it.
fn style(wrapper: &SourceText) -> Result<Option<(usize, &'static str)>, EditError> {
    let list = |item: Value| Value::Sequence(vec![item]);
    let map = |value: Value| Value::Mapping(vec![(Value::from("a"), value)]);
    // Nested collections of each kind, and blank lines at the end.
    let probe = map(list(map(list(list(map(map(Value::from("b\n\n"))))))));
    let values = vec![probe.clone()];
    let text = wrapper.rewritten(|document, editor| append_results(document, editor, values))?;
    let items = text
        .as_ref()
        .and_then(|text| items_of(wrapper, text.as_str()));
    Ok(items.and_then(|items| {
        let column = items.find('-')?;
        let newline = if items.contains('\r') { "\r\n" } else { "\n" };
        let written = draft_items_text(&[Draft::from(&probe)], column, newline);
        (written == items).then_some((column, newline))
    }))
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
        const TEXTS: [&str; 14] = [
            "number",
            "",
            " a ",
            "null",
            "12",
            "- b",
            "c: d",
            "# e",
            "{f",
            "\u{1b}[31m",
            "g\u{85}h",
            "i\nj",
            "k\n\nl\n\n",
            "\u{feff}\tm\r\n",
        ];
        let mut results = Results::default();
        for number in 0..2 * BATCH + 7 {
            let text = TEXTS[number % TEXTS.len()];
            let list = Value::Sequence(vec![Value::from(text), Value::from(number as i64)]);
            let after = Value::Mapping(vec![(Value::from(text), list.clone())]);
            let result = FunctionResult::info(text).tag("a", "b").tag(text, text);
            results.push(result.at("f").changes(Some(&list), Some(&after)));
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

//! A block ResourceList as kpt and kustomize write it, cut at the dashes of its items: a text for each
//! item, and the wrapper without them.
//!
//! The text of item N is text N of the list.

use std::collections::HashMap;

use super::changes::Changes;
use super::results::append_results;
use super::wrapper::{InputError, ItemsLine, STDIN, check_results, check_wrapper};
use super::{Form, Item, ItemId, NewText, ResourceList};
use crate::resource::Resource;
use crate::results::Results;
use crate::source_text::{EditedTree, Locator, SourceText};
use crate::split;
use krm_package::text::Text;
use krm_yaml::{Content, EditError, ParseOptions, Value, most_documents, text_as_item};

/// An item is parsed with its dash, within the list.
pub(super) const OPTIONS: ParseOptions = ParseOptions::of_resources(1);

/// The wrapper of a list that is cut at its dashes.
#[derive(Debug)]
pub(super) struct Stream {
    /// The ResourceList without its items: nothing follows `items:`.
    pub(super) wrapper: SourceText,
    /// Column of the dashes.
    pub(super) indent: usize,
    /// The line break of the line of `items:`.
    newline: &'static str,
}

impl Stream {
    /// Cuts a ResourceList; `None` if it is not in the usual shape, or not a valid one.
    pub(super) fn parse(text: &Text) -> Option<ResourceList> {
        // Without a line break at the end of the text, an edit of the last line would take one from elsewhere.
        let split = split::split(text).filter(|_| text.ends_with('\n'))?;
        if split.pieces.len() > most_documents(text) {
            return None;
        }
        let (before, after) = (&text[..split.items.start], &text[split.items.end..]);
        // Blank lines after the last item, and comments that are not deeper than its dash, may be the foot of the
        // wrapper. Results are inserted above it.
        let may_be_foot = |line: &str| {
            let content = line.trim_start();
            let is_shallow = line.len() - content.len() <= split.indent.unwrap_or_default();
            content.is_empty() || content.starts_with('#') && is_shallow
        };
        if after.is_empty() && text.lines().next_back().is_some_and(may_be_foot) {
            return None;
        }
        let wrapper = SourceText::parse_wrapper(Text::from(format!("{before}{after}"))).ok()?;
        check_cut(&wrapper, before.len())?;
        let indent = match split.indent {
            Some(indent) => indent,
            None => column_of_first_item(&wrapper)?,
        };
        let item = |resource| Item::new(resource, 0, Locator::Item(0));
        let (texts, mut items) = SourceText::cut(text, &split.pieces, OPTIONS, item)?;
        for (number, item) in items.iter_mut().enumerate() {
            item.text = number;
        }
        let newline = ItemsLine::of(&wrapper).newline;
        let form = Form::Stream(Self {
            wrapper,
            indent,
            newline,
        });
        Some(ResourceList::new(form, texts, items))
    }

    /// The text of the list with its changes and results.
    pub(super) fn emit(
        &mut self,
        texts: &[SourceText],
        changes: &mut Changes,
        results: &Results,
        keep: bool,
    ) -> Result<Vec<Text>, EditError> {
        self.wrapper
            .edit(|document, editor| append_results(document, editor, results))?;
        let line = ItemsLine::of(&self.wrapper);
        let changes = std::mem::take(changes);
        let mut items: Vec<Text> = Vec::new();
        let mut new = self.by_position(changes.inserted);
        let mut insert = |items: &mut Vec<Text>, before: Option<ItemId>| {
            let texts = new.remove(&before).into_iter().flatten();
            items.extend(texts.map(Text::from));
        };
        for (index, text) in texts.iter().enumerate() {
            insert(&mut items, Some(ItemId(index)));
            if !changes.removed.contains(&ItemId(index)) {
                Text::push(&mut items, text.emitted(keep));
            }
        }
        insert(&mut items, None);
        let (before, after) = self.wrapper.text().split_at(line.end);
        let is_empty = items.iter().all(|text| text.is_empty());
        let before = if is_empty {
            // `items:` without a value is null, for which kpt deletes the package.
            format!("{} []{}", &before[..line.after], &before[line.after..])
        } else {
            before.to_owned()
        };
        let mut out = vec![Text::from(before)];
        out.append(&mut items);
        out.push(Text::from(after.to_owned()));
        Ok(out)
    }

    /// The texts of new items, by the item to insert them before.
    fn by_position(&self, new: Vec<NewText>) -> HashMap<Option<ItemId>, Vec<String>> {
        let newline = self.newline;
        let mut by_position: HashMap<_, Vec<String>> = HashMap::new();
        for NewText { text, before, .. } in new {
            let item = text_as_item(&text, self.indent, newline);
            by_position.entry(before).or_default().push(item);
        }
        by_position
    }
}

impl ResourceList {
    /// Turns inserted texts into items.
    pub(super) fn insert_stream_items(&mut self) -> Result<(), InputError> {
        let Form::Stream(stream) = &self.form else {
            return Ok(());
        };
        let new = std::mem::take(&mut self.changes.inserted);
        if new.is_empty() {
            return Ok(());
        }
        let mut new = stream.by_position(new);
        let old_texts = std::mem::take(&mut self.texts);
        let old_items = std::mem::take(&mut self.items);
        let removed = std::mem::take(&mut self.changes.removed);
        for (index, (text, item)) in old_texts.into_iter().zip(old_items).enumerate() {
            self.push_new_items(new.remove(&Some(ItemId(index))))?;
            if removed.contains(&ItemId(index)) {
                self.changes.removed.insert(ItemId(self.items.len()));
            }
            let text_number = self.texts.len();
            self.texts.push(text);
            self.items.push(Item {
                text: text_number,
                ..item
            });
        }
        self.push_new_items(new.remove(&None))
    }

    fn push_item(&mut self, text: SourceText, resource: Resource) {
        let item = Item::new(resource, self.texts.len(), Locator::Item(0));
        self.items.push(item);
        self.texts.push(text);
    }

    fn push_new_items(&mut self, texts: Option<Vec<String>>) -> Result<(), InputError> {
        for text in texts.into_iter().flatten() {
            let Some((text, resource)) = SourceText::new_item(text, OPTIONS) else {
                return Err(InputError::Shape {
                    place: STDIN.to_owned(),
                    message: "expected a resource to insert, found other YAML".to_owned(),
                });
            };
            self.push_item(text, resource);
        }
        Ok(())
    }
}

/// Checks that a wrapper is a ResourceList whose `items` are empty where its items were cut out.
fn check_cut(wrapper: &SourceText, cut: usize) -> Option<()> {
    let document = wrapper.document();
    let root = document.root(0).filter(|_| document.len() == 1)?;
    check_wrapper(root).ok()?;
    check_results(root).ok()?;
    let items = root.entry("items")?.value.range();
    let line = wrapper.text().get(items.end..cut)?;
    (items.is_empty() && line.trim().is_empty()).then_some(())
}

/// The column at which an edit of the wrapper would put the dash of its first item; `None` if the item would not be on
/// a separate line, directly below `items:`.
fn column_of_first_item(wrapper: &SourceText) -> Option<usize> {
    let value = Value::Mapping(vec![(Value::from("a"), Value::from("b"))]);
    let edited = wrapper.rewritten(EditedTree::Dropped, |document, editor| {
        match document.root(0).and_then(|root| root.get("items")) {
            Some(items) => editor.insert_item(items, None, Content::Value(value)),
            None => Ok(()),
        }
    });
    let edited = edited.ok()??;
    let line = ItemsLine::of(wrapper);
    let (before, after) = wrapper.text().split_at(line.end);
    let item = edited.as_str().strip_prefix(before)?.strip_suffix(after)?;
    let spaces = item.strip_suffix(&format!("- a: b{}", line.newline))?;
    spaces.bytes().all(|b| b == b' ').then_some(spaces.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource_list::{NewResource, whole};
    use crate::results::FunctionResult;
    use indoc::indoc;

    const HEAD: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";

    /// Lists without items, as tools write them and with what a person adds.
    fn empty_lists() -> Vec<String> {
        let config = "functionConfig:\n  kind: X\n  list:\n  - a\n";
        let indented = "functionConfig:\n    kind: X\n    list:\n        -   a\n        - b: c\n";
        let results = "results:\n- message: before\n";
        let lists = [
            format!("{HEAD}items: []\n"),
            format!("{HEAD}items: []\n{config}"),
            format!("{HEAD}{config}items: []\n"),
            format!("{HEAD}{indented}items: []\n"),
            format!("{HEAD}items: []\n{indented}{results}"),
            format!("{results}items: []\n# c\n{HEAD}"),
            format!("# a\n{HEAD}items: []\n# foot\n"),
            format!("{HEAD}items: []\n\n\n{config}\n"),
        ];
        let crlf = lists.iter().map(|text| text.replace('\n', "\r\n"));
        crlf.chain(lists.clone()).collect()
    }

    fn put_out(mut list: ResourceList, files: &[(&str, &str)], kind: usize) -> String {
        let value = || {
            let list = Value::Sequence(vec![Value::from("b\nc\n"), Value::Null]);
            Value::Mapping(vec![(Value::from("a"), list)])
        };
        if kind & 1 != 0 {
            let files = files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
            let package = ResourceList::from_texts(files).expect("a package");
            list.insert_package(package).expect("resources");
        }
        if kind & 2 != 0 {
            list.add_text(NewText {
                path: None,
                text: "# w\nkind: W # x\n".to_owned(),
                before: None,
            });
        }
        if kind & 4 != 0 {
            let new = list.write(NewResource {
                path: Some("v.yaml".to_owned()),
                package_path: None,
                value: value(),
            });
            list.add_text(new);
        }
        let mut results = Results::default();
        if kind & 8 != 0 {
            results.push(FunctionResult::info("y"));
        }
        let emitted = list.emit(&results, kind & 16 == 0).expect("edits");
        emitted.iter().map(|text| &**text).collect()
    }

    #[test]
    fn an_empty_list_is_written_as_in_one_text() {
        let files = [
            ("a.yaml", "# a\nkind: A # b\napiVersion: v1\nc:\n- d\n"),
            (
                "b.yaml",
                indoc! {"
                    kind: B
                    apiVersion: v1
                    e: |
                      f

                       g
                    ---
                    # h
                    {kind: C, apiVersion: v1}
                "},
            ),
        ];
        let mut cut = 0;
        for text in empty_lists() {
            let text = Text::from(text);
            let Some(list) = Stream::parse(&text) else {
                continue;
            };
            cut += 1;
            assert_eq!(put_out(list, &files, 0), &*text);
            for kind in 0..32 {
                let list = Stream::parse(&text).expect("the same list");
                let whole = whole::parse(text.clone()).expect("a list");
                let whole = put_out(whole, &files, kind);
                assert_eq!(put_out(list, &files, kind), whole, "{kind}: {}", &*text);
            }
        }
        // Lists whose dashes are further from their items are not cut.
        assert_eq!(cut, 12);
    }

    #[test]
    fn a_new_resource_whose_document_is_indented_stays_yaml() {
        let text = format!("{HEAD}items:\n- kind: A\n");
        let mut list = ResourceList::parse(text.clone()).expect("a list");
        list.add_text(NewText {
            path: None,
            text: "\n  kind: B\n  c:\n    d: 1\n".to_owned(),
            before: None,
        });
        let emitted = list.emit(&Results::default(), true).expect("edits");
        let emitted: String = emitted.iter().map(|text| &**text).collect();
        assert_eq!(emitted, format!("{text}-   kind: B\n    c:\n      d: 1\n"));
    }

    #[test]
    fn adopted_resources_take_the_line_endings_of_the_list() {
        const LINE_ENDS: [&str; 2] = ["\n", "\r\n"];
        let item = "items:\n- kind: A\n  apiVersion: v1\n";
        let file = indoc! {"
            # a
            kind: B
            apiVersion: v1
            ---
            kind: C
            apiVersion: v1
            d: |
              e
            # f

            ---
            kind: D
            apiVersion: v1"};
        let new = indoc! {"
            - # a
              kind: B
              apiVersion: v1
            - kind: C
              apiVersion: v1
              d: |
                e
              # f
            - kind: D
              apiVersion: v1
        "};
        for line_end in LINE_ENDS {
            let text = format!("{HEAD}{item}").replace('\n', line_end);
            let new = new.replace('\n', line_end);
            for in_file in LINE_ENDS {
                for end in ["", "\n"] {
                    let file = format!("{file}{end}").replace('\n', in_file);
                    let list = ResourceList::parse(text.clone()).expect("a list");
                    let put_out = put_out(list, &[("b.yaml", &file)], 1);
                    assert_eq!(put_out, format!("{text}{new}"), "{file:?}");
                }
            }
        }
    }
}

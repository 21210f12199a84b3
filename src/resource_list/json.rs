//! A ResourceList in flow style, as JSON is, cut between the commas of its items: a text for each item
//! with the white space in front of it, and the wrapper without them.
//!
//! Where items are inserted or removed, commas and white space change too: the list becomes one text then.

use super::list_text::ListText;
use super::results::append_results;
use super::wrapper::{check_results, check_wrapper};
use super::{Form, Item, ResourceList};
use crate::identity::{ITEM_DEPTH, flow_items};
use crate::results::Results;
use crate::source_text::{Locator, SourceText};
use crate::text::Text;
use crate::yaml::scan::is_in_use;
use crate::yaml::{EditError, ParseOptions, most_documents};

/// The wrapper of a list that is cut at its commas.
#[derive(Debug)]
pub(super) struct Json {
    /// The ResourceList with nothing between the brackets of `items`.
    pub(super) wrapper: SourceText,
    /// The whole ResourceList as it came.
    whole: Text,
}

impl Json {
    /// Cuts a ResourceList; `None` if it is not in the usual shape, or not a valid one.
    pub(super) fn parse(text: &Text) -> Option<ResourceList> {
        // An edit takes its line break from the line, which may end far behind the item.
        let usual = is_in_use() && memchr::memchr(b'\r', text.as_bytes()).is_none();
        let found = usual
            .then(|| flow_items(text, most_documents(text)))
            .flatten()?;
        let foot = found.ranges.last()?.end;
        let wrapper = format!("{}{}", &text[..found.start], &text[foot..]);
        let wrapper = SourceText::parse(Text::from(wrapper)).ok()?;
        let root = wrapper.root()?;
        check_wrapper(root).ok()?;
        check_results(root).ok()?;
        let options = ParseOptions { depth: ITEM_DEPTH };
        let mut texts = Vec::with_capacity(found.ranges.len());
        let mut at = found.start;
        for (index, range) in found.ranges.into_iter().enumerate() {
            let start = match index {
                0 => at,
                // Behind the comma.
                _ => at + text[at..range.start].find(',')? + 1,
            };
            let own_line = text[start..range.start].contains('\n');
            if !own_line && text[range.clone()].contains('\n') {
                return None;
            }
            at = range.end;
            let item = text.slice(start..range.end);
            texts.push(SourceText::scanned(item, options));
        }
        let resources = found.resources.into_iter().enumerate();
        let items =
            resources.map(|(text, resource)| Item::new(resource, text, Locator::Document(0)));
        let whole = text.clone();
        let form = Form::Json(Self { wrapper, whole });
        Some(ResourceList::new(form, texts, items.collect()))
    }

    /// The text of the list with its results.
    pub(super) fn emit(
        &mut self,
        texts: &[SourceText],
        results: &Results,
        keep: bool,
    ) -> Result<ListText, EditError> {
        let values = results.iter().map(|result| result.to_value()).collect();
        self.wrapper
            .edit(|document, editor| append_results(document, editor, values))?;
        Ok(self.joined(texts, keep).into())
    }

    fn joined(&self, texts: &[SourceText], keep: bool) -> Vec<Text> {
        let wrapper = self.wrapper.text();
        let items = self.wrapper.root().and_then(|root| root.entry("items"));
        let bracket = items.map_or(0, |items| items.value.range().start + 1);
        let (before, after) = wrapper.split_at(bracket);
        let mut out = vec![Text::from(before.to_owned())];
        let mut last: Option<Text> = None;
        for text in texts {
            let source = text.source_text();
            if let Some(last) = last {
                Text::push(&mut out, last.until(&source));
            }
            Text::push(&mut out, text.emitted(keep));
            last = Some(source);
        }
        out.push(Text::from(after.to_owned()));
        out
    }
}

impl ResourceList {
    /// Makes one text of a list in flow style, to insert and remove items.
    ///
    /// # Errors
    /// Edited items that are no YAML together.
    pub(super) fn join(&mut self) -> Result<(), EditError> {
        let Form::Json(json) = &self.form else {
            return Ok(());
        };
        let whole = json.whole.clone();
        let whole = if self.texts.iter().any(SourceText::is_changed) {
            let texts = json.joined(&self.texts, true);
            let edited = texts.iter().map(|text| &**text).collect();
            SourceText::edited(whole, edited).map_err(EditError::Broken)?
        } else {
            SourceText::accepted(whole, ParseOptions::default())
        };
        self.texts = vec![whole];
        for (index, item) in self.items.iter_mut().enumerate() {
            (item.text, item.locator) = (0, Locator::Item(index));
        }
        self.form = Form::Whole;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource_list::{ItemId, NewResource, NewText, whole};
    use crate::results::{FunctionResult, Results};
    use crate::yaml::{Content, EditError, Value};

    const ITEMS: [&str; 3] = [
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"b":"c"}},"data":{"d":"e,}]\"","f":"g"}}"#,
        r#"{"kind":"Kptfile","metadata":{"name":"h"},"list":[1,{"i":[]},"j"],"data":{}}"#,
        r#"{"metadata":{"name":"k"},"data":{"l":[{"m":null},{"n":{"o":-1}}]},"kind":"List"}"#,
    ];

    /// The same list as tools write it.
    fn texts() -> Vec<String> {
        let items = ITEMS.join(",");
        let head = r#""apiVersion":"config.kubernetes.io/v1","kind":"ResourceList""#;
        let config = r#""functionConfig":{"kind":"X","data":{"items":[{"y":1}]}}"#;
        let mut texts = Vec::new();
        for text in [
            format!("{{{head},\"items\":[{items}]}}"),
            format!("{{{head},{config},\"items\":[{items}],\"results\":[]}}"),
            format!("{{\"results\":[{{\"message\":\"m\"}}],\"items\":[{items}],{config},{head}}}"),
        ] {
            let value: serde_json::Value = text.parse().expect("JSON");
            let pretty = format!("{value:#}\n");
            let lines = ITEMS.join(",\n");
            texts.push(text.replace(":[{", ":[ {").replace("},{", "} , {") + " # c\n");
            texts.push(text.replace(&items, &format!("\n{lines}\n")));
            texts.push(pretty.replace("  ", "    ") + "# d\n");
            texts.push(pretty.replace('\n', "\n\n") + "\n");
            texts.push(
                pretty
                    .lines()
                    .map(|l| l.trim_start().to_owned() + "\n")
                    .collect(),
            );
            texts.extend([text, pretty]);
        }
        texts
    }

    /// Changes each item, as `kind` says.
    fn change(list: &mut ResourceList, kind: usize) -> Result<(), EditError> {
        let ids: Vec<ItemId> = list.items().map(|(id, _)| id).collect();
        for (number, id) in ids.iter().enumerate() {
            if kind & 1 << number == 0 {
                continue;
            }
            list.edit(*id, |node, editor| {
                let text = |text: &str| Content::Value(Value::from(text));
                let nested = vec![(Value::from("p"), Value::Sequence(vec![Value::from("q")]))];
                editor.set(node, "kind", text("R\ns"))?;
                editor.insert_entry(node, None, "new", Content::Value(Value::Mapping(nested)))?;
                if let Some(data) = node.get("data") {
                    editor.insert_entry(data, None, "t", text("u"))?;
                    editor.remove_entry(data, "f")?;
                    editor.remove_entry(data, "l")?;
                }
                if let Some(list) = node.get("list") {
                    editor.insert_item(list, Some(1), Content::Value(Value::Null))?;
                }
                Ok::<_, EditError>(())
            })?;
        }
        if kind & 8 != 0 {
            list.remove(ids[kind % 3]);
        }
        if kind & 16 != 0 {
            list.add(NewResource {
                path: Some("v.yaml".to_owned()),
                package_path: None,
                value: Value::Mapping(vec![(Value::from("kind"), Value::from("V"))]).into(),
            });
        }
        if kind & 32 != 0 {
            list.add_text(NewText {
                path: None,
                text: "# w\nkind: W # x\n".to_owned(),
                before: (kind & 1 == 0).then_some(ids[kind % 3]),
            });
        }
        Ok(())
    }

    #[test]
    fn items_for_themselves_become_what_they_do_in_the_whole() {
        if !is_in_use() {
            return;
        }
        for text in texts() {
            let text = Text::from(text);
            let parts = || Json::parse(&text).expect("a list in flow style");
            let whole = || whole::parse(text.clone()).expect("a list");
            let resources = |list: ResourceList| -> Vec<_> {
                list.items().map(|(_, resource)| resource.clone()).collect()
            };
            assert_eq!(resources(parts()), resources(whole()));
            for kind in 0..256 {
                let mut results = Results::default();
                if kind & 64 != 0 {
                    results.push(FunctionResult::info("y"));
                }
                let put_out = |mut list: ResourceList| -> String {
                    change(&mut list, kind).expect("edits");
                    let emitted = list.emit(&results, kind & 128 == 0).expect("edits");
                    emitted.pieces().collect()
                };
                assert_eq!(put_out(parts()), put_out(whole()), "{kind}: {}", &*text);
            }
        }
    }

    #[test]
    fn one_item_stands_for_itself() {
        let text =
            r#"{"kind":"ResourceList","apiVersion":"config.kubernetes.io/v1","items":[{"a":1}]}"#;
        let list = Json::parse(&Text::from(text.to_owned()));
        assert_eq!(
            list.map(|list| list.texts.len()),
            Some(1).filter(|_| is_in_use())
        );
    }

    #[test]
    fn what_is_not_changed_is_one_slice() {
        let text = Text::from(texts().pop().expect("a text"));
        if let Some(mut list) = Json::parse(&text) {
            let emitted = list.emit(&Results::default(), true).expect("no edits");
            assert_eq!(emitted.pieces().count(), 3);
        }
    }

    #[test]
    fn items_whose_columns_would_be_others_stay_in_the_whole() {
        let text = texts().pop().expect("a text");
        let text = text.replace("[\n    {", "[{");
        assert!(Json::parse(&Text::from(text)).is_none());
    }
}

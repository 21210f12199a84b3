//! A ResourceList as JSON: items for themselves, as behind dashes.
//!
//! It is put out in pieces, too, unless items come or go: then commas and white space do, and the
//! list is edited as a whole.

use super::read::{check_results, check_wrapper, max_items};
use super::{Item, Layout, Place, ResourceList};
use crate::identity::{ITEM_DEPTH, flow_items};
use crate::source_text::SourceText;
use crate::text::Text;
use crate::yaml::scan::IN_USE;
use crate::yaml::{Document, ParseOptions};

impl ResourceList {
    /// Items each for itself; `None` if the text must be taken as a whole.
    pub(super) fn parse_flow(text: &Text) -> Option<Self> {
        // What is put into an item takes its line break from the line, be it far behind.
        let usual = IN_USE && memchr::memchr(b'\r', text.as_bytes()).is_none();
        let found = usual.then(|| flow_items(text, max_items(text))).flatten()?;
        let foot = found.ranges.last()?.end;
        let wrapper = format!("{}{}", &text[..found.start], &text[foot..]);
        let read = |document: Document<'_>| {
            let root = document.root(0)?;
            (check_wrapper(root).is_ok() && check_results(root).is_ok()).then_some(())
        };
        SourceText::check(&wrapper, ParseOptions::default(), read).ok()??;
        let options = ParseOptions { depth: ITEM_DEPTH };
        let mut chunks = Vec::with_capacity(found.ranges.len());
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
            chunks.push(SourceText::new(text.slice(start..range.end), options));
        }
        let resources = found.resources.into_iter().enumerate();
        let items = resources.map(|(chunk, resource)| Item {
            resource,
            chunk,
            place: Place::AloneInFlow,
            hidden: false,
        });
        Some(Self {
            items: items.collect(),
            chunks,
            layout: Layout::Flow {
                wrapper: SourceText::new(Text::from(wrapper), ParseOptions::default()),
                whole: text.clone(),
            },
            ..Self::loose()
        })
    }

    /// Makes one text of a list in flow style, for edits of its `items`.
    pub(super) fn join(&mut self) {
        let Layout::Flow { wrapper, whole } = &self.layout else {
            return;
        };
        let mut chunk = SourceText::new(whole.clone(), ParseOptions::default());
        if self.chunks.iter().any(SourceText::is_changed) {
            let texts = flow_texts(wrapper, &self.chunks, true);
            chunk.rewrite(texts.iter().map(|text| &**text).collect());
        }
        self.chunks = vec![chunk];
        for (index, item) in self.items.iter_mut().enumerate() {
            (item.chunk, item.place) = (0, Place::InWrapper(index));
        }
        self.layout = Layout::Whole;
    }
}

/// The text of a list in pieces: as changed, or with the items as they came.
pub(super) fn flow_texts(wrapper: &SourceText, chunks: &[SourceText], keep: bool) -> Vec<Text> {
    let text = wrapper.text();
    let items = wrapper.root().and_then(|root| root.entry("items"));
    let bracket = items.map_or(0, |items| items.value.range().start + 1);
    let (before, after) = text.split_at(bracket);
    let mut texts = vec![Text::from(before.to_owned())];
    let mut last: Option<Text> = None;
    for chunk in chunks {
        let source = chunk.source_text();
        if let Some(last) = last {
            Text::push(&mut texts, last.until(&source));
        }
        Text::push(&mut texts, chunk.put_out(keep));
        last = Some(source);
    }
    texts.push(Text::from(after.to_owned()));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource_list::{ItemId, NewResource, NewText};
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
                value: Value::Mapping(vec![(Value::from("kind"), Value::from("V"))]),
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
        if !IN_USE {
            return;
        }
        for text in texts() {
            let text = Text::from(text);
            let parts = || ResourceList::parse_flow(&text).expect("a list in flow style");
            let whole = || ResourceList::parse_whole(text.clone()).expect("a list");
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
                    let texts = list.to_texts(&results, kind & 128 == 0).expect("edits");
                    texts.iter().map(|text| &**text).collect()
                };
                assert_eq!(put_out(parts()), put_out(whole()), "{kind}: {}", &*text);
            }
        }
    }

    #[test]
    fn one_item_stands_for_itself() {
        let text =
            r#"{"kind":"ResourceList","apiVersion":"config.kubernetes.io/v1","items":[{"a":1}]}"#;
        let list = ResourceList::parse_flow(&Text::from(text.to_owned()));
        assert_eq!(
            list.map(|list| list.chunks.len()),
            Some(1).filter(|_| IN_USE)
        );
    }

    #[test]
    fn what_is_not_changed_is_one_slice() {
        let text = Text::from(texts().pop().expect("a text"));
        if let Some(mut list) = ResourceList::parse_flow(&text) {
            let texts = list.to_texts(&Results::default(), true).expect("no edits");
            assert_eq!(texts.len(), 3);
        }
    }

    #[test]
    fn items_whose_columns_would_be_others_stay_in_the_whole() {
        let text = texts().pop().expect("a text");
        let text = text.replace("[\n    {", "[{");
        assert!(ResourceList::parse_flow(&Text::from(text)).is_none());
    }
}

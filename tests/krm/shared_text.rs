//! Generated resources with anchors, aliases and merge keys: the same data, written otherwise.

use krm_core::results::Results;
use krm_yaml::{Value, to_block_text};

use crate::kpt_merge::generate::{Random, triple};
use crate::merge_cases::{Files, data, merge_with_results};

/// Writes a value with what appears twice behind an anchor.
pub(crate) fn shared_text(value: &Value, random: &mut Random) -> String {
    let mut writer = Writer {
        random,
        anchored: Vec::new(),
        is_within: false,
        text: String::new(),
    };
    writer.collection(value, 0);
    writer.text
}

struct Writer<'r> {
    random: &'r mut Random,
    anchored: Vec<Value>,
    /// Whether an anchor is around: what holds anchors itself is not written twice.
    is_within: bool,
    text: String,
}

impl Writer<'_> {
    /// The lines of a collection that is not empty.
    fn collection(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Mapping(entries) => {
                let brought = self.merge_key(entries, indent);
                for (key, value) in entries {
                    if brought.iter().any(|(brought, _)| brought == key) {
                        continue;
                    }
                    let key = key.as_str().expect("a string");
                    self.text += &format!("{:indent$}{}:", "", scalar(&Value::from(key)));
                    self.value(value, indent + 2);
                }
            }
            Value::Sequence(items) => {
                for item in items {
                    self.text += &format!("{:indent$}-", "");
                    self.value(item, indent + 2);
                }
            }
            _ => unreachable!("a collection"),
        }
    }

    /// The entries that an earlier mapping brings.
    fn merge_key(&mut self, entries: &[(Value, Value)], indent: usize) -> Vec<(Value, Value)> {
        let fits = |anchored: &Value| match anchored {
            Value::Mapping(brought) => brought.iter().all(|entry| entries.contains(entry)),
            _ => false,
        };
        let Some(at) = self.anchored.iter().rposition(fits) else {
            return Vec::new();
        };
        self.text += &format!("{:indent$}<<: *a{at}\n", "");
        match &self.anchored[at] {
            Value::Mapping(brought) => brought.clone(),
            _ => Vec::new(),
        }
    }

    fn value(&mut self, value: &Value, indent: usize) {
        if let Some(at) = self.anchored.iter().rposition(|anchored| anchored == value)
            && self.random.below(4) > 0
        {
            self.text += &format!(" *a{at}\n");
            return;
        }
        let anchors = !self.is_within && self.random.below(3) == 0;
        if anchors {
            self.text += &format!(" &a{}", self.anchored.len());
            self.is_within = true;
        }
        let is_collection = match value {
            Value::Mapping(entries) => !entries.is_empty(),
            Value::Sequence(items) => !items.is_empty(),
            _ => false,
        };
        if is_collection {
            self.text.push('\n');
            // Not to be read within itself.
            self.collection(value, indent);
        } else {
            self.text += &format!(" {}\n", scalar(value));
        }
        if anchors {
            self.anchored.push(value.clone());
            self.is_within = false;
        }
    }
}

/// A value that is no collection, or an empty one, on one line.
fn scalar(value: &Value) -> String {
    let text = to_block_text(value);
    match text.trim_end() {
        line if line.contains('\n') => value.to_json(),
        line => line.to_owned(),
    }
}

#[test]
fn a_merge_does_not_depend_on_how_values_are_shared() {
    // For a long run.
    let times =
        std::env::var("KRM_VARIANTS_MUTATIONS").map_or(400, |n| n.parse().expect("a number"));
    let mut shared = 0;
    for seed in 0..times {
        let mut random = Random::new(seed * 0x9e37_79b9 + 3);
        let versions = triple(&mut random, 0);
        let mut plain: [Files; 3] = Default::default();
        let mut anchored: [Files; 3] = Default::default();
        for (side, value) in versions.iter().enumerate() {
            let Some(value) = value else { continue };
            let text = shared_text(value, &mut random);
            shared += usize::from(text.contains('*'));
            anchored[side].insert("a.yaml".to_owned(), text);
            plain[side].insert("a.yaml".to_owned(), to_block_text(value));
        }
        assert_eq!(anchored.each_ref().map(data), plain.each_ref().map(data));
        let merged = |files: &[Files; 3]| {
            let borrowed = files.each_ref().map(|files| {
                let files = files.iter();
                let files = files.map(|(path, text)| (path.as_str(), text.as_str()));
                files.collect::<Vec<_>>()
            });
            merge_with_results(
                [&borrowed[0], &borrowed[1], &borrowed[2]],
                "allowEmpty: true\n",
            )
        };
        let (found, said) = merged(&anchored);
        let (expected, said_of_plain) = merged(&plain);
        let what = format!(
            "seed {seed}\n{:#?}\n{:#?}\n{said:?}",
            anchored.each_ref().map(|files| files.get("a.yaml")),
            found.get("a.yaml")
        );
        assert_eq!(data(&found), data(&expected), "{what}");
        let count = |said: &Results| {
            let said = said.iter().map(ToString::to_string);
            said.filter(|line| line.contains("MergeConflict")).count()
        };
        assert_eq!(count(&said), count(&said_of_plain), "{what}");
        // The laws, by bytes and as data.
        let [base, local, upstream] = &anchored;
        let (found, _) = merged(&[base.clone(), local.clone(), base.clone()]);
        assert_eq!(&found, local, "merge(b, x, b), {what}");
        let (found, _) = merged(&[base.clone(), upstream.clone(), upstream.clone()]);
        assert_eq!(&found, upstream, "merge(b, x, x), {what}");
        let (found, _) = merged(&[base.clone(), base.clone(), upstream.clone()]);
        assert_eq!(data(&found), data(upstream), "merge(b, b, x), {what}");
    }
    assert!(shared > times as usize, "{shared}");
}

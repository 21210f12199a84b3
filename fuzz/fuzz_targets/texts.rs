//! Any three texts, set off by lines `%%`, as a file that is not KRM and as a string in a ConfigMap: the laws of a merge hold.

#![no_main]

use std::collections::BTreeMap;

use krm_function::{Inputs, Items, SuppliedInput, run};
use krm_function::supplied::Role;
use krm_yaml::{Value, to_block_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(3, "\n%%\n");
    let (Some(base), Some(local), Some(upstream)) = (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    for name in ["a.txt", "values.yaml", "cm.yaml"] {
        let [base, local, upstream] = [base, local, upstream].map(|text| file(name, text));
        let (base, local, upstream) = (base.as_str(), local.as_str(), upstream.as_str());
        let laws = [
            ([base, local, base], local),
            ([base, local, local], local),
            ([base, base, upstream], upstream),
        ];
        for (versions, expected) in laws {
            if let Some(merged) = merge(name, versions) {
                assert_eq!(merged, expected);
            }
        }
        merge(name, [base, local, upstream]);
    }
});

/// The text as a file, or in one.
fn file(name: &str, text: &str) -> String {
    if name != "cm.yaml" {
        return text.to_owned();
    }
    let entry = |key: &str, value: Value| (Value::from(key), value);
    let metadata = Value::Mapping(vec![entry("name", Value::from("a"))]);
    let data = Value::Mapping(vec![entry("text", Value::from(text))]);
    to_block_text(&Value::Mapping(vec![
        entry("apiVersion", Value::from("v1")),
        entry("kind", Value::from("ConfigMap")),
        entry("metadata", metadata),
        entry("data", data),
    ]))
}

/// The merged file; `None` if a file is refused (a key that is there twice).
fn merge(name: &str, [base, local, upstream]: [&str; 3]) -> Option<String> {
    let files = |text: &str| BTreeMap::from([(name.to_owned(), text.to_owned())]);
    let inputs = Inputs {
        supplied: vec![
            (Role::Original, SuppliedInput::Files(files(base))),
            (Role::Upstream, SuppliedInput::Files(files(upstream))),
        ],
        ..Inputs::default()
    };
    let items = Items::Package([(name.to_owned(), local.into())].into());
    let outcome = run(&merge_package::FUNCTION, inputs, items).ok()?;
    let Items::Package(files) = outcome.items else {
        return None;
    };
    let text = files.get(name).map(|bytes| String::from_utf8(bytes.clone()));
    text.transpose().expect("UTF-8")
}

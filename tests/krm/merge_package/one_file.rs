//! Roles that are one file, or a list: what upstream adds gets a place in local's files.

use super::*;

use std::collections::BTreeMap;

use krm_core::config::Config;
use krm_function::{Inputs, Items, SuppliedInput, run};

/// A file of these ConfigMaps.
fn file(maps: &[(&str, &str)]) -> String {
    let documents = maps.iter().map(|(name, data)| map(name, data));
    documents.collect::<Vec<_>>().join("---\n")
}

/// Merges a package with two files; its files and its results.
fn merge(original: &str, local: &[(&str, &str)], upstream: &str) -> (Files, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    let flags = [
        (Role::Original, put("original.yaml", original)),
        (Role::Upstream, put("upstream.yaml", upstream)),
    ];
    let config = format!("{DEFAULTS}allowEmpty: true\n");
    let outcome = on_package_with(&FUNCTION, &config, local, &flags).expect("a merge");
    (outcome.files.into_iter().collect(), outcome.results)
}

const ADDED: &str = "[info] merged: 0 changed, 1 added, 0 removed, 0 moved, 0 conflicts";

#[test]
fn a_new_resource_goes_into_the_file_of_its_neighbours() {
    let original = file(&[("a", "{}"), ("b", "{}"), ("c", "{}")]);
    let ab = file(&[("a", "{}"), ("b", "{}")]);
    let (c, d) = (map("c", "{}"), map("d", "{x: d}"));
    for (number, path) in [
        (0, "ab.yaml"),
        (1, "ab.yaml"),
        (2, "configmap_d.yaml"),
        (3, "configmap_d.yaml"),
    ] {
        let mut maps = vec![("a", "{}"), ("b", "{}"), ("c", "{}")];
        maps.insert(number, ("d", "{x: d}"));
        let local = [("ab.yaml", ab.as_str()), ("c.yaml", &c)];
        let (files, said) = merge(&original, &local, &file(&maps));
        assert_eq!(said, [ADDED], "{number}");
        assert!(files[path].contains(&d), "{number}: {files:?}");
        let order: Vec<_> = files[path].matches("name: ").collect();
        let names = files[path].split("name: ").skip(1);
        let names: String = names.filter_map(|rest| rest.chars().next()).collect();
        let expected = ["dab", "adb", "d", "d"][number];
        assert_eq!((names.as_str(), order.len()), (expected, expected.len()));
    }
}

#[test]
fn a_new_resource_without_neighbours_is_named_as_kpt_names_it() {
    let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\n";
    let kptfile = kptfile("p");
    let (files, said) = merge("", &[("Kptfile", &kptfile)], service);
    assert_eq!(said, [ADDED]);
    assert_eq!(files["shop/service_web.yaml"], service);
    // The only neighbour's file will do.
    let one = file(&[("a", "{}")]);
    let local = [("app.yaml", one.as_str()), ("Kptfile", &kptfile)];
    let (files, said) = merge(&one, &local, &format!("{one}---\n{service}"));
    assert_eq!(said, [ADDED]);
    assert_eq!(files["app.yaml"], format!("{one}---\n{service}"));
    // The file that is there.
    let local = [("configmap_b.yaml", "other: {}\n"), ("Kptfile", &kptfile)];
    let (files, said) = merge("", &local, &map("b", "{}"));
    assert_eq!(said, [ADDED]);
    assert_eq!(
        files["configmap_b.yaml"],
        format!("other: {{}}\n---\n{}", map("b", "{}"))
    );
}

#[test]
fn a_name_that_is_not_a_path_is_an_error() {
    for (name, namespace) in [("x/../../b", "x"), ("b", ".git"), ("b", "..")] {
        let new = format!(
            "apiVersion: v1\nkind: Role\nmetadata:\n  name: {name}\n  namespace: {namespace}\n"
        );
        let local = [("Kptfile", kptfile("p"))];
        let local = local.each_ref().map(|(path, text)| (*path, text.as_str()));
        let (files, said) = merge("", &local, &new);
        assert!(said[0].ends_with("(InvalidPath)"), "{said:?}");
        assert_eq!(keys(&files), ["Kptfile"]);
    }
}

/// Each way to give resources without files, to each form of a package: what is reported as added is there.
#[test]
fn resources_reported_as_added_are_written() {
    let new = file(&[("a", "{x: new}"), ("b", "{}"), ("new", "{x: here}")]);
    let old = file(&[("a", "{}"), ("b", "{}")]);
    let indented = |text: &str| -> String {
        let documents = text.split("---\n").map(|document| {
            let lines = document.lines().map(|line| format!("  {line}\n"));
            lines.collect::<String>().replacen("  ", "- ", 1)
        });
        documents.collect()
    };
    let inline = format!(
        "{DEFAULTS}original:\n{}upstream:\n{}",
        indented(&old),
        indented(&new)
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        SuppliedInput::Path(path)
    };
    let list = |text: &str| format!("apiVersion: v1\nkind: List\nitems:\n{}", indented(text));
    let files = || {
        vec![
            (Role::Original, path("o.yaml", &old)),
            (Role::Upstream, path("u.yaml", &new)),
        ]
    };
    let lists = || {
        vec![
            (Role::Original, path("ol.yaml", &list(&old))),
            (Role::Upstream, path("ul.yaml", &list(&new))),
        ]
    };
    let package = || {
        let one: BTreeMap<String, Vec<u8>> =
            [("all.yaml".to_owned(), old.clone().into_bytes())].into();
        Items::Package(one)
    };
    let items = |path: &str| {
        let items = indented(&old).replace(
            "  metadata:\n",
            &format!(
                "  metadata:\n    annotations: {{internal.config.kubernetes.io/path: {path}}}\n"
            ),
        );
        let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";
        Items::ResourceList(format!("{head}{items}"))
    };
    for (config, supplied) in [
        (inline.as_str(), Vec::new()),
        (DEFAULTS, files()),
        (DEFAULTS, lists()),
    ] {
        for items in [package(), items("all.yaml")] {
            let inputs = Inputs {
                config: Some(Config::parse(config.to_owned(), "config").expect("a config")),
                supplied: supplied.clone(),
                ..Inputs::default()
            };
            let outcome = run(&FUNCTION, inputs, items).expect("a merge");
            let said: Vec<_> = outcome.results.iter().map(ToString::to_string).collect();
            assert!(said[0].contains("1 changed, 1 added"), "{said:?}");
            let text = match outcome.items {
                Items::ResourceList(text) => text,
                Items::Package(files) => {
                    String::from_utf8(files["all.yaml"].clone()).expect("UTF-8")
                }
            };
            assert!(
                text.contains("x: here") && text.contains("x: new"),
                "{text}"
            );
            if text.contains("kind: ResourceList") {
                let paths = text.replace('\'', "");
                assert_eq!(paths.matches("path: all.yaml").count(), 4, "{text}");
            }
        }
    }
}

//! set-package-context: each rule by a package before, a config, and the bytes after.

use krm_core::config::Config;
use krm_core::resource_list::ResourceList;
use krm_core::results::Results;
use krm_function::StepRun;
use krm_function::supplied::Supplied;
use krm_yaml::{Content, Document, Editor, ParseOptions, Tree, Value};
use proptest::prelude::*;
use set_package_context::FUNCTION;

use crate::running::{CONTEXT, KPTFILE, WRAPPER, list, run};
use crate::step::{Clock, assert_linear, on_package};

const OWN: &str = "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\n";

/// Runs on a ResourceList with this config behind `functionConfig:`; gives what became of all
/// before that line, and the results.
fn apply(before: &str, config: &str) -> (String, String) {
    let config: String = config.lines().map(|line| format!("  {line}\n")).collect();
    let config = format!("functionConfig:\n{config}");
    let outcome = run(&[], format!("{before}{config}"));
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{before}");
    let (after, results) = outcome
        .stdout
        .split_once(&config)
        .expect("the config stays");
    let again = run(&[], format!("{after}{config}"));
    assert_eq!(again.stdout, format!("{after}{config}"), "the second run");
    (after.to_owned(), results.to_owned())
}

/// The one result of a run that edited the ConfigMap of [`CONTEXT`].
fn edited(message: &str) -> String {
    format!(
        "results:\n- message: {message}\n  severity: info\n  resourceRef:\n    apiVersion: v1\n    kind: ConfigMap\n    name: kptfile.kpt.dev\n  field:\n    path: data\n  file:\n    path: package-context.yaml\n"
    )
}

/// The package context with other lines from `data:` on.
fn context(data: &str) -> String {
    CONTEXT.replace("  data:\n    name: example\n", data)
}

/// `data` before, config behind apiVersion and kind, `data` after, message of the result.
fn check(before: &str, config: &str, after: &str, message: Option<&str>) {
    let expected = list(&[KPTFILE, &context(after)]);
    let (found, results) = apply(
        &list(&[KPTFILE, &context(before)]),
        &format!("{OWN}{config}"),
    );
    assert_eq!(found, expected, "{config}");
    assert_eq!(results, message.map(edited).unwrap_or_default(), "{config}");
}

#[test]
fn keys_are_set_and_removed() {
    let name = "  data:\n    name: example\n";
    let table = [
        (
            name,
            "data: {region: east}",
            "  data:\n    name: example\n    region: east\n",
            Some("set `region`"),
        ),
        (
            name,
            "data:\n  region: east\n  zone: b",
            "  data:\n    name: example\n    region: east\n    zone: b\n",
            Some("set `region`, `zone`"),
        ),
        (
            "  data:\n    name: example\n    region: 'west' # here\n    zone: b\n",
            "data: {region: east}",
            "  data:\n    name: example\n    region: 'east' # here\n    zone: b\n",
            Some("set `region`"),
        ),
        (
            "  data:\n    # gone with its key\n    zone: b # too\n    name: example\n",
            "removeKeys: [zone, other]",
            "  data:\n    name: example\n",
            Some("removed `zone`"),
        ),
        (
            "  data:\n    # set off\n\n    zone: b\n    name: example\n",
            "removeKeys: [zone]",
            "  data:\n    # set off\n\n    name: example\n",
            Some("removed `zone`"),
        ),
        (
            "  data:\n    zone: b\n",
            "removeKeys: [zone]",
            "  data: {}\n",
            Some("removed `zone`"),
        ),
        (
            "  data:\n    zone: b\n",
            "data: {region: east}\nremoveKeys: [zone]",
            "  data:\n    region: east\n",
            Some("set `region`; removed `zone`"),
        ),
        // In both lists: removed.
        (
            "  data:\n    name: example\n    zone: b\n",
            "data: {zone: c}\nremoveKeys: [zone]",
            name,
            Some("removed `zone`"),
        ),
        (name, "data: {zone: c}\nremoveKeys: [zone]", name, None),
        // Nothing to do.
        (
            "  data:\n    name: example\n    region: \"east\"\n",
            "data: {region: east}",
            "  data:\n    name: example\n    region: \"east\"\n",
            None,
        ),
        (name, "data: {}\nremoveKeys: []", name, None),
        (name, "data:\nremoveKeys: null", name, None),
        (name, "createIfMissing: true", name, None),
        // No data, in all its forms.
        (
            "",
            "data: {region: east}",
            "  data:\n    region: east\n",
            Some("set `region`"),
        ),
        ("", "removeKeys: [zone]", "", None),
        (
            "  data: {}\n",
            "data: {region: east}",
            "  data:\n    region: east\n",
            Some("set `region`"),
        ),
        (
            "  data:\n",
            "data: {region: east}",
            "  data:\n    region: east\n",
            Some("set `region`"),
        ),
        (
            "  data: null\n",
            "data: {region: east}",
            "  data:\n    region: east\n",
            Some("set `region`"),
        ),
        (
            "  data: # later\n",
            "data: {region: east}",
            "  data: # later\n    region: east\n",
            Some("set `region`"),
        ),
        // Flow style stays.
        (
            "  data: {name: example}\n",
            "data: {region: east}",
            "  data: {name: example, region: east}\n",
            Some("set `region`"),
        ),
        (
            "  data: {name: example, zone: b}\n",
            "removeKeys: [zone]",
            "  data: {name: example}\n",
            Some("removed `zone`"),
        ),
        // Comments of the config come along with new keys.
        (
            name,
            "data:\n  # by rack\n  site: \"042\" # label",
            "  data:\n    name: example\n    # by rack\n    site: \"042\" # label\n",
            Some("set `site`"),
        ),
        (
            "",
            "data:\n  # by rack\n  site: \"042\" # label",
            "  data:\n    # by rack\n    site: \"042\" # label\n",
            Some("set `site`"),
        ),
        // An alias of the value that is asked for stays; another is replaced in place.
        (
            "  data:\n    name: &n example\n    copy: *n\n",
            "data: {copy: example}",
            "  data:\n    name: &n example\n    copy: *n\n",
            None,
        ),
        (
            "  data:\n    name: &n example\n    copy: *n\n",
            "data: {copy: other}",
            "  data:\n    name: &n example\n    copy: other\n",
            Some("set `copy`"),
        ),
        (
            "  other: &x {region: east}\n  data: *x\n",
            "data: {region: east}\nremoveKeys: [zone]",
            "  other: &x {region: east}\n  data: *x\n",
            None,
        ),
        // A foot comment stays behind the last key.
        (
            "  data:\n    name: example\n    # foot\n",
            "data: {region: east}",
            "  data:\n    name: example\n    region: east\n    # foot\n",
            Some("set `region`"),
        ),
        // Blank lines of a kept block scalar belong to it.
        (
            "  data:\n    text: |+\n      a\n\n",
            "data: {region: east}",
            "  data:\n    text: |+\n      a\n\n    region: east\n",
            Some("set `region`"),
        ),
    ];
    for (before, config, after, message) in table {
        check(before, config, after, message);
    }
}

#[test]
fn strings_that_readers_take_for_something_else_are_quoted() {
    for value in [
        "true",
        "1",
        "1e3",
        "null",
        "yes",
        "~",
        "0x1f",
        "0o17",
        "017",
        "1_000",
        "12:30:45",
        "2001-01-01",
        "=",
        "<<",
        "n",
        ".inf",
        "",
    ] {
        let quoted = format!("  data:\n    name: example\n    key: \"{value}\"\n");
        let config = format!("data: {{key: \"{value}\"}}");
        check(
            "  data:\n    name: example\n",
            &config,
            &quoted,
            Some("set `key`"),
        );
        // A value that is replaced keeps its style where that is possible; a plain one is quoted.
        check(
            "  data:\n    name: example\n    key: old\n",
            &config,
            &quoted,
            Some("set `key`"),
        );
    }
    // A string to YAML 1.2 that a reader of 1.1 takes for a boolean: kpt writes it plain in a config.
    check(
        "  data:\n    name: example\n",
        "data: {key: yes}",
        "  data:\n    name: example\n    key: \"yes\"\n",
        Some("set `key`"),
    );
}

#[test]
fn every_kind_of_config() {
    for config in [
        "apiVersion: v1\nkind: ConfigMap\ndata: {region: east}",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: function-input}\ndata: {region: \"east\"}",
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata: {name: v, extra: 1}\nspec: {upstream: {repo: r, package: p, revision: v1}, downstream: {repo: r, package: p}, packageContext: {data: {region: east}}}\nstatus: {unknown: 1}",
    ] {
        let (after, results) = apply(&list(&[KPTFILE, CONTEXT]), config);
        assert_eq!(
            after
                .strip_prefix(&list(&[KPTFILE, CONTEXT]))
                .map(|rest| rest.trim())
                .map(|rest| rest.split(": ").next()),
            Some(Some("region")),
            "{config}"
        );
        assert_eq!(results, edited("set `region`"));
    }
    let outcome = run(&["region=a=b", "zone="], list(&[KPTFILE, CONTEXT]));
    let expected = context("  data:\n    name: example\n    region: a=b\n    zone: \"\"\n");
    assert_eq!(
        outcome.stdout,
        list(&[KPTFILE, &expected]) + &edited("set `region`, `zone`")
    );
}

/// An item with these annotations.
fn item(kind: &str, name: &str, annotations: &[(&str, &str)]) -> String {
    let version = if kind == "Kptfile" {
        "kpt.dev/v1"
    } else {
        "v1"
    };
    let mut text =
        format!("- apiVersion: {version}\n  kind: {kind}\n  metadata:\n    name: {name}\n");
    if !annotations.is_empty() {
        text += "    annotations:\n";
    }
    for (key, value) in annotations {
        text += &format!("      {key}: {value}\n");
    }
    text + if kind == "Kptfile" {
        ""
    } else {
        "  data:\n    name: x\n"
    }
}

const PATH: &str = "internal.config.kubernetes.io/path";
const LEGACY_PATH: &str = "config.kubernetes.io/path";
const PACKAGE_PATH: &str = "internal.config.kubernetes.io/package-path";

#[test]
fn only_the_root_package_is_touched() {
    let map = "kptfile.kpt.dev";
    let with_key = |item: &str| format!("{item}    region: east\n");
    // Items, and which of them is the one that changes.
    let table: &[(&str, Vec<String>, usize)] = &[
        (
            "sub-packages of one directory",
            vec![
                item("ConfigMap", map, &[(PATH, "sub/package-context.yaml")]),
                item("Kptfile", "sub", &[(PATH, "sub/Kptfile")]),
                item("ConfigMap", map, &[(PATH, "package-context.yaml")]),
                item("Kptfile", "root", &[(PATH, "Kptfile")]),
            ],
            2,
        ),
        (
            "as kpt fn render gives them: sub-packages first, paths relative to each",
            vec![
                item(
                    "Kptfile",
                    "sub",
                    &[(PATH, "Kptfile"), (PACKAGE_PATH, "/tmp/root/sub")],
                ),
                item(
                    "ConfigMap",
                    map,
                    &[
                        (PATH, "package-context.yaml"),
                        (PACKAGE_PATH, "/tmp/root/sub"),
                    ],
                ),
                item(
                    "Kptfile",
                    "root",
                    &[(PATH, "Kptfile"), (PACKAGE_PATH, "/tmp/root")],
                ),
                item(
                    "ConfigMap",
                    map,
                    &[(PATH, "package-context.yaml"), (PACKAGE_PATH, "/tmp/root")],
                ),
            ],
            3,
        ),
        (
            "the legacy spelling",
            vec![
                item("Kptfile", "root", &[(LEGACY_PATH, "Kptfile")]),
                item("ConfigMap", map, &[(LEGACY_PATH, "package-context.yaml")]),
                item(
                    "ConfigMap",
                    map,
                    &[(LEGACY_PATH, "sub/package-context.yaml")],
                ),
            ],
            1,
        ),
        (
            "any file beside the Kptfile",
            vec![
                item("Kptfile", "root", &[(PATH, "a/Kptfile")]),
                item("ConfigMap", map, &[(PATH, "a/b/package-context.yaml")]),
                item("ConfigMap", map, &[(PATH, "a/other.yaml")]),
            ],
            2,
        ),
        (
            "no paths at all, as in kustomize",
            vec![item("ConfigMap", "other", &[]), item("ConfigMap", map, &[])],
            1,
        ),
        (
            "no paths, with a Kptfile",
            vec![item("Kptfile", "root", &[]), item("ConfigMap", map, &[])],
            1,
        ),
        (
            "paths that say the same in another way",
            vec![
                item("Kptfile", "sub", &[(PATH, "a/Kptfile")]),
                item("Kptfile", "root", &[(PATH, "./Kptfile")]),
                item("ConfigMap", map, &[(PATH, "package-context.yaml")]),
                item("ConfigMap", map, &[(PATH, "./a/package-context.yaml")]),
            ],
            2,
        ),
        (
            "a map of another API version is another kind",
            vec![
                item("Kptfile", "root", &[(PATH, "Kptfile")]),
                item("ConfigMap", map, &[(PATH, "a.yaml")])
                    .replace("apiVersion: v1", "apiVersion: example.com/v1"),
                item("ConfigMap", map, &[(PATH, "b.yaml")]),
            ],
            2,
        ),
    ];
    for (name, items, changed) in table {
        let before = format!("{WRAPPER}{}", items.concat());
        let mut items = items.clone();
        items[*changed] = with_key(&items[*changed]);
        let (after, _) = apply(&before, &format!("{OWN}data: {{region: east}}"));
        assert_eq!(after, format!("{WRAPPER}{}", items.concat()), "{name}");
    }
}

#[test]
fn several_without_a_path_are_an_error() {
    let map = item("ConfigMap", "kptfile.kpt.dev", &[]);
    let outcome = run(&["region=east"], list(&[&map, &map]));
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.stdout.matches("reason: Ambiguous").count(), 2);
}

#[test]
fn packages_next_to_each_other_are_an_error() {
    let packages = [
        item("Kptfile", "one", &[(PATH, "one/Kptfile")]),
        item(
            "ConfigMap",
            "kptfile.kpt.dev",
            &[(PATH, "one/context.yaml")],
        ),
        item("Kptfile", "two", &[(PATH, "two/Kptfile")]),
    ];
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    let outcome = run(&["region=east"], list(&packages));
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.stdout.matches("reason: Ambiguous").count(), 2);
    assert!(outcome.stdout.contains("path: two/Kptfile"));
}

#[test]
fn results_come_with_items() {
    let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
    for (before, after) in [
        ("", "items: []\n"),
        ("items:\n", "items: []\n"),
        ("items: null\n", "items: []\n"),
        ("items: []\n", "items: []\n"),
    ] {
        let outcome = run(&["region=east"], format!("{head}{before}"));
        assert_eq!(outcome.code, Some(1), "{before}");
        let expected = format!("{head}{after}results:\n");
        assert!(
            outcome.stdout.starts_with(&expected),
            "{before}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn the_config_map_is_created_on_demand() {
    let config = format!("{OWN}data: {{region: east}}\ncreateIfMissing: true");
    let made = |annotations: &str| {
        format!(
            "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: kptfile.kpt.dev\n    annotations:\n      config.kubernetes.io/local-config: \"true\"\n{annotations}  data:\n    name: example\n    region: east\n"
        )
    };
    let paths = |path: &str| {
        format!(
            "      internal.config.kubernetes.io/index: \"0\"\n      internal.config.kubernetes.io/path: {path}\n      config.kubernetes.io/index: \"0\"\n      config.kubernetes.io/path: {path}\n"
        )
    };
    let package = "      internal.config.kubernetes.io/package-path: /tmp/root\n";
    for (annotations, made) in [
        (
            vec![(PATH, "Kptfile")],
            made(&paths("package-context.yaml")),
        ),
        (
            vec![(PATH, "a/Kptfile")],
            made(&paths("a/package-context.yaml")),
        ),
        (
            vec![(PATH, "Kptfile"), (PACKAGE_PATH, "/tmp/root")],
            made(&(paths("package-context.yaml") + package)),
        ),
        (vec![], made("")),
    ] {
        let before = list(&[&item("Kptfile", "example", &annotations)]);
        let (after, results) = apply(&before, &config);
        assert_eq!(after, format!("{before}{made}"));
        assert!(
            results
                .contains("- message: created the ConfigMap `kptfile.kpt.dev`\n  severity: info\n"),
            "{results}"
        );
    }
}

#[test]
fn a_created_config_map_gets_the_comments() {
    let config =
        format!("{OWN}data:\n  # who pays\n  owner: 'team'  # cost centre\ncreateIfMissing: true");
    let before = list(&[&item("Kptfile", "example", &[(PATH, "Kptfile")])]);
    let (after, _) = apply(&before, &config);
    let data = "  data:\n    name: example\n    # who pays\n    owner: 'team'  # cost centre\n";
    assert!(after.ends_with(data), "{after}");
}

#[test]
fn wrappers_of_every_shape_stay_as_they_are() {
    let items = [KPTFILE, CONTEXT].concat();
    let with_key = format!("{items}    region: east\n");
    let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
    let result = edited("set `region`");
    let indented = |text: &str| -> String { text.lines().map(|l| format!("  {l}\n")).collect() };
    let results_item = result.strip_prefix("results:\n").expect("one result");
    let table = [
        (
            "usual",
            format!("{head}items:\n{items}"),
            format!("{head}items:\n{with_key}{result}"),
        ),
        (
            "v1beta1",
            format!("{head}items:\n{items}").replace("/v1\nkind: Res", "/v1beta1\nkind: Res"),
            format!("{head}items:\n{with_key}{result}")
                .replace("/v1\nkind: Res", "/v1beta1\nkind: Res"),
        ),
        (
            "v1alpha1",
            format!("{head}items:\n{items}").replace("/v1\nkind: Res", "/v1alpha1\nkind: Res"),
            format!("{head}items:\n{with_key}{result}")
                .replace("/v1\nkind: Res", "/v1alpha1\nkind: Res"),
        ),
        (
            "indented items",
            format!("{head}items:\n{}", indented(&items)),
            format!("{head}items:\n{}{result}", indented(&with_key)),
        ),
        (
            "fields of others",
            format!("{head}x: [1, {{a: b}}] # c\nitems:\n{items}y: |\n  z\n"),
            format!("{head}x: [1, {{a: b}}] # c\nitems:\n{with_key}y: |\n  z\n{result}"),
        ),
        (
            "earlier results",
            format!("{head}items:\n{items}results:\n- message: earlier\n"),
            format!("{head}items:\n{with_key}results:\n- message: earlier\n{results_item}"),
        ),
        (
            "earlier results in front",
            format!("{head}results:\n- message: earlier\nitems:\n{items}"),
            format!("{head}results:\n- message: earlier\n{results_item}items:\n{with_key}"),
        ),
        (
            "empty results",
            format!("{head}items:\n{items}results: []\n"),
            format!("{head}items:\n{with_key}{result}"),
        ),
        (
            "no results",
            format!("{head}items:\n{items}results:\n"),
            format!("{head}items:\n{with_key}{result}"),
        ),
        (
            "comments and blank lines",
            format!("# head\n{head}\nitems: \n# a\n{items}\n# foot\n"),
            format!("# head\n{head}\nitems: \n# a\n{with_key}{result}\n# foot\n"),
        ),
        (
            "no final line break",
            format!("{head}items:\n{}", items.trim_end()),
            format!("{head}items:\n{}", format!("{with_key}{result}").trim_end()),
        ),
        (
            "a document marker",
            format!("---\n{head}items:\n{items}"),
            format!("---\n{head}items:\n{with_key}{result}"),
        ),
        (
            "CRLF",
            format!("{head}items:\n{items}").replace('\n', "\r\n"),
            format!("{head}items:\n{with_key}{result}").replace('\n', "\r\n"),
        ),
    ];
    for (name, before, after) in table {
        let outcome = run(&["region=east"], before);
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, after, "{name}");
    }
}

#[test]
fn mixed_line_endings_leave_no_lone_carriage_return() {
    // Found by fuzzing: what was put in behind a last line without line break lost half of a CRLF.
    let before = "a: 1\r\nb:\n- x\nc: y";
    let tree = Tree::parse(before, ParseOptions::default()).expect("YAML");
    let document = Document::new(before, &tree);
    let root = document.root(0).expect("a mapping");
    let mut editor = Editor::new(document);
    let content = Content::Value(Value::from("z"));
    editor
        .insert_entry(root, None, "d", content)
        .expect("an edit");
    let after = editor.finish().expect("YAML");
    assert!(
        after.starts_with(before) && !after.replace("\r\n", "").contains('\r'),
        "{after:?}"
    );

    let before = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: kpt.dev/v1\r\n  kind: Kptfile\n  metadata:\n   name: p";
    let config = format!("{OWN}createIfMissing: true\n");
    let config = Config::parse(config, "config").expect("a config");
    let mut list = ResourceList::parse(before.to_owned()).expect("a ResourceList");
    let (supplied, mut results) = (Supplied::default(), Results::default());
    (FUNCTION.step)(StepRun {
        config: config.node(),
        list: &mut list,
        supplied: &supplied,
        results: &mut results,
    })
    .expect("a run");
    let emitted = list.emit(&Results::default(), true).expect("YAML");
    let after: String = emitted.iter().map(|piece| &**piece).collect();
    assert!(
        after.starts_with(before) && !after.replace("\r\n", "").contains('\r'),
        "{after:?}"
    );
}

#[test]
fn json_stays_json() {
    let item = |data: &str| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"kptfile.kpt.dev\"}},\"data\":{{\"name\":\"x\"{data}}}}}"
        )
    };
    let wrapper = |item: &str, results: &str| {
        format!(
            "{{\"apiVersion\":\"config.kubernetes.io/v1\",\"kind\":\"ResourceList\",\"items\":[{item}]{results}}}\n"
        )
    };
    let outcome = run(&["region=east"], wrapper(&item(""), ""));
    let (items, results) = outcome
        .stdout
        .split_once("],\"results\": ")
        .expect("results behind the items");
    assert_eq!(
        items,
        wrapper(&item(", \"region\": \"east\""), "").trim_end_matches("]}\n")
    );
    assert_eq!(
        results,
        "[{\"message\": \"set `region`\", \"severity\": \"info\", \"resourceRef\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"name\": \"kptfile.kpt.dev\"}, \"field\": {\"path\": \"data\"}}]}\n"
    );
    assert_eq!(
        run(&["region=east"], wrapper(&item(",\"region\":\"east\""), "")).stdout,
        wrapper(&item(",\"region\":\"east\""), "")
    );
}

/// A comment on the line of `items:` is beyond the reader that cuts items out.
fn read_as_a_whole(text: &str) -> String {
    text.replacen("items:", "items: # whole", 1)
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        Just("true".to_owned()),
        Just("1e3".to_owned()),
        Just("a: b # c".to_owned()),
        Just(" x ".to_owned()),
        Just("two\nlines\n".to_owned()),
        Just("é\u{1f600}\t".to_owned()),
    ]
}

fn quoted(text: &str) -> String {
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
            .replace('\t', "\\t")
    )
}

prop_compose! {
    /// `data` lines of an item, in one of several styles.
    fn data()(entries in prop::collection::btree_map("[a-f]", value(), 0..5), style in 0..3) -> String {
        let quoted: Vec<_> = entries.iter().map(|(key, value)| format!("{key}: {}", quoted(value))).collect();
        match style {
            0 if entries.is_empty() => String::new(),
            1 | 0 if entries.is_empty() => "  data: {}\n".to_owned(),
            0 => format!("  data: {{{}}}\n", quoted.join(", ")),
            1 => quoted.iter().fold("  data:\n".to_owned(), |text, line| text + "    " + line + "\n"),
            _ => quoted.iter().fold("  data:\n".to_owned(), |text, line| text + "    # of " + line + "\n    " + line + " # c\n\n"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_second_merge_changes_nothing_and_both_readers_agree(
        data in data(),
        other in data(),
        set in prop::collection::btree_map("[a-f]", value(), 0..4),
        remove in prop::collection::vec("[a-f]", 0..3),
        crlf in any::<bool>(),
    ) {
        let second = CONTEXT.replace("name: kptfile", "name: other").replace("  data:\n    name: example\n", &other);
        let mut config = format!("{OWN}createIfMissing: false\n");
        if !set.is_empty() {
            config += "data:\n";
        }
        for (key, value) in &set {
            config += &format!("  # why\n  {key}: {}\n", quoted(value));
        }
        config += &format!("removeKeys: [{}]\n", remove.join(", "));
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("config.yaml");
        std::fs::write(&file, config).expect("a file");
        let arguments = ["--config", file.to_str().expect("UTF-8")];
        let mut before = list(&[KPTFILE, &context(&data), &second]);
        if crlf {
            before = before.replace('\n', "\r\n");
        }
        let once = run(&arguments, before.clone());
        prop_assert_eq!(once.code, Some(0), "{}", once.stderr);
        // Without our own result the second run has nothing to say.
        let items = once.stdout.split("results:").next().unwrap_or_default();
        let twice = run(&arguments, items);
        prop_assert_eq!(twice.stdout, items);
        let whole = run(&arguments, read_as_a_whole(&before));
        prop_assert_eq!(whole.stdout, read_as_a_whole(&once.stdout));
    }
}

#[test]
fn many_keys_are_set_and_removed_in_linear_time() {
    assert_linear(300, |count| {
        let data = |from: usize, value: &str| -> String {
            (from..from + 2 * count)
                .map(|i| format!("  k{i}: {value}\n"))
                .collect()
        };
        // A third is removed, a third changed, a third new.
        let context = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\ndata:\n{}",
            data(0, "a")
        );
        let removed: Vec<String> = (0..count).map(|i| format!("- k{i}\n")).collect();
        let config = format!(
            "{OWN}data:\n{}removeKeys:\n{}",
            data(count, "b"),
            removed.concat()
        );
        let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n";
        let clock = Clock::start();
        let files = [("Kptfile", kptfile), ("package-context.yaml", &*context)];
        let outcome = on_package(&FUNCTION, &config, &files).expect("a config");
        let time = clock.nanoseconds();
        let at = context.find("  k0:").expect("the data");
        let expected = format!("{}{}", &context[..at], data(count, "b"));
        assert_eq!(outcome.file("package-context.yaml"), expected);
        time
    });
}

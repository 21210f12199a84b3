//! Functions run in memory, as users of the library run them.

use indoc::indoc;
use std::collections::BTreeMap;

use krm_core::config::Config;
use krm_function::supplied::Role;
use krm_function::{Inputs, Items, SuppliedInput, run};

fn config_map(value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: {value} # c\n")
}

fn files(value: &str) -> BTreeMap<String, String> {
    [("a.yaml".to_owned(), config_map(value))].into()
}

fn package(value: &str) -> BTreeMap<String, Vec<u8>> {
    let files = files(value).into_iter();
    let mut files: BTreeMap<_, _> = files
        .map(|(path, text)| (path, text.into_bytes()))
        .collect();
    files.insert("picture.png".to_owned(), vec![0xff, 0x00]);
    files
}

#[test]
fn a_package_merges_with_packages_in_memory() {
    let upstream: BTreeMap<_, _> = [("a.yaml".to_owned(), config_map("2"))].into();
    let inputs = Inputs {
        supplied: vec![
            (Role::Original, SuppliedInput::Files(files("1"))),
            (Role::Upstream, SuppliedInput::Files(upstream)),
        ],
        ..Inputs::default()
    };
    let outcome = run(
        &merge_package::FUNCTION,
        inputs,
        Items::Package(package("1")),
    )
    .expect("a run");
    assert_eq!(outcome.items, Items::Package(package("2")));
    assert!(outcome.documents.is_empty());
    let results: Vec<String> = outcome.results.iter().map(ToString::to_string).collect();
    assert!(!outcome.results.has_errors(), "{results:?}");
}

#[test]
fn a_role_is_filled_once() {
    let inputs = Inputs {
        supplied: vec![
            (Role::Upstream, SuppliedInput::Files(files("1"))),
            (Role::Upstream, SuppliedInput::Files(files("2"))),
        ],
        ..Inputs::default()
    };
    let error = run(
        &merge_package::FUNCTION,
        inputs,
        Items::Package(package("1")),
    );
    let error = error.expect_err("a usage error").to_string();
    assert_eq!(
        error,
        "role `upstream`: expected one source for it, found several"
    );
}

#[test]
fn documents_leave_the_package_alone() {
    let inputs = |value: &str| Inputs {
        supplied: vec![(Role::Live, SuppliedInput::Files(files(value)))],
        ..Inputs::default()
    };
    let items = Items::Package(package("2"));
    let outcome = run(&create_patch::FUNCTION, inputs("1"), items.clone()).expect("a run");
    assert_eq!(outcome.items, items);
    let [patch] = outcome.documents.as_slice() else {
        panic!("expected one patch, found {:?}", outcome.documents)
    };
    assert!(
        patch.text.ends_with("data:\n  x: 2 # c\n"),
        "{}",
        patch.text
    );
    assert_eq!(
        (patch.before.as_str(), &*patch.resource.kind),
        ("", "ConfigMap")
    );

    let outcome = run(&apply_config::FUNCTION, inputs("1"), items.clone()).expect("a run");
    assert_eq!(outcome.items, items);
    assert_eq!(outcome.documents[0].before, config_map("1"));
}

#[test]
fn a_resource_list_gets_its_results_when_asked() {
    let list = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        items:
        - apiVersion: v1
          kind: ConfigMap
          metadata:
            name: kptfile.kpt.dev
          data:
            name: shop
    "};
    let config = Config::from_pairs(&["region=east".to_owned()]).expect("a config");
    let inputs = Inputs {
        config: Some(config),
        ..Inputs::default()
    };
    let items = Items::ResourceList(list.to_owned());
    let outcome = run(&set_package_context::FUNCTION, inputs, items).expect("a run");
    let after = format!("{list}    region: east\n");
    assert_eq!(outcome.items, Items::ResourceList(after.clone()));
    let with_results = outcome.items.with_results(&outcome.results);
    let Items::ResourceList(text) = with_results.expect("a ResourceList") else {
        panic!("a list stays one")
    };
    let results = text.strip_prefix(&after).expect("results behind the items");
    assert!(
        results.starts_with("results:\n- message: set `region`\n"),
        "{results}"
    );
}

#[test]
fn a_path_that_leaves_the_package_is_refused() {
    let list = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        items:
        - apiVersion: v1
          kind: ConfigMap
          metadata:
            name: kptfile.kpt.dev
            annotations:
              config.kubernetes.io/path: ../a.yaml
    "};
    let config = Config::from_pairs(&["region=east".to_owned()]).expect("a config");
    let inputs = Inputs {
        config: Some(config),
        ..Inputs::default()
    };
    let items = Items::ResourceList(list.to_owned());
    let outcome = run(&set_package_context::FUNCTION, inputs, items.clone()).expect("a run");
    assert_eq!(outcome.items, items);
    assert!(outcome.results.has_errors());
}

fn texts(files: &[(&str, String)]) -> BTreeMap<String, String> {
    let files = files.iter();
    files
        .map(|(path, text)| ((*path).to_owned(), text.clone()))
        .collect()
}

fn named(name: &str, value: &str) -> String {
    config_map(value).replace("name: a", &format!("name: {name}"))
}

/// Packages of two files, in which a merge changes, adds and removes documents, and gets a conflict.
fn three_packages() -> [BTreeMap<String, String>; 3] {
    let two = |a: &str, b: &str| format!("{}---\n# b\n{}", named("a", a), named("b", b));
    let original = [("one.yaml", two("1", "1")), ("two.yaml", named("c", "1"))];
    let local = [
        ("one.yaml", two("mine", "1")),
        (
            "two.yaml",
            named("c", "1").replace("\ndata:", "\ndata:\n  own: 1"),
        ),
    ];
    let upstream = [
        (
            "one.yaml",
            format!("{}---\n{}", named("a", "2"), named("d", "2")),
        ),
        (
            "two.yaml",
            named("c", "2").replace("\ndata:", "\n# new\ndata:"),
        ),
    ];
    [texts(&original), texts(&local), texts(&upstream)]
}

#[test]
fn a_trial_writes_what_a_run_writes_and_its_package_is_recognized() {
    let [original, local, upstream] = three_packages();
    let bytes = local.into_iter();
    let local: BTreeMap<_, _> = bytes
        .map(|(path, text)| (path, text.into_bytes()))
        .collect();
    let merged = |is_trial| {
        let inputs = Inputs {
            supplied: vec![
                (Role::Original, SuppliedInput::Files(original.clone())),
                (Role::Upstream, SuppliedInput::Files(upstream.clone())),
            ],
            is_trial,
            ..Inputs::default()
        };
        run(
            &merge_package::FUNCTION,
            inputs,
            Items::Package(local.clone()),
        )
        .expect("a run")
    };
    let (plain, trial) = (merged(false), merged(true));
    assert!(plain.package.is_none());
    assert_eq!(plain.items, trial.items);
    let messages = |outcome: &krm_function::Outcome| -> Vec<_> {
        let results = outcome.results.iter();
        results
            .map(|result| (result.severity, result.message.to_string()))
            .collect()
    };
    assert_eq!(messages(&plain), messages(&trial));
    let Items::Package(after) = trial.items else {
        panic!("a package stays one")
    };
    let after: krm_package::Package = after
        .into_iter()
        .map(|(path, bytes)| (path, String::from_utf8(bytes).expect("UTF-8")))
        .collect();
    let known = trial.package.expect("the package of a trial");
    let read = |others: &[&krm_core::resource_list::ResourceList]| {
        krm_core::resource_list::ResourceList::from_package_like(after.clone(), false, others)
            .expect("a package")
    };
    let (parsed, shared) = (read(&[]), read(&[known.list()]));
    let all = |list: &krm_core::resource_list::ResourceList| -> Vec<_> {
        let items = list.items();
        items
            .map(|(id, resource)| (resource.clone(), list.node(id).source().to_owned()))
            .collect()
    };
    assert_eq!(all(&parsed), all(&shared));
    assert_eq!(all(&parsed).len(), 3);
}

#[test]
fn a_review_with_known_pairs_finds_the_same() {
    let [before, after, other] = three_packages();
    let list = |files: &BTreeMap<String, String>| {
        krm_core::resource_list::ResourceList::from_texts(files.clone()).expect("a package")
    };
    let lists = [&before, &after, &other].map(list);
    let schema = krm_core::schema::Schema::builtin();
    let known = krm_review::ReviewedPairs::default();
    let review = |after: usize, known: Option<&krm_review::ReviewedPairs>| {
        let packages = krm_review::ReviewInput {
            before: &lists[0],
            after: &lists[after],
            upstream: None,
        };
        krm_review::Review::of_known(packages, &schema, None, known).expect("a review")
    };
    // The second time, every pair is known.
    for after in [1, 2, 1, 2, 0] {
        let (plain, with) = (review(after, None), review(after, Some(&known)));
        assert_eq!(plain.findings, with.findings);
        assert_eq!(plain.routine, with.routine);
        assert_eq!(plain.worst(), with.worst());
    }
    assert!(review(1, None).worst().is_some());
}

//! An original or upstream that is no package.

use super::*;
use indoc::indoc;

const VARIANT: &str = indoc! {r#"
    apiVersion: config.porch.kpt.dev/v1alpha1
    kind: PackageVariant
    metadata:
      name: pv
      annotations:
        fn.kpt.dev/allow-empty: "ALLOWED"
    spec:
      upstream: {repo: r, package: p, revision: v2}
      downstream: {repo: d, package: root}
"#};

fn said(outcome: &[String]) -> Vec<&str> {
    let reasons = ["(EmptyUpstream)", "(EmptyOriginal)"];
    let found = outcome
        .iter()
        .filter(|line| reasons.iter().any(|reason| line.ends_with(reason)));
    found.map(String::as_str).collect()
}

/// A failed `git archive` leaves an empty directory: it must not delete the package.
#[test]
fn an_empty_upstream_deletes_nothing() {
    let (root, a) = (kptfile("root"), map("a", "{x: a}"));
    let package = [("Kptfile", root.as_str()), ("a.yaml", a.as_str())];
    for strategy in [
        "resource-merge",
        "fast-forward",
        "force-delete-replace",
        "copy-merge",
    ] {
        let fields = format!("strategy: {strategy}\n");
        let (files, results) = merge_files([&package, &package, &[]], &fields);
        assert_eq!(files.len(), 2, "{strategy}");
        assert_eq!(
            results,
            [
                "[error] expected the upstream package, found none: it is empty; if this is intentional, set `allowEmpty: true` (EmptyUpstream)"
            ]
        );
    }
    let (_, results) = merge_files([&[], &package, &package], "");
    assert_eq!(said(&results).len(), 1, "{results:?}");
    let (_, results) = merge_files([&[], &package, &[]], "");
    assert_eq!(said(&results).len(), 2, "all errors at once: {results:?}");
    // It is meant.
    let (files, results) = merge_files([&package, &package, &[]], "allowEmpty: true\n");
    assert_eq!(keys(&files), ["Kptfile"], "the root Kptfile is local's own");
    assert_eq!(said(&results), Vec::<&str>::new());
}

/// The directory above, or one below it, was checked out.
#[test]
fn an_upstream_without_the_kptfile_of_the_others_deletes_nothing() {
    let (root, a) = (kptfile("root"), map("a", "{x: a}"));
    let package = [("Kptfile", root.as_str()), ("a.yaml", a.as_str())];
    let above = [("p/Kptfile", root.as_str()), ("p/a.yaml", a.as_str())];
    let (files, results) = merge_files([&package, &package, &above], "");
    assert_eq!(keys(&files), ["Kptfile", "a.yaml"]);
    assert!(results[0].ends_with("(EmptyUpstream)"), "{results:?}");
    let (_, results) = merge_files([&above, &package, &package], "");
    assert!(results[0].ends_with("(EmptyOriginal)"), "{results:?}");
    let (_, results) = merge_files([&above, &package, &package], "allowEmpty: true\n");
    assert_eq!(said(&results), Vec::<&str>::new());
    // `kpt pkg get` made the Kptfile: upstream has none.
    let plain = [("a.yaml", a.as_str())];
    let (_, results) = merge_files([&plain, &package, &plain], "");
    assert_eq!(results, Vec::<String>::new());
}

#[test]
fn an_empty_role_is_refused_however_it_is_filled() {
    let a = map("a", "{x: a}");
    let full = package_revision(&[("a.yaml", &a)]);
    let empty = "apiVersion: porch.kpt.dev/v1alpha1\nkind: PackageRevisionResources\nmetadata:\n  name: p\nspec: {resources: {}}\n";
    // By annotation.
    let list = format!(
        "{LIST}{}{}{}",
        item(&full, Some("original")),
        item(&full, None),
        item(empty, Some("updated"))
    );
    let outcome = on_list(&FUNCTION, DEFAULTS, &list).expect("a list");
    assert_eq!(said(&outcome.results).len(), 1, "{:?}", outcome.results);
    // By field.
    let inline: String = a.lines().map(|line| format!("  {line}\n")).collect();
    let original = format!("original:\n- {}", inline.trim_start());
    let list = format!("{LIST}{}", item(&a, None));
    let config = format!("{DEFAULTS}{original}upstream: []\n");
    let outcome = on_list(&FUNCTION, &config, &list).expect("a list");
    assert_eq!(said(&outcome.results).len(), 1, "{:?}", outcome.results);
    let allowed = format!("{config}allowEmpty: true\n");
    let outcome = on_list(&FUNCTION, &allowed, &list).expect("a list");
    assert!(!outcome.failed, "{:?}", outcome.results);
    // By a file.
    let folder = tempfile::tempdir().expect("a folder");
    let [new, old] = ["new.yaml", "old.yaml"].map(|name| folder.path().join(name));
    std::fs::write(&new, "# nothing\n").expect("a file");
    std::fs::write(&old, &a).expect("a file");
    let flags = [(Role::Original, old), (Role::Upstream, new)];
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  allowEmpty: ";
    let run = |allowed: &str| {
        let config = format!("{config}\"{allowed}\"\n");
        on_package_with(&FUNCTION, &config, &[("a.yaml", &a)], &flags).expect("a config")
    };
    assert_eq!(said(&run("false").results).len(), 1);
    assert!(!run("true").failed);
    assert!(
        run("yes").results[0].ends_with("(InvalidConfig)"),
        "a word that is none"
    );
}

#[test]
fn an_empty_upstream_deletes_no_variant() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (root, a) = (kptfile("root"), map("a", "{x: a}"));
    for name in ["old", "new"] {
        std::fs::create_dir(at(name)).expect("a folder");
    }
    std::fs::write(at("old/Kptfile"), &root).expect("a file");
    std::fs::write(at("old/a.yaml"), &a).expect("a file");
    let flags = [(Role::Original, at("old")), (Role::Upstream, at("new"))];
    let files = [("Kptfile", root.as_str()), ("a.yaml", a.as_str())];
    let run = |allowed: &str| {
        let config = VARIANT.replace("ALLOWED", allowed);
        let function = &render_variant::FUNCTION;
        on_package_with(function, &config, &files, &flags).expect("a config")
    };
    let outcome = run("false");
    assert!(outcome.failed);
    assert_eq!(outcome.file("a.yaml"), a);
    assert_eq!(
        said(&outcome.results),
        [
            "[error] expected the upstream package, found none: it is empty; if this is intentional, set the annotation `fn.kpt.dev/allow-empty: \"true\"` of the PackageVariant (EmptyUpstream)"
        ]
    );
    assert_eq!(said(&run("true").results), Vec::<&str>::new());
    assert!(run("yes").results[0].ends_with("(InvalidConfig)"));
}

/// An empty upstream is no package without a Kptfile: the checkout failed.
#[test]
fn an_empty_upstream_is_not_cloned() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = [(Role::Upstream, folder.path().to_path_buf())];
    for allowed in ["false", "true"] {
        let config = VARIANT.replace("ALLOWED", allowed);
        let function = &render_variant::FUNCTION;
        let outcome = on_package_with(function, &config, &[], &flags).expect("a config");
        assert!(outcome.failed);
        assert_eq!(
            said(&outcome.results),
            ["[error] expected the upstream package, found none: it is empty (EmptyUpstream)"]
        );
    }
}

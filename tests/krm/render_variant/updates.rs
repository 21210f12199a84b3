//! Updates to another revision of upstream, and the steps after the merge.

use indoc::indoc;

use super::*;

/// The package made from `files` and its upstream then, updated to a revision with other files.
fn update(
    variant: &str,
    original: &[(&str, &str)],
    local: &[(&str, &str)],
    upstream: &[(&str, &str)],
) -> Outcome {
    let [original, upstream] = [original, upstream].map(directory);
    let flags = [
        (Role::Original, original.path().to_owned()),
        (Role::Upstream, upstream.path().to_owned()),
    ];
    on_package_with(&FUNCTION, variant, local, &flags).expect("a valid config")
}

#[test]
fn an_update_does_not_report_what_later_steps_overwrite() {
    let context = |name: &str, region: &str, zone: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\ndata:\n  name: {name}\n  region: {region}\n  zone: {zone}\n"
        )
    };
    let kptfile = |name: &str, own: &str, tag: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\npipeline:\n  mutators:\n{own}  - image: app:{tag}\n"
        )
    };
    let own = |tag: &str| format!("  - {{image: 'ns:{tag}', name: PackageVariant.my-pv.ns.0}}\n");
    let (base, upstream) = (
        kptfile("app", &own("v1"), "v1"),
        kptfile("app2", &own("v2"), "v2"),
    );
    let local = kptfile("my-pkg", &own("v3"), "v1");
    let variant = "apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: my-pv
spec:
  upstream: {repo: blueprints, package: app, revision: v2}
  downstream: {repo: deployments, package: my-pkg}
  packageContext: {data: {region: set}}
  pipeline: {mutators: [{image: 'ns:v4', name: ns}]}
";
    let context_of = [
        context("app", "one", "a"),
        context("my-pkg", "two", "b"),
        context("app2", "three", "c"),
    ];
    let files = |kptfile: &str, context: &str| {
        [
            ("Kptfile".to_owned(), kptfile.to_owned()),
            ("package-context.yaml".to_owned(), context.to_owned()),
        ]
    };
    let sources = [
        files(&base, &context_of[0]),
        files(&local, &context_of[1]),
        files(&upstream, &context_of[2]),
    ];
    let sources = sources.each_ref().map(|files| {
        files
            .each_ref()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    });
    let outcome = update(variant, &sources[0], &sources[1], &sources[2]);
    assert!(!outcome.failed, "{:?}", outcome.results);
    assert_eq!(outcome.file("Kptfile"), kptfile("my-pkg", &own("v4"), "v2"));
    assert_eq!(
        outcome.file("package-context.yaml"),
        context("my-pkg", "set", "c")
    );
    let conflicts: Vec<_> = outcome
        .results
        .iter()
        .filter(|result| result.contains("MergeConflict"))
        .collect();
    assert_eq!(conflicts.len(), 1, "{:?}", outcome.results);
    assert!(conflicts[0].contains("data.zone"), "{conflicts:?}");
    // The annotation decides who stands, and an error changes nothing.
    let annotated = |word: &str| {
        variant.replace(
            "  name: my-pv\n",
            &format!("  name: my-pv\n  annotations: {{fn.kpt.dev/on-conflict: {word}}}\n"),
        )
    };
    let outcome = update(&annotated("local"), &sources[0], &sources[1], &sources[2]);
    assert_eq!(
        outcome.file("package-context.yaml"),
        context("my-pkg", "set", "b")
    );
    let outcome = update(&annotated("error"), &sources[0], &sources[1], &sources[2]);
    assert!(outcome.failed);
    assert_eq!(outcome.file("Kptfile"), local);
}

/// The merged package says what the injection overwrites, not the one before.
#[test]
fn upstream_decides_which_resources_are_injection_points() {
    let context =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kptfile.kpt.dev}\ndata: {name: app}\n";
    let point = |dns: &str| POINT.replace("spec: {}", &format!("spec: {{dns: {dns}}}"));
    let plain = |dns: &str| point(dns).replace("kpt.dev/config-injection: required", "a: b");
    let files = |text| {
        [
            ("Kptfile", KPTFILE.to_owned()),
            ("package-context.yaml", context.to_owned()),
            ("p.yaml", text),
        ]
    };
    for (old, new, conflicts) in [
        ([plain("1"), plain("2")], point("3"), 0),
        ([point("1"), point("2")], point("3"), 0),
        ([point("1"), point("2")], plain("3"), 1),
    ] {
        let [base, local] = old.map(files);
        let upstream = files(new);
        let [base, local, upstream] = [&base, &local, &upstream]
            .map(|files| files.each_ref().map(|(path, text)| (*path, text.as_str())));
        let flags = [
            (Role::Original, directory(&base).keep()),
            (Role::Upstream, directory(&upstream).keep()),
            (Role::Resources, directory_file("r.yaml", SUPPLIED)),
        ];
        let outcome = on_package_with(&FUNCTION, VARIANT, &local, &flags).expect("a valid config");
        assert!(!outcome.failed, "{:?}", outcome.results);
        let found = outcome
            .results
            .iter()
            .filter(|result| result.contains("MergeConflict"));
        assert_eq!(found.count(), conflicts, "{:?}", outcome.results);
    }
}

/// Path and text.
pub(super) type File = (&'static str, &'static str);

pub(super) const NEW_SOURCE: &str = indoc! {"
    apiVersion: v1
    kind: ConfigMap
    metadata:
      name: useast1
    data:
      auth: auth.example.com
"};

/// Original, local and upstream, of which upstream adds an injection point; and the variant.
pub(super) const WITH_NEW_POINT: ([File; 2], [File; 2], [File; 3], &str) = {
    const FILE: File = (
        "Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: app\n",
    );
    const CONTEXT: File = (
        "package-context.yaml",
        indoc! {"
            apiVersion: v1
            kind: ConfigMap
            metadata:
              name: kptfile.kpt.dev
            data:
              name: app
        "},
    );
    let point = indoc! {"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: endpoints
          annotations:
            kpt.dev/config-injection: required
        data: {}
    "};
    let variant = "apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: my-pv
spec:
  upstream: {repo: blueprints, package: app, revision: v2}
  downstream: {repo: deployments, package: my-pkg}
  injectors: [{kind: ConfigMap, name: useast1}]
";
    (
        [FILE, CONTEXT],
        [FILE, CONTEXT],
        [FILE, CONTEXT, ("new.yaml", point)],
        variant,
    )
};

#[test]
fn later_steps_work_on_resources_that_an_update_brings() {
    let (base, local, upstream, variant) = WITH_NEW_POINT;
    let flags = [
        (Role::Original, directory(&base).keep()),
        (Role::Upstream, directory(&upstream).keep()),
        (Role::Resources, directory_file("r.yaml", NEW_SOURCE)),
    ];
    let outcome = on_package_with(&FUNCTION, variant, &local, &flags).expect("a valid config");
    assert!(!outcome.failed, "{:?}", outcome.results);
    assert!(
        outcome.file("new.yaml").contains("auth: auth.example.com"),
        "{}\n{:?}",
        outcome.file("new.yaml"),
        outcome.results
    );
    assert!(
        outcome
            .file("package-context.yaml")
            .contains("name: my-pkg")
    );
}

#[test]
fn only_the_role_resources_has_candidates_for_an_injection() {
    let own = SUPPLIED.replace("10.0.0.1", "10.9.9.9");
    let package = [
        ("Kptfile", KPTFILE),
        ("own.yaml", &*own),
        ("point.yaml", POINT),
    ];
    let context = (
        "package-context.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kptfile.kpt.dev}\ndata: {name: app}\n",
    );
    let package = [&package[..], &[context]].concat();
    let outcome = on_package(&FUNCTION, VARIANT, &package).expect("a valid config");
    assert!(!outcome.failed, "{:?}", outcome.results);
    assert_eq!(outcome.file("point.yaml"), POINT);
    assert!(
        outcome
            .file("Kptfile")
            .contains("reason: NoResourceSelected")
    );
    let flags = [(Role::Resources, directory_file("r.yaml", SUPPLIED))];
    let outcome = on_package_with(&FUNCTION, VARIANT, &package, &flags).expect("a valid config");
    assert!(!outcome.failed, "{:?}", outcome.results);
    let point = outcome.file("point.yaml");
    assert!(point.contains("dns: 10.0.0.1\n"), "{point}");
    assert_eq!(outcome.file("own.yaml"), own);
}

/// The path is the place of upstream's package in its own repository.
#[test]
fn a_package_path_stays_with_its_package() {
    let variant = VARIANT.replace("  injectors:\n  - name: useast1-endpoints\n", "");
    let context = |name: &str, path: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\ndata:\n  name: {name}\n{path}  size: small\n"
        )
    };
    let path = |path: &str| format!("  package-path: {path}\n");
    let [old, new] = [
        context("app", &path("blueprints/app")),
        context("app", &path("moved/app")),
    ];
    let original = directory(&[("Kptfile", KPTFILE), ("package-context.yaml", &old)]);
    let flags = [(Role::Upstream, original.path().to_owned())];
    let made = on_package_with(&FUNCTION, &variant, &[], &flags).expect("a valid config");
    assert!(!made.failed, "{:?}", made.results);
    let made = made.file("package-context.yaml");
    assert!(made.contains("  name: edge-app\n  size: small\n"), "{made}");
    for kept in ["", "  package-path: edge/regions\n"] {
        let local = context("edge-app", kept);
        let outcome = update(
            &variant,
            &[("Kptfile", KPTFILE), ("package-context.yaml", &old)],
            &[("Kptfile", KPTFILE), ("package-context.yaml", &local)],
            &[("Kptfile", KPTFILE), ("package-context.yaml", &new)],
        );
        assert!(!outcome.failed, "{:?}", outcome.results);
        let found = outcome.file("package-context.yaml");
        assert!(found.starts_with(&*local), "{found}");
        let conflicts = outcome
            .results
            .iter()
            .filter(|r| r.contains("MergeConflict"));
        assert_eq!(conflicts.count(), 0, "{:?}", outcome.results);
    }
}

/// Upstream has no package context: the variant keeps its own, whatever the strategy.
#[test]
fn force_delete_replace_keeps_the_package_context() {
    let variant = VARIANT.replace("  injectors:\n  - name: useast1-endpoints\n", "");
    let made = clone(&variant, &[]);
    let variant = variant.replace(
        "  name: my-pv\n",
        "  name: my-pv\n  annotations: {fn.kpt.dev/strategy: force-delete-replace}\n",
    );
    let upstream = [("Kptfile", KPTFILE)];
    let package = [
        ("Kptfile", made.file("Kptfile")),
        ("package-context.yaml", made.file("package-context.yaml")),
    ];
    let outcome = update(&variant, &upstream, &package, &upstream);
    assert!(!outcome.failed, "{:?}", outcome.results);
    assert!(
        outcome
            .file("package-context.yaml")
            .contains("region: useast1")
    );
}

#[test]
fn an_upstream_without_data_keeps_the_name_in_the_package_context() {
    let variant = VARIANT.replace("  injectors:\n  - name: useast1-endpoints\n", "");
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n";
    let filled = format!("{head}data:\n  name: example\n");
    let original = [("Kptfile", KPTFILE), ("package-context.yaml", &*filled)];
    for empty in [head.to_owned(), format!("{head}data:\n")] {
        let upstream = [("Kptfile", KPTFILE), ("package-context.yaml", &*empty)];
        let local = format!("{head}data:\n  name: edge-app\n  region: useast1 # where\n");
        let package = [("Kptfile", KPTFILE), ("package-context.yaml", &*local)];
        let outcome = update(&variant, &original, &package, &upstream);
        let found = outcome.file("package-context.yaml");
        assert!(found.contains("  name: edge-app\n"), "{found}");
        let package = [
            ("Kptfile", outcome.file("Kptfile")),
            ("package-context.yaml", found),
        ];
        let again = update(&variant, &upstream, &package, &upstream);
        assert_eq!(again.file("package-context.yaml"), found);
    }
}

//! Supplied inputs: what fills a role, and what it holds then.

use indoc::indoc;
use std::path::PathBuf;

use krm_core::config::Config;
use krm_core::resource_list::ResourceList;
use krm_core::results::Results;
use krm_function::supplied::{Role, Supplied, SuppliedPackage};

use crate::git::Folder;
use crate::running::function;
use crate::step::package;

const ROLES: &[Role] = &[
    Role::Original,
    Role::Upstream,
    Role::Patches,
    Role::Resources,
];

/// Kind, name and path of the items, in order.
fn items(package: &SuppliedPackage) -> Vec<String> {
    let items = package.list().items();
    items
        .map(|(id, item)| {
            let node = package.list().node(id);
            assert_eq!(
                node.get_path(&["metadata", "name"])
                    .and_then(|n| n.as_str()),
                item.name.as_deref()
            );
            let path = item.origin.path.as_deref().unwrap_or("-");
            format!(
                "{} {} {path}",
                item.kind,
                item.name.as_deref().unwrap_or("-")
            )
        })
        .collect()
}

/// Reads from flags and a typed config; gives what is supplied, what is left, and the results.
fn read(
    flags: &[(Role, PathBuf)],
    config: &str,
    files: &[(&str, &str)],
) -> Result<(Supplied, Vec<String>, Vec<String>), String> {
    let config = Config::parse(config.to_owned(), "config").map_err(|error| error.to_string())?;
    let mut list = ResourceList::from_package(package(files)).expect("a package");
    let mut results = Results::default();
    let supplied = Supplied::read(&[], ROLES, flags, config.node(), &mut list, &mut results)
        .map_err(|error| error.to_string())?;
    let left = list
        .items()
        .filter_map(|(_, item)| item.origin.path.as_deref().map(str::to_owned));
    let results = results.iter().map(ToString::to_string);
    Ok((supplied, left.collect(), results.collect()))
}

fn typed(fields: &str) -> String {
    format!("apiVersion: fn.kpt.dev/v1alpha1\nkind: Example\n{fields}")
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

fn all(supplied: &Supplied, role: Role) -> Vec<String> {
    supplied.of(role).flat_map(items).collect()
}

#[test]
fn a_flag_names_files_and_directories() {
    let directory = tempfile::tempdir().expect("a directory");
    let put = |path: &str, text: &str| {
        let file = directory.path().join(path);
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        std::fs::write(&file, text).expect("a file");
        file
    };
    let several = put(
        "several.yaml",
        &format!("{}---\n---\n{}", config_map("a"), config_map("b")),
    );
    let list = put(
        "list.yaml",
        indoc! {"
            apiVersion: v1
            kind: List
            items:
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
            - apiVersion: v1
              kind: ConfigMapList
              items:
              - metadata: {name: d}
        "},
    );
    put(
        "package/Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n",
    );
    put(
        "package/sub/e.yaml",
        &format!("{}---\nno: krm\n", config_map("e")),
    );
    put(
        "package/list.yaml",
        "apiVersion: v1\nkind: List\nmetadata:\n  name: l\nitems: []\n",
    );
    put("package/README.md", "read me\n");
    let folder = directory.path().join("package");

    let flags = [
        (Role::Resources, several),
        (Role::Resources, list),
        (Role::Upstream, folder.clone()),
    ];
    let (supplied, ..) = read(&flags, &typed(""), &[]).expect("inputs");
    let expected = [
        "ConfigMap a -",
        "ConfigMap b -",
        "ConfigMap c -",
        "ConfigMap d -",
    ];
    assert_eq!(all(&supplied, Role::Resources), expected);
    // In a package a List is a resource like any other.
    let upstream = supplied.one(Role::Upstream).expect("upstream");
    assert_eq!(
        items(upstream),
        [
            "Kptfile p Kptfile",
            "List l list.yaml",
            "ConfigMap e sub/e.yaml"
        ]
    );
    let files: Vec<_> = upstream
        .files()
        .expect("a package")
        .files()
        .map(|(path, file)| (path, file.krm().is_some()))
        .collect();
    assert_eq!(
        files,
        [
            ("Kptfile", true),
            ("README.md", false),
            ("list.yaml", true),
            ("sub/e.yaml", true)
        ]
    );
    assert_eq!(
        &*upstream.read_file("README.md").expect("a file"),
        b"read me\n"
    );
    assert!(
        upstream
            .read_file("sub/e.yaml")
            .expect("a file")
            .ends_with(b"no: krm\n")
    );
    assert!(upstream.read_file("none").is_err());
    assert!(!supplied.has(Role::Original) && supplied.has(Role::Resources));

    for (path, message) in [
        ("none.yaml", "cannot read"),
        (
            "package/README.md",
            "expected a resource with apiVersion and kind, found a string",
        ),
    ] {
        let flags = [(Role::Resources, directory.path().join(path))];
        let error = read(&flags, &typed(""), &[]).expect_err("no input");
        assert!(error.contains(message), "{error}");
    }
    let flags = [(Role::Upstream, folder)];
    let error = read(&flags, &typed("upstream: []\n"), &[]).expect_err("two ways");
    assert_eq!(
        error,
        "role `upstream`: expected one source for it, found a flag and the field `upstream` of the functionConfig"
    );
}

#[test]
fn a_field_holds_a_list_or_names_a_directory() {
    let inline = typed(indoc! {"
            resources:
            - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
            - kind: ResourceList
              apiVersion: config.kubernetes.io/v1
              items:
              - {apiVersion: v1, kind: ConfigMap, metadata: {name: b, annotations: {config.kubernetes.io/path: x/b.yaml}}}
        "});
    let (supplied, ..) = read(&[], &inline, &[]).expect("inputs");
    assert_eq!(
        all(&supplied, Role::Resources),
        ["ConfigMap a -", "ConfigMap b x/b.yaml"]
    );

    let (a, b, c) = (config_map("a"), config_map("b"), config_map("c"));
    let files = [
        ("in/a.yaml", &*a),
        ("in/sub/b.yaml", &b),
        ("inner/c.yaml", &c),
    ];
    for directory in ["in", "./in/", "in//"] {
        let config = typed(&format!("upstream: {{path: {directory}}}\n"));
        let (supplied, left, _) = read(&[], &config, &files).expect("inputs");
        assert_eq!(
            all(&supplied, Role::Upstream),
            ["ConfigMap a a.yaml", "ConfigMap b sub/b.yaml"]
        );
        assert_eq!(left, ["inner/c.yaml"]);
    }
    let variant = "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  annotations: {fn.kpt.dev/original-path: in/sub, fn.kpt.dev/upstream-path: inner}\n";
    let (supplied, left, _) = read(&[], variant, &files).expect("inputs");
    assert_eq!(all(&supplied, Role::Original), ["ConfigMap b b.yaml"]);
    assert_eq!(all(&supplied, Role::Upstream), ["ConfigMap c c.yaml"]);
    assert_eq!(left, ["in/a.yaml"]);

    for (config, result) in [
        (
            typed("upstream: {path: ../in}\n"),
            "[error] upstream.path: path '../in' has a '..' component; expected a path that stays inside the package (InvalidPath)",
        ),
        (
            variant.replace("inner", "/in"),
            "[error] metadata.annotations[\"fn.kpt.dev/upstream-path\"]: path '/in' is absolute; expected one relative to the package (InvalidPath)",
        ),
    ] {
        let (_, _, results) = read(&[], &config, &files).expect("results");
        assert_eq!(results, [result]);
    }
    for (fields, message) in [
        (
            "upstream: {path: none}\n",
            "expected resources under `none`, found none",
        ),
        (
            "upstream: {path: in, as: x}\n",
            "found a field `as` next to `path`",
        ),
        ("upstream: {path: 5}\n", "expected a string, found a number"),
        (
            "upstream: in\n",
            "expected a list of resources, {path: DIR} or a PackageRevisionResources, found a string",
        ),
        (
            "resources: [{apiVersion: v1}]\n",
            "expected a resource with apiVersion and kind, found a mapping without them",
        ),
    ] {
        let error = read(&[], &typed(fields), &files).expect_err("no input");
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn patches_need_not_be_resources() {
    let config = typed(
        "patches:\n- patch: {spec: {}}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n",
    );
    let (supplied, ..) = read(&[], &config, &[]).expect("inputs");
    let package = supplied.one(Role::Patches).expect("patches");
    assert_eq!(package.list().items().count(), 2);
}

#[test]
fn package_revision_resources_are_read_as_their_files() {
    let resources = "apiVersion: porch.kpt.dev/v1alpha1
kind: PackageRevisionResources
metadata:
  name: repo.p.v1
spec:
  resources:
    Kptfile: |
      apiVersion: kpt.dev/v1
      kind: Kptfile
      metadata: {name: p}
    a/b.yaml: \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: b} # c\\n\"
    README.md: text
";
    let indented = resources.replace('\n', "\n  ");
    let expected = ["Kptfile p Kptfile", "ConfigMap b a/b.yaml"];
    for (config, files) in [
        (format!("upstream:\n  {indented}"), vec![]),
        (format!("upstream:\n- {indented}"), vec![]),
        (
            "upstream: {path: in}\n".to_owned(),
            vec![("in/prr.yaml", resources)],
        ),
    ] {
        let (supplied, ..) = read(&[], &typed(&config), &files).expect("inputs");
        let upstream = supplied.one(Role::Upstream).expect("upstream");
        assert_eq!(items(upstream), expected);
        assert_eq!(&*upstream.read_file("README.md").expect("a file"), b"text");
        assert!(
            upstream
                .read_file("a/b.yaml")
                .expect("a file")
                .ends_with(b"# c\n")
        );
    }
    let wrong = indented
        .replace("a/b.yaml", "../b.yaml")
        .replace("README.md", "./Kptfile");
    let (_, _, results) =
        read(&[], &typed(&format!("upstream:\n  {wrong}")), &[]).expect("results");
    assert_eq!(
        results,
        [
            "[error] spec.resources[\"../b.yaml\"]: functionConfig, field `upstream`: path '../b.yaml' has a '..' component; expected a path that stays inside the package (InvalidPath)",
            "[error] spec.resources[\"./Kptfile\"]: functionConfig, field `upstream`: the file appears twice (InvalidPath)",
        ]
    );
}

/// A path within a directory of a role does not exist where the user is.
#[test]
fn two_resources_of_one_identity_are_named_by_files_that_exist() {
    let folder = Folder::new(&[]);
    let mode = |value: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Mode\nmetadata: {{name: m}}\nspec: {{x: {value}}}\n"
        )
    };
    folder.put(
        "p/Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: p}\n",
    );
    let point = "apiVersion: example.com/v1\nkind: Mode\nmetadata: {name: p, annotations: {kpt.dev/config-injection: required}}\nspec: {}\n";
    folder.put("p/point.yaml", point);
    folder.put("objects/deep/one.yaml", mode("0x1"));
    folder.put("objects/two.yaml", mode("2"));
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\nmetadata: {name: i}\ninjectors: [{name: m}]\n";
    folder.put("config.yaml", config);
    let run = |name: &str, arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let outcome = folder.run(function(name), &arguments);
        outcome.assert_code(1);
        outcome.stderr
    };
    let said = run(
        "inject-config",
        "--package p --config config.yaml --resources objects --diff",
    );
    let expected = "[error] objects/two.yaml: Mode/m: spec: expected one resource to inject, found two of this identity whose `spec` \
        differs, in objects/deep/one.yaml and in objects/two.yaml (Ambiguous)";
    assert!(said.contains(expected), "{said}");

    let repository =
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {name: us}\n";
    for file in ["objects/deep/us.yaml", "objects/us.yaml"] {
        folder.put(file, repository);
    }
    let set = indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha2
        kind: PackageVariantSet
        metadata: {name: s}
        spec:
          upstream: {repo: us, package: a, revision: v1}
          targets: [{repositories: [{name: us}]}]
    "};
    folder.put("sets/s.yaml", set);
    let said = run(
        "expand-variant-set",
        "--package sets --resources objects --diff",
    );
    let expected = "[error] objects/us.yaml: Repository/us: the object appears twice, also in objects/deep/us.yaml (Ambiguous)";
    assert!(said.contains(expected), "{said}");
}

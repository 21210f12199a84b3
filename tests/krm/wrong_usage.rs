//! What users get wrong, and what they must be told: what is wrong, where it is, and what to do.

use indoc::indoc;
use std::path::Path;

use assert_cmd::Command;

use crate::all_functions::binary;

/// The files that all cases work with.
const FILES: &[(&str, &str)] = &[
    (
        "package/Kptfile",
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n",
    ),
    ("package/web.yaml", WEB),
    ("original/web.yaml", WEB),
    ("upstream/web.yaml", WEB),
    (
        "base/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\n",
    ),
    ("base/web.yaml", WEB),
    (
        "chart/templates/web.yaml",
        indoc! {"
            apiVersion: apps/v1
            kind: Deployment
            metadata:
              name: web
            spec:
              {{- if .Values.replicas }}
              replicas: {{ .Values.replicas }}
              {{- end }}
        "},
    ),
    (
        "tabs/web.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n\tname: web\n",
    ),
    (
        "twice/web.yaml",
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nkind: Pod\n",
    ),
    ("variant.yaml", VARIANT),
];

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: web
          image: web:1
";

const VARIANT: &str = "\
apiVersion: config.porch.kpt.dev/v1alpha1
kind: PackageVariant
metadata:
  name: shop
spec:
  upstream: {repo: catalog, package: shop, revision: v1}
  downstream: {repo: edge, package: shop}
";

/// One wrong usage. `FILE` among the arguments is a file with the text of the case.
struct Wrong {
    name: &'static str,
    command: &'static str,
    file: &'static str,
    code: i32,
    says: &'static [&'static str],
}

/// A wrong command line.
const fn line(
    name: &'static str,
    command: &'static str,
    code: i32,
    says: &'static [&'static str],
) -> Wrong {
    let file = "";
    Wrong {
        name,
        command,
        file,
        code,
        says,
    }
}

/// A wrong file.
const fn file(
    name: &'static str,
    command: &'static str,
    file: &'static str,
    code: i32,
    says: &'static [&'static str],
) -> Wrong {
    Wrong {
        name,
        command,
        file,
        code,
        says,
    }
}

const FLAGS: &[Wrong] = &[
    line(
        "a misspelt flag",
        "merge-package --packge package",
        2,
        &["'--packge'", "'--package'"],
    ),
    line(
        "a flag without its value",
        "merge-package --package",
        2,
        &["'--package <DIR>'", "value is required"],
    ),
    line(
        "directories without flags",
        "merge-package package original upstream",
        2,
        &[
            "found `package`",
            "--package DIR, --original PATH, --upstream PATH",
        ],
    ),
    line(
        "a key with a colon",
        "merge-package --package package onConflict:local",
        2,
        &["found `onConflict:local`", "write `onConflict=local`"],
    ),
    line(
        "help without dashes",
        "merge-package help",
        2,
        &["found `help`", "--help"],
    ),
    line(
        "another tool's dry run",
        "merge-package --package package --dry-run",
        2,
        &["'--dry-run'", "--diff prints"],
    ),
    line(
        "another tool's short flag",
        "merge-package -p package",
        2,
        &["'-p'", "--package DIR"],
    ),
    line(
        "another function's role",
        "merge-package --package package --live live",
        2,
        &[
            "'--live'",
            "give the inputs of merge-package with --package DIR, --original PATH, --upstream PATH",
        ],
    ),
    line(
        "a role twice",
        "merge-package --original a --original b",
        2,
        &["'--original <PATH>'", "multiple times"],
    ),
    line(
        "--diff without a package",
        "merge-package --diff",
        2,
        &["--package <DIR>"],
    ),
    line(
        "--config and arguments",
        "merge-package --config variant.yaml onConflict=local",
        2,
        &["'--config <FILE>'", "'[KEY=VALUE]...'"],
    ),
    line(
        "quiet and verbose",
        "merge-package -q -v",
        2,
        &["'--quiet'", "'--verbose'"],
    ),
    line(
        "an unknown form of output",
        "merge-package --output yaml",
        2,
        &["'yaml'", "--output", "text, json"],
    ),
    line(
        "three files for the merge driver",
        "merge-package --git-merge-driver a b c",
        2,
        &["4 values", "3"],
    ),
    line(
        "nothing on standard input",
        "merge-package",
        2,
        &["expected a ResourceList, found nothing", "--package DIR"],
    ),
];

const KEYS: &[Wrong] = &[
    line(
        "a misspelt key",
        "merge-package --package package onconflict=local",
        2,
        &["data.onconflict", "did you mean `onConflict`?"],
    ),
    line(
        "a word of another tool",
        "merge-package --package package --original original --upstream upstream onConflict=ours",
        1,
        &[
            "data.onConflict",
            "`upstream`, `local`, `error`",
            "found `ours`",
        ],
    ),
    line(
        "a strategy of another tool",
        "merge-package --package package --original original --upstream upstream strategy=rebase",
        1,
        &["data.strategy", "`resource-merge`, `fast-forward`"],
    ),
    line(
        "a YAML 1.1 boolean",
        "merge-package --package package --original original --upstream upstream allowEmpty=yes",
        1,
        &["data.allowEmpty", "`true` or `false`", "found `yes`"],
    ),
    line(
        "a key twice",
        "merge-package --package package strategy=copy-merge strategy=copy-merge",
        2,
        &["`strategy` is given twice"],
    ),
    line(
        "no value",
        "merge-package --package package --original original --upstream upstream onConflict=",
        1,
        &["data.onConflict", "found ``"],
    ),
    line(
        "no key",
        "merge-package --package package =local",
        2,
        &["expected KEY=VALUE, found `=local`"],
    ),
    line(
        "arguments for a structured config",
        "prepend-pipeline --package package image=set-labels:v1",
        2,
        &["found `image=set-labels:v1`", "--config FILE"],
    ),
    line(
        "a reserved key",
        "set-package-context --package package name=shop",
        1,
        &["data.name", "reserved"],
    ),
    line(
        "no config where one is needed",
        "set-package-context --package package",
        2,
        &[
            "a SetPackageContext (fn.kpt.dev/v1alpha1)",
            "found none",
            "--config FILE",
        ],
    ),
];

const INPUTS: &[Wrong] = &[
    line(
        "no upstream",
        "merge-package --package package",
        2,
        &["role `upstream`", "--upstream PATH"],
    ),
    line(
        "no original",
        "merge-package --package package --upstream upstream",
        2,
        &["role `original`", "--original PATH"],
    ),
    line(
        "a Git ref for a directory",
        "merge-package --package package --original v1.0 --upstream v2.0",
        2,
        &[
            "--original",
            "cannot read v1.0",
            "REPOSITORY//DIRECTORY?ref=REVISION",
        ],
    ),
    line(
        "a URL for a directory",
        "merge-package --package package --upstream https://example.com/catalog.git//shop?ref=v2",
        2,
        &[
            "--upstream",
            "https://example.com/catalog.git",
            "git clone --mirror",
        ],
    ),
    line(
        "a package that is not there",
        "merge-package --package pakcage",
        2,
        &["'pakcage' does not exist"],
    ),
    line(
        "a file for a package",
        "merge-package --package package/Kptfile",
        2,
        &["'package/Kptfile' is not a directory", "'package'"],
    ),
    line(
        "a kustomization for a package",
        "merge-package --package package --original original --upstream base/kustomization.yaml",
        2,
        &[
            "--upstream",
            "base/kustomization.yaml",
            "give the directory",
        ],
    ),
    line(
        "a Helm chart for a package",
        "set-package-context --package chart a=b",
        2,
        &["templates/web.yaml", "line 6, column 5", "helm template"],
    ),
    line(
        "tabs",
        "set-package-context --package tabs a=b",
        2,
        &["web.yaml", "line 4, column 2", "spaces"],
    ),
    line(
        "a key twice in a file",
        "merge-package --package twice",
        2,
        &["web.yaml", "line 5, column 1", "`kind`"],
    ),
    line(
        "functions without a Kptfile",
        "prepend-pipeline --package base --config variant.yaml",
        1,
        &["expected a Kptfile", "kpt pkg init"],
    ),
    line(
        "a context without a ConfigMap",
        "set-package-context --package base region=east",
        1,
        &["`kptfile.kpt.dev`", "createIfMissing: true"],
    ),
    line(
        "no live resources",
        "apply-config --package package",
        2,
        &["role `live`", "--live PATH"],
    ),
    line(
        "an empty package and no upstream",
        "render-variant --package new --config variant.yaml",
        2,
        &["role `upstream`", "--upstream PATH"],
    ),
    line(
        "rules that are none",
        "merge-package --package package --conflicts variant.yaml",
        2,
        &[
            "--conflicts",
            "a ConflictRules (fn.kpt.dev/v1alpha1)",
            "`PackageVariant`",
        ],
    ),
    line(
        "an OpenAPI document that is none",
        "merge-package --package package --original original --upstream upstream --openapi variant.yaml",
        2,
        &["--openapi", "kubectl get --raw /openapi/v2"],
    ),
    line(
        "results into a folder that is not there",
        "set-package-context --package package --results no/r.yaml a=b",
        2,
        &["no/r.yaml"],
    ),
    file(
        "a page for a ResourceList",
        "merge-package < FILE",
        "# Shop\n\nSells: things: dear\n",
        2,
        &["standard input", "expected a ResourceList", "line 3"],
    ),
    file(
        "a resource for a ResourceList",
        "merge-package < FILE",
        WEB,
        2,
        &[
            "standard input, line 1, column 1",
            "expected a ResourceList",
            "kind `Deployment`",
        ],
    ),
];

const CONFIGS: &[Wrong] = &[
    line(
        "a config that is not there",
        "merge-package --package package --config fn.yaml",
        2,
        &["--config: cannot read fn.yaml"],
    ),
    file(
        "a wrong apiVersion",
        "merge-package --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1\nkind: MergePackage\n",
        2,
        &[
            "a MergePackage (fn.kpt.dev/v1alpha1)",
            "apiVersion `fn.kpt.dev/v1`",
        ],
    ),
    file(
        "another function's config",
        "merge-package --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\ndata: {a: b}\n",
        2,
        &[
            "a MergePackage (fn.kpt.dev/v1alpha1)",
            "kind `SetPackageContext`",
        ],
    ),
    file(
        "a spec",
        "merge-package --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\nspec:\n  onConflict: local\n",
        2,
        &[
            "(MergePackage), line 3, column 1: spec: unknown field",
            "`onConflict`",
        ],
    ),
    file(
        "a field of data beside it",
        "merge-package --package package --config FILE",
        "apiVersion: v1\nkind: ConfigMap\nonConflict: local\n",
        2,
        &[
            "(ConfigMap), line 3, column 1: onConflict: unknown field",
            "`data`",
        ],
    ),
    file(
        "tabs in a config",
        "merge-package --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\nconflicts:\n\t- path: spec\n",
        2,
        &["FILE: line 4, column 2", "spaces"],
    ),
    file(
        "two configs",
        "merge-package --package package --config FILE",
        "kind: MergePackage\n---\nkind: MergePackage\n",
        2,
        &["FILE: expected one functionConfig, found 2 documents"],
    ),
    file(
        "an unquoted boolean",
        "set-package-context --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\ndata:\n  region: east\n  edge: true\n",
        2,
        &[
            "line 5, column 3: data.edge: expected a string",
            "`true`",
            "quote it",
        ],
    ),
    file(
        "an unquoted number",
        "set-package-context --package package --config FILE",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  port: 8080\n",
        2,
        &["data.port: expected a string", "`8080`", "quote it"],
    ),
    file(
        "a quoted boolean",
        "merge-package --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\nallowEmpty: \"true\"\n",
        2,
        &[
            "line 3, column 1: allowEmpty: expected a boolean (true or false)",
            "string \"true\"",
        ],
    ),
    file(
        "one name for a list",
        "set-package-context --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\nremoveKeys: region\n",
        2,
        &["line 3, column 1: removeKeys: expected a sequence"],
    ),
    file(
        "a misspelt field in a list",
        "inject-config --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\ninjectors:\n  - name: a\n  - nam: b\n",
        2,
        &[
            "line 5, column 5: injectors[1].nam: unknown field",
            "`name`",
        ],
    ),
    file(
        "a config without a name",
        "prepend-pipeline --package package --config FILE",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: PrependPipeline\npipeline:\n  mutators: [{image: a}]\n",
        1,
        &["metadata.name: expected the name of the object"],
    ),
    file(
        "a PackageVariant with several faults",
        "render-variant --package package --config FILE",
        indoc! {"
            apiVersion: config.porch.kpt.dev/v1alpha1
            kind: PackageVariant
            metadata: {name: x}
            spec:
              upstream: {repo: a, package: b}
              downstream: {package: c}
              adoptionPolicy: adopt
        "},
        1,
        &[
            "spec.downstream.repo: expected",
            "spec.adoptionPolicy: expected `adoptNone` or `adoptExisting`",
        ],
    ),
    file(
        "a PackageVariantSet of the first version",
        "expand-variant-set --package package --config FILE",
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariantSet\nmetadata: {name: x}\nspec: {}\n",
        2,
        &[
            "(config.porch.kpt.dev/v1alpha2)",
            "apiVersion `config.porch.kpt.dev/v1alpha1`",
        ],
    ),
];

const PATCHES: &[Wrong] = &[
    line(
        "no patches",
        "apply-patch --package package",
        2,
        &["role `patches`", "--patches PATH"],
    ),
    file(
        "a JSON 6902 patch",
        "apply-patch --package package --patches FILE",
        "- op: replace\n  path: /spec/replicas\n  value: 3\n",
        1,
        &[
            "FILE, line 1, column 1",
            "JSON 6902",
            "apiVersion, kind and metadata.name",
        ],
    ),
    file(
        "a kustomization for a patch",
        "apply-patch --package package --patches FILE",
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: [{path: a.yaml}]\n",
        1,
        &[
            "FILE, line 1, column 1",
            "found a Kustomization",
            "give the files",
        ],
    ),
    file(
        "a patch for nobody",
        "apply-patch --package package --patches FILE",
        "spec:\n  replicas: 3\n",
        1,
        &[
            "FILE, line 1, column 1",
            "expected apiVersion, kind and metadata.name",
        ],
    ),
    file(
        "a misspelt name",
        "apply-patch --package package --patches FILE",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: wbe}\nspec: {replicas: 3}\n",
        1,
        &[
            "Deployment `wbe`",
            "found Deployment `web` (apiVersion `apps/v1`)",
        ],
    ),
    file(
        "another group",
        "apply-patch --package package --patches FILE",
        "apiVersion: v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n",
        1,
        &[
            "Deployment `web`",
            "found Deployment `web` (apiVersion `apps/v1`)",
        ],
    ),
    file(
        "no merge key",
        "apply-patch --package package --patches FILE",
        indoc! {"
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: web}
            spec:
              template:
                spec:
                  containers:
                    - image: web:2
        "},
        1,
        &[
            "web.yaml",
            "Deployment/web",
            "spec.template.spec.containers[0]",
            "merge key `name`",
        ],
    ),
    file(
        "an element that is no map",
        "apply-patch --package package --patches FILE",
        indoc! {"
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: web}
            spec:
              template:
                spec:
                  containers:
                    - web:2
        "},
        1,
        &[
            "spec.template.spec.containers[0]",
            "a map with the merge key `name`",
        ],
    ),
    file(
        "an unknown directive",
        "apply-patch --package package --patches FILE",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  $patch: remove\n",
        1,
        &["spec.$patch", "merge, replace or delete", "`remove`"],
    ),
];

#[test]
fn wrong_usages_report_what_where_and_what_to_do() {
    let tables = [FLAGS, KEYS, INPUTS, CONFIGS, PATCHES];
    let mut failures = Vec::new();
    let mut count = 0;
    for wrong in tables.into_iter().flatten() {
        count += 1;
        failures
            .extend(check(wrong).map(|why| format!("{}: {}: {why}", wrong.name, wrong.command)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count >= 60, "{count}");
}

/// What is wrong with the answer to a wrong usage.
fn check(wrong: &Wrong) -> Option<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    FILES.iter().for_each(|(path, text)| write(path, text));
    write("FILE", wrong.file);
    let (command, stdin) = match wrong.command.split_once(" < ") {
        Some((command, _)) => (command, wrong.file),
        None => (wrong.command, ""),
    };
    let mut words = command.split(' ');
    let mut program = Command::new(binary(words.next().expect("a name")));
    let program = program.current_dir(directory.path()).args(words);
    let output = program.write_stdin(stdin).output().expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(wrong.code) {
        return Some(format!("{:?}\n{stderr}", output.status.code()));
    }
    if !output.stdout.is_empty() {
        return Some("something on standard output".to_owned());
    }
    if let Some(missing) = wrong.says.iter().find(|part| !stderr.contains(**part)) {
        return Some(format!("expected `{missing}`, found\n{stderr}"));
    }
    is_touched(directory.path()).then(|| "the package has changed".to_owned())
}

fn is_touched(directory: &Path) -> bool {
    let is_other = |(path, text): &(&str, &str)| {
        std::fs::read_to_string(directory.join(path))
            .ok()
            .as_deref()
            != Some(text)
    };
    FILES.iter().any(is_other) || directory.join("new").exists()
}

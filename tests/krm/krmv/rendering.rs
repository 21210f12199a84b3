//! `krmv` with packages that are what `helm template` or `kustomize build` prints. Most tests have stand-ins for the
//! programs, which print templates with a version, a value and a random word.

use indoc::indoc;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::sources::{Site, digest};
use super::{KRMV, World, hints, on_path, outcome};
use crate::running::Outcome;
use crate::server::Answer;
use crate::sources::{gz, tar_of};

/// Prints the templates of a chart: `VERSION` is that of the chart, `REPLICAS` the value, `RANDOM` another word each time,
/// `DATE` today's date and `YEAR` the year.
const HELM: &str = r##"#!/bin/sh
echo "helm $*" >>LOG
env | grep -E '^(HELM_|KUBE|KUSTOMIZE_|GIT_ALLOW|HTTPS_PROXY)' | sed "s|$PWD|PRIVATE|" | sort -u >ENVIRONMENT
name=$2; chart=$3; replicas=1
for word in "$@"; do
  [ "${word%.yaml}" = "$word" ] || replicas=$(sed -n 's/^replicas: //p' "$word")
done
version=$(sed -n 's/^version: //p' "$chart/Chart.yaml")
random=$(od -An -N6 -tx1 /dev/urandom | tr -d ' \n')
if grep -q '^fail' "$chart/Chart.yaml"; then echo "Error: template: $PWD/source/x.yaml: no" >&2; exit 1; fi
for file in "$chart"/crds/* "$chart"/templates/*; do
  [ -f "$file" ] || continue
  echo "---"; echo "# Source: app/${file#"$chart"/}"
  sed "s/NAME/$name/; s/VERSION/$version/; s/REPLICAS/$replicas/; s/RANDOM/$random/; s/DATE/$(date +%F)/; s/YEAR/$(date +%Y)/" "$file"
done
"##;

/// Prints the resources that a kustomization names, and those of its bases.
const KUSTOMIZE: &str = r##"#!/bin/sh
echo "kustomize $*" >>LOG
env | grep -E '^(GIT_ALLOW|HTTPS_PROXY|KUSTOMIZE)' | sed "s|$PWD|PRIVATE|" | sort -u >ENVIRONMENT
build() {
  sed -n 's/^- //p' "$1/kustomization.yaml" | while read -r name; do
    if [ -d "$1/$name" ]; then (build "$1/$name"); else echo "---"; cat "$1/$name"; fi
  done
}
build "$2"
"##;

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: foos.e.com\n";

/// The files of a chart.
fn chart(version: &str, timeout: u8, image: &str) -> Vec<(&'static str, String)> {
    let deployment = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: NAME\n  labels:\n    helm.sh/chart: app-VERSION\nspec:\n  \
         replicas: REPLICAS\n  template:\n    metadata:\n      annotations:\n        checksum/secret: RANDOM\n    spec:\n      \
         containers:\n      - name: app\n        image: {image}\n        env:\n        - name: LOG\n          value: info\n"
    );
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: NAME\nstringData:\n  password: RANDOM\n  config.ini: |\n    [db]\n    \
         url = postgres://app:RANDOM@db/app\n    timeout = {timeout}\n"
    );
    let job = indoc! {r#"
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: NAME-RANDOM
          annotations:
            "helm.sh/hook": post-install
        spec:
          backoffLimit: 1
    "#};
    vec![
        ("app/Chart.yaml", format!("name: app\nversion: {version}\n")),
        ("app/crds/crd.yaml", CRD.to_owned()),
        ("app/templates/deployment.yaml", deployment),
        ("app/templates/secret.yaml", secret),
        ("app/templates/job.yaml", job.to_owned()),
    ]
}

/// A Helm repository with these charts.
fn repository(charts: &[(&str, Vec<(&str, String)>)]) -> Site {
    let site = Site::new();
    publish(&site, charts);
    site
}

fn publish(site: &Site, charts: &[(&str, Vec<(&str, String)>)]) {
    let mut index = String::from("apiVersion: v1\nentries:\n  app:\n");
    for (version, files) in charts {
        let archive = gz(&tar_of(files));
        let hex = digest(&archive).trim_start_matches("sha256:").to_owned();
        site.put(&format!("/app-{version}.tgz"), Answer::ok(archive));
        index +=
            &format!("  - version: {version}\n    digest: {hex}\n    urls: [app-{version}.tgz]\n");
    }
    site.put("/index.yaml", Answer::ok(index));
}

fn three_versions() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    vec![
        ("1.0.0", chart("1.0.0", 10, "app:1")),
        ("1.1.0", chart("1.1.0", 20, "app:2")),
        ("1.2.0", chart("1.2.0", 30, "app:3")),
    ]
}

/// The folder with stand-ins for the programs.
fn stand_ins(world: &World) -> String {
    for (name, script) in [("helm", HELM), ("kustomize", KUSTOMIZE)] {
        let place = |what: &str| world.folder.path(&format!("{name}.{what}"));
        let script = script
            .replace("LOG", &place("log").display().to_string())
            .replace("ENVIRONMENT", &place("env").display().to_string());
        let path = format!("programs/{name}");
        world.folder.put(&path, script);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.folder.path(&path), mode).expect("a file");
    }
    world.folder.path("programs").display().to_string()
}

/// Runs the program with these folders in front of PATH.
fn krmv_with(world: &World, programs: &str, folder: &str, arguments: &[&str]) -> Outcome {
    let path = std::env::var("PATH").expect("a PATH");
    let mut command = world.command(Path::new(KRMV));
    command
        .current_dir(world.folder.path(folder))
        .args(arguments)
        .env("PATH", format!("{programs}:{path}"))
        .env("HELM_PLUGINS", "/elsewhere")
        .env("HELM_DEBUG", "true")
        .env("KUBECONFIG", "/elsewhere");
    outcome(command)
}

/// A world with the package `own/web` of the chart, rendered with values of its own, and committed.
struct Rendered {
    world: World,
    site: Site,
    programs: String,
}

impl Rendered {
    fn new() -> Self {
        let world = World::new();
        let programs = stand_ins(&world);
        let site = repository(&three_versions());
        let rendered = Self {
            world,
            site,
            programs,
        };
        rendered.get();
        rendered
    }

    fn get(&self) {
        self.world.write("values.yaml", "replicas: 2\n");
        let source = self.source("1.0.0");
        let get = ["get", &source, "web", "--render", "helm"];
        let values = ["--values", "values.yaml", "--namespace", "shop"];
        self.krmv(&[&get[..], &values].concat()).assert_code(0);
        self.world.commit("get");
    }

    fn source(&self, version: &str) -> String {
        format!("helm+http://{}//app@{version}", self.site.host())
    }

    fn krmv(&self, arguments: &[&str]) -> Outcome {
        krmv_with(&self.world, &self.programs, "own", arguments)
    }

    /// Runs the program, which ends with this code, and commits.
    fn step(&self, code: i32, arguments: &[&str]) -> String {
        let done = self.krmv(arguments);
        done.assert_code(code);
        self.world.commit(arguments[0]);
        done.stdout
    }

    fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.world.read(file);
        assert!(text.contains(from), "{file} has no {from}: {text}");
        self.world.write(file, &text.replace(from, to));
        self.world.commit("edit");
    }

    /// The value after a key.
    fn value(&self, file: &str, key: &str) -> String {
        let text = self.world.read(file);
        let found = text.lines().find_map(|line| line.trim().strip_prefix(key));
        found
            .unwrap_or_else(|| panic!("{key} in {text}"))
            .to_owned()
    }

    /// What is random in the package.
    fn random(&self) -> [String; 4] {
        [
            ("web/templates/secret.yaml", "password: "),
            ("web/templates/secret.yaml", "url = "),
            ("web/templates/deployment.yaml", "checksum/secret: "),
            ("web/templates/job.yaml", "name: "),
        ]
        .map(|(file, key)| self.value(file, key))
    }
}

#[test]
fn a_chart_over_three_versions_with_values_and_edits_asks_nothing() {
    let rendered = Rendered::new();
    let random = rendered.random();
    assert_eq!(rendered.value("web/crds/crd.yaml", "name: "), "foos.e.com");
    let status = rendered.krmv(&["status", "web"]);
    status.assert_code(3);
    assert!(status.stdout.contains("no edits"), "{}", status.stdout);
    rendered.replace("web/templates/deployment.yaml", "info", "debug # mine");
    rendered.replace(
        "web/templates/deployment.yaml",
        "      containers:",
        "      priorityClassName: high\n      containers:",
    );
    let upgraded = rendered.step(0, &["upgrade", "web", "1.1.0"]);
    assert!(upgraded.contains("No conflicts."), "{upgraded}");
    assert!(upgraded.contains("random values kept"), "{upgraded}");
    // A change of values alone is an upgrade to the same release.
    rendered.world.write("values.yaml", "replicas: 5\n");
    rendered.world.commit("values");
    let status = rendered.krmv(&["status", "web"]);
    status.assert_code(3);
    assert!(
        status.stdout.contains("settings of `render` changed"),
        "{}",
        status.stdout
    );
    let upgraded = rendered.step(0, &["upgrade", "web", "1.1.0"]);
    for part in [
        "web: 1.1.0 -> 1.1.0, rendered again\n",
        "spec.replicas",
        "'web: render 1.1.0 again'",
    ] {
        assert!(upgraded.contains(part), "{part}: {upgraded}");
    }
    let again = rendered.step(0, &["upgrade", "web", "1.1.0"]);
    assert!(again.contains("already up to date"), "{again}");
    let upgraded = rendered.step(0, &["upgrade", "web"]);
    assert!(upgraded.contains("now at 1.2.0"), "{upgraded}");
    assert_eq!(rendered.random(), random);
    let text = rendered.world.read("web/templates/deployment.yaml");
    for part in [
        "replicas: 5",
        "image: app:3",
        "helm.sh/chart: app-1.2.0",
        "value: debug # mine",
        "priorityClassName: high",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(
        rendered.value("web/templates/secret.yaml", "timeout = "),
        "30"
    );
    let status = rendered.krmv(&["status", "web"]);
    status.assert_code(0);
    assert!(status.stdout.contains("2 edits"), "{}", status.stdout);
}

#[test]
fn every_command_knows_what_is_rendered() {
    let rendered = Rendered::new();
    rendered.replace("web/templates/deployment.yaml", "info", "debug");
    rendered.step(0, &["upgrade", "web", "1.1.0"]);
    let diff = rendered.step(0, &["diff", "web", "--stat"]);
    assert!(
        diff.contains("Deployment") && diff.contains("1 changed"),
        "{diff}"
    );
    // Other commands have no network.
    rendered.krmv(&["status", "web"]).assert_code(3);
    let review = rendered.step(0, &["review", "web", "1.2.0"]);
    assert!(review.contains("image"), "{review}");
    let blame = rendered.step(0, &["blame", "web/templates/deployment.yaml"]);
    let blame = blame.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "spec.replicas: upstream 1.0.0",
        "containers[0].image: upstream 1.1.0",
        "env[0].value: a on",
        "[\"checksum/secret\"]: upstream 1.0.0",
    ] {
        assert!(blame.contains(line), "{line}: {blame}");
    }
    let overlay = rendered.step(0, &["overlay", "web"]);
    assert!(overlay.contains("patches/deployment"), "{overlay}");
    assert!(!overlay.contains(".krmv/"), "{overlay}");
    let offline = rendered.krmv(&["status", "web", "--offline"]);
    offline.assert_code(3);
}

#[test]
fn another_date_in_a_rendering_is_not_an_edit() {
    let dated = |version| {
        let mut files = chart(version, 10, "app:1");
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\ndata:\n  made: DATE\n  about: \
                   Made in YEAR.\n";
        files.push(("app/templates/map.yaml", map.to_owned()));
        files
    };
    let world = World::new();
    let programs = stand_ins(&world);
    let site = repository(&[("1.0.0", dated("1.0.0")), ("1.1.0", dated("1.1.0"))]);
    let rendered = Rendered {
        world,
        site,
        programs,
    };
    rendered.get();
    // What it would have printed on another day.
    let map = "web/templates/map.yaml";
    let made = rendered.value(map, "made: ");
    rendered.replace(map, &made, "2020-02-03");
    let year = made.get(..4).expect("a year");
    rendered.replace(map, &format!("in {year}"), "in 2020");
    let status = rendered.krmv(&["status", "web"]);
    assert!(status.stdout.contains("no edits"), "{}", status.stdout);
    rendered.step(0, &["upgrade", "web"]);
    assert_eq!(rendered.value(map, "made: "), "2020-02-03");
    assert_eq!(rendered.value(map, "about: "), "Made in 2020.");
}

#[test]
fn a_conflict_keeps_the_values_that_the_upgrade_began_with() {
    let rendered = Rendered::new();
    rendered.replace("web/templates/deployment.yaml", "app:1", "mine:1");
    rendered.world.write("values.yaml", "replicas: 3\n");
    rendered.world.commit("values");
    let upgraded = rendered.step(1, &["upgrade", "web", "1.1.0"]);
    assert!(upgraded.contains("1 conflict undecided"), "{upgraded}");
    rendered.world.write("values.yaml", "replicas: 9\n");
    rendered.world.commit("other values");
    let listed = rendered.step(1, &["resolve", "web"]);
    assert!(!listed.contains("replicas"), "{listed}");
    rendered.step(0, &["resolve", "web", "--take", "upstream"]);
    let text = rendered.world.read("web/templates/deployment.yaml");
    assert!(
        text.contains("image: app:2") && text.contains("replicas: 3"),
        "{text}"
    );
    assert_eq!(
        rendered.world.read("web/.krmv/locked/values-1"),
        "replicas: 3\n"
    );
    assert!(!rendered.world.path("web/.krmv/open/render").exists());
    let upgraded = rendered.step(0, &["upgrade", "web", "1.1.0"]);
    assert!(upgraded.contains("spec.replicas"), "{upgraded}");
}

#[test]
fn the_release_of_a_rendered_value_is_named() {
    let world = World::new();
    let programs = stand_ins(&world);
    let site = repository(&[
        ("1.0.0", chart("1.0.0", 10, "app:1")),
        ("1.1.0", chart("1.1.0", 10, "app:2")),
        ("1.2.0", chart("1.2.0", 20, "app:2")),
        ("1.3.0", chart("1.3.0", 20, "app:2")),
    ]);
    let rendered = Rendered {
        world,
        site,
        programs,
    };
    rendered.get();
    rendered.replace("web/templates/deployment.yaml", "app:1", "mine:1");
    rendered.replace("web/templates/secret.yaml", "timeout = 10", "timeout = 7");
    rendered.krmv(&["status", "web"]).assert_code(3);
    let line = |text: &str, place: &str| {
        let rest = text.split_once(place).expect("the conflict").1;
        let rest = rest
            .split_once("last changed upstream in ")
            .expect("a line");
        rest.1.lines().next().expect("a line").to_owned()
    };
    let upgraded = rendered.step(1, &["upgrade", "web", "1.3.0"]);
    let resolved = rendered.step(1, &["resolve", "web"]);
    for text in [upgraded, resolved] {
        assert_eq!(line(&text, "image"), "1.1.0", "{text}");
        assert_eq!(line(&text, "config.ini"), "1.2.0", "{text}");
        assert!(text.contains("last changed on your side by "), "{text}");
    }
}

#[test]
fn a_colleague_goes_on_from_the_same_lock() {
    let rendered = Rendered::new();
    let world = &rendered.world;
    let random = rendered.random();
    world
        .folder
        .git_in("", &["clone", "--quiet", "own", "colleague"]);
    std::fs::remove_dir_all(world.folder.path("cache")).expect("a cache");
    let there = |arguments: &[&str]| krmv_with(world, &rendered.programs, "colleague", arguments);
    there(&["upgrade", "web", "1.1.0"]).assert_code(0);
    let text = world.folder.get("colleague/web/templates/secret.yaml");
    assert!(
        text.contains(&random[0]) && text.contains("timeout = 20"),
        "{text}"
    );
}

#[test]
fn nightly_branches_have_what_is_rendered() {
    let rendered = Rendered::new();
    rendered
        .krmv(&["upgrade", "--all", "--branch"])
        .assert_code(0);
    let shown = rendered
        .world
        .folder
        .git_in("own", &["show", "krmv/web:web/templates/deployment.yaml"]);
    assert!(
        shown.contains("image: app:3") && shown.contains("replicas: 2"),
        "{shown}"
    );
}

#[test]
fn a_copy_of_what_a_chart_printed_is_adopted() {
    let rendered = Rendered::new();
    let world = &rendered.world;
    let files = ["deployment", "secret", "job"];
    let texts = files.map(|name| world.read(&format!("web/templates/{name}.yaml")));
    let all = texts.concat().replace("value: info", "value: debug");
    std::fs::create_dir(world.path("copy")).expect("a folder");
    world.write("copy/all.yaml", &(all + &world.read("web/crds/crd.yaml")));
    world.commit("copy");
    let source = rendered.source("");
    let source = source.trim_end_matches('@');
    let adopt = ["get", "--adopt", source, "copy", "--render", "helm"];
    let values = [
        "--values",
        "values.yaml",
        "--namespace",
        "shop",
        "--release",
        "web",
    ];
    let adopted = rendered.step(0, &[&adopt[..], &values].concat());
    assert!(adopted.contains("made from 1.0.0"), "{adopted}");
    let status = rendered.krmv(&["status", "copy"]);
    assert!(status.stdout.contains("no conflict"), "{}", status.stdout);
    rendered.step(0, &["upgrade", "copy"]);
    let text = world.read("copy/all.yaml");
    assert!(
        text.contains("image: app:3") && text.contains("value: debug"),
        "{text}"
    );
}

#[test]
fn programs_get_fixed_arguments_and_private_folders() {
    let rendered = Rendered::new();
    let log = rendered.world.folder.get("helm.log");
    let line =
        "helm template web ./source --include-crds --namespace shop --values values-1.yaml\n";
    assert_eq!(log, line.repeat(2));
    let environment = rendered.world.folder.get("helm.env");
    for line in environment.lines() {
        let (name, value) = line.split_once('=').expect("a variable");
        let is_private = value.starts_with("PRIVATE/home/");
        let is_fixed = ["GIT_ALLOW_PROTOCOL", "HELM_NO_PLUGINS", "HTTPS_PROXY"].contains(&name);
        assert!(is_private || is_fixed, "{line}");
    }
    assert!(
        environment.contains("HELM_PLUGINS=PRIVATE"),
        "{environment}"
    );
    assert!(
        environment.contains("GIT_ALLOW_PROTOCOL=none"),
        "{environment}"
    );
    assert!(
        !environment.contains("elsewhere") && !environment.contains("DEBUG"),
        "{environment}"
    );
}

/// An error that changes nothing, with a hint.
fn refused(rendered: &Rendered, arguments: &[&str], expected: &str) {
    let done = rendered.krmv(arguments);
    done.assert_code(2);
    let text = format!("{}{}", done.stdout, done.stderr).replace("\n  ", " ");
    assert!(text.contains(expected), "{expected}: {text}");
    assert!(!hints(&text).is_empty(), "{text}");
    let status = rendered
        .world
        .folder
        .git_in("own", &["status", "--porcelain"]);
    assert_eq!(status, "");
}

#[test]
fn a_source_that_cannot_be_rendered_changes_nothing() {
    let rendered = Rendered::new();
    let world = &rendered.world;
    let source = rendered.source("1.0.0");
    for (arguments, expected) in [
        (
            &["--render", "helm", "--values", "../catalog/web/notes.txt"][..],
            "in the work tree",
        ),
        (
            &["--render", "helm", "--values", "missing.yaml"],
            "cannot read the values",
        ),
        (
            &["--render", "helm", "--release=--post-renderer=x"],
            "release",
        ),
        (
            &["--render", "helm", "--release", "A b"],
            "expected a release",
        ),
        (
            &["--render", "helm", "--kube-version", "x"],
            "a Kubernetes release",
        ),
        (
            &["--render", "kustomize", "--release", "x"],
            "for --render helm",
        ),
    ] {
        let all = [&["get", &source, "other"], arguments].concat();
        refused(&rendered, &all, expected);
    }
    let broken = [(
        "2.0.0",
        vec![("app/Chart.yaml", "fail: 1\nversion: 2.0.0\n".to_owned())],
    )];
    publish(&rendered.site, &broken);
    refused(
        &rendered,
        &["upgrade", "web"],
        "template: source/x.yaml: no",
    );
    publish(
        &rendered.site,
        &[(
            "2.0.0",
            vec![("app/Chart.yaml", "version: 2.0.0\n".to_owned())],
        )],
    );
    // The digest of a release is the same one for good.
    publish(
        &rendered.site,
        &[(
            "3.0.0",
            vec![("app/Chart.yaml", "version: 3.0.0\n".to_owned())],
        )],
    );
    refused(
        &rendered,
        &["upgrade", "web", "3.0.0"],
        "prints no resource",
    );
    for (from, to, expected) in [
        (
            "../values.yaml",
            "../../catalog/web/notes.txt",
            "in the work tree",
        ),
        ("../values.yaml", "/etc/hostname", "in the work tree"),
        ("namespace: shop", "namespace: --x", "expected a namespace"),
        ("helm:", "other:", "render"),
    ] {
        let policy = world.read("web/.krmv.yaml");
        rendered.replace("web/.krmv.yaml", from, to);
        refused(&rendered, &["upgrade", "web", "1.1.0"], expected);
        world.write("web/.krmv.yaml", &policy);
        world.commit("back");
    }
    world.write(
        "web/.krmv.yaml",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: UpgradePolicy\n",
    );
    world.commit("nothing is rendered");
    refused(&rendered, &["upgrade", "web", "1.1.0"], "expected `render`");
}

#[test]
fn without_the_program_the_error_says_what_to_install() {
    let rendered = Rendered::new();
    let world = &rendered.world;
    for program in ["git", "curl"] {
        let found = on_path(program).expect("it is installed");
        let path = world.folder.path(&format!("few/{program}"));
        std::fs::create_dir_all(world.folder.path("few")).expect("a folder");
        std::os::unix::fs::symlink(found, path).expect("a link");
    }
    let mut command = world.command(Path::new(KRMV));
    command
        .args(["upgrade", "web", "1.1.0"])
        .env("PATH", world.folder.path("few"));
    let done = outcome(command);
    done.assert_code(2);
    assert!(
        done.stderr.contains("cannot find `helm` on PATH"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("helm.sh/docs/intro/install"),
        "{}",
        done.stderr
    );
}

fn map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: {value}\n")
}

/// Releases of a kustomization whose base is next to it.
fn kustomization(world: &World) {
    for (tag, value) in [("v5.0.0", "one"), ("v5.1.0", "two")] {
        let folder = &world.folder;
        folder.put("catalog/base/map.yaml", map("base", value));
        folder.put(
            "catalog/base/kustomization.yaml",
            "resources:\n- map.yaml\n",
        );
        folder.put("catalog/shop/own.yaml", map("own", "same"));
        folder.put(
            "catalog/shop/kustomization.yaml",
            "resources:\n- ../base\n- own.yaml\n",
        );
        folder.commit(tag);
        folder.git(&["tag", tag]);
    }
    let remote = "resources:\n- https://127.0.0.1:1/x.yaml\n";
    world.folder.put("catalog/base/kustomization.yaml", remote);
    world.folder.commit("remote");
    world.folder.git(&["tag", "v6.0.0"]);
}

fn kustomization_is_followed(world: &World, programs: &str) {
    kustomization(world);
    let krmv = |arguments: &[&str]| krmv_with(world, programs, "own", arguments);
    krmv(&[
        "get",
        "../catalog//shop@v5.0.0",
        "shop",
        "--render",
        "kustomize",
    ])
    .assert_code(0);
    world.commit("get");
    assert!(world.read("shop/configmap_base.yaml").contains("a: one"));
    let text = world.read("shop/configmap_own.yaml");
    world.write("shop/configmap_own.yaml", &text.replace("same", "mine"));
    world.commit("edit");
    let upgraded = krmv(&["upgrade", "shop", "v5.1.0"]);
    upgraded.assert_code(0);
    assert!(
        upgraded.stdout.contains("No conflicts."),
        "{}",
        upgraded.stdout
    );
    assert!(world.read("shop/configmap_base.yaml").contains("a: two"));
    assert!(world.read("shop/configmap_own.yaml").contains("a: mine"));
    world.commit("upgrade");
    let remote = krmv(&["upgrade", "shop", "v6.0.0"]);
    remote.assert_code(2);
    assert!(
        remote.stderr.contains("without the network"),
        "{}",
        remote.stderr
    );
}

#[test]
fn a_kustomization_with_a_base_next_to_it_is_followed() {
    let world = World::new();
    let programs = stand_ins(&world);
    kustomization_is_followed(&world, &programs);
    let log = world.folder.get("kustomize.log");
    assert!(
        log.lines()
            .all(|line| line == "kustomize build ./source/shop"),
        "{log}"
    );
    let environment = world.folder.get("kustomize.env");
    assert!(
        environment.contains("GIT_ALLOW_PROTOCOL=none"),
        "{environment}"
    );
}

/// Writes a file of the catalog, and commits it to its branch.
fn commit_to_main(world: &World, path: &str, text: &str) {
    world.folder.put(&format!("catalog/{path}"), text);
    world.folder.commit(path);
}

#[test]
fn a_base_outside_of_the_folder_that_changed_on_a_branch_is_newer() {
    let world = World::new();
    let programs = stand_ins(&world);
    let folder = &world.folder;
    folder.put("catalog/base/map.yaml", map("base", "one"));
    folder.put(
        "catalog/base/kustomization.yaml",
        "resources:\n- map.yaml\n",
    );
    commit_to_main(&world, "shop/kustomization.yaml", "resources:\n- ../base\n");
    let krmv = |arguments: &[&str]| krmv_with(&world, &programs, "own", arguments);
    let source = "../catalog//shop@main";
    krmv(&["get", source, "shop", "--render", "kustomize"]).assert_code(0);
    world.commit("get");
    commit_to_main(&world, "elsewhere/map.yaml", &map("elsewhere", "one"));
    krmv(&["status", "shop"]).assert_code(0);
    commit_to_main(&world, "base/map.yaml", &map("base", "two"));
    commit_to_main(
        &world,
        "base/kustomization.yaml",
        "resources:\n- map.yaml\n- ../more\n",
    );
    commit_to_main(&world, "more/map.yaml", &map("more", "one"));
    commit_to_main(
        &world,
        "more/kustomization.yaml",
        "resources:\n- map.yaml\n",
    );
    let status = krmv(&["status", "shop"]);
    status.assert_code(3);
    assert!(status.stdout.contains("4 commits"), "{}", status.stdout);
    krmv(&["upgrade", "shop"]).assert_code(0);
    assert!(world.read("shop/configmap_base.yaml").contains("a: two"));
    assert!(world.read("shop/configmap_more.yaml").contains("a: one"));
    world.commit("upgrade");
    krmv(&["status", "shop"]).assert_code(0);
}

#[test]
#[ignore = "needs kustomize"]
fn kustomizations_are_built_by_the_real_kustomize() {
    if on_path("kustomize").is_some() {
        kustomization_is_followed(&World::new(), "/nowhere");
    }
}

/// A chart for the real Helm, with passwords, a time, a date, a random name, a hook and a CRD.
fn helm_chart(version: &str, timeout: u8) -> Vec<(&'static str, String)> {
    let deployment = indoc! {r#"
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: {{ .Release.Name }}
          namespace: {{ .Release.Namespace }}
          labels:
            helm.sh/chart: app-{{ .Chart.Version }}
        spec:
          replicas: {{ .Values.replicas }}
          template:
            metadata:
              annotations:
                rolled: {{ now | unixEpoch | quote }}
                made: {{ now | date "2006-01-02" }}
            spec:
              containers:
              - name: app
                image: app:{{ .Chart.Version }}
                env:
                - name: LOG
                  value: info
    "#};
    let secret = indoc! {r#"
        {{- $ca := genCA "app" 30 }}
        apiVersion: v1
        kind: Secret
        metadata:
          name: {{ .Release.Name }}
          namespace: {{ .Release.Namespace }}
        stringData:
          password: {{ randAlphaNum 16 }}
          config.ini: |
            [db]
            url = postgres://app:{{ randAlphaNum 16 }}@db/app
            timeout = TIMEOUT
          ca.crt: |
        {{ $ca.Cert | indent 4 }}
        data:
          tls.key: {{ $ca.Key | b64enc }}
          found: {{ (lookup "v1" "Secret" "kube-system" "") | toJson | b64enc }}
    "#};
    let job = indoc! {r#"
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: {{ .Release.Name }}-{{ randAlphaNum 5 | lower }}
          annotations:
            "helm.sh/hook": pre-upgrade
        spec:
          backoffLimit: 1
    "#};
    let metadata = format!("apiVersion: v2\nname: app\nversion: {version}\n");
    vec![
        ("app/Chart.yaml", metadata),
        ("app/values.yaml", "replicas: 1\n".to_owned()),
        ("app/crds/crd.yaml", CRD.to_owned()),
        ("app/templates/deployment.yaml", deployment.to_owned()),
        (
            "app/templates/secret.yaml",
            secret.replace("TIMEOUT", &timeout.to_string()),
        ),
        ("app/templates/job.yaml", job.to_owned()),
    ]
}

#[test]
#[ignore = "needs helm"]
fn charts_are_rendered_by_the_real_helm() {
    if on_path("helm").is_none() {
        return;
    }
    let charts = [("1.0.0", 10), ("1.1.0", 20), ("1.2.0", 30)];
    let charts = charts.map(|(version, timeout)| (version, helm_chart(version, timeout)));
    let rendered = Rendered {
        world: World::new(),
        site: repository(&charts),
        programs: "/nowhere".to_owned(),
    };
    rendered.get();
    let secret = "web/templates/secret.yaml";
    let deployment = "web/templates/deployment.yaml";
    let random = || {
        let values = ["password: ", "url = ", "tls.key: "];
        let values = values.map(|key| rendered.value(secret, key));
        let name = rendered.value("web/templates/job.yaml", "name: ");
        let certificate = rendered.world.read(secret);
        let certificate = certificate.split("ca.crt").nth(1).map(str::to_owned);
        (
            values,
            name,
            rendered.value(deployment, "rolled: "),
            certificate,
        )
    };
    // What it would have printed on another day.
    let made = rendered.value(deployment, "made: ");
    rendered.replace(deployment, &made, "2020-02-03");
    let first = random();
    assert_eq!(rendered.value("web/crds/crd.yaml", "name: "), "foos.e.com");
    let status = rendered.krmv(&["status", "web"]);
    assert!(status.stdout.contains("no edits"), "{}", status.stdout);
    assert_eq!(rendered.step(0, &["diff", "web"]), "");
    rendered.replace(deployment, "info", "debug # mine");
    rendered.replace(secret, "    [db]", "    # mine\n    [db]");
    rendered.step(0, &["upgrade", "web", "1.1.0"]);
    rendered.world.write("values.yaml", "replicas: 5\n");
    rendered.world.commit("values");
    rendered.step(0, &["upgrade", "web", "1.1.0"]);
    let upgraded = rendered.step(0, &["upgrade", "web"]);
    assert!(
        upgraded.contains("No conflicts.") && upgraded.contains("now at 1.2.0"),
        "{upgraded}"
    );
    assert_eq!(random(), first);
    let text = rendered.world.read(deployment);
    for part in [
        "replicas: 5",
        "image: app:1.2.0",
        "value: debug # mine",
        "made: 2020-02-03",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = rendered.world.read(secret);
    assert!(
        text.contains("# mine") && text.contains("timeout = 30"),
        "{text}"
    );
    let status = rendered.krmv(&["status", "web"]);
    status.assert_code(0);
    assert!(status.stdout.contains("2 edits"), "{}", status.stdout);
}

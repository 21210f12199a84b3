//! `krmv` with packages that are released on other machines: release files, charts, images of a registry. The servers are
//! on the loopback address.

use expect_test::expect;
use indoc::indoc;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};

use super::files::upgrade;
use super::{KRMV, SERVICE, World, deployment, outcome};
use crate::server::{Answer, Asked, Server};
use crate::sources::{gz, tar_of};

type Pages = Arc<Mutex<BTreeMap<String, Answer>>>;

/// A server with pages that a test can change.
pub(super) struct Site {
    pub(super) server: Server,
    pages: Pages,
}

impl Site {
    pub(super) fn new() -> Self {
        let pages: Pages = Arc::default();
        let own = Arc::clone(&pages);
        let server = Server::start(move |asked: &Asked| {
            let pages = own.lock().expect("no panic");
            let path = asked.path.split('?').next().unwrap_or_default();
            let found = pages.get(&asked.path).or_else(|| pages.get(path));
            found.cloned().unwrap_or_else(Answer::missing)
        });
        Self { server, pages }
    }

    pub(super) fn put(&self, path: &str, answer: Answer) {
        let mut pages = self.pages.lock().expect("no panic");
        pages.insert(path.to_owned(), answer);
    }

    pub(super) fn remove(&self, path: &str) {
        self.pages.lock().expect("no panic").remove(path);
    }

    pub(super) fn host(&self) -> &str {
        &self.server.host
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    let hex = Sha256::digest(bytes);
    let hex: Vec<String> = hex.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", hex.concat())
}

/// The files of each release of [`World::new`].
pub(super) fn releases() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let service = SERVICE.replace("ClusterIP", "NodePort");
    let versions = [
        ("1.0.0", deployment(1, "app:1", "64Mi"), SERVICE.to_owned()),
        ("1.1.0", deployment(1, "app:2", "64Mi"), SERVICE.to_owned()),
        ("2.0.0", deployment(2, "app:3", "128Mi"), service.clone()),
        ("3.0.0-rc.1", deployment(9, "app:9", "9Mi"), service),
    ];
    let files = versions.into_iter().map(|(version, app, service)| {
        let notes = format!("v{version}\n");
        let files = vec![
            ("web/app.yaml", app),
            ("web/service.yaml", service),
            ("web/notes.txt", notes),
        ];
        (version, files)
    });
    files.collect()
}

/// A forge with a repository and release files, a Helm repository, and a registry with the same content.
pub(super) fn site(world: &World) -> Site {
    let site = Site::new();
    put_repository(&site, world);
    let mut index = String::from("apiVersion: v1\nentries:\n  web:\n");
    let mut tags = Vec::new();
    for (version, files) in releases() {
        let archive = gz(&tar_of(&files));
        let only = files[0].1.clone();
        let folder = format!("/o/app/releases/download/v{version}");
        let cdn = format!("/cdn/{version}.tgz");
        site.put(&cdn, Answer::ok(archive.clone()));
        site.put(
            &format!("{folder}/web-{version}.tgz"),
            Answer::redirect(&cdn),
        );
        site.put(&format!("{folder}/app.yaml"), Answer::ok(only));
        site.put(
            &format!("/files/web-{version}.tgz"),
            Answer::ok(archive.clone()),
        );
        site.put(
            &format!("/charts/web-{version}.tgz"),
            Answer::ok(archive.clone()),
        );
        let hex = digest(&archive).trim_start_matches("sha256:").to_owned();
        index += &format!(
            "  - version: {version}\n    digest: {hex}\n    urls:\n    - web-{version}.tgz\n"
        );
        put_image(&site, &format!("v{version}"), &archive);
        tags.push(format!("\"v{version}\""));
    }
    site.put("/charts/index.yaml", Answer::ok(index));
    // Two pages.
    let (first, second) = tags.split_at(2);
    let page = |tags: &[String]| {
        Answer::ok(format!(
            "{{\"name\": \"o/web\", \"tags\": [{}]}}",
            tags.join(",")
        ))
    };
    let link = "</v2/o/web/tags/list?n=1000&last=x>; rel=\"next\"";
    site.put("/v2/o/web/tags/list", page(first).with("Link", link));
    site.put("/v2/o/web/tags/list?n=1000&last=x", page(second));
    site
}

/// The catalog as a repository that is read by plain HTTP.
fn put_repository(site: &Site, world: &World) {
    let path = world.folder.path("forge.git");
    let clone = ["clone", "--quiet", "--bare", "catalog", "forge.git"];
    world.folder.git_in("", &clone);
    world.folder.git_in("forge.git", &["update-server-info"]);
    let mut folders = vec![path.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry").path();
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let name = entry.strip_prefix(&path).expect("inside");
            let bytes = std::fs::read(&entry).expect("a file");
            site.put(&format!("/o/app/{}", name.display()), Answer::ok(bytes));
        }
    }
}

/// An image of one layer.
pub(super) fn put_image(site: &Site, tag: &str, archive: &[u8]) -> String {
    let layer = digest(archive);
    let manifest = format!(
        "{{\"schemaVersion\": 2, \"mediaType\": \"application/vnd.oci.image.manifest.v1+json\", \"layers\": [{{\"mediaType\": \
         \"application/vnd.oci.image.layer.v1.tar+gzip\", \"digest\": \"{layer}\", \"size\": {}}}]}}",
        archive.len()
    );
    let own = digest(manifest.as_bytes());
    let blob = format!("/blobs/{layer}");
    site.put(&blob, Answer::ok(archive));
    site.put(&format!("/v2/o/web/blobs/{layer}"), Answer::redirect(&blob));
    site.put(
        &format!("/v2/o/web/manifests/{tag}"),
        Answer::ok(manifest.clone()),
    );
    site.put(&format!("/v2/o/web/manifests/{own}"), Answer::ok(manifest));
    own
}

/// The arguments of `get` for each kind of source at its first release, and the name of the second.
fn sources(site: &Site) -> Vec<(Vec<String>, &'static str)> {
    let host = site.host();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    vec![
        (
            words(&[&format!(
                "http://{host}/o/app/releases/download/v1.0.0/web-1.0.0.tgz"
            )]),
            "v1.1.0",
        ),
        (
            words(&[
                &format!("http://{host}/files/web-{{version}}.tgz@v1.0.0"),
                "--tags",
                &format!("http://{host}/o/app"),
            ]),
            "v1.1.0",
        ),
        (
            words(&[&format!("helm+http://{host}/charts//web@1.0.0")]),
            "1.1.0",
        ),
        (words(&[&format!("oci://{host}/o/web:v1.0.0")]), "v1.1.0"),
    ]
}

#[test]
fn every_source_upgrades_to_the_bytes_that_git_gives() {
    let git = World::new();
    let from_git = upgrade(&git, &["../catalog//web@v1.0.0"], "v1.1.0");
    let world = World::new();
    let site = site(&world);
    for (first, request) in sources(&site) {
        let fresh = World::new();
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        let found = upgrade(&fresh, &first, request);
        assert_eq!(found, from_git, "{first:?}");
        // What was fetched is enough from now on.
        let offline = fresh.krmv(&["status", "web", "--offline"]);
        offline.assert_code(0);
        let diff = fresh.krmv(&["diff", "web", "--stat"]);
        diff.assert_code(0);
        let blame = fresh.krmv(&["blame", "web/app.yaml", "spec.replicas"]);
        blame.assert_code(0);
        fresh.krmv(&["overlay", "web"]).assert_code(0);
        fresh.krmv(&["review", "web"]).assert_code(0);
    }
}

#[test]
fn a_colleague_goes_on_from_the_lock() {
    let world = World::new();
    let site = site(&world);
    for (first, request) in sources(&site) {
        let fresh = World::new();
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        fresh.krmv(&[&["get"], &first[..]].concat()).assert_code(0);
        fresh.commit("get");
        fresh.edit_app();
        let text = fresh.read("web/Kptfile");
        let machine = fresh.folder.path("");
        assert!(!text.contains(&*machine.to_string_lossy()), "{text}");
        // Another machine: another clone, and nothing in the cache.
        std::fs::remove_dir_all(fresh.folder.path("cache")).expect("a cache");
        fresh
            .folder
            .git_in("", &["clone", "--quiet", "own", "colleague"]);
        let outcome = fresh.krmv_in("colleague", &["upgrade", "web", request]);
        outcome.assert_code(0);
        let app = fresh.folder.get("colleague/web/app.yaml");
        assert!(
            app.contains("replicas: 5") && app.contains("app:2"),
            "{app}"
        );
    }
}

#[test]
fn an_address_with_a_placeholder_for_the_release_needs_tags() {
    let world = World::new();
    for place in ["{tag}", "{version}"] {
        let address = format!("https://example.com/{place}/app.yaml");
        let outcome = world.krmv(&["get", &address, "one"]);
        outcome.assert_code(2);
        for part in [place, "--tags"] {
            assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
        }
    }
}

#[test]
fn a_release_file_is_a_package_of_one_file() {
    let world = World::new();
    let site = site(&world);
    let latest = site.server.url("/o/app/releases/latest/download/app.yaml");
    let outcome = world.krmv(&["get", &latest]);
    outcome.assert_code(0);
    assert!(outcome.stdout.contains("at v2.0.0"), "{}", outcome.stdout);
    let first = site.server.url("/o/app/releases/download/v1.0.0/app.yaml");
    world.krmv(&["get", &first, "one"]).assert_code(0);
    assert!(world.read("one/Kptfile").contains(&first));
    world.commit("get");
    let text = world.read("one/app.yaml").replace("64Mi", "256Mi");
    world.write("one/app.yaml", &text);
    world.commit("edit");
    let status = world.json(&["status", "one"]);
    let newer = status["packages"][0]["newer"].as_array().expect("a list");
    assert_eq!(newer.len(), 2, "{status}");
    let outcome = world.krmv(&["upgrade", "one", "v1.1.0"]);
    outcome.assert_code(0);
    let text = world.read("one/app.yaml");
    assert!(text.contains("app:2") && text.contains("256Mi"), "{text}");
    world.commit("upgrade");
    // A release without the file is no release of it.
    site.remove("/o/app/releases/download/v2.0.0/app.yaml");
    std::fs::remove_dir_all(world.folder.path("cache")).expect("a cache");
    let status = world.krmv(&["status", "one"]);
    status.assert_code(0);
    assert!(status.stdout.contains("up to date"), "{}", status.stdout);
    let named = world.krmv(&["upgrade", "one", "v2.0.0"]);
    named.assert_code(2);
    assert!(named.stderr.contains("does not exist"), "{}", named.stderr);
}

#[test]
fn an_address_from_a_browser_is_a_git_source() {
    let world = World::new();
    let site = site(&world);
    world.folder.git(&["branch", "feature/web", "v1.0.0"]);
    let own = site.server.url("/o/app");
    let catalog = world.folder.path("catalog").display().to_string();
    let key = format!("url.file://{catalog}.insteadOf");
    for (path, expected) in [
        ("blob/v1.0.0/web/app.yaml", "//web/app.yaml@v1.0.0"),
        ("tree/feature/web/web", "//web@feature/web"),
        (
            "raw/refs/tags/v1.1.0/web/app.yaml?x=1",
            "//web/app.yaml@v1.1.0",
        ),
        ("-/blob/v1.0.0/web/app.yaml#L3", "//web/app.yaml@v1.0.0"),
        ("src/tag/v1.0.0/web", "//web@v1.0.0"),
    ] {
        let mut command = world.command(Path::new(KRMV));
        command.args(["get", &format!("{own}/{path}"), "found"]);
        command.env("GIT_CONFIG_COUNT", "1");
        command.env("GIT_CONFIG_KEY_0", &key);
        command.env("GIT_CONFIG_VALUE_0", &own);
        let outcome = outcome(command);
        outcome.assert_code(0);
        let flat = outcome.stdout.replace("\n    ", " ");
        assert!(flat.contains(expected), "{}", outcome.stdout);
        std::fs::remove_dir_all(world.path("found")).expect("a package");
    }
}

#[test]
fn the_values_of_a_chart_are_a_package() {
    let world = World::new();
    let site = Site::new();
    let mut index = String::from("entries:\n  app:\n");
    for (version, values) in [
        (
            "1.0.0",
            "# replicas\nreplicas: 1\n\nimage:\n  tag: a # tag\n",
        ),
        (
            "1.1.0",
            indoc! {"
                # replicas
                replicas: 1

                image:
                  tag: b # tag
                  pull: Always
            "},
        ),
    ] {
        let files = [
            (
                "app/Chart.yaml",
                format!("apiVersion: v2\nname: app\nversion: {version}\n"),
            ),
            ("app/values.yaml", values.to_owned()),
            (
                "app/templates/a.yaml",
                "{{- if .Values.replicas }}\na: b\n{{- end }}\n".to_owned(),
            ),
            ("app/crds/a.yaml", SERVICE.to_owned()),
        ];
        site.put(
            &format!("/app-{version}.tgz"),
            Answer::ok(gz(&tar_of(&files))),
        );
        index += &format!("  - version: {version}\n    urls: [app-{version}.tgz]\n");
    }
    site.put("/index.yaml", Answer::ok(index));
    let source = format!("helm+http://{}//app//values.yaml@1.0.0", site.host());
    world.krmv(&["get", &source, "app"]).assert_code(0);
    world.commit("get");
    let text = world.read("app/values.yaml");
    world.write(
        "app/values.yaml",
        &text.replace("replicas: 1", "replicas: 3 # by load"),
    );
    world.commit("edit");
    world.krmv(&["upgrade", "app"]).assert_code(0);
    // The whole chart has templates, which are not YAML.
    let chart = format!("helm+http://{}//app@1.1.0", site.host());
    world.krmv(&["get", &chart, "chart"]).assert_code(0);
    let review = world.krmv(&["review", "chart"]);
    review.assert_code(0);
    assert!(
        review
            .stderr
            .contains("1 template of a chart: templates/a.yaml"),
        "{}",
        review.stderr
    );
    expect![[r#"
        # replicas
        replicas: 3 # by load

        image:
          tag: b # tag
          pull: Always
    "#]]
    .assert_eq(&world.read("app/values.yaml"));
}

#[test]
fn fetch_prints_what_a_role_takes() {
    let world = World::with_package();
    let site = site(&world);
    world.edit_app();
    let host = site.host();
    for source in [
        format!("http://{host}/o/app/releases/download/v1.1.0/web-1.1.0.tgz"),
        format!("helm+http://{host}/charts//web@1.1.0"),
        format!("oci://{host}/o/web:v1.1.0"),
        "../catalog//web@v1.1.0".to_owned(),
    ] {
        let fetched = world.krmv(&["fetch", &source]);
        fetched.assert_code(0);
        let place = fetched.stdout.trim_end();
        let original = "../catalog//web?ref=v1.0.0";
        let arguments = [
            "merge-package",
            "--package",
            "web",
            "--original",
            original,
            "--upstream",
            place,
            "--diff",
        ];
        let merged = world.krmv(&arguments);
        merged.assert_code(0);
        assert!(
            merged.stdout.contains("+        image: app:2"),
            "{place}: {}{}",
            merged.stdout,
            merged.stderr
        );
    }
}

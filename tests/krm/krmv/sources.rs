//! `krmv` with packages that are released on other machines: release files, charts, images of a registry. The servers are
//! on the loopback address.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::files::upgrade;
use super::{KRMV, SERVICE, World, deployment, hints, on_path, outcome};
use crate::running::Outcome;
use crate::server::{Answer, Asked, End, Server};
use crate::sources::{gz, tar_of};

type Pages = Arc<Mutex<BTreeMap<String, Answer>>>;

/// A server with pages that a test can change.
pub(super) struct Site {
    pub(super) server: Server,
    pages: Pages,
}

impl Site {
    fn new() -> Self {
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

    fn put(&self, path: &str, answer: Answer) {
        let mut pages = self.pages.lock().expect("no panic");
        pages.insert(path.to_owned(), answer);
    }

    fn remove(&self, path: &str) {
        self.pages.lock().expect("no panic").remove(path);
    }

    fn host(&self) -> &str {
        &self.server.host
    }
}

fn digest(bytes: &[u8]) -> String {
    let hex = Sha256::digest(bytes);
    let hex: Vec<String> = hex.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{}", hex.concat())
}

/// The files of each release of [`World::new`].
fn releases() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
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
fn put_image(site: &Site, tag: &str, archive: &[u8]) -> String {
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
fn an_address_of_a_browser_is_a_source_of_git() {
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
            "# replicas\nreplicas: 1\n\nimage:\n  tag: b # tag\n  pull: Always\n",
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
                "{{ .Values.replicas }}\n".to_owned(),
            ),
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
    assert_eq!(
        world.read("app/values.yaml"),
        "# replicas\nreplicas: 3 # by load\n\nimage:\n  tag: b # tag\n  pull: Always\n"
    );
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

/// A package from a source, committed.
fn package(world: &World, source: &str) {
    world.krmv(&["get", source, "web"]).assert_code(0);
    world.commit("get");
}

fn without_cache(world: &World) {
    std::fs::remove_dir_all(world.folder.path("cache")).expect("a cache");
}

fn says(outcome: &Outcome, code: i32, expected: &str) {
    outcome.assert_code(code);
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(text.contains(expected), "expected `{expected}` in: {text}");
    assert!(code == 0 || !hints(&text).is_empty(), "no hint: {text}");
}

#[test]
fn what_goes_wrong_is_an_error_that_changes_nothing() {
    let world = World::new();
    let site = site(&world);
    let url = |path: &str| site.server.url(path);
    let large = vec![b'x'; 1 << 20];
    let whole = || Answer::ok(deployment(1, "a", "1Mi"));
    for (path, answer, expected) in [
        ("/f/missing.yaml", Answer::missing(), "does not exist"),
        ("/f/gone.yaml", Answer::new(410, ""), "does not exist"),
        ("/f/who.yaml", Answer::new(401, ""), "answered 401"),
        ("/f/fail.yaml", Answer::new(500, ""), "answered 500"),
        ("/f/cut.yaml", whole().ending(End::CutOff), "cut off"),
        (
            "/f/loop.yaml",
            Answer::redirect("/f/loop.yaml"),
            "more than 10 redirects",
        ),
        (
            "/f/ftp.yaml",
            Answer::redirect("ftp://127.0.0.1/x"),
            "redirect",
        ),
        (
            "/f/file.yaml",
            Answer::redirect("file:///etc/passwd"),
            "redirect",
        ),
        (
            "/f/large.yaml",
            Answer::ok(large).ending(End::Endless),
            "more than 128 MB",
        ),
        (
            "/f/tar.tgz",
            Answer::ok("no archive"),
            "expected a tar file",
        ),
    ] {
        site.put(path, answer);
        let start = Instant::now();
        let outcome = world.krmv(&["get", &url(path), "new"]);
        says(&outcome, 2, expected);
        assert!(start.elapsed() < Duration::from_secs(60), "{path}");
        assert!(!world.path("new").exists(), "{path}");
    }
    for source in [
        format!("helm+http://{}/none//web", site.host()),
        format!("helm+http://{}/charts//wep", site.host()),
        format!("oci://{}/o/none:v1", site.host()),
        format!("oci://{}/o/web:v9", site.host()),
        format!("oci://{}/o/web//../x:v9", site.host()),
    ] {
        let outcome = world.krmv(&["get", &source, "new"]);
        says(&outcome, 2, "");
        assert!(!world.path("new").exists(), "{source}");
    }
}

#[test]
fn a_release_with_other_bytes_is_reported() {
    let world = World::new();
    let site = site(&world);
    let path = "/o/app/releases/download/v1.0.0/app.yaml";
    package(&world, &site.server.url(path));
    site.put(path, Answer::ok(deployment(1, "evil", "64Mi")));
    says(
        &world.krmv(&["upgrade", "web", "v1.0.0"]),
        2,
        "ReleaseReplaced",
    );
    without_cache(&world);
    let before = world.read("web/app.yaml");
    says(&world.krmv(&["upgrade", "web"]), 2, "ReleaseReplaced");
    assert_eq!(world.read("web/app.yaml"), before);
    let source = site.server.url(path);
    let adopted = world.krmv(&["get", "--adopt", &format!("{source}@v1.0.0"), "web"]);
    adopted.assert_code(0);
    world.commit("adopt");
    world.krmv(&["diff", "web"]).assert_code(0);
}

#[test]
fn a_chart_with_another_digest_is_reported() {
    let world = World::new();
    let site = site(&world);
    package(
        &world,
        &format!("helm+http://{}/charts//web@1.0.0", site.host()),
    );
    let other = gz(&tar_of(&[("web/app.yaml", deployment(1, "evil", "64Mi"))]));
    site.put("/charts/web-1.1.0.tgz", Answer::ok(other.clone()));
    says(
        &world.krmv(&["upgrade", "web", "1.1.0"]),
        2,
        "expected content with the digest",
    );
    // The index has another digest for the locked release.
    let hex = digest(&other).trim_start_matches("sha256:").to_owned();
    let index = format!(
        "entries:\n  web:\n  - version: 1.0.0\n    digest: {hex}\n    urls: [web-1.0.0.tgz]\n"
    );
    site.put("/charts/index.yaml", Answer::ok(index));
    says(&world.krmv(&["upgrade", "web"]), 2, "ReleaseReplaced");
}

#[test]
fn a_tag_that_moved_is_newer_and_the_original_is_read_by_its_digest() {
    let world = World::new();
    let site = site(&world);
    package(&world, &format!("oci://{}/o/web:v1.0.0", site.host()));
    let archive = gz(&tar_of(&[(
        "web/app.yaml",
        deployment(1, "app:1b", "64Mi"),
    )]));
    put_image(&site, "v1.0.0", &archive);
    without_cache(&world);
    let status = world.krmv(&["status", "web"]);
    assert!(
        status.stdout.contains("TagMoved"),
        "{}{}",
        status.stdout,
        status.stderr
    );
    world.krmv(&["upgrade", "web", "v1.1.0"]).assert_code(0);
}

#[test]
fn a_layer_with_other_bytes_is_refused() {
    let world = World::new();
    let site = site(&world);
    let archive = gz(&tar_of(&releases()[0].1));
    site.put(
        &format!("/blobs/{}", digest(&archive)),
        Answer::ok(vec![b'x'; archive.len()]),
    );
    let source = format!("oci://{}/o/web:v1.0.0", site.host());
    says(
        &world.krmv(&["get", &source, "web"]),
        2,
        "expected content with the digest",
    );
    assert!(!world.path("web").exists());
}

#[test]
fn an_index_has_one_image_or_is_refused() {
    let world = World::new();
    let site = site(&world);
    let image = put_image(&site, "x", &gz(&tar_of(&releases()[0].1)));
    let entry = |digest: &str, os: &str| {
        format!(
            "{{\"mediaType\": \"application/vnd.oci.image.manifest.v1+json\", \"digest\": \"{digest}\", \"size\": 1, \
                 \"platform\": {{\"os\": \"{os}\", \"architecture\": \"amd64\"}}}}"
        )
    };
    let index = |entries: &[String]| {
        format!(
            "{{\"schemaVersion\": 2, \"manifests\": [{}]}}",
            entries.join(",")
        )
    };
    let other = digest(b"x");
    site.put(
        "/v2/o/web/manifests/v1.0.0",
        Answer::ok(index(&[entry(&image, "linux"), entry(&other, "unknown")])),
    );
    let source = format!("oci://{}/o/web:v1.0.0", site.host());
    world.krmv(&["get", &source, "web"]).assert_code(0);
    assert!(world.read("web/Kptfile").contains(&image));
    site.put(
        "/v2/o/web/manifests/v1.1.0",
        Answer::ok(index(&[entry(&image, "linux"), entry(&other, "windows")])),
    );
    let source = format!("oci://{}/o/web:v1.1.0", site.host());
    says(
        &world.krmv(&["get", &source, "two"]),
        2,
        "`linux/amd64`, `windows/amd64`",
    );
}

#[test]
fn many_tags_and_endless_pages_are_bounded() {
    let world = World::new();
    let site = site(&world);
    let mut tags: Vec<String> = (0..100_000).map(|at| format!("\"build-{at}x\"")).collect();
    tags.push("\"v1.0.0\"".to_owned());
    tags.push("\"-evil\"".to_owned());
    tags.push("\"../../x\"".to_owned());
    let list = format!("{{\"tags\": [{}]}}", tags.join(","));
    site.put("/v2/o/web/tags/list", Answer::ok(list));
    let source = format!("oci://{}/o/web", site.host());
    let outcome = world.krmv(&["get", &source, "web"]);
    outcome.assert_code(0);
    assert!(outcome.stdout.contains("at v1.0.0"), "{}", outcome.stdout);
    let link = "</v2/o/web/tags/list?n=1000&last=x>; rel=\"next\"";
    let page = Answer::ok("{\"tags\": [\"v1\"]}").with("Link", link);
    site.put("/v2/o/web/tags/list", page.clone());
    site.put("/v2/o/web/tags/list?n=1000&last=x", page);
    says(
        &world.krmv(&["get", &source, "other"]),
        2,
        "more than 200 pages",
    );
}

/// A `curl` that writes down its arguments.
fn recorder(world: &World) -> Option<String> {
    let curl = on_path("curl")?;
    let log = world.folder.path("arguments");
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" \"$(env)\" >> '{}'\nexec '{}' \"$@\"\n",
        log.display(),
        curl.display()
    );
    world.folder.put("bin/curl", script);
    let file = world.folder.path("bin/curl");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let path = std::env::var("PATH").expect("a PATH");
    Some(format!("{}:{path}", world.folder.path("bin").display()))
}

/// All that a run left behind, in files and on its streams.
fn left_behind(world: &World, outcome: &Outcome) -> String {
    let mut text = format!("{}{}", outcome.stdout, outcome.stderr);
    let mut folders = vec![world.folder.path("cache"), world.folder.path("own")];
    folders.push(world.folder.path("arguments"));
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder");
            folders.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if let Ok(bytes) = std::fs::read(&path) {
            text += &String::from_utf8_lossy(&bytes);
        }
    }
    text
}

#[test]
fn a_secret_goes_to_its_host_and_nowhere_else() {
    let world = World::new();
    let Some(path) = recorder(&world) else {
        return;
    };
    let other = Site::new();
    let site = Site::new();
    let host = site.host().to_owned();
    let archive = gz(&tar_of(&releases()[0].1));
    // base64 of me:hunter2
    let basic = "Basic bWU6aHVudGVyMg==";
    other.put("/blob", Answer::ok(archive.clone()));
    let layer = digest(&archive);
    let manifest = format!(
        "{{\"layers\": [{{\"mediaType\": \"application/tar+gzip\", \"digest\": \"{layer}\", \"size\": {}}}]}}",
        archive.len()
    );
    let (elsewhere, own_host) = (other.server.url("/blob"), host.clone());
    let registry = Server::start(move |asked: &Asked| {
        let path = asked.path.split('?').next().unwrap_or_default();
        let who = asked.header("authorization").unwrap_or_default();
        if path == "/token" {
            return if who == basic {
                Answer::ok("{\"token\": \"hunter3\"}")
            } else {
                Answer::new(401, "")
            };
        }
        if who != "Bearer hunter3" {
            let own = asked.header("host").unwrap_or(&own_host).to_owned();
            let challenge = format!("Bearer realm=\"http://{own}/token\",service=\"s\"");
            return Answer::new(401, "").with("WWW-Authenticate", &challenge);
        }
        match path {
            "/v2/o/web/tags/list" => Answer::ok("{\"tags\": [\"v1.0.0\"]}"),
            "/v2/o/web/manifests/v1.0.0" => Answer::ok(manifest.clone()),
            _ if path.starts_with("/v2/o/web/blobs/") => Answer::redirect(&elsewhere),
            _ => Answer::missing(),
        }
    });
    site.put("/private.tgz", Answer::redirect(&other.server.url("/blob")));
    let config = format!(
        "{{\"auths\": {{\"{}\": {{\"auth\": \"bWU6aHVudGVyMg==\"}}}}}}",
        registry.host
    );
    world.folder.put("docker/config.json", config);
    for (source, server) in [
        (
            format!("http://me:hunter2@{host}/private.tgz"),
            &site.server,
        ),
        (format!("oci://{}/o/web:v1.0.0", registry.host), &registry),
    ] {
        let mut command = world.command(Path::new(KRMV));
        command.env("PATH", &path);
        command.env("DOCKER_CONFIG", world.folder.path("docker"));
        command.args(["get", &source, "web"]);
        let outcome = outcome(command);
        outcome.assert_code(0);
        let left = left_behind(&world, &outcome);
        for secret in ["hunter2", "hunter3", "bWU6"] {
            assert!(!left.contains(secret), "{secret}: {left}");
        }
        let sent = server.asked();
        let is_sent = sent
            .iter()
            .any(|asked| asked.header("authorization").is_some());
        assert!(is_sent, "{sent:?}");
        let elsewhere = other.server.asked();
        assert!(!elsewhere.is_empty());
        let none = elsewhere
            .iter()
            .all(|asked| asked.header("authorization").is_none());
        assert!(none, "{elsewhere:?}");
        other.server.forget();
        std::fs::remove_dir_all(world.path("web")).expect("a package");
    }
}

#[test]
fn a_password_in_a_kptfile_is_refused() {
    let world = World::new();
    let site = site(&world);
    let path = "/o/app/releases/download/v1.0.0/app.yaml";
    package(&world, &site.server.url(path));
    let text = world
        .read("web/Kptfile")
        .replace("http://", "http://me:hunter2@");
    world.write("web/Kptfile", &text);
    let outcome = world.krmv(&["status", "web"]);
    says(&outcome, 2, "without a password");
    assert!(!outcome.stderr.contains("hunter2"), "{}", outcome.stderr);
}

#[test]
fn without_curl_the_message_says_what_to_fetch() {
    let world = World::new();
    let site = site(&world);
    let git = on_path("git").expect("git");
    std::fs::create_dir(world.folder.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(git, world.folder.path("bin/git")).expect("a link");
    let source = site.server.url("/files/web-1.0.0.tgz");
    let mut command = world.command(Path::new(KRMV));
    command.env("PATH", world.folder.path("bin"));
    command.args(["get", &source, "web"]);
    let outcome = outcome(command);
    says(&outcome, 2, "cannot find `curl` on PATH");
    assert!(
        outcome.stderr.replace('\n', " ").contains("web-1.0.0.tgz"),
        "{}",
        outcome.stderr
    );
}

#[test]
#[ignore = "waits 30 seconds"]
fn a_server_without_a_byte_is_given_up() {
    let world = World::new();
    let site = Site::new();
    site.put("/slow.yaml", Answer::ok("x").ending(End::Silent(100)));
    let start = Instant::now();
    says(
        &world.krmv(&["get", &site.server.url("/slow.yaml"), "web"]),
        2,
        "30 seconds",
    );
    assert!(start.elapsed() < Duration::from_secs(75));
}

#[test]
fn an_archive_in_the_work_tree_is_recorded_for_every_clone() {
    let world = World::new();
    for (version, files) in releases() {
        let file = world.path(&format!("charts/web-{version}.tgz"));
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, gz(&tar_of(&files))).expect("a file");
    }
    world
        .krmv(&["get", "charts/web-1.0.0.tgz", "deep/web"])
        .assert_code(0);
    let kptfile = world.read("deep/web/Kptfile");
    assert!(
        kptfile.contains("upstream-source: ../../charts/web-1.0.0.tgz"),
        "{kptfile}"
    );
    world
        .krmv(&["get", "charts/web-1.0.0.tgz", "deep/web"])
        .assert_code(0);
    world.commit("get");
    world
        .folder
        .git_in("", &["clone", "--quiet", "own", "colleague"]);
    std::fs::rename(world.folder.path("own"), world.folder.path("laptop")).expect("a move");
    world
        .krmv_in("colleague", &["status", "deep/web"])
        .assert_code(3);
    let text = world.folder.get("colleague/deep/web/app.yaml");
    world.folder.put(
        "colleague/deep/web/app.yaml",
        text.replace("replicas: 1", "replicas: 5"),
    );
    world
        .folder
        .git_in("colleague", &["commit", "--quiet", "-am", "edit"]);
    world
        .krmv_in("colleague", &["upgrade", "deep/web"])
        .assert_code(1);
    let kptfile = world.folder.get("colleague/deep/web/Kptfile");
    assert!(kptfile.contains("../../charts/web-2.0.0.tgz"), "{kptfile}");
    // The open upgrade goes on in yet another clone.
    world
        .folder
        .git_in("colleague", &["commit", "--quiet", "-am", "open"]);
    world
        .folder
        .git_in("", &["clone", "--quiet", "colleague", "third"]);
    std::fs::rename(world.folder.path("colleague"), world.folder.path("gone")).expect("a move");
    world
        .krmv_in("third", &["resolve", "deep/web", "--take", "upstream"])
        .assert_code(0);
    world
        .krmv_in("third", &["status", "deep/web"])
        .assert_code(0);
}

/// A program that ends with the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(world: &World, program: &str, arguments: &[&str]) {
    let mut command = world.command(Path::new(program));
    command.current_dir(world.folder.path("")).args(arguments);
    outcome(command).assert_code(0);
}

/// A registry of `crane`, and its address.
fn registry(world: &World) -> (Running, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let mut command = world.command(Path::new("crane"));
    command.args(["registry", "serve", "--address", &address]);
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let running = Running(command.spawn().expect("crane runs"));
    let start = Instant::now();
    while std::net::TcpStream::connect(&address).is_err() {
        assert!(start.elapsed() < Duration::from_secs(30), "no registry");
        std::thread::sleep(Duration::from_millis(50));
    }
    (running, address)
}

#[test]
#[ignore = "runs helm and crane, where they are on PATH"]
fn charts_of_the_real_helm_come_from_its_repository_and_from_a_real_registry() {
    if on_path("helm").is_none() || on_path("crane").is_none() {
        return;
    }
    let world = World::new();
    let (_running, registry) = registry(&world);
    run(&world, "helm", &["create", "app"]);
    for (version, replicas) in [("1.0.0", 1), ("1.1.0+k3s1", 2)] {
        let chart = world.folder.get("app/Chart.yaml");
        let lines = chart
            .lines()
            .map(|line| match line.strip_prefix("version:") {
                Some(_) => format!("version: {version}\n"),
                None => format!("{line}\n"),
            });
        world
            .folder
            .put("app/Chart.yaml", lines.collect::<String>());
        let values = world.folder.get("app/values.yaml");
        let lines = values
            .lines()
            .map(|line| match line.strip_prefix("replicaCount:") {
                Some(_) => format!("replicaCount: {replicas}\n"),
                None => format!("{line}\n"),
            });
        world
            .folder
            .put("app/values.yaml", lines.collect::<String>());
        run(
            &world,
            "helm",
            &["package", "app", "--destination", "repository"],
        );
        let archive = format!("repository/app-{version}.tgz");
        let target = format!("oci://{registry}/charts");
        run(&world, "helm", &["push", &archive, &target, "--plain-http"]);
    }
    run(&world, "helm", &["repo", "index", "repository"]);
    let site = Site::new();
    for entry in std::fs::read_dir(world.folder.path("repository")).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        let bytes = std::fs::read(entry.path()).expect("a file");
        site.put(&format!("/{name}"), Answer::ok(bytes));
    }
    let mut found = Vec::new();
    for (name, source) in [
        ("helm", format!("helm+http://{}//app", site.host())),
        ("oci", format!("oci://{registry}/charts/app")),
    ] {
        world
            .krmv(&["get", &format!("{source}@1.0.0"), name])
            .assert_code(0);
        world.commit(name);
        let values = world.read(&format!("{name}/values.yaml"));
        let values = values.replace("tag: \"\"", "tag: \"9\" # pinned");
        world.write(&format!("{name}/values.yaml"), &values);
        world.commit("edit");
        let upgraded = world.krmv(&["upgrade", name]);
        upgraded.assert_code(0);
        assert!(
            upgraded.stdout.contains("1.1.0+k3s1"),
            "{}",
            upgraded.stdout
        );
        let values = world.read(&format!("{name}/values.yaml"));
        assert!(
            values.contains("replicaCount: 2") && values.contains("# pinned"),
            "{values}"
        );
        found.push((
            values,
            world.read(&format!("{name}/templates/deployment.yaml")),
        ));
        world.krmv(&["status", name, "--offline"]).assert_code(0);
    }
    assert_eq!(found[0], found[1]);
}

#[test]
fn a_copy_of_a_release_file_is_adopted_by_its_content() {
    let world = World::new();
    let site = site(&world);
    let copy = deployment(1, "app:2", "64Mi").replace("64Mi", "512Mi # more");
    std::fs::create_dir(world.path("copy")).expect("a folder");
    world.write("copy/mine.yaml", &copy);
    world.commit("copy");
    // The address says which file it is, and not which release.
    let source = site.server.url("/o/app/releases/download/v2.0.0/app.yaml");
    let adopted = world.krmv(&["get", "--adopt", &source, "copy"]);
    adopted.assert_code(0);
    assert!(
        adopted.stdout.contains("made from v1.1.0"),
        "{}",
        adopted.stdout
    );
    assert_eq!(world.read("copy/mine.yaml"), copy);
    world.commit("adopt");
    let status = world.json(&["status", "copy"]);
    assert_eq!(status["packages"][0]["edits"], 1, "{status}");
    // Two releases are alike in what the copy has.
    std::fs::create_dir(world.path("both")).expect("a folder");
    world.write(
        "both/app.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: other\n",
    );
    says(
        &world.krmv(&["get", "--adopt", &source, "both"]),
        2,
        "cannot tell which release",
    );
    assert!(!world.path("both/Kptfile").exists());
}

#[test]
fn a_blame_names_the_releases_in_the_cache() {
    let world = World::new();
    let site = site(&world);
    package(
        &world,
        &format!("helm+http://{}/charts//web@1.0.0", site.host()),
    );
    world.edit_app();
    world.krmv(&["upgrade", "web", "1.1.0"]).assert_code(0);
    world.commit("upgrade");
    let blame = world.krmv(&["blame", "web/app.yaml"]);
    blame.assert_code(0);
    let line = |field: &str| {
        let mut lines = blame.stdout.lines();
        let found = lines.find(|line| line.contains(field));
        found
            .unwrap_or_else(|| panic!("{field}: {}", blame.stdout))
            .to_owned()
    };
    assert!(line("image").contains("upstream 1.1.0"), "{}", blame.stdout);
    assert!(
        line("metadata.name").contains("upstream 1.0.0"),
        "{}",
        blame.stdout
    );
    assert!(
        line("spec.replicas").contains(": edits"),
        "{}",
        blame.stdout
    );
    // Another machine has the locked release alone.
    without_cache(&world);
    world
        .krmv(&[
            "fetch",
            &format!("helm+http://{}/charts//web@1.1.0", site.host()),
        ])
        .assert_code(0);
    let blame = world.krmv(&["blame", "web/app.yaml", "metadata.name"]);
    assert!(
        blame.stdout.contains("or earlier"),
        "{}{}",
        blame.stdout,
        blame.stderr
    );
}

//! What goes wrong with packages that are released on other machines, and what an upgrade does on another machine.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::sources::{Site, digest, put_image, releases, site};
use super::{KRMV, World, deployment, hints, on_path, outcome};
use crate::running::Outcome;
use crate::server::{Answer, Asked, End, Server};
use crate::sources::{gz, tar_of};

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
fn every_fault_is_an_error_that_changes_nothing() {
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
        (
            "/f/page.yaml",
            Answer::ok("\n<!DOCTYPE html>\n<html></html>\n"),
            "found a web page",
        ),
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
fn the_hint_of_a_replaced_release_accepts_its_new_bytes() {
    let new = deployment(1, "app:1", "128Mi");
    let archive = gz(&tar_of(&[
        ("web/Chart.yaml", "name: web\n".to_owned()),
        ("web/crds/app.yaml", new.clone()),
    ]));
    for (source, path) in [
        ("http://HOST/o/app/releases/download/v1.0.0/app.yaml", ""),
        ("http://HOST/files/only-1.yaml", ""),
        ("http://HOST/files/{version}.yaml@v1.0.0", ""),
        ("http://HOST/files/only-1.tgz//crds", ""),
        ("helm+http://HOST/charts//only@1.0.0", "crds/app.yaml"),
        ("helm+http://HOST/charts//only//crds@1.0.0", "app.yaml"),
    ] {
        let world = World::new();
        let site = site(&world);
        let text = |version: &str| deployment(1, version, "64Mi");
        let old = gz(&tar_of(&[
            ("web/Chart.yaml", "name: web\n".to_owned()),
            ("web/crds/app.yaml", text("app:0")),
        ]));
        site.put("/files/only-1.yaml", Answer::ok(text("app:0")));
        site.put("/files/1.0.0.yaml", Answer::ok(text("app:0")));
        site.put("/files/only-1.tgz", Answer::ok(old.clone()));
        site.put("/charts/only-1.0.0.tgz", Answer::ok(old));
        let index = "entries:\n  only:\n  - version: 1.0.0\n    urls: [only-1.0.0.tgz]\n";
        site.put("/charts/index.yaml", Answer::ok(index));
        let source = source.replace("HOST", site.host());
        let tags = site.server.url("/o/app");
        let mut get = vec!["get", &source, "web"];
        if source.contains('{') {
            get.extend(["--tags", &tags]);
        }
        world.krmv(&get).assert_code(0);
        world.commit("get");
        for place in [
            "/o/app/releases/download/v1.0.0/app.yaml",
            "/files/only-1.yaml",
            "/files/1.0.0.yaml",
        ] {
            site.put(place, Answer::ok(new.clone()));
        }
        site.put("/files/only-1.tgz", Answer::ok(archive.clone()));
        site.put("/charts/only-1.0.0.tgz", Answer::ok(archive.clone()));
        without_cache(&world);
        let status = world.krmv(&["status", "web"]);
        says(&status, 2, "ReleaseReplaced");
        let printed = format!("{}{}", status.stdout, status.stderr);
        for hint in hints(&printed) {
            world.shell(hint).assert_code(0);
        }
        world.commit("adopt");
        let after = world.json(&["status", "web"]);
        let package = &after["packages"][0];
        assert!(package["problem"].is_null(), "{source}: {after}");
        assert!(package["edits"].as_u64() > Some(0), "{source}: {after}");
        assert!(path.is_empty() || world.path("web").join(path).exists());
    }
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
fn a_silent_server_is_an_error() {
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
    for (version, replicas) in [("1.0.0+k3s1", 1), ("1.1.0+k3s2", 2)] {
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
            .krmv(&["get", &format!("{source}@1.0.0+k3s1"), name])
            .assert_code(0);
        world.commit(name);
        let values = world.read(&format!("{name}/values.yaml"));
        let values = values.replace("tag: \"\"", "tag: \"9\" # pinned");
        world.write(&format!("{name}/values.yaml"), &values);
        world.commit("edit");
        let upgraded = world.krmv(&["upgrade", name]);
        upgraded.assert_code(0);
        assert!(
            upgraded.stdout.contains("1.1.0+k3s2"),
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
    let source = format!("helm+http://{}/charts//web@1.1.0", site.host());
    world.krmv(&["get", &source, "other"]).assert_code(0);
    world.commit("other");
    let blame = world.krmv(&["blame", "other/app.yaml", "metadata.name"]);
    assert!(
        blame.stdout.contains("upstream 1.1.0 or earlier"),
        "{}{}",
        blame.stdout,
        blame.stderr
    );
}

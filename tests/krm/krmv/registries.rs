//! `krmv` with real registries, and with what real programs push into them. Each test runs with the programs that are on
//! PATH.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::files::upgrade;
use super::sources::releases;
use super::{World, on_path, outcome};

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(world: &World, folder: &str, program: &str, arguments: &[&str]) {
    let mut command = world.command(Path::new(program));
    let folder = world.folder.path(folder);
    command.current_dir(folder).args(arguments);
    command.env("HOME", world.folder.path(""));
    outcome(command).assert_code(0);
}

/// A registry of one of these programs, and its address.
fn registry(world: &World, program: &str) -> (Running, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let (host, port) = (address.ip(), address.port());
    let address = address.to_string();
    let mut command = world.command(Path::new(program));
    match program {
        "crane" => command.args(["registry", "serve", "--address", &address]),
        // The program of `distribution`.
        "registry" => {
            let root = world.folder.path("registry");
            let config = format!(
                "version: 0.1\nlog: {{level: error}}\nstorage:\n  filesystem: {{rootdirectory: {}}}\nhttp:\n  addr: \
                 {address}\n",
                root.display()
            );
            world.folder.put("registry.yml", config);
            let config = world.folder.path("registry.yml");
            command.arg("serve").arg(config)
        }
        _ => {
            let root = world.folder.path("zot");
            let config = format!(
                "{{\"distSpecVersion\": \"1.1.0\", \"storage\": {{\"rootDirectory\": \"{}\"}}, \"http\": {{\"address\": \
                 \"{host}\", \"port\": \"{port}\"}}, \"log\": {{\"level\": \"error\"}}}}",
                root.display()
            );
            world.folder.put("zot.json", config);
            command.arg("serve").arg(world.folder.path("zot.json"))
        }
    };
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(command.spawn().expect("it runs"));
    let start = Instant::now();
    while std::net::TcpStream::connect(&address).is_err() {
        assert!(start.elapsed() < Duration::from_secs(60), "no registry");
        std::thread::sleep(Duration::from_millis(50));
    }
    (running, address)
}

/// Pushes a release of the package.
fn push(world: &World, program: &str, registry: &str, version: &str) {
    let folder = format!("pushed/{version}");
    match program {
        "oras" => {
            let target = format!("{registry}/o/oras:v{version}");
            run(
                world,
                &folder,
                "oras",
                &["push", "--plain-http", &target, "web"],
            );
        }
        "flux" => {
            let target = format!("oci://{registry}/o/flux:v{version}");
            let path = ["push", "artifact", &target, "--path=./web"];
            let about = [
                "--source=https://e.com",
                "--revision=1",
                "--insecure-registry",
            ];
            run(world, &folder, "flux", &[&path[..], &about].concat());
        }
        _ => {
            let archive = format!("helm-{version}.tgz");
            let chart = format!("apiVersion: v2\nname: helm\nversion: {version}\n");
            world.folder.put(&format!("{folder}/web/Chart.yaml"), chart);
            run(world, &folder, "helm", &["package", "web"]);
            let target = format!("oci://{registry}/o");
            run(
                world,
                &folder,
                "helm",
                &["push", &archive, &target, "--plain-http"],
            );
        }
    }
}

#[test]
#[ignore = "runs zot, registry, crane, oras, flux and helm, where they are on PATH"]
fn packages_of_real_registries_are_followed() {
    let mut expected = None;
    for serving in ["crane", "registry", "zot"] {
        for pushing in ["oras", "flux", "helm"] {
            if on_path(serving).is_none() || on_path(pushing).is_none() {
                continue;
            }
            let world = World::new();
            let (_running, address) = registry(&world, serving);
            for (version, files) in releases() {
                for (path, text) in files {
                    world.folder.put(&format!("pushed/{version}/{path}"), text);
                }
                push(&world, pushing, &address, version);
            }
            let sign = if pushing == "helm" { "" } else { "v" };
            let source = format!("oci://{address}/o/{pushing}@{sign}1.0.0");
            let files = upgrade(&world, &[&source, "web"], &format!("{sign}1.1.0"));
            let review = world.krmv(&["review", "web", "--from", "lock"]);
            review.assert_code(0);
            assert_eq!(*expected.get_or_insert_with(|| files.clone()), files);
            world.krmv(&["status", "web", "--offline"]).assert_code(0);
        }
    }
    assert!(expected.is_some() || on_path("oras").is_none() || on_path("crane").is_none());
}

//! Variants and fleets whose upstreams are archives and image layouts.

use super::{archive, files, gz, resource};
use crate::git::{Folder, KPTFILE};
use crate::running::function;

fn render_variant() -> &'static str {
    function("render-variant")
}
fn render_fleet() -> &'static str {
    function("render-fleet")
}

fn variant(revision: &str) -> String {
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: web\n  namespace: default\nspec:\n  \
         upstream: {{repo: catalog, package: app, revision: {revision}}}\n  downstream: {{repo: fleet, package: web}}\n"
    )
}

/// The archive of a version with a Kptfile.
fn with_kptfile(version: usize) -> Vec<u8> {
    let mut files = files(version);
    files.push(("Kptfile".to_owned(), KPTFILE.to_owned()));
    let files = files.iter();
    let files: Vec<(&str, String)> = files
        .map(|(path, text)| (path.as_str(), text.clone()))
        .collect();
    super::tar_of(&files)
}

fn edit(folder: &Folder, package: &str) {
    let text = folder.get(&format!("{package}/a.yaml"));
    let text = text.replace("own: \"0\"", "own: \"mine\"");
    folder.put(&format!("{package}/a.yaml"), text);
}

fn check(folder: &Folder, package: &str, version: usize, own: &str) {
    let text = folder.get(&format!("{package}/a.yaml"));
    let data = format!("  version: \"{version}\"\n  own: \"{own}\" # own\n");
    assert!(text.contains(&data), "{text}");
    // A clone has the files that `.krmignore` names, too.
    assert!(folder.path(package).join("ignored.yaml").exists());
}

#[test]
fn a_variant_is_created_from_an_archive_and_updated() {
    let folder = Folder::new(&[]);
    let render = |version: usize| {
        let name = format!("app-{version}.tgz");
        folder.put(&name, gz(&with_kptfile(version)));
        folder.put("variant.yaml", variant(&format!("v{version}")));
        let outcome = folder.run(
            render_variant(),
            &[
                "--package",
                "local",
                "--config",
                "variant.yaml",
                "--upstream",
                &name,
            ],
        );
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let ready = format!("rendered from `{name}`, digest sha256:");
        assert!(outcome.stderr.contains(&ready), "{}", outcome.stderr);
    };
    render(1);
    check(&folder, "local", 1, "0");
    edit(&folder, "local");
    for version in [1, 2, 3] {
        render(version);
        check(&folder, "local", version, "mine");
        let source = format!("fn.kpt.dev/upstream-source: app-{version}.tgz\n");
        assert!(folder.get("local/Kptfile").contains(&source));
    }
}

#[test]
fn a_catalog_has_archives_or_an_image_layout() {
    for is_layout in [false, true] {
        let folder = Folder::new(&[]);
        let add = |version: usize| {
            if is_layout {
                super::images::layout(
                    &folder,
                    "c/app",
                    &format!("{version}.0.0"),
                    &with_kptfile(version),
                );
            } else {
                folder.put(
                    &format!("c/app/app-{version}.0.0.tgz"),
                    gz(&with_kptfile(version)),
                );
            }
        };
        folder.put("variants/web.yaml", variant("latest"));
        for version in 1..4 {
            add(version);
            let arguments = "--package fleet --variants variants --catalog catalog=c";
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let outcome = folder.run(render_fleet(), &arguments);
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let own = if version == 1 { "0" } else { "mine" };
            check(&folder, "fleet/fleet/web", version, own);
            edit(&folder, "fleet/fleet/web");
            let kptfile = folder.get("fleet/fleet/web/Kptfile");
            assert!(
                kptfile.contains(&format!("ref: {version}.0.0\n")),
                "{kptfile}"
            );
            assert!(!kptfile.contains("upstream-source"), "{kptfile}");
        }
    }
}

#[test]
fn archives_that_are_changed_at_random_end_in_an_error_or_a_package() {
    let folder = Folder::new(&[]);
    folder.put("v1.tar", archive("", 1));
    folder.put("local/a.yaml", resource("a", 1, "mine"));
    let mut state: u64 = 39;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    for number in 0..60 {
        let mut bytes = archive("", 2);
        let is_packed = number % 2 == 0;
        if is_packed {
            bytes = gz(&bytes);
        }
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            bytes[at] = u8::try_from(random(256)).expect("a byte");
        }
        bytes.truncate(bytes.len() - random(300));
        let name = if is_packed { "v2.tgz" } else { "v2.tar" };
        folder.put(name, bytes);
        let outcome = folder.merge(&["--original", "v1.tar", "--upstream", name, "--check"]);
        assert!(
            matches!(outcome.code, Some(0..=3)),
            "{number}: {}",
            outcome.stderr
        );
    }
}

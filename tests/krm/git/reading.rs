//! Which repositories, revisions and files are read.

use krm_package::{Package, SkipReason, read_package};
use krm_upstream::git::{GitError, GitSource, Repository, Snapshot};

use super::{Folder, KPTFILE, catalog, files_in, map};

fn source(folder: &Folder, repository: &str, directory: &str, revision: &str) -> GitSource {
    GitSource {
        repository: folder.path(repository),
        directory: directory.to_owned(),
        revision: revision.to_owned(),
    }
}

fn read(source: &GitSource) -> Result<Snapshot, GitError> {
    let repository = Repository::open(&source.repository)?;
    let revision = repository.resolve(&source.directory, &source.revision)?;
    repository.read(&source.directory, revision)
}

/// The value of `a`, which tells the version.
fn version(folder: &Folder, repository: &str, revision: &str) -> Result<String, GitError> {
    let snapshot = read(&source(folder, repository, "nginx", revision))?;
    let file = snapshot.package.get("cm.yaml").expect("the file");
    let text = file.krm().expect("a text");
    let value = text
        .split("a: \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    Ok(value.expect("a value").to_owned())
}

#[test]
fn every_form_of_a_revision() {
    let folder = catalog(&[]);
    folder.git(&["branch", "feature/x", "v2"]);
    let first = folder.git(&["rev-parse", "v1^{commit}"]);
    let short = &first[..9];
    for (revision, expected) in [
        ("v1", "1"),
        ("v2", "2"),
        ("v3", "3"),
        ("nginx/v3", "3"),
        ("refs/tags/v2", "2"),
        ("main", "3"),
        ("feature/x", "2"),
        ("heads/feature/x", "2"),
        ("HEAD", "3"),
        ("@", "3"),
        ("HEAD~1", "2"),
        ("main^^", "1"),
        ("v2^0", "2"),
        ("v1^{commit}", "1"),
        ("v1^{}", "1"),
        (":/v2", "2"),
        (&first, "1"),
        (short, "1"),
    ] {
        let found = version(&folder, "catalog", revision).map_err(|error| error.to_string());
        assert_eq!(found.as_deref(), Ok(expected), "{revision}");
    }
}

#[test]
fn every_form_of_a_repository() {
    let folder = catalog(&[]);
    let clone = |options: &[&str], from: &str, name: &str| {
        let arguments = [&["clone", "--quiet"], options, &[from, name]].concat();
        folder.git_in("", &arguments);
    };
    let url = format!("file://{}", folder.path("catalog").display());
    clone(&["--mirror"], "catalog", "mirror.git");
    clone(&["--bare"], &url, "packed.git");
    clone(&["--shared"], "catalog", "alternates");
    clone(&["--depth=1", "--branch=v2"], &url, "shallow");
    clone(&["--bare", "--filter=tree:0"], &url, "filtered.git");
    folder.git(&["worktree", "add", "--quiet", "../linked", "v1"]);
    folder.git_in("packed.git", &["gc", "--quiet", "--aggressive"]);
    assert!(folder.path("packed.git/packed-refs").exists());
    for repository in [
        "catalog",
        "catalog/.git",
        "mirror.git",
        "packed.git",
        "alternates",
        "shallow",
        "linked",
    ] {
        let found = version(&folder, repository, "v2").map_err(|error| error.to_string());
        assert_eq!(found.as_deref(), Ok("2"), "{repository}");
    }
    // HEAD of a linked work tree is its own.
    assert_eq!(version(&folder, "linked", "HEAD").expect("HEAD"), "1");
    let error = version(&folder, "shallow", "HEAD~1").expect_err("cut off");
    assert!(
        error.to_string().contains("no revision `HEAD~1`"),
        "{error}"
    );
}

#[test]
fn the_working_directory_is_a_repository_too() {
    let folder = catalog(&[]);
    folder.put("catalog/local/Kptfile", KPTFILE);
    let merge = ["--package", "local", "--original", ".//nginx?ref=v1"];
    let mut command = std::process::Command::new(super::merge_package());
    command.current_dir(folder.path("catalog")).args(merge);
    command.args(["--upstream", ".//nginx?ref=v2", "--diff"]);
    let outcome = super::outcome(command, "");
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

#[test]
fn repositories_with_sha_256() {
    let folder = catalog(&["--object-format=sha256"]);
    assert_eq!(version(&folder, "catalog", "v1").expect("v1"), "1");
    let main = folder.git(&["rev-parse", "main"]);
    assert_eq!(main.len(), 64);
    let snapshot = read(&source(&folder, "catalog", "nginx", "main")).expect("main");
    assert_eq!(snapshot.revision.commit, main);
}

#[test]
fn a_package_has_its_own_versions() {
    let folder = Folder::new(&[]);
    folder.put("catalog/a/b/cm.yaml", map("1", "0"));
    let first = folder.commit("first");
    folder.git(&["tag", "a/b/v1"]);
    folder.put("catalog/a/b/cm.yaml", map("2", "0"));
    let second = folder.commit("second");
    folder.git(&["tag", "a/v1"]);
    folder.git(&["tag", "a/v2"]);
    folder.put("catalog/a/b/cm.yaml", map("3", "0"));
    let third = folder.commit("third");
    for tag in ["v1", "v2", "v3"] {
        folder.git(&["tag", tag]);
    }
    let repository = Repository::open(&folder.path("catalog")).expect("a repository");
    for (directory, revision, commit, lock) in [
        ("a/b", "v1", &first, "a/b/v1"),
        // kpt looks for tags of the folders around it, too.
        ("a/b", "v2", &second, "a/v2"),
        ("a/b", "v3", &third, "v3"),
        ("a", "v1", &second, "a/v1"),
        ("", "v1", &third, "v1"),
        ("a/b", "a/b/v1", &first, "a/b/v1"),
    ] {
        let found = repository.resolve(directory, revision).expect(revision);
        let names = (found.upstream_ref.as_str(), found.lock_ref.as_str());
        assert_eq!(
            (&found.commit, names),
            (commit, (revision, lock)),
            "{directory} {revision}"
        );
    }
}

#[test]
fn a_kptfile_refers_to_what_others_can_fetch() {
    let folder = catalog(&[]);
    folder.git_in("", &["clone", "--quiet", "catalog", "clone"]);
    let repository = Repository::open(&folder.path("clone")).expect("a repository");
    let main = folder.git(&["rev-parse", "main"]);
    let first = folder.git(&["rev-parse", "v1^{commit}"]);
    for (revision, expected) in [
        ("main", "main"),
        ("origin/main", "main"),
        ("HEAD", &main),
        ("HEAD~2", &first),
        (&first[..8], &first),
        (&first, &first),
        ("v1", "v1"),
        ("refs/tags/v1", "v1"),
        ("tags/v1", "v1"),
        ("refs/heads/main", "main"),
        ("heads/main", "main"),
        ("refs/remotes/origin/main", "main"),
        ("remotes/origin/main", "main"),
    ] {
        let found = repository.resolve("nginx", revision).expect(revision);
        assert_eq!(found.lock_ref, expected, "{revision}");
        assert_eq!(found.upstream_ref, expected, "{revision}");
    }
}

#[test]
fn a_tag_takes_precedence_over_a_branch_of_its_name() {
    let folder = catalog(&[]);
    folder.git(&["tag", "both", "v2"]);
    folder.git(&["branch", "both", "v1"]);
    assert_eq!(version(&folder, "catalog", "both").expect("both"), "2");
    // In a Kptfile `both` would say neither.
    let repository = Repository::open(&folder.path("catalog")).expect("a repository");
    for revision in ["refs/tags/both", "refs/heads/both"] {
        let found = repository.resolve("nginx", revision).expect(revision);
        assert_eq!(found.lock_ref, found.commit, "{revision}");
        assert!(!found.is_ambiguous, "{revision}");
    }
    folder.put("local/cm.yaml", map("1", "0"));
    let outcome = folder.merge(&[
        "--original",
        "catalog//nginx?ref=v1",
        "--upstream",
        "catalog//nginx?ref=both",
        "--check",
    ]);
    assert_eq!(outcome.code, Some(3));
    assert!(
        outcome.stderr.contains("(AmbiguousRevision)"),
        "{}",
        outcome.stderr
    );
    // At one commit it does not matter.
    folder.git(&["branch", "--force", "both", "refs/tags/both"]);
    let repository = Repository::open(&folder.path("catalog")).expect("a repository");
    assert!(
        !repository
            .resolve("nginx", "both")
            .expect("both")
            .is_ambiguous
    );
}

/// A tree is read as its checkout is: which files, `.krmignore`, links, modes.
#[test]
fn a_tree_is_read_as_its_checkout() {
    let folder = Folder::new(&[]);
    for (path, text) in [
        ("Kptfile", KPTFILE),
        ("cm.yaml", "a: b\r\n"),
        (".hidden/a.yml", "{}"),
        ("README.md", "text"),
        ("bin/logo.png", "\u{0}png"),
        ("shared.txt", "apiVersion: v1\n"),
        (".krmignore", "ignored/\n*.skip.yaml\n"),
        ("ignored/a.yaml", "a"),
        ("x.skip.yaml", "a"),
        ("sub/Kptfile", KPTFILE),
        ("sub/x.skip.yaml", "not ignored"),
        ("sub/.krmignore", "y.yaml\n"),
        ("sub/y.yaml", "a"),
        ("deep/er/c.json", "{}"),
    ] {
        folder.put(&format!("catalog/pkg/{path}"), text);
    }
    folder.put("catalog/outside.yaml", "a: b\n");
    folder.put("catalog/run.yaml", "");
    let link = |to: &str, path: &str| {
        let path = folder.path(&format!("catalog/pkg/{path}"));
        std::os::unix::fs::symlink(to, path).expect("a link");
    };
    link("shared.txt", "shared.yaml");
    link("cm.yaml", "again.yaml");
    link("deep/er/../../shared.txt", "second.yaml");
    link("../../pkg/deep/er/d.txt", "deep/back.yaml");
    link("../outside.yaml", "out.yaml");
    link("../../outside.yaml", "further.yaml");
    link("/etc/passwd.yaml", "absolute.yaml");
    link("nothing.yaml", "dangling.yaml");
    link("circle.yaml", "circle.yaml");
    link("deep", "folder.yaml");
    link("deep", "folder");
    link("README.md", "other");
    link("cm.yaml/x", "through.yaml");
    link("folder/er/c.json", "by-folder.json");
    folder.put("catalog/pkg/deep/er/d.txt", "d: 1\n");
    folder.put("catalog/pkg/run.sh", "#!/bin/sh\n");
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    for file in ["run.sh", "cm.yaml"] {
        let path = folder.path(&format!("catalog/pkg/{file}"));
        std::fs::set_permissions(path, mode.clone()).expect("a mode");
    }
    folder.commit("all");
    let on_disk = read_package(&folder.path("catalog/pkg")).expect("the checkout");
    let snapshot = read(&source(&folder, "catalog", "pkg", "main")).expect("the tree");

    let files = |package: &Package| {
        let seen = package.files().map(|(path, file)| {
            let executable = file.mode.expect("a mode") & 0o100;
            let bytes = package.read(path).expect("a file").into_owned();
            (path.to_owned(), file.krm().is_some(), bytes, executable)
        });
        seen.collect::<Vec<_>>()
    };
    assert_eq!(files(&snapshot.package), files(&on_disk));
    assert!(snapshot.package.get("deep/back.yaml").is_some());
    // Where an absolute link leads is a matter of the machine.
    let known = |reason| match reason {
        SkipReason::DanglingLink | SkipReason::LinkOutOfPackage => SkipReason::LinkOutOfPackage,
        other => other,
    };
    let skipped = |all: &[krm_package::Skipped]| {
        let one = |s: &krm_package::Skipped| (s.path.clone(), known(s.reason));
        all.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(
        skipped(&snapshot.package.skipped),
        skipped(&on_disk.skipped)
    );
}

#[test]
fn submodules_and_lfs_pointers_are_skipped_with_a_warning() {
    let folder = catalog(&[]);
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n";
    folder.put("catalog/nginx/large.bin", pointer);
    folder.put("catalog/nginx/large.yaml", pointer);
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/cm.yaml", map("1", "0"));
    folder.put("local/large.bin", "the file itself");
    folder.commit("pointers");
    let commit = folder.git(&["rev-parse", "HEAD"]);
    let entry = format!("160000,{commit},nginx/module");
    folder.git(&["update-index", "--add", "--cacheinfo", &entry]);
    folder.git(&["commit", "--quiet", "-m", "a submodule"]);
    let outcome = folder.merge(&[
        "--original",
        "catalog//nginx?ref=v1",
        "--upstream",
        "catalog//nginx?ref=main",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for expected in [
        "[warning] large.bin:",
        "[warning] large.yaml:",
        "[warning] module:",
        "a Git LFS pointer",
        "a submodule",
    ] {
        assert!(
            outcome.stderr.contains(expected),
            "{expected}: {}",
            outcome.stderr
        );
    }
    assert_eq!(folder.get("local/large.bin"), "the file itself");
    assert!(!folder.path("local/large.yaml").exists());
}

#[test]
fn nothing_is_written_to_a_repository() {
    let folder = catalog(&[]);
    folder.put("local/cm.yaml", map("1", "0"));
    let before = files_in(&folder.path("catalog"));
    let upstream = [
        "--original",
        "catalog//nginx?ref=v1",
        "--upstream",
        "catalog//nginx?ref=v2",
    ];
    assert_eq!(folder.merge(&upstream).code, Some(0));
    assert_eq!(files_in(&folder.path("catalog")), before);
}

/// The other roles take revisions as well.
#[test]
fn every_role_takes_a_revision() {
    let folder = catalog(&[]);
    let patch = "target: {kind: ConfigMap}\npatch:\n  data:\n    b: \"9\"\n";
    folder.put("catalog/patches/p.yaml", patch);
    folder.put(
        "catalog/pv/cm.yaml",
        map("7", "7").replace("name: cm", "name: point"),
    );
    folder.commit("patches");
    folder.put("local/Kptfile", KPTFILE);
    folder.put("local/cm.yaml", map("1", "0"));
    let run = |binary: &str, arguments: &[&str]| {
        let mut all = vec!["--package", "local"];
        all.extend(arguments);
        let outcome = folder.run(binary, &all);
        assert_eq!(outcome.code, Some(0), "{binary}: {}", outcome.stderr);
        outcome.stdout
    };
    let apply_patch = crate::running::function("apply-patch");
    let stdout = run(
        apply_patch,
        &["--patches", "catalog//patches?ref=main", "--diff"],
    );
    assert!(stdout.contains("+  b: \"9\""), "{stdout}");
    let apply_config = crate::running::function("apply-config");
    let live = "catalog//nginx?ref=v2";
    let stdout = run(
        apply_config,
        &["--live", live, "--original", live, "--diff"],
    );
    assert!(stdout.contains("-  a: \"2\""), "{stdout}");
    let create_patch = crate::running::function("create-patch");
    let stdout = run(create_patch, &["--live", live, "--original", live]);
    assert!(stdout.contains("a: \"1\""), "{stdout}");
    let inject = "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\nmetadata: {name: i}\ninjectors: [{name: point}]\n";
    folder.put("inject.yaml", inject);
    let text = folder.get("local/cm.yaml");
    let point = "\n  annotations: {kpt.dev/config-injection: required}\ndata:\n";
    folder.put("local/cm.yaml", text.replacen("\ndata:\n", point, 1));
    let inject_config = crate::running::function("inject-config");
    let resources = "catalog//pv?ref=main";
    let stdout = run(
        inject_config,
        &[
            "--config",
            "inject.yaml",
            "--resources",
            resources,
            "--diff",
        ],
    );
    assert!(stdout.contains("+  a: \"7\""), "{stdout}");
}

/// What `git ls-remote` lists, in its order.
#[test]
fn references_are_listed_as_git_lists_them() {
    let folder = super::Folder::new(&[]);
    folder.put("catalog/web/app.yaml", "a: b\n");
    folder.commit("one");
    folder.git(&["tag", "v1"]);
    folder.git(&["tag", "-a", "-m", "x", "v2"]);
    folder.git(&["tag", "-a", "-m", "x", "v3", "v2"]);
    folder.git(&["branch", "web/next"]);
    folder.git(&["pack-refs", "--all"]);
    folder.git(&["tag", "later"]);
    folder.git(&["symbolic-ref", "refs/heads/link", "refs/heads/main"]);
    let expected = folder.git(&["ls-remote", "."]);
    let repository = krm_upstream::git::Repository::open(&folder.path("catalog"));
    let listed = repository.expect("a repository").listed_references();
    assert_eq!(listed.expect("references").trim_end(), expected);
}

#[test]
fn a_directory_is_followed_to_where_most_of_its_files_went() {
    let folder = super::Folder::new(&[]);
    let lines = |name: &str| {
        (1..30)
            .map(|line| format!("{name}{line}: {line}\n"))
            .collect::<String>()
    };
    for name in ["a", "b", "c"] {
        folder.put(&format!("catalog/web/{name}.yaml"), lines(name));
    }
    folder.put("catalog/other/d.yaml", lines("d"));
    folder.commit("before");
    folder.git(&["tag", "v1"]);
    folder.git(&["mv", "web", "shop"]);
    folder.put("catalog/shop/a.yaml", lines("a") + "more: 1\n");
    folder.git(&["mv", "shop/c.yaml", "shop/renamed.yaml"]);
    folder.put("catalog/shop/b.yaml", "quite: other\n");
    folder.commit("after");
    folder.git(&["tag", "v2"]);
    let repository = krm_upstream::git::Repository::open(&folder.path("catalog"));
    let repository = repository.expect("a repository");
    let commit = |tag: &str| folder.git(&["rev-parse", tag]);
    let moved =
        |path: &str, from: &str, to: &str| repository.moved(path, &commit(from), &commit(to));
    assert_eq!(moved("web", "v1", "v2").as_deref(), Some("shop"));
    assert_eq!(moved("shop", "v2", "v1").as_deref(), Some("web"));
    assert_eq!(
        moved("web/c.yaml", "v1", "v2").as_deref(),
        Some("shop/renamed.yaml")
    );
    assert_eq!(moved("web/b.yaml", "v1", "v2"), None);
    assert_eq!(moved("other", "v1", "v2"), None);
    assert_eq!(moved("we", "v1", "v2"), None);
    // One file of three is not the directory.
    folder.git(&["mv", "shop/renamed.yaml", "other/renamed.yaml"]);
    folder.git(&["rm", "--quiet", "-r", "shop"]);
    folder.commit("removed");
    folder.git(&["tag", "v3"]);
    assert_eq!(moved("shop", "v2", "v3"), None);
}

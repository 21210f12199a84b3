//! Variants in directories, and of real packages.

use super::*;
use indoc::indoc;

/// From a directory and from Git: what `.krmignore` names, what is read through a link, and what is a link.
#[test]
fn a_clone_has_all_files_but_symbolic_links() {
    use std::os::unix::fs::symlink;
    let upstream = directory(&[
        ("Kptfile", KPTFILE),
        (".krmignore", "charts/\nx.bin\n"),
        ("charts/t.yaml", "a: {{ .x }}\n"),
        ("charts/sub/Kptfile", "no Kptfile\n"),
        ("x.bin", "\u{0}"),
        (
            "shared.txt",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\n",
        ),
    ]);
    let at = upstream.path();
    make_executable(&at.join("x.bin"));
    for (link, target) in [
        ("INDEX.md", "x.bin"),
        ("charts/own.yaml", "t.yaml"),
        ("shared.yaml", "shared.txt"),
        ("again.yaml", "Kptfile"),
        ("nowhere.yaml", "missing.yaml"),
        ("folder", "charts"),
    ] {
        symlink(target, at.join(link)).expect("a link");
    }
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .current_dir(at)
            .args(["-c", "user.name=t", "-c", "user.email=t@e"]);
        let done = command.args(arguments).status();
        assert!(done.expect("git").success(), "{arguments:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "all"]);
    git(&["tag", "v1"]);
    let in_git = format!("{}//?ref=v1", at.display());
    for upstream in [at.as_os_str(), in_git.as_ref()] {
        let made = directory(&[]);
        let package = made.path().join("made");
        let config = directory_file("pv.yaml", VARIANT);
        let mut command = Command::new(binary("render-variant"));
        command
            .arg("--config")
            .arg(config)
            .arg("--upstream")
            .arg(upstream);
        let (_, stderr) = succeed(command.arg("--package").arg(&package));
        let mut found: Vec<String> = files_below(&package);
        found.sort();
        let expected = [
            ".krmignore",
            "Kptfile",
            "charts/sub/Kptfile",
            "charts/t.yaml",
            "package-context.yaml",
            "shared.txt",
            "x.bin",
        ];
        assert_eq!(found, expected, "{stderr}");
        for path in ["charts/t.yaml", "charts/sub/Kptfile", "x.bin", "shared.txt"] {
            let [before, after] =
                [at, &*package].map(|at| fs::read(at.join(path)).expect("a file"));
            assert_eq!(before, after, "{path}");
        }
        assert!(is_executable(&package.join("x.bin")));
        for link in [
            "INDEX.md",
            "charts/own.yaml",
            "shared.yaml",
            "again.yaml",
            "nowhere.yaml",
            "folder",
        ] {
            let named = stderr
                .lines()
                .filter(|line| line.starts_with(&format!("[warning] {link}: ")));
            assert_eq!(named.count(), 1, "{link}: {stderr}");
        }
        assert_eq!(stderr.matches("[warning]").count(), 6, "{stderr}");
    }
}

/// Paths of the files, links included.
fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        if entry.file_type().expect("a type").is_dir() {
            let below = files_below(&entry.path()).into_iter();
            found.extend(below.map(|path| format!("{name}/{path}")));
        } else {
            found.push(name);
        }
    }
    found
}

/// Roles are directories of the package itself: nothing is lost on the way, not even an executable.
#[test]
fn a_clone_from_a_directory_of_the_package_takes_all_files() {
    let config = VARIANT.replace(
        "metadata:\n",
        "metadata:\n  annotations: {fn.kpt.dev/upstream-path: ./up, fn.kpt.dev/resources-path: cluster}\n",
    );
    let package = directory(&[
        ("up/Kptfile", KPTFILE),
        ("up/points/endpoints.yaml", POINT),
        ("up/README.md", "# app\r\n"),
        ("up/values.yaml", "a:   1\n"),
        ("up/bin/run.sh", "#!/bin/sh\n"),
        ("up.md", "beside it"),
        ("cluster/r.yaml", SUPPLIED),
    ]);
    make_executable(&package.path().join("up/bin/run.sh"));
    let render = |config: &str| {
        let mut command = Command::new(binary("render-variant"));
        command
            .arg("--config")
            .arg(directory_file("pv.yaml", config));
        succeed(command.arg("--package").arg(package.path()))
    };
    let (_, stderr) = render(&config);
    assert!(stderr.contains("cloned 5 files"), "{stderr}");
    let read = |path: &str| fs::read_to_string(package.path().join(path)).unwrap_or_default();
    assert_eq!(read("README.md"), "# app\r\n");
    assert_eq!(read("values.yaml"), "a:   1\n");
    assert_eq!(read("bin/run.sh"), "#!/bin/sh\n");
    assert!(is_executable(&package.path().join("bin/run.sh")));
    assert!(read("points/endpoints.yaml").starts_with("# What the app talks to.\n"));
    assert!(read("Kptfile").contains("  name: edge-app # the blueprint\n"));
    assert_eq!(read("up/Kptfile"), KPTFILE);
    // The next revision lies next to the one that the package is based on.
    for (path, text) in [
        ("new/Kptfile", KPTFILE),
        ("new/points/endpoints.yaml", POINT),
        ("new/README.md", "# app 2\n"),
        ("new/bin/run.sh", "#!/bin/sh\n"),
    ] {
        let file = package.path().join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
        fs::write(file, text).expect("a file");
    }
    let update = config.replace(
        "upstream-path: ./up",
        "upstream-path: new, fn.kpt.dev/original-path: up",
    );
    render(&update);
    assert_eq!(read("README.md"), "# app 2\n");
    assert!(!package.path().join("values.yaml").exists());
    assert_eq!(
        (read("up/README.md"), read("new/README.md")),
        ("# app\r\n".to_owned(), "# app 2\n".to_owned())
    );
    assert!(package.path().join("up.md").exists());
    // From outside too.
    let upstream = package.path().join("up");
    let target = package.path().join("other");
    let status = Command::new(binary("render-variant"))
        .arg("--config")
        .arg(directory_file("pv.yaml", VARIANT))
        .arg("--package")
        .arg(&target)
        .arg("--upstream")
        .arg(&upstream)
        .output()
        .expect("a run");
    assert!(status.status.success());
    assert!(is_executable(&target.join("bin/run.sh")));
}

#[cfg(unix)]
fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a file");
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(file).expect("a file");
    metadata.permissions().mode() & 0o777 == 0o755
}

#[cfg(not(unix))]
fn make_executable(_: &Path) {}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

#[test]
fn a_package_directory_is_created() {
    let upstream = upstream();
    let parent = directory(&[]);
    let package = parent.path().join("edge/app");
    fs::create_dir(parent.path().join("edge")).expect("a folder");
    let run = |extra: &[&str]| {
        Command::new(binary("render-variant"))
            .arg("--config")
            .arg(directory_file("pv.yaml", VARIANT))
            .arg("--upstream")
            .arg(upstream.path())
            .arg("--package")
            .arg(&package)
            .args(extra)
            .output()
            .expect("a run")
    };
    let checked = run(&["--check"]);
    assert_eq!(checked.status.code(), Some(3));
    assert!(!package.exists());
    let made = run(&[]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    assert_eq!(
        fs::read_to_string(package.join("README.md")).expect("a file"),
        "# app\r\n"
    );
    assert!(package.join("points/endpoints.yaml").exists());
    let again = run(&[]);
    assert_eq!(
        again.status.code(),
        Some(1),
        "the package is not empty any more"
    );
}

/// The shared corpus, where it is there.
fn shared() -> Option<PathBuf> {
    let given = std::env::var_os("KRM_VARIANTS_SHARED").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let path = given.unwrap_or_else(beside);
    if path.join("corpus").is_dir() {
        return Some(path);
    }
    let mut stderr = std::io::stderr().lock();
    let message = "no corpus: set KRM_VARIANTS_SHARED to the directory that holds it; passed over";
    let _ = std::io::Write::write_all(&mut stderr, message.as_bytes());
    None
}

#[test]
fn package_variants_of_a_real_package() {
    let Some(shared) = shared() else { return };
    let folder = shared.join("corpus/nephio-workload-cluster/upstream");
    let capi = shared.join("corpus/cluster-capi/upstream");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the corpus") {
        let path = entry.expect("a file").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if !name.starts_with("pv-") {
            continue;
        }
        count += 1;
        let config = fs::read_to_string(&path).expect("a file");
        // None of the packages that they name is in the corpus; cluster-capi is a relative of one.
        let upstream = if name == "pv-cluster.yaml" {
            &capi
        } else {
            &folder
        };
        let flags = [
            (Role::Upstream, upstream.clone()),
            (Role::Resources, folder.join("workload-cluster.yaml")),
        ];
        let first = on_package_with(&FUNCTION, &config, &[], &flags).expect("a valid config");
        assert!(!first.failed, "{name}: {:?}", first.results);
        let variant = name.trim_start_matches("pv-").trim_end_matches(".yaml");
        let kptfile = first.file("Kptfile");
        assert!(
            kptfile.contains(&format!("\n  name: example-{variant}\n")),
            "{name}: {kptfile}"
        );
        let function = format!("PackageVariant.example-{variant}..0");
        assert!(kptfile.contains(&function), "{name}: {kptfile}");
        assert!(
            first
                .file("package-context.yaml")
                .contains(&format!("name: example-{variant}\n"))
        );
        // Again, on what came out: nothing changes.
        let files = files_of(&first);
        let second = on_package_with(&FUNCTION, &config, &files, &flags[1..]).expect("a config");
        for (path, text) in &files {
            assert_eq!(second.file(path), *text, "{name}: {path}");
        }
        let alone = on_package(&prepend_pipeline::FUNCTION, &config, &files).expect("a config");
        assert_eq!(alone.results, Vec::<String>::new(), "{name}");
    }
    assert_eq!(count, 8);
}

#[test]
fn comments_above_a_resources_first_key_come_along_from_a_file() {
    let kptfile =
        "# the blueprint\napiVersion: kpt.dev/v1\nkind:   Kptfile\nmetadata:\n  name: edge-app\n";
    let map = indoc! {"
        # Licence

        # of a
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name:   a # c
        # foot
    "};
    let folder = directory(&[("all.yaml", &format!("{kptfile}---\n{map}"))]);
    let flags = [(Role::Upstream, folder.path().join("all.yaml"))];
    let outcome = on_package_with(&FUNCTION, VARIANT, &[], &flags).expect("a valid config");
    let expected = map.replace("metadata:", "metadata: # kpt-merge: /a");
    let expected = expected.replace(
        "# c\n",
        "# c\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|a'\n",
    );
    assert_eq!(outcome.file("configmap_a.yaml"), expected);
    let made = outcome.file("Kptfile");
    assert!(made.starts_with(kptfile), "{made}");
}

/// What kpt and Porch record about the upstream package says nothing about its clone.
#[test]
fn a_clone_leaves_out_the_bookkeeping_of_kpt_and_porch() {
    let metadata = "apiVersion: \"\"\nkind: KptRevisionMetadata\nmetadata:\n  name: up\n";
    let of = |name: &str, status: &str| {
        format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name}\n{status}")
    };
    let rendered = "  - type: Rendered\n    status: \"True\"\n";
    let other = "  - type: Other\n    status: \"True\"\n";
    let steps = "  renderStatus:\n    mutationSteps:\n    - image: a\n";
    let all = format!("status:\n  conditions:\n{rendered}{other}{steps}");
    let kept = format!("status:\n  conditions:\n{other}");
    let record = format!("status:\n  conditions:\n{rendered}{steps}");
    let upstream = directory(&[
        ("Kptfile", &of("app", &record)),
        ("sub/Kptfile", &of("sub", &all)),
        (".KptRevisionMetadata", metadata),
    ]);
    let config = indoc! {"
        apiVersion: config.porch.kpt.dev/v1alpha1
        kind: PackageVariant
        metadata:
          name: pv
        spec:
          upstream: {repo: b, package: app, revision: v1}
          downstream: {repo: edge, package: edge-app}
    "};
    let flags = [(Role::Upstream, upstream.path().to_path_buf())];
    let outcome = on_package_with(&FUNCTION, config, &[], &flags).expect("a run");
    assert!(!outcome.failed, "{:?}", outcome.results);
    let paths: Vec<&str> = outcome.files.iter().map(|(path, _)| &**path).collect();
    assert_eq!(paths, ["Kptfile", "package-context.yaml", "sub/Kptfile"]);
    let root = outcome.file("Kptfile");
    assert!(
        root.contains("name: edge-app\n") && !root.contains("status:"),
        "{root}"
    );
    let sub = outcome.file("sub/Kptfile");
    assert!(sub.ends_with(&kept), "{sub}");
}

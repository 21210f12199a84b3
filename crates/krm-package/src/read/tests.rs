use std::process::Command;

use super::super::path::join;
use super::super::testing::{CONFIG_MAP, fifo, link, on_path, package, put};
use super::*;
use crate::is_krm_name;

fn read(dir: &Path) -> Package {
    read_package(dir).expect("a package")
}

fn paths(files: &Package) -> Vec<&str> {
    files.krm().map(|(path, _)| path).collect()
}

fn others(files: &Package) -> Vec<&str> {
    files.others().collect()
}

/// The text of a file that is named like KRM.
fn text<'f>(files: &'f Package, path: &str) -> Option<&'f str> {
    Some(files.get(path)?.krm()?)
}

fn skipped(files: &Package) -> Vec<(&str, SkipReason)> {
    files
        .skipped
        .iter()
        .map(|skipped| (skipped.path.as_str(), skipped.reason))
        .collect()
}

#[test]
fn krm_names() {
    for name in ["a.yaml", ".yaml", "a.yml", "a.json", "Kptfile"] {
        assert!(is_krm_name(name), "{name}");
    }
    for name in [
        "a.YAML",
        "kptfile",
        "Kptfile.bak",
        "yaml",
        "a.yaml~",
        ".krm-variants-x.tmp",
    ] {
        assert!(!is_krm_name(name), "{name}");
    }
}

#[test]
fn files_are_sorted_bytewise_and_others_listed() {
    let dir = package(&[
        ("b.yaml", "b\r\n"),
        ("a/z.yml", "\u{feff}z"),
        ("a.json", "{}"),
        ("a-b.yaml", ""),
        ("Kptfile", ""),
        (".hidden/x.yaml", ""),
        ("sub/Kptfile", ""),
        ("README.md", "text"),
        ("a/logo.PNG", "image"),
        (".krmignore", ""),
        (".git/x.yaml", ""),
        ("sub/.git", "gitdir: elsewhere"),
        (".krm-variants-abc.tmp", "left behind"),
    ]);
    put(dir.path(), "binary", [0xff]);
    let files = read(dir.path());
    let krm = [
        ".hidden/x.yaml",
        "Kptfile",
        "a-b.yaml",
        "a.json",
        "a/z.yml",
        "b.yaml",
        "sub/Kptfile",
    ];
    assert_eq!(paths(&files), krm);
    assert_eq!(
        others(&files),
        [".krmignore", "README.md", "a/logo.PNG", "binary"]
    );
    assert_eq!(skipped(&files), []);
    assert_eq!(text(&files, "b.yaml"), Some("b\r\n"));
    assert_eq!(text(&files, "a/z.yml"), Some("\u{feff}z"));
    assert_eq!(text(&files, "README.md"), None);
    assert_eq!(*files.read("binary").expect("a file"), [0xff]);
    assert!(files.read("nothing.yaml").is_err());
    put(dir.path(), "binary", "changed");
    assert!(matches!(
        files.read("binary"),
        Err(PackageError::Changed { .. })
    ));
}

#[test]
fn links_inside_are_read_once() {
    let dir = package(&[
        ("a.yaml", "a"),
        ("shared.txt", "s"),
        ("d/x.yaml", "x"),
        ("README.md", "r"),
    ]);
    link(dir.path(), "a.yaml", "alias.yaml");
    link(dir.path(), "shared.txt", "s1.yaml");
    link(dir.path(), "s1.yaml", "s2.yaml");
    link(&dir.path().join("d"), "../shared.txt", "s3.yaml");
    let files = read(dir.path());
    assert_eq!(paths(&files), ["a.yaml", "d/s3.yaml", "d/x.yaml"]);
    // The file that a link leads to is a separate file.
    assert_eq!(others(&files), ["README.md", "shared.txt"]);
    let links = files.skipped.iter();
    let links = links.filter(|link| link.reason == SkipReason::OtherLink);
    let links: Vec<&str> = links.map(|link| link.path.as_str()).collect();
    assert_eq!(links, ["alias.yaml", "d/s3.yaml", "s1.yaml", "s2.yaml"]);
    assert_eq!(text(&files, "d/s3.yaml"), Some("s"));
    let target = fs::canonicalize(dir.path())
        .expect("a path")
        .join("shared.txt");
    assert_eq!(
        files.get("d/s3.yaml").and_then(|file| file.target.clone()),
        Some(target)
    );
}

#[test]
fn other_links_are_skipped() {
    let outside = package(&[("x.yaml", ": not yaml"), ("d/y.yaml", "")]);
    let dir = package(&[("d/x.yaml", "x"), (".git/config", "")]);
    link(dir.path(), outside.path().join("x.yaml"), "out.yaml");
    link(dir.path(), "nowhere", "dangling.yaml");
    link(dir.path(), "round.yaml", "round.yaml");
    link(dir.path(), "d", "folder");
    link(dir.path(), outside.path().join("d"), "folder.yaml");
    link(dir.path(), ".git/config", "git.yaml");
    link(dir.path(), "nowhere", "README.md");
    link(dir.path(), "/dev/null", "null.yaml");
    let files = read(dir.path());
    assert_eq!(paths(&files), ["d/x.yaml"]);
    assert_eq!(
        skipped(&files),
        [
            ("README.md", SkipReason::OtherLink),
            ("dangling.yaml", SkipReason::DanglingLink),
            ("folder", SkipReason::LinkToFolder),
            ("folder.yaml", SkipReason::LinkToFolder),
            ("git.yaml", SkipReason::LinkIntoGit),
            ("null.yaml", SkipReason::LinkOutOfPackage),
            ("out.yaml", SkipReason::LinkOutOfPackage),
            ("round.yaml", SkipReason::DanglingLink),
        ]
    );
    assert!(!files.skipped[0].reason.is_warning());
}

#[test]
fn a_package_may_be_named_through_a_link() {
    let dir = package(&[("p/a.yaml", "a"), ("p/t.txt", "t")]);
    link(dir.path(), "p", "l");
    link(&dir.path().join("p"), "t.txt", "t.yaml");
    let files = read(&dir.path().join("l"));
    assert_eq!(paths(&files), ["a.yaml", "t.yaml"]);
    assert_eq!(files.root, dir.path().join("l"));
}

#[test]
fn only_regular_files_are_opened() {
    let dir = package(&[("a.yaml", "a")]);
    let has_fifo = fifo(&dir.path().join("f.yaml"));
    link(dir.path(), "f.yaml", "l.yaml");
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("s")).expect("a socket");
    let files = read(dir.path());
    assert_eq!(paths(&files), ["a.yaml"]);
    if has_fifo {
        let reason = SkipReason::NotRegular;
        assert_eq!(
            skipped(&files),
            [("f.yaml", reason), ("l.yaml", reason), ("s", reason)]
        );
        fifo(&dir.path().join(".krmignore"));
        assert!(matches!(
            read_package(dir.path()),
            Err(PackageError::NotRegular { .. })
        ));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_utf_8_are_skipped() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = package(&[("a.yaml", "a")]);
    put(&dir.path().join(OsStr::from_bytes(b"d\xff")), "x.yaml", "");
    fs::write(dir.path().join(OsStr::from_bytes(b"\xff.yaml")), "").expect("a file");
    let files = read(dir.path());
    assert_eq!(paths(&files), ["a.yaml"]);
    let reason = SkipReason::NameNotUtf8;
    assert_eq!(
        skipped(&files),
        [("d\u{fffd}", reason), ("\u{fffd}.yaml", reason)]
    );
}

#[test]
fn a_file_that_is_not_utf_8_is_not_read_as_krm() {
    let dir = package(&[("a.yaml", "a: 1\n")]);
    put(dir.path(), "b.yaml", b"abc\xffd");
    let package = read_package(dir.path()).expect("a package");
    assert_eq!(
        package.krm().map(|(path, _)| path).collect::<Vec<_>>(),
        ["a.yaml"]
    );
    let found: Vec<_> = package.not_utf8().collect();
    assert_eq!(found, [("b.yaml", b"abc\xffd".as_slice())]);
}

#[test]
fn errors_name_the_path() {
    let dir = package(&[("a/b.yaml", "")]);
    let message = |path: &str| {
        read_package(&dir.path().join(path))
            .expect_err("no package")
            .to_string()
    };
    let root = dir.path().display();
    assert_eq!(
        message("x\n"),
        format!("package directory '{root}/x\\n' does not exist")
    );
    let advice = format!("; the file is in '{root}/a'");
    for (path, advice) in [("a/b.yaml", advice.as_str()), ("a/b.yaml/c", "")] {
        let expected =
            format!("expected a package directory, but '{root}/{path}' is not a directory{advice}");
        assert_eq!(message(path), expected);
    }
}

#[test]
fn an_unreadable_file_is_an_error() {
    for path in ["a.yaml", "d"] {
        let dir = package(&[("a.yaml", "a"), ("d/x.txt", ""), ("o.txt", "")]);
        let permissions: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o000);
        fs::set_permissions(dir.path().join(path), permissions).expect("permissions");
        if std::fs::File::open(dir.path().join(path)).is_ok() {
            return; // root may read everything
        }
        let error = read_package(dir.path())
            .expect_err("it cannot be read")
            .to_string();
        let expected = format!("cannot read '{}/{path}': ", dir.path().display());
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn ignored_paths_are_listed() {
    let dir = package(&[
        (".krmignore", "gen/\n*.md\n"),
        ("gen/a.yaml", ""),
        ("README.md", ""),
        ("sub/Kptfile", ""),
        ("sub/.krmignore", "x*"),
        ("sub/x.yaml", ""),
        ("sub/y.md", ""),
    ]);
    let files = read(dir.path());
    assert_eq!(files.ignored, ["README.md", "gen/", "sub/x.yaml"]);
    assert_eq!(others(&files), [".krmignore", "sub/.krmignore", "sub/y.md"]);
}

/// The files that `kpt fn source` reads, one run for each row (recorded with 1.0.0-beta.56, and compared where kpt is
/// on PATH).
#[test]
fn krmignore_works_as_in_kpt() {
    const ALL: &str = ".h.yaml Kptfile a.yaml b.yml dir/a.yaml dir/inner/Kptfile dir/inner/a.yaml dir/sub/a.yaml \
                       dir/x/y/a.yaml pkg/Kptfile pkg/a.yaml pkg/b.yaml pkg/dir/a.yaml";
    // Each row: the `.krmignore` files, with `;` between lines; then the files of ALL that are not read.
    let table: &[(&[(&str, &str)], &str)] = &[
        (&[], ""),
        (
            &[("", "a.yaml")],
            "a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
        ),
        (
            &[("", "  a.yaml \r")],
            "a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
        ),
        (&[("", "/a.yaml")], "a.yaml"),
        (&[("", "./a.yaml")], ""),
        (&[("", "A.yaml")], ""),
        (&[("", "a.yaml/")], ""),
        (&[("", "#a.yaml;a.yaml #c;a.yaml\\ ")], ""),
        (&[("", "*.yaml;!a.yaml")], ".h.yaml"),
        (&[("", "!a.yaml;*.yaml")], ".h.yaml"),
        (
            &[("", "*.yaml;!/dir/a.yaml")],
            ".h.yaml a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
        ),
        (&[("", "dir")], "dir/*"),
        (&[("", "dir/")], "dir/*"),
        (&[("", "dir;!dir/a.yaml;!a.yaml")], "dir/*"),
        (&[("", "dir;!dir")], ""),
        (&[("", "/dir/*")], "dir/*"),
        (&[("", "dir/**")], "dir/*"),
        (
            &[("", "**/a.yaml")],
            "dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
        ),
        (&[("", "/**/a.yaml")], "dir/a.yaml"),
        (&[("", "dir/**/a.yaml")], "dir/sub/a.yaml"),
        (&[("", "sub/a.yaml")], "dir/sub/a.yaml"),
        (&[("", "y/")], "dir/x/y/*"),
        (&[("", "/y")], ""),
        (&[("", "*/")], "dir/* pkg/*"),
        (
            &[("", "[^b].yaml")],
            "a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
        ),
        (&[("", "[!b].yaml;[;[a;{a,b}.yaml;a\\.yaml")], ""),
        (
            &[("", "?\\.yaml;[b-c].y*l")],
            "a.yaml b.yml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
        ),
        (&[("", "Kptfile")], "Kptfile"),
        (&[("", ".*")], ".h.yaml"),
        (&[("", "pkg")], "pkg/*"),
        (&[("", "pkg/a.yaml;pkg/*;/pkg/dir")], ""),
        (&[("dir", "a.yaml")], ""),
        (&[("pkg", "a.yaml")], "pkg/a.yaml pkg/dir/a.yaml"),
        (&[("pkg", "/a.yaml")], "pkg/a.yaml"),
        (
            &[("", "*.yaml"), ("pkg", "!a.yaml")],
            ".h.yaml a.yaml dir/a.yaml dir/sub/a.yaml dir/x/y/a.yaml",
        ),
        (&[("", "b.y*l"), ("dir/inner", "*")], "b.yml dir/inner/*"),
    ];
    let kpt = on_path("kpt");
    for (rules, missing) in table {
        let dir = package(&[]);
        for path in ALL.split_whitespace() {
            let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n";
            put(
                dir.path(),
                path,
                if path.ends_with("Kptfile") {
                    kptfile
                } else {
                    CONFIG_MAP
                },
            );
        }
        for (folder, patterns) in *rules {
            put(
                dir.path(),
                &join(folder, ".krmignore"),
                patterns.replace(';', "\n") + "\n",
            );
        }
        let is_missing = |path: &&str| {
            missing
                .split_whitespace()
                .any(|one| match one.strip_suffix('*') {
                    Some(folder) => path.starts_with(folder),
                    None => *path == one,
                })
        };
        let expected: Vec<_> = ALL
            .split_whitespace()
            .filter(|path| !is_missing(path))
            .collect();
        assert_eq!(paths(&read(dir.path())), expected, "{rules:?}");
        if let Some(kpt) = &kpt {
            assert_eq!(source(kpt, dir.path()), expected, "kpt, {rules:?}");
        }
    }
}

/// The paths that kpt reads.
fn source(kpt: &Path, dir: &Path) -> Vec<String> {
    let output = Command::new(kpt)
        .args(["fn", "source"])
        .arg(dir)
        .output()
        .expect("kpt runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut paths: Vec<_> = text
        .lines()
        .filter_map(|line| {
            line.trim()
                .strip_prefix("internal.config.kubernetes.io/path: ")
        })
        .map(|path| path.trim_matches('\'').to_owned())
        .collect();
    paths.sort();
    paths
}

#[test]
fn krmignore_where_kpt_fails() {
    let dir = package(&[
        (".krmignore", "!\n/\n//\nb.yaml\n"),
        ("a.yaml", ""),
        ("b.yaml", ""),
        ("pkg/Kptfile", ""),
        ("pkg/.krmignore", "a.yaml\n"),
        ("pkg/a.yaml", ""),
        ("pkg2/a.yaml", ""),
        ("pkg2/b.yaml", ""),
    ]);
    assert_eq!(
        paths(&read(dir.path())),
        ["a.yaml", "pkg/Kptfile", "pkg2/a.yaml"]
    );
}

#[test]
fn krmignore_may_be_a_link_or_a_folder() {
    let outside = package(&[("ignore", "a.yaml\n")]);
    let dir = package(&[
        ("a.yaml", ""),
        ("b.yaml", ""),
        ("p/Kptfile", ""),
        ("p/.krmignore/a.yaml", ""),
    ]);
    link(dir.path(), outside.path().join("ignore"), ".krmignore");
    assert_eq!(
        paths(&read(dir.path())),
        ["b.yaml", "p/.krmignore/a.yaml", "p/Kptfile"]
    );
    fs::remove_file(outside.path().join("ignore")).expect("removed");
    assert_eq!(paths(&read(dir.path())).len(), 4);
}

#[test]
fn deep_folders_need_no_deep_stack() {
    let dir = package(&[]);
    let path = "d/".repeat(900) + "a.yaml";
    put(dir.path(), &path, "a");
    assert_eq!(paths(&read(dir.path())), [path]);
}

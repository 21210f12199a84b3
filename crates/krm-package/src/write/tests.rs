use super::super::journal::JournalPlace;
use super::super::testing::{fifo, get, link, package, put};
use super::super::{PackageError as E, read_package, recover_package};
use super::*;

fn write(files: &Package, path: &str, text: &str) -> Result<(), PackageError> {
    write_package(files, &[FileChange::write(path, text)])
}

/// The paths of everything in a directory; links are not followed.
fn listing(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a type").is_dir() {
                pending.push(entry.path());
            }
            let path = entry.path();
            all.push(
                path.strip_prefix(dir)
                    .expect("below")
                    .to_string_lossy()
                    .into_owned(),
            );
        }
    }
    all.sort();
    all
}

#[cfg(unix)]
fn mode(dir: &Path, path: &str) -> u32 {
    mode_of(&fs::metadata(dir.join(path)).expect("a file"))
}

#[cfg(unix)]
fn set_mode(dir: &Path, path: &str, mode: u32) {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(dir.join(path), permissions).expect("permissions");
}

#[test]
fn files_are_changed_created_and_deleted() {
    let dir = package(&[
        ("a.yaml", "a"),
        ("b/b.yaml", "b"),
        ("c.yaml", "c"),
        ("README.md", "r"),
    ]);
    let files = read_package(dir.path()).expect("a package");
    let changes = [
        FileChange::delete("b/b.yaml"),
        FileChange::write("a.yaml", "new"),
        FileChange::write("./d//e/f.yaml", "made"),
        FileChange::write("README.md", [0xff, 0]),
        FileChange::write("c.yaml", "c"),
    ];
    write_package(&files, &changes).expect("written");
    assert_eq!(
        listing(dir.path()),
        [
            "README.md",
            "a.yaml",
            "b",
            "c.yaml",
            "d",
            "d/e",
            "d/e/f.yaml"
        ]
    );
    assert_eq!(get(dir.path(), "a.yaml"), "new");
    assert_eq!(get(dir.path(), "d/e/f.yaml"), "made");
    assert_eq!(
        fs::read(dir.path().join("README.md")).expect("a file"),
        [0xff, 0]
    );
}

#[test]
#[cfg(unix)]
fn modes_are_kept_and_taken_over() {
    let dir = package(&[("a.yaml", "a"), ("s.sh", "s")]);
    set_mode(dir.path(), "a.yaml", 0o640);
    set_mode(dir.path(), "s.sh", 0o755);
    let files = read_package(dir.path()).expect("a package");
    assert_eq!(files.mode("a.yaml"), Some(0o640));
    let mode_given = |path: &str, mode| FileChange::Write {
        path: path.into(),
        bytes: vec![],
        mode,
    };
    let changes = [
        mode_given("a.yaml", Some(0o666)),
        mode_given("s.sh", None),
        mode_given("new", Some(0o666)),
        mode_given("plain", None),
    ];
    write_package(&files, &changes).expect("written");
    put(dir.path(), "neighbor", "");
    assert_eq!(mode(dir.path(), "a.yaml"), 0o640);
    assert_eq!(mode(dir.path(), "s.sh"), 0o755);
    // The expected modes depend on the umask of the test.
    assert_eq!(
        mode(dir.path(), "new"),
        mode(dir.path(), "neighbor") & 0o666
    );
    assert_eq!(
        mode(dir.path(), "plain"),
        mode(dir.path(), "neighbor") & 0o644
    );
}

#[test]
fn an_unchanged_file_is_not_written() {
    let dir = package(&[("a.yaml", "a"), ("o.txt", "o")]);
    let files = read_package(dir.path()).expect("a package");
    let times = || {
        ["a.yaml", "o.txt"].map(|path| {
            use std::os::unix::fs::MetadataExt;
            fs::metadata(dir.path().join(path)).expect("a file").ino()
        })
    };
    let before = times();
    let changes = [
        FileChange::write("a.yaml", "a"),
        FileChange::write("o.txt", "o"),
    ];
    write_package(&files, &changes).expect("written");
    assert_eq!(times(), before);
    // Another process may then change the file without an error.
    put(dir.path(), "a.yaml", "other");
    write(&files, "a.yaml", "a").expect("nothing to do");
    assert_eq!(get(dir.path(), "a.yaml"), "other");
}

#[test]
fn a_file_that_changed_underneath_stops_everything() {
    type Meddle = fn(&Path);
    let table: [(&str, Meddle); 5] = [
        ("a.yaml", |dir| put(dir, "a.yaml", "b")),
        ("a.yaml", |dir| {
            fs::remove_file(dir.join("a.yaml")).expect("removed")
        }),
        ("a.yaml", |dir| {
            fs::rename(dir.join("a.yaml"), dir.join("moved")).expect("renamed");
            link(dir, "moved", "a.yaml");
        }),
        ("a.yaml", |dir| {
            fs::remove_file(dir.join("a.yaml")).expect("removed");
            fifo(&dir.join("a.yaml"));
        }),
        ("o.txt", |dir| put(dir, "o.txt", "longer")),
    ];
    for (path, meddle) in table {
        for change in [FileChange::write(path, "new"), FileChange::delete(path)] {
            let dir = package(&[("a.yaml", "a"), ("o.txt", "o"), ("z.yaml", "z")]);
            let files = read_package(dir.path()).expect("a package");
            meddle(dir.path());
            let before = listing(dir.path());
            let changes = [
                FileChange::write("z.yaml", "new"),
                FileChange::write("n/n.yaml", ""),
                change,
            ];
            let error = write_package(&files, &changes).expect_err("it changed");
            assert!(
                matches!(&error, E::Changed { path: named } if named == path),
                "{error}"
            );
            assert_eq!(get(dir.path(), "z.yaml"), "z");
            assert_eq!(listing(dir.path()), before);
        }
    }
}

#[test]
fn a_file_that_is_saved_while_others_are_written_is_left_alone() {
    let dir = package(&[
        ("a.yaml", "a"),
        ("b.yaml", "b"),
        ("d.yaml", "d"),
        ("o.txt", "o"),
    ]);
    let changes = [
        FileChange::write("a.yaml", "new"),
        FileChange::write("b.yaml", "new"),
        FileChange::write("n.yaml", "new"),
        FileChange::write("o.txt", "new"),
        FileChange::delete("d.yaml"),
    ];
    for late in ["a.yaml", "b.yaml", "n.yaml", "o.txt", "d.yaml"] {
        for (path, text) in [
            ("a.yaml", "a"),
            ("b.yaml", "b"),
            ("d.yaml", "d"),
            ("o.txt", "o"),
        ] {
            put(dir.path(), path, text);
        }
        let _ = fs::remove_file(dir.path().join("n.yaml"));
        let files = read_package(dir.path()).expect("a package");
        let mut heard = 0;
        let mut watch = |path: &str| {
            heard += 1;
            if path == late {
                put(dir.path(), path, "saved by another process");
            }
        };
        let error = write_watched(&files, &changes, false, &mut watch).expect_err("it changed");
        match &error {
            E::Changed { path } => assert_eq!((path.as_str(), heard), (late, 1)),
            E::ChangedMeanwhile { path, written } => {
                assert_eq!((path.as_str(), *written), (late, heard - 1));
                assert!(*written > 0, "the first one is as any that changed");
            }
            E::Exists { path } => assert_eq!((path.as_str(), late), ("n.yaml", "n.yaml")),
            other => panic!("{other}"),
        }
        assert_eq!(get(dir.path(), late), "saved by another process");
        let left = listing(dir.path());
        assert!(!left.iter().any(|name| name.ends_with(".tmp")), "{left:?}");
    }
}

/// Otherwise a run that stopped midway would look complete: the lock would name the new revision while resources are
/// from the old one.
#[test]
fn kptfiles_are_written_last() {
    let dir = package(&[
        ("Kptfile", "k"),
        ("a.yaml", "a"),
        ("d/Kptfile", "k"),
        ("z", "z"),
    ]);
    let files = read_package(dir.path()).expect("a package");
    let changes = [
        FileChange::write("Kptfile", "new"),
        FileChange::write("a.yaml", "new"),
        FileChange::write("d/Kptfile", "new"),
        FileChange::write("n.yaml", "new"),
        FileChange::delete("z"),
    ];
    let mut order = Vec::new();
    write_watched(&files, &changes, false, &mut |path: &str| {
        order.push(path.to_owned());
    })
    .expect("written");
    assert_eq!(order, ["a.yaml", "n.yaml", "z", "d/Kptfile", "Kptfile"]);
}

#[test]
fn the_next_run_removes_remains_of_a_killed_one() {
    let dir = package(&[("d/a.yaml", "a"), (".krm-variants-Ab3dEf.tmp", "")]);
    let left = dir.path().join(".krm-variants-Ab3dEf.tmp");
    let file = fs::File::options().write(true).open(left);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(24 * 60 * 60);
    file.expect("a file").set_modified(old).expect("a time");
    put(dir.path(), "d/.krm-variants-Ab3dEf.tmp", "of a run at work");
    let files = read_package(dir.path()).expect("a package");
    assert_eq!(files.others().count(), 0);
    // This happens even if there is nothing to write.
    write_package(&files, &[]).expect("nothing");
    assert_eq!(
        listing(dir.path()),
        ["d", "d/.krm-variants-Ab3dEf.tmp", "d/a.yaml"]
    );
}

#[test]
fn a_new_file_must_not_exist() {
    let dir = package(&[
        (".krmignore", "a.yaml\n"),
        ("a.yaml", "a"),
        ("d/x.yaml", ""),
    ]);
    let files = read_package(dir.path()).expect("a package");
    put(dir.path(), "late.yaml", "");
    link(dir.path(), "nowhere", "dangling");
    for path in ["a.yaml", "late.yaml", "dangling", "d"] {
        let error = write(&files, path, "new").expect_err("it is there");
        assert!(matches!(error, E::Exists { .. }), "{path}: {error}");
    }
    let error = write_package(&files, &[FileChange::delete("a.yaml")]).expect_err("not read");
    assert!(matches!(error, E::NotInPackage { .. }), "{error}");
}

#[test]
fn no_path_leads_out_of_the_package() {
    let outside = package(&[("x.yaml", "x")]);
    let dir = package(&[("a.yaml", "a"), ("d/x.yaml", ""), (".git/config", "")]);
    link(dir.path(), outside.path(), "out");
    link(dir.path(), "nowhere", "dangling");
    link(dir.path(), ".git", "git");
    link(dir.path(), "d", "in");
    let files = read_package(dir.path()).expect("a package");
    for path in [
        "",
        ".",
        "../a",
        "a/../../b",
        "/etc/x",
        "a\0",
        ".git/x",
        "d/.git/hooks/x",
        ".GIT/x",
        ".git",
        "git~1/x",
    ] {
        assert!(
            matches!(write(&files, path, "new"), Err(E::Path(_))),
            "{path:?}"
        );
    }
    for path in ["out/new.yaml", "dangling/new.yaml", "git/x", "in/new.yaml"] {
        assert!(
            matches!(write(&files, path, "new"), Err(E::ThroughLink { .. })),
            "{path}"
        );
    }
    assert_eq!(listing(outside.path()), ["x.yaml"]);
    assert_eq!(listing(&dir.path().join("d")), ["x.yaml"]);
}

#[test]
fn a_folder_that_became_a_link_is_not_followed_out() {
    let outside = package(&[("a.yaml", "a")]);
    let dir = package(&[("d/a.yaml", "a")]);
    let files = read_package(dir.path()).expect("a package");
    fs::remove_dir_all(dir.path().join("d")).expect("removed");
    link(dir.path(), outside.path(), "d");
    for change in [
        FileChange::write("d/a.yaml", "new"),
        FileChange::delete("d/a.yaml"),
    ] {
        let error = write_package(&files, &[change]).expect_err("it leaves");
        assert!(matches!(error, E::ThroughLink { .. }), "{error}");
    }
    assert_eq!(get(outside.path(), "a.yaml"), "a");
}

#[test]
fn files_become_folders_and_folders_files() {
    let dir = package(&[
        ("a", "a"),
        ("b/c.yaml", "c"),
        ("b/d/e", "e"),
        ("k.yaml", "k"),
    ]);
    let files = read_package(dir.path()).expect("a package");
    let changes = [
        FileChange::write("a/x.yaml", "x"),
        FileChange::delete("a"),
        FileChange::delete("b/c.yaml"),
        FileChange::write("b", "b"),
        FileChange::delete("b/d/e"),
        FileChange::write("k.yaml", "l"),
    ];
    write_package(&files, &changes).expect("a write");
    assert_eq!(listing(dir.path()), ["a", "a/x.yaml", "b", "k.yaml"]);
    assert_eq!(get(dir.path(), "k.yaml"), "l");
}

#[test]
fn a_folder_with_a_file_of_another_process_becomes_no_file() {
    let dir = package(&[("b/c.yaml", "c"), ("k.yaml", "k")]);
    let files = read_package(dir.path()).expect("a package");
    put(dir.path(), "b/new", "n");
    let changes = [FileChange::delete("b/c.yaml"), FileChange::write("b", "b")];
    let error = write_package(&files, &changes).expect_err("a file in the way");
    assert!(matches!(error, E::Exists { path } if path == "b/new"));
    assert_eq!(listing(dir.path()), ["b", "b/c.yaml", "b/new", "k.yaml"]);
}

#[test]
fn a_file_becomes_executable_with_and_without_new_content() {
    let dir = package(&[("a.sh", "a"), ("b.yaml", "b")]);
    let mode = |path: &str| {
        fs::metadata(dir.path().join(path))
            .expect("a file")
            .permissions()
            .mode()
            & 0o777
    };
    let write = |path: &str, text: &str, mode| {
        let files = read_package(dir.path()).expect("a package");
        let bytes = text.as_bytes().to_vec();
        let path = path.to_owned();
        write_package(&files, &[FileChange::Write { path, bytes, mode }]).expect("a write");
    };
    for path in ["a.sh", "b.yaml"] {
        fs::set_permissions(dir.path().join(path), fs::Permissions::from_mode(0o640))
            .expect("bits");
    }
    write("a.sh", "a", Some(0o755));
    write("b.yaml", "c", Some(0o755));
    assert_eq!((mode("a.sh"), mode("b.yaml")), (0o750, 0o750));
    write("a.sh", "d", None);
    write("b.yaml", "c", Some(0o644));
    assert_eq!((mode("a.sh"), mode("b.yaml")), (0o750, 0o640));
}

#[test]
fn changes_must_not_contradict_each_other() {
    let dir = package(&[("a.yaml", "a")]);
    let files = read_package(dir.path()).expect("a package");
    let both = [
        FileChange::write("a.yaml", "b"),
        FileChange::delete("./a.yaml"),
    ];
    assert!(matches!(
        write_package(&files, &both),
        Err(E::Duplicate { .. })
    ));
    let nested = [FileChange::write("n/o", ""), FileChange::write("n", "")];
    assert!(matches!(
        write_package(&files, &nested),
        Err(E::ParentIsFile { .. })
    ));
    assert!(matches!(
        write(&files, "a.yaml/b", ""),
        Err(E::ParentIsFile { .. })
    ));
    assert_eq!(listing(dir.path()), ["a.yaml"]);
}

#[test]
fn the_target_of_a_link_is_edited() {
    let dir = package(&[("d/shared.txt", "old")]);
    link(dir.path(), "d/shared.txt", "l.yaml");
    let files = read_package(dir.path()).expect("a package");
    write(&files, "l.yaml", "new").expect("written");
    assert!(
        fs::symlink_metadata(dir.path().join("l.yaml"))
            .expect("a link")
            .is_symlink()
    );
    assert_eq!(get(dir.path(), "d/shared.txt"), "new");

    let files = read_package(dir.path()).expect("a package");
    write_package(&files, &[FileChange::delete("l.yaml")]).expect("deleted");
    assert_eq!(listing(dir.path()), ["d"]);
}

#[test]
fn a_link_that_now_leads_elsewhere_counts_as_changed() {
    let dir = package(&[("one.txt", "same"), ("two.txt", "same")]);
    link(dir.path(), "one.txt", "l.yaml");
    let files = read_package(dir.path()).expect("a package");
    fs::remove_file(dir.path().join("l.yaml")).expect("removed");
    link(dir.path(), "two.txt", "l.yaml");
    assert!(matches!(
        write(&files, "l.yaml", "new"),
        Err(E::Changed { .. })
    ));
    assert_eq!(get(dir.path(), "one.txt"), "same");
}

#[test]
fn a_failure_leaves_nothing_behind() {
    let dir = package(&[("a.yaml", "a")]);
    let files = read_package(dir.path()).expect("a package");
    let too_long = format!("new/{}/x.yaml", "x".repeat(300));
    let changes = [
        FileChange::write("a.yaml", "new"),
        FileChange::write("m/m", ""),
        FileChange::write(too_long, ""),
    ];
    let error = write_package(&files, &changes).expect_err("the name is too long");
    assert!(matches!(error, E::Io { .. }), "{error}");
    assert_eq!(listing(dir.path()), ["a.yaml"]);
    assert_eq!(get(dir.path(), "a.yaml"), "a");
}

#[test]
fn an_empty_package_is_created() {
    let dir = package(&[]);
    let root = dir.path().join("new/package");
    let files = Package::empty(&root);
    write_package(&files, &[]).expect("nothing");
    assert_eq!(listing(dir.path()), [""; 0]);
    assert!(write(&files, "../a", "").is_err());
    assert!(write_package(&files, &[FileChange::delete("a")]).is_err());
    assert_eq!(listing(dir.path()), [""; 0]);
    write(&files, "Kptfile", "k").expect("written");
    assert_eq!(get(&root, "Kptfile"), "k");
}

#[test]
fn a_vanished_package_is_not_recreated() {
    let dir = package(&[("p/a.yaml", "a")]);
    let files = read_package(&dir.path().join("p")).expect("a package");
    fs::remove_dir_all(dir.path().join("p")).expect("removed");
    assert!(matches!(
        write(&files, "b.yaml", ""),
        Err(E::Missing { .. })
    ));
    assert_eq!(listing(dir.path()), [""; 0]);
}

#[test]
fn many_files_need_few_handles() {
    let dir = package(&[]);
    let files = read_package(dir.path()).expect("a package");
    let changes: Vec<_> = (0..3000)
        .map(|n| FileChange::write(format!("{n}.yaml"), "x"))
        .collect();
    write_package(&files, &changes).expect("written");
    assert_eq!(
        read_package(dir.path()).expect("a package").krm().count(),
        3000
    );
}

/// What a killed run leaves: the package, and the journal next to it.
struct KilledRun {
    package: tempfile::TempDir,
    journal: Vec<u8>,
}

impl KilledRun {
    /// Copies a package while it is written.
    fn of(dir: &Path) -> Self {
        let package = tempfile::tempdir().expect("a folder");
        copy(dir, package.path());
        let journal = fs::read(journal_of(dir)).expect("a journal");
        Self { package, journal }
    }

    /// Puts the state back. The folder of the package stays the same, because a journal is about one folder.
    fn restore(&self, dir: &Path) {
        for path in listing(dir).into_iter().rev() {
            let path = dir.join(path);
            if path.is_dir() {
                fs::remove_dir(path).expect("removed");
            } else {
                fs::remove_file(path).expect("removed");
            }
        }
        copy(self.package.path(), dir);
        let journal = journal_of(dir);
        fs::write(&journal, &self.journal).expect("a journal");
        fs::set_permissions(journal, fs::Permissions::from_mode(0o600)).expect("a mode");
    }
}

fn journal_of(dir: &Path) -> PathBuf {
    let place = JournalPlace::find(dir, true).expect("read");
    place.expect("a place").path
}

/// Copies everything in a directory.
fn copy(from: &Path, to: &Path) {
    for path in listing(from) {
        let (from, to) = (from.join(&path), to.join(&path));
        if from.is_dir() {
            fs::create_dir_all(to).expect("a folder");
        } else {
            fs::create_dir_all(parent(&to)).expect("a folder");
            fs::copy(from, to).expect("a file");
        }
    }
}

#[test]
fn a_run_that_was_killed_anywhere_is_completed() {
    let before = [
        ("a.yaml", "a"),
        ("b.yaml", "b"),
        ("d/gone.yaml", "g"),
        ("e.txt", "e"),
    ];
    let changes = [
        FileChange::write("a.yaml", "new a"),
        FileChange::write("b.yaml", "new b"),
        FileChange::write("f/made.yaml", "made"),
        FileChange::delete("d/gone.yaml"),
        FileChange::delete("e.txt"),
    ];
    let dir = package(&before);
    let files = read_package(dir.path()).expect("a package");
    let mut killed = Vec::new();
    let mut watch = |_: &str| killed.push(KilledRun::of(dir.path()));
    write_watched(&files, &changes, true, &mut watch).expect("written");
    assert!(!journal_of(dir.path()).exists());
    assert_eq!(killed.len(), changes.len());
    let texts = || ["a.yaml", "b.yaml", "f/made.yaml"].map(|path| get(dir.path(), path));
    let (expected, all) = (texts(), listing(dir.path()));
    for killed in killed {
        killed.restore(dir.path());
        recover_package(dir.path()).expect("completed");
        assert_eq!(texts(), expected);
        assert_eq!(listing(dir.path()), all);
        assert!(!journal_of(dir.path()).exists());
    }
}

#[test]
fn a_file_edited_after_the_kill_stays() {
    let dir = package(&[("a.yaml", "a"), ("b.yaml", "b")]);
    let files = read_package(dir.path()).expect("a package");
    let changes = ["a.yaml", "b.yaml"].map(|path| FileChange::write(path, "new"));
    let mut killed = None;
    let mut watch = |path: &str| {
        if path == "a.yaml" {
            killed = Some(KilledRun::of(dir.path()));
        }
    };
    write_watched(&files, &changes, true, &mut watch).expect("written");
    killed.expect("a killed run").restore(dir.path());
    put(dir.path(), "b.yaml", "mine");
    recover_package(dir.path()).expect("completed");
    assert_eq!(get(dir.path(), "a.yaml"), "new");
    assert_eq!(get(dir.path(), "b.yaml"), "mine");
}

/// A copy of a package, or one that was unpacked, has another folder.
#[test]
fn a_journal_that_came_with_a_package_does_nothing() {
    let dir = package(&[("p/a.yaml", "a"), ("p/b.yaml", "b")]);
    let package = dir.path().join("p");
    let files = read_package(&package).expect("a package");
    let changes = ["a.yaml", "b.yaml"].map(FileChange::delete);
    let mut killed = None;
    let mut watch = |path: &str| {
        if path == "a.yaml" {
            killed = Some(KilledRun::of(&package));
        }
    };
    write_watched(&files, &changes, true, &mut watch).expect("written");
    fs::rename(&package, dir.path().join("old")).expect("renamed");
    fs::create_dir(&package).expect("a folder");
    killed.expect("a killed run").restore(&package);
    recover_package(&package).expect("nothing to do");
    assert_eq!(listing(&package), ["a.yaml", "b.yaml"]);
}

/// Another process swaps a folder for a link right before each change; the link leads to the same files. Nothing changes where the link leads.
#[test]
fn a_folder_that_is_swapped_for_a_link_leads_nowhere() {
    let changes = [
        FileChange::write("d/a.yaml", "new"),
        FileChange::write("d/n.yaml", "new"),
        FileChange::delete("d/z.yaml"),
        FileChange::write("d/Kptfile", "new"),
    ];
    let before = [
        ("d/a.yaml", "a"),
        ("d/z.yaml", "z"),
        ("d/Kptfile", "k"),
        ("inside/x", "x"),
    ];
    for (late, is_inside) in ["d/a.yaml", "d/n.yaml", "d/z.yaml", "d/Kptfile"]
        .into_iter()
        .flat_map(|late| [(late, false), (late, true)])
    {
        let dir = package(&before);
        let elsewhere = package(&[]);
        let target = if is_inside {
            dir.path().join("inside")
        } else {
            elsewhere.path().join("t")
        };
        let files = read_package(dir.path()).expect("a package");
        let mut swapped = Vec::new();
        let mut watch = |path: &str| {
            if path == late {
                // The same files, so that only the link differs.
                copy(&dir.path().join("d"), &target);
                fs::rename(dir.path().join("d"), dir.path().join("was")).expect("renamed");
                link(dir.path(), &target, "d");
                swapped = listing(&target)
                    .iter()
                    .map(|path| get(&target, path))
                    .collect();
            }
        };
        let error = write_watched(&files, &changes, true, &mut watch).expect_err("a link");
        assert!(matches!(error, E::ThroughLink { .. }), "{late}: {error}");
        let after = listing(&target);
        let after: Vec<_> = after.iter().map(|path| get(&target, path)).collect();
        assert_eq!(after, swapped, "{late}");
    }
}

#[test]
fn temporary_files_are_for_their_owner_until_they_are_in_place() {
    let dir = package(&[("a.yaml", "a"), ("b.yaml", "b")]);
    set_mode(dir.path(), "a.yaml", 0o600);
    let root = Folder::open(dir.path()).expect("a folder");
    let (path, _) = temporary::make_in(&root, Path::new("")).expect("a file");
    assert_eq!(mode(dir.path(), &path.to_string_lossy()), 0o600);
    let files = read_package(dir.path()).expect("a package");
    let made = |path: &str, mode| FileChange::Write {
        path: path.to_owned(),
        bytes: Vec::new(),
        mode: Some(mode),
    };
    let changes = [
        FileChange::write("a.yaml", "new"),
        FileChange::write("b.yaml", "new"),
        made("run.sh", 0o4777),
        made("secret.yaml", 0o600),
    ];
    let mut checked = 0;
    let mut watch = |path: &str| {
        let journal = fs::metadata(journal_of(dir.path())).expect("a journal");
        assert_eq!(journal.permissions().mode() & 0o777, 0o600);
        checked += usize::from(path == "a.yaml");
    };
    write_watched(&files, &changes, true, &mut watch).expect("written");
    assert_eq!(checked, 1);
    assert_eq!(mode(dir.path(), "a.yaml"), 0o600);
    assert_eq!(mode(dir.path(), "secret.yaml"), 0o600);
    // The process that runs the tests has an umask, and no setuid bit comes from upstream.
    let probe = dir.path().join("probe");
    fs::File::create(&probe).expect("a file");
    let umask = 0o666 & !mode(dir.path(), "probe");
    assert_eq!(mode(dir.path(), "run.sh") & 0o7666, 0o666 & !umask);
}

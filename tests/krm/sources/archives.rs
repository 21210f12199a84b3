//! Tar files as upstreams.

use tar::EntryType::{Block, Char, Directory, Fifo, Link, Regular, Symlink};

use super::{Entry, all, archive, copy, files, gz, resource, tar, tar_of};
use crate::git::{Folder, KPTFILE};
use crate::running::Outcome;

#[test]
fn the_same_upgrade_from_every_source_gives_the_same_bytes() {
    let folder = Folder::new(&[]);
    for version in 1..3 {
        for (path, text) in files(version) {
            folder.put(&format!("v{version}/{path}"), &text);
            folder.put(&format!("catalog/app/{path}"), &text);
        }
        folder.commit("a version");
        folder.git(&["tag", &format!("v{version}")]);
        let tag = format!("app-{version}");
        folder.put(&format!("{tag}.tar"), archive("", version));
        folder.put(
            &format!("{tag}.tgz"),
            gz(&archive(&format!("{tag}/"), version)),
        );
        folder.put(&format!("{tag}.tar.gz"), gz(&archive("./", version)));
        folder.put(
            &format!("deep-{version}.tgz"),
            gz(&archive("top/app/", version)),
        );
        super::images::layout(
            &folder,
            "layout",
            &format!("v{version}"),
            &archive("", version),
        );
    }
    super::images::pack(&folder, "layout", "layout.tar");
    let mut expected = None;
    for (original, upstream) in [
        ("v1", "v2"),
        ("catalog//app?ref=v1", "catalog//app?ref=v2"),
        ("app-1.tar", "app-2.tar"),
        ("app-1.tgz", "app-2.tgz"),
        ("app-1.tar.gz", "app-2.tar.gz"),
        ("deep-1.tgz//app", "deep-2.tgz//top/app"),
        ("oci:layout:v1", "oci:layout:v2"),
        ("oci:layout.tar:v1", "oci:layout.tar:v2"),
        ("v1", "app-2.tgz"),
    ] {
        copy(&folder, None);
        let outcome = folder.merge(&["--original", original, "--upstream", upstream]);
        assert_eq!(outcome.code, Some(0), "{upstream}: {}", outcome.stderr);
        let merged = all(&folder, "local");
        assert_eq!(merged.len(), 7, "{upstream}: {}", outcome.stderr);
        let expected = expected.get_or_insert_with(|| merged.clone());
        assert_eq!(&merged, expected, "{upstream}");
    }
    let own = resource("a", 2, "mine");
    assert_eq!(folder.get("local/a.yaml"), own);
}

#[test]
fn the_lock_of_an_archive_is_two_annotations() {
    let folder = Folder::new(&[]);
    for version in 1..5 {
        let bytes = gz(&archive("app/", version));
        folder.put(&format!("charts/app-{version}.tgz"), bytes);
    }
    copy(&folder, Some(KPTFILE));
    let upstream = |version: usize| format!("charts/app-{version}.tgz");
    let outcome = folder.merge(&["--original", &upstream(1), "--upstream", &upstream(2)]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for version in 2..5 {
        // The lock tells the original, and a package at upstream's revision stays.
        for again in [false, true] {
            let outcome = folder.merge(&["--upstream", &upstream(version)]);
            assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
            let is_done = outcome.stderr == "already up to date\n";
            assert!(!again || is_done, "{}", outcome.stderr);
        }
        assert_eq!(folder.get("local/a.yaml"), resource("a", version, "mine"));
        let kptfile = folder.get("local/Kptfile");
        let source = format!("    fn.kpt.dev/upstream-source: {}\n", upstream(version));
        assert!(kptfile.contains(&source), "{kptfile}");
        assert_eq!(kptfile.matches("upstream-").count(), 2, "{kptfile}");
        assert!(!kptfile.contains("upstreamLock"), "{kptfile}");
    }
    // An archive that is another one now is not the original.
    folder.put("charts/app-4.tgz", gz(&archive("app/", 3)));
    let before = all(&folder, "local");
    let outcome = folder.merge(&["--upstream", &upstream(3)]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    for expected in ["OriginalNotFound", "digest sha256:"] {
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
    assert_eq!(all(&folder, "local"), before);
}

#[test]
fn an_archive_that_was_moved_is_found_next_to_the_new_one() {
    let folder = Folder::new(&[]);
    folder.put("app-1.tgz", gz(&archive("app/", 1)));
    folder.put("app-2.tgz", gz(&archive("app/", 2)));
    copy(&folder, Some(KPTFILE));
    let outcome = folder.merge(&["--original", "app-1.tgz", "--upstream", "app-1.tgz"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    std::fs::create_dir(folder.path("new")).expect("a folder");
    for name in ["app-1.tgz", "app-2.tgz"] {
        std::fs::rename(folder.path(name), folder.path("new").join(name)).expect("a file");
    }
    let outcome = folder.merge(&["--upstream", "new/app-2.tgz"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(folder.get("local/a.yaml"), resource("a", 2, "mine"));
}

#[test]
fn a_lock_moves_from_git_to_an_archive_and_back() {
    let folder = Folder::new(&[]);
    for version in 1..4 {
        for (path, text) in files(version) {
            folder.put(&format!("catalog/app/{path}"), &text);
        }
        folder.commit("a version");
        folder.git(&["tag", &format!("v{version}")]);
        folder.put(&format!("app-{version}.tar"), archive("", version));
    }
    copy(&folder, Some(KPTFILE));
    for (original, upstream, is_git) in [
        ("catalog//app?ref=v1", "catalog//app?ref=v2", true),
        ("app-2.tar", "app-3.tar", false),
        ("app-3.tar", "catalog//app?ref=v3", true),
    ] {
        let outcome = folder.merge(&["--original", original, "--upstream", upstream]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        let kptfile = folder.get("local/Kptfile");
        assert_eq!(kptfile.contains("upstreamLock"), is_git, "{kptfile}");
        assert_eq!(kptfile.contains("upstream-source"), !is_git, "{kptfile}");
    }
    // A lock in Git says nothing of an archive.
    let outcome = folder.merge(&["--upstream", "app-3.tar"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("OriginalNotFound"),
        "{}",
        outcome.stderr
    );
}

fn assert_done(outcome: &Outcome, flag: &str) {
    assert_eq!(outcome.code, Some(0), "{flag}: {}", outcome.stderr);
}

#[test]
fn kpt_reads_the_kptfile_of_every_source_after_three_updates() {
    let Some(kpt) = crate::krmv::on_path("kpt") else {
        return;
    };
    let folder = Folder::new(&[]);
    for version in 1..5 {
        for (path, text) in files(version) {
            folder.put(&format!("catalog/app/{path}"), &text);
        }
        folder.commit("a version");
        let tag = format!("v{version}");
        folder.git(&["tag", &tag]);
        let tar = archive("app/", version);
        super::images::layout(&folder, "layout", &tag, &tar);
        folder.put(&format!("{tag}.tgz"), gz(&tar));
        folder.put(&format!("{tag}.tar"), tar);
    }
    super::images::pack(&folder, "layout", "layout.tar");
    for (before, after) in [
        ("catalog//app?ref=", ""),
        ("", ".tar"),
        ("", ".tgz"),
        ("oci:layout:", ""),
        ("oci:layout.tar:", ""),
    ] {
        copy(&folder, Some(KPTFILE));
        let flag = |version: usize| format!("{before}v{version}{after}");
        let outcome = folder.merge(&["--original", &flag(1), "--upstream", &flag(1)]);
        assert_done(&outcome, &flag(1));
        for version in 2..5 {
            let outcome = folder.merge(&["--upstream", &flag(version)]);
            assert_done(&outcome, &flag(version));
            assert_eq!(folder.get("local/a.yaml"), resource("a", version, "mine"));
            // kpt stumbles over what `.krmignore` names.
            let _ = std::fs::remove_file(folder.path("local/ignored.yaml"));
            let recorded = folder.get("local/Kptfile");
            let outcome = folder.run(&kpt.to_string_lossy(), &["fn", "render", "local"]);
            assert_done(&outcome, &flag(version));
            let kptfile = folder.get("local/Kptfile");
            for line in recorded.lines() {
                assert!(kptfile.contains(line.trim()), "{line}: {kptfile}");
            }
        }
    }
}

fn hostile(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut all = vec![("a.yaml", Regular, "{}\n")];
    all.extend(entries);
    tar(&all)
}

#[test]
fn hostile_archives_are_refused_and_nothing_is_written() {
    let folder = Folder::new(&[]);
    folder.put("v1.tar", archive("", 1));
    let mut lying = archive("", 1);
    // The size of the first file, in octal: 7 GB.
    lying[124..136].copy_from_slice(b"70000000000\0");
    let sum: u32 = lying[..148]
        .iter()
        .chain(&lying[156..512])
        .map(|byte| u32::from(*byte))
        .sum();
    lying[148..156].copy_from_slice(format!("{:06o}\0 ", sum + 8 * 32).as_bytes());
    let mut cut = archive("", 1);
    cut.truncate(700);
    for (name, bytes, expected) in [
        (
            "parent.tar",
            hostile(&[("../x.yaml", Regular, "")]),
            "'..' component",
        ),
        (
            "within.tar",
            hostile(&[("d/../../x", Regular, "")]),
            "'..' component",
        ),
        (
            "folder.tar",
            hostile(&[("../d/", Directory, "")]),
            "'..' component",
        ),
        ("root.tar", hostile(&[("/etc/x", Regular, "")]), "absolute"),
        ("back.tar", hostile(&[("a\\x", Regular, "")]), "backslash"),
        (
            "git.tar",
            hostile(&[(".git/hooks/x", Regular, "")]),
            "a '.git'",
        ),
        (
            "twice.tar",
            hostile(&[("a.yaml", Regular, "")]),
            "found `a.yaml` twice",
        ),
        (
            "dots.tar",
            hostile(&[("./a.yaml", Regular, "")]),
            "found `a.yaml` twice",
        ),
        (
            "both.tar",
            hostile(&[("a.yaml/b", Regular, "")]),
            "found both",
        ),
        (
            "both2.tar",
            hostile(&[("a.yaml/", Directory, "")]),
            "found both",
        ),
        ("lying.tgz", gz(&lying), "with at most 128 MB"),
        ("cut.tar", cut, "damaged"),
        ("text.tgz", b"kind: Text\n".to_vec(), "damaged"),
        ("gz.tgz", gz(b"kind: Text\n"), "damaged"),
        ("magic.tgz", vec![0x1f, 0x8b, 8, 0, 1], "damaged"),
    ] {
        folder.put(name, bytes);
        copy(&folder, Some(KPTFILE));
        let before = all(&folder, "local");
        let outcome = folder.merge(&["--original", "v1.tar", "--upstream", name]);
        assert_eq!(outcome.code, Some(2), "{name}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(expected),
            "{name}: {}",
            outcome.stderr
        );
        assert_eq!(all(&folder, "local"), before, "{name}");
    }
}

#[test]
fn a_bomb_is_refused_while_it_is_read() {
    let folder = Folder::new(&[]);
    folder.put("v1.tar", archive("", 1));
    copy(&folder, None);
    // 64 MB of zeros, 8 MB at a time: each file is small, all are too much.
    let zeros = tar_of(&[("f", "\0".repeat(8 << 20))]);
    let content = gz(&zeros[512..zeros.len() - 1024]);
    let mut bomb = Vec::new();
    for number in 0..8 {
        let mut header = tar::Header::new_gnu();
        header.set_path(format!("f{number}")).expect("a name");
        header.set_size(8 << 20);
        header.set_cksum();
        bomb.extend(gz(header.as_bytes()));
        bomb.extend(&content);
    }
    folder.put("bomb.tgz", bomb);
    // A name as long as that, which no header says.
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(64 << 20);
    header.set_cksum();
    let name = [gz(header.as_bytes()), content.repeat(8)].concat();
    folder.put("name.tgz", name);
    // Each path names thousands of folders.
    let mut folders = tar::Builder::new(Vec::new());
    for number in 0..100 {
        let path = format!("{number}/{}a.yaml", "x/".repeat(2000));
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        let added = folders.append_data(&mut header, path, &b""[..]);
        added.expect("an entry");
    }
    let folders = folders.into_inner().expect("an archive");
    folder.put("folders.tgz", gz(&folders));
    for name in ["bomb.tgz", "name.tgz", "folders.tgz"] {
        let outcome = folder.merge(&["--original", "v1.tar", "--upstream", name]);
        assert_eq!(outcome.code, Some(2), "{name}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(" MB for its "),
            "{name}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn links_and_devices_of_archives() {
    let folder = Folder::new(&[]);
    folder.put("v1.tar", archive("", 1));
    let text = resource("a", 2, "0");
    folder.put(
        "v2.tar",
        tar(&[
            ("real/a.txt", Regular, &text),
            ("a.yaml", Symlink, "real/a.txt"),
            ("hard.md", Link, "real/a.txt"),
            ("out.yaml", Symlink, "../../etc/passwd"),
            ("abs.yaml", Symlink, "/etc/passwd"),
            ("loop.yaml", Symlink, "loop.yaml"),
            ("hard.yaml", Link, "../x"),
            ("fifo.yaml", Fifo, ""),
            ("char.yaml", Char, ""),
            ("block.yaml", Block, ""),
        ]),
    );
    copy(&folder, None);
    let outcome = folder.merge(&["--original", "v1.tar", "--upstream", "v2.tar"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    for path in ["out", "abs", "loop", "hard", "fifo", "char", "block"] {
        let path = format!("{path}.yaml");
        assert!(!folder.path("local").join(&path).exists(), "{path}");
        assert!(outcome.stderr.contains(&path), "{path}: {}", outcome.stderr);
    }
    assert_eq!(
        outcome.stderr.matches("v2.tar: skipped").count(),
        7,
        "{}",
        outcome.stderr
    );
    // A link is a file of its own: the file of local stays, and is named.
    let warning = "a.yaml: not taken from upstream: a symbolic link";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    assert_eq!(folder.get("local/a.yaml"), resource("a", 1, "mine"));
    assert_eq!(folder.get("local/hard.md"), text);
}

#[test]
fn a_folder_that_an_archive_lacks_is_named() {
    let folder = Folder::new(&[]);
    folder.put("v1.tar", archive("", 1));
    copy(&folder, None);
    let outcome = folder.merge(&["--original", "v1.tar", "--upstream", "v1.tar//crds"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("expected a folder `crds`"),
        "{}",
        outcome.stderr
    );
}

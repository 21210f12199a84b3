//! Any paths and any `.krmignore` in a directory, and any revision of a repository: read, or an error; and nothing is
//! written outside of the package, into its `.git`, or through its links.
//!
//! The file system of a temporary directory says where a path leads, and `gix` whether another file system takes a
//! component for `.git`.

#![no_main]

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use krm_core::config::Config;
use krm_function::{Inputs, Items, SuppliedInput, run};
use krm_package::{FileChange, check_package_path, normalize_package_path, read_package, write_package};
use krm_function::supplied::Role;
use libfuzzer_sys::fuzz_target;

const RESOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// A directory with a package, a file next to it and a repository. The package has a `.git`, and links out of it, into
/// its `.git` and into its other folder.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("krm-variants-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(place.join("package/sub")).expect("a folder");
    std::fs::create_dir_all(place.join("repository/d")).expect("a folder");
    std::fs::write(place.join("repository/d/a.yaml"), RESOURCE).expect("a file");
    std::fs::write(place.join("package/sub/a.yaml"), RESOURCE).expect("a file");
    std::fs::write(place.join("beside"), "").expect("a file");
    std::fs::create_dir_all(place.join("package/.git/hooks")).expect("a folder");
    for (target, link) in [("..", "out"), (".git", "git"), ("sub", "in"), (".git/hooks", "sub/hooks")] {
        std::os::unix::fs::symlink(target, place.join("package").join(link)).expect("a link");
    }
    for arguments in ["init -q", "add -A", "-c user.name=a -c user.email=a@b.c commit -qm a", "tag v1", "tag d/v1"] {
        let git = Command::new("git").args(arguments.split(' ')).current_dir(place.join("repository")).status();
        assert!(git.expect("git runs").success());
    }
    place
});

/// What is in a directory without the package's own folders, in which a run may write.
fn others() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["", "package/.git", "package/.git/hooks", "package/sub"] {
        let entries = std::fs::read_dir(PLACE.join(folder)).expect("a folder");
        found.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    found.sort();
    found
}

/// Whether any file system takes a component for `.git`, as Git judges.
fn leads_into_git(path: &str) -> bool {
    let strict = gix_validate::path::component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    path.split(['/', '\\']).any(|component| {
        let judged = gix_validate::path::component(component.into(), None, strict);
        matches!(judged, Err(gix_validate::path::component::Error::DotGitDir))
    })
}

/// Whether a folder on the way to a file of the package is a link.
fn leads_through_link(path: &str) -> bool {
    let mut folders = std::path::Path::new(path).ancestors().skip(1);
    folders.any(|folder| PLACE.join("package").join(folder).is_symlink())
}

fuzz_target!(|input: (&str, &str, &str, &str)| {
    let (path, rules, directory, revision) = input;
    let package = PLACE.join("package");
    std::fs::write(package.join(".krmignore"), rules).expect("a file");
    if let Ok(files) = read_package(&package) {
        let is_fine = check_package_path(path).is_ok();
        assert!(!is_fine || !leads_into_git(path), "{path:?} is accepted");
        let before = others();
        if write_package(&files, &[FileChange::write(path, RESOURCE)]).is_ok() {
            // A file on disk may have a backslash in its name; a new one of a package may not.
            assert!(is_fine || path.contains('\\'), "{path:?} was written");
            assert!(!leads_into_git(path) && !leads_through_link(path), "{path:?} was written");
            let path = &normalize_package_path(path);
            let inside = package.join(path).canonicalize().expect("the file");
            let root = package.canonicalize().expect("the package");
            let inside = inside.strip_prefix(root).expect("inside of the package");
            assert!(!inside.starts_with(".git"), "{path:?} was written into .git");
            let new: Vec<_> = others().into_iter().filter(|found| !before.contains(found)).collect();
            assert!(new.iter().all(|found| PLACE.join("package").join(path).starts_with(found)), "{path:?}: {new:?}");
            let files = read_package(&package).expect("a package");
            let _ = write_package(&files, &[FileChange::delete(path)]);
            let _ = std::fs::remove_file(package.join(path));
        }
    }
    let beside = std::fs::read_dir(&*PLACE).expect("a folder").count();
    assert_eq!(beside, 3, "{path:?} was written beside the package");
    if directory.contains('\0') || revision.contains('\0') {
        return;
    }
    let source = format!("{}//{directory}?ref={revision}", PLACE.join("repository").display());
    let inputs = Inputs {
        config: Config::parse(String::new(), "config").ok(),
        supplied: vec![
            (Role::Original, SuppliedInput::Files([("a.yaml".to_owned(), RESOURCE.to_owned())].into())),
            (Role::Upstream, SuppliedInput::Path(source.into())),
        ],
        ..Inputs::default()
    };
    let items = Items::Package([("a.yaml".to_owned(), RESOURCE.as_bytes().to_vec())].into());
    let _ = run(&merge_package::FUNCTION, inputs, items);
});

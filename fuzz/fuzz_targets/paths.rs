//! Any paths and any `.krmignore` in a directory, and any revision of a repository: read, or an error; and nothing is
//! written outside of the package.

#![no_main]

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use krm_variants::config::Config;
use krm_variants::functions::{Inputs, Items, SuppliedInput, merge_package, run};
use krm_variants::package::{FileChange, check_package_path, read_package, write_package};
use krm_variants::supplied::Role;
use libfuzzer_sys::fuzz_target;

const RESOURCE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

/// A directory with a package, a file beside it and a repository.
static PLACE: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = std::env::temp_dir().join(format!("krm-variants-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(place.join("package/sub")).expect("a folder");
    std::fs::create_dir_all(place.join("repository/d")).expect("a folder");
    std::fs::write(place.join("repository/d/a.yaml"), RESOURCE).expect("a file");
    std::fs::write(place.join("package/sub/a.yaml"), RESOURCE).expect("a file");
    std::fs::write(place.join("beside"), "").expect("a file");
    for arguments in ["init -q", "add -A", "-c user.name=a -c user.email=a@b.c commit -qm a", "tag v1", "tag d/v1"] {
        let git = Command::new("git").args(arguments.split(' ')).current_dir(place.join("repository")).status();
        assert!(git.expect("git runs").success());
    }
    place
});

fuzz_target!(|input: (&str, &str, &str, &str)| {
    let (path, rules, directory, revision) = input;
    let package = PLACE.join("package");
    std::fs::write(package.join(".krmignore"), rules).expect("a file");
    if let Ok(files) = read_package(&package) {
        let is_fine = check_package_path(path).is_ok();
        if write_package(&files, &[FileChange::write(path, RESOURCE)]).is_ok() {
            // A file on disk may have a backslash in its name; a new one of a package may not.
            assert!(is_fine || path.contains('\\'), "{path:?} was written");
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

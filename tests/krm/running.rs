//! Running the binaries, for all tests of functions.

use std::path::Path;
use std::sync::LazyLock;

use assert_cmd::Command;
use krmv::FUNCTIONS;
use tempfile::TempDir;

/// What a run gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Fails with what was printed unless the exit code is this one.
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
    }
}

/// The program of a function: a link to `krmv`, which is the function by the link's name. Each function has a test of its
/// own program next to it.
pub(crate) fn function(name: &str) -> &'static str {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder");
        for function in FUNCTIONS {
            let link = folder.path().join(function.name);
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_krmv"), link).expect("a link");
        }
        folder
    });
    let path = FOLDER.path().join(name);
    path.to_str().expect("UTF-8").to_owned().leak()
}

/// The binary of `set-package-context`.
pub(crate) fn set_package_context() -> &'static str {
    function("set-package-context")
}

/// Runs `set-package-context` with these arguments and this standard input.
pub(crate) fn run(arguments: &[&str], stdin: impl Into<Vec<u8>>) -> Outcome {
    run_in(Path::new("."), arguments, stdin)
}

/// The same in a directory, so that messages can name files by relative paths.
pub(crate) fn run_in(directory: &Path, arguments: &[&str], stdin: impl Into<Vec<u8>>) -> Outcome {
    let output = Command::new(set_package_context())
        .current_dir(directory)
        .args(arguments)
        .write_stdin(stdin)
        .output()
        .expect("the binary runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
    }
}

/// Head of a ResourceList.
pub(crate) const WRAPPER: &str =
    "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n";

/// The Kptfile of the root package, as an item.
pub(crate) const KPTFILE: &str = "\
- apiVersion: kpt.dev/v1
  kind: Kptfile
  metadata:
    name: example
    annotations:
      internal.config.kubernetes.io/path: Kptfile
";

/// The package context of the root package, as an item.
pub(crate) const CONTEXT: &str = "\
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: kptfile.kpt.dev
    annotations:
      internal.config.kubernetes.io/path: package-context.yaml
  data:
    name: example
";

/// A ResourceList of these items.
pub(crate) fn list(items: &[&str]) -> String {
    format!("{WRAPPER}{}", items.concat())
}

/// A ResourceList of the package with this functionConfig, written from column 0.
pub(crate) fn with_config(config: &str) -> String {
    let config: String = config.lines().map(|line| format!("  {line}\n")).collect();
    format!("{WRAPPER}{KPTFILE}{CONTEXT}functionConfig:\n{config}")
}

//! `render-fleet` over directories: every policy, and what must hold of any run.

mod drafts;
mod laws;
mod namespaces;
mod on_kubernetes;
mod ownership;
mod policies;
mod report;
mod withdrawn;

use std::path::Path;

use crate::git::{Folder, files_in};
use crate::running::Outcome;
use crate::running::function;

fn render_fleet() -> &'static str {
    function("render-fleet")
}

/// A PackageVariant: name, upstream revision, downstream repository and package, other fields of `spec`.
pub(crate) fn variant(name: &str, revision: &str, place: &str, more: &str) -> String {
    let (repo, package) = place.split_once('/').expect("REPO/PACKAGE");
    format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: {name}\nspec:\n  \
         upstream: {{repo: catalog, package: nginx, revision: {revision}}}\n  downstream: {{repo: {repo}, package: {package}}}\n{more}"
    )
}

/// A fleet whose catalog is the Git repository of [`crate::git::catalog`].
pub(crate) struct Fleet {
    pub(crate) folder: Folder,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        let folder = crate::git::catalog(&[]);
        std::fs::create_dir(folder.path("variants")).expect("a folder");
        Self { folder }
    }

    pub(crate) fn put(&self, name: &str, revision: &str, place: &str, more: &str) {
        let text = variant(name, revision, place, more);
        self.folder.put(&format!("variants/{name}.yaml"), text);
    }

    pub(crate) fn drop(&self, name: &str) {
        std::fs::remove_file(self.folder.path(&format!("variants/{name}.yaml"))).expect("a file");
    }

    pub(crate) fn run(&self, more: &[&str]) -> Outcome {
        let mut arguments = vec![
            "--package",
            "fleet",
            "--variants",
            "variants",
            "--catalog",
            "catalog=catalog",
        ];
        arguments.extend(more);
        self.folder.run(render_fleet(), &arguments)
    }

    /// Runs, and expects this exit code and these texts on standard error.
    pub(crate) fn expect(&self, more: &[&str], code: i32, texts: &[&str]) -> Outcome {
        let outcome = self.run(more);
        assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
        for text in texts {
            assert!(outcome.stderr.contains(text), "{text}: {}", outcome.stderr);
        }
        outcome
    }

    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let fleet = self.folder.path("fleet");
        if fleet.exists() {
            files_in(&fleet)
        } else {
            Vec::new()
        }
    }

    pub(crate) fn edit(&self, path: &str, old: &str, new: &str) {
        let text = self.folder.get(path);
        assert!(text.contains(old), "{text}");
        self.folder.put(path, text.replace(old, new));
    }
}

/// Copies a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    for (path, bytes) in files_in(from) {
        let path = to.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, bytes).expect("a file");
    }
}

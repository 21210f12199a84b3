//! The files that any revision of a package ignores.

use std::collections::BTreeSet;

use super::PackageError;
use super::files::Package;
use super::krmignore::{KRMIGNORE, Krmignore};
use super::path::folders_above;

/// What the `.krmignore` files of several revisions of one package ignore together.
pub struct Ignored {
    rules: Vec<Krmignore>,
    /// The folders of sub-packages in any revision.
    packages: BTreeSet<String>,
}

impl Ignored {
    /// # Errors
    /// [`PackageError`]: a `.krmignore` file that can no longer be read.
    pub fn by<'p>(revisions: impl IntoIterator<Item = &'p Package>) -> Result<Self, PackageError> {
        let (mut rules, mut packages) = (Vec::new(), BTreeSet::from([String::new()]));
        for revision in revisions {
            for (path, _) in revision.files() {
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                if name == "Kptfile" {
                    packages.insert(folder.to_owned());
                } else if name == KRMIGNORE {
                    let text = revision.read(path)?;
                    let text = String::from_utf8_lossy(&text);
                    rules.push(Krmignore::parse(folder.to_owned(), &text));
                }
            }
        }
        rules.retain(|rules| packages.contains(&rules.folder));
        Ok(Self { rules, packages })
    }

    /// Whether no revision ignores anything.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a file is ignored, or a folder around it.
    pub fn has(&self, path: &str) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let folders = folders_above(path);
        let mut package = "";
        for (part, is_folder) in folders.map(|folder| (folder, true)).chain([(path, false)]) {
            let mut rules = self.rules.iter().filter(|rules| rules.folder == package);
            if rules.any(|rules| rules.ignores(part, is_folder)) {
                return true;
            }
            if self.packages.contains(part) {
                package = part;
            }
        }
        false
    }
}

//! Refuses a kustomization that `kustomize build` would complete from elsewhere: from another machine, or from a folder
//! outside of the source.
//!
//! ```text
//! resources:
//! - ../base                                  a folder of the source
//! - https://example.com/all.yaml             refused
//! - github.com/example/app//deploy?ref=v1    refused
//! - ../../../../home/ann/private             refused
//! ```
//!
//! `kustomize` has no flag for it. It loads a base from wherever its path leads, and a file from any `http(s)` address.
//!
//! The same walk finds what a kustomization reads outside of its folder, so that a change there counts.

use std::collections::BTreeSet;

use krm_core::config::UsageError;
use krm_package::Package;
use krm_yaml::{NodeRef, OwnedDocument};

/// The names of a kustomization, folded as some file systems do.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "kustomization"];

/// The lists of files and folders that are bases, or are read as kustomizations are.
const LISTS: [&str; 7] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
    "crds",
];

/// The most kustomizations of one build.
const MOST: usize = 1_000;

/// The most texts in a kustomization, and how deep they are.
const MOST_TEXTS: usize = 200_000;
const DEEPEST: usize = 64;

/// The files around a kustomization.
pub trait KustomizationFiles {
    /// The names in a folder.
    fn names(&self, folder: &str) -> Vec<String>;

    /// The bytes of a file. `None` if there is no such file.
    ///
    /// # Errors
    /// [`UsageError`]: the file cannot be read.
    fn file(&self, path: &str) -> Result<Option<Vec<u8>>, UsageError>;

    /// Whether there is a folder with this path.
    fn is_folder(&self, path: &str) -> bool;
}

type ReadFile<'l> = &'l dyn Fn(&str) -> Result<Option<Vec<u8>>, UsageError>;

/// The files around a kustomization, as functions.
pub struct KustomizationLookup<'l> {
    pub names: &'l dyn Fn(&str) -> Vec<String>,
    pub file: ReadFile<'l>,
    pub is_folder: &'l dyn Fn(&str) -> bool,
}

impl KustomizationFiles for KustomizationLookup<'_> {
    fn names(&self, folder: &str) -> Vec<String> {
        (self.names)(folder)
    }

    fn file(&self, path: &str) -> Result<Option<Vec<u8>>, UsageError> {
        (self.file)(path)
    }

    fn is_folder(&self, path: &str) -> bool {
        (self.is_folder)(path)
    }
}

impl KustomizationFiles for Package {
    fn names(&self, folder: &str) -> Vec<String> {
        let names = self.files().filter_map(|(path, _)| {
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            (above == folder).then(|| name.to_owned())
        });
        names.collect()
    }

    fn file(&self, path: &str) -> Result<Option<Vec<u8>>, UsageError> {
        if self.get(path).is_none() {
            return Ok(None);
        }
        let bytes = self.read(path).map_err(UsageError::of)?;
        Ok(Some(bytes.into_owned()))
    }

    fn is_folder(&self, path: &str) -> bool {
        let start = format!("{path}/");
        path.is_empty() || self.files().any(|(path, _)| path.starts_with(&start))
    }
}

/// Refuses the kustomization in a folder if it, or one that it names, leads out of the source.
///
/// # Errors
/// [`UsageError`] with the file and the text.
pub fn refuse_remote(source: &dyn KustomizationFiles, folder: &str) -> Result<(), UsageError> {
    KustomizationWalk::new(source, folder).run()
}

/// The files and folders that the kustomization in a folder reads outside of it. If it leads out of the source, those that
/// were found until there.
pub fn paths_beside(source: &dyn KustomizationFiles, folder: &str) -> BTreeSet<String> {
    let mut walk = KustomizationWalk::new(source, folder);
    // A render says what is wrong.
    let _ = walk.run();
    walk.beside
}

/// A walk through a kustomization and those that it names.
struct KustomizationWalk<'s> {
    source: &'s dyn KustomizationFiles,
    /// The folder where it began.
    start: String,
    seen: BTreeSet<String>,
    pending: Vec<String>,
    /// What was found outside of the folder.
    beside: BTreeSet<String>,
}

impl<'s> KustomizationWalk<'s> {
    fn new(source: &'s dyn KustomizationFiles, folder: &str) -> Self {
        let start = folder.trim_matches('/').to_owned();
        Self {
            source,
            pending: vec![start.clone()],
            start,
            seen: BTreeSet::new(),
            beside: BTreeSet::new(),
        }
    }

    fn run(&mut self) -> Result<(), UsageError> {
        while let Some(folder) = self.pending.pop() {
            if !self.seen.insert(folder.clone()) {
                continue;
            }
            if self.seen.len() > MOST {
                let message = format!("expected at most {MOST} kustomizations, found more");
                return Err(UsageError::of(message));
            }
            let names = self.source.names(&folder).into_iter();
            for name in names.filter(|name| NAMES.contains(&name.to_lowercase().as_str())) {
                let path = below(&folder, &name).unwrap_or(name);
                if let Some(bytes) = self.source.file(&path)? {
                    self.look(&path, &bytes, &folder)?;
                }
            }
        }
        Ok(())
    }

    /// Looks at a kustomization, or at the configuration of a generator or transformer.
    fn look(&mut self, path: &str, bytes: &[u8], folder: &str) -> Result<(), UsageError> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let wrong = |what: String| UsageError::of(format!("{path}: {what}"));
        let document =
            OwnedDocument::parse_resource(text).map_err(|error| wrong(error.to_string()))?;
        let document = document.document();
        let mut found = Vec::new();
        for at in 0..document.len() {
            let is_whole = document
                .root(at)
                .is_none_or(|root| references(root, "", &mut found, 0));
            if !is_whole {
                let message = "expected a kustomization, found one that is too deep or too long";
                return Err(wrong(message.to_owned()));
            }
        }
        for NamedPath { list, text } in found {
            let refused = |why: &str| {
                wrong(format!(
                    "expected a file or folder of the source, found `{}`: {why}",
                    text.escape_debug()
                ))
            };
            if text.contains("://") {
                return Err(refused("krmv renders without the network"));
            }
            if text.is_empty() || text.contains('\n') {
                continue;
            }
            if !LISTS.contains(&list.as_str()) {
                self.note_named(folder, &text)?;
                continue;
            }
            let target =
                below(folder, &text).ok_or_else(|| refused("it leads out of the source"))?;
            self.note(&target);
            match self.source.file(&target)? {
                Some(bytes) => {
                    if ["generators", "transformers", "validators"].contains(&list.as_str()) {
                        self.look(&target, &bytes, folder)?;
                    }
                }
                None if self.source.is_folder(&target) => self.pending.push(target),
                None => {
                    return Err(refused(
                        "it is not there, and krmv renders without the network",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Notes a patch, or a file of a generator with or without a key, if it is outside of the folder.
    fn note_named(&mut self, folder: &str, text: &str) -> Result<(), UsageError> {
        if !text.contains("..") {
            return Ok(());
        }
        let path = text.split_once('=').map_or(text, |(_, path)| path);
        if let Some(target) = below(folder, path)
            && (self.source.is_folder(&target) || self.source.file(&target)?.is_some())
        {
            self.note(&target);
        }
        Ok(())
    }

    fn note(&mut self, target: &str) {
        let inner = target.strip_prefix(self.start.as_str());
        let is_inner = inner.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !is_inner && !self.start.is_empty() {
            self.beside.insert(target.to_owned());
        }
    }
}

/// A text in a kustomization, and the field at the root that has it, folded as `kustomize` reads it.
struct NamedPath {
    list: String,
    text: String,
}

/// Fields whose texts are no paths.
const TEXTS: [&str; 8] = [
    "metadata",
    "commonannotations",
    "commonlabels",
    "labels",
    "images",
    "literals",
    "patch",
    "value",
];

/// Collects all texts that may be paths. False if there are too many: aliases multiply them.
fn references(node: NodeRef<'_>, list: &str, found: &mut Vec<NamedPath>, depth: usize) -> bool {
    let node = node.resolved();
    if depth > DEEPEST || found.len() > MOST_TEXTS {
        return false;
    }
    for entry in node.entries() {
        let key = entry.key.resolved().scalar_text().unwrap_or_default();
        let key = key.to_lowercase();
        let is_text = TEXTS.contains(&key.as_str());
        // A merge key has the fields of its surroundings.
        let list = match list {
            "" if key != "<<" => &key,
            list => list,
        };
        if !is_text && !references(entry.value, list, found, depth + 1) {
            return false;
        }
    }
    if !node
        .items()
        .all(|item| references(item, list, found, depth + 1))
    {
        return false;
    }
    // An empty list or mapping counts too: the walk is bounded by what it finds.
    let text = node.scalar_text().unwrap_or_default();
    found.push(NamedPath {
        list: list.to_owned(),
        text: text.to_owned(),
    });
    true
}

/// A path from a folder of the source. `None` if it is absolute, or leads out of the source.
fn below(folder: &str, text: &str) -> Option<String> {
    if text.is_empty() || text.starts_with(['/', '\\', '~']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(files: &[(&str, &str)]) -> Package {
        let files = files.iter();
        files
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn a_kustomization_within_the_source_is_taken() {
        let all = source(&[
            ("base/kustomization.yaml", "resources: [a.yaml]\n"),
            ("base/a.yaml", "a: 1\n"),
            (
                "app/Kustomization",
                "resources:\n- ../base\n- ./b.yaml\ncommonAnnotations:\n  home: https://example.com\nimages:\n- \
                 name: https://x\npatches:\n- patch: |\n    url: https://example.com\n",
            ),
            ("app/b.yaml", "b: https://example.com\n"),
        ]);
        assert!(refuse_remote(&all, "app").is_ok());
    }

    #[test]
    fn files_outside_of_the_folder_are_found() {
        let all = source(&[
            (
                "apps/web/kustomization.yaml",
                "resources: [../../base, own.yaml, ../web/more]\ncomponents: [../shared]\npatches:\n- path: \
                 ../patches/a.yaml\n- path: own-patch.yaml\nconfigMapGenerator:\n- name: a\n  files: [k=../k.ini, \
                 ../gone.ini]\ncommonAnnotations: {a: ../notes}\n",
            ),
            ("apps/web/own.yaml", "a: 1\n"),
            (
                "apps/web/more/kustomization.yaml",
                "resources: [../../one.yaml]\n",
            ),
            ("apps/one.yaml", "a: 1\n"),
            (
                "apps/shared/kustomization.yaml",
                "generators: [../g.yaml]\n",
            ),
            (
                "apps/g.yaml",
                "kind: ConfigMapGenerator\nfiles: [../f.txt]\n",
            ),
            ("apps/f.txt", "f\n"),
            ("apps/patches/a.yaml", "a: 1\n"),
            ("apps/k.ini", "k\n"),
            ("apps/notes", "k\n"),
            ("base/kustomization.yaml", "resources: [../deep]\n"),
            ("deep/kustomization.yaml", "resources: []\n"),
            ("other/kustomization.yaml", "resources: []\n"),
        ]);
        let found = paths_beside(&all, "apps/web");
        let expected = [
            "apps/f.txt",
            "apps/g.yaml",
            "apps/k.ini",
            "apps/one.yaml",
            "apps/patches/a.yaml",
            "apps/shared",
            "base",
            "deep",
        ];
        assert_eq!(found.iter().collect::<Vec<_>>(), expected);
        // The root of the source has everything.
        let root = source(&[
            ("kustomization.yaml", "resources: [base]\n"),
            ("base/a", ""),
        ]);
        assert!(paths_beside(&root, "").is_empty());
    }

    #[test]
    fn a_kustomization_that_leads_elsewhere_is_refused() {
        for text in [
            "resources: [https://example.com/all.yaml]\n",
            "resources:\n- github.com/example/app//deploy?ref=v1\n",
            "Resources: [git@github.com:example/app]\n",
            "bases: [\"https://127.0.0.1:8080/x\"]\n",
            "components: [../../../home]\n",
            "resources: [/etc]\n",
            "crds: [missing.json]\n",
            "patches:\n- path: https://example.com/p.yaml\n",
            "configMapGenerator:\n- files: [a=https://example.com/p.yaml]\n",
            "openapi: {path: \"http://localhost/x\"}\n",
            "resources: [../other]\n",
            "transformers: [t.yaml]\n",
            "commonLabels: {a: &a github.com/example/app}\nresources: [*a]\n",
            "commonLabels: {a: &a {resources: [https://x/y]}}\n<<: *a\n",
        ] {
            let all = source(&[
                ("app/kustomization.yaml", text),
                ("app/t.yaml", "kind: PatchTransformer\npath: https://x/y\n"),
                ("other/kustomization.yml", "resources: [https://x/y]\n"),
            ]);
            let error = refuse_remote(&all, "app").expect_err(text);
            assert!(
                error.to_string().contains("expected a file or folder"),
                "{error}"
            );
        }
    }
}

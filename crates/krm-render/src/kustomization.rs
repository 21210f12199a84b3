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

/// Refuses the kustomization in a folder if it, or one that it names, leads out of the source.
///
/// # Errors
/// [`UsageError`] with the file and the text.
pub fn refuse_remote(source: &Package, folder: &str) -> Result<(), UsageError> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![folder.trim_matches('/').to_owned()];
    while let Some(folder) = pending.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        if seen.len() > MOST {
            let message = format!("expected at most {MOST} kustomizations, found more");
            return Err(UsageError::of(message));
        }
        for (path, _) in source.files().filter(|(path, _)| is_of(path, &folder)) {
            look(source, path, &folder, &mut pending)?;
        }
    }
    Ok(())
}

/// Whether a path is that of the kustomization in a folder.
fn is_of(path: &str, folder: &str) -> bool {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    above == folder && NAMES.contains(&name.to_lowercase().as_str())
}

/// Looks at a kustomization, or at the configuration of a generator or transformer.
fn look(
    source: &Package,
    path: &str,
    folder: &str,
    pending: &mut Vec<String>,
) -> Result<(), UsageError> {
    let bytes = source.read(path).map_err(UsageError::of)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let wrong = |what: String| UsageError::of(format!("{path}: {what}"));
    let document = OwnedDocument::parse_resource(text).map_err(|error| wrong(error.to_string()))?;
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
        if !LISTS.contains(&list.as_str()) || text.is_empty() || text.contains('\n') {
            continue;
        }
        let target = below(folder, &text).ok_or_else(|| refused("it leads out of the source"))?;
        let is_file = source.get(&target).is_some();
        let start = format!("{target}/");
        let is_folder =
            target.is_empty() || source.files().any(|(path, _)| path.starts_with(&start));
        match (is_file, is_folder) {
            (true, _) if ["generators", "transformers", "validators"].contains(&list.as_str()) => {
                look(source, &target, folder, pending)?;
            }
            (true, _) => {}
            (false, true) => pending.push(target),
            (false, false) => {
                return Err(refused(
                    "it is not there, and krmv renders without the network",
                ));
            }
        }
    }
    Ok(())
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

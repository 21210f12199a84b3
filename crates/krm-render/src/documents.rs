//! What a program printed, as the files of a package.
//!
//! ```text
//! ---                                       templates/app.yaml: the document, with its comments
//! # Source: web/templates/app.yaml
//! apiVersion: apps/v1
//! ```
//!
//! A document without such a comment is in a file named after its resource, as a merge names it.

use std::collections::BTreeMap;

use krm_core::resource::Resource;
use krm_core::resource_key::ResourceKey;
use krm_core::results::FunctionResult;
use krm_package::{Package, PackageFile, check_package_path, is_krm_name, normalize_package_path};
use krm_yaml::{EditError, OwnedDocument};

use crate::random::{KnownValues, RandomPlace, places};

/// A document that was printed.
#[derive(Debug)]
struct PrintedDocument {
    path: String,
    /// Without the line `---`.
    text: String,
    resource: Option<Resource>,
}

/// Separates what was printed into documents. Those without content are left out.
fn separated(printed: &str) -> Vec<PrintedDocument> {
    let mut texts = vec![String::new()];
    for line in printed.split_inclusive('\n') {
        let is_start = line.trim_end() == "---" || line.starts_with("--- ");
        match texts.last_mut() {
            Some(text) if !is_start => text.push_str(line),
            _ => {
                let rest = line.get(3..).unwrap_or_default().trim_start();
                texts.push(rest.to_owned());
            }
        }
    }
    let is_content = |line: &str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && line != "..."
    };
    let texts = texts.into_iter();
    let texts = texts.filter(|text| text.lines().any(is_content));
    texts.map(PrintedDocument::of).collect()
}

impl PrintedDocument {
    fn of(mut text: String) -> Self {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let parsed = OwnedDocument::parse_resource(text.clone()).ok();
        let resource = parsed.as_ref().and_then(|document| {
            let resource = Resource::read(document.root()?);
            let is_resource = !resource.kind.is_empty() && !resource.api_version.is_empty();
            is_resource.then_some(resource)
        });
        Self {
            path: named_path(&text).unwrap_or_else(|| own_path(resource.as_ref())),
            text,
            resource,
        }
    }
}

/// The path in the comment of a document, without the name of the chart in front.
fn named_path(text: &str) -> Option<String> {
    let head = text.lines().map(str::trim_end);
    let mut head = head.take_while(|line| line.is_empty() || line.starts_with('#'));
    let source = head.find_map(|line| line.strip_prefix("# Source: "))?;
    let (_, path) = source.split_once('/')?;
    let is_taken = is_krm_name(path) && path.contains('.') && check_package_path(path).is_ok();
    is_taken.then(|| normalize_package_path(path))
}

/// The path of a document whose comment names none.
fn own_path(resource: Option<&Resource>) -> String {
    let named = resource.and_then(|resource| {
        let name = resource.name.as_deref()?;
        let file = format!("{}_{name}.yaml", resource.kind.to_lowercase());
        let namespace = resource.namespace.as_deref();
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let path = namespace.map_or(file.clone(), |folder| format!("{folder}/{file}"));
        check_package_path(&path).is_ok().then_some(path)
    });
    named.unwrap_or_else(|| "resources.yaml".to_owned())
}

/// A document, with the places in it that are random.
#[derive(Debug)]
struct RenderedDocument {
    printed: PrintedDocument,
    random: Vec<RandomPlace>,
}

/// What a revision renders to.
#[derive(Debug)]
pub struct RenderedPackage {
    documents: Vec<RenderedDocument>,
}

impl RenderedPackage {
    /// Compares two renderings of the same revision.
    pub fn of_printed(first: &str, second: &str) -> Self {
        Self::of(separated(first), &separated(second))
    }

    fn of(first: Vec<PrintedDocument>, second: &[PrintedDocument]) -> Self {
        let key = |document: &PrintedDocument| document.resource.as_ref().map(ResourceKey::of);
        let mut others: BTreeMap<(String, String), Vec<&PrintedDocument>> = BTreeMap::new();
        let kind = |document: &PrintedDocument| {
            let kind = document.resource.as_ref().map(|one| one.kind.to_string());
            (document.path.clone(), kind.unwrap_or_default())
        };
        let is_own = |one: &PrintedDocument| first.iter().any(|own| key(own) == key(one));
        for one in second.iter().filter(|one| !is_own(one)).rev() {
            others.entry(kind(one)).or_default().push(one);
        }
        let documents = first.into_iter().map(|printed| {
            let same = key(&printed)
                .and_then(|own| second.iter().find(|one| key(one).as_ref() == Some(&own)));
            // Its name is random: the next one of its kind in its file.
            let renamed = || others.get_mut(&kind(&printed)).and_then(Vec::pop);
            let other = same.or_else(renamed);
            let random = other.map(|other| places(&printed.text, &other.text));
            RenderedDocument {
                printed,
                random: random.unwrap_or_default(),
            }
        });
        Self {
            documents: documents.collect(),
        }
    }

    /// Whether both differ.
    pub fn is_random(&self) -> bool {
        self.documents
            .iter()
            .any(|document| !document.random.is_empty())
    }

    /// The files. Random places have the value that the first of these packages has there; a result says so.
    ///
    /// # Errors
    /// [`EditError`]: a known value cannot be written in its place.
    pub fn package(
        &self,
        known: &[&KnownValues],
    ) -> Result<(Package, Vec<FunctionResult>), EditError> {
        let mut files: BTreeMap<&str, String> = BTreeMap::new();
        let mut results = Vec::new();
        for RenderedDocument { printed, random } in &self.documents {
            let mut text = printed.text.clone();
            if let (Some(resource), false) = (&printed.resource, random.is_empty()) {
                let (settled, kept) = KnownValues::settle(text, resource, random, known)?;
                text = settled;
                results.extend(
                    kept.into_iter()
                        .map(|result| result.in_file(&*printed.path)),
                );
            }
            let file = files.entry(&printed.path).or_default();
            file.push_str("---\n");
            file.push_str(&text);
        }
        let mut package = Package::default();
        for (path, text) in files {
            package.insert(path, PackageFile::of_text(path, text));
        }
        Ok((package.without_refused(), results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, value: &str) -> String {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: {value}\n")
    }

    #[test]
    fn documents_are_in_the_files_that_their_comments_name() {
        let (a, b, c) = (map("a", "1"), map("b", "1"), map("c", "1"));
        let text = format!(
            "---\n# Source: app/templates/a.yaml\n{a}---\n# Source: app/templates/empty.yaml\n# nothing\n---\n# \
             Source: app/../../x.yaml\n{b}--- \n# Source: app/templates/a.yaml\n{c}"
        );
        let paths: Vec<String> = separated(&text).into_iter().map(|one| one.path).collect();
        assert_eq!(
            paths,
            ["templates/a.yaml", "configmap_b.yaml", "templates/a.yaml"]
        );
        let rendered = RenderedPackage::of(separated(&text), &separated(&text));
        assert!(!rendered.is_random());
        let (package, _) = rendered.package(&[]).expect("files");
        let source = "---\n# Source: app/templates/a.yaml\n";
        assert_eq!(
            package.read("templates/a.yaml").expect("a file").as_ref(),
            format!("{source}{a}{source}{c}").as_bytes()
        );
    }

    #[test]
    fn a_name_that_leads_out_is_not_used_as_a_path() {
        for name in ["../x", "a/../../x", ".", "Kptfile"] {
            let path = PrintedDocument::of(map(&format!("\"{name}\""), "1")).path;
            assert!(check_package_path(&path).is_ok(), "{path}");
            assert!(path.ends_with(".yaml"), "{path}");
        }
        for source in ["app/Kptfile", "app/.git/a.yaml", "app//etc/a.yaml", "app"] {
            let text = format!("# Source: {source}\n{}", map("a", "1"));
            let path = PrintedDocument::of(text).path;
            assert!(
                !path.contains("git") && !path.starts_with('/'),
                "{source}: {path}"
            );
            assert!(path.ends_with(".yaml"), "{source}: {path}");
        }
    }
}

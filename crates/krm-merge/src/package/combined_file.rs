//! Merges files that both sides changed. Kustomizations merge like KRM resources: kustomize has defaults for their
//! apiVersion and kind, and finds a file without an extension. Other YAML and JSON files merge as documents, and all
//! other text by lines.
//!
//! Source: contract, merge-package, Files that are not KRM; Parts.

use super::removed_comments::of_merged_file;
use super::report::Report;
use crate::fields::{IMAGE_LINES, MergedDocument, merge_documents};
use crate::{MergeSchema, PartsOf, Versions, text};
use krm_core::resource::{Origin, Resource};
use krm_core::results::{MOST_LISTED, Mark};
use krm_core::schema::Schema;
use krm_package::{is_krm_name, is_kustomization};
use krm_yaml::{NodeKind, OwnedDocument, Value};

/// A text in three versions.
type TextVersions<'t> = Versions<Option<&'t str>, &'t str>;

/// The text that a file has after a change of upstream alone, if guards keep a part of it out. `None` if no guard does.
pub(super) fn guarded(
    path: &str,
    versions: Versions<Option<&[u8]>>,
    report: &mut Report<'_>,
) -> Option<Vec<u8>> {
    let resource = resource_of(path);
    let is_guarded = if is_kustomization(path.rsplit('/').next().unwrap_or(path)) {
        report.is_guarded(&resource)
    } else {
        is_krm_name(path) && report.rules.of_files().has_guards()
    };
    if !is_guarded {
        return None;
    }
    let merged = merged(&resource, texts_of(versions)?, report)?;
    if merged.findings.guarded.is_empty() {
        return None;
    }
    report.findings(&resource, &merged.findings);
    Some(merged.text.into_bytes())
}

/// The merged text. `None` if the file merges as one value.
pub(super) fn merge(
    path: &str,
    versions: Versions<Option<&[u8]>>,
    report: &mut Report<'_>,
) -> Option<Vec<u8>> {
    let texts = texts_of(versions)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let merged = if is_kustomization(name) || is_krm_name(name) {
        document(path, texts, report)
    } else {
        None
    };
    let merged = merged.or_else(|| lines(path, texts, report));
    merged.map(String::into_bytes)
}

/// The text of a file. `None` for a binary file.
fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

fn texts_of(versions: Versions<Option<&[u8]>>) -> Option<TextVersions<'_>> {
    Some(Versions {
        base: match versions.base {
            Some(bytes) => Some(text_of(bytes)?),
            None => None,
        },
        local: text_of(versions.local?)?,
        upstream: Some(text_of(versions.upstream?)?),
    })
}

/// The file as a resource: a kustomization, or one without a kind.
fn resource_of(path: &str) -> Resource {
    let origin = Origin {
        path: Some(path.into()),
        ..Origin::default()
    };
    let mut resource = Resource {
        origin,
        ..Resource::default()
    };
    if is_kustomization(path.rsplit('/').next().unwrap_or(path)) {
        resource.api_version = "kustomize.config.k8s.io/v1beta1".into();
        resource.kind = "Kustomization".into();
    }
    resource
}

fn document(path: &str, texts: TextVersions<'_>, report: &mut Report<'_>) -> Option<String> {
    let is_kustomization = is_kustomization(path.rsplit('/').next().unwrap_or(path));
    if !is_kustomization && !report.combines_files(PartsOf::Document) {
        return None;
    }
    let resource = resource_of(path);
    let MergedDocument {
        text,
        findings,
        local,
        upstream,
    } = merged(&resource, texts, report)?;
    report.lines_left = findings.lines_left;
    report.findings(&resource, &findings);
    if let Some(result) = of_merged_file(path, texts.base, texts.local, &text) {
        report.push(result);
    }
    if !is_kustomization {
        report.combined_file(path, PartsOf::Document, Mark::OWN, local, upstream);
    }
    Some(text)
}

fn merged(
    resource: &Resource,
    texts: TextVersions<'_>,
    report: &Report<'_>,
) -> Option<MergedDocument> {
    let schema = Schema::builtin();
    let (merge_schema, rules) = if resource.kind.is_empty() {
        (MergeSchema::default(), report.rules.of_files())
    } else {
        (
            MergeSchema::of(resource, &schema, false),
            report.rules.of(resource),
        )
    };
    let policy = report.policy(rules, MOST_LISTED, report.lines_left);
    let is_collection = |_: &str, root: NodeKind| root.is_mapping() || root.is_sequence();
    merge_documents(texts, is_collection, merge_schema, policy)
}

fn lines(path: &str, texts: TextVersions<'_>, report: &mut Report<'_>) -> Option<String> {
    if !report.combines_files(PartsOf::Text) {
        return None;
    }
    let decision = report.rules.of_files().decide_whole(report.winner());
    let versions = Versions::new(texts.base.unwrap_or_default(), texts.local, texts.upstream?);
    let images = report.combines_files(PartsOf::Image);
    let images = images.then_some(IMAGE_LINES);
    let merged = text::merge(versions, decision.side, images, &mut report.lines_left)?;
    // Merged lines that are not YAML are not a merge of a YAML file.
    let is_yaml = |text: &str| OwnedDocument::parse(text.to_owned()).is_ok();
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_krm_name(name) && versions.into_iter().all(is_yaml) && !is_yaml(&merged.text) {
        return None;
    }
    // A line does not show that its file is one with a Secret.
    let mark = Mark::within_texts(versions);
    for conflict in &merged.conflicts {
        report.lines(path, decision, conflict, mark);
    }
    let value = |lines: String| (!lines.is_empty()).then(|| Value::from(lines));
    let (local, upstream) = (value(merged.local), value(merged.upstream));
    report.combined_file(path, PartsOf::Text, mark, local, upstream);
    Some(merged.text)
}

//! Files that both sides changed: kustomizations merge like those that are KRM (kustomize defaults their apiVersion and
//! kind, and finds one without an extension), other YAML and JSON as documents, and all other text by lines.
//!
//! Source: contract, merge-package, Files that are not KRM; Parts.

use super::files::hides_values;
use super::report::Report;
use crate::merge::fields::{Policy, merge_documents};
use crate::merge::text;
use crate::merge::{MergeSchema, Versions};
use crate::package::is_krm_name;
use crate::resource::{Origin, Resource};
use crate::schema::Schema;
use crate::yaml::OwnedDocument;

/// The names under which kustomize finds one.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A text in three versions.
type Texts<'t> = Versions<Option<&'t str>, &'t str>;

/// The merged text; `None` if the file has to be one value.
pub(super) fn merge(
    path: &str,
    versions: Versions<Option<&[u8]>>,
    report: &mut Report<'_>,
) -> Option<Vec<u8>> {
    let texts = Versions {
        base: match versions.base {
            Some(bytes) => Some(text_of(bytes)?),
            None => None,
        },
        local: text_of(versions.local?)?,
        upstream: Some(text_of(versions.upstream?)?),
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_kustomization = KUSTOMIZATIONS.contains(&name);
    let merged = if is_kustomization || is_krm_name(name) {
        document(path, is_kustomization, texts, report)
    } else {
        None
    };
    let merged = merged.or_else(|| lines(path, texts, report));
    merged.map(String::into_bytes)
}

/// A file that is no binary one.
fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

fn document(
    path: &str,
    is_kustomization: bool,
    texts: Texts<'_>,
    report: &mut Report<'_>,
) -> Option<String> {
    let mut resource = Resource {
        origin: Origin {
            path: Some(path.into()),
            ..Origin::default()
        },
        ..Resource::default()
    };
    let schema = Schema::builtin();
    let (merge_schema, rules) = if is_kustomization {
        resource.api_version = "kustomize.config.k8s.io/v1beta1".into();
        resource.kind = "Kustomization".into();
        (
            MergeSchema::of(&resource, &schema, false),
            report.rules_of(&resource),
        )
    } else {
        (MergeSchema::default(), report.rules_of_files())
    };
    let policy = Policy {
        rules,
        ..Policy::from(report.winner())
    };
    let (text, found) = merge_documents(texts, merge_schema, policy)?;
    report.findings(&resource, &found);
    Some(text)
}

fn lines(path: &str, texts: Texts<'_>, report: &mut Report<'_>) -> Option<String> {
    let decision = report.rules_of_files().decide_whole(report.winner());
    let versions = Versions {
        base: texts.base.unwrap_or_default(),
        local: texts.local,
        upstream: texts.upstream?,
    };
    let merged = text::merge(versions, decision.side, &mut report.lines_left)?;
    // Lines that fit in no document together are no merge of it.
    let is_yaml = |text: &str| OwnedDocument::parse(text.to_owned()).is_ok();
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_krm_name(name) && versions.into_iter().all(is_yaml) && !is_yaml(&merged.text) {
        return None;
    }
    let hides = hides_values(&versions.map(Some));
    for conflict in &merged.conflicts {
        report.lines(path, decision, conflict, hides);
    }
    Some(merged.text)
}

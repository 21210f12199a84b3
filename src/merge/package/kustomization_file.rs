//! Kustomizations that are not KRM: without apiVersion and kind, which kustomize defaults, or in a file
//! without an extension. Where both sides changed one, it merges like any other kustomization.

use super::report::Report;
use crate::merge::fields::{self, Policy};
use crate::merge::{MergeSchema, Versions};
use crate::resource::{Origin, Resource};
use crate::schema::Schema;
use crate::yaml::{Editor, OwnedDocument};

/// The names under which kustomize finds one.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The merged text; `None` if the file is no kustomization, or has to be one value.
pub(super) fn merge(
    path: &str,
    versions: Versions<Option<&[u8]>>,
    report: &mut Report<'_>,
) -> Option<Vec<u8>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if !NAMES.contains(&name) {
        return None;
    }
    let read_base = versions.base.map(|bytes| read(bytes).ok_or(())).transpose();
    let base_document = read_base.ok()?;
    let base = base_document.as_ref().and_then(OwnedDocument::root);
    let (local, upstream) = (read(versions.local?)?, read(versions.upstream?)?);
    let resource = Resource {
        api_version: "kustomize.config.k8s.io/v1beta1".into(),
        kind: "Kustomization".into(),
        origin: Origin {
            path: Some(path.into()),
            ..Origin::default()
        },
        ..Resource::default()
    };
    let schema = Schema::builtin();
    let merge_schema = MergeSchema::of(&resource, &schema, false);
    let policy = Policy {
        rules: report.rules_of(&resource),
        ..Policy::from(report.winner())
    };
    let mut editor = Editor::new(local.document());
    let (ours, theirs) = (local.root()?, upstream.root()?);
    let found =
        fields::merge_resource(base, ours, theirs, merge_schema, policy, &mut editor).ok()?;
    let text = editor.finish().ok()?;
    report.findings(&resource, &found);
    Some(text.into_bytes())
}

/// A text that is one mapping.
fn read(bytes: &[u8]) -> Option<OwnedDocument> {
    let text = std::str::from_utf8(bytes).ok()?;
    let owned = OwnedDocument::parse(text.to_owned()).ok()?;
    let is_mapping = owned.root()?.kind().is_mapping();
    (owned.document().len() == 1 && is_mapping).then_some(owned)
}

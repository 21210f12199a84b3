//! Merges values by their parts if both sides changed them differently.
//!
//! ```yaml
//! image: docker.io/app:1   # base      # local: mirror/app:1   # upstream: docker.io/app:2   # merged: mirror/app:2
//! ```
//!
//! Source: contract, merge-package, Parts; Kustomization files.

mod image;
pub(crate) mod list;
mod source;
mod text;

use super::super::combine::PartsOf;
use super::super::kustomization::KustomizationList;
use super::super::rule::Side;
use super::super::text::{ImageLines, PartConflict};
use super::super::trail::Trail;
use super::super::versions::Versions;
use super::child::{ChildVersions, nodes};
use super::take::take;
use super::{Combined, ConflictKind, FieldAction, FieldMerger};
use krm_core::results::{Mark, Marks};
use krm_yaml::{Content, EditError, Editor, Value};

/// How lines that end in an image are paired and merged.
pub(crate) const IMAGE_LINES: ImageLines = ImageLines {
    key: image::key_of_line,
    merge: image::merge_line,
};

/// A string that was merged by its parts.
#[derive(Default)]
struct MergedText {
    text: String,
    /// What only local changed. `upstream` is the same for upstream.
    local: Option<Value>,
    upstream: Option<Value>,
    /// The parts that both sides changed differently. The text has the winner's parts.
    conflicts: Vec<PartConflict>,
}

impl MergedText {
    /// A text that neither side added anything to.
    fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

/// Whether a value is what a kustomization reads.
fn is_source(trail: &Trail<'_>) -> bool {
    let Trail::Element(Trail::Field(Trail::Root, list), ..) = trail else {
        return false;
    };
    KustomizationList::of(list) == Some(KustomizationList::Sources)
}

impl FieldMerger<'_> {
    /// Merges a value by its parts if both sides changed it differently. `None` if it merges as one value.
    pub(super) fn combine<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        versions: ChildVersions<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Option<FieldAction>, EditError> {
        let (Some(local), Some(upstream)) = (versions.local, versions.upstream) else {
            return Ok(None);
        };
        let texts = Versions {
            base: versions
                .base
                .and_then(|base| base.value.resolved().as_str()),
            local: local.value.resolved().as_str(),
            upstream: upstream.value.resolved().as_str(),
        };
        let Some((kind, merged)) = self.combine_texts(trail, texts) else {
            return Ok(None);
        };
        let decision = self.decide(trail, self.policy.winner);
        // A part does not show that the whole text is one with a Secret.
        let mark = || self.marks.within_any(nodes(versions).into_iter().flatten());
        let is_reported = !merged.conflicts.is_empty() || merged.local.is_some();
        let mark = if is_reported { mark() } else { Mark::default() };
        let winner = [texts.local, texts.upstream][usize::from(decision.side == Side::Upstream)];
        // The values of a conflict over lines are these lines alone.
        let is_other = kind == PartsOf::Image && winner != Some(merged.text.as_str());
        for conflict in merged.conflicts {
            let PartConflict { within, values } = conflict;
            let within = ConflictKind::Part(within);
            let listed = self.findings.conflicts.len();
            self.report(trail, within, values, decision, |_| mark);
            if let Some(found) = self.findings.conflicts.get_mut(listed).filter(|_| is_other) {
                found.merged = Some(Value::from(merged.text.as_str()));
            }
        }
        if let (Some(local), Some(upstream)) = (merged.local, merged.upstream) {
            self.report_combined(trail, kind, [local, upstream], |_| mark);
        }
        if Some(merged.text.as_str()) == texts.upstream {
            self.findings.moves_comments |= take(versions.base, local, upstream, editor)?;
        } else if Some(merged.text.as_str()) != texts.local {
            editor.replace(local.value, Content::Value(Value::from(merged.text)))?;
        }
        Ok(Some(FieldAction::Local))
    }

    /// Merges strings by the first kind of parts that they have.
    fn combine_texts(
        &mut self,
        trail: &Trail<'_>,
        texts: Versions<Option<&str>>,
    ) -> Option<(PartsOf, MergedText)> {
        let (local, upstream) = (texts.local?, texts.upstream?);
        if is_source(trail)
            && self.combines(trail, PartsOf::Image)
            && let Some(merged) = source::merge(texts)
        {
            return Some((PartsOf::Image, merged));
        }
        if let Some(base) = texts.base
            && self.combines(trail, PartsOf::Image)
        {
            let versions = Versions::new(base, local, upstream);
            let is_image = matches!(trail, Trail::Field(_, "image"));
            let winner = self.decide(trail, self.policy.winner).side;
            if let Some(merged) = image::merge(versions, is_image, winner) {
                return Some((PartsOf::Image, merged));
            }
        }
        if let Some(merged) = self.combine_documents(trail, texts) {
            return Some((PartsOf::Document, merged));
        }
        let merged = self.combine_lines(trail, texts)?;
        Some((PartsOf::Text, merged))
    }

    /// Whether values of a kind merge by their parts in this place.
    pub(super) fn combines(&self, trail: &Trail<'_>, kind: PartsOf) -> bool {
        self.policy.combine.has(kind) && self.policy.rules.combine_field(trail)
    }

    fn report_combined(
        &mut self,
        trail: &Trail<'_>,
        kind: PartsOf,
        [local, upstream]: [Value; 2],
        mark: impl FnOnce(&Marks) -> Mark,
    ) {
        if self.findings.combined.len() >= self.policy.most
            && let Some(last) = self.findings.combined.last_mut()
        {
            last.more += 1;
            return;
        }
        let (resource, path) = self.place_of(trail, trail.to_path());
        self.findings.combined.push(Combined {
            resource,
            path,
            kind,
            local,
            upstream,
            mark: mark(&self.marks),
            more: 0,
        });
    }
}

//! Merges texts: documents by their fields, all others by their lines.
//!
//! ```yaml
//! config.yaml: |          # base      # local              # upstream           # merged
//!   level: info                         level: debug         level: info          level: debug
//!   format: text                        format: text         format: json         format: json
//! ```

use serde::de::IgnoredAny;

use super::super::super::combine::PartsOf;
use super::super::super::decided::RulesOf;
use super::super::super::merge_schema::MergeSchema;
use super::super::super::text::{self, PartConflict};
use super::super::super::trail::Trail;
use super::super::super::versions::Versions;
use super::super::document::{MergedDocument, merge_documents};
use super::super::{Combined, FieldMerger, Policy};
use super::{IMAGE_LINES, MergedText};
use krm_yaml::{NodeKind, Value};

impl FieldMerger<'_> {
    /// Merges texts that are each a YAML mapping or a JSON object.
    pub(super) fn combine_documents(
        &mut self,
        trail: &Trail<'_>,
        texts: Versions<Option<&str>>,
    ) -> Option<MergedText> {
        if !self.combines(trail, PartsOf::Document) {
            return None;
        }
        let texts = Versions::new(texts.base, texts.local?, Some(texts.upstream?));
        let given = [texts.base, Some(texts.local), texts.upstream];
        if !given.into_iter().flatten().all(may_be_document) {
            return None;
        }
        let policy = Policy {
            winner: self.decide(trail, self.policy.winner).side,
            // The rules decide about the whole text, not about fields in it.
            rules: RulesOf::default(),
            // Documents within documents are not merged: each level would be parsed again.
            combine: self.policy.combine.without(PartsOf::Document),
            ..self.policy
        };
        let merged = merge_documents(texts, is_document, MergeSchema::default(), policy)?;
        let MergedDocument {
            mut text,
            findings,
            local,
            upstream,
        } = merged;
        merge_last_break(&mut text, texts);
        self.policy.lines_left = findings.lines_left;
        let parts = findings.combined;
        let side = |own: Option<Value>, of: fn(&Combined) -> &Value| {
            let entry = |part: &Combined| {
                let path = part.path.to_string();
                (path.into(), part.mark.quotable(of(part)))
            };
            let own = own.as_ref().map_or(&[][..], Value::entries);
            let mut entries = own.to_vec();
            entries.extend(parts.iter().map(entry));
            (!entries.is_empty()).then_some(Value::Mapping(entries))
        };
        let local = side(local, |part| &part.local);
        let upstream = side(upstream, |part| &part.upstream);
        let others = findings.others.into_iter().map(|(first, _)| first);
        let conflicts = findings.conflicts.into_iter().chain(others);
        let conflicts = conflicts.map(|conflict| PartConflict {
            within: conflict.path.to_string(),
            values: conflict.values,
        });
        Some(MergedText {
            text,
            local,
            upstream,
            conflicts: conflicts.collect(),
        })
    }

    /// Merges texts by lines. `None` if a text has only one line, or if the texts have no line in common.
    pub(super) fn combine_lines(
        &mut self,
        trail: &Trail<'_>,
        texts: Versions<Option<&str>>,
    ) -> Option<MergedText> {
        let versions = Versions::new(
            texts.base.unwrap_or_default(),
            texts.local?,
            texts.upstream?,
        );
        let have_lines = has_lines(versions.local) && has_lines(versions.upstream);
        if !have_lines || !self.combines(trail, PartsOf::Text) {
            return None;
        }
        let winner = self.decide(trail, self.policy.winner).side;
        let images = self.combines(trail, PartsOf::Image).then_some(IMAGE_LINES);
        let merged = text::merge(versions, winner, images, &mut self.policy.lines_left)?;
        // The texts have no line in common.
        if let [conflict] = &merged.conflicts[..]
            && conflict.values.local == Some(versions.local.into())
            && conflict.values.upstream == Some(versions.upstream.into())
        {
            return None;
        }
        let value = |lines: String| (!lines.is_empty()).then(|| Value::from(lines));
        Some(MergedText {
            text: merged.text,
            local: value(merged.local),
            upstream: value(merged.upstream),
            conflicts: merged.conflicts,
        })
    }
}

/// Ends a merged text in a line break, or without one, as upstream does if only upstream changed that: it is a part of
/// the value (`|` and `|-`).
fn merge_last_break(text: &mut String, texts: Versions<Option<&str>, &str>) {
    let has_break = |text: &str| text.ends_with('\n');
    let local = has_break(texts.local);
    let is_local_unchanged = texts.base.is_some_and(|base| has_break(base) == local);
    match texts.upstream.map(has_break) {
        Some(true) if !local && is_local_unchanged && !has_break(text) => text.push('\n'),
        Some(false) if local && is_local_unchanged => {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        _ => {}
    }
}

fn has_lines(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
}

/// Whether a text is worth parsing: it has several lines, or may be JSON.
fn may_be_document(text: &str) -> bool {
    has_lines(text) || text.starts_with('{')
}

/// Whether a text is a document. A mapping in flow style must be JSON; otherwise it may be a template.
fn is_document(text: &str, root: NodeKind) -> bool {
    let is_json = || serde_json::from_str::<IgnoredAny>(text).is_ok();
    root == NodeKind::BlockMapping || root == NodeKind::FlowMapping && is_json()
}

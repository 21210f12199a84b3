//! Drafts in block style: the same text as that of their values.

use super::{Emitter, Tail};
use crate::yaml::draft::Draft;
use crate::yaml::format::{Json, Owner};
use crate::yaml::scalar::{self, Context, ScalarStyle};

impl Emitter<'_> {
    pub(super) fn draft(&mut self, draft: &Draft<'_>, owner: Owner) -> Tail {
        match draft {
            Draft::Plain(text) => {
                self.gap();
                self.plain(text);
                return Tail::Open;
            }
            Draft::Text(text) => return self.string(text, ScalarStyle::Plain, owner),
            Draft::Value(value) => return self.value(value, owner),
            Draft::Sequence(items) if !items.is_empty() => self.draft_items(items, owner),
            Draft::Mapping(entries) if !entries.is_empty() => self.draft_entries(entries, owner),
            Draft::Sequence(_) | Draft::Mapping(_) => {
                self.gap();
                self.flow_value(&draft.clone().into_value(), Json::No);
                return Tail::Open;
            }
        }
        Tail::Closed
    }

    fn plain(&mut self, text: &str) {
        debug_assert!(scalar::plain_is_safe(text, Context::Block));
        self.out.push_str(text);
    }

    fn draft_entries(&mut self, entries: &[(Draft<'_>, Draft<'_>)], owner: Owner) {
        let value = |emitter: &mut Self, value: &Draft<'_>, owner| emitter.draft(value, owner);
        self.block_entries(entries, owner, Self::draft_key, value);
    }

    fn draft_key(&mut self, key: &Draft<'_>, column: usize) {
        match key {
            Draft::Plain(text) => {
                self.plain(text);
                self.colon(1);
            }
            Draft::Text(text) => self.text_key(text, column),
            Draft::Value(value) => self.key(value, column),
            other => self.key(&other.clone().into_value(), column),
        }
    }

    pub(super) fn draft_items(&mut self, items: &[Draft<'_>], owner: Owner) {
        let value = |emitter: &mut Self, value: &Draft<'_>, owner| emitter.draft(value, owner);
        self.block_items(items, owner, value);
    }
}

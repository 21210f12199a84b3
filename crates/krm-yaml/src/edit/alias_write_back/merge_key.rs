//! Mappings with a merge key. The key is kept unless it adds an entry that the mapping must not have.
//!
//! ```yaml
//! a: {<<: *p, y: 2}   # x becomes 3: {<<: *p, x: 3, y: 2}
//! b: {<<: *p, y: 2}   # x goes: {y: 2}, with what else `p` has written out
//! ```

use std::collections::HashMap;

use super::AliasWriteBack;
use crate::edit::change::Change;
use crate::edit::slot::{NewSlot, Slot};
use crate::expand::sources;
use crate::node::{EntryRef, NodeRef};
use crate::tree::{NodeId, NodeKind};
use crate::value::Value;

/// The entries of a mapping with a merge key, in both trees.
pub(super) struct MergedEntries<'x> {
    /// The entries of the mapping in the expanded tree.
    entries: Vec<EntryRef<'x>>,
    /// The index of each entry in the text; `None` if the merge key adds the entry.
    own: Vec<Option<usize>>,
    /// The index of the merge key in the text.
    at: usize,
}

impl<'x> MergedEntries<'x> {
    pub(super) fn new(node: NodeRef<'x>, plain: NodeRef<'x>, merge: EntryRef<'x>) -> Self {
        let written: HashMap<_, _> = plain
            .entries()
            .enumerate()
            .map(|(index, entry)| (entry.key.id, index))
            .collect();
        let entries: Vec<_> = node.entries().collect();
        let own = entries.iter().map(|entry| {
            let is_own = entry.is_own(node);
            let index = written.get(&entry.key.written().id);
            index.filter(|_| is_own).copied()
        });
        Self {
            own: own.collect(),
            at: written.get(&merge.key.id).copied().unwrap_or_default(),
            entries,
        }
    }

    /// The position of the merge key among the slots: before the first entry that it adds, else before the first entry
    /// that follows it in the text, else at the end.
    fn place_among(&self, slots: &[Slot<'x>]) -> usize {
        let own = |slot: &Slot<'x>| slot.kept().map(|index| self.own[index]);
        let brought = slots.iter().position(|slot| own(slot) == Some(None));
        let after = || {
            let after = |slot: &Slot<'x>| own(slot).flatten().is_some_and(|at| at > self.at);
            slots.iter().position(after)
        };
        brought.or_else(after).unwrap_or(slots.len())
    }
}

impl<'x> AliasWriteBack<'x> {
    /// Decides whether the merge key of a mapping is kept, and maps the changes of the other entries.
    pub(super) fn map_merged(
        &mut self,
        node: NodeRef<'x>,
        plain: NodeRef<'x>,
        slots: Vec<Slot<'x>>,
    ) {
        let Some(merge) = self.plain().merge_key(plain) else {
            return;
        };
        let merged = MergedEntries::new(node, plain, merge);
        let place = merged.place_among(&slots);
        let wanted: HashMap<Value, Value> = self.entries_after(node, &slots).into_iter().collect();
        let mut brings = None;
        let mut out = Vec::with_capacity(slots.len() + 1);
        let mut slots = slots.into_iter().enumerate();
        loop {
            let next = slots.next();
            if next.as_ref().is_none_or(|(at, _)| *at == place) && brings.is_none() {
                let found = self.brings(merge).filter(|found| {
                    let mut keys = found.keys();
                    keys.all(|key| wanted.contains_key(key))
                });
                if found.is_some() {
                    out.push(Slot::Kept(merged.at));
                    self.record_merge_key(merge);
                }
                brings = Some(found.unwrap_or_default());
            }
            let Some((_, slot)) = next else { break };
            let brings = brings.as_ref();
            out.extend(self.slot(&merged, slot, brings, &wanted));
        }
        let count = plain.entries().count();
        let is_same = out.len() == count
            && out
                .iter()
                .enumerate()
                .all(|(at, slot)| matches!(slot, Slot::Kept(index) if *index == at));
        if !is_same {
            self.out.insert(plain.id, Change::slots(out));
        }
    }

    /// The slot of an entry in the source; `None` if the merge key adds the entry.
    fn slot(
        &mut self,
        merged: &MergedEntries<'x>,
        slot: Slot<'x>,
        brings: Option<&HashMap<Value, Value>>,
        wanted: &HashMap<Value, Value>,
    ) -> Option<Slot<'x>> {
        let is_brought = |key: &Value| {
            let brought = brings.and_then(|brings| brings.get(key));
            brought.is_some() && brought == wanted.get(key)
        };
        let Slot::Kept(index) = slot else {
            let new = slot.added()?;
            let is_brought = new.key.as_ref().is_some_and(is_brought);
            drop(new);
            return (!is_brought).then_some(slot);
        };
        let entry = merged.entries[index];
        if let Some(own) = merged.own[index] {
            self.map_key(entry.key);
            self.map_node(entry.value);
            return Some(Slot::Kept(own));
        }
        let key = entry.key.value()?;
        if is_brought(&key) {
            return None;
        }
        let is_new = matches!(self.changes.get(&entry.value.id), Some(Change::Replace(_)));
        let origin = entry.value.origin();
        let anchors = origin.anchor().map(|anchor| &anchor[1..]).into_iter();
        let mut anchors = anchors.chain(origin.anchors_within().map(|anchor| &anchor[1..]));
        if !is_new && let Some(anchor) = anchors.next() {
            self.refuse(entry.value, anchor);
            return None;
        }
        let content = self.content(entry.value)?;
        let new = NewSlot {
            key: Some(key),
            content,
            source: None,
        };
        Some(new.into())
    }

    /// The entries that a merge key adds after the edit; `None` if they cannot be determined.
    fn brings(&self, merge: EntryRef<'x>) -> Option<HashMap<Value, Value>> {
        let mut brought = HashMap::new();
        let mut direct = Vec::new();
        for source in sources(merge.value) {
            let value = match source.kind() {
                NodeKind::Alias if !self.is_visible(source) => return None,
                NodeKind::Alias => match self.expansion.place(source.resolved().id) {
                    Some(target) => self.value_after(self.document.node(target)),
                    None => source.value()?,
                },
                _ => source.value()?,
            };
            direct.push(source.id);
            let Value::Mapping(entries) = value else {
                return None;
            };
            for (key, value) in entries {
                brought.entry(key).or_insert(value);
            }
        }
        // Aliases within a mapping that the merge key contains in full.
        let ids = merge.value.ids();
        let nodes = ids.map(|id| self.plain().node(NodeId(id)));
        let mut others =
            nodes.filter(|node| node.kind() == NodeKind::Alias && !direct.contains(&node.id));
        let stays = others.all(|alias| {
            let target = self.expansion.place(alias.resolved().id);
            let target = target.map(|target| self.document.node(target));
            self.is_visible(alias) && target.is_none_or(|target| !self.is_touched(target))
        });
        stays.then_some(brought)
    }

    fn record_merge_key(&mut self, merge: EntryRef<'x>) {
        for id in merge.key.id.0..merge.value.ids().end {
            self.record_anchor(self.plain().node(NodeId(id)));
        }
    }
}

//! Mappings and keyed lists: which of their parts are the same in three versions.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::identity::{self, Identity, Interner};
use super::super::kptfile;
use super::super::merge_schema::{List, Location, MergeSchema};
use super::super::rule::{self, Side};
use super::Merge;
use super::groups::renamed_keys;
use super::versions::{Child, Collection, Fate, Trail, Versions, entries_of, items_of, key_text};
use crate::yaml::{Content, EditError, Editor, NodeRef, OwnedDocument, Value};

impl Merge<'_> {
    /// The parts of three versions, if they merge part by part.
    pub(super) fn collection<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        versions: Versions<'d, 'f>,
        present: bool,
    ) -> Option<Collection<'d, 'f>> {
        let Versions {
            base,
            local,
            upstream,
        } = versions;
        // An alias reads what stands elsewhere: it is one value.
        let is = |node: NodeRef<'_>, mapping: bool| match mapping {
            true => node.kind().is_mapping(),
            false => node.kind().is_sequence(),
        };
        let local = local?.value;
        let mapping = match local.kind() {
            kind if kind.is_mapping() && !schema.is_atomic_map() => true,
            kind if kind.is_sequence() && !matches!(schema.list(), List::Atomic) => false,
            _ => return None,
        };
        let fits = |child: Option<Child<'f>>| {
            let node = child.map(|child| child.value.resolved());
            node.filter(|node| is(*node, mapping))
        };
        // Of a version of another kind nothing can be merged, unless it is only the base.
        let (old, new) = (fits(base), fits(upstream));
        let other = if present {
            new.is_none()
        } else {
            old.is_none()
        };
        if other {
            return None;
        }
        match mapping {
            true => Some(self.mapping(schema, old, local, new)),
            false => self.list(trail, schema, present, old, local, new),
        }
    }

    fn mapping<'d, 'f>(
        &mut self,
        schema: MergeSchema<'_>,
        base: Option<NodeRef<'f>>,
        local: NodeRef<'d>,
        upstream: Option<NodeRef<'f>>,
    ) -> Collection<'d, 'f> {
        let merged = |node: Option<NodeRef<'f>>| -> Vec<Child<'f>> {
            let kept = |child: &Child<'f>| !schema.keeps_local(key_text(child));
            node.map(|node| entries_of(node).filter(kept).collect())
                .unwrap_or_default()
        };
        let (base, upstream) = (merged(base), merged(upstream));
        let local: Vec<_> = entries_of(local).collect();
        let mut interner = Interner::default();
        let sources = [keys(&base), keys(&local), keys(&upstream)];
        let identities = sources.each_ref().map(|source| interner.of(source).0);
        let count = interner.len();
        Collection {
            base,
            local,
            upstream,
            identities,
            count,
            together: None,
            whole: HashSet::new(),
            is_list: false,
        }
    }

    /// `None` if the elements cannot be told apart, and the list is one value.
    fn list<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        present: bool,
        base: Option<NodeRef<'f>>,
        local: NodeRef<'d>,
        upstream: Option<NodeRef<'f>>,
    ) -> Option<Collection<'d, 'f>> {
        let had_base = base.is_some();
        let base: Vec<_> = base
            .map(|node| items_of(node).collect())
            .unwrap_or_default();
        let upstream: Vec<_> = upstream
            .map(|node| items_of(node).collect())
            .unwrap_or_default();
        let local: Vec<_> = items_of(local).collect();
        let mut interner = Interner::default();
        let mut twice = false;
        let (mut identities, mut together) = ([Vec::new(), Vec::new(), Vec::new()], None);
        if let List::Functions = schema.list() {
            let nodes = [nodes(&base), nodes(&local), nodes(&upstream)];
            let functions = kptfile::identities([&nodes[0], &nodes[1], &nodes[2]])?;
            for (numbered, source) in identities.iter_mut().zip(&functions.sources) {
                let (found, again) = interner.of(source);
                *numbered = found;
                twice |= again;
            }
            if functions.together {
                if !present {
                    return None;
                }
                twice = false;
                let side = self.together(trail, had_base, &functions.sources);
                let mut marked = vec![false; interner.len()];
                for (numbers, source) in identities.iter().zip(&functions.sources) {
                    for (number, identity) in numbers.iter().zip(source) {
                        marked[*number] = matches!(identity, Identity::Together(_));
                    }
                }
                // As if only that side had moved anything.
                identities[0] = match side {
                    Side::Local => identities[2].clone(),
                    Side::Upstream => identities[1].clone(),
                };
                together = Some((marked, side));
            }
        } else {
            let list = schema.list();
            let sources = [
                elements(list, &base)?,
                elements(list, &local)?,
                elements(list, &upstream)?,
            ];
            for (numbered, source) in identities.iter_mut().zip(&sources) {
                let (found, again) = interner.of(source);
                *numbered = found;
                twice |= again;
            }
        }
        let whole = match twice || together.is_some() {
            true => HashSet::new(),
            false => renamed_keys(schema, [&base, &local, &upstream], &mut identities),
        };
        if twice {
            self.findings.duplicates.push(trail.to_path());
        }
        // With the base replaced, its elements are not the ones that the numbers are of.
        let base = if together.is_some() { Vec::new() } else { base };
        let count = interner.len();
        Some(Collection {
            base,
            local,
            upstream,
            identities,
            count,
            together,
            whole,
            is_list: true,
        })
    }

    /// Decides over functions that cannot be told apart, as one value.
    fn together(
        &mut self,
        trail: &Trail<'_>,
        had_base: bool,
        sources: &[Vec<Identity<'_>>; 3],
    ) -> Side {
        let value = |source: &Vec<Identity<'_>>| {
            let own = source
                .iter()
                .filter(|identity| matches!(identity, Identity::Together(_)));
            Value::Sequence(own.map(Identity::to_value).collect())
        };
        let [base, local, upstream] = sources.each_ref().map(value);
        let base = had_base.then_some(base);
        let versions = (base.as_ref(), Some(&local), Some(&upstream));
        let winner = self.policy.winner;
        let outcome = rule::merge(versions.0, versions.1, versions.2, winner, |a, b| a == b);
        if !outcome.conflict {
            return outcome.side;
        }
        let decision = self.decide(trail, winner);
        let values = [base, Some(local), Some(upstream)];
        self.say(trail, trail.thing(), values, decision)
    }

    /// A map or list that local does not have: an empty one takes its place while the other two
    /// versions merge. `None` if it is one value.
    pub(super) fn without_local<'f>(
        &mut self,
        trail: &Trail<'_>,
        schema: MergeSchema<'_>,
        base: Option<Child<'f>>,
        upstream: Option<Child<'f>>,
    ) -> Result<Option<Fate<'f>>, EditError> {
        let Some(node) = upstream.map(|child| child.value.resolved()) else {
            return Ok(None);
        };
        if base.is_none() && !holds_local_fields(node, schema) {
            return Ok(None);
        }
        let empty = if node.kind().is_mapping() {
            "{}\n"
        } else {
            "[]\n"
        };
        let owned = OwnedDocument::parse(empty.to_owned()).map_err(EditError::Broken)?;
        let Some(root) = owned.root() else {
            return Ok(None);
        };
        let versions = Versions {
            base,
            local: Some(Child::of(root)),
            upstream,
        };
        let fits = |child: Child<'f>| {
            let kind = child.value.resolved().kind();
            kind.is_mapping() == node.kind().is_mapping()
                && kind.is_sequence() == node.kind().is_sequence()
        };
        if !base.is_none_or(fits) {
            return Ok(None);
        }
        let Some(collection) = self.collection(trail, schema, versions, true) else {
            return Ok(None);
        };
        let mut editor = Editor::new(owned.document());
        let absent = base.map(|_| Side::Local);
        let versions = Versions {
            local: None,
            ..versions
        };
        let fate = self.entries(
            trail,
            schema,
            absent,
            &versions,
            root,
            &collection,
            &mut editor,
        )?;
        Ok(Some(match fate {
            Fate::Local => {
                let text = OwnedDocument::parse(editor.finish()?).map_err(EditError::Broken)?;
                Fate::Upstream(Content::Text(Arc::new(text)))
            }
            other => other,
        }))
    }
}

fn nodes<'a>(children: &[Child<'a>]) -> Vec<NodeRef<'a>> {
    children
        .iter()
        .map(|child| child.value.resolved())
        .collect()
}

fn keys<'a>(children: &[Child<'a>]) -> Vec<Identity<'a>> {
    let keys = children.iter().filter_map(|child| child.entry);
    keys.map(|entry| identity::of_key(entry.key)).collect()
}

fn elements<'a>(list: List<'_>, children: &[Child<'a>]) -> Option<Vec<Identity<'a>>> {
    children
        .iter()
        .map(|child| identity::of_element(list, child.value))
        .collect()
}

/// Whether a mapping of upstream holds something that is not taken over: such annotations.
fn holds_local_fields(node: NodeRef<'_>, schema: MergeSchema<'_>) -> bool {
    match schema.location {
        Location::Annotations => entries_of(node).any(|child| schema.keeps_local(key_text(&child))),
        Location::Metadata | Location::RootKptfileMetadata => {
            let below = node.get("annotations");
            below.is_some_and(|node| holds_local_fields(node, schema.field("annotations")))
        }
        _ => false,
    }
}

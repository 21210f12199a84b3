//! Merges the fields of one resource: the result is the local text with splices.
//!
//! ```yaml
//! spec:          # base          # local              # upstream           # merged
//!   replicas: 1                    replicas: 5          replicas: 1          replicas: 5
//!   image: a:1                     image: a:1 # mine    image: a:2           image: a:2 # mine
//!                                                       paused: true         paused: true
//! ```
//!
//! Maps merge by key, lists as their schema says, everything else is one value. Changes are
//! recorded into one [`Editor`] over the local document; what comes from upstream comes as
//! upstream's text. An absent map or list counts as an empty one while its other two versions merge.
//!
//! Source: contract, merge-package (Fields, Order, Comments).

use std::sync::Arc;

use super::facts::{Facts, List, Place};
use super::identity::{self, Identity, Numbers};
use super::kptfile;
use super::order::merge_order;
use super::rule::{self, Outcome, Side};
use crate::kptfile::has_comments;
use crate::yaml::{
    Content, EditError, Editor, EntryRef, NodeKind, NodeRef, OwnedDocument, Part, Path,
    PathElement, Value, comments_above, line_comment,
};

/// A place that both sides changed, to different ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where.
    pub path: Path,
    /// Whether it is about the order of the elements; the values are their keys then.
    pub is_order: bool,
    /// What base has there.
    pub original: Option<Value>,
    /// What local has there.
    pub local: Option<Value>,
    /// What upstream has there.
    pub upstream: Option<Value>,
    /// Whose version stands.
    pub winner: Side,
}

/// What a merge has to say.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Every place where one side had to win.
    pub conflicts: Vec<Conflict>,
    /// Lists in which two elements have the same keys.
    pub duplicates: Vec<Path>,
    /// Whether a list with comments got, lost or moved elements.
    pub moves_comments: bool,
}

/// Merges a resource that local and upstream have. `base` is absent if both added it.
///
/// # Errors
/// Those of the [`Editor`]; the changes recorded so far are to be discarded then.
pub fn merge_resource<'d, 'f>(
    base: Option<NodeRef<'f>>,
    local: NodeRef<'d>,
    upstream: NodeRef<'f>,
    facts: Facts<'_>,
    winner: Side,
    editor: &mut Editor<'d, 'f>,
) -> Result<Findings, EditError> {
    let mut merge = Merge {
        winner,
        findings: Findings::default(),
    };
    let base = base.map(Child::of);
    let (local, upstream) = (Some(Child::of(local)), Some(Child::of(upstream)));
    merge.child(
        &Trail::Root,
        facts,
        Elementwise::Yes,
        Versions {
            base,
            local,
            upstream,
        },
        editor,
    )?;
    Ok(merge.findings)
}

/// Whether two nodes have the same value, however they are written.
#[must_use]
pub fn same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let (a, b) = (a.resolved(), b.resolved());
    let plain = |node: &NodeRef<'_>| {
        // A last block scalar can mean something else where the text ends without a line break.
        node.kind().is_block_collection()
            && node.range().end < node.document.text.len()
            && node.properties().is_empty()
    };
    if a.kind() == b.kind() && plain(&a) && plain(&b) && a.source() == b.source() {
        let source = a.source().as_bytes();
        if memchr::memchr2(b'*', b'!', source).is_none() {
            return true;
        }
    }
    a.equals(&b)
}

/// The way to a place, made into a [`Path`] only when there is something to say.
enum Trail<'t> {
    Root,
    Field(&'t Trail<'t>, NodeRef<'t>),
    Index(&'t Trail<'t>, usize),
}

impl Trail<'_> {
    fn to_path(&self) -> Path {
        match self {
            Self::Root => Path::root(),
            Self::Field(parent, key) => {
                let key = key.resolved();
                parent
                    .to_path()
                    .field(key.scalar_text().unwrap_or_default())
            }
            Self::Index(parent, index) => parent.to_path().child(PathElement::Index(*index)),
        }
    }
}

/// An entry of a mapping, an item of a sequence, or a root.
#[derive(Clone, Copy)]
struct Child<'a> {
    /// Position in its collection.
    index: usize,
    entry: Option<EntryRef<'a>>,
    value: NodeRef<'a>,
}

impl<'a> Child<'a> {
    fn of(value: NodeRef<'a>) -> Self {
        Self {
            index: 0,
            entry: None,
            value,
        }
    }

    /// The node that comments are said of.
    fn owner(&self) -> NodeRef<'a> {
        self.entry.map_or(self.value, |entry| entry.key)
    }
}

#[derive(Clone, Copy)]
struct Versions<'d, 'f> {
    base: Option<Child<'f>>,
    local: Option<Child<'d>>,
    upstream: Option<Child<'f>>,
}

/// What becomes of an entry or element.
enum Fate<'f> {
    /// Local's stands, perhaps with changes within.
    Local,
    /// Upstream's content, in a new entry.
    Upstream(Content<'f>),
    Gone,
}

/// How an absent version of a collection is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elementwise {
    /// As an empty one.
    Yes,
    /// The whole stands or falls, as an element of a list does.
    IfPresent,
}

/// A mapping or keyed list in three versions.
struct Collection<'d, 'f> {
    base: Vec<Child<'f>>,
    local: Vec<Child<'d>>,
    upstream: Vec<Child<'f>>,
    identities: [Vec<usize>; 3],
    /// How many identities there are.
    count: usize,
    /// Elements that stand or fall together, by number, and whose stand.
    together: Option<(Vec<bool>, Side)>,
    is_list: bool,
}

struct Merge {
    winner: Side,
    findings: Findings,
}

impl Merge {
    /// Merges one entry, element or root.
    fn child<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
        elementwise: Elementwise,
        versions: Versions<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        let Versions {
            base,
            local,
            upstream,
        } = versions;
        let present = local.is_some() && upstream.is_some();
        if present || elementwise == Elementwise::Yes {
            match (local, upstream) {
                (Some(local), _) => {
                    if let Some(collection) = self.collection(trail, facts, versions, present) {
                        let absent = upstream.is_none().then_some(Side::Upstream);
                        return self.entries(
                            trail,
                            facts,
                            absent,
                            &versions,
                            local.value,
                            &collection,
                            editor,
                        );
                    }
                }
                (None, Some(_)) => {
                    if let Some(fate) = self.without_local(trail, facts, base, upstream)? {
                        return Ok(fate);
                    }
                }
                (None, None) => return Ok(Fate::Gone),
            }
        }
        let outcome = self.value(trail, base, local, upstream);
        match (outcome.side, local, upstream) {
            (Side::Local, Some(local), Some(upstream)) if !outcome.conflict => {
                take_inner_comments(base, local, upstream, editor)?;
                Ok(Fate::Local)
            }
            (Side::Local, Some(_), _) => Ok(Fate::Local),
            (Side::Upstream, Some(local), Some(upstream)) => {
                editor.replace(local.value, Content::Node(upstream.value))?;
                Ok(Fate::Local)
            }
            (Side::Upstream, None, Some(upstream)) => {
                Ok(Fate::Upstream(Content::Node(upstream.value)))
            }
            _ => Ok(Fate::Gone),
        }
    }

    /// Decides over one value, and says so if it is a conflict.
    fn value(
        &mut self,
        trail: &Trail<'_>,
        base: Option<Child<'_>>,
        local: Option<Child<'_>>,
        upstream: Option<Child<'_>>,
    ) -> Outcome {
        let base = base.map(|child| child.value);
        let local = local.map(|child| child.value);
        let upstream = upstream.map(|child| child.value);
        let outcome = rule::merge(base, local, upstream, self.winner, |a, b| same(*a, *b));
        if outcome.conflict {
            self.conflict(trail, base, local, upstream, outcome.side);
        }
        outcome
    }

    fn conflict(
        &mut self,
        trail: &Trail<'_>,
        base: Option<NodeRef<'_>>,
        local: Option<NodeRef<'_>>,
        upstream: Option<NodeRef<'_>>,
        winner: Side,
    ) {
        let value = |node: Option<NodeRef<'_>>| node.and_then(|node| node.value());
        self.findings.conflicts.push(Conflict {
            path: trail.to_path(),
            is_order: false,
            original: value(base),
            local: value(local),
            upstream: value(upstream),
            winner,
        });
    }

    /// The parts of three versions, if they merge part by part.
    fn collection<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
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
            kind if kind.is_mapping() && !facts.is_atomic_map() => true,
            kind if kind.is_sequence() && !matches!(facts.list(), List::Atomic) => false,
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
            true => Some(self.mapping(facts, old, local, new)),
            false => self.list(trail, facts, present, old, local, new),
        }
    }

    fn mapping<'d, 'f>(
        &mut self,
        facts: Facts<'_>,
        base: Option<NodeRef<'f>>,
        local: NodeRef<'d>,
        upstream: Option<NodeRef<'f>>,
    ) -> Collection<'d, 'f> {
        let merged = |node: Option<NodeRef<'f>>| -> Vec<Child<'f>> {
            let kept = |child: &Child<'f>| !facts.keeps_local(key_text(child));
            node.map(|node| entries_of(node).filter(kept).collect())
                .unwrap_or_default()
        };
        let (base, upstream) = (merged(base), merged(upstream));
        let local: Vec<_> = entries_of(local).collect();
        let mut numbers = Numbers::default();
        let sources = [keys(&base), keys(&local), keys(&upstream)];
        let identities = sources.each_ref().map(|source| numbers.of(source).0);
        let count = numbers.len();
        Collection {
            base,
            local,
            upstream,
            identities,
            count,
            together: None,
            is_list: false,
        }
    }

    /// `None` if the elements cannot be told apart, and the list is one value.
    fn list<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
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
        let mut numbers = Numbers::default();
        let mut twice = false;
        let (mut identities, mut together) = ([Vec::new(), Vec::new(), Vec::new()], None);
        if let List::Functions = facts.list() {
            let nodes = [nodes(&base), nodes(&local), nodes(&upstream)];
            let functions = kptfile::identities([&nodes[0], &nodes[1], &nodes[2]])?;
            for (numbered, source) in identities.iter_mut().zip(&functions.sources) {
                let (found, again) = numbers.of(source);
                *numbered = found;
                twice |= again;
            }
            if functions.together {
                if !present {
                    return None;
                }
                twice = false;
                let side = self.together(trail, had_base, &functions.sources);
                let mut marked = vec![false; numbers.len()];
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
            let list = facts.list();
            let sources = [
                elements(list, &base)?,
                elements(list, &local)?,
                elements(list, &upstream)?,
            ];
            for (numbered, source) in identities.iter_mut().zip(&sources) {
                let (found, again) = numbers.of(source);
                *numbered = found;
                twice |= again;
            }
        }
        if twice {
            self.findings.duplicates.push(trail.to_path());
        }
        // With the base replaced, its elements are not the ones that the numbers are of.
        let base = if together.is_some() { Vec::new() } else { base };
        let count = numbers.len();
        Some(Collection {
            base,
            local,
            upstream,
            identities,
            count,
            together,
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
        let outcome = rule::merge(versions.0, versions.1, versions.2, self.winner, |a, b| {
            a == b
        });
        if outcome.conflict {
            self.findings.conflicts.push(Conflict {
                path: trail.to_path(),
                is_order: false,
                original: base,
                local: Some(local),
                upstream: Some(upstream),
                winner: outcome.side,
            });
        }
        outcome.side
    }

    /// A map or list that local does not have: an empty one takes its place while the other two
    /// versions merge. `None` if it is one value.
    fn without_local<'f>(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
        base: Option<Child<'f>>,
        upstream: Option<Child<'f>>,
    ) -> Result<Option<Fate<'f>>, EditError> {
        let Some(node) = upstream.map(|child| child.value.resolved()) else {
            return Ok(None);
        };
        if base.is_none() && !holds_local_fields(node, facts) {
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
        let Some(collection) = self.collection(trail, facts, versions, true) else {
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
            facts,
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

    /// Merges the entries of a mapping or the elements of a keyed list into `node`.
    ///
    /// `absent` is the side that removed the whole.
    #[allow(
        clippy::too_many_arguments,
        reason = "one place in three versions, and what is said of it"
    )]
    fn entries<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
        absent: Option<Side>,
        versions: &Versions<'d, 'f>,
        node: NodeRef<'d>,
        collection: &Collection<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        let [base_order, local_order, upstream_order] = &collection.identities;
        let find = |order: &[usize], count: usize| {
            let mut found = vec![None; collection.count];
            order
                .iter()
                .take(count)
                .enumerate()
                .for_each(|(at, number)| found[*number] = Some(at));
            found
        };
        let in_base = find(base_order, collection.base.len());
        let in_local = find(local_order, usize::MAX);
        let in_upstream = find(upstream_order, usize::MAX);
        let pair = self.upstream_pair(trail, facts, collection);
        let mut fates: Vec<Option<Fate<'f>>> = (0..collection.count).map(|_| None).collect();
        let added = upstream_order
            .iter()
            .filter(|number| in_local[**number].is_none());
        for number in local_order.iter().chain(added).copied() {
            let one = Versions {
                base: in_base[number].map(|at| collection.base[at]),
                local: in_local[number].map(|at| collection.local[at]),
                upstream: in_upstream[number].map(|at| collection.upstream[at]),
            };
            let forced = match &collection.together {
                Some((marked, side)) => marked[number].then_some(*side),
                None => pair.filter(|_| is_upstream_pair(&one)),
            };
            let fate = match forced {
                Some(side) => force(side, &one, collection.together.is_some(), editor)?,
                None => self.entry(trail, facts, absent, &one, collection.is_list, editor)?,
            };
            if let (Fate::Local, Some(base), Some(local), Some(upstream)) =
                (&fate, one.base, one.local, one.upstream)
            {
                take_comments(base, local, upstream, editor);
            }
            fates[number] = Some(fate);
        }
        let stays = |number: &usize| !matches!(fates[*number], None | Some(Fate::Gone));
        let kept = |order: &[usize]| -> Vec<usize> {
            order
                .iter()
                .copied()
                .filter(|number| stays(number))
                .collect()
        };
        let (ours, theirs) = (kept(local_order), kept(upstream_order));
        if ours.is_empty() && theirs.is_empty() {
            return self.emptied(trail, versions, node, collection, editor);
        }
        let nothing_new = theirs.iter().all(|number| in_local[*number].is_some());
        let order = match *base_order == *upstream_order && nothing_new {
            // Upstream moved and added nothing.
            true => ours,
            false => {
                let merged = merge_order(base_order, &ours, &theirs, self.winner);
                if merged.cycle {
                    self.order_conflict(trail, facts, collection);
                }
                merged.order
            }
        };
        if order == *local_order {
            return Ok(Fate::Local);
        }
        if collection.is_list && has_comments(node) {
            self.findings.moves_comments = true;
        }
        let mut parts = Vec::with_capacity(order.len());
        for number in order {
            let fate = fates[number].take();
            parts.push(match (fate, in_local[number], in_upstream[number]) {
                (Some(Fate::Upstream(content)), None, Some(at)) => {
                    let child = collection.upstream[at];
                    match child.entry {
                        Some(entry) => Part::Entry(entry, content),
                        None => Part::Item(child.value, content),
                    }
                }
                (_, Some(at), _) => Part::Kept(at),
                _ => continue,
            });
        }
        editor.arrange(node, parts)?;
        Ok(Fate::Local)
    }

    /// Merges one entry or element.
    fn entry<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
        absent: Option<Side>,
        versions: &Versions<'d, 'f>,
        is_list: bool,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        let Versions {
            base,
            local,
            upstream,
        } = *versions;
        let key = local.and_then(|child| child.entry).map(|entry| entry.key);
        let key = key.or(upstream
            .and_then(|child| child.entry)
            .map(|entry| entry.key));
        let index = local.or(upstream).map_or(0, |child| child.index);
        let below = match key {
            Some(key) => Trail::Field(trail, key),
            None => Trail::Index(trail, index),
        };
        let name = key.and_then(|key| key.scalar_text()).unwrap_or_default();
        if key.is_some() && facts.keeps_local(name) {
            return Ok(Fate::Local);
        }
        if let (Some(side), None) = (absent, base) {
            // What was added to something that the other side removed as a whole.
            let value = |child: Option<Child<'_>>| child.and_then(|child| child.value.value());
            let other = if side == Side::Local {
                Side::Upstream
            } else {
                Side::Local
            };
            self.findings.conflicts.push(Conflict {
                path: below.to_path(),
                is_order: false,
                original: None,
                local: value(local),
                upstream: value(upstream),
                winner: other,
            });
            return Ok(match (local, upstream) {
                (None, Some(upstream)) => Fate::Upstream(Content::Node(upstream.value)),
                _ => Fate::Local,
            });
        }
        let facts = if is_list {
            facts.items()
        } else {
            facts.field(name)
        };
        let elementwise = if is_list {
            Elementwise::IfPresent
        } else {
            Elementwise::Yes
        };
        self.child(&below, facts, elementwise, *versions, editor)
    }

    /// `upstream` and `upstreamLock` of a sub-package are one value.
    fn upstream_pair(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
        collection: &Collection<'_, '_>,
    ) -> Option<Side> {
        if facts.place != Place::Kptfile {
            return None;
        }
        fn pair(children: &[Child<'_>]) -> Option<Value> {
            let found = children
                .iter()
                .filter(|child| UPSTREAM_PAIR.contains(&key_text(child)));
            let found =
                found.filter_map(|child| Some((child.entry?.key.value()?, child.value.value()?)));
            let found: Vec<_> = found.collect();
            (!found.is_empty()).then_some(Value::Mapping(found))
        }
        let (base, local) = (pair(&collection.base), pair(&collection.local));
        let upstream = pair(&collection.upstream);
        let outcome = rule::merge(
            base.as_ref(),
            local.as_ref(),
            upstream.as_ref(),
            self.winner,
            |a, b| a == b,
        );
        if outcome.conflict {
            let path = trail.to_path().field(UPSTREAM_PAIR[0]);
            let winner = outcome.side;
            let conflict = Conflict {
                path,
                is_order: false,
                original: base,
                local,
                upstream,
                winner,
            };
            self.findings.conflicts.push(conflict);
        }
        Some(outcome.side)
    }

    /// Nothing is left: an explicit empty one of the side that stands stays, else the whole goes.
    fn emptied<'d, 'f>(
        &mut self,
        trail: &Trail<'_>,
        versions: &Versions<'d, 'f>,
        node: NodeRef<'d>,
        collection: &Collection<'d, 'f>,
        editor: &mut Editor<'d, 'f>,
    ) -> Result<Fate<'f>, EditError> {
        /// Whether a version holds anything; `None` if it is absent.
        fn filled(child: Option<Child<'_>>) -> Option<bool> {
            let node = child?.value.resolved();
            Some(node.entries().next().is_some() || node.items().next().is_some())
        }
        let Versions {
            base,
            local,
            upstream,
        } = *versions;
        let shapes = [filled(base), filled(local), filled(upstream)];
        let outcome = rule::merge(shapes[0], shapes[1], shapes[2], self.winner, |a, b| a == b);
        if outcome.conflict {
            let nodes = [base, upstream].map(|child| child.map(|child| child.value));
            self.conflict(
                trail,
                nodes[0],
                local.map(|child| child.value),
                nodes[1],
                outcome.side,
            );
        }
        let stands = match outcome.side {
            Side::Local => shapes[1],
            Side::Upstream => shapes[2],
        };
        let is_root = matches!(trail, Trail::Root);
        match (stands, local, upstream) {
            (Some(false), Some(_), _) => {}
            (Some(false), None, Some(upstream)) => {
                return Ok(Fate::Upstream(Content::Node(upstream.value)));
            }
            _ if is_root => {}
            _ => return Ok(Fate::Gone),
        }
        if !collection.local.is_empty() {
            editor.arrange(node, Vec::new())?;
        }
        Ok(Fate::Local)
    }

    fn order_conflict(
        &mut self,
        trail: &Trail<'_>,
        facts: Facts<'_>,
        collection: &Collection<'_, '_>,
    ) {
        fn labels(facts: Facts<'_>, children: &[Child<'_>]) -> Option<Value> {
            let label = |child: &Child<'_>| match child.entry {
                Some(entry) => entry.key.value(),
                None => match identity::of_element(facts.list(), child.value) {
                    Some(identity) => Some(identity.to_value()),
                    None => child
                        .value
                        .get("name")
                        .or(child.value.get("image"))?
                        .value(),
                },
            };
            Some(Value::Sequence(children.iter().filter_map(label).collect()))
        }
        self.findings.conflicts.push(Conflict {
            path: trail.to_path(),
            is_order: true,
            original: labels(facts, &collection.base),
            local: labels(facts, &collection.local),
            upstream: labels(facts, &collection.upstream),
            winner: self.winner,
        });
    }
}

/// Where a sub-package comes from.
const UPSTREAM_PAIR: [&str; 2] = ["upstream", "upstreamLock"];

fn is_upstream_pair(versions: &Versions<'_, '_>) -> bool {
    let is = |child: Option<Child<'_>>| {
        child.is_some_and(|child| UPSTREAM_PAIR.contains(&key_text(&child)))
    };
    is(versions.local) || is(versions.upstream)
}

/// Takes the version of a side that was decided on elsewhere. `equal`: what both have is the same.
fn force<'d, 'f>(
    side: Side,
    versions: &Versions<'d, 'f>,
    equal: bool,
    editor: &mut Editor<'d, 'f>,
) -> Result<Fate<'f>, EditError> {
    match (side, versions.local, versions.upstream) {
        (Side::Local, Some(_), _) => Ok(Fate::Local),
        (Side::Upstream, Some(local), Some(upstream)) => {
            if !equal && !same(local.value, upstream.value) {
                editor.replace(local.value, Content::Node(upstream.value))?;
            }
            Ok(Fate::Local)
        }
        (Side::Upstream, None, Some(upstream)) => Ok(Fate::Upstream(Content::Node(upstream.value))),
        _ => Ok(Fate::Gone),
    }
}

fn entries_of<'a>(node: NodeRef<'a>) -> impl Iterator<Item = Child<'a>> {
    let entries = node.entries().enumerate();
    entries.map(|(index, entry)| Child {
        index,
        entry: Some(entry),
        value: entry.value,
    })
}

fn items_of<'a>(node: NodeRef<'a>) -> impl Iterator<Item = Child<'a>> {
    node.items().enumerate().map(|(index, value)| Child {
        index,
        entry: None,
        value,
    })
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

fn key_text<'a>(child: &Child<'a>) -> &'a str {
    let key = child.entry.map(|entry| entry.key);
    key.and_then(|key| key.scalar_text()).unwrap_or_default()
}

/// Whether a mapping of upstream holds something that is not taken over: such annotations.
fn holds_local_fields(node: NodeRef<'_>, facts: Facts<'_>) -> bool {
    match facts.place {
        Place::Annotations => entries_of(node).any(|child| facts.keeps_local(key_text(&child))),
        Place::Metadata | Place::RootKptfileMetadata => {
            let below = node.get("annotations");
            below.is_some_and(|node| holds_local_fields(node, facts.field("annotations")))
        }
        _ => false,
    }
}

/// Comments of an entry or item: those that only upstream changed are taken. The one beside a value
/// that local changed stays: a setter comment would overwrite that value later.
fn take_comments<'d>(
    base: Child<'_>,
    local: Child<'d>,
    upstream: Child<'_>,
    editor: &mut Editor<'d, '_>,
) {
    let has_any = |child: Child<'_>| child.value.document.comments().next().is_some();
    let in_block = |child: Child<'_>| {
        child
            .owner()
            .parent()
            .is_some_and(|parent| parent.kind().is_block_collection())
    };
    if !(has_any(base) || has_any(upstream)) || !in_block(local) || !in_block(upstream) {
        return;
    }
    let (old, ours, theirs) = (base.owner(), local.owner(), upstream.owner());
    let above = comments_above(theirs);
    let old_above = comments_above(old);
    if above != old_above && comments_above(ours) == old_above {
        editor.set_comments_above(ours, &above);
    }
    let (Some(before), Some(here), Some(there)) =
        (line_comment(old), line_comment(ours), line_comment(theirs))
    else {
        return;
    };
    let is_identifier = here.contains("kpt-merge:") || there.contains("kpt-merge:");
    let block = |child: Child<'_>| child.value.kind().is_block_collection();
    if before != there
        && before == here
        && !is_identifier
        && block(local) == block(upstream)
        && (block(local) || same(base.value, local.value))
    {
        editor.set_comment_behind(ours, there);
    }
}

/// Comments within a list that is one value, if only upstream changed them.
fn take_inner_comments<'d, 'f>(
    base: Option<Child<'f>>,
    local: Child<'d>,
    upstream: Child<'f>,
    editor: &mut Editor<'d, 'f>,
) -> Result<(), EditError> {
    let Some(base) = base else { return Ok(()) };
    let kind = upstream.value.kind();
    let can_hold = matches!(kind, NodeKind::BlockMapping | NodeKind::BlockSequence);
    if !can_hold || local.value.kind() != kind {
        return Ok(());
    }
    fn comments<'a>(child: Child<'a>) -> Vec<&'a str> {
        let document = child.value.document;
        let range = child.value.range();
        // The last line has a comment too.
        let rest = &document.text[range.end..];
        let end = rest
            .find('\n')
            .map_or(document.text.len(), |at| range.end + at);
        document.comments_within(range.start..end).collect()
    }
    let (old, theirs) = (comments(base), comments(upstream));
    if old != theirs && comments(local) == old && same(local.value, upstream.value) {
        editor.replace(local.value, Content::Node(upstream.value))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Resource;
    use crate::schema::Schema;
    use crate::yaml::{Document, ParseOptions, Tree};

    /// The merged text, and conflicts as `path:winner`.
    fn merged(base: &str, local: &str, upstream: &str, winner: Side) -> (String, Vec<String>) {
        let schema = Schema::builtin();
        let trees = [base, local, upstream].map(|text| {
            Tree::parse(text, ParseOptions::default()).unwrap_or_else(|e| panic!("{e}: {text}"))
        });
        let base = Document::new(base, &trees[0]);
        let local = Document::new(local, &trees[1]);
        let upstream = Document::new(upstream, &trees[2]);
        let mut editor = Editor::new(local);
        let (Some(l), Some(u)) = (local.root(0), upstream.root(0)) else {
            panic!("empty")
        };
        let facts = Facts::of(&Resource::read(l), &schema, true);
        let found = merge_resource(base.root(0), l, u, facts, winner, &mut editor).expect("merges");
        let conflicts = found.conflicts.iter().map(|conflict| {
            let order = if conflict.is_order { "order of " } else { "" };
            format!("{order}{}:{}", conflict.path, conflict.winner.as_str())
        });
        (editor.finish().expect("YAML"), conflicts.collect())
    }

    #[track_caller]
    fn check(base: &str, local: &str, upstream: &str, expected: &str) {
        check_conflicts(base, local, upstream, expected, &[]);
    }

    #[track_caller]
    fn check_conflicts(base: &str, local: &str, upstream: &str, expected: &str, paths: &[&str]) {
        let (text, conflicts) = merged(base, local, upstream, Side::Upstream);
        assert_eq!(text, expected);
        assert_eq!(conflicts, paths);
    }

    /// The contents of a Pod's container or of anything else, at the top of a text for reading.
    fn pod(containers: &str) -> String {
        let lines = containers.lines().map(|line| format!("  {line}\n"));
        format!(
            "apiVersion: v1\nkind: Pod\nspec:\n{}",
            lines.collect::<String>()
        )
    }

    #[test]
    fn scalars() {
        check(
            "a: 1\nb: 1\nc: 1\n",
            "a: 2\nb: 1\nc: 1\n",
            "a: 1\nb: 1\nc: 3\nd: 4\n",
            "a: 2\nb: 1\nc: 3\nd: 4\n",
        );
        check_conflicts(
            "a: 1\n",
            "a: 2 # mine\n",
            "a: 3\n",
            "a: 3 # mine\n",
            &["a:upstream"],
        );
        assert_eq!(
            merged("a: 1\n", "a: 2\n", "a: 3\n", Side::Local),
            ("a: 2\n".to_owned(), vec!["a:local".to_owned()])
        );
        // Equal by value, however written.
        check(
            "a: 5\nb: x\n",
            "a: 5.0\nb: 'x'\n",
            "a: 5\nb: \"x\"\n",
            "a: 5.0\nb: 'x'\n",
        );
        check("a: \"5\"\n", "a: \"5\"\n", "a: 5\n", "a: 5\n");
    }

    #[test]
    fn null_is_an_ordinary_value() {
        check("a: 1\n", "a: 1\n", "a: null\n", "a: null\n");
        check(
            "a: 1\nb: 1\n",
            "a: null\nb: 1\n",
            "a: 1\nb: 2\n",
            "a: null\nb: 2\n",
        );
        check_conflicts(
            "a: 1\nb: 1\n",
            "a: null\nb: 1\n",
            "b: 1\n",
            "b: 1\n",
            &["a:upstream"],
        );
        check("a: null\nb: 1\n", "a: null\nb: 1\n", "b: 1\n", "b: 1\n");
        check("a: null\n", "a: null\n", "a:\n  b: 1\n", "a:\n  b: 1\n");
    }

    #[test]
    fn removed_keys() {
        check("a: 1\nb: 1\n", "a: 1\nb: 1\n", "b: 1\n", "b: 1\n");
        check("a: 1\nb: 1\n", "b: 1\n", "a: 1\nb: 2\n", "b: 2\n");
        check_conflicts(
            "a: 1\nb: 1\n",
            "a: 2\nb: 1\n",
            "b: 1\n",
            "b: 1\n",
            &["a:upstream"],
        );
        check_conflicts(
            "a: 1\nb: 1\n",
            "b: 1\n",
            "a: 2\nb: 1\n",
            "a: 2\nb: 1\n",
            &["a:upstream"],
        );
        assert_eq!(
            merged("a: 1\nb: 1\n", "b: 1\n", "a: 2\nb: 1\n", Side::Local),
            ("b: 1\n".to_owned(), vec!["a:local".to_owned()])
        );
    }

    #[test]
    fn removed_maps_leave_nothing_behind() {
        let base = "a:\n  b:\n    c: 1\n    d: 2\nz: 1\n";
        check(base, base, "z: 1\n", "z: 1\n");
        check(base, "z: 1\n", base, "z: 1\n");
        // Each side removed one of two.
        check(
            "a: {b: 1, c: 1}\nz: 1\n",
            "a: {b: 1}\nz: 1\n",
            "a: {c: 1}\nz: 1\n",
            "z: 1\n",
        );
        // What the other side added stays.
        let more = "a:\n  b:\n    c: 1\n    d: 2\n    # mine\n    e: 3\nz: 1\n";
        let left = "a:\n  b:\n    # mine\n    e: 3\nz: 1\n";
        check_conflicts(base, more, "z: 1\n", left, &["a.b.e:local"]);
        check_conflicts(base, "z: 1\n", more, left, &["a.b.e:upstream"]);
        // An explicit empty one stays.
        check("a: {b: 1}\n", "a: {b: 1}\n", "a: {}\n", "a: {}\n");
        check(
            "a: {b: 1}\nz: 1\n",
            "a: {}\nz: 1\n",
            "a: {b: 1}\nz: 2\n",
            "a: {}\nz: 2\n",
        );
    }

    #[test]
    fn changed_within_a_removed_map() {
        let base = "a:\n  b: 1\n  c: 1\nz: 1\n";
        let changed = "a:\n  b: 1\n  c: 2\nz: 1\n";
        check_conflicts(base, changed, "z: 1\n", "z: 1\n", &["a.c:upstream"]);
        check_conflicts(
            base,
            "z: 1\n",
            changed,
            "a:\n  c: 2\nz: 1\n",
            &["a.c:upstream"],
        );
    }

    #[test]
    fn new_keys_stand_between_their_neighbours() {
        check(
            "a: 1\nc: 1\n",
            "a: 1\nc: 1\nl: 1\n",
            "a: 1\n# b\nb: 2 # two\nc: 1\n",
            "a: 1\n# b\nb: 2 # two\nc: 1\nl: 1\n",
        );
        check(
            "a: 1\n",
            "a: 1\ns: 1\n",
            "a: 1\ng: 1\n",
            "a: 1\ns: 1\ng: 1\n",
        );
    }

    #[test]
    fn keyed_lists() {
        let base = pod("containers:\n- name: a\n  image: a:1\n- name: b\n  image: b:1\n");
        let local = pod(
            "containers:\n- name: l\n- name: a # ca\n  image: a:1\n- name: b\n  image: b:1\n  args: [x]\n",
        );
        let upstream = pod(
            "containers:\n- name: a\n  image: a:2\n# new\n- name: u\n  image: u:1\n- name: b\n  image: b:1\n",
        );
        let expected = pod(
            "containers:\n- name: l\n- name: a # ca\n  image: a:2\n# new\n- name: u\n  image: u:1\n- name: b\n  image: b:1\n  args: [x]\n",
        );
        check(&base, &local, &upstream, &expected);
        // An element removed on one side and changed on the other is one conflict.
        let gone = pod("containers:\n- name: a\n  image: a:1\n");
        check_conflicts(
            &base,
            &local,
            &gone,
            &pod("containers:\n- name: l\n- name: a # ca\n  image: a:1\n"),
            &["spec.containers[2]:upstream"],
        );
        let changed = pod("containers:\n- name: a\n  image: a:1\n- name: b\n  image: b:2\n");
        check_conflicts(
            &base,
            &gone,
            &changed,
            &changed,
            &["spec.containers[1]:upstream"],
        );
    }

    #[test]
    fn ports_by_port_and_protocol() {
        let base = pod(
            "containers:\n- name: a\n  ports:\n  - containerPort: 80\n  - containerPort: 80\n    protocol: UDP\n",
        );
        let local = pod(
            "containers:\n- name: a\n  ports:\n  - containerPort: 80\n    hostPort: 1\n  - containerPort: 80\n    protocol: UDP\n",
        );
        let upstream = pod(
            "containers:\n- name: a\n  ports:\n  - containerPort: 80\n    protocol: TCP\n  - containerPort: 80\n    protocol: UDP\n    name: u\n",
        );
        // What local and upstream put behind the port: local's first.
        let expected = pod(
            "containers:\n- name: a\n  ports:\n  - containerPort: 80\n    hostPort: 1\n    protocol: TCP\n  - containerPort: 80\n    protocol: UDP\n    name: u\n",
        );
        check(&base, &local, &upstream, &expected);
    }

    #[test]
    fn sets_and_atomic_lists() {
        let with = |finalizers: &str, args: &str| {
            format!(
                "apiVersion: v1\nkind: Pod\nmetadata:\n  finalizers: [{finalizers}]\nspec:\n  containers:\n  - name: c\n    args: [{args}]\n"
            )
        };
        check(
            &with("a, b, c", "x, y"),
            &with("a, l, c", "x, y"),
            &with("a, b, c, u", "x, y, u"),
            &with("a, l, c, u", "x, y, u"),
        );
        check_conflicts(
            &with("a", "x, y"),
            &with("a", "x, l"),
            &with("a", "x, u"),
            &with("a", "x, u"),
            &["spec.containers[0].args:upstream"],
        );
    }

    #[test]
    fn duplicated_keys_by_position() {
        let list = |values: &str| {
            let items = values
                .split(' ')
                .map(|v| format!("  - name: E\n    value: {v}\n"));
            pod(&format!(
                "containers:\n- name: c\n  env:\n{}",
                items.collect::<String>()
            ))
        };
        check(&list("a b"), &list("a l"), &list("u b"), &list("u l"));
    }

    #[test]
    fn upstream_reorders() {
        let list = |names: &str, image: &str| {
            let items = names
                .chars()
                .map(|n| format!("# {n}\n- name: {n}\n  image: {n}:{image}\n"));
            pod(&format!("containers:\n{}", items.collect::<String>()))
        };
        check(
            &list("abc", "1"),
            &list("abc", "1"),
            &list("cab", "2"),
            &list("cab", "2"),
        );
        let local = list("abc", "1").replace("b:1", "b:9");
        let expected = list("cab", "2").replace("b:2", "b:9").replace("a:2", "a:1");
        let upstream = list("cab", "1").replace("c:1", "c:2");
        check(&list("abc", "1"), &local, &upstream, &expected);
        let (text, conflicts) = merged(
            &list("abc", "1"),
            &list("bac", "1"),
            &list("acb", "1"),
            Side::Local,
        );
        assert_eq!(text, list("bac", "1"));
        assert_eq!(conflicts, ["order of spec.containers:local"]);
    }

    #[test]
    fn comments() {
        let base = "# one\na: 1 # x\nb: 1\n# two\nc:\n  d: 1\n";
        let upstream = "# uno\na: 1 # y\n# new\nb: 1 # z\n# two\nc: # more\n  # deep\n  d: 1\n";
        check(base, base, upstream, upstream);
        // Changed by local: kept.
        check(
            base,
            "# mine\na: 1 # own\nb: 1\n# two\nc:\n  d: 1\n",
            upstream,
            "# mine\na: 1 # own\n# new\nb: 1 # z\n# two\nc: # more\n  # deep\n  d: 1\n",
        );
        // A new setter comment beside a value of local's own is not taken.
        check("a: 1\n", "a: 2\n", "a: 1 # kpt-set: ${a}\n", "a: 2\n");
        check(
            "a: 1\n",
            "a: 1\n",
            "a: 2 # kpt-set: ${a}\n",
            "a: 2 # kpt-set: ${a}\n",
        );
        check("a: 1 # x\n", "a: 1 # x\n", "a: 1\n", "a: 1\n");
    }

    #[test]
    fn identifiers_and_pipeline_annotations_are_not_merged() {
        let base = "apiVersion: v1\nkind: Pod\nmetadata: # kpt-merge: /a\n  name: a\n  annotations:\n    internal.kpt.dev/upstream-identifier: a\n    config.kubernetes.io/path: x\n";
        let local = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
        check(
            base,
            local,
            &base
                .replace("/a", "/b")
                .replace(": a\n    config", ": b\n    config"),
            local,
        );
        check(local, local, base, local);
        let more = format!("{base}    mine: x\n");
        check(
            local,
            local,
            &more,
            &format!("{local}  annotations:\n    mine: x\n"),
        );
        check(base, base, local, base);
    }

    mod laws {
        use super::*;
        use crate::yaml::to_block_text;
        use proptest::prelude::*;

        fn mapping(entries: Vec<(String, Value)>) -> Value {
            let mut seen = std::collections::HashSet::new();
            let entries = entries
                .into_iter()
                .filter(|(key, _)| seen.insert(key.clone()));
            Value::Mapping(
                entries
                    .map(|(key, value)| (Value::from(key), value))
                    .collect(),
            )
        }

        fn scalar() -> impl Strategy<Value = Value> {
            prop_oneof![
                4 => (0..3i64).prop_map(Value::from),
                1 => Just(Value::Null),
                1 => Just(Value::from("text")),
                1 => Just(Value::from("two\nlines\n")),
                1 => Just(Value::Mapping(Vec::new())),
                1 => Just(Value::Sequence(Vec::new())),
                1 => prop::collection::vec((0..3i64).prop_map(Value::from), 1..3).prop_map(Value::Sequence),
            ]
        }

        fn tree() -> impl Strategy<Value = Value> {
            scalar().prop_recursive(3, 24, 4, |inner| {
                prop::collection::vec(("[a-d]", inner), 0..4).prop_map(mapping)
            })
        }

        /// Distinct names, in any order.
        fn names() -> impl Strategy<Value = Vec<&'static str>> {
            (Just(vec!["p", "q", "r", "s"]).prop_shuffle(), 0..5usize)
                .prop_map(|(names, length)| names[..length].to_vec())
        }

        fn containers() -> impl Strategy<Value = Value> {
            let element = (
                scalar(),
                prop::option::of(names()),
                prop::option::of(tree()),
            );
            (names(), prop::collection::vec(element, 4)).prop_map(|(names, elements)| {
                let list = names
                    .into_iter()
                    .zip(elements)
                    .map(|(name, (image, env, more))| {
                        let mut entries = vec![
                            ("name".to_owned(), Value::from(name)),
                            ("image".to_owned(), image),
                        ];
                        if let Some(env) = env {
                            let env = env
                                .into_iter()
                                .map(|name| mapping(vec![("name".to_owned(), Value::from(name))]));
                            entries.push(("env".to_owned(), Value::Sequence(env.collect())));
                        }
                        if let Some(more) = more {
                            entries.push(("x".to_owned(), more));
                        }
                        mapping(entries)
                    });
                Value::Sequence(list.collect())
            })
        }

        fn resource() -> impl Strategy<Value = String> {
            (tree(), prop::option::of(containers()), names()).prop_map(|(free, containers, set)| {
                let set = set.into_iter().map(Value::from).collect();
                let metadata = vec![("finalizers".to_owned(), Value::Sequence(set))];
                let spec = containers.map(|list| ("containers".to_owned(), list));
                let entries = vec![
                    ("apiVersion".to_owned(), Value::from("v1")),
                    ("kind".to_owned(), Value::from("Pod")),
                    ("metadata".to_owned(), mapping(metadata)),
                    ("spec".to_owned(), mapping(spec.into_iter().collect())),
                    ("free".to_owned(), free),
                ];
                to_block_text(&mapping(entries))
            })
        }

        fn value(text: &str) -> Value {
            let owned = OwnedDocument::parse(text.to_owned()).expect("YAML");
            owned.root().and_then(|root| root.value()).expect("a value")
        }

        /// Paths of all leaves with their values; elements by name.
        fn leaves(value: &Value, path: &str, out: &mut std::collections::BTreeMap<String, Value>) {
            match value {
                Value::Mapping(entries) if !entries.is_empty() => {
                    for (key, value) in entries {
                        leaves(
                            value,
                            &format!("{path}.{}", key.as_str().unwrap_or("?")),
                            out,
                        );
                    }
                }
                Value::Sequence(items) if items.iter().all(|item| item.get("name").is_some()) => {
                    for item in items {
                        let name = item.get("name").and_then(Value::as_str).unwrap_or("?");
                        leaves(item, &format!("{path}[{name}]"), out);
                    }
                }
                Value::Sequence(items) if path == ".metadata.finalizers" => {
                    for item in items {
                        out.insert(format!("{path}[{}]", item.to_json()), item.clone());
                    }
                }
                value => {
                    out.insert(path.to_owned(), value.clone());
                }
            }
        }

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(600))]

            #[test]
            fn one_side_changed(base in resource(), x in resource()) {
                for winner in [Side::Local, Side::Upstream] {
                    prop_assert_eq!(merged(&base, &x, &base, winner), (x.clone(), vec![]));
                    prop_assert_eq!(merged(&base, &x, &x, winner), (x.clone(), vec![]));
                    let (text, conflicts) = merged(&base, &base, &x, winner);
                    prop_assert_eq!(to_block_text(&value(&text)), x.clone());
                    prop_assert_eq!(conflicts, Vec::<String>::new());
                }
            }

            #[test]
            fn both_sides_changed(base in resource(), local in resource(), upstream in resource()) {
                for winner in [Side::Local, Side::Upstream] {
                    let (text, conflicts) = merged(&base, &local, &upstream, winner);
                    let (again, _) = merged(&base, &text, &upstream, winner);
                    prop_assert_eq!(&again, &text, "merged twice");
                    let of = |text: &str| {
                        let mut out = std::collections::BTreeMap::new();
                        leaves(&value(text), "", &mut out);
                        out
                    };
                    let (old, ours, result) = (of(&base), of(&local), of(&text));
                    let said = |path: &str| {
                        let plain = path.split('[').next().unwrap_or_default();
                        conflicts.iter().any(|conflict| {
                            let conflict = conflict.rsplit_once(':').map_or("", |(path, _)| path);
                            let conflict = conflict.trim_start_matches("order of ");
                            let conflict = format!(".{}", conflict.split('[').next().unwrap_or_default());
                            plain.starts_with(&conflict) || conflict.starts_with(plain)
                        })
                    };
                    for path in ours.keys().chain(old.keys()) {
                        let (before, after) = (old.get(path), ours.get(path));
                        // An empty collection is no value of its own while its parts merge.
                        let is_empty = |value: Option<&Value>| match value {
                            Some(Value::Mapping(entries)) => entries.is_empty(),
                            Some(Value::Sequence(items)) => items.is_empty(),
                            _ => false,
                        };
                        if before == after || is_empty(before) || is_empty(after) {
                            continue;
                        }
                        let kept = result.get(path) == after;
                        prop_assert!(kept || said(path), "{path} got lost: {conflicts:?}\n{text}");
                    }
                }
            }
        }
    }
}

//! Creates the patch that changes a live resource to match a modified configuration.
//!
//! ```yaml
//! env:            # original   # modified   # live        # patch
//!                   [A, B]       [B, C]       [A, B, X]     $setElementOrder/env: [B, C]
//!                                                           env: [C, {A, $patch: delete}]
//! ```
//!
//! Additions and changes are values that modified has and live does not. Deletions are values that original has and
//! modified does not. Values that only live has are ignored. Both become one patch, in the form of kubectl, which older
//! servers can read, too. For a kind without a schema it is a JSON merge patch (RFC 7396): maps merge, and everything
//! else is replaced.
//!
//! Source: preserve-order document; merging-fields document; contract, create-patch.

mod list;
mod pairs;
mod set;

use super::directive::RETAIN_KEYS;
use super::finding::Findings;
use super::node::{Field, Fields, Finder, ListItem, Node, Shape};
use super::rules::{ListRule, Rules};
use krm_core::results::Reason;
use krm_yaml::Trail;

/// Creates the patch; `None` if there is nothing to patch. If there are error findings, the patch is not valid.
pub fn create<'a>(
    original: Option<&Node<'a>>,
    modified: &Node<'a>,
    live: &Node<'a>,
    rules: Rules<'_>,
    findings: &mut Findings,
) -> Option<Node<'a>> {
    let versions = Nodes {
        original,
        modified,
        live: Some(live),
    };
    let mut create = Create { findings };
    create.map(versions, rules, false, &Trail::Root)
}

/// One value in three versions. The modified configuration always has it.
#[derive(Clone, Copy)]
struct Nodes<'p, 'a> {
    original: Option<&'p Node<'a>>,
    modified: &'p Node<'a>,
    live: Option<&'p Node<'a>>,
}

struct Create<'r> {
    findings: &'r mut Findings,
}

/// Adds a `null` for each field that only the previous configuration has.
fn push_removed<'a>(original: Option<&Node<'a>>, modified: &Node<'a>, fields: &mut Fields<'a>) {
    let own = Finder::of(original.map(|_| modified));
    let old = original.iter().flat_map(|original| original.each_field());
    old.filter(|field| own.find(&field.key).is_none())
        .for_each(|field| fields.push_null(field));
}

impl Create<'_> {
    /// The patch of a map. Without live, all of modified is new. `None` if there is nothing to patch.
    fn map<'a>(
        &mut self,
        versions: Nodes<'_, 'a>,
        rules: Rules<'_>,
        retains: bool,
        trail: &Trail<'_>,
    ) -> Option<Node<'a>> {
        let (modified, live) = (versions.modified, versions.live);
        let (old, theirs) = (Finder::of(versions.original), Finder::of(live));
        let mut fields = Fields::default();
        for field in modified.each_field() {
            let field = &field;
            let at = trail.field(&field.key);
            let below = rules.field(&field.key);
            let is_dollar = rules.is_known() && field.key.starts_with('$');
            if is_dollar && !rules.takes_dollar(&field.key) {
                let message = format!(
                    "expected a field, found `{}`: directives belong in patches",
                    field.key
                );
                self.findings.error(&at, Reason::UnknownDirective, message);
                continue;
            }
            let (original, own) = (old.find(&field.key), theirs.find(&field.key));
            if !rules.is_known() && field.value.is_null() && live.is_some() && own.is_none() {
                continue;
            }
            let below_versions = Nodes {
                original: original.as_ref(),
                modified: &field.value,
                live: own.as_ref(),
            };
            self.field(field, below_versions, below, &at, &mut fields);
        }
        push_removed(versions.original, modified, &mut fields);
        if retains && let Some(names) = retained_keys(modified, live, &fields) {
            fields.insert(0, names);
        }
        let is_needed = live.is_none() || !fields.is_empty();
        is_needed.then(|| Node::map(fields, modified.source()))
    }

    /// Adds the patch of a field to the fields of the patch.
    fn field<'a>(
        &mut self,
        field: &Field<'a>,
        versions: Nodes<'_, 'a>,
        rules: Rules<'_>,
        trail: &Trail<'_>,
        fields: &mut Fields<'a>,
    ) {
        let shape = versions.modified.shape();
        let versions = Nodes {
            original: versions.original.filter(|old| old.shape() == shape),
            live: versions.live.filter(|live| live.shape() == shape),
            ..versions
        };
        let value = match (shape, rules.list()) {
            (Shape::Map, _) if !rules.replaces_map() => {
                self.map(versions, rules, rules.retains_keys(), trail)
            }
            (Shape::List, ListRule::Set) => return self.set(field, versions, trail, fields),
            (Shape::List, ListRule::Keyed(keys)) => {
                return self.list(field, versions, keys, rules, trail, fields);
            }
            _ => {
                let same = versions
                    .live
                    .is_some_and(|live| live.equals(versions.modified));
                (!same).then(|| versions.modified.clone())
            }
        };
        fields.extend(value.map(|value| field.with(value)));
    }
}

/// `$retainKeys` with the keys of a configuration; `None` if the patch needs none.
fn retained_keys<'a>(
    modified: &Node<'a>,
    live: Option<&Node<'a>>,
    patch: &Fields<'a>,
) -> Option<Field<'a>> {
    let own = Finder::of(Some(modified));
    let is_more = |field: Field<'a>| !field.value.is_null() && own.find(&field.key).is_none();
    let wanted = match live {
        Some(live) => !patch.is_empty() || live.each_field().any(is_more),
        // A new map without changes needs none.
        None => !Node::map(patch.clone(), modified.source()).is(modified),
    };
    if !wanted {
        return None;
    }
    let fields = modified.each_field().filter(|field| !field.value.is_null());
    let mut names: Vec<_> = fields.map(|field| field.key).collect();
    names.sort_unstable();
    let items = names.into_iter();
    let items = items.map(|name| ListItem::made(Node::of_value(name.into_owned())));
    let items: Vec<_> = items.collect();
    (!items.is_empty()).then(|| Field::made(RETAIN_KEYS, Node::list(items, None)))
}

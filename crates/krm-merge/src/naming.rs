//! The fields that name the elements of lists without keys: the one table of merges, reviews, `krmv blame`, messages and
//! the places of comments.
//!
//! ```yaml
//! - {name: web, kind: Service}   # `name`; if two elements have this name, `kind`, `namespace` and `version` as well
//! - {host: a.example.com}        # `host`
//! ```
//!
//! Source: contract, Which element is which.

use krm_yaml::NodeRef;

/// Fields that name an element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamingFields {
    /// The fields, all of which an element must have. Of fields with `|` between them, it has one.
    pub(crate) fields: &'static [&'static str],
    /// Fields that distinguish elements in which the first fields are equal.
    pub(crate) more: &'static [&'static str],
    pub(crate) strength: NameStrength,
}

/// What a name says about an element in another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameStrength {
    /// The element with the same name is the same one.
    Name,
    /// It says where an element is, or what it does: another field may identify the element as well.
    Attribute,
    /// It often changes, such as the resources of a rule.
    Changing,
    /// It names an element in messages, and no element in another version.
    Label,
}

const fn row(
    fields: &'static [&'static str],
    more: &'static [&'static str],
    strength: NameStrength,
) -> NamingFields {
    NamingFields {
        fields,
        more,
        strength,
    }
}

/// The fields in the order in which they are tried.
pub(crate) const NAMING_FIELDS: [NamingFields; 19] = {
    use NameStrength::{Attribute, Changing, Label, Name};
    [
        row(&["name"], &["kind", "namespace", "version"], Name),
        row(&["conditionType"], &[], Label),
        row(&["metadata"], &[], Name),
        row(&["key"], &["effect"], Name),
        row(&["path"], &[], Attribute),
        row(&["id"], &[], Name),
        row(&["type"], &[], Attribute),
        row(&["host"], &[], Attribute),
        row(&["port"], &["protocol"], Attribute),
        row(&["image"], &[], Attribute),
        row(&["exec"], &[], Label),
        row(&["apiGroups", "resources"], &["resourceNames"], Changing),
        row(&["record|alert"], &["labels"], Changing),
        row(&["secretKey"], &[], Name),
        row(&["step"], &[], Name),
        row(&["refId"], &[], Name),
        row(&["path|target|patch"], &["patch"], Changing),
        row(&["matches"], &[], Changing),
        row(&["kind"], &[], Label),
    ]
};

/// The scalars of an element that name it, the best first, each with its field.
pub(crate) fn names_of(element: NodeRef<'_>) -> impl Iterator<Item = (&'static str, NodeRef<'_>)> {
    let single = NAMING_FIELDS.iter().filter(|row| row.fields.len() == 1);
    let fields = single.flat_map(|row| row.fields[0].split('|'));
    fields.filter_map(move |field| {
        let value = element.get(field)?.resolved();
        value.scalar_text()?;
        Some((field, value))
    })
}

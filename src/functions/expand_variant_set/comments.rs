//! Copies the comments of a template to new PackageVariants.
//!
//! ```yaml
//! template:              # of the PackageVariantSet
//!   labels:
//!     # as finance wants it
//!     tier: gold         # until May
//! ```
//! gives both comments to `spec.labels` of each new PackageVariant.

use crate::yaml::{EditError, Editor, NodeRef, OwnedDocument, comments_above, line_comment};

/// The comments of a template, as a tree of the entries and elements that they belong to.
#[derive(Debug, Default)]
pub(super) struct TemplateComments {
    /// The comment lines above the entry or element itself.
    above: Vec<String>,
    behind: String,
    /// The comments of entries by key, and of the elements of a sorted list by their text.
    fields: Vec<(String, TemplateComments)>,
    elements: Vec<(usize, TemplateComments)>,
}

/// The fields with lists of computed entries, each with the map that the entries belong to.
const COMPUTED: [(&str, &str); 4] = [
    ("labelExprs", "labels"),
    ("annotationExprs", "annotations"),
    ("dataExprs", "data"),
    ("configMapExprs", "configMap"),
];

/// The list of strings that is sorted in a PackageVariant, unlike in its template.
const SORTED: &str = "removeKeys";

impl TemplateComments {
    /// The comments of a template; `None` if it has none, as most templates.
    pub(super) fn of_template(template: NodeRef<'_>) -> Option<Self> {
        template.document.comments_within(template.range()).next()?;
        let comments = Self::within(template);
        (!comments.is_empty()).then_some(comments)
    }

    fn is_empty(&self) -> bool {
        self.above.is_empty()
            && self.behind.is_empty()
            && self.fields.is_empty()
            && self.elements.is_empty()
    }

    /// The comments of an entry (given its key) or element, and the comments within its value.
    fn of(owner: NodeRef<'_>, value: NodeRef<'_>) -> Self {
        let mut comments = Self::within(value);
        comments.own(owner);
        comments
    }

    fn own(&mut self, owner: NodeRef<'_>) {
        self.above = comments_above(owner)
            .into_iter()
            .map(str::to_owned)
            .collect();
        self.behind = line_comment(owner).unwrap_or_default().to_owned();
    }

    fn within(value: NodeRef<'_>) -> Self {
        let mut comments = Self::default();
        let injectors = value.get("injectors");
        let injectors = injectors.map_or(0, |injectors| injectors.items().count());
        for entry in value.entries() {
            let Some(key) = entry.key.as_str() else {
                continue;
            };
            let computed = COMPUTED.iter().find(|(name, _)| *name == key);
            if let Some((_, field)) = computed {
                let keys = Self::of_computed(entry.value);
                comments.field(field).fields.extend(keys);
                continue;
            }
            let (key, first) = match key {
                "injectorExprs" => ("injectors", injectors),
                key => (key, 0),
            };
            let mut of_entry = Self::of(entry.key, entry.value);
            of_entry
                .elements
                .iter_mut()
                .for_each(|(index, _)| *index += first);
            if key == SORTED {
                let elements = std::mem::take(&mut of_entry.elements).into_iter();
                let by_text = elements.filter_map(|(index, comments)| {
                    let text = entry.value.items().nth(index)?.as_str()?;
                    Some((text.to_owned(), comments))
                });
                of_entry.fields.extend(by_text);
            }
            if !of_entry.is_empty() {
                comments.field(key).add(of_entry);
            }
        }
        for (index, item) in value.items().enumerate() {
            let of_item = Self::of(item, item);
            if !of_item.is_empty() {
                comments.elements.push((index, of_item));
            }
        }
        comments.fields.retain(|(_, comments)| !comments.is_empty());
        comments
    }

    /// The comment lines above computed entries with a constant key, by that key.
    fn of_computed(list: NodeRef<'_>) -> Vec<(String, Self)> {
        let of_item = |item: NodeRef<'_>| {
            let key = item.get("key")?.as_str()?.to_owned();
            let above: Vec<String> = comments_above(item)
                .into_iter()
                .map(str::to_owned)
                .collect();
            let comments = Self {
                above,
                ..Self::default()
            };
            (!comments.is_empty()).then_some((key, comments))
        };
        list.items().filter_map(of_item).collect()
    }

    fn field(&mut self, name: &str) -> &mut Self {
        let place = self.fields.iter().position(|(known, _)| known == name);
        let place = place.unwrap_or_else(|| {
            self.fields.push((name.to_owned(), Self::default()));
            self.fields.len() - 1
        });
        &mut self.fields[place].1
    }

    fn add(&mut self, other: Self) {
        if self.above.is_empty() {
            self.above = other.above;
        }
        if self.behind.is_empty() {
            self.behind = other.behind;
        }
        self.fields.extend(other.fields);
        self.elements.extend(other.elements);
    }

    /// Adds these comments to the text of a new PackageVariant.
    pub(super) fn write(&self, text: String) -> Result<String, EditError> {
        OwnedDocument::edited(text, |root, editor| {
            if let Some(spec) = root.get("spec") {
                self.write_within(spec, editor);
            }
            Ok(())
        })
    }

    fn write_within<'d>(&self, value: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
        for (name, comments) in &self.fields {
            if let Some(entry) = value.entry(name) {
                comments.write_own(entry.key, editor);
                comments.write_within(entry.value, editor);
            }
            let is_named = |item: &NodeRef<'_>| item.as_str() == Some(name);
            if let Some(item) = value.items().find(is_named) {
                comments.write_own(item, editor);
            }
        }
        for (index, comments) in &self.elements {
            if let Some(item) = value.items().nth(*index) {
                comments.write_own(item, editor);
                comments.write_within(item, editor);
            }
        }
    }

    fn write_own<'d>(&self, owner: NodeRef<'d>, editor: &mut Editor<'d, '_>) {
        if !self.above.is_empty() {
            let lines: Vec<&str> = self.above.iter().map(String::as_str).collect();
            editor.set_comments_above(owner, &lines);
        }
        // The header of a block scalar cannot have a comment.
        if !self.behind.is_empty() && line_comment(owner).is_some() {
            editor.set_comment_behind(owner, &self.behind);
        }
    }
}

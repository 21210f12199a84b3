//! Copies the comments of a template to new PackageVariants.
//!
//! ```yaml
//! template:              # of the PackageVariantSet
//!   labels:
//!     # as finance wants it
//!     tier: gold         # until May
//! ```
//! gives both comments to `spec.labels` of each new PackageVariant.

use std::hash::RandomState;

use indexmap::IndexMap;

use krm_yaml::{
    EditError, NodeRef, OwnedDocument, Path, PathElement, comments_above, line_comment,
};

/// The comments of a template, by their positions in the `spec` of a PackageVariant.
#[derive(Debug, Default)]
pub(super) struct TemplateComments(IndexMap<Path, OwnComments, RandomState>);

/// The comments of an entry or element.
#[derive(Debug, Default)]
struct OwnComments {
    above: Vec<String>,
    after: String,
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
        let mut comments = Self::default();
        comments.add_within(template, &Path::root(), 0);
        (!comments.0.is_empty()).then_some(comments)
    }

    /// Adds the comments within a value. `others` is the number of elements that come before those of a list.
    fn add_within(&mut self, value: NodeRef<'_>, place: &Path, others: usize) {
        let injectors = value.get("injectors");
        let injectors = injectors.map_or(0, |injectors| injectors.items().count());
        for entry in value.entries() {
            let Some(key) = entry.key.as_str() else {
                continue;
            };
            if let Some((_, field)) = COMPUTED.iter().find(|(name, _)| *name == key) {
                for item in entry.value.items() {
                    if let Some(key) = item.get("key").and_then(|key| key.as_str()) {
                        self.add(place.field(field).field(key), item, None);
                    }
                }
                continue;
            }
            let (name, others) = match key {
                "injectorExprs" => ("injectors", injectors),
                name => (name, 0),
            };
            let place = place.field(name);
            self.add(place.clone(), entry.key, line_comment(entry.key));
            if key == SORTED {
                for item in entry.value.items() {
                    let text = item.as_str().unwrap_or_default().to_owned();
                    let place = place.child(PathElement::Value(text));
                    self.add(place, item, line_comment(item));
                }
            } else {
                self.add_within(entry.value, &place, others);
            }
        }
        for (index, item) in value.items().enumerate() {
            let place = place.index(others + index);
            self.add(place.clone(), item, line_comment(item));
            self.add_within(item, &place, 0);
        }
    }

    /// Adds the comments of an entry (given its key) or element, unless its position has some.
    fn add(&mut self, place: Path, owner: NodeRef<'_>, after: Option<&str>) {
        let above = comments_above(owner);
        let after = after.unwrap_or_default();
        if above.is_empty() && after.is_empty() {
            return;
        }
        let own = self.0.entry(place).or_default();
        if own.above.is_empty() {
            own.above = above.into_iter().map(str::to_owned).collect();
        }
        if own.after.is_empty() {
            after.clone_into(&mut own.after);
        }
    }

    /// Adds these comments to the text of a new PackageVariant.
    pub(super) fn write(&self, text: String) -> Result<String, EditError> {
        OwnedDocument::edited(text, |root, editor| {
            for (place, own) in &self.0 {
                let OwnComments { above, after } = own;
                let Some(owner) = root.get("spec").and_then(|spec| owner_at(spec, place)) else {
                    continue;
                };
                if !above.is_empty() {
                    let lines: Vec<&str> = above.iter().map(String::as_str).collect();
                    editor.set_comments_above(owner, &lines);
                }
                // The header of a block scalar cannot have a comment.
                if !after.is_empty() && line_comment(owner).is_some() {
                    editor.set_comment_after(owner, after);
                }
            }
            Ok(())
        })
    }
}

/// The key or element at a position.
fn owner_at<'d>(spec: NodeRef<'d>, place: &Path) -> Option<NodeRef<'d>> {
    let (mut owner, mut value) = (spec, spec);
    for element in place.elements() {
        (owner, value) = match element {
            PathElement::Field(name) => {
                let entry = value.entry(name)?;
                (entry.key, entry.value)
            }
            PathElement::Index(index) => {
                let item = value.items().nth(*index)?;
                (item, item)
            }
            PathElement::Value(text) => {
                let item = value.items().find(|item| item.as_str() == Some(text))?;
                (item, item)
            }
            PathElement::Key(_) => return None,
        };
    }
    Some(owner)
}

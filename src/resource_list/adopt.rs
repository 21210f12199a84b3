//! Taking the resources of another package in, with their text.

use super::{Item, ItemId, Layout, Place, ResourceList};
use crate::package::FileChange;
use crate::resource::Resource;
use crate::source_text::SourceText;
use crate::yaml::{
    Content, Document, EditError, Editor, NodeRef, ParseOptions, Tree, document_as_content,
    document_as_item,
};

impl ResourceList {
    /// Edits all items, each text once.
    ///
    /// # Errors
    /// Those of `change` and of the edits.
    pub(crate) fn edit_each<E: From<EditError>>(
        &mut self,
        mut change: impl for<'d> FnMut(
            &Resource,
            NodeRef<'d>,
            &mut Editor<'d, 'static>,
        ) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut items = self.items.iter().peekable();
        while let Some(first) = items.peek().map(|item| item.chunk) {
            let mut of_chunk = Vec::new();
            while let Some(item) = items.next_if(|item| item.chunk == first) {
                of_chunk.push(item);
            }
            self.chunks[first].edit(|document, editor| {
                for item in of_chunk {
                    if let Some(node) = super::locate(document, item.place) {
                        change(&item.resource, node, editor)?;
                    }
                }
                Ok::<_, E>(())
            })?;
        }
        Ok(())
    }

    /// The package that items of the root package say they are of, where they say it.
    #[must_use]
    pub(crate) fn root_package_path(&self) -> Option<&str> {
        let origins = self.items.iter().map(|item| &item.resource.origin);
        let paths = origins.filter_map(|origin| origin.package_path.as_deref());
        paths.min_by_key(|path| path.len())
    }

    /// Takes all files of a package in, with their text: as files of this package, or their
    /// resources as items of this ResourceList, which must be annotated with their paths then.
    ///
    /// # Errors
    /// An edit of the wrapper that cannot be made.
    pub(crate) fn adopt(&mut self, other: &Self) -> Result<(), EditError> {
        let package_path = self.root_package_path().map(str::to_owned);
        self.join();
        match &mut self.layout {
            Layout::Files { paths, .. } => {
                let Layout::Files { paths: new, .. } = &other.layout else {
                    return Ok(());
                };
                let base = self.chunks.len();
                paths.extend(new.iter().cloned());
                for chunk in &other.chunks {
                    self.chunks.push(SourceText::added(
                        chunk.text().to_owned(),
                        ParseOptions::default(),
                    ));
                }
                self.items
                    .extend(other.items.iter().enumerate().map(|(id, item)| Item {
                        resource: other.read_again(ItemId(id)),
                        chunk: base + item.chunk,
                        place: item.place,
                        hidden: false,
                    }));
                return Ok(());
            }
            Layout::Split { indent, .. } => {
                let indent = *indent;
                for (id, _) in other.items() {
                    let text = item_text(other.node(id), indent)?;
                    self.items.push(Item {
                        resource: Resource::default(),
                        chunk: self.chunks.len(),
                        place: Place::Alone,
                        hidden: false,
                    });
                    // Behind a dash of the wrapper.
                    self.chunks
                        .push(SourceText::added(text, ParseOptions { depth: 1 }));
                }
            }
            Layout::Whole => {
                let Some(chunk) = self.chunks.first_mut() else {
                    return Ok(());
                };
                let nodes: Vec<NodeRef<'_>> = other.items().map(|(id, _)| other.node(id)).collect();
                let base = chunk.edit_items(&nodes)?;
                let new = base..base + nodes.len();
                self.items
                    .extend(new.map(|index| Item::in_wrapper(index, Resource::default())));
            }
            Layout::Flow { .. } | Layout::Loose => return Ok(()),
        }
        let first = self.items.len() - other.items.len();
        for index in 0..other.items.len() {
            let resource = &mut self.items[first + index].resource;
            *resource = other.read_again(ItemId(index));
            resource.origin.package_path.clone_from(&package_path);
        }
        Ok(())
    }

    /// Identity of an item as its text has it after edits; its origin is what it was.
    fn read_again(&self, id: ItemId) -> Resource {
        let origin = self.resource(id).origin.clone();
        Resource {
            origin,
            ..Resource::read(self.node(id))
        }
    }

    /// Adds a file that is not KRM to a package; does nothing in a ResourceList, which cannot
    /// hold one.
    pub(crate) fn add_file(&mut self, path: String, bytes: Vec<u8>, mode: Option<u32>) {
        if let Layout::Files { copied, .. } = &mut self.layout {
            copied.push(FileChange::Write { path, bytes, mode });
        }
    }

    /// Gives a file that was taken in its permission bits.
    pub(crate) fn set_mode(&mut self, path: &str, mode: u32) {
        if let Layout::Files { modes, .. } = &mut self.layout {
            modes.insert(path.to_owned(), mode);
        }
    }
}

impl SourceText {
    /// Puts items behind those of a wrapper; says how many were there.
    fn edit_items(&mut self, nodes: &[NodeRef<'_>]) -> Result<usize, EditError> {
        let has_items = self
            .root()
            .is_some_and(|root| root.entry("items").is_some());
        if !has_items {
            self.edit(|document, editor| {
                let Some(root) = document.root(0) else {
                    return Ok(());
                };
                let empty = Content::Value(crate::yaml::Value::Sequence(Vec::new()));
                editor.insert_entry(root, None, "items", empty)
            })?;
        }
        let mut count = 0;
        self.edit(|document, editor| {
            let items = document.root(0).and_then(|root| root.entry("items"));
            let Some(items) = items.map(|entry| entry.value.resolved()) else {
                return Ok(());
            };
            count = items.items().count();
            for node in nodes {
                match document_as_content(*node) {
                    Some(content) => editor.insert_item(items, None, content)?,
                    None => editor.insert_item_from(items, None, *node)?,
                }
            }
            Ok::<_, EditError>(())
        })?;
        Ok(count)
    }
}

/// A resource as an item with its dash at a column, comments above it included.
fn item_text(node: NodeRef<'_>, indent: usize) -> Result<String, EditError> {
    if let Some(text) = document_as_item(node, indent) {
        return Ok(text);
    }
    const LIST: &str = "items:\n- a\n";
    let tree = Tree::parse(LIST, ParseOptions::default()).map_err(EditError::Broken)?;
    let document = Document::new(LIST, &tree);
    let mut editor = Editor::new(document);
    if let Some(items) = document.root(0).and_then(|root| root.get("items")) {
        editor.remove_items(items, |_| true)?;
        editor.insert_item_from(items, None, node)?;
    }
    let text = editor.finish()?;
    let lines = text.lines().skip(1).map(|line| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{:indent$}{line}\n", ""),
    });
    Ok(lines.collect())
}

//! Adapts changes to the aliases and merge keys of the source.

use super::Editor;
use super::alias_write_back::AliasWriteBack;
use super::finish::Spliced;
use super::refuse::endless;
use crate::error::EditError;
use crate::node::NodeRef;
use crate::tree::NodeId;

impl<'d, 'f> Editor<'d, 'f> {
    /// The text with all changes made, not yet parsed.
    pub(super) fn splice(mut self) -> Result<Spliced, EditError> {
        self.apply_removals();
        if let Some((_, error)) = self.changes_of_endless().next() {
            return Err(error);
        }
        let document = self.document;
        let Some(expansion) = document.tree.expansion.as_deref() else {
            return self.apply_edits();
        };
        let (changes, comments, gaps) = (self.changes, self.comments, self.gaps);
        let mut write_back = AliasWriteBack::new(document, expansion, changes, comments);
        write_back.run();
        if let Some((_, error)) = write_back.refused.first() {
            return Err(error.clone());
        }
        let editor = Editor {
            comments: write_back.comments(),
            changes: std::mem::take(&mut write_back.out),
            gaps,
            ..Editor::new(write_back.plain())
        };
        editor.apply_edits()
    }

    /// The errors of changes that cannot be written, each with its node: an alias there would have to be written out,
    /// but cannot be.
    #[must_use]
    fn refusals(&mut self) -> Vec<(NodeId, EditError)> {
        self.apply_removals();
        let Some(expansion) = self.document.tree.expansion.as_deref() else {
            return self.changes_of_endless().collect();
        };
        let (changes, comments) = (self.changes.clone(), self.comments.clone());
        let mut write_back = AliasWriteBack::new(self.document, expansion, changes, comments);
        write_back.run();
        write_back.refused
    }

    /// The changes, if the aliases of the text could not be expanded, so that it is unknown what else a change affects.
    fn changes_of_endless(&self) -> impl Iterator<Item = (NodeId, EditError)> {
        let is_endless = self.document.tree.has_references();
        let changed = self.changes.keys().chain(self.comments.keys());
        let changed = changed.filter(move |_| is_endless);
        changed.map(|id| (*id, endless(self.document.node(*id))))
    }

    /// The errors of changes that cannot be written, each with the index of the node that contains the change. Paths in
    /// errors begin at that node.
    pub fn refusals_within(&mut self, nodes: &[NodeRef<'d>]) -> Vec<(usize, EditError)> {
        let refusals = self.refusals().into_iter();
        let within = refusals.filter_map(|(id, error)| {
            let at = nodes.iter().position(|node| node.ids().contains(&id.0))?;
            Some((at, error.seen_from(&nodes[at].path().to_string())))
        });
        within.collect()
    }

    /// Discards the changes of these nodes that cannot be written. Returns the index and the error of each node, with
    /// paths that begin at the node. [`Editor::finish`] reports the errors of other nodes.
    pub fn discard_unwritable(&mut self, nodes: &[NodeRef<'d>]) -> Vec<(usize, EditError)> {
        let mut given_up = Vec::new();
        loop {
            let before = given_up.len();
            for (id, error) in self.refusals() {
                let holds = |node: &&NodeRef<'d>| node.ids().contains(&id.0);
                let Some(node) = nodes.iter().find(holds) else {
                    continue;
                };
                if self.touches(*node) {
                    self.discard(*node);
                    let at = nodes.iter().position(|other| other.id == node.id);
                    let error = error.seen_from(&node.path().to_string());
                    given_up.extend(at.map(|at| (at, error)));
                }
            }
            if given_up.len() == before {
                return given_up;
            }
        }
    }
}

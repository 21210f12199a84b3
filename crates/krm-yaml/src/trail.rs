//! The path to a value while a tree is walked. It becomes a [`Path`] only when there is something to report.

use super::path::Path;

/// The path from the root of a resource to a value. `E` is additional data of a walker about a list element.
#[derive(Debug, Clone, Copy)]
pub enum Trail<'t, E = ()> {
    Root,
    Field(&'t Trail<'t, E>, &'t str),
    Element(&'t Trail<'t, E>, usize, E),
}

impl<'t, E> Trail<'t, E> {
    /// The trail to the value of a key.
    pub fn field(&'t self, name: &'t str) -> Self {
        Self::Field(self, name)
    }

    /// The trail to the enclosing collection; `None` for the root.
    pub fn parent(&self) -> Option<&'t Trail<'t, E>> {
        match self {
            Self::Root => None,
            Self::Field(parent, _) | Self::Element(parent, ..) => Some(parent),
        }
    }

    /// The steps from the root down.
    pub fn steps(&self) -> Vec<&Self> {
        // A loop, because recursion would take a stack frame for each level.
        let mut steps = Vec::new();
        let mut at = self;
        while let Some(parent) = at.parent() {
            steps.push(at);
            at = parent;
        }
        steps.reverse();
        steps
    }

    pub fn to_path(&self) -> Path {
        let steps = self.steps().into_iter();
        steps.fold(Path::root(), |path, step| match step {
            Self::Root => path,
            Self::Field(_, name) => path.field(name),
            Self::Element(_, index, _) => path.index(*index),
        })
    }
}

impl<'t> Trail<'t> {
    /// The trail to an element of a list.
    pub fn element(&'t self, index: usize) -> Self {
        Self::Element(self, index, ())
    }
}

//! The elements of the lists in a kustomization: those that name the same thing are the same.

use super::super::kustomization::{KustomizationList, NamedElement, pair};
use super::child::Siblings;
use super::collection::{NodeVersions, Numbering, Parts, children_of};

/// The elements of a list; `None` if a value cannot be read.
pub(super) fn elements<'d, 'f>(
    list: KustomizationList,
    nodes: NodeVersions<'d, 'f>,
) -> Option<Parts<'d, 'f>> {
    let children = children_of(nodes);
    let elements = children
        .as_ref()
        .map(|children| read(list, children))
        .all()?;
    let (numbers, count) = pair(&elements);
    Some(Parts::of(children, Numbering::of_unique(numbers, count)))
}

fn read(list: KustomizationList, children: &Siblings<'_>) -> Option<Vec<NamedElement>> {
    NamedElement::all(list, children.iter().map(|child| child.value))
}

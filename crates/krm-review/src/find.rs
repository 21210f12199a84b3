//! Finds all values at a path of the table in one version of a resource.

use super::row::{CONTAINERS, Segment};
use super::walk::given;
use krm_yaml::NodeRef;

/// Calls a function for each value to which a path leads.
pub(super) fn each<'n>(
    node: NodeRef<'n>,
    segments: &[Segment],
    found: &mut impl FnMut(NodeRef<'n>),
) {
    let Some(node) = given(Some(node.resolved())) else {
        return;
    };
    let Some((segment, rest)) = segments.split_first() else {
        return found(node);
    };
    match segment {
        Segment::Field(name) => {
            if let Some(value) = node.get(name) {
                each(value, rest, found);
            }
        }
        Segment::Containers => {
            for value in CONTAINERS.iter().filter_map(|name| node.get(name)) {
                each(value, rest, found);
            }
        }
        Segment::AnyField => node
            .entries()
            .for_each(|entry| each(entry.value, rest, found)),
        Segment::Element => node.items().for_each(|item| each(item, rest, found)),
        // The paths of references, selectors and volumes do not use it.
        Segment::AnyDepth => {}
    }
}

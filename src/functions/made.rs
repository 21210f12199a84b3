//! What a function makes of items: printed for a package, else in the items' places.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::UsageError;
use crate::resource_list::{ItemId, Printed, ResourceList};
use crate::results::{FunctionResult, Results};
use crate::yaml::{Content, EditError, OwnedDocument};

/// Puts out what was made of items, in their order. An item that cannot be replaced stays, with an
/// error result.
pub(super) fn put_out(
    made: BTreeMap<ItemId, Printed>,
    list: &mut ResourceList,
    results: &mut Results,
) -> Result<(), UsageError> {
    let broken = |error: EditError| UsageError(error.to_string());
    if list.is_package() {
        return list.print(made.into_values().collect()).map_err(broken);
    }
    let mut contents = BTreeMap::new();
    for (id, printed) in made {
        let text = OwnedDocument::parse(printed.text).map_err(EditError::Broken);
        let text = text.map_err(broken)?;
        if !list.replace_lines(id, &text) {
            contents.insert(id, Arc::new(text));
        }
    }
    let mut refused = Vec::new();
    list.edit_items(
        contents.keys().copied(),
        |id, node, editor| match contents.get(&id) {
            Some(text) => editor.replace(node, Content::Text(Arc::clone(text))),
            None => Ok(()),
        },
        |id, error| refused.push((id, error)),
    );
    for (id, error) in refused {
        results.push(FunctionResult::refused(&error).about(list.resource(id)));
    }
    Ok(())
}

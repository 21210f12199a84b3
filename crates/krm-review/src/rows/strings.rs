//! Strings that Kubernetes reads as something else: the name `n` is the boolean false.

use super::super::row::FieldChange;
use super::super::walk::given;
use krm_core::results::with_article;
use krm_yaml::NodeRef;

/// A field that is not a string, and was one or is new. A value of a Secret is not quoted.
pub(super) fn not_a_string(change: &FieldChange<'_, '_>) -> Option<String> {
    let [before, after] = [change.before(), change.after()].map(other_kind);
    let kind = after.filter(|_| before.is_none())?;
    Some(format!(
        "expected a string, found {}: kubectl and API servers refuse the object; write the value in quotes",
        with_article(kind)
    ))
}

/// What kind of value a field has; `None` for a string and for no value.
fn other_kind(field: Option<NodeRef<'_>>) -> Option<&'static str> {
    let field = given(field).filter(|field| field.as_str().is_none())?;
    Some(field.value()?.kind())
}

//! How a field was set: by an injection, by a function of a PackageVariant, or by a rule for conflicts.

use inject_config::{INJECTED_RESOURCE_ANNOTATION, INJECTED_RESOURCE_NAME_ANNOTATION};
use krm_core::resource::Resource;
use krm_core::results::{FunctionResult, ResourceRef};
use krm_review::fields::{Leaf, is_meant};
use serde::Serialize;

use super::conflict::is_about;

/// The injection that filled a resource: the annotation that it sets together with the fields that it copies. So fields
/// with the same setter as the annotation are injected.
pub(super) struct InjectedValue<S> {
    pub(super) name: Option<String>,
    since: usize,
    setter: S,
}

impl<S: Clone + PartialEq> InjectedValue<S> {
    pub(super) fn of(leaves: &[Leaf], setters: &[(usize, S)]) -> Option<Self> {
        let annotation = |leaf: &Leaf, annotation: &str| {
            let name = leaf.key.strip_prefix("metadata.annotations[\"");
            name.and_then(|name| name.strip_suffix("\"]")) == Some(annotation)
        };
        let find = |name: &str| leaves.iter().position(|leaf| annotation(leaf, name));
        let named = find(INJECTED_RESOURCE_NAME_ANNOTATION);
        let at = named.or_else(|| find(INJECTED_RESOURCE_ANNOTATION))?;
        let (since, setter) = setters.get(at)?.clone();
        let name = named.and_then(|at| leaves.get(at)?.value.as_str().map(str::to_owned));
        Some(Self {
            name,
            since,
            setter,
        })
    }

    pub(super) fn is_at(&self, since: usize, setter: &S) -> bool {
        self.since == since && self.setter == *setter
    }
}

/// A function that a PackageVariant put into a pipeline: `PackageVariant.<variant>.<function>.<index>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct VariantFunction {
    pub(super) variant: String,
    /// Empty if the function has no name.
    pub(super) function: String,
}

impl VariantFunction {
    /// The function that a field of a Kptfile belongs to.
    pub(super) fn of(key: &str) -> Option<Self> {
        let list = key.strip_prefix("pipeline.")?;
        let lists = ["mutators", "validators"].iter();
        let mut rests = lists.filter_map(|name| list.strip_prefix(name));
        let name = rests.next()?.strip_prefix("[name=PackageVariant.")?;
        let (name, _) = name.split_once(']')?;
        let (name, _index) = name.rsplit_once('.')?;
        // The name of a variant may have dots, and that of its function has none.
        let (variant, function) = name.rsplit_once('.')?;
        Some(Self {
            variant: variant.to_owned(),
            function: function.to_owned(),
        })
    }
}

/// A conflict that a rule decided.
pub(super) struct RuleDecision {
    /// The index of the state that the upgrade made.
    pub(super) at: usize,
    pub(super) result: FunctionResult,
}

impl RuleDecision {
    /// Whether the decision is about this field. A value that was set in a later state (`since < at`) does not come
    /// from it.
    pub(super) fn is_about(&self, resource: &Resource, leaf: &Leaf, since: usize) -> bool {
        let is_it = |other: &ResourceRef| is_about(other, resource);
        let is_at = |place: Option<&str>, field| place.is_some_and(|place| is_meant(place, field));
        since >= self.at
            && self.result.resource.as_ref().is_some_and(is_it)
            && (is_at(self.result.rule_path.as_deref(), &leaf.key)
                || is_at(self.result.field.as_deref(), &leaf.shown))
    }
}

#[cfg(test)]
mod tests {
    use super::VariantFunction;

    #[test]
    fn a_variant_and_its_function_are_read_from_the_name() {
        for (key, expected) in [
            (
                "pipeline.mutators[name=PackageVariant.site.set.0].image",
                Some(("site", "set")),
            ),
            (
                "pipeline.validators[name=PackageVariant.site.a.b.set.12]",
                Some(("site.a.b", "set")),
            ),
            (
                "pipeline.mutators[name=PackageVariant.site..0].image",
                Some(("site", "")),
            ),
            ("pipeline.mutators[name=other].image", None),
            ("pipeline.mutators[0].image", None),
            ("info.mutators[name=PackageVariant.a.b.0]", None),
        ] {
            let found = VariantFunction::of(key);
            let found = found.as_ref().map(|one| (&*one.variant, &*one.function));
            assert_eq!(found, expected, "{key}");
        }
    }
}

//! A rule that decides a conflict beforehand, as a hint after the conflict shows it.

use super::ResourceRef;
use krm_yaml::Value;

/// A rule as a user writes it, for conflicts over a field, or without a path, over the whole resource. If `take` is
/// `None`, the user has to add the side.
pub fn rule_for(resource: Option<&ResourceRef>, path: Option<&str>, take: Option<&str>) -> Value {
    let target = resource.map(|resource| {
        let mut target = vec![
            Value::entry("group", resource.group()),
            Value::entry("kind", &*resource.kind),
            Value::entry("name", &*resource.name),
        ];
        let namespace = resource.namespace.as_deref();
        target.extend(namespace.map(|namespace| Value::entry("namespace", namespace)));
        Value::entry("target", Value::Mapping(target))
    });
    let path = path.map(|path| Value::entry("path", path));
    let take = take.map(|take| Value::entry("take", take));
    Value::Mapping(target.into_iter().chain(path).chain(take).collect())
}

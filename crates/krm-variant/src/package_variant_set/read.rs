//! Reads a PackageVariantSet, with the parts that must be kept as written.

use super::PackageVariantSet;
use krm_yaml::Value;
use krm_yaml::de::{DeError, from_value};

impl PackageVariantSet {
    /// Reads a PackageVariantSet.
    ///
    /// # Errors
    /// The error has the path of a field that is unknown or has the wrong type.
    pub fn read(mut value: Value) -> Result<Self, DeError> {
        let templates = targets(&mut value).iter_mut();
        templates
            .filter_map(|target| target.get_mut("template"))
            .for_each(wrap_single_maps);
        let mut set: Self = from_value(&value)?;
        set.spec.upstream_value = value.get_path(&["spec", "upstream"]).cloned();
        let both = set.spec.targets.iter_mut().zip(targets(&mut value));
        for (index, (target, value)) in both.enumerate() {
            let pipeline = value
                .get_mut("template")
                .and_then(|t| t.get_mut("pipeline"));
            let pipeline = pipeline.filter(|pipeline| matches!(pipeline, Value::Mapping(_)));
            let (Some(template), Some(value)) = (&mut target.template, pipeline) else {
                continue;
            };
            each_function(value, |function| {
                if let Value::Mapping(fields) = function {
                    fields.retain(|(key, _)| key.as_str() != Some("configMapExprs"));
                }
            });
            let pipeline = &mut template.pipeline;
            pipeline.plain = from_value(value).map_err(|error| DeError {
                path: format!("spec.targets[{index}].template.pipeline.{}", error.path),
                ..error
            })?;
            pipeline.value = Some(value.clone());
        }
        Ok(set)
    }
}

fn targets(set: &mut Value) -> &mut [Value] {
    match set.get_mut("spec").and_then(|spec| spec.get_mut("targets")) {
        Some(Value::Sequence(targets)) => targets,
        _ => &mut [],
    }
}

fn each_function(pipeline: &mut Value, change: impl Fn(&mut Value)) {
    for name in ["mutators", "validators"] {
        if let Some(Value::Sequence(functions)) = pipeline.get_mut(name) {
            functions.iter_mut().for_each(&change);
        }
    }
}

/// Wraps a single map in a list where a list of maps is expected, because the example in the document has a single
/// map.
fn wrap_single_maps(template: &mut Value) {
    fn wrap(owner: &mut Value, name: &str) {
        if let Some(field) = owner.get_mut(name)
            && let Value::Mapping(entries) = field
        {
            *field = Value::Sequence(vec![Value::Mapping(std::mem::take(entries))]);
        }
    }
    for name in [
        "labelExprs",
        "annotationExprs",
        "injectors",
        "injectorExprs",
    ] {
        wrap(template, name);
    }
    if let Some(context) = template.get_mut("packageContext") {
        wrap(context, "dataExprs");
    }
    if let Some(pipeline) = template.get_mut("pipeline") {
        each_function(pipeline, |function| wrap(function, "configMapExprs"));
    }
}

//! Reads a PackageVariantSet, with the parts that must be kept as written.

use super::{FunctionTemplate, PackageVariantSet, PipelineTemplate};
use crate::variant::package_variant::Pipeline;
use crate::yaml::Value;
use crate::yaml::de::{DeError, from_value};

impl PackageVariantSet {
    /// Reads a PackageVariantSet.
    ///
    /// # Errors
    /// The error has the path of a field that is unknown or has the wrong type.
    pub(crate) fn read(mut value: Value) -> Result<Self, DeError> {
        each_template(&mut value, wrap_single_maps);
        let mut set: Self = from_value(&value)?;
        let spec = value.get("spec");
        set.spec.upstream_value = spec.and_then(|spec| spec.get("upstream")).cloned();
        let targets = spec.and_then(|spec| spec.get("targets"));
        for (target, value) in set.spec.targets.iter_mut().zip(elements(targets)) {
            let (Some(template), Some(value)) = (&mut target.template, value.get("template"))
            else {
                continue;
            };
            let pipeline = value.get("pipeline");
            let list = |name: &str| elements(pipeline.and_then(|pipeline| pipeline.get(name)));
            let mutators = template.pipeline.mutators.iter_mut().zip(list("mutators"));
            let validators = template
                .pipeline
                .validators
                .iter_mut()
                .zip(list("validators"));
            for (function, value) in mutators.chain(validators) {
                function.value = Some(without(value, "configMapExprs"));
            }
        }
        for (index, target) in set.spec.targets.iter_mut().enumerate() {
            if let Some(template) = &mut target.template {
                let pipeline = &mut template.pipeline;
                pipeline.plain = pipeline.read_plain().map_err(|error| DeError {
                    path: format!("spec.targets[{index}].template.pipeline.{}", error.path),
                    ..error
                })?;
            }
        }
        Ok(set)
    }
}

fn elements(list: Option<&Value>) -> &[Value] {
    list.map_or(&[], Value::items)
}

fn without(value: &Value, field: &str) -> Value {
    match value {
        Value::Mapping(entries) => {
            let others = entries
                .iter()
                .filter(|(key, _)| key.as_str() != Some(field));
            Value::Mapping(others.cloned().collect())
        }
        other => other.clone(),
    }
}

fn each_template(set: &mut Value, change: fn(&mut Value)) {
    let targets = set.get_mut("spec").and_then(|spec| spec.get_mut("targets"));
    if let Some(Value::Sequence(targets)) = targets {
        let templates = targets.iter_mut().filter_map(|t| t.get_mut("template"));
        templates.for_each(change);
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
    let Some(pipeline) = template.get_mut("pipeline") else {
        return;
    };
    for name in ["mutators", "validators"] {
        if let Some(Value::Sequence(functions)) = pipeline.get_mut(name) {
            functions
                .iter_mut()
                .for_each(|function| wrap(function, "configMapExprs"));
        }
    }
}

impl PipelineTemplate {
    /// Reads the pipeline without its computed parts.
    fn read_plain(&self) -> Result<Pipeline, DeError> {
        let list = |functions: &[FunctionTemplate]| {
            let values = functions
                .iter()
                .filter_map(|function| function.value.clone());
            Value::Sequence(values.collect())
        };
        from_value(&Value::Mapping(vec![
            (Value::from("mutators"), list(&self.mutators)),
            (Value::from("validators"), list(&self.validators)),
        ]))
    }
}

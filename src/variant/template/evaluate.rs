//! Evaluates a compiled template for a target.

use std::collections::{HashMap, HashSet};

use super::{CompiledTemplate, Computed, Entries, Failure, Function, Injector, Text, invalid};
use crate::results::{FunctionResult, Reason};
use crate::variant::expression::{Evaluator, ExpressionError};
use crate::variant::package_variant_set::{reserved, twice};
use crate::yaml::Value;

impl CompiledTemplate {
    /// The name of the downstream Repository, if the template says it.
    ///
    /// # Errors
    /// [`Failure`].
    pub(crate) fn repo(&self, evaluator: &mut Evaluator<'_>) -> Result<Option<String>, Failure> {
        let repo = self.repo.as_ref().map(|repo| repo.name(evaluator));
        repo.transpose()
    }

    /// The name of the downstream package, if the template says it.
    ///
    /// # Errors
    /// [`Failure`].
    pub(crate) fn package(&self, evaluator: &mut Evaluator<'_>) -> Result<Option<String>, Failure> {
        let package = self.package.as_ref().map(|package| package.name(evaluator));
        package.transpose()
    }

    /// `spec` of the PackageVariant.
    ///
    /// # Errors
    /// [`Failure`].
    pub(crate) fn spec(
        &self,
        upstream: &Value,
        (repo, package): (&str, &str),
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Value, Failure> {
        let mut spec = vec![entry("upstream", upstream.clone())];
        let downstream = vec![entry("repo", repo.into()), entry("package", package.into())];
        spec.push(entry("downstream", Value::Mapping(downstream)));
        for (name, policy) in [
            ("adoptionPolicy", &self.adoption_policy),
            ("deletionPolicy", &self.deletion_policy),
        ] {
            spec.extend(policy.as_deref().map(|policy| entry(name, policy.into())));
        }
        spec.extend(self.labels.field("labels", evaluator)?);
        spec.extend(self.annotations.field("annotations", evaluator)?);
        let mut context: Vec<(Value, Value)> =
            self.data.field("data", evaluator)?.into_iter().collect();
        let remove = self.removed_keys(evaluator)?;
        if !remove.is_empty() {
            let remove = remove.into_iter().map(Value::from).collect();
            context.push(entry("removeKeys", Value::Sequence(remove)));
        }
        if !context.is_empty() {
            spec.push(entry("packageContext", Value::Mapping(context)));
        }
        let mut pipeline = Vec::new();
        for (name, functions) in [
            ("validators", &self.validators),
            ("mutators", &self.mutators),
        ] {
            let values = functions.iter().map(|function| function.value(evaluator));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            if !values.is_empty() {
                pipeline.push(entry(name, Value::Sequence(values)));
            }
        }
        if !pipeline.is_empty() {
            spec.push(entry("pipeline", Value::Mapping(pipeline)));
        }
        let injectors = self
            .injectors
            .iter()
            .map(|injector| injector.value(evaluator));
        let injectors = injectors.collect::<Result<Vec<_>, _>>()?;
        if !injectors.is_empty() {
            spec.push(entry("injectors", Value::Sequence(injectors)));
        }
        Ok(Value::Mapping(spec))
    }

    fn removed_keys(&self, evaluator: &mut Evaluator<'_>) -> Result<Vec<String>, Failure> {
        let mut keys = self.remove_keys.clone();
        let mut computed = HashSet::new();
        for expression in &self.remove_key_exprs {
            let key = expression.text(evaluator)?;
            if key.is_empty() {
                return Err(
                    invalid(&expression.path, "expected a key, found an empty string").into(),
                );
            }
            if let Some(finding) = reserved(&expression.path, &key) {
                return Err(finding.into());
            }
            if !computed.insert(key.clone()) {
                return Err(twice(&expression.path, &key).into());
            }
            if !self.remove_keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(keys)
    }
}

fn entry(key: &str, value: Value) -> (Value, Value) {
    (Value::from(key), value)
}

impl Computed {
    fn text(&self, evaluator: &mut Evaluator<'_>) -> Result<String, Failure> {
        evaluator
            .evaluate(&self.expression)
            .map_err(|error: ExpressionError| {
                let result = FunctionResult::error(Reason::ExpressionFailed, error.to_string());
                Failure {
                    ends_run: error.is_over_budget,
                    result: Box::new(result.at(&self.path)),
                }
            })
    }
}

impl Text {
    fn text(&self, evaluator: &mut Evaluator<'_>) -> Result<String, Failure> {
        match self {
            Self::Plain(text) => Ok(text.clone()),
            Self::Computed(computed) => computed.text(evaluator),
        }
    }

    /// The text of a name, which must not be empty.
    fn name(&self, evaluator: &mut Evaluator<'_>) -> Result<String, Failure> {
        let text = self.text(evaluator)?;
        match self {
            Self::Computed(computed) if text.is_empty() => {
                Err(invalid(&computed.path, "expected a name, found an empty string").into())
            }
            _ => Ok(text),
        }
    }
}

impl Entries {
    fn resolve(&self, evaluator: &mut Evaluator<'_>) -> Result<Vec<(String, String)>, Failure> {
        let mut entries = self.plain.clone();
        if self.computed.is_empty() {
            return Ok(entries);
        }
        let plain = self.plain.iter().enumerate();
        let places: HashMap<&str, usize> = plain
            .map(|(place, (key, _))| (key.as_str(), place))
            .collect();
        let mut computed = HashSet::new();
        for entry in &self.computed {
            let key = entry.key.text(evaluator)?;
            if key.is_empty() {
                return Err(invalid(&entry.path, "expected a key, found an empty string").into());
            }
            if let Some(finding) = reserved(&entry.path, &key).filter(|_| self.is_context) {
                return Err(finding.into());
            }
            let value = entry.value.text(evaluator)?;
            if !computed.insert(key.clone()) {
                return Err(twice(&entry.path, &key).into());
            }
            match places.get(key.as_str()) {
                Some(place) => entries[*place].1 = value,
                None => entries.push((key, value)),
            }
        }
        Ok(entries)
    }

    /// The map as a field, unless it is empty.
    fn field(
        &self,
        name: &str,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Option<(Value, Value)>, Failure> {
        let entries = self.resolve(evaluator)?;
        Ok((!entries.is_empty()).then(|| entry(name, string_map(entries))))
    }
}

fn string_map(entries: Vec<(String, String)>) -> Value {
    let entries = entries.into_iter();
    Value::Mapping(
        entries
            .map(|(key, value)| (Value::from(key), Value::from(value)))
            .collect(),
    )
}

impl Function {
    fn value(&self, evaluator: &mut Evaluator<'_>) -> Result<Value, Failure> {
        let mut value = self.value.clone();
        if self.config_map.computed.is_empty() {
            return Ok(value);
        }
        let config_map = string_map(self.config_map.resolve(evaluator)?);
        if let Value::Mapping(fields) = &mut value {
            let mut fields_of = fields.iter_mut();
            match fields_of.find(|(key, _)| key.as_str() == Some("configMap")) {
                Some((_, old)) => *old = config_map,
                None => fields.push(entry("configMap", config_map)),
            }
        }
        Ok(value)
    }
}

impl Injector {
    fn value(&self, evaluator: &mut Evaluator<'_>) -> Result<Value, Failure> {
        let mut fields = Vec::new();
        for (name, field) in [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
        ] {
            fields.extend(field.as_deref().map(|field| entry(name, field.into())));
        }
        fields.push(entry("name", self.name.name(evaluator)?.into()));
        Ok(Value::Mapping(fields))
    }
}

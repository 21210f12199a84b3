//! Evaluates a compiled template for a target.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{
    CompiledFunction, CompiledTemplate, Computed, Injector, TemplateEntries, TemplateFailure,
    TemplateText, invalid,
};
use crate::results::{FunctionResult, Reason};
use crate::variant::expression::{Evaluator, ExpressionError};
use crate::variant::package_variant_set::{reserved, twice};
use crate::yaml::Value;

type EvaluatedEntry = (Value, Value);

impl CompiledTemplate {
    /// The name of the downstream Repository; `None` if the template does not set it.
    ///
    /// # Errors
    /// [`TemplateFailure`].
    pub(crate) fn repo(
        &self,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Option<Cow<'_, str>>, TemplateFailure> {
        let repo = self.repo.as_ref().map(|repo| repo.name(evaluator));
        repo.transpose()
    }

    /// The name of the downstream package; `None` if the template does not set it.
    ///
    /// # Errors
    /// [`TemplateFailure`].
    pub(crate) fn package(
        &self,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Option<Cow<'_, str>>, TemplateFailure> {
        let package = self.package.as_ref().map(|package| package.name(evaluator));
        package.transpose()
    }

    /// The `spec` of the PackageVariant.
    ///
    /// # Errors
    /// [`TemplateFailure`].
    pub(crate) fn spec<'t>(
        &'t self,
        upstream: &'t Value,
        (repo, package): (Cow<'t, str>, Cow<'t, str>),
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Value, TemplateFailure> {
        let downstream = vec![Value::entry("repo", repo), Value::entry("package", package)];
        let mut spec = Vec::with_capacity(9);
        spec.push(Value::entry("upstream", upstream.clone()));
        spec.push(Value::entry("downstream", Value::Mapping(downstream)));
        for (name, policy) in [
            ("adoptionPolicy", &self.adoption_policy),
            ("deletionPolicy", &self.deletion_policy),
        ] {
            spec.extend(policy.as_deref().map(|policy| Value::entry(name, policy)));
        }
        spec.extend(self.labels.field("labels", evaluator)?);
        spec.extend(self.annotations.field("annotations", evaluator)?);
        let mut context: Vec<EvaluatedEntry> =
            self.data.field("data", evaluator)?.into_iter().collect();
        let remove = self.removed_keys(evaluator)?;
        if !remove.is_empty() {
            let remove = remove.into_iter().map(Value::from).collect();
            context.push(Value::entry("removeKeys", Value::Sequence(remove)));
        }
        if !context.is_empty() {
            spec.push(Value::entry("packageContext", Value::Mapping(context)));
        }
        let mut pipeline = Vec::new();
        for (name, functions) in [
            ("validators", &self.validators),
            ("mutators", &self.mutators),
        ] {
            let values = functions.iter().map(|function| function.value(evaluator));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            if !values.is_empty() {
                pipeline.push(Value::entry(name, Value::Sequence(values)));
            }
        }
        if !pipeline.is_empty() {
            spec.push(Value::entry("pipeline", Value::Mapping(pipeline)));
        }
        let injectors = self
            .injectors
            .iter()
            .map(|injector| injector.value(evaluator));
        let injectors = injectors.collect::<Result<Vec<_>, _>>()?;
        if !injectors.is_empty() {
            spec.push(Value::entry("injectors", Value::Sequence(injectors)));
        }
        Ok(Value::Mapping(spec))
    }

    fn removed_keys(
        &self,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Vec<Cow<'_, str>>, TemplateFailure> {
        let plain = self.remove_keys.iter().map(|key| Cow::from(key.as_str()));
        let mut keys: Vec<Cow<'_, str>> = plain.collect();
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
                keys.push(key.into());
            }
        }
        // Porch sorts the keys as well. The same order avoids changes when its PackageVariants are taken over.
        keys.sort_unstable();
        Ok(keys)
    }
}

impl Computed {
    fn text(&self, evaluator: &mut Evaluator<'_>) -> Result<String, TemplateFailure> {
        evaluator
            .evaluate(&self.expression)
            .map_err(|error: ExpressionError| {
                let result = FunctionResult::error(Reason::ExpressionFailed, error.to_string());
                TemplateFailure {
                    ends_run: error.is_over_budget,
                    result: Box::new(result.at(&self.path)),
                }
            })
    }
}

impl TemplateText {
    fn text(&self, evaluator: &mut Evaluator<'_>) -> Result<Cow<'_, str>, TemplateFailure> {
        Ok(match self {
            Self::Plain(text) => Cow::Borrowed(text),
            Self::Computed(computed) => Cow::Owned(computed.text(evaluator)?),
        })
    }

    /// The text as a name, which must not be empty if it is computed.
    fn name(&self, evaluator: &mut Evaluator<'_>) -> Result<Cow<'_, str>, TemplateFailure> {
        let text = self.text(evaluator)?;
        match self {
            Self::Computed(computed) if text.is_empty() => {
                Err(invalid(&computed.path, "expected a name, found an empty string").into())
            }
            _ => Ok(text),
        }
    }
}

impl TemplateEntries {
    fn resolve(
        &self,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Vec<EvaluatedEntry>, TemplateFailure> {
        let plain = self.plain.iter();
        let plain = plain.map(|(key, value)| Value::entry(key.as_str(), value.as_str()));
        let mut entries: Vec<EvaluatedEntry> =
            Vec::with_capacity(plain.len() + self.computed.len());
        entries.extend(plain);
        // A single computed key cannot be a duplicate.
        let several = Some(self.computed.len()).filter(|count| *count > 1);
        let mut computed: HashSet<Cow<'_, str>> =
            HashSet::with_capacity(several.unwrap_or_default());
        for entry in &self.computed {
            let key = entry.key.text(evaluator)?;
            if key.is_empty() {
                return Err(invalid(&entry.path, "expected a key, found an empty string").into());
            }
            if let Some(finding) = reserved(&entry.path, &key).filter(|_| self.is_context) {
                return Err(finding.into());
            }
            let value = entry.value.text(evaluator)?;
            if several.is_some() && !computed.insert(key.clone()) {
                return Err(twice(&entry.path, &key).into());
            }
            match self.places.get(&*key) {
                Some(place) => entries[*place].1 = value.into(),
                None => entries.push((key.into(), value.into())),
            }
        }
        Ok(entries)
    }

    /// The map as a field; `None` if the map is empty.
    fn field(
        &self,
        name: &'static str,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Option<EvaluatedEntry>, TemplateFailure> {
        let entries = self.resolve(evaluator)?;
        Ok((!entries.is_empty()).then(|| Value::entry(name, Value::Mapping(entries))))
    }
}

impl CompiledFunction {
    fn value(&self, evaluator: &mut Evaluator<'_>) -> Result<Value, TemplateFailure> {
        let mut function = self.value.clone();
        if !self.config_map.computed.is_empty() {
            let config_map = self.config_map.resolve(evaluator)?;
            *function.field_mut("configMap") = Value::Mapping(config_map);
        }
        Ok(function)
    }
}

impl Injector {
    fn value(&self, evaluator: &mut Evaluator<'_>) -> Result<Value, TemplateFailure> {
        let mut fields = Vec::with_capacity(4);
        for (name, field) in [
            ("group", &self.group),
            ("version", &self.version),
            ("kind", &self.kind),
        ] {
            fields.extend(field.as_deref().map(|field| Value::entry(name, field)));
        }
        fields.push(Value::entry("name", self.name.name(evaluator)?));
        Ok(Value::Mapping(fields))
    }
}

//! Evaluates a compiled template for a target.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{
    CompiledTemplate, Computed, ComputedKey, ComputedPart, TemplateFailure, TemplateText,
    is_in_context, twice, value_at,
};
use crate::expression::{Evaluator, ExpressionError};
use krm_core::package_variant::{invalid, reserved};
use krm_core::results::{FunctionResult, Reason};
use krm_yaml::{Path, Value};

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
    pub(crate) fn spec(
        &self,
        upstream: &Value,
        (repo, package): (Cow<'_, str>, Cow<'_, str>),
        evaluator: &mut Evaluator<'_>,
    ) -> Result<Value, TemplateFailure> {
        let mut spec = self.plain.clone();
        *spec.field_mut("upstream") = upstream.clone();
        let downstream = vec![Value::entry("repo", repo), Value::entry("package", package)];
        *spec.field_mut("downstream") = Value::Mapping(downstream);
        for (place, part) in &self.computed {
            if let Some(value) = value_at(&mut spec, place) {
                part.compute(place, value, evaluator)?;
            }
        }
        Ok(spec)
    }
}

impl ComputedPart {
    fn compute(
        &self,
        place: &Path,
        value: &mut Value,
        evaluator: &mut Evaluator<'_>,
    ) -> Result<(), TemplateFailure> {
        let (keys, plain) = match self {
            Self::Name(name) => {
                *value = name.name(evaluator)?.into();
                return Ok(());
            }
            Self::Keys { keys, plain } => (keys, plain),
        };
        let mut computed = HashSet::with_capacity(keys.len());
        for ComputedKey {
            key,
            value: text,
            path,
        } in keys
        {
            let key = key.text(evaluator)?;
            if key.is_empty() {
                return Err(invalid(path, "expected a key, found an empty string").into());
            }
            if let Some(finding) = reserved(path, &key).filter(|_| is_in_context(place)) {
                return Err(finding.into());
            }
            let text = text.as_ref().map(|text| text.text(evaluator)).transpose()?;
            if !computed.insert(key.clone()) {
                return Err(twice(path, &key).into());
            }
            match (&mut *value, text, plain.get(&*key)) {
                (Value::Mapping(entries), Some(text), Some(place)) => {
                    entries[*place].1 = text.into();
                }
                (Value::Mapping(entries), Some(text), None) => {
                    entries.push((key.into(), text.into()));
                }
                (Value::Sequence(all), _, None) => all.push(key.into()),
                _ => {}
            }
        }
        if let Value::Sequence(all) = value {
            // Porch sorts the keys as well. The same order avoids changes when its PackageVariants are taken over.
            all.sort_unstable_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
        Ok(())
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
                    result: Box::new(result.with_field(&self.path)),
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

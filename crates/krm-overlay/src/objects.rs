//! The resources that kustomize builds from a package: the resources of its kustomization, or all resources if it has
//! none.

use std::collections::BTreeMap;

use super::built::BuiltObject;
use super::kustomization::Kustomization;
use super::{OverlayError, PackageTexts};
use krm_core::resource::{Resource, is_local_config, is_pipeline_annotation};
use krm_core::resource_key::ResourceKey;
use krm_core::schema::Schema;
use krm_core::upstream_identifier::UPSTREAM_IDENTIFIER;
use krm_package::join;
use krm_patch::kustomize::with_keys_as_read;
use krm_patch::node::Node;
use krm_yaml::{NodeRef, OwnedDocument, Value, WalkBudget};

/// Reads resources that are not in the package, by their name in the kustomization.
pub(super) type External<'e> = &'e dyn Fn(&str) -> Result<Vec<Value>, OverlayError>;

pub(super) struct KustomizeBuild<'p, 'b> {
    pub(super) texts: &'p PackageTexts,
    pub(super) schema: &'b Schema,
    pub(super) external: External<'b>,
}

impl<'p> KustomizeBuild<'p, '_> {
    /// Builds the kustomization of a directory. Without a kustomization, the result is all resources below the
    /// directory.
    pub(super) fn build(&self, directory: &str) -> Result<Vec<BuiltObject<'p>>, OverlayError> {
        match self.texts.kustomization(directory)? {
            Some(kustomization) => {
                let mut objects = self.resources(&kustomization)?;
                kustomization.refuse_unknown_fields()?;
                kustomization.apply(&mut objects, self.texts, self.schema)?;
                Ok(objects)
            }
            None => {
                let mut objects = Vec::new();
                for file in self.texts.files_below(directory) {
                    objects.extend(self.texts.objects_of(file)?);
                }
                Ok(objects)
            }
        }
    }

    /// The resources of a kustomization, before its patches and other fields are applied.
    pub(super) fn resources(
        &self,
        kustomization: &Kustomization,
    ) -> Result<Vec<BuiltObject<'p>>, OverlayError> {
        let mut objects = Vec::new();
        for name in kustomization.resources() {
            let path = kustomization.path_of(&name);
            if let Some(path) = &path
                && self.texts.files.contains_key(path)
            {
                objects.extend(self.texts.objects_of(path)?);
            } else if let Some(path) = &path
                && self.texts.kustomization(path)?.is_some()
            {
                if *path == kustomization.directory {
                    return Err(OverlayError::missing(&kustomization.file, &name));
                }
                objects.extend(self.build(path)?);
            } else {
                let values = (self.external)(&name).map_err(|error| match error {
                    OverlayError::Missing { .. } => {
                        OverlayError::missing(&kustomization.file, &name)
                    }
                    error => error,
                })?;
                let made = values.into_iter();
                objects.extend(made.map(|value| BuiltObject::made(value, &name)));
            }
        }
        Ok(objects)
    }
}

impl PackageTexts {
    /// Parses files by path. A file that is not YAML, or whose aliases expand to too many nodes, is an error only when
    /// it is used.
    pub fn read(files: BTreeMap<String, String>) -> Self {
        let mut budget = WalkBudget::of_copies(files.values().map(String::len).sum());
        let mut parse = |text: String| {
            let document =
                OwnedDocument::parse_resource(text).map_err(|error| error.to_string())?;
            let paid = document.pay_for_walks(&mut budget);
            paid.map_err(|error| error.to_string())?;
            Ok(document)
        };
        let files = files.into_iter().map(|(path, text)| (path, parse(text)));
        Self {
            files: files.collect(),
        }
    }

    /// The resources that kustomize builds from the package.
    ///
    /// # Errors
    /// [`OverlayError`]: a package that kustomize would refuse, or that is not evaluated here.
    pub fn built(&self, schema: &Schema) -> Result<Vec<Value>, OverlayError> {
        let objects = self.build_alone(schema)?;
        Ok(objects.into_iter().map(|object| object.value).collect())
    }

    /// Builds a package that refers to no other package.
    pub(super) fn build_alone(
        &self,
        schema: &Schema,
    ) -> Result<Vec<BuiltObject<'_>>, OverlayError> {
        let external = |name: &str| Err(OverlayError::missing("", name));
        let builder = KustomizeBuild {
            texts: self,
            schema,
            external: &external,
        };
        builder.build("")
    }

    pub(super) fn document(&self, path: &str) -> Result<Option<&OwnedDocument>, OverlayError> {
        match self.files.get(path) {
            None => Ok(None),
            Some(Ok(document)) => Ok(Some(document)),
            Some(Err(error)) => Err(OverlayError::NotYaml {
                file: path.to_owned(),
                error: error.clone(),
            }),
        }
    }

    /// The kustomization of a directory.
    pub(super) fn kustomization(
        &self,
        directory: &str,
    ) -> Result<Option<Kustomization>, OverlayError> {
        for name in super::KUSTOMIZATIONS {
            let file = join(directory, name);
            if let Some(document) = self.document(&file)? {
                let value = document.root().map(|root| Node::Text(root).to_value());
                return Ok(Some(Kustomization {
                    directory: directory.to_owned(),
                    file,
                    value: value.unwrap_or(Value::Null),
                }));
            }
        }
        Ok(None)
    }

    fn files_below<'t>(&'t self, directory: &'t str) -> impl Iterator<Item = &'t str> {
        let is_below = move |path: &&str| {
            let rest = path.strip_prefix(directory);
            rest.is_some_and(|rest| directory.is_empty() || rest.starts_with('/'))
        };
        self.files.keys().map(String::as_str).filter(is_below)
    }

    /// The resources of a file that are meant for a cluster. Lists are split into their elements.
    pub(super) fn objects_of(&self, path: &str) -> Result<Vec<BuiltObject<'_>>, OverlayError> {
        let mut objects = Vec::new();
        let Some(document) = self.document(path)? else {
            return Ok(objects);
        };
        for root in document.roots() {
            let resource = Resource::read(root);
            if resource.kind.is_empty()
                || resource.api_version.is_empty()
                || resource.is_for_tools()
            {
                continue;
            }
            match resource.elements(root) {
                Some(elements) => {
                    for (element, _) in elements {
                        objects.extend(object(element, path)?);
                    }
                }
                None => objects.extend(object(root, path)?),
            }
        }
        Ok(objects)
    }
}

/// A resource that kustomize builds; `None` for tools' own files, and without a name.
fn object<'p>(node: NodeRef<'p>, file: &str) -> Result<Option<BuiltObject<'p>>, OverlayError> {
    if is_local_config(node) {
        return Ok(None);
    }
    let key = ResourceKey::of(&Resource::read(node));
    if key.name.is_generated() {
        return Err(OverlayError::GeneratedName {
            file: file.to_owned(),
            object: format!("{}/{}", key.kind, key.name.text()),
        });
    }
    let name = node.get_path(&["metadata", "name"]);
    if let Some(found) = name.filter(|name| name.as_str().is_none() && !name.is_null()) {
        return Err(OverlayError::NameNotAString {
            file: file.to_owned(),
            kind: key.kind.to_string(),
            found: found.source().to_owned(),
        });
    }
    let value = with_keys_as_read(&cleaned(&Node::Text(node))).to_value();
    let object = BuiltObject {
        value,
        node: Some(node),
        file: file.to_owned(),
    };
    let is_complete = !object.text(&["metadata", "name"]).is_empty();
    Ok(is_complete.then_some(object))
}

/// A resource without the annotations of kpt and of the pipeline.
pub(super) fn cleaned<'a>(node: &Node<'a>) -> Node<'a> {
    krm_patch::annotations::without(node, |name| {
        name == UPSTREAM_IDENTIFIER || is_pipeline_annotation(name)
    })
}

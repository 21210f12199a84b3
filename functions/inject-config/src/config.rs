//! The config of `inject-config`.

use serde::Deserialize;

use super::FUNCTION;
use krm_core::config::{
    API_VERSION, PACKAGE_VARIANT, UsageError, expected, kind_of, required, typed, typed_config,
    unexpected,
};
use krm_core::package_variant::{InjectionSelector, PackageVariant};
use krm_core::resource::namespace_of;
use krm_yaml::{NodeRef, Path};

typed_config! {
    #[derive(Debug, Deserialize)]
    pub struct InjectConfig ignores resources {
        /// Which resources are injected; the first that matches wins.
        #[serde(default)]
        injectors: Vec<InjectionSelector>,
    }
}

/// The injectors of a config, and the rules for candidates.
pub struct Injectors {
    pub(super) selectors: Vec<InjectionSelector>,
    /// The path of the selectors in the config.
    pub(super) field: Path,
    /// The namespace of the config. Resources of other namespaces are never injected.
    pub(super) namespace: String,
    /// Whether the package's own resources are candidates as well.
    pub(super) with_package: bool,
}

impl Injectors {
    pub(super) fn read(config: Option<NodeRef<'_>>) -> Result<Self, UsageError> {
        let expected = expected(FUNCTION.configs);
        let config = required(config, &expected)?;
        match kind_of(config) {
            (API_VERSION, "InjectConfig") => {
                let typed: InjectConfig = typed(config)?;
                let field = Path::fields(&["injectors"]);
                Ok(Self {
                    with_package: true,
                    ..Self::of(config, typed.injectors, field)
                })
            }
            PACKAGE_VARIANT => {
                let typed = PackageVariant::read_field(config, "injectors")?;
                Ok(Self {
                    with_package: true,
                    ..Self::of_variant(config, &typed)
                })
            }
            _ => Err(unexpected(config, &expected)),
        }
    }

    /// The injectors of a PackageVariant. Only the resources of the role `resources` are candidates.
    pub fn of_variant(config: NodeRef<'_>, variant: &PackageVariant) -> Self {
        let field = Path::fields(&["spec", "injectors"]);
        Self::of(config, variant.spec.injectors.clone(), field)
    }

    fn of(config: NodeRef<'_>, selectors: Vec<InjectionSelector>, field: Path) -> Self {
        let namespace = config.get_path(&["metadata", "namespace"]);
        Self {
            selectors,
            field,
            namespace: namespace_of(namespace.and_then(|n| n.as_str())).to_owned(),
            with_package: false,
        }
    }
}

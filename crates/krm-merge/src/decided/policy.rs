//! `UpgradePolicy`: what a user decided about the upgrades of a package beforehand.
//!
//! ```yaml
//! apiVersion: fn.kpt.dev/v1alpha1
//! kind: UpgradePolicy
//! metadata:
//!   name: krmv
//!   annotations:
//!     config.kubernetes.io/local-config: "true"
//! conflicts:                      # which side wins
//! - path: spec.replicas
//!   take: local
//! guards:                         # what upstream may not change
//! - path: spec.template.spec.nodeSelector
//!   reason: our nodes
//! releases:                       # which releases do not count
//!   skip: [v1.4.0]
//!   allow: <2
//! ```
//!
//! A `ConflictRules`, which has only `conflicts`, is read too.
//!
//! Source: contract, krmv, Policy.

use serde::Deserialize;

use super::{ConflictRules, Guard, Pattern, RuleTarget, RulesFile, WrittenRule};
use krm_core::config::{
    API_VERSION, Cause, NamedDocument, UsageError, field_at, kind_of, typed_config, unexpected_at,
    value_of,
};
use krm_core::results::Results;
use krm_yaml::{NodeRef, Path, de};

typed_config! {
    /// A policy, as it is written.
    #[derive(Debug, Deserialize)]
    pub struct PolicyFile {
        /// The rules; the first rule that matches a conflict decides it.
        #[serde(default)]
        conflicts: Vec<WrittenRule>,
        /// Places that upstream may not change: your value stays there.
        #[serde(default)]
        guards: Vec<WrittenGuard>,
        /// Which releases count.
        #[serde(default)]
        releases: Option<WrittenReleases>,
        /// How the package is rendered from its upstream.
        #[serde(default)]
        render: Option<WrittenRender>,
    }
}

/// A place that upstream may not change.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct WrittenGuard {
    /// The resources that the guard applies to; if absent, all.
    target: Option<RuleTarget>,
    /// The field, as in a rule for conflicts.
    path: String,
    /// Why, for the report.
    reason: Option<String>,
}

/// Which releases count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WrittenReleases {
    /// Releases that do not count, by name.
    #[serde(default)]
    pub skip: Vec<String>,
    /// The range of versions that count, such as `<4`.
    pub allow: Option<String>,
}

/// How a package is rendered from its upstream, by one of these programs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WrittenRender {
    /// By `helm template`.
    pub helm: Option<WrittenHelm>,
    /// By `kustomize build`.
    pub kustomize: Option<WrittenKustomize>,
}

/// The arguments of `helm template`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WrittenHelm {
    /// Files with values, by their paths from the package.
    #[serde(default)]
    pub values: Vec<String>,
    /// The name of the release; by default the name of the package.
    pub release: Option<String>,
    /// The namespace of the release.
    pub namespace: Option<String>,
    /// The Kubernetes release.
    pub kube_version: Option<String>,
}

/// The arguments of `kustomize build`: there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WrittenKustomize {}

/// A policy that was checked.
#[derive(Debug, Clone, Default)]
pub struct UpgradePolicy {
    /// `conflicts` and `guards`.
    pub rules: ConflictRules,
    /// `releases`.
    pub releases: WrittenReleases,
    /// `render`.
    pub render: Option<WrittenRender>,
}

impl UpgradePolicy {
    /// Reads a policy, or a `ConflictRules`.
    ///
    /// # Errors
    /// [`UsageError`] with the file, line and field of a mistake.
    pub fn read(file: &NamedDocument) -> Result<Self, UsageError> {
        let Some(root) = file.document.root() else {
            return Err(UsageError::expected(&file.place, KINDS, "nothing"));
        };
        let refuse = |error: de::DeError| {
            let node = field_at(root, &error.path).unwrap_or(root);
            UsageError::at(place(file, node), error)
        };
        let written = match kind_of(root) {
            (API_VERSION, "UpgradePolicy") => {
                de::from_value::<PolicyFile>(&value_of(root)?).map_err(refuse)?
            }
            (API_VERSION, "ConflictRules") => {
                let rules: RulesFile = de::from_value(&value_of(root)?).map_err(refuse)?;
                PolicyFile::of_rules(rules)
            }
            _ => return Err(unexpected_at(&file.place, root, KINDS)),
        };
        let mut results = Results::default();
        let rules = ConflictRules::read(
            written.conflicts,
            &Path::fields(&["conflicts"]),
            &mut results,
        );
        if let Some(error) = results.iter().next() {
            let field = error.field.clone().unwrap_or_default();
            return Err(wrong(file, root, &field, error.message.to_string()));
        }
        let mut rules = rules.unwrap_or_default();
        for (index, guard) in written.guards.into_iter().enumerate() {
            let path = Pattern::parse(&guard.path)
                .map_err(|error| wrong(file, root, &format!("guards[{index}].path"), error))?;
            rules.guards.push(Guard {
                target: guard.target,
                path,
                reason: guard.reason,
            });
        }
        let render = written.render;
        if let Some(WrittenRender { helm, kustomize }) = &render
            && helm.is_some() == kustomize.is_some()
        {
            let message = "expected one of `helm` and `kustomize`";
            return Err(wrong(file, root, "render", message));
        }
        Ok(Self {
            rules,
            releases: written.releases.unwrap_or_default(),
            render,
        })
    }
}

const KINDS: &str = "an UpgradePolicy or a ConflictRules (fn.kpt.dev/v1alpha1)";

impl PolicyFile {
    fn of_rules(rules: RulesFile) -> Self {
        Self {
            api_version: rules.api_version,
            kind: rules.kind,
            metadata: rules.metadata,
            conflicts: rules.conflicts,
            guards: Vec::new(),
            releases: None,
            render: None,
        }
    }
}

/// `rules.yaml:3`
fn place(file: &NamedDocument, node: NodeRef<'_>) -> String {
    format!("{}:{}", file.place, node.location().line)
}

fn wrong(
    file: &NamedDocument,
    root: NodeRef<'_>,
    field: &str,
    error: impl Into<Cause>,
) -> UsageError {
    // A field that is missing has no line: that of what should hold it counts.
    let held = field
        .rmatch_indices(['.', '['])
        .map(|(end, _)| &field[..end]);
    let mut places = std::iter::once(field).chain(held);
    let node = places
        .find_map(|field| field_at(root, field))
        .unwrap_or(root);
    UsageError::at(format_args!("{}: {field}", place(file, node)), error)
}

#[cfg(test)]
mod tests {
    use indoc::indoc;
    use krm_yaml::OwnedDocument;

    use super::*;

    fn read(text: &str) -> Result<UpgradePolicy, String> {
        let file = NamedDocument {
            place: "p/.krmv.yaml".to_owned(),
            document: OwnedDocument::parse(text.to_owned()).expect("YAML"),
        };
        UpgradePolicy::read(&file).map_err(|error| error.to_string())
    }

    const HEAD: &str = "apiVersion: fn.kpt.dev/v1alpha1\nkind: UpgradePolicy\n";

    #[test]
    fn a_policy_has_all_its_parts() {
        let text = indoc! {r#"
            conflicts:
            - {path: spec.replicas, take: local}
            guards:
            - {path: spec.x, reason: ours}
            releases: {skip: [v1.4.0], allow: <4}
            render: {helm: {values: [v.yaml], kubeVersion: "1.34"}}
        "#};
        let policy = read(&format!("{HEAD}{text}")).expect("a policy");
        assert_eq!(policy.releases.skip, ["v1.4.0"]);
        assert_eq!(policy.releases.allow.as_deref(), Some("<4"));
        assert_eq!(policy.rules.guards.len(), 1);
        let helm = policy.render.and_then(|render| render.helm);
        assert_eq!(helm.expect("helm").kube_version.as_deref(), Some("1.34"));
        let rules = HEAD.replace("UpgradePolicy", "ConflictRules");
        assert!(read(&format!("{rules}conflicts: []\n")).is_ok());
        assert!(read(&format!("{rules}guards: []\n")).is_err());
    }

    #[test]
    fn a_mistake_names_file_line_and_field() {
        for (text, place, field) in [
            (
                "conflicts:\n- path: spec.replicas\n  take: mine\n",
                "p/.krmv.yaml:5: ",
                "conflicts[0].take",
            ),
            (
                "conflicts:\n- field: x\n  take: local\n",
                "p/.krmv.yaml:4: ",
                "field",
            ),
            (
                "conflicts:\n- {path: a, take: local}\n- path: spec.replicas\n",
                "p/.krmv.yaml:5: ",
                "conflicts[1].take: expected one of",
            ),
            (
                "conflicts:\n- path: a..b\n  take: local\n",
                "p/.krmv.yaml:4: ",
                "conflicts[0].path",
            ),
            (
                "guards:\n- path: a[\n",
                "p/.krmv.yaml:4: ",
                "guards[0].path",
            ),
            ("guards:\n- reason: x\n", "p/.krmv.yaml:4: ", "path"),
            (
                "releases:\n  skip: 1\n",
                "p/.krmv.yaml:4: ",
                "releases.skip",
            ),
            ("render: {}\n", "p/.krmv.yaml:3: ", "render"),
            ("other: 1\n", "p/.krmv.yaml:3: ", "other"),
        ] {
            let error = read(&format!("{HEAD}{text}")).expect_err(text);
            assert!(
                error.starts_with(place) && error.contains(field),
                "{text}: {error}"
            );
        }
        let error = read("apiVersion: v1\nkind: ConfigMap\n").expect_err("another kind");
        assert!(
            error.starts_with("p/.krmv.yaml: expected an UpgradePolicy"),
            "{error}"
        );
    }
}

//! Results: what a function has to say, for people and for programs.
//!
//! Shape and field names are those of kpt (`results` of a ResourceList, `kpt.dev/v1`
//! `FunctionResultList`). Every error and warning carries a [`Reason`] as `tags.reason`.

use std::fmt;

use crate::resource::{Origin, Resource};
use crate::yaml::{EditError, Path, Value};

/// How much a result matters. One error makes a run fail, and nothing is changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something to know.
    Info,
    /// Something to look at.
    Warning,
    /// The function could not do what it was asked for.
    Error,
}

impl Severity {
    /// The word in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Why an error or warning was reported: a stable word for programs, in `tags.reason`.
        ///
        /// To rename or remove one is a breaking change. `docs/reasons.md` is made from this list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason { $($(#[doc = $doc])+ $name,)+ }

        impl Reason {
            /// All reasons with their explanations, in the order of their names.
            pub const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$name, stringify!($name), concat!($($doc),+)),)+];

            /// The word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }
        }
    };
}

reasons! {
    /// Several resources match, and nothing decides between them.
    Ambiguous,
    /// Two injection points of the same kind and name would share a condition.
    AmbiguousCondition,
    /// A tag and a branch have the same name and point to different commits.
    AmbiguousRevision,
    /// The repository lacks a commit that a Kptfile names; its tag was used instead.
    CommitNotFound,
    /// Two elements of a list have the same keys; they were paired by position.
    DuplicateKey,
    /// Two resources of one source have the same identity.
    DuplicateResource,
    /// A list in a patch has another order than its `$setElementOrder`.
    ElementOrderMismatch,
    /// The original package of a merge is empty, or lacks the Kptfile that the others have.
    EmptyOriginal,
    /// The upstream package of a merge is empty, or lacks the Kptfile that the others have.
    EmptyUpstream,
    /// An expression cannot be evaluated for a target.
    ExpressionFailed,
    /// The resource to inject has no `spec`, or no `data` if it is a ConfigMap.
    FieldNotFound,
    /// A field has no effect in its place.
    IgnoredField,
    /// The functionConfig has a value that is not allowed.
    InvalidConfig,
    /// An expression is wrong, whatever it is evaluated for.
    InvalidExpression,
    /// The last-applied annotation is not JSON.
    InvalidLastApplied,
    /// A patch does not fit the place that it patches.
    InvalidPatch,
    /// A path leaves the package, or is not a path in a package.
    InvalidPath,
    /// A field has a value of the wrong kind.
    InvalidValue,
    /// The package has no Kptfile.
    KptfileNotFound,
    /// Local changes prevent a fast-forward, or another strategy overwrites them.
    LocalChanges,
    /// Local and upstream both changed a place, and the changes differ.
    MergeConflict,
    /// Two targets, or two PackageVariantSets, would generate PackageVariants of one name.
    NameCollision,
    /// The previous configuration is unknown, so nothing is deleted.
    NoLastApplied,
    /// There is no live resource for a configuration.
    NoLive,
    /// There is no PackageVariantSet to expand.
    NoPackageVariantSet,
    /// No resource was found for a required injection point.
    NoResourceSelected,
    /// A target of a PackageVariantSet selects nothing.
    NoTargetSelected,
    /// A PackageVariantSet that owns PackageVariants no longer selects anything.
    NoTargets,
    /// A list in a patch has elements that its `$setElementOrder` lacks.
    NotInElementOrder,
    /// The package, or the output, could not be written; the other results of the run are void.
    NotWritten,
    /// The revision that a package was copied from was found by its content.
    OriginalFound,
    /// The revision that a package is based on is unknown, or the repository lacks it.
    OriginalNotFound,
    /// No revision is close to the package, so it may not be a copy of any.
    OriginalUncertain,
    /// A PackageVariant of that name exists, and the PackageVariantSet does not own it.
    OtherOwner,
    /// A PackageVariant belongs to a PackageVariantSet that does not exist.
    OwnerNotFound,
    /// The package has no ConfigMap `kptfile.kpt.dev` beside its root Kptfile.
    PackageContextNotFound,
    /// The package to clone into already has resources.
    PackageNotEmpty,
    /// A new file would replace an existing one.
    PathTaken,
    /// The Repository that a PackageVariant would go to does not exist.
    RepositoryNotFound,
    /// The key is reserved for kpt and Porch.
    ReservedKey,
    /// An edit would change what a YAML alias elsewhere reads, and its value holds anchors itself.
    SharedAnchor,
    /// A file was not read, and therefore not edited.
    SkippedFile,
    /// Local and upstream both added a sub-package, and the two differ.
    SubPackageExists,
    /// The resource that a patch is for does not exist.
    TargetNotFound,
    /// A run would generate more PackageVariants, or larger ones, than the limit allows.
    TooManyTargets,
    /// A key of a patch begins with `$`, and is neither a directive nor a field.
    UnknownDirective,
    /// A resource of an API version that this function does not support was skipped.
    UnsupportedVersion,
    /// The PackageRevision to generate PackageVariants from does not exist.
    UpstreamNotFound,
    /// The upstream package is not the one that the PackageVariant asks for.
    WrongUpstream,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The resource that a result is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceRef {
    /// `apiVersion` of the resource.
    pub api_version: String,
    /// `kind` of the resource.
    pub kind: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`.
    pub namespace: Option<String>,
}

/// What is said of the value of a field; absent on a side where the field is not there.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldValues {
    /// As it is.
    pub current: Option<Value>,
    /// As it shall be.
    pub proposed: Option<Value>,
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionResult {
    /// How much it matters.
    pub severity: Severity,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// The resource that it is about.
    pub resource: Option<ResourceRef>,
    /// The file that it is about, and the index of the resource in it.
    pub file: Option<(String, Option<usize>)>,
    /// The field that it is about: `spec.template.spec.containers[0].image`.
    pub field: Option<String>,
    /// The field's value, and what it becomes or shall become.
    pub values: Option<Box<FieldValues>>,
    /// More for programs: `reason` first.
    pub tags: Vec<(String, String)>,
}

impl FunctionResult {
    /// A result that names nothing yet.
    #[must_use]
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            message: message.into(),
            resource: None,
            file: None,
            field: None,
            values: None,
            tags: Vec::new(),
        }
    }

    /// An error, with its reason.
    #[must_use]
    pub fn error(reason: Reason, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message).tag("reason", reason.as_str())
    }

    /// The error for an edit that was not made; the caller names the resource, and the field of
    /// what is no [`EditError::SharedAnchor`].
    #[must_use]
    pub fn refused(error: &EditError) -> Self {
        match error {
            EditError::SharedAnchor { place, anchor } => Self::error(
                Reason::SharedAnchor,
                format!(
                    "the value is shared through the anchor `&{anchor}`; write it out in full first"
                ),
            )
            .at(place),
            EditError::WrongKind {
                expected, found, ..
            } => {
                let message = format!("expected a {expected}, found {}", with_article(found));
                Self::error(Reason::InvalidValue, message)
            }
            EditError::Endless { .. }
            | EditError::KeyTwice { .. }
            | EditError::Overlap { .. }
            | EditError::Broken(_) => Self::error(Reason::InvalidValue, error.to_string()),
        }
    }

    /// Whether this is the reason.
    #[must_use]
    pub fn has_reason(&self, reason: Reason) -> bool {
        let mut tags = self.tags.iter();
        tags.any(|(name, value)| name == "reason" && value == reason.as_str())
    }

    /// A warning, with its reason.
    #[must_use]
    pub fn warning(reason: Reason, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message).tag("reason", reason.as_str())
    }

    /// An info.
    #[must_use]
    pub fn info(message: impl Into<String>) -> Self {
        Self::new(Severity::Info, message)
    }

    /// Names the resource and its file.
    #[must_use]
    pub fn about(mut self, resource: &Resource) -> Self {
        self.resource = Some(ResourceRef {
            api_version: resource.api_version.clone(),
            kind: resource.kind.clone(),
            name: resource.name.clone().unwrap_or_default(),
            namespace: resource.namespace.clone(),
        });
        let Origin { path, index, .. } = &resource.origin;
        self.file = path.clone().map(|path| (path, *index));
        self
    }

    /// Names a file.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<String>) -> Self {
        self.file = Some((path.into(), None));
        self
    }

    /// Names the field.
    #[must_use]
    pub fn at(mut self, field: impl fmt::Display) -> Self {
        self.field = Some(field.to_string());
        self
    }

    /// Names the field's value as it is and as it becomes; long ones are cut.
    #[must_use]
    pub fn changes(mut self, current: Option<&Value>, proposed: Option<&Value>) -> Self {
        self.values = Some(Box::new(FieldValues {
            current: current.map(short),
            proposed: proposed.map(short),
        }));
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn tag(mut self, name: &str, value: impl Into<String>) -> Self {
        // Most have one, and a run may have as many results as variants.
        self.tags.reserve_exact(usize::from(self.tags.is_empty()));
        self.tags.push((name.to_owned(), value.into()));
        self
    }

    /// As an element of the ResourceList's `results`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let entry = |key: &str, value: Value| (Value::from(key), value);
        let text = |key: &str, value: &str| entry(key, Value::from(value));
        let mut fields = vec![
            text("message", &self.message),
            text("severity", self.severity.as_str()),
        ];
        if let Some(resource) = &self.resource {
            let mut about = vec![
                text("apiVersion", &resource.api_version),
                text("kind", &resource.kind),
                text("name", &resource.name),
            ];
            if let Some(namespace) = &resource.namespace {
                about.push(text("namespace", namespace));
            }
            fields.push(entry("resourceRef", Value::Mapping(about)));
        }
        if let Some(field) = &self.field {
            let mut about = vec![text("path", field)];
            if let Some(FieldValues { current, proposed }) = self.values.as_deref() {
                let current = current
                    .iter()
                    .map(|value| entry("currentValue", value.clone()));
                let proposed = proposed.iter();
                let proposed = proposed.map(|value| entry("proposedValue", value.clone()));
                about.extend(current.chain(proposed));
            }
            fields.push(entry("field", Value::Mapping(about)));
        }
        if let Some((path, index)) = &self.file {
            let mut file = vec![text("path", path)];
            if let Some(index) = index.filter(|index| *index > 0) {
                file.push(entry("index", Value::from(index as i64)));
            }
            fields.push(entry("file", Value::Mapping(file)));
        }
        if !self.tags.is_empty() {
            let tags = self
                .tags
                .iter()
                .map(|(name, value)| text(name, value))
                .collect();
            fields.push(entry("tags", Value::Mapping(tags)));
        }
        Value::Mapping(fields)
    }
}

/// A kind of value in a sentence: `a string`, `an alias`, and `nothing` for null.
pub(crate) fn with_article(kind: &str) -> String {
    match kind.as_bytes() {
        b"null" => "nothing".to_owned(),
        [b'a' | b'e' | b'i' | b'o' | b'u', ..] => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// Control characters in names must not reach a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped =
                c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            let escape = escaped.then(|| c.escape_default());
            let plain = (!escaped).then_some(c);
            escape.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// One line: `[error] file.yaml: ConfigMap/name: field: message (Reason)`.
impl fmt::Display for FunctionResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] ", self.severity.as_str())?;
        if let Some((path, _)) = &self.file {
            write!(f, "{}: ", printable(path))?;
        }
        if let Some(resource) = &self.resource {
            let namespace = resource
                .namespace
                .as_ref()
                .map(|n| format!("{n}/"))
                .unwrap_or_default();
            write!(
                f,
                "{}: ",
                printable(&format!("{}/{namespace}{}", resource.kind, resource.name))
            )?;
        }
        if let Some(field) = &self.field {
            write!(f, "{}: ", printable(field))?;
        }
        f.write_str(&printable(&self.message))?;
        match self.tags.iter().find(|(name, _)| name == "reason") {
            Some((_, reason)) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}

/// What a value may be shown as in a result: those of a Secret are never shown.
#[must_use]
pub fn shown(resource: &Resource, path: &Path, value: &Value) -> String {
    cut(json(resource, path, value))
}

/// Bytes of a value that a result shows.
const LIMIT: usize = 256;

fn cut(mut json: String) -> String {
    if json.len() > LIMIT {
        let end = (0..=LIMIT)
            .rev()
            .find(|at| json.is_char_boundary(*at))
            .unwrap_or_default();
        json.truncate(end);
        json.push('…');
    }
    json
}

/// The whole of what [`shown`] cuts.
pub(crate) fn json(resource: &Resource, path: &Path, value: &Value) -> String {
    match is_secret(resource, path) {
        true => "<redacted>".to_owned(),
        false => value.to_json(),
    }
}

/// A value as it is, or the beginning of its JSON.
fn short(value: &Value) -> Value {
    let json = value.to_json();
    match json.len() > LIMIT {
        true => Value::from(cut(json)),
        false => value.clone(),
    }
}

/// Whether a path of a resource holds secret values (`data`, `stringData`, last-applied, or a
/// parent of them).
pub(crate) fn is_secret(resource: &Resource, path: &Path) -> bool {
    use crate::yaml::PathElement::Field;
    if resource.kind != "Secret" {
        return false;
    }
    let fields: Vec<&str> = path
        .elements()
        .iter()
        .map_while(|element| match element {
            Field(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    match fields.as_slice() {
        [] | ["data" | "stringData", ..] | ["metadata"] | ["metadata", "annotations"] => true,
        ["metadata", "annotations", name, ..] => *name == LAST_APPLIED,
        _ => false,
    }
}

/// The annotation in which `kubectl apply` keeps the previous configuration.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// All results of a run, in the order they were found.
#[derive(Debug, Default)]
pub struct Results(Vec<FunctionResult>);

impl Results {
    /// Adds one.
    pub fn push(&mut self, result: FunctionResult) {
        self.0.push(result);
    }

    /// Whether the run failed.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0
            .iter()
            .any(|result| result.severity == Severity::Error)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are conflicts that no rule decided.
    #[must_use]
    pub fn has_open_conflicts(&self) -> bool {
        let is_open = |result: &FunctionResult| {
            result.severity > Severity::Info && result.has_reason(Reason::MergeConflict)
        };
        self.0.iter().any(is_open)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, FunctionResult> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Results {
    type Item = &'a FunctionResult;
    type IntoIter = std::slice::Iter<'a, FunctionResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_not_shown() {
        let resource = |kind: &str| Resource {
            kind: kind.to_owned(),
            ..Resource::default()
        };
        let value = Value::from("hunter2");
        let path = |names: &[&str]| Path::fields(names);
        let secret = resource("Secret");
        for hidden in [
            path(&[]),
            path(&["data"]),
            path(&["data", "password"]),
            path(&["stringData", "password"]),
            path(&["metadata", "annotations"]),
            path(&["metadata", "annotations", LAST_APPLIED]),
        ] {
            assert_eq!(shown(&secret, &hidden, &value), "<redacted>", "{hidden}");
        }
        assert_eq!(shown(&secret, &path(&["type"]), &value), "\"hunter2\"");
        assert_eq!(
            shown(&resource("ConfigMap"), &path(&["data"]), &value),
            "\"hunter2\""
        );
    }

    #[test]
    fn control_characters_are_escaped_on_a_line() {
        let result = FunctionResult::info("a\u{1b}[31m\nb");
        assert_eq!(result.to_string(), "[info] a\\u{1b}[31m\\nb");
    }

    #[test]
    fn reasons_stand_in_the_order_of_their_names() {
        let names: Vec<_> = Reason::ALL.iter().map(|(_, name, _)| *name).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        assert_eq!(names, sorted);
    }
}

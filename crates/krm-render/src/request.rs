//! What a package is rendered with: the program, and for Helm the values, the release, the namespace and the Kubernetes
//! release.

use std::collections::BTreeMap;

use krm_core::config::{NamedDocument, UsageError};
use krm_merge::decided::{UpgradePolicy, WrittenHelm, WrittenRender};
use krm_yaml::{OwnedDocument, Value, to_block_text};

/// The files of a package, by path.
pub type PackageFiles = BTreeMap<String, Vec<u8>>;

/// What a revision is rendered with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RenderRequest {
    Helm(HelmRequest),
    Kustomize,
}

/// The arguments of `helm template`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HelmRequest {
    pub release: Label,
    pub namespace: Option<Label>,
    pub kube_version: Option<KubeVersion>,
    /// The bytes of the files with values, in order.
    pub values: Vec<Vec<u8>>,
}

impl HelmRequest {
    /// `template NAME CHART --include-crds ...`
    pub fn arguments(&self, chart: &str) -> Vec<String> {
        let words = ["template", self.release.as_str(), chart, "--include-crds"];
        let mut words: Vec<String> = words.map(str::to_owned).into();
        let mut options: BTreeMap<&str, &str> = BTreeMap::new();
        if let Some(namespace) = &self.namespace {
            options.insert("--namespace", namespace.as_str());
        }
        if let Some(version) = &self.kube_version {
            options.insert("--kube-version", version.as_str());
        }
        for (flag, text) in options {
            words.extend([flag.to_owned(), text.to_owned()]);
        }
        for number in 1..=self.values.len() {
            words.extend(["--values".to_owned(), values_name(number)]);
        }
        words
    }
}

/// The name of a file with values in the folder where Helm runs. The first has number 1.
pub fn values_name(number: usize) -> String {
    format!("values-{number}.yaml")
}

/// A name as Helm takes it for a release or namespace. It is never a flag.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label(String);

impl Label {
    /// Parses what a user or a file names. Helm allows 53 characters.
    pub fn parse(text: &str) -> Option<Self> {
        let is_inner = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
        let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = text.as_bytes();
        let is_label = bytes.len() <= 53
            && bytes.iter().all(|byte| is_inner(*byte))
            && is_end(bytes.first())
            && is_end(bytes.last());
        is_label.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A Kubernetes release, such as `1.34` or `v1.34.2+k3s1`. It is never a flag.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KubeVersion(String);

impl KubeVersion {
    pub fn parse(text: &str) -> Option<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".+-".contains(&byte);
        let number = text.trim_start_matches('v').as_bytes();
        let is_version = number.first().is_some_and(u8::is_ascii_digit)
            && text.len() <= 64
            && text.bytes().all(is_part);
        is_version.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RenderRequest {
    /// Reads what a policy asks for. A release without a name has that of the package.
    ///
    /// # Errors
    /// [`UsageError`] for a name or version that is none, and the errors of `values`.
    pub fn read<E: From<UsageError>>(
        written: &WrittenRender,
        name: &str,
        values: impl Fn(&str) -> Result<Vec<u8>, E>,
    ) -> Result<Self, E> {
        let Some(helm) = &written.helm else {
            return Ok(Self::Kustomize);
        };
        let label = |field: &str, text: &str| {
            Label::parse(text).ok_or_else(|| {
                let message = format!(
                    "expected a {field} of at most 53 lower case letters, digits, `-` and `.`, found `{}`",
                    text.escape_debug()
                );
                UsageError::of(message)
            })
        };
        let version = |text: &String| {
            KubeVersion::parse(text).ok_or_else(|| {
                let message = format!(
                    "expected a Kubernetes release such as 1.34, found `{}`",
                    text.escape_debug()
                );
                UsageError::of(message)
            })
        };
        let namespace = helm.namespace.as_deref();
        Ok(Self::Helm(HelmRequest {
            release: label("release", helm.release.as_deref().unwrap_or(name))?,
            namespace: namespace.map(|name| label("namespace", name)).transpose()?,
            kube_version: helm.kube_version.as_ref().map(version).transpose()?,
            values: helm
                .values
                .iter()
                .map(|path| values(path))
                .collect::<Result<_, E>>()?,
        }))
    }

    /// The name of the program.
    pub fn program(&self) -> &'static str {
        match self {
            Self::Helm(_) => "helm",
            Self::Kustomize => "kustomize",
        }
    }

    /// The files in `.krmv/` that record it. Their names say that they are no resources.
    pub fn record(&self, folder: &str) -> PackageFiles {
        let mut files = PackageFiles::new();
        let render = match self {
            Self::Kustomize => WrittenRender {
                helm: None,
                kustomize: Some(Default::default()),
            },
            Self::Helm(helm) => {
                let mut names = Vec::new();
                for (number, bytes) in (1..).zip(&helm.values) {
                    let name = format!("values-{number}");
                    files.insert(format!("{folder}{name}"), bytes.clone());
                    names.push(name);
                }
                let helm = WrittenHelm {
                    values: names,
                    release: Some(helm.release.as_str().to_owned()),
                    namespace: helm.namespace.as_ref().map(|name| name.as_str().to_owned()),
                    kube_version: (helm.kube_version.as_ref())
                        .map(|version| version.as_str().to_owned()),
                };
                WrittenRender {
                    helm: Some(helm),
                    kustomize: None,
                }
            }
        };
        let fields = vec![
            Value::entry("apiVersion", "fn.kpt.dev/v1alpha1"),
            Value::entry("kind", "UpgradePolicy"),
            Value::entry("render", render_value(&render)),
        ];
        let text = to_block_text(&Value::Mapping(fields));
        files.insert(format!("{folder}render"), text.into_bytes());
        files
    }
}

/// Reads what a package was rendered with, from the files that [`RenderRequest::record`] makes.
pub fn recorded(
    folder: &str,
    read: impl Fn(&str) -> Option<Vec<u8>>,
) -> Result<Option<RenderRequest>, UsageError> {
    let place = format!("{folder}render");
    let Some(bytes) = read(&place) else {
        return Ok(None);
    };
    let wrong = |error: String| UsageError::of(format!("{place}: {error}"));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let document = OwnedDocument::parse_resource(text).map_err(|error| wrong(error.to_string()))?;
    let file = NamedDocument {
        place: place.clone(),
        document,
    };
    let written = UpgradePolicy::read(&file)?.render;
    let written = written.ok_or_else(|| wrong("expected `render`, found none".to_owned()))?;
    let values = |name: &str| {
        let bytes = read(&format!("{folder}{name}"));
        bytes.ok_or_else(|| wrong(format!("expected the file '{folder}{name}', found none")))
    };
    RenderRequest::read(&written, "", values).map(Some)
}

/// The field `render` of a policy.
pub fn render_value(render: &WrittenRender) -> Value {
    let Some(helm) = &render.helm else {
        let none = Value::Mapping(Vec::new());
        return Value::Mapping(vec![Value::entry("kustomize", none)]);
    };
    let mut fields = Vec::new();
    if !helm.values.is_empty() {
        let values = helm.values.iter().map(|path| Value::from(path.as_str()));
        fields.push(Value::entry("values", Value::Sequence(values.collect())));
    }
    for (key, text) in [
        ("release", &helm.release),
        ("namespace", &helm.namespace),
        ("kubeVersion", &helm.kube_version),
    ] {
        if let Some(text) = text {
            fields.push(Value::entry(key, text.as_str()));
        }
    }
    Value::Mapping(vec![Value::entry("helm", Value::Mapping(fields))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_fixed() {
        let mut helm = HelmRequest {
            release: Label::parse("web").expect("a name"),
            namespace: None,
            kube_version: None,
            values: Vec::new(),
        };
        let plain = ["template", "web", "./source", "--include-crds"];
        assert_eq!(helm.arguments("./source"), plain);
        helm.namespace = Label::parse("shop");
        helm.kube_version = KubeVersion::parse("1.34");
        helm.values = vec![Vec::new(), Vec::new()];
        let more =
            "--kube-version 1.34 --namespace shop --values values-1.yaml --values values-2.yaml";
        let expected: Vec<&str> = plain.into_iter().chain(more.split(' ')).collect();
        assert_eq!(helm.arguments("./source"), expected);
    }

    #[test]
    fn names_and_versions_are_never_flags() {
        for (text, is_label) in [
            ("web", true),
            ("web-1.x", true),
            ("", false),
            ("-web", false),
            ("web-", false),
            ("--post-renderer=x", false),
            ("Web", false),
            ("a b", false),
            (&"a".repeat(54), false),
        ] {
            assert_eq!(Label::parse(text).is_some(), is_label, "{text}");
        }
        for (text, is_version) in [
            ("1.34", true),
            ("v1.34.2+k3s1", true),
            ("", false),
            ("v", false),
            ("-1", false),
            ("1.34 --x", false),
        ] {
            assert_eq!(KubeVersion::parse(text).is_some(), is_version, "{text}");
        }
    }

    #[test]
    fn a_record_reads_as_it_was() {
        let helm = HelmRequest {
            release: Label::parse("web").expect("a name"),
            namespace: Label::parse("shop"),
            kube_version: KubeVersion::parse("1.30"),
            values: vec![b"a: 1\n".to_vec(), b"\xff".to_vec()],
        };
        for request in [RenderRequest::Helm(helm), RenderRequest::Kustomize] {
            let files = request.record(".krmv/locked/");
            let read = recorded(".krmv/locked/", |path| files.get(path).cloned());
            assert_eq!(read.expect("it reads"), Some(request));
        }
    }
}

//! What names an element in a list of a kustomization.

use std::collections::BTreeMap;

use super::KustomizationList;
use super::source::KustomizationSource;
use krm_yaml::{NodeRef, OwnedDocument, Value};

/// The names of an element. Each level has names of which one is enough, the best level first.
#[derive(Debug, Default)]
pub(crate) struct ElementNames {
    /// What makes two elements the same, also two new ones.
    pub(super) own: Vec<Vec<Value>>,
    /// What makes an element the same as one of the original that has no other counterpart.
    pub(super) of_original: Vec<Vec<Value>>,
}

impl ElementNames {
    /// The names of an element. An element without any is named by its value alone.
    pub(crate) fn of(list: KustomizationList, element: NodeRef<'_>) -> Self {
        let element = element.resolved();
        match list {
            KustomizationList::Plain(_) => Self::default(),
            KustomizationList::Sources => of_source(element),
            KustomizationList::Patches => of_patch(element),
            KustomizationList::Labels => of_labels(element),
            KustomizationList::Replacements => of_replacement(element),
            KustomizationList::HelmCharts => of_chart(element),
        }
    }
}

fn texts(parts: impl IntoIterator<Item = impl Into<Value>>) -> Value {
    Value::Sequence(parts.into_iter().map(Into::into).collect())
}

fn of_source(element: NodeRef<'_>) -> ElementNames {
    let Some(text) = element.as_str() else {
        return ElementNames::default();
    };
    let own = match KustomizationSource::of(text) {
        KustomizationSource::Path(path) => vec![vec![Value::from(path)]],
        KustomizationSource::Text(text) => vec![objects(text).into_iter().collect()],
        KustomizationSource::Remote(remote) => {
            let location = texts(["location"].iter().chain(remote.location()).copied());
            let name = texts(["name".to_owned()].into_iter().chain(remote.name()));
            vec![vec![location], vec![name]]
        }
    };
    ElementNames {
        own,
        of_original: Vec::new(),
    }
}

/// The identities of the resources in a text, as one value. `None` if there is none.
fn objects(text: &str) -> Option<Value> {
    let owned = OwnedDocument::parse_resource(text.to_owned()).ok()?;
    let identities: Vec<Value> = owned.roots().filter_map(object).collect();
    (!identities.is_empty()).then_some(Value::Sequence(identities))
}

/// Group, kind, name and namespace of a resource.
fn object(root: NodeRef<'_>) -> Option<Value> {
    let text = |path: &[&str]| {
        let node = root.get_path(path)?;
        Some(node.resolved().scalar_text()?.to_owned())
    };
    let kind = text(&["kind"])?;
    let version = text(&["apiVersion"]).unwrap_or_default();
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    let name = text(&["metadata", "name"]).unwrap_or_default();
    let namespace = text(&["metadata", "namespace"]).unwrap_or_default();
    Some(texts([group.to_owned(), kind, name, namespace]))
}

fn of_patch(element: NodeRef<'_>) -> ElementNames {
    let text = |key| element.get(key).and_then(|node| node.resolved().as_str());
    let path = match text("path").map(KustomizationSource::of) {
        Some(KustomizationSource::Path(path)) => Some(Value::from(path)),
        _ => None,
    };
    let patch = text("patch");
    let target = element.get("target").and_then(|target| target.value());
    let object = target.or_else(|| objects(patch?));
    if path.is_none() && object.is_none() {
        return ElementNames::default();
    }
    // A strategic merge patch and a JSON 6902 patch of one object are two patches.
    let is_list = patch.is_some_and(|patch| patch.trim_start().starts_with(['-', '[']));
    let whole = [path.clone(), object.clone(), Some(Value::from(is_list))];
    let whole = whole.map(|part| part.unwrap_or(Value::Null));
    ElementNames {
        own: vec![vec![Value::Sequence(whole.into())]],
        of_original: [path, object].map(|name| name.into_iter().collect()).into(),
    }
}

fn of_labels(element: NodeRef<'_>) -> ElementNames {
    let pairs = element.get("pairs").map(|pairs| pairs.resolved());
    let entries = pairs.into_iter().flat_map(|pairs| pairs.entries());
    let keys = entries.filter_map(|entry| entry.key.scalar_text());
    let mut keys: Vec<&str> = keys.collect();
    keys.sort_unstable();
    let others = element
        .entries()
        .filter(|entry| entry.key.as_str() != Some("pairs"));
    let selectors =
        others.filter_map(|entry| Some((entry.key.scalar_text()?, entry.value.value()?)));
    let selectors: BTreeMap<&str, Value> = selectors.collect();
    let selectors = selectors.into_iter();
    let selectors = selectors.map(|(key, value)| Value::entry(key, value));
    let selectors = Value::Mapping(selectors.collect());
    let whole = Value::Sequence(vec![selectors.clone(), texts(keys.iter().copied())]);
    ElementNames {
        own: vec![vec![whole], keys.into_iter().map(Value::from).collect()],
        of_original: vec![vec![selectors]],
    }
}

fn of_replacement(element: NodeRef<'_>) -> ElementNames {
    if let Some(path) = element
        .get("path")
        .and_then(|path| path.resolved().as_str())
    {
        return ElementNames {
            own: vec![vec![Value::from(path)]],
            of_original: Vec::new(),
        };
    }
    let source = element.get("source").and_then(|source| source.value());
    let targets = element.get("targets").map(|targets| targets.resolved());
    let targets = targets.into_iter().flat_map(|targets| targets.items());
    let selected = targets.filter_map(|target| target.get("select")?.value());
    let targets = Value::Sequence(selected.collect());
    let source = source.unwrap_or(Value::Null);
    ElementNames {
        own: vec![
            vec![Value::Sequence(vec![source.clone(), targets.clone()])],
            vec![source],
        ],
        of_original: vec![vec![targets]],
    }
}

fn of_chart(element: NodeRef<'_>) -> ElementNames {
    let value = |key: &str| element.get(key).and_then(|node| node.value());
    let named = |keys: &[&str]| {
        let values = keys.iter().map(|key| value(key).unwrap_or(Value::Null));
        vec![Value::Sequence(values.collect())]
    };
    ElementNames {
        own: vec![named(&["name", "releaseName", "namespace"])],
        of_original: vec![
            named(&["name", "releaseName"]),
            named(&["name", "namespace"]),
            named(&["name"]),
        ],
    }
}

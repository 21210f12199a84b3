//! What a kustomization reads: files and folders next to it, remote references, and resources as texts.
//!
//! A remote reference is a location and a version, like an image:
//!
//! ```text
//! https://github.com/org/app//deploy?ref=v1.0
//! https://github.com/org/app/releases/download/v1.0/install.yaml
//! ```

/// An entry of `resources` and similar lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KustomizationSource<'a> {
    /// The path of a file or folder, without `.` components and a slash at the end.
    Path(String),
    Remote(Remote<'a>),
    /// The text of resources.
    Text(&'a str),
}

/// A remote reference, cut around its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remote<'a> {
    /// The texts before, between and after the versions: one more than there are versions.
    location: Vec<&'a str>,
    /// The version, as often as the reference has it.
    versions: Vec<&'a str>,
}

impl<'a> KustomizationSource<'a> {
    /// Reads an entry.
    pub(crate) fn of(text: &'a str) -> Self {
        if text.contains('\n') || text.starts_with('{') {
            return Self::Text(text);
        }
        if let Some(remote) = Remote::of(text) {
            return Self::Remote(remote);
        }
        let is_part = |part: &&str| !part.is_empty() && *part != ".";
        let parts: Vec<&str> = text.split('/').filter(is_part).collect();
        Self::Path(parts.join("/"))
    }
}

impl<'a> Remote<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let mut at = address.len() + 1;
        for parameter in query.split('&') {
            let (key, value) = parameter.split_once('=').unwrap_or_default();
            if matches!(key, "ref" | "version") && !value.is_empty() {
                let start = at + key.len() + 1;
                let end = start + value.len();
                return Some(Self {
                    location: vec![&text[..start], &text[end..]],
                    versions: vec![&text[start..end]],
                });
            }
            at += parameter.len() + 1;
        }
        let is_remote = address.contains("://")
            || ["git@", "git::", "github.com/"]
                .iter()
                .any(|start| address.starts_with(start));
        is_remote.then(|| Self::with_versions_in_path(text))
    }

    /// A reference with a version as a folder, or in the name of a file.
    fn with_versions_in_path(text: &'a str) -> Self {
        let (mut location, mut versions) = (Vec::new(), Vec::new());
        let mut start = 0;
        for (from, component) in components(text) {
            for (offset, version) in versions_in(component) {
                let at = from + offset;
                location.push(&text[start..at]);
                versions.push(version);
                start = at + version.len();
            }
        }
        location.push(&text[start..]);
        Self { location, versions }
    }

    /// The reference without its version.
    pub(crate) fn location(&self) -> &[&'a str] {
        &self.location
    }

    pub(crate) fn versions(&self) -> &[&'a str] {
        &self.versions
    }

    /// The reference with the location of one reference, and the version of another.
    pub(crate) fn text_of(location: &[&str], versions: &[&str]) -> String {
        let mut text = String::new();
        for (at, part) in location.iter().enumerate() {
            text.push_str(part);
            text.push_str(versions.get(at).copied().unwrap_or_default());
        }
        text
    }

    /// What a mirror has in common with the location that it mirrors: the repository's own name, and the path in it.
    pub(crate) fn name(&self) -> Vec<String> {
        let whole = self.location.join("{}");
        let address = whole.split('?').next().unwrap_or_default();
        let address = address.split_once("://").map_or(address, |(_, rest)| rest);
        let (repository, within) = match address.split_once("//") {
            Some((repository, within)) => (repository, Some(within)),
            None => (address, None),
        };
        let parts: Vec<&str> = repository.split(['/', ':']).skip(1).collect();
        let own = |name: &str| name.strip_suffix(".git").unwrap_or(name).to_owned();
        if let Some(within) = within {
            let within = within.trim_matches('/').to_owned();
            return vec![own(parts.last().copied().unwrap_or_default()), within];
        }
        // The part before the words of a service, or the repository in `HOST/OWNER/REPOSITORY`.
        let is_of_service = |part: &&str| {
            ["-", "releases", "raw", "archive", "blob", "tree"].contains(part)
                || part.contains("{}")
        };
        let end = parts.iter().position(is_of_service);
        let end = end.unwrap_or(parts.len()).clamp(1, 2);
        let repository = parts.get(end - 1).copied().unwrap_or_default();
        let rest = parts.get(end..).unwrap_or_default();
        let rest = rest
            .iter()
            .filter(|part| !is_of_service(part) || part.contains('.'));
        let mut name = vec![own(repository)];
        name.extend(rest.map(|part| (*part).to_owned()));
        name
    }
}

/// The components of a reference after its host, with their positions.
fn components(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = text.find("://").map_or(0, |at| at + 3);
    let path = text[start..].find('/').map_or(text.len(), |at| start + at);
    let mut at = path;
    text[path..].split('/').map(move |component| {
        let from = at;
        at += component.len() + 1;
        (from, component)
    })
}

/// The versions in a component of a path, such as `v1.2.0-rc.1` and the number in `install-1.2.0.yaml`.
fn versions_in(component: &str) -> Vec<(usize, &str)> {
    const FILES: [&str; 5] = [".yaml", ".yml", ".json", ".tgz", ".tar.gz"];
    let is_version_char = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let number = component.strip_prefix('v').unwrap_or(component);
    let is_whole = number.starts_with(|c: char| c.is_ascii_digit())
        && number.contains('.')
        && number.chars().all(is_version_char)
        && !FILES.iter().any(|end| number.ends_with(end));
    if is_whole {
        return vec![(0, component)];
    }
    let is_number_char = |c: char| c.is_ascii_digit() || c == '.';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = component[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + start;
        let rest = &component[start..];
        let length = rest.find(|c| !is_number_char(c)).unwrap_or(rest.len());
        let number = rest[..length].trim_end_matches('.');
        if number.contains('.') {
            found.push((start, number));
        }
        at = start + length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The location with `{}` for versions, the versions, and the name.
    fn read(text: &str) -> String {
        match KustomizationSource::of(text) {
            KustomizationSource::Path(path) => path,
            KustomizationSource::Text(text) => format!("text {text}"),
            KustomizationSource::Remote(remote) => format!(
                "{} [{}] {}",
                remote.location().join("{}"),
                remote.versions().join(" "),
                remote.name().join(" ")
            ),
        }
    }

    #[test]
    fn references_are_locations_and_versions() {
        for (text, expected) in [
            ("./a/../b.yaml", "a/../b.yaml"),
            ("../base/", "../base"),
            ("a.yaml", "a.yaml"),
            (
                "https://github.com/org/app//deploy?ref=v1.0",
                "https://github.com/org/app//deploy?ref={} [v1.0] app deploy",
            ),
            (
                "https://git.local/org/app.git//deploy/?timeout=9&ref=v1.0&submodules=false",
                "https://git.local/org/app.git//deploy/?timeout=9&ref={}&submodules=false [v1.0] app deploy",
            ),
            (
                "github.com/org/app/deploy?ref=main",
                "github.com/org/app/deploy?ref={} [main] app deploy",
            ),
            (
                "git@github.com:org/app.git//deploy?ref=v1",
                "git@github.com:org/app.git//deploy?ref={} [v1] app deploy",
            ),
            (
                "https://github.com/org/app/releases/download/v1.0.0-rc.1/install-1.0.0.yaml",
                "https://github.com/org/app/releases/download/{}/install-{}.yaml [v1.0.0-rc.1 1.0.0] app download install-{}.yaml",
            ),
            (
                "https://raw.githubusercontent.com/org/app/v1.0/deploy/all.yaml",
                "https://raw.githubusercontent.com/org/app/{}/deploy/all.yaml [v1.0] app deploy all.yaml",
            ),
            (
                "https://10.0.0.1/x/app.yaml",
                "https://10.0.0.1/x/app.yaml [] app.yaml",
            ),
            ("kind: A\nb: c", "text kind: A\nb: c"),
        ] {
            assert_eq!(read(text), expected);
        }
    }

    #[test]
    fn a_reference_is_its_location_with_its_version() {
        for text in [
            "https://github.com/org/app//deploy?ref=v1.0",
            "https://github.com/org/app/releases/download/v1.0.0/install-1.0.0.yaml",
            "https://a/b",
        ] {
            let KustomizationSource::Remote(remote) = KustomizationSource::of(text) else {
                panic!("{text}")
            };
            assert_eq!(Remote::text_of(remote.location(), remote.versions()), text);
        }
    }
}

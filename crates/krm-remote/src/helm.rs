//! Helm repositories: their index, and the charts that it names.
//!
//! ```text
//! helm+https://charts.example.com/stable//app     the chart `app` of https://charts.example.com/stable/index.yaml
//! ```

use krm_address::HttpAddress;
use krm_yaml::{NodeRef, OwnedDocument};

use crate::error::{RemoteError, Result};
use krm_upstream::ContentDigest;

/// How a source begins that is a chart of a repository.
pub(crate) const SCHEME: &str = "helm+";

/// A chart of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelmChart {
    pub(crate) repository: HttpAddress,
    pub(crate) name: String,
}

/// A version of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChartVersion {
    pub(crate) version: String,
    pub(crate) addresses: Vec<HttpAddress>,
    pub(crate) digest: Option<ContentDigest>,
    pub(crate) is_deprecated: bool,
}

impl HelmChart {
    /// The address of the index.
    pub(crate) fn index(&self) -> Result<HttpAddress> {
        let text = self.repository.as_str().trim_end_matches('/');
        Ok(HttpAddress::parse(&format!("{text}/index.yaml"))?)
    }

    /// The repository as a lock names it.
    pub(crate) fn source(&self) -> String {
        let repository = self.repository.as_str().trim_end_matches('/');
        format!("{SCHEME}{repository}//{}", self.name)
    }

    /// The versions of the chart in an index. Versions whose addresses cannot be used are left out.
    pub(crate) fn versions(&self, index: &[u8]) -> Result<Vec<ChartVersion>> {
        let address = self.index()?;
        let failed = |reason: String| RemoteError::Content {
            address: address.clone(),
            reason,
        };
        let text = String::from_utf8(index.to_vec());
        let text = text.map_err(|_| failed("expected UTF-8, found other bytes".to_owned()))?;
        let text = only_entry(&text, &self.name).unwrap_or(text);
        let document = OwnedDocument::parse(text).map_err(|error| failed(error.to_string()))?;
        let entries = document.root().and_then(|root| root.get("entries"));
        let entries = entries.ok_or_else(|| {
            failed("expected the index of a Helm repository (`entries`), found none".to_owned())
        })?;
        let Some(chart) = entries.get(&self.name) else {
            let names = entries
                .entries()
                .filter_map(|entry| entry.key.scalar_text());
            let names: Vec<String> = names.map(str::to_owned).collect();
            let near = nearest(&self.name, &names);
            return Err(failed(format!(
                "it has no chart `{}`; the nearest are {near}",
                self.name
            )));
        };
        let versions = chart.items();
        Ok(versions.filter_map(|entry| self.version(entry)).collect())
    }

    fn version(&self, entry: NodeRef<'_>) -> Option<ChartVersion> {
        let text = |key: &str| entry.get(key)?.scalar_text().map(str::to_owned);
        let base = self.repository.as_str().trim_end_matches('/');
        let base = HttpAddress::parse(&format!("{base}/")).ok()?;
        let urls = entry.get("urls").into_iter().flat_map(|urls| urls.items());
        let urls = urls.filter_map(|url| base.join(url.scalar_text()?).ok());
        let digest = text("digest").filter(|digest| !digest.is_empty());
        let digest = digest.and_then(|digest| {
            let hex = digest.trim_start_matches("sha256:").to_ascii_lowercase();
            ContentDigest::parse(&format!("sha256:{hex}"))
        });
        let addresses: Vec<HttpAddress> = urls.collect();
        if addresses.is_empty() {
            return None;
        }
        Some(ChartVersion {
            version: text("version").filter(|version| is_version_name(version))?,
            addresses,
            digest,
            is_deprecated: text("deprecated").as_deref() == Some("true"),
        })
    }
}

/// The part of an index that is about one chart, where the index is written as Helm writes it. An index of all charts
/// has many values that no one asks for.
fn only_entry(text: &str, name: &str) -> Option<String> {
    let entries = text
        .find("\nentries:\n")
        .map(|at| at + "\nentries:\n".len());
    let entries =
        entries.or_else(|| text.starts_with("entries:\n").then_some("entries:\n".len()))?;
    let mut found = String::from("entries:\n");
    let mut is_found = false;
    let head = format!("  {name}:");
    for line in text[entries..].split_inclusive('\n') {
        let is_key = line.starts_with("  ") && !line[2..].starts_with([' ', '-', '#', '\n', '\r']);
        let is_above = !line.starts_with([' ', '\n', '\r', '#']);
        if is_above {
            break;
        }
        if is_key {
            is_found = line.trim_end() == head;
        }
        if is_found {
            found.push_str(line);
        }
    }
    (found.len() > "entries:\n".len()).then_some(found)
}

/// Whether a text can be the version of a chart: it becomes a part of names.
fn is_version_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
    !text.is_empty() && text.len() <= 128 && !text.starts_with('-') && text.chars().all(is_part)
}

/// The names most like one.
fn nearest(name: &str, names: &[String]) -> String {
    let mut names: Vec<&String> = names.iter().collect();
    let common = |other: &str| {
        let same = name.bytes().zip(other.bytes());
        std::cmp::Reverse(same.take_while(|(a, b)| a == b).count())
    };
    names.sort_by_key(|other| (common(other), other.len()));
    let names: Vec<String> = names
        .into_iter()
        .take(4)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use indoc::indoc;

    fn chart(name: &str) -> HelmChart {
        let repository = HttpAddress::parse("https://e.com/stable").expect("an address");
        HelmChart {
            repository,
            name: name.to_owned(),
        }
    }

    const INDEX: &str = indoc! {"
        apiVersion: v1
        entries:
          app:
          - name: app
            version: 1.1.0
            deprecated: true
            digest: abababababababababababababababababababababababababababababababab
            urls:
            - app-1.1.0.tgz
          - name: app
            version: v1.0.0
            urls:
            - https://cdn.e.com/app-1.0.0.tgz
            - http://e.com/x.tgz
          - name: app
            version: ../x
            urls: [app-x.tgz]
          - version: 0.1.0
            urls:
            - ftp://e.com/a.tgz
          application:
          - version: 2.0.0
            urls: [a.tgz]
        generated: x
    "};

    #[test]
    fn the_versions_of_a_chart() {
        let versions = chart("app").versions(INDEX.as_bytes()).expect("an index");
        let shown: Vec<String> = versions
            .iter()
            .map(|one| {
                format!(
                    "{} {:?} {}",
                    one.version,
                    one.addresses[0].as_str(),
                    one.is_deprecated
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "1.1.0 \"https://e.com/stable/app-1.1.0.tgz\" true",
                "v1.0.0 \"https://cdn.e.com/app-1.0.0.tgz\" false"
            ]
        );
        assert!(versions[0].digest.is_some() && versions[1].digest.is_none());
        assert_eq!(versions[1].addresses.len(), 1, "http is left out");
    }

    #[test]
    fn a_large_index_is_read_for_one_chart_only() {
        let only = only_entry(INDEX, "application").expect("an entry");
        expect![[r#"
            entries:
              application:
              - version: 2.0.0
                urls: [a.tgz]
        "#]]
        .assert_eq(&only);
        // An index in another format is read completely.
        let flow = "{\"entries\": {\"app\": [{\"version\": \"1.0.0\", \"urls\": [\"a.tgz\"]}]}}";
        assert_eq!(only_entry(flow, "app"), None);
        assert_eq!(
            chart("app")
                .versions(flow.as_bytes())
                .expect("an index")
                .len(),
            1
        );
    }

    #[test]
    fn faults_of_an_index_are_reported() {
        for (name, index, expected) in [
            (
                "apq",
                INDEX,
                "has no chart `apq`; the nearest are `app`, `application`",
            ),
            ("app", "a: b\n", "expected the index of a Helm repository"),
            ("app", "<html>\n", "expected the index of a Helm repository"),
            (
                "app",
                "entries: [\n",
                "cannot read https://e.com/stable/index.yaml: ",
            ),
        ] {
            let error = chart(name).versions(index.as_bytes()).expect_err(expected);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

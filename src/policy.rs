//! `.krmv.yaml`, the policy of a package: conflicts decided beforehand, guards, and which releases count.

use krm_address::release_name::ReleaseName;
use krm_core::config::NamedDocument;
use krm_follow::range;
use krm_merge::ConflictRules;
use krm_merge::decided::{UpgradePolicy, WrittenReleases, WrittenRender};
use krm_yaml::{Content, OwnedDocument, Value, to_block_text};
use semver::{Prerelease, VersionReq};

use super::failure::{Failure, Result, command};
use super::package::{Contents, LocalPackage, RULES};

/// The rules and guards in `.krmv.yaml`. Empty if there is no such file.
pub(crate) fn rules(contents: &Contents) -> Result<ConflictRules> {
    match document(contents, RULES)? {
        Some(file) => Ok(UpgradePolicy::read(&file)?.rules),
        None => Ok(ConflictRules::default()),
    }
}

/// The rules in `.krmv.yaml`, as they are written.
pub(crate) fn written_rules(contents: &Contents) -> Result<Vec<Value>> {
    let file = document(contents, RULES)?;
    let root = file.as_ref().and_then(|file| file.document.root());
    let rules = root.and_then(|root| root.get("conflicts")?.value());
    Ok(rules.map_or_else(Vec::new, |rules| rules.items().to_vec()))
}

/// How a package is rendered from its upstream. `place` is the policy's path for messages.
pub(crate) fn render(contents: &Contents, place: &str) -> Result<Option<WrittenRender>> {
    match document(contents, place)? {
        Some(file) => Ok(UpgradePolicy::read(&file)?.render),
        None => Ok(None),
    }
}

/// A policy with what a package is rendered by.
pub(crate) fn with_render(files: &Contents, written: &WrittenRender) -> Result<String> {
    let render = krm_render::render_value(written);
    // A ConflictRules has no `render`.
    Ok(OwnedDocument::edited(
        written_text(files),
        |root, editor| {
            editor.set(root, "kind", Content::Value(Value::from("UpgradePolicy")))?;
            editor.set(root, "render", Content::Value(render))
        },
    )?)
}

/// The file of the package, or a new one without rules.
pub(crate) fn written_text(contents: &Contents) -> String {
    let written = contents.get(RULES);
    written.map_or_else(
        || text(Vec::new()),
        |bytes| String::from_utf8_lossy(bytes).into_owned(),
    )
}

fn document(contents: &Contents, place: &str) -> Result<Option<NamedDocument>> {
    let Some(bytes) = contents.get(RULES) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let document =
        OwnedDocument::parse_resource(text).map_err(|error| Failure::from(error).context(place))?;
    let place = place.to_owned();
    Ok(Some(NamedDocument { place, document }))
}

/// Which releases of upstream count for a package.
#[derive(Debug, Default)]
pub(crate) struct CountedReleases {
    skip: Vec<String>,
    allow: Option<(String, VersionReq)>,
}

impl CountedReleases {
    /// Reads and checks the policy of a package. An error names its file, line and field.
    pub(crate) fn of(package: &LocalPackage) -> Result<Self> {
        let path = package.directory.join(RULES);
        let place = path.to_string_lossy().replace("./", "");
        let wrong = |error: Failure| error.or_hint(command(["git", "log", "-p", "--", &place]));
        let Some(file) = document(&package.contents, &place).map_err(wrong)? else {
            return Ok(Self::default());
        };
        let policy = UpgradePolicy::read(&file).map_err(|error| wrong(error.into()))?;
        let WrittenReleases { skip, allow } = policy.releases;
        let allow = match allow {
            None => None,
            Some(text) => match range(&text) {
                Some(range) => Some((text, range)),
                None => {
                    let root = file.document.root();
                    let node = root.and_then(|root| root.get_path(&["releases", "allow"]));
                    let line = node.map_or(1, |node| node.location().line);
                    let message = format!(
                        "{place}:{line}: releases.allow: expected a range of versions such as `<4`, found `{text}`"
                    );
                    return Err(wrong(Failure::new(message)));
                }
            },
        };
        Ok(Self { skip, allow })
    }

    /// Why a release does not count. `None` if it counts.
    pub(crate) fn refusal(&self, name: &str) -> Option<String> {
        let release = ReleaseName::parse(name);
        let is_skipped = |skipped: &&String| {
            let same = ReleaseName::parse(skipped).zip(release.as_ref());
            *skipped == name || same.is_some_and(|(skipped, own)| skipped.is_number_of(own))
        };
        if let Some(skipped) = self.skip.iter().find(is_skipped) {
            return Some(format!("{RULES} skips {skipped}"));
        }
        let (text, range) = self.allow.as_ref()?;
        let mut version = release?.semver()?;
        // A range is about releases; it says nothing of what came before one.
        version.pre = Prerelease::EMPTY;
        (!range.matches(&version)).then(|| format!("{RULES} allows {text} alone"))
    }
}

/// The text of a new policy with these rules. It is a resource of the package, and an annotation keeps it out of the
/// cluster.
pub(crate) fn text(conflicts: Vec<Value>) -> String {
    let annotations = vec![Value::entry("config.kubernetes.io/local-config", "true")];
    let metadata = vec![
        Value::entry("name", "krmv"),
        Value::entry("annotations", Value::Mapping(annotations)),
    ];
    let mut fields = vec![
        Value::entry("apiVersion", "fn.kpt.dev/v1alpha1"),
        Value::entry("kind", "UpgradePolicy"),
        Value::entry("metadata", Value::Mapping(metadata)),
    ];
    if !conflicts.is_empty() {
        fields.push(Value::entry("conflicts", Value::Sequence(conflicts)));
    }
    to_block_text(&Value::Mapping(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_that_do_not_count() {
        let policy = CountedReleases {
            skip: vec!["v1.4.0".to_owned(), "edge".to_owned()],
            allow: Some(("<2".to_owned(), range("<2").expect("a range"))),
        };
        for (name, counts) in [
            ("v1.4.0", false),
            ("1.4.0", false),
            ("web/v1.4.0", false),
            ("v1.4.1", true),
            ("v2.0.0", false),
            ("v2.0.0-rc.1", false),
            ("v1.9.0-rc.1", true),
            ("edge", false),
            ("main", true),
        ] {
            assert_eq!(policy.refusal(name).is_none(), counts, "{name}");
        }
    }
}

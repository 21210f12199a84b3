//! Files over HTTPS: the release files of a forge, and single files.
//!
//! ```text
//! https://github.com/o/r/releases/download/v1.2.0/install.yaml     releases: the tags of https://github.com/o/r
//! https://github.com/o/r/releases/latest/download/install.yaml     the same; which one is not said
//! https://gitlab.com/g/r/-/releases/v1.2.0/downloads/install.yaml
//! https://e.com/app-{version}.tgz    with a repository of tags       the tag's number is put in
//! https://e.com/app-1.2.0.tgz                                      one release
//! ```

use crate::archive::is_archive;
use krm_address::release_name::ReleaseName;
use krm_address::{Address, Surroundings};

use super::browser::decoded;

/// A file over HTTPS, and the repository whose tags are its releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseFile {
    /// The address, with `{tag}` or `{version}` in it where releases differ.
    template: String,
    /// The same, where the number in the file's name may be another one than that of the release.
    literal: Option<String>,
    /// The release that the address named.
    pub named: Option<String>,
    /// The repository with the tags. `None`: the file is one release.
    pub tags: Option<Address>,
    is_of_forge: bool,
    is_tag_escaped: bool,
}

/// The endings of files that are packages.
const ENDS: [&str; 3] = [".yaml", ".yml", ".json"];

/// Whether a file is a package of one file.
pub fn is_only_file(path: &str) -> bool {
    ENDS.iter().any(|end| path.ends_with(end))
}

impl ReleaseFile {
    /// Parses the address of a file. `None` if it does not look like one.
    pub fn parse(whole: &str, tags: Option<&Address>) -> Option<Self> {
        let path = whole.split('?').next()?;
        let file = path.rsplit('/').next()?;
        if !is_only_file(file) && !is_archive(file) {
            return None;
        }
        if let Some(found) = Self::of_forge(path) {
            return Some(found);
        }
        let has_place = whole.contains("{version}") || whole.contains("{tag}");
        Some(Self {
            template: whole.to_owned(),
            literal: None,
            named: None,
            tags: tags.filter(|_| has_place).cloned(),
            is_of_forge: false,
            is_tag_escaped: false,
        })
    }

    /// A file of a release of GitHub, Gitea or GitLab.
    fn of_forge(whole: &str) -> Option<Self> {
        let (repository, tag, file, folder) =
            if let Some((repository, rest)) = whole.split_once("/-/releases/") {
                let (tag, file) = rest.split_once("/downloads/")?;
                let tag = Some(tag).filter(|tag| *tag != "permalink/latest");
                let folder = format!("{repository}/-/releases/{{tag}}/downloads/");
                (repository, tag, file, folder)
            } else {
                let (repository, rest) = whole.split_once("/releases/")?;
                let folder = format!("{repository}/releases/download/{{tag}}/");
                match rest.strip_prefix("latest/download/") {
                    Some(file) => (repository, None, file, folder),
                    None => {
                        let (tag, file) = rest.strip_prefix("download/")?.rsplit_once('/')?;
                        (repository, Some(tag), file, folder)
                    }
                }
            };
        // GitHub and Gitea have two folders before the releases.
        let folders = repository.splitn(4, '/').nth(3)?.split('/').count();
        if folders < 2 || file.is_empty() || tag == Some("") {
            return None;
        }
        let tags = Address::parse(repository, &Surroundings::default()).ok()?;
        let is_tag_escaped = tag.is_some_and(|tag| tag.to_ascii_lowercase().contains("%2f"));
        let named = tag.filter(|tag| *tag != "{tag}").map(decoded);
        let pattern = named
            .as_deref()
            .map_or(file.to_owned(), |tag| pattern(file, tag));
        let literal = (pattern != file).then(|| format!("{folder}{file}"));
        Some(Self {
            template: format!("{folder}{pattern}"),
            literal,
            named,
            tags: Some(tags),
            is_of_forge: true,
            is_tag_escaped,
        })
    }

    /// The address, as the name of the source of all releases.
    pub fn template(&self) -> &str {
        &self.template
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        let path = self.template.split('?').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether the address of a release says which release it is of, so that a lock needs no name after it.
    pub fn is_of_forge(&self) -> bool {
        self.is_of_forge
    }

    /// The addresses that the file of a release may have, the most likely first.
    pub fn addresses(&self, tag: &str) -> Vec<String> {
        if self.tags.is_none() {
            return vec![self.template.clone()];
        }
        let shown = if self.is_tag_escaped {
            tag.replace('/', "%2F")
        } else {
            tag.to_owned()
        };
        let at = |template: &String| {
            let template = template.replace("{tag}", &shown);
            template.replace("{version}", number(tag))
        };
        let mut addresses = vec![at(&self.template)];
        let literal = self.literal.as_ref().map(at);
        addresses.extend(literal.filter(|literal| *literal != addresses[0]));
        addresses
    }
}

/// The name of a file with places for the tag, or for its number.
fn pattern(file: &str, tag: &str) -> String {
    let replaced = replace_word(file, tag, "{tag}");
    if replaced != file {
        return replaced;
    }
    replace_word(file, number(tag), "{version}")
}

/// The number of a tag: `1.2.0` of `v1.2.0` and `chart-v1.2.0`.
fn number(tag: &str) -> &str {
    let release = ReleaseName::parse(tag);
    let number = &tag[release.map_or(0, |release| release.words()[0].len())..];
    let is_number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    match number.strip_prefix('v') {
        Some(rest) if is_number(rest) => rest,
        _ => number,
    }
}

/// Replaces a word that is not a part of a longer number, as the 2 of `v1beta2` is.
fn replace_word(text: &str, old: &str, new: &str) -> String {
    if old.is_empty() {
        return text.to_owned();
    }
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let (start, after) = (&rest[..at], &rest[at + old.len()..]);
        let before = &text[..text.len() - rest.len() + at];
        let is_number = |c: char| c.is_ascii_digit();
        let without_word = before.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let begins = !before.ends_with(|c: char| is_number(c) || c == '.')
            && (without_word == before || !without_word.ends_with(is_number));
        let mut next = after.chars();
        let ends = match (next.next(), next.next()) {
            (Some('.'), Some(c)) => !is_number(c),
            (Some(c), _) => !c.is_ascii_alphanumeric(),
            (None, _) => true,
        };
        replaced.push_str(start);
        replaced.push_str(if begins && ends { new } else { old });
        rest = after;
    }
    replaced + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(address: &str) -> ReleaseFile {
        ReleaseFile::parse(address, None).expect("a file")
    }

    #[test]
    fn the_releases_of_a_forge_are_the_tags_of_its_repository() {
        for (address, repository, named, first) in [
            (
                "https://github.com/o/r/releases/download/v1.0.0/install.yaml",
                "https://github.com/o/r",
                Some("v1.0.0"),
                "https://github.com/o/r/releases/download/v1.1.0/install.yaml",
            ),
            (
                "https://github.com/o/r/releases/latest/download/install.yaml",
                "https://github.com/o/r",
                None,
                "https://github.com/o/r/releases/download/v1.1.0/install.yaml",
            ),
            (
                "https://github.com/o/r/releases/download/v1.0.0/app-v1.0.0.yaml?x=1",
                "https://github.com/o/r",
                Some("v1.0.0"),
                "https://github.com/o/r/releases/download/v1.1.0/app-v1.1.0.yaml",
            ),
            (
                "https://github.com/o/r/releases/download/v1.0.0/app_1.0.0.tar.gz",
                "https://github.com/o/r",
                Some("v1.0.0"),
                "https://github.com/o/r/releases/download/v1.1.0/app_1.1.0.tar.gz",
            ),
            (
                "https://gitlab.com/g/s/r/-/releases/v1.0.0/downloads/a/install.yaml",
                "https://gitlab.com/g/s/r",
                Some("v1.0.0"),
                "https://gitlab.com/g/s/r/-/releases/v1.1.0/downloads/a/install.yaml",
            ),
            (
                "http://127.0.0.1:8000/o/r/releases/download/v1.0.0/i.yaml",
                "http://127.0.0.1:8000/o/r",
                Some("v1.0.0"),
                "http://127.0.0.1:8000/o/r/releases/download/v1.1.0/i.yaml",
            ),
        ] {
            let file = parsed(address);
            assert_eq!(file.tags.as_ref().map(Address::as_str), Some(repository));
            assert_eq!(file.named.as_deref(), named);
            assert_eq!(file.addresses("v1.1.0")[0], first);
            // The name of the source is a source.
            let again = parsed(file.template());
            assert_eq!(again.template(), file.template());
            assert_eq!(again.addresses("v1.1.0")[0], first);
        }
    }

    #[test]
    fn a_tag_with_a_folder_is_written_as_in_the_address() {
        let file = parsed("https://github.com/o/r/releases/download/cli%2Fv1.0.0/cli_v1.0.0.yaml");
        assert_eq!(file.named.as_deref(), Some("cli/v1.0.0"));
        assert_eq!(
            file.addresses("cli/v1.1.0")[0],
            "https://github.com/o/r/releases/download/cli%2Fv1.1.0/cli_v1.1.0.yaml"
        );
        let file = parsed("https://github.com/o/r/releases/download/cli/v1.0.0/a.yaml");
        assert_eq!(
            file.addresses("cli/v2")[0],
            "https://github.com/o/r/releases/download/cli/v2/a.yaml"
        );
    }

    #[test]
    fn numbers_in_a_name_are_replaced_completely() {
        for (file, tag, new, expected) in [
            ("app-1.0.0.yaml", "v1.0.0", "v1.1.0", "app-1.1.0.yaml"),
            ("app-11.0.0.yaml", "v1.0.0", "v1.1.0", "app-11.0.0.yaml"),
            ("app-1.0.0.1.yaml", "v1.0.0", "v1.1.0", "app-1.0.0.1.yaml"),
            ("crds-v1beta1.yaml", "v1", "v2", "crds-v1beta1.yaml"),
            ("crds-v1-v1beta1.yaml", "v1", "v2", "crds-v2-v1beta1.yaml"),
            ("app1.0.0.yaml", "v1.0.0", "v1.1.0", "app1.1.0.yaml"),
            (
                "k8s-1.0.0-linux.yaml",
                "chart-1.0.0",
                "chart-1.1.0",
                "k8s-1.1.0-linux.yaml",
            ),
            ("v1.0.0.yaml", "v1.0.0", "v1.1.0-rc.1", "v1.1.0-rc.1.yaml"),
        ] {
            let address = format!("https://github.com/o/r/releases/download/{tag}/{file}");
            let found = parsed(&address).addresses(new).remove(0);
            assert!(found.ends_with(&format!("/{expected}")), "{found}");
        }
    }

    #[test]
    fn any_other_file_is_one_release_or_has_a_placeholder_for_the_number() {
        let file = parsed("https://e.com/app-1.0.0.tgz");
        assert_eq!(file.tags, None);
        assert_eq!(file.addresses(""), ["https://e.com/app-1.0.0.tgz"]);
        let tags =
            Address::parse("https://e.com/r", &Surroundings::default()).expect("a repository");
        for (template, expected) in [
            (
                "https://e.com/app-{version}.tgz",
                "https://e.com/app-1.1.0.tgz",
            ),
            (
                "https://e.com/{tag}/app.yaml",
                "https://e.com/v1.1.0/app.yaml",
            ),
        ] {
            let file = ReleaseFile::parse(template, Some(&tags)).expect("a file");
            assert_eq!(file.addresses("v1.1.0"), [expected]);
        }
        for other in ["https://e.com/r", "https://e.com/", "https://e.com/a.zip"] {
            assert_eq!(ReleaseFile::parse(other, None), None, "{other}");
        }
    }
}

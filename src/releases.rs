//! The tags and branches of a repository, as `git ls-remote` lists them, and the search for a requested revision.

use std::collections::{BTreeMap, BTreeSet};

use krm_address::release_name::ReleaseName;
use krm_core::config::UsageError;
use krm_follow::range;
use krm_upstream::git::Revision;
use krm_upstream::{SourceOutsideGit, open};

use super::failure::{Failure, Result};
use super::print::warning;
use super::source::unreadable;

/// A tag or branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedReference {
    /// The name without the folder of the package, as a user writes it.
    pub(crate) short: String,
    /// The name of the tag or branch, with the folder.
    pub(crate) name: String,
    /// `refs/tags/...`, or the flag for an archive or image.
    pub(crate) full_name: String,
    /// Its commit, or the digest of an archive or image.
    pub(crate) commit: String,
    /// The object of an annotated tag, which kpt may record in place of the commit.
    pub(crate) tag_object: Option<String>,
}

impl ListedReference {
    /// Whether it points to the commit that a lock records.
    pub(crate) fn is_at(&self, locked: &str) -> bool {
        self.commit == locked || self.tag_object.as_deref() == Some(locked)
    }

    pub(crate) fn is_branch(&self) -> bool {
        self.full_name.starts_with("refs/heads/")
    }

    pub(crate) fn is_tag(&self) -> bool {
        self.full_name.starts_with("refs/tags/")
    }

    /// Its name as a release.
    pub(crate) fn release(&self) -> Option<ReleaseName> {
        ReleaseName::parse(&self.name)
    }

    /// The revision with the names that a Kptfile records.
    pub(crate) fn revision(&self) -> Revision {
        let is_git = self.full_name.starts_with("refs/");
        let name = if is_git { &self.short } else { &self.full_name };
        Revision {
            lock_ref: self.name.clone(),
            ..Revision::named(name, self.commit.clone())
        }
    }
}

/// The tags and branches of a repository, with short names for a package directory: the tag `web/v1` is `v1` for the
/// directory `web`.
#[derive(Debug, Default)]
pub(crate) struct Releases {
    /// Tags whose names are releases with the same words, lowest first. They are from the nearest folder that has any.
    versions: Vec<(ReleaseName, ListedReference)>,
    /// All tags and branches, in the order in which a name is looked up.
    all: Vec<ListedReference>,
    /// The default branch, or the only archive or image.
    head: Option<ListedReference>,
}

impl Releases {
    /// Parses the output of `git ls-remote`.
    pub(crate) fn read(listed: &str, directory: &str) -> Self {
        let lines = ReferenceLine::all(listed);
        let reference = |short: &str, name: &str, line: &ReferenceLine<'_>| ListedReference {
            short: short.to_owned(),
            name: name.to_owned(),
            full_name: line.name.to_owned(),
            commit: line.commit.to_owned(),
            tag_object: line.tag_object.map(str::to_owned),
        };
        let mut releases = Self::default();
        let mut folder = directory;
        loop {
            let mut found = Vec::new();
            for line in &lines {
                let Some(name) = line.name.strip_prefix("refs/tags/") else {
                    continue;
                };
                let short = match folder {
                    "" => Some(name),
                    folder => name.strip_prefix(folder).and_then(|n| n.strip_prefix('/')),
                };
                if let Some(short) = short {
                    found.push(reference(short, name, line));
                }
            }
            if releases.versions.is_empty() {
                let tags = found.iter().filter(|found| !found.short.contains('/'));
                releases.versions = ordered(tags, |one| {
                    let name = ReleaseName::parse(&one.short)?;
                    (name.words() == ["", ""]).then_some(name)
                });
            }
            releases.all.extend(found);
            if folder.is_empty() {
                break;
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
        if releases.versions.is_empty() {
            releases.versions = releases.with_words(directory);
        }
        for line in &lines {
            if let Some(name) = line.name.strip_prefix("refs/heads/") {
                releases.all.push(reference(name, name, line));
            }
        }
        let head = lines.iter().find(|line| line.name == "HEAD");
        releases.head = head.and_then(|head| {
            let is_head = |one: &&ListedReference| one.commit == head.commit && one.is_branch();
            let mut branches = releases.all.iter().filter(is_head);
            let usual = |one: &&ListedReference| ["main", "master"].contains(&one.name.as_str());
            let usual = branches.clone().find(usual);
            usual.or_else(|| branches.next()).cloned()
        });
        releases
    }

    /// The archives in one directory, or the tags of an image layout. Those that cannot be read are left out, with a
    /// warning.
    pub(crate) fn of_files(files: &SourceOutsideGit, folder: &str) -> Result<Self> {
        let mut all = SourceOutsideGit {
            folder: folder.to_owned(),
            ..files.clone()
        }
        .releases()
        .map_err(unreadable)?;
        if all.is_empty() {
            all.push((files.address.clone(), files.with_folder(folder)));
        }
        let reference = |(name, flag): (String, String)| {
            let found = open(&flag).and_then(|found| {
                found.ok_or_else(|| {
                    UsageError::of(format!("expected an archive, found none: {flag}"))
                })
            });
            let found = found.inspect_err(|error| {
                warning(format_args!("left out the release {name}: {error}"));
            });
            let id = found.ok()?.id();
            Some(ListedReference {
                short: name.clone(),
                name,
                commit: id.strip_prefix("digest ")?.to_owned(),
                full_name: flag,
                tag_object: None,
            })
        };
        let all: Vec<ListedReference> = all.into_iter().filter_map(reference).collect();
        Ok(Self::of(all))
    }

    /// Releases that are no tags of a repository, in the order in which a name is looked up.
    pub(crate) fn of(all: Vec<ListedReference>) -> Self {
        let mut releases = Self {
            versions: ordered(all.iter(), |one| {
                one.release().filter(|name| name.words() == ["", ""])
            }),
            head: match &all[..] {
                [only] => Some(only.clone()),
                _ => None,
            },
            all,
        };
        if releases.versions.is_empty() {
            releases.versions = releases.with_words("");
        }
        releases
    }

    /// The releases of a repository whose releases all have words around their numbers: those named after the package's
    /// directory (`web-1.2.0`), otherwise all, if they have the same words.
    fn with_words(&self, directory: &str) -> Vec<(ReleaseName, ListedReference)> {
        let own = directory.rsplit('/').next().unwrap_or_default();
        let prefix = format!("{own}-");
        let tags = || self.distinct().filter(|one| !one.is_branch());
        let named = ordered(tags(), |one| {
            one.release().filter(|name| name.words() == [&prefix, ""])
        });
        if !own.is_empty() && !named.is_empty() {
            return named;
        }
        let all = ordered(tags(), |one| {
            one.release().filter(|name| !name.words()[0].contains('/'))
        });
        let is_alike = all
            .windows(2)
            .all(|two| two[0].0.words() == two[1].0.words());
        if is_alike { all } else { Vec::new() }
    }

    /// Each tag and branch once, under the name that is looked up first.
    fn distinct(&self) -> impl Iterator<Item = &ListedReference> {
        let mut known = BTreeSet::new();
        let all = self.all.iter();
        all.filter(move |one| known.insert(one.full_name.as_str()))
    }

    /// Counts as releases the tags that have the words of the one that a package follows: the tags `chart-1.3.0` and
    /// `chart-1.4.0` for the tag `chart-1.2.0`.
    pub(crate) fn follow(&mut self, tag: Option<&str>) {
        let Some(own) = tag.and_then(|tag| self.release_named(tag)) else {
            return;
        };
        let versions = self.with_words_of(&own);
        if !versions.is_empty() {
            self.versions = versions;
        }
    }

    /// The newest final release of each kind of names, without the tags of other packages: `v1.3.0+k3s1`, `chart-2.0.0`.
    pub(crate) fn newest_of_each_kind(&self) -> Vec<&str> {
        let mut newest: BTreeMap<[String; 2], (ReleaseName, &str)> = BTreeMap::new();
        for tag in self.distinct().filter(|one| !one.is_branch()) {
            let Some(release) = tag.release().filter(ReleaseName::is_final) else {
                continue;
            };
            let words = release.words().map(str::to_owned);
            let is_newer = |known: &(ReleaseName, &str)| known.0.order(&release).is_lt();
            if !words[0].contains('/') && newest.get(&words).is_none_or(is_newer) {
                newest.insert(words, (release, &tag.short));
            }
        }
        newest.into_values().map(|(_, name)| name).collect()
    }

    /// The full names of all tags and branches.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|one| one.name.as_str())
    }

    /// Leaves out a release that has nothing of the package.
    pub(crate) fn forget(&mut self, name: &str) {
        self.versions.retain(|(_, one)| one.name != name);
        self.all.retain(|one| one.name != name);
    }

    /// Says which digest a release has.
    pub(crate) fn set_digest(&mut self, name: &str, digest: &str) {
        let listed = self.versions.iter_mut().map(|(_, one)| one);
        for one in listed.chain(&mut self.all).filter(|one| one.name == name) {
            digest.clone_into(&mut one.commit);
        }
    }

    /// Leaves out releases that do not count. They can still be named.
    pub(crate) fn leave_out(&mut self, is_out: impl Fn(&str) -> bool) {
        self.versions.retain(|(_, release)| !is_out(&release.short));
    }

    /// The releases with the words of another one, lowest first.
    pub(crate) fn with_words_of(&self, own: &ReleaseName) -> Vec<(ReleaseName, ListedReference)> {
        ordered(self.distinct().filter(|one| !one.is_branch()), |one| {
            one.release().filter(|name| name.words() == own.words())
        })
    }

    /// The name of a tag as a release. The tag may be gone. `None` for a branch.
    pub(crate) fn release_named(&self, tag: &str) -> Option<ReleaseName> {
        match self.named(tag) {
            Some(branch) if branch.is_branch() => None,
            Some(tag) => tag.release(),
            None => ReleaseName::parse(tag),
        }
    }

    /// Whether they are the tags and branches of a repository.
    pub(crate) fn is_git(&self) -> bool {
        let mut all = self.all.iter();
        all.any(|one| one.is_tag() || one.is_branch())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The newest final release.
    pub(crate) fn newest(&self) -> Option<&ListedReference> {
        self.finals(|_| true).pop()
    }

    /// The final releases whose names fit, lowest first.
    pub(crate) fn finals(&self, fits: impl Fn(&ReleaseName) -> bool) -> Vec<&ListedReference> {
        let found = self.versions.iter();
        let found = found.filter(|(version, _)| version.is_final() && fits(version));
        found.map(|(_, reference)| reference).collect()
    }

    /// The release with this name. `None` if the name is not a release.
    pub(crate) fn version_of(&self, name: &str) -> Option<&ReleaseName> {
        let named = self.named(name)?;
        let mut versions = self.versions.iter();
        let found = versions.find(|(_, release)| release == named);
        found.map(|(version, _)| version)
    }

    pub(crate) fn head(&self) -> Option<&ListedReference> {
        self.head.as_ref()
    }

    /// The tag or branch with this short, plain or full name.
    pub(crate) fn named(&self, name: &str) -> Option<&ListedReference> {
        let same =
            |one: &&ListedReference| one.short == name || one.name == name || one.full_name == name;
        self.all.iter().find(same)
    }

    /// A tag or branch at a commit.
    pub(crate) fn at(&self, commit: &str) -> Option<&ListedReference> {
        self.all.iter().find(|one| one.commit == commit)
    }

    /// The revision for a request: the name of a tag or branch, `latest`, a range, or the beginning of a version.
    pub(crate) fn requested(&self, request: &str) -> Option<&ListedReference> {
        if let Some(named) = self.named(request) {
            return Some(named);
        }
        if request == "latest" {
            let last = || self.versions.last().map(|(_, reference)| reference);
            return self.newest().or_else(last);
        }
        let range = range(request)?;
        let fits = |(version, _): &&(ReleaseName, ListedReference)| {
            version
                .semver()
                .is_some_and(|version| range.matches(&version))
        };
        let found = self.versions.iter().rev().find(fits);
        found.map(|(_, reference)| reference)
    }

    /// The error for a revision that does not exist, with the most similar names.
    pub(crate) fn not_found(&self, request: &str, address: &str) -> Failure {
        let distance = |name: &str| {
            let same = name
                .bytes()
                .zip(request.bytes())
                .take_while(|(a, b)| a == b);
            std::cmp::Reverse(same.count())
        };
        let mut names: Vec<&str> = self.all.iter().map(|one| one.short.as_str()).collect();
        names.sort_by_key(|name| (distance(name), name.len()));
        names.dedup();
        names.truncate(4);
        let message = format!(
            "{address} has no revision `{request}`; the nearest are {}",
            names.join(", ")
        );
        Failure::new(message)
    }
}

/// The references whose names are releases, lowest first.
fn ordered<'r>(
    references: impl Iterator<Item = &'r ListedReference>,
    release: impl Fn(&ListedReference) -> Option<ReleaseName>,
) -> Vec<(ReleaseName, ListedReference)> {
    let versions = references.filter_map(|one| Some((release(one)?, one.clone())));
    let mut versions: Vec<_> = versions.collect();
    versions.sort_by(|(a, _), (b, _)| a.order(b));
    versions
}

/// A line of the output of `git ls-remote`.
struct ReferenceLine<'l> {
    name: &'l str,
    commit: &'l str,
    tag_object: Option<&'l str>,
}

impl<'l> ReferenceLine<'l> {
    /// The references, annotated tags with the commits that they point to.
    fn all(listed: &'l str) -> Vec<Self> {
        let mut lines: Vec<Self> = Vec::new();
        for line in listed.lines() {
            let Some((commit, name)) = line.split_once('\t') else {
                continue;
            };
            match (name.strip_suffix("^{}"), lines.last_mut()) {
                (Some(name), Some(last)) if last.name == name => {
                    last.tag_object = Some(std::mem::replace(&mut last.commit, commit));
                }
                _ => lines.push(ReferenceLine {
                    name,
                    commit,
                    tag_object: None,
                }),
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "1\tHEAD\n1\trefs/heads/dev\n1\trefs/heads/main\n2\trefs/tags/v1.0.0\n\
        3\trefs/tags/v1.1.0\n4\trefs/tags/v1.1.0^{}\n5\trefs/tags/v1.1.3\n6\trefs/tags/v2.0.0-rc.1\n\
        7\trefs/tags/web/v3\n8\trefs/tags/web/v10\n";

    fn requested(directory: &str, request: &str) -> Option<String> {
        let releases = Releases::read(LISTED, directory);
        releases
            .requested(request)
            .map(|found| format!("{} {}", found.name, found.commit))
    }

    #[test]
    fn revisions_that_a_request_names() {
        for (directory, request, expected) in [
            ("", "v1.1.0", Some("v1.1.0 4")),
            ("", "latest", Some("v1.1.3 5")),
            ("", "~1.1", Some("v1.1.3 5")),
            ("", "^v1", Some("v1.1.3 5")),
            ("", ">=1.0,<1.1", Some("v1.0.0 2")),
            ("", "v1.0", Some("v1.0.0 2")),
            ("", "1.x", Some("v1.1.3 5")),
            ("", "main", Some("main 1")),
            ("", "v3", None),
            ("web", "v3", Some("web/v3 7")),
            ("web", "latest", Some("web/v10 8")),
            ("web/inner", "latest", Some("web/v10 8")),
            ("other", "latest", Some("v1.1.3 5")),
            ("web", "v1.0.0", Some("v1.0.0 2")),
        ] {
            assert_eq!(
                requested(directory, request).as_deref(),
                expected,
                "{directory} {request}"
            );
        }
    }

    #[test]
    fn tags_named_like_the_followed_one_are_its_releases() {
        let listed = "1\trefs/heads/chart-9\n2\trefs/tags/chart-1.2.0\n3\trefs/tags/chart-1.10.0\n\
            4\trefs/tags/chart-1.11.0-rc.1\n5\trefs/tags/v3.0.0\n6\trefs/tags/tool-v2\n";
        for (tag, newest, version) in [
            ("chart-1.2.0", "chart-1.10.0", Some("1.2.0")),
            // A branch.
            ("chart-9", "v3.0.0", None),
            ("tool-v2", "tool-v2", Some("2.0.0")),
            ("v3.0.0", "v3.0.0", Some("3.0.0")),
            ("main", "v3.0.0", None),
        ] {
            let mut releases = Releases::read(listed, "");
            releases.follow(Some(tag));
            let found = releases.newest().map(|found| found.short.as_str());
            assert_eq!(found, Some(newest), "{tag}");
            assert_eq!(releases.requested("latest"), releases.newest(), "{tag}");
            let found = releases.version_of(tag).and_then(ReleaseName::semver);
            let found = found.map(|version| version.to_string());
            assert_eq!(found.as_deref(), version, "{tag}");
        }
    }

    #[test]
    fn the_newest_final_release_and_those_above_one() {
        let releases = Releases::read(LISTED, "");
        assert_eq!(
            releases.newest().map(|found| found.short.as_str()),
            Some("v1.1.3")
        );
        assert_eq!(
            releases.head().map(|found| found.short.as_str()),
            Some("main")
        );
        let own = ReleaseName::parse("v1.0.0").expect("a release");
        let above = releases.finals(|version| own.order(version).is_lt());
        let names: Vec<&str> = above
            .into_iter()
            .map(|found| found.short.as_str())
            .collect();
        assert_eq!(names, ["v1.1.0", "v1.1.3"]);
    }
}

//! `SOURCE[@REV]`: where a new package comes from, in the forms of kpt, kustomize and browsers.

use std::path::{Component, Path, PathBuf};

use krm_address::{Address, Credentials, Surroundings, Unexpected};
use krm_core::config::UsageError;
use krm_upstream::git::{is_repository, without_password};
use krm_upstream::{self as upstream, BrowserAddress, SourceOutsideGit};

use super::failure::{Failure, Result, command};
use super::kptfile::PackageOrigin;
use krm_remote::{NamedSource, RemoteSource};

/// A directory or file of a repository, and the requested revision.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct SourceArgument {
    /// The repository: a URL, which may have a password, or an absolute path, without `.git` at its end.
    pub(crate) repository: String,
    /// The directory or file, without `/` at its ends.
    pub(crate) path: String,
    /// The requested revision. For an archive, which is one revision, the archive itself.
    pub(crate) revision: Option<String>,
    /// The file, chart or image on another machine that it names.
    remote: Option<NamedSource>,
    /// Whether its address or path alone says the revision.
    is_of_address: bool,
    /// The address in a browser that it is. The references of the repository say where its revision ends.
    browser: Option<BrowserAddress>,
}

/// Hosts where a repository is always `OWNER/NAME`, so that the rest of a URL is a path in the repository.
const TWO_FOLDERS: [&str; 3] = ["github.com", "gitlab.com", "bitbucket.org"];

impl SourceArgument {
    pub(crate) fn parse(argument: &str) -> Result<Self> {
        Self::with_tags(argument, None)
    }

    /// Parses a source with the repository whose tags are its releases.
    pub(crate) fn with_tags(argument: &str, tags: Option<&str>) -> Result<Self> {
        if let Some(browser) = BrowserAddress::parse(argument) {
            let (revision, path) = browser.split(std::iter::empty());
            return Ok(Self {
                repository: normalized(&browser.repository),
                path: inside(&path).ok_or_else(|| wrong(argument))?,
                revision: Some(revision),
                browser: Some(browser),
                ..Self::default()
            });
        }
        if let Some(remote) = remote_source(argument, tags)? {
            return Ok(Self {
                repository: remote.source.address(),
                path: remote.inner.clone(),
                revision: remote.revision.clone(),
                is_of_address: remote.is_of_address,
                remote: Some(remote),
                browser: None,
            });
        }
        if let Some((place, query)) = argument.split_once('?')
            && let Some((key @ ("rev" | "revision" | "tag" | "version"), revision)) =
                query.split_once('=')
        {
            let place = without_password(place);
            let message = format!("expected `@REVISION` or `?ref=REVISION`, found `?{key}=`");
            let source = format!("{place}@{revision}");
            return Err(Failure::new(message).hint(command(["krmv", "get", &source])));
        }
        let (place, revision) = split_revision(argument);
        if place.ends_with(".zip") {
            let message = format!(
                "zip files are not supported: expected an archive .tar, .tgz or .tar.gz, found '{}'",
                without_password(place)
            );
            return Err(Failure::new(message).hint("krmv help get"));
        }
        if let Some(files) =
            SourceOutsideGit::parse(place).or_else(|| SourceOutsideGit::parse(argument))
        {
            return Self::of_files(files, revision);
        }
        if place.is_empty() || revision.as_deref() == Some("") {
            return Err(wrong(argument));
        }
        let (repository, path) = match authority_end(place) {
            Some(start) => remote(place, start),
            None => local(place)?,
        };
        let path = inside(&path).ok_or_else(|| wrong(argument))?;
        Ok(Self {
            repository: normalized(&repository),
            path,
            revision,
            ..Self::default()
        })
    }

    /// The requested revision, unless the address of a release file, or the path of an archive, says it alone: for a copy,
    /// that says which file it is, and not which release.
    pub(crate) fn explicit_revision(&self) -> Option<&str> {
        self.revision.as_deref().filter(|_| !self.is_of_address)
    }

    /// The archive that the user named by its path.
    pub(crate) fn named_archive(&self) -> Option<&str> {
        let is_archive = self.remote.is_none() && self.is_of_address;
        self.revision.as_deref().filter(|_| is_archive)
    }

    /// Whether it is an address copied from a browser, whose revision and path depend on the references.
    pub(crate) fn is_of_browser(&self) -> bool {
        self.browser.is_some()
    }

    /// Splits an address of a browser, with the names of all tags and branches.
    pub(crate) fn split_by<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<()> {
        if let Some(browser) = &self.browser {
            let (revision, path) = browser.split(names);
            self.path = inside(&path).ok_or_else(|| wrong(&browser.rest))?;
            self.revision = Some(revision);
        }
        Ok(())
    }

    /// How the address of a browser was understood, as a source.
    pub(crate) fn browser_note(&self) -> Option<String> {
        self.browser.as_ref()?;
        let revision = self.revision.as_deref().unwrap_or_default();
        let (repository, path) = (self.address(), &self.path);
        let end = upstream::source_end(path);
        Some(format!("read as {repository}{end}@{revision}"))
    }

    /// An archive, which is one revision, or an image layout with its tags.
    fn of_files(files: SourceOutsideGit, request: Option<String>) -> Result<Self> {
        let files = files.absolute().map_err(unreadable)?;
        let is_of_address = request.is_none() && !files.has_tags();
        let mut revision = request.or(files.release.clone());
        if !files.has_tags() {
            let flag = files.with_folder(&files.folder);
            // Report what is wrong with the archive now.
            upstream::open(&flag).map_err(unreadable)?;
            revision = Some(flag);
        }
        Ok(Self {
            repository: files.address,
            path: files.folder,
            revision,
            is_of_address,
            ..Self::default()
        })
    }

    /// Where it is, and the credentials that the user typed.
    pub(crate) fn origin(&self) -> Result<(PackageOrigin, Option<Credentials>)> {
        if let Some(origin) = self.origin_outside_git() {
            let remote = self.remote.as_ref();
            return Ok((origin, remote.and_then(|remote| remote.credentials.clone())));
        }
        let (address, credentials) = Address::typed(&self.repository).map_err(Self::refused)?;
        Ok((PackageOrigin::Git(address), credentials))
    }

    fn origin_outside_git(&self) -> Option<PackageOrigin> {
        let files = || SourceOutsideGit::parse(&self.repository).map(PackageOrigin::Files);
        match &self.remote {
            Some(remote) => Some(PackageOrigin::Remote(remote.source.clone().into())),
            None => files(),
        }
    }

    /// Where it is, if a file names it and not the user.
    pub(crate) fn origin_of_data(&self) -> Result<PackageOrigin> {
        if let Some(origin) = self.origin_outside_git() {
            return Ok(origin);
        }
        let address = Address::parse(&self.repository, &Surroundings::default());
        Ok(PackageOrigin::Git(address.map_err(Self::refused)?))
    }

    fn refused(error: Unexpected) -> Failure {
        Failure::from(error).hint("krmv help get")
    }

    /// The repository as a Kptfile names it: a password must not be committed.
    pub(crate) fn address(&self) -> String {
        without_password(&self.repository)
    }

    /// The note about a password that the Kptfile does not record.
    pub(crate) fn password_note(&self) -> Option<&'static str> {
        if let Some(remote) = &self.remote {
            let note = "the Kptfile records the address without its user and password: later commands get them from `.netrc`";
            return remote.credentials.is_some().then_some(note);
        }
        let note = "the Kptfile records the URL without its user and password: later commands get them from Git's credential helper";
        (self.address() != self.repository).then_some(note)
    }

    /// The last component of its path, or the repository's name.
    pub(crate) fn name(&self) -> String {
        if let Some(remote) = &self.remote
            && (self.path.is_empty() || remote.source.is_only_file(""))
        {
            return remote.source.package_name();
        }
        if self.path.is_empty()
            && let Some(name) = upstream::package_name(&self.repository)
        {
            return name.to_owned();
        }
        let last = if self.path.is_empty() {
            self.repository.rsplit(['/', ':']).next()
        } else {
            self.path.rsplit('/').next()
        };
        last.unwrap_or_default().to_owned()
    }
}

/// A file, chart or image on another machine. `tags` is the repository whose tags are its releases.
fn remote_source(argument: &str, tags: Option<&str>) -> Result<Option<NamedSource>> {
    let place = ["{version}", "{tag}"]
        .into_iter()
        .find(|place| argument.contains(place));
    let has_place = place.is_some();
    let Some(tags) = tags else {
        let found = RemoteSource::parse(argument, &Surroundings::default())?;
        if let (Some(place), Some(_), false) = (place, &found, argument.contains(" --tags ")) {
            let message = format!(
                "the address has the placeholder `{place}` for a release; name the repository whose tags are the releases with --tags"
            );
            return Err(Failure::new(message).hint(command(["krmv", "help", "get"])));
        }
        return Ok(found);
    };
    let tags = if authority_end(tags).is_some() {
        tags.to_owned()
    } else {
        local(tags)?.0
    };
    let with_tags = format!("{argument} --tags {tags}");
    let found = RemoteSource::parse(&with_tags, &Surroundings::default())?;
    match found {
        Some(found) if has_place => Ok(Some(found)),
        _ => {
            let message = "--tags is for the address of a file with `{version}` or `{tag}` in it";
            Err(Failure::new(message).hint(command(["krmv", "help", "get"])))
        }
    }
}

/// The failure for a source that cannot be read.
pub(crate) fn unreadable(error: UsageError) -> Failure {
    Failure::from(error).hint("krmv help get")
}

fn wrong(argument: &str) -> Failure {
    let message = format!(
        "expected a source REPOSITORY[//DIRECTORY or FILE][@REVISION] (a URL or a path), an archive, or \
         oci:LAYOUT[:TAG], found '{}'",
        without_password(argument)
    );
    Failure::new(message).hint(command(["krmv", "help", "get"]))
}

/// The address as kpt writes it: without a slash and without `.git` at its end.
fn normalized(repository: &str) -> String {
    let trimmed = repository.trim_end_matches('/');
    let short = trimmed.strip_suffix(".git").unwrap_or(trimmed);
    let short = short.trim_end_matches('/');
    if short.is_empty() { "/" } else { short }.to_owned()
}

/// Splits off the revision: `@REV`, or `?ref=REV`.
fn split_revision(argument: &str) -> (&str, Option<String>) {
    if let Some((place, revision)) = argument.split_once("?ref=") {
        return (place, Some(revision.to_owned()));
    }
    // The `@` after the user name of a URL does not begin a revision.
    let start = authority_end(argument).unwrap_or(0);
    match argument[start..].rfind('@') {
        Some(at) if !Path::new(argument).exists() => {
            let (place, revision) = argument.split_at(start + at);
            (place, Some(revision[1..].to_owned()))
        }
        _ => (argument, None),
    }
}

/// Where the path begins in a URL (`scheme://host/`) or an SSH address (`user@host:`); `None` for a path.
fn authority_end(text: &str) -> Option<usize> {
    if let Some((scheme, rest)) = text.split_once("://") {
        let start = scheme.len() + 3;
        let end = rest.find('/').unwrap_or(rest.len());
        return Some(start + end);
    }
    let (host, _) = text.split_once(':')?;
    let is_host = !host.is_empty() && !host.contains('/') && !Path::new(text).exists();
    is_host.then_some(host.len() + 1)
}

/// Splits a URL into the repository and the path in it.
fn remote(place: &str, start: usize) -> (String, String) {
    let (authority, path) = place.split_at(start);
    let split = |at: usize, skip: usize| {
        let (repository, inner) = path.split_at(at);
        (format!("{authority}{repository}"), inner[skip..].to_owned())
    };
    let from = usize::from(path.starts_with('/'));
    if let Some(at) = path[from..].find("//") {
        return split(from + at, 2);
    }
    if let Some(at) = path.find(".git/") {
        return split(at, ".git/".len());
    }
    let file = authority == "file://";
    if file && let Some((repository, inner)) = around(Path::new(path)) {
        return (format!("file://{}", repository.display()), inner);
    }
    let is_known = TWO_FOLDERS
        .iter()
        .any(|host| authority.trim_end_matches(':').ends_with(host));
    let mut slashes = path[from..].match_indices('/').map(|(at, _)| from + at);
    match slashes.nth(1).filter(|_| is_known) {
        Some(at) => split(at, 1),
        None => (place.to_owned(), String::new()),
    }
}

/// Splits a path into the repository, made absolute, and the path in it.
fn local(place: &str) -> Result<(String, String)> {
    let rest = place.trim_start_matches('/');
    let lead = place.len() - rest.len();
    let named = match rest.find("//").or_else(|| rest.find(".git/")) {
        Some(at) => {
            let (repository, inner) = place.split_at(lead + at);
            let inner = inner.strip_prefix(".git/").unwrap_or(inner);
            Some((PathBuf::from(repository), inner.to_owned()))
        }
        None => around(Path::new(place)),
    };
    // What was typed may be no path at all.
    let typed = named.as_ref().map_or(Path::new(place), |(path, _)| path);
    let missing = || {
        let shown = typed.display();
        let message = if typed.exists() {
            format!("'{shown}' is not in a Git repository")
        } else {
            format!("'{shown}' does not exist")
        };
        Failure::new(message).hint(command(["krmv", "help", "get"]))
    };
    let (repository, inner) = named.as_ref().ok_or_else(missing)?;
    let found = existing(repository).ok_or_else(missing)?;
    let absolute = found.canonicalize().map_err(|_| missing())?;
    // A mistyped word is not a path in the user's own repository.
    let own = around(Path::new(".")).and_then(|(own, _)| own.canonicalize().ok());
    if own.as_ref() == Some(&absolute) && !place.contains("//") && !Path::new(place).exists() {
        let message = format!("'{place}' does not exist");
        return Err(Failure::new(message).hint(command(["krmv", "help", "get"])));
    }
    Ok((absolute.display().to_string(), inner.clone()))
}

/// The path of a repository as given, or with `.git` appended. `None` if neither is a repository.
pub(crate) fn existing(repository: &Path) -> Option<PathBuf> {
    let with_end = PathBuf::from(format!("{}.git", repository.display()));
    [repository.to_path_buf(), with_end]
        .into_iter()
        .find(|path| is_repository(path))
}

/// The repository that contains a path, and the path in it.
fn around(path: &Path) -> Option<(PathBuf, String)> {
    for folder in path.ancestors() {
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        if let Some(repository) = existing(folder) {
            let inner = path.strip_prefix(folder).ok().or(Some(path))?;
            return Some((repository, inner.to_str()?.to_owned()));
        }
    }
    // A relative path may be deep in a work tree: search its absolute path.
    let absolute = path.canonicalize().ok()?;
    let root = absolute.ancestors().find(|folder| is_repository(folder))?;
    let inner = absolute.strip_prefix(root).ok()?.to_str()?.to_owned();
    Some((root.to_path_buf(), inner))
}

/// A path in a repository, without empty components. `None` if it leads out of the repository.
fn inside(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for component in Path::new(path.trim_matches('/')).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(argument: &str) -> (String, String, Option<String>) {
        let source = SourceArgument::parse(argument).expect(argument);
        (source.repository, source.path, source.revision)
    }

    #[test]
    fn urls_in_all_forms() {
        for (argument, repository, path, revision) in [
            ("https://e.com/o/r", "https://e.com/o/r", "", None),
            (
                "https://e.com/o/r.git@v1",
                "https://e.com/o/r",
                "",
                Some("v1"),
            ),
            (
                "https://e.com/o/r.git/web/app@web/v2",
                "https://e.com/o/r",
                "web/app",
                Some("web/v2"),
            ),
            (
                "https://me@e.com/o/r//web@v2",
                "https://me@e.com/o/r",
                "web",
                Some("v2"),
            ),
            (
                "https://github.com/o/r/web@v2",
                "https://github.com/o/r",
                "web",
                Some("v2"),
            ),
            (
                "https://e.com/r//m/install.yaml?ref=v2",
                "https://e.com/r",
                "m/install.yaml",
                Some("v2"),
            ),
            (
                "git@e.com:o/r.git/web@v2",
                "git@e.com:o/r",
                "web",
                Some("v2"),
            ),
            ("git@github.com:o/r", "git@github.com:o/r", "", None),
            (
                "ssh://git@e.com:22/o/r.git/web",
                "ssh://git@e.com:22/o/r",
                "web",
                None,
            ),
        ] {
            let expected = (repository.into(), path.into(), revision.map(str::to_owned));
            assert_eq!(parsed(argument), expected, "{argument}");
        }
    }

    #[test]
    fn paths_are_of_the_repository_around_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        std::fs::create_dir_all(root.join("cat/.git")).expect("folders");
        std::fs::create_dir_all(root.join("cat/web")).expect("folders");
        std::fs::create_dir_all(root.join("bare.git/objects")).expect("folders");
        std::fs::create_dir_all(root.join("bare.git/refs")).expect("folders");
        std::fs::write(root.join("bare.git/HEAD"), "").expect("a file");
        let at = |path: &str| format!("{}/{path}", root.display());
        for (argument, repository, path, revision) in [
            ("cat/web@v1", "cat", "web", Some("v1")),
            ("cat//web", "cat", "web", None),
            ("cat/.git/web@v1", "cat", "web", Some("v1")),
            ("cat", "cat", "", None),
            ("bare.git/web@v1", "bare", "web", Some("v1")),
            ("bare//web", "bare", "web", None),
        ] {
            let expected = (at(repository), path.to_owned(), revision.map(str::to_owned));
            assert_eq!(parsed(&at(argument)), expected, "{argument}");
        }
    }

    #[test]
    fn an_address_that_is_not_a_source_is_refused() {
        for argument in [
            "",
            "@v1",
            "https://e.com/r//../x@v1",
            "https://e.com/r@",
            "/nowhere/at/all",
        ] {
            assert!(SourceArgument::parse(argument).is_err(), "{argument}");
        }
    }

    #[test]
    fn a_package_is_named_after_its_folder() {
        let name = |argument| SourceArgument::parse(argument).expect(argument).name();
        assert_eq!(name("https://e.com/o/r.git/web/app@v1"), "app");
        assert_eq!(name("https://e.com/o/r@v1"), "r");
        assert_eq!(name("git@e.com:r"), "r");
        assert_eq!(name("https://e.com/o/r.git/a/b:c@v1"), "b:c");
    }
}

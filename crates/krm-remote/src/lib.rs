//! Sources on other machines: release files, charts of Helm repositories, images and charts in registries.
//!
//! ```text
//! helm+https://charts.example.com//app@1.2.0                      RemoteSource   what a user or a lock names
//!   listed()             1.1.0, 1.2.0, 1.3.0                      RemoteRelease  its releases
//!   fetch_release(..)    CACHE/fetched/9f86.../app-1.3.0.tgz      Fetched        one of them, on this machine
//! ```
//!
//! What was fetched is read by the readers of krm-upstream, as if it had always been on this machine.
//!
//! # Invariants
//!
//! - Content is in the cache by its digest. One that is known beforehand is compared.
//! - What has no digest beforehand gets one, and a lock records it.
//! - A password that the user typed is in no source, lock, name or error.
//!
//! # Limitations
//!
//! - The network is the user's `curl` (krm-process). Tags of a repository are listed by the [`Client`]'s `git`.
//! - An image is one image: indexes of several are refused.
//!
//! Source: contract, krmv (SOURCE).

mod cache;
mod error;
mod helm;
mod oci;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use krm_address::release_name::ReleaseName;
use krm_address::{Address, Credentials, HttpAddress, Surroundings};
use krm_core::upstream_revision::UpstreamRevision;
use krm_package::{Package, PackageFile, file_name};
use krm_process::{LARGEST_DOWNLOAD, LARGEST_LIST, Request, Response, Secret};
use krm_upstream::{ContentDigest, ReleaseFile, is_only_file, source_end, without_archive_end};

pub use error::{RemoteError, Result};
pub use helm::HelmChart;
pub use oci::OciRepository;

use cache::Cache;
use helm::ChartVersion;
use oci::{ImageReference, Registry};

/// The source of a package on another machine, without a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteSource {
    File(ReleaseFile),
    Chart(HelmChart),
    Image(OciRepository),
}

/// Separates an address from the repository with its tags.
const TAGS: &str = " --tags ";

/// What an argument or a lock names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSource {
    pub source: RemoteSource,
    /// The folder or file in an archive, chart or image.
    pub inner: String,
    pub revision: Option<String>,
    /// Whether the address alone says the revision.
    pub is_of_address: bool,
    /// What the user typed in front of the host.
    pub credentials: Option<Credentials>,
}

/// Hosts where an address with more than two folders is a path in a repository, unless it is of a release.
const FORGES: [&str; 3] = ["github.com", "gitlab.com", "bitbucket.org"];

impl RemoteSource {
    /// Parses a source. `None` if it is of another kind: a repository, or a path. An address with a place for its
    /// release names the repository with the tags at its end: `ADDRESS --tags REPOSITORY`.
    pub fn parse(text: &str, surroundings: &Surroundings) -> Result<Option<NamedSource>> {
        let (text, tags) = match text.split_once(TAGS) {
            Some((text, tags)) => (text, Some(Address::parse(tags, surroundings)?)),
            None => (text, None),
        };
        if let Some(rest) = text.strip_prefix(helm::SCHEME) {
            return chart(text, rest).map(Some);
        }
        if let Some(rest) = text.strip_prefix(oci::SCHEME) {
            return image(text, rest).map(Some);
        }
        file(text, tags.as_ref())
    }

    /// The source, as a user names it.
    pub fn address(&self) -> String {
        match self {
            Self::File(file) => file.template().to_owned(),
            Self::Chart(chart) => chart.source(),
            Self::Image(image) => image.source(),
        }
    }

    /// The name of a package made from all of it.
    pub fn package_name(&self) -> String {
        match self {
            Self::File(file) => {
                let file = file.file();
                let stem =
                    without_archive_end(file).or(file.rsplit_once('.').map(|(stem, _)| stem));
                let stem = stem.unwrap_or(file).split('{').next().unwrap_or(file);
                krm_upstream::package_name(&format!("{stem}.tgz"))
                    .unwrap_or(stem)
                    .trim_end_matches(['-', '_', 'v'])
                    .to_owned()
            }
            Self::Chart(chart) => chart.name.clone(),
            Self::Image(image) => image.name().to_owned(),
        }
    }

    /// Whether a package from it, or from a part of it, is one file.
    pub fn is_only_file(&self, inner: &str) -> bool {
        match self {
            Self::File(file) if inner.is_empty() => is_only_file(file.file()),
            _ => is_only_file(inner),
        }
    }

    /// The end of its address that names a part of it.
    fn end(&self, inner: &str) -> String {
        source_end(if self.is_only_file("") { "" } else { inner })
    }

    /// The source as arguments of krmv: it, or a part of it, at a release.
    pub fn arguments(&self, inner: &str, release: Option<&str>) -> Vec<String> {
        let end = self.end(inner);
        let revision = release.map(|release| format!("@{release}"));
        let revision = revision.unwrap_or_default();
        let (address, tags) = match self {
            Self::File(file) if file.is_of_forge() => {
                let tag = release.or(file.named.as_deref());
                let address = tag.map(|tag| file.addresses(tag).remove(0));
                (address.unwrap_or_else(|| self.address()), None)
            }
            Self::File(file) => (self.address(), file.tags.as_ref()),
            _ => (self.address(), None),
        };
        let mut arguments = vec![format!("{address}{end}{revision}")];
        if let Some(tags) = tags {
            arguments.extend(["--tags".to_owned(), tags.to_string()]);
        }
        arguments
    }

    /// The source at a release, as a lock names it: [`parse`](Self::parse) reads it again.
    fn at(&self, release: &str, inner: &str) -> String {
        let end = self.end(inner);
        match self {
            Self::File(file) if file.is_of_forge() => file.addresses(release).remove(0) + &end,
            Self::File(file) if file.tags.is_none() => file.template().to_owned() + &end,
            Self::File(_) | Self::Chart(_) => self.arguments(inner, Some(release)).join(" "),
            Self::Image(image) => {
                let sign = if release.contains(':') { '@' } else { ':' };
                let tag = release.replace('+', "_");
                format!("{}{sign}{tag}{end}", image.source())
            }
        }
    }
}

fn wrong(text: &str, expected: &'static str) -> RemoteError {
    RemoteError::NotASource {
        expected,
        found: krm_upstream::git::without_password(text),
    }
}

/// Splits off a revision: what follows the last `@` after this position.
fn split_revision(text: &str, start: usize) -> (&str, Option<String>) {
    match text[start..].rfind('@') {
        Some(at) => {
            let (place, revision) = text.split_at(start + at);
            (place, Some(revision[1..].to_owned()))
        }
        None => (text, None),
    }
}

/// A path in an archive, chart or image. `None` if it leads out.
fn inner_path(inner: &str) -> Option<String> {
    let inner = inner.trim_matches('/');
    if !inner.is_empty() {
        krm_package::check_package_path(inner).ok()?;
    }
    Some(inner.to_owned())
}

/// `helm+https://HOST/PATH//NAME[//INNER][@VERSION]`
fn chart(text: &str, rest: &str) -> Result<NamedSource> {
    let wrong = || wrong(text, "a chart helm+https://HOST/PATH//NAME[@VERSION]");
    let scheme = rest.find("://").ok_or_else(wrong)? + 3;
    let host = rest[scheme..].find('/').ok_or_else(wrong)? + scheme;
    let (place, revision) = split_revision(rest, host);
    let (repository, chart) = place.split_at(place[host..].find("//").ok_or_else(wrong)? + host);
    let chart = chart.trim_start_matches('/');
    let (name, inner) = chart.split_once("//").unwrap_or((chart, ""));
    let name = name.trim_end_matches('/');
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with(['-', '.']) || !name.chars().all(is_part) {
        return Err(wrong());
    }
    let (repository, credentials) = HttpAddress::typed(repository)?;
    Ok(NamedSource {
        source: RemoteSource::Chart(HelmChart {
            repository,
            name: name.to_owned(),
        }),
        inner: inner_path(inner).ok_or_else(wrong)?,
        revision,
        is_of_address: false,
        credentials,
    })
}

/// `oci://HOST/REPO[:TAG|@DIGEST][//INNER][@TAG]`
fn image(text: &str, rest: &str) -> Result<NamedSource> {
    let wrong = || {
        wrong(
            text,
            "an image oci://HOST/REPOSITORY[:TAG|@DIGEST][//DIRECTORY]",
        )
    };
    let (place, last) = match rest.find("//") {
        Some(at) => split_revision(rest, at),
        None => (rest, None),
    };
    let (place, inner) = place.split_once("//").unwrap_or((place, ""));
    let host = place.find('/').ok_or_else(wrong)?;
    let end = place[host..]
        .find(['@', ':'])
        .map_or(place.len(), |at| host + at);
    let (repository, reference) = place.split_at(end);
    let named = reference.get(1..).map(str::to_owned);
    let repository = OciRepository::parse(repository).ok_or_else(wrong)?;
    let revision = last.or(named);
    // It may also be a range: a tag is checked when it is fetched.
    Ok(NamedSource {
        source: RemoteSource::Image(repository),
        inner: inner_path(inner).ok_or_else(wrong)?,
        revision,
        is_of_address: false,
        credentials: None,
    })
}

/// `https://HOST/PATH/FILE[//INNER][@TAG]`
fn file(text: &str, tags: Option<&Address>) -> Result<Option<NamedSource>> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Ok(None);
    };
    let is_http = ["https", "http"].contains(&scheme);
    let Some(host) = rest.find('/').filter(|_| is_http) else {
        return Ok(None);
    };
    if rest.contains(".git/") || rest.contains("?ref=") {
        return Ok(None);
    }
    let host = scheme.len() + 3 + host;
    let ends = text[host..].match_indices('@').map(|(at, _)| host + at);
    for end in ends.chain([text.len()]) {
        let (place, revision) = text.split_at(end);
        let (address, inner) = match place[host..].find("//") {
            Some(at) => (&place[..host + at], &place[host + at..]),
            None => (place, ""),
        };
        let Some(mut file) = ReleaseFile::parse(address, tags) else {
            continue;
        };
        let name = text[..host].rsplit(['/', '@']).next().unwrap_or_default();
        let is_path = FORGES.contains(&name) && !file.is_of_forge();
        if is_path && !address.contains("/archive/") {
            return Ok(None);
        }
        let (parsed, credentials) = HttpAddress::typed(&address.replace(['{', '}'], ""))?;
        if credentials.is_some() {
            let plain = parsed.origin().to_owned() + &address[host..];
            file = ReleaseFile::parse(&plain, tags).unwrap_or(file);
        }
        if !inner.is_empty() && is_only_file(file.file()) {
            return Err(wrong(
                text,
                "a folder in an archive (`//` follows .tar, .tgz or .tar.gz)",
            ));
        }
        let revision = revision.strip_prefix('@').map(str::to_owned);
        let is_of_address = revision.is_none();
        let revision = revision.or_else(|| file.named.clone());
        let inner = if is_only_file(file.file()) {
            file.file().to_owned()
        } else {
            inner_path(inner).ok_or_else(|| wrong(text, "a folder in the archive"))?
        };
        return Ok(Some(NamedSource {
            source: RemoteSource::File(file),
            inner,
            revision,
            is_of_address,
            credentials,
        }));
    }
    Ok(None)
}

/// A release of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteRelease {
    /// The tag or version, as the source has it.
    pub name: String,
    /// The source at this release, for a lock.
    pub source: String,
    /// Its digest, if that is known before it is fetched.
    pub digest: Option<ContentDigest>,
}

/// What was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    pub digest: ContentDigest,
    /// What names it for a reader on this machine: a path, or `oci:` and the path of a layout with a digest.
    pub place: String,
}

impl Fetched {
    /// The file of a package that is one file. `inner` is its path in an archive, chart or image.
    pub fn only_file(&self, source: &RemoteSource, inner: &str) -> Result<Package> {
        let (name, bytes) = if source.is_only_file("") {
            let path = Path::new(&self.place);
            let name = path.file_name().and_then(|name| name.to_str());
            (name.unwrap_or(inner).to_owned(), std::fs::read(path)?)
        } else {
            let whole = self.open("")?.read()?;
            let bytes = whole.get(inner).map(|_| whole.read(inner)).transpose()?;
            let bytes = bytes.ok_or_else(|| RemoteError::NoFile {
                address: source.address(),
                inner: inner.to_owned(),
            })?;
            let name = file_name(inner);
            (name.to_owned(), bytes.into_owned())
        };
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| RemoteError::NotUtf8(source.address()))?;
        let file = PackageFile::of_text(&name, text);
        Ok(Package::of_one(name, file))
    }

    /// A folder of an archive, chart or image, for the readers of what is on this machine.
    pub fn open(&self, inner: &str) -> Result<Arc<dyn UpstreamRevision>> {
        let place = format!("{}{}", self.place, source_end(inner));
        let found = krm_upstream::open(&place)?;
        found.ok_or_else(|| RemoteError::UnknownForm(self.place.clone()))
    }
}

/// The program that asks: it knows the user and his `git`.
pub trait Client: fmt::Debug + Sync {
    /// Says what takes a while.
    fn says(&self, what: &str);

    /// What `git ls-remote` prints for a repository, otherwise the reason why it failed.
    fn list_references(
        &self,
        repository: &Address,
        credentials: Option<&Credentials>,
    ) -> std::result::Result<String, String>;
}

/// A source, and how it is reached.
#[derive(Debug)]
pub struct RemoteUpstream {
    pub source: RemoteSource,
    cache: Cache,
    credentials: Option<Credentials>,
    is_offline: bool,
    client: &'static dyn Client,
    /// The versions of a chart, once its index is read.
    charts: OnceLock<Vec<ChartVersion>>,
    registry: OnceLock<Registry>,
    /// The releases that were asked for and have no such file.
    missing: Mutex<BTreeSet<String>>,
}

impl RemoteUpstream {
    pub fn new(
        source: RemoteSource,
        cache: PathBuf,
        credentials: Option<Credentials>,
        is_offline: bool,
        client: &'static dyn Client,
    ) -> Self {
        Self {
            source,
            cache: Cache::new(cache),
            credentials,
            is_offline,
            client,
            charts: OnceLock::new(),
            registry: OnceLock::new(),
            missing: Mutex::default(),
        }
    }

    /// The names of the releases. An only release is named after its file.
    pub fn listed(&self, inner: &str) -> Result<Vec<RemoteRelease>> {
        let release = |name: String| RemoteRelease {
            source: self.source.at(&name, inner),
            name,
            digest: None,
        };
        match &self.source {
            RemoteSource::File(file) => match &file.tags {
                None => Ok(vec![release(only_name(file))]),
                Some(repository) => {
                    let tags = self.tags_of_git(repository)?;
                    Ok(tags.into_iter().map(release).collect())
                }
            },
            RemoteSource::Chart(_) => {
                let charts = self.charts()?.iter();
                let version = |chart: &ChartVersion| RemoteRelease {
                    digest: chart.digest.clone(),
                    ..release(chart.version.clone())
                };
                Ok(charts.map(version).collect())
            }
            RemoteSource::Image(_) => {
                let list = self.list(|| Ok(self.registry()?.tags()?.join("\n").into_bytes()))?;
                let list = String::from_utf8_lossy(&list);
                let name = |tag: &str| release(tag.replace('_', "+"));
                Ok(list.lines().map(name).collect())
            }
        }
    }

    /// Brings a release into the cache. `None` if the source has no such file. `is_new`: what was fetched earlier under
    /// this name does not count.
    pub fn fetch_release(&self, release: &str, is_new: bool) -> Result<Option<Fetched>> {
        let name = self.source.at(release, "");
        let known = self
            .cache
            .known(&name)
            .filter(|_| self.is_offline || !is_new);
        if let Some(found) = known.and_then(|digest| self.cached(&digest)) {
            return Ok(Some(found));
        }
        if self.is_offline {
            return Err(self.not_cached(&format!("the release {release}"), Some(release)));
        }
        let digest = match &self.source {
            RemoteSource::File(file) => self.fetch_file(&file.addresses(release), None)?,
            RemoteSource::Chart(_) => {
                let charts = self.charts()?.iter();
                let same = |chart: &&ChartVersion| chart.version == release;
                let Some(chart) = charts.clone().find(same) else {
                    return Ok(None);
                };
                let addresses = chart.addresses.iter().map(|one| one.as_str().to_owned());
                let addresses: Vec<String> = addresses.collect();
                self.fetch_file(&addresses, chart.digest.as_ref())?
            }
            RemoteSource::Image(image) => {
                let reference = ImageReference::parse(release);
                let reference = reference.ok_or_else(|| RemoteError::NotAReference {
                    image: image.source(),
                    found: release.to_owned(),
                })?;
                self.client.says(&format!("Fetching {name}"));
                self.registry()?.fetch(&reference, &self.cache)?
            }
        };
        let Some(digest) = digest else {
            if let Ok(mut missing) = self.missing.lock() {
                missing.insert(release.to_owned());
            }
            return Ok(None);
        };
        self.cache.keep_known(&name, &digest)?;
        Ok(self.cached(&digest))
    }

    /// What has a digest: from the cache, or else from where it was recorded. The error `ReleaseReplaced` if that has
    /// other bytes now.
    pub fn with_digest(&self, release: &str, digest: &ContentDigest) -> Result<Fetched> {
        if let Some(found) = self.cached(digest) {
            return Ok(found);
        }
        if self.is_offline {
            let what = format!("the release {release} ({})", digest.as_str());
            return Err(self.not_cached(&what, Some(release)));
        }
        if let RemoteSource::Image(_) = &self.source {
            let reference = ImageReference::Digest(digest.clone());
            if self.registry()?.fetch(&reference, &self.cache)?.is_some()
                && let Some(found) = self.cached(digest)
            {
                return Ok(found);
            }
        }
        let found = self.fetch_release(release, true)?;
        match found {
            Some(found) if found.digest == *digest => Ok(found),
            found => Err(self.replaced(release, digest, found.as_ref().map(|found| &found.digest))),
        }
    }

    /// The digest that a release has now, as far as one short request says: that of a tag, or that in an index.
    pub fn digest_now(&self, release: &str) -> Result<Option<ContentDigest>> {
        match &self.source {
            RemoteSource::Image(_) if !self.is_offline => match ImageReference::parse(release) {
                Some(ImageReference::Tag(tag)) => self.registry()?.current(&tag),
                _ => Ok(None),
            },
            RemoteSource::Chart(_) => {
                let same = |chart: &&ChartVersion| chart.version == release;
                let chart = self.charts()?.iter().find(same);
                Ok(chart.and_then(|chart| chart.digest.clone()))
            }
            _ => Ok(None),
        }
    }

    /// Where a part of what was fetched lies. A file of an archive, chart or image is unpacked.
    pub fn place_of(&self, fetched: &Fetched, inner: &str) -> Result<String> {
        if inner.is_empty() || self.source.is_only_file("") {
            return Ok(fetched.place.clone());
        }
        if !self.source.is_only_file(inner) {
            return Ok(format!("{}//{inner}", fetched.place));
        }
        let package = fetched.only_file(&self.source, inner)?;
        let name = file_name(inner);
        let (_, file) = self.cache.keep(name, &package.read(name)?)?;
        Ok(file.display().to_string())
    }

    /// The digest that a release had when it was fetched.
    pub fn known(&self, release: &str) -> Option<String> {
        let digest = self.cache.known(&self.source.at(release, ""))?;
        self.cached(&digest)?;
        Some(digest.as_str().to_owned())
    }

    /// Whether a release may have other content later, as the tag of an image may.
    pub fn can_move(&self) -> bool {
        matches!(self.source, RemoteSource::Image(_))
    }

    /// Whether a chart's repository says that a version is deprecated. Its index was read before.
    pub fn is_deprecated(&self, release: &str) -> bool {
        let mut charts = self.charts.get().into_iter().flatten();
        charts.any(|chart| chart.is_deprecated && chart.version == release)
    }

    /// Whether a release that was asked for has no such file.
    pub fn is_missing(&self, release: &str) -> bool {
        let missing = self.missing.lock();
        missing.is_ok_and(|missing| missing.contains(release))
    }

    /// A release by a name that no list has: an image's digest.
    pub fn other(&self, inner: &str, name: &str) -> Option<(String, String)> {
        let is_digest =
            matches!(self.source, RemoteSource::Image(_)) && ContentDigest::parse(name).is_some();
        let release = if is_digest {
            name.to_owned()
        } else {
            // A source at another revision, as a lock names it.
            let named = RemoteSource::parse(name, &Surroundings::default()).ok()??;
            let is_same = named.source.address() == self.source.address();
            release_of(name).filter(|_| is_same)?
        };
        Some((release.clone(), self.source.at(&release, inner)))
    }

    /// The error for a release that the source does not have.
    pub fn missing(&self, release: &str) -> RemoteError {
        let addresses = match &self.source {
            RemoteSource::File(file) => file.addresses(release),
            _ => vec![self.source.at(release, "")],
        };
        let addresses = addresses.join(" or ");
        match &self.source {
            RemoteSource::File(file) if file.tags.is_none() => RemoteError::Missing { addresses },
            _ => RemoteError::MissingRelease {
                release: release.to_owned(),
                addresses,
            },
        }
    }

    /// The error for a release whose bytes are others than those that a lock records.
    pub fn replaced(
        &self,
        release: &str,
        expected: &ContentDigest,
        found: Option<&ContentDigest>,
    ) -> RemoteError {
        RemoteError::Replaced {
            release: release.to_owned(),
            address: self.source.address(),
            expected: expected.clone(),
            found: found.cloned(),
        }
    }

    /// What the cache has with a digest.
    fn cached(&self, digest: &ContentDigest) -> Option<Fetched> {
        let place = match &self.source {
            RemoteSource::Image(_) => {
                let layout = self.cache.folder(digest).join("layout");
                let is_whole = layout.join("index.json").is_file();
                is_whole.then(|| format!("oci:{}@{}", layout.display(), digest.as_str()))?
            }
            _ => self.cache.file(digest)?.display().to_string(),
        };
        Some(Fetched {
            digest: digest.clone(),
            place,
        })
    }

    /// Fetches a file from the first of these addresses that has it.
    fn fetch_file(
        &self,
        addresses: &[String],
        expected: Option<&ContentDigest>,
    ) -> Result<Option<ContentDigest>> {
        for address in addresses {
            let address = HttpAddress::parse(address)?;
            let fetching = format!("Fetching {}", address.shown());
            self.client.says(&fetching);
            let response = self.get(&address, LARGEST_DOWNLOAD)?;
            if response.is_missing() {
                continue;
            }
            let from = address.path().split('?').next().unwrap_or_default();
            let name = from.rsplit('/').next().unwrap_or_default().to_owned();
            let bytes = response.file()?;
            if let Some(Err(reason)) = expected.map(|expected| expected.check(&bytes)) {
                return Err(RemoteError::Content { address, reason });
            }
            let is_known = is_only_file(&name) || krm_upstream::is_archive(&name);
            let name = match &self.source {
                RemoteSource::Chart(chart) if !is_known => format!("{}.tgz", chart.name),
                _ => name,
            };
            return Ok(Some(self.cache.keep(&name, &bytes)?.0));
        }
        Ok(None)
    }

    /// Gets a file as the user: what he typed goes to the host of the source alone.
    fn get(&self, address: &HttpAddress, limit: u64) -> Result<Response> {
        let mut request = Request::new(address, limit);
        let own = match &self.source {
            RemoteSource::Chart(chart) => chart.repository.origin() == address.origin(),
            RemoteSource::File(_) => true,
            RemoteSource::Image(_) => false,
        };
        if let Some(credentials) = self.credentials.as_ref().filter(|_| own) {
            request.secret = Secret::Basic(credentials.clone());
        }
        Ok(krm_process::get(&request)?)
    }

    fn charts(&self) -> Result<&[ChartVersion]> {
        if let Some(charts) = self.charts.get() {
            return Ok(charts);
        }
        let RemoteSource::Chart(chart) = &self.source else {
            return Ok(&[]);
        };
        let index = self.list(|| {
            let address = chart.index()?;
            let asking = format!("Asking {} for its charts", address.shown());
            self.client.says(&asking);
            Ok(self.get(&address, LARGEST_LIST)?.bytes()?)
        })?;
        let versions = chart.versions(&index)?;
        Ok(self.charts.get_or_init(|| versions))
    }

    fn registry(&self) -> Result<&Registry> {
        if let Some(registry) = self.registry.get() {
            return Ok(registry);
        }
        let RemoteSource::Image(image) = &self.source else {
            return Err(wrong(&self.source.address(), "an image of a registry"));
        };
        let registry = Registry::new(image)?;
        Ok(self.registry.get_or_init(|| registry))
    }

    /// The tags of a repository.
    fn tags_of_git(&self, repository: &Address) -> Result<Vec<String>> {
        let list = self.list(|| {
            self.client
                .says(&format!("Asking {repository} for its tags"));
            let typed = self.credentials.as_ref();
            let listed = self.client.list_references(repository, typed);
            let listed = listed.map_err(|reason| RemoteError::Tags {
                repository: repository.clone(),
                // Git prints a user, and a token may be the user.
                reason: typed.map_or(reason.clone(), |one| one.removed_from(&reason)),
            })?;
            Ok(listed.into_bytes())
        })?;
        let list = String::from_utf8_lossy(&list);
        let names = list
            .lines()
            .filter_map(|line| line.split_once("\trefs/tags/"));
        let names = names.filter(|(_, name)| !name.ends_with("^{}"));
        Ok(names.map(|(_, name)| name.to_owned()).collect())
    }

    /// A list of releases from the network, or as it was read last.
    fn list(&self, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
        let address = self.source.address();
        if self.is_offline {
            let list = self.cache.list(&address);
            return list.ok_or_else(|| self.not_cached("the list of releases", None));
        }
        let list = read()?;
        self.cache.keep_list(&address, &list)?;
        Ok(list)
    }

    fn not_cached(&self, what: &str, release: Option<&str>) -> RemoteError {
        RemoteError::NotCached {
            what: what.to_owned(),
            address: self.source.address(),
            arguments: self.source.arguments("", release),
        }
    }
}

/// The release that a lock's source names. `None` if it is of another kind.
pub fn release_of(source: &str) -> Option<String> {
    let named = RemoteSource::parse(source, &Surroundings::default()).ok()??;
    match (&named.source, named.revision) {
        (RemoteSource::Image(_), Some(tag)) => Some(tag.replace('_', "+")),
        (_, Some(revision)) => Some(revision),
        (RemoteSource::File(file), None) => Some(only_name(file)),
        (_, None) => None,
    }
}

/// The name of the only release of a file: the version in its name, or the name.
fn only_name(file: &ReleaseFile) -> String {
    let name = file.file();
    let stem = without_archive_end(name).or(name.rsplit_once('.').map(|(stem, _)| stem));
    let stem = stem.unwrap_or(name);
    match ReleaseName::parse(stem) {
        Some(release) => stem[release.words()[0].len()..].to_owned(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;

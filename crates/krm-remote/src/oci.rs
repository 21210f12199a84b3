//! Images and charts in registries: their tags, and an image with its layers as a layout in the cache.
//!
//! ```text
//! oci://ghcr.io/org/app:v1.2.0              an image at a tag
//! oci://ghcr.io/org/charts/app:1.2.0+k3s1   a tag has `_` where a version has `+`
//! oci://127.0.0.1:5000/app@sha256:9f86...   an image with a digest, of a registry on this machine (http)
//! ```

use std::sync::Mutex;

use krm_address::HttpAddress;
use serde::Deserialize;

use super::cache::Cache;
use crate::error::{RemoteError, Result};
use krm_process::{
    self, DockerLogin, LARGEST_DOWNLOAD, LARGEST_LIST, Login, MOST_PAGES, Refresh, RegistryToken,
    Request, Response, Secret,
};
use krm_upstream::ContentDigest;

/// How a source begins that is in a registry.
pub(crate) const SCHEME: &str = "oci://";

/// The media types of manifests and indexes.
const MANIFESTS: [&str; 4] = [
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];

/// The most bytes of a manifest.
const LARGEST_MANIFEST: u64 = 4 << 20;
/// The most layers of an image.
const MOST_LAYERS: usize = 500;
/// How deep indexes may be nested.
const MOST_INDEXES: usize = 4;

/// A repository of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OciRepository {
    /// The registry, as the user writes it.
    pub(crate) host: String,
    pub(crate) path: String,
}

/// What names an image in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ImageReference {
    Tag(String),
    Digest(ContentDigest),
}

impl ImageReference {
    /// Parses a tag, the version of a chart, or a digest. `None` if it is neither.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(digest) = ContentDigest::parse(text) {
            return Some(Self::Digest(digest));
        }
        let tag = text.replace('+', "_");
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_tag = !tag.is_empty()
            && tag.len() <= 128
            && !tag.starts_with(['.', '-'])
            && tag.bytes().all(is_part);
        is_tag.then_some(Self::Tag(tag))
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Tag(tag) => tag,
            Self::Digest(digest) => digest.as_str(),
        }
    }
}

#[derive(Deserialize)]
struct TagList {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegistryManifest {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    manifests: Option<Vec<ImageEntry>>,
    #[serde(default)]
    layers: Vec<ImageEntry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImageEntry {
    #[serde(default)]
    media_type: String,
    digest: String,
    size: u64,
    #[serde(default)]
    annotations: Option<std::collections::BTreeMap<String, String>>,
    #[serde(default)]
    platform: Option<Platform>,
}

#[derive(Debug, Clone, Deserialize)]
struct Platform {
    #[serde(default)]
    os: String,
    #[serde(default)]
    architecture: String,
}

impl ImageEntry {
    fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(name).map(String::as_str)
    }

    /// Whether it is about another image of the index, and not an image of files.
    fn is_attestation(&self) -> bool {
        let kind = self.annotation("vnd.docker.reference.type");
        let is_unknown = |platform: &Platform| platform.os == "unknown";
        kind.is_some() || self.platform.as_ref().is_some_and(is_unknown)
    }

    fn shown(&self) -> String {
        let platform = self.platform.as_ref();
        let platform = platform.map(|one| format!("{}/{}", one.os, one.architecture));
        format!("`{}`", platform.unwrap_or_else(|| self.digest.clone()))
    }
}

#[derive(Deserialize)]
struct TokenAnswer {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    access_token: Option<String>,
}

impl OciRepository {
    /// Parses `HOST/REPO`. `None` if it is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, path) = text.split_once('/')?;
        let is_part = |part: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            !part.is_empty() && !part.starts_with(['.', '-']) && part.bytes().all(is_letter)
        };
        let is_path = path.split('/').all(is_part);
        let found = Self {
            host: host.to_owned(),
            path: path.to_owned(),
        };
        let address = found.address().ok()?;
        (is_path && !host.contains('@') && address.authority() == found.server()).then_some(found)
    }

    /// The repository as a lock names it.
    pub(crate) fn source(&self) -> String {
        format!("{SCHEME}{}/{}", self.host, self.path)
    }

    /// The name of the last folder.
    pub(crate) fn name(&self) -> &str {
        krm_package::file_name(&self.path)
    }

    fn server(&self) -> &str {
        match self.host.as_str() {
            "docker.io" | "index.docker.io" => "registry-1.docker.io",
            host => host,
        }
    }

    /// The address of the registry: http on this machine, as container tools do, otherwise https.
    fn address(&self) -> Result<HttpAddress> {
        let server = self.server();
        let secure = HttpAddress::parse(&format!("https://{server}/"))?;
        if secure.is_loopback() {
            return Ok(HttpAddress::parse(&format!("http://{server}/"))?);
        }
        Ok(secure)
    }
}

/// A connection to a repository of a registry.
#[derive(Debug)]
pub(crate) struct Registry {
    repository: OciRepository,
    base: HttpAddress,
    /// Who asks, once the registry asked for it.
    secret: Mutex<Secret>,
}

impl Registry {
    pub(crate) fn new(repository: &OciRepository) -> Result<Self> {
        Ok(Self {
            repository: repository.clone(),
            base: repository.address()?,
            secret: Mutex::default(),
        })
    }

    /// The names of all tags.
    pub(crate) fn tags(&self) -> Result<Vec<String>> {
        let mut tags = Vec::new();
        let mut bytes = 0;
        let mut next = Some(self.at("tags/list?n=1000")?);
        for _ in 0..MOST_PAGES {
            let Some(address) = next.take() else {
                return Ok(tags);
            };
            let page = self.get(&address, &[], LARGEST_LIST)?;
            if page.is_missing() {
                return Err(page.refusal().into());
            }
            let link = page.header("link").and_then(next_page).map(str::to_owned);
            let address = page.address.clone();
            let body = page.bytes()?;
            bytes += body.len() as u64;
            if bytes > LARGEST_LIST {
                return Err(self.wrong(&format!(
                    "its list of tags has more than {} MB",
                    LARGEST_LIST >> 20
                )));
            }
            let list: TagList = serde_json::from_slice(&body)
                .map_err(|error| self.wrong(&format!("its list of tags: {error}")))?;
            let found = list.tags.unwrap_or_default().into_iter();
            tags.extend(
                found.filter(|tag| {
                    matches!(ImageReference::parse(tag), Some(ImageReference::Tag(_)))
                }),
            );
            next = match link {
                Some(link) => Some(
                    address
                        .join(&link)
                        .map_err(|error| self.wrong(&format!("its next page: {error}")))?,
                ),
                None => None,
            };
        }
        match next {
            None => Ok(tags),
            Some(_) => Err(self.wrong(&format!(
                "its list of tags has more than {MOST_PAGES} pages"
            ))),
        }
    }

    /// Brings an image into the cache, as a layout. `None` if there is no such image.
    pub(crate) fn fetch(
        &self,
        reference: &ImageReference,
        cache: &Cache,
    ) -> Result<Option<ContentDigest>> {
        let mut reference = reference.clone();
        for _ in 0..=MOST_INDEXES {
            if let ImageReference::Digest(digest) = &reference
                && is_whole(cache, digest)
            {
                return Ok(Some(digest.clone()));
            }
            let Some((digest, bytes)) = self.manifest(&reference)? else {
                return Ok(None);
            };
            let manifest: RegistryManifest = serde_json::from_slice(&bytes).map_err(|error| {
                self.wrong(&format!("the manifest {}: {error}", digest.as_str()))
            })?;
            match &manifest.manifests {
                None => {
                    if !is_whole(cache, &digest) {
                        self.keep(&digest, &bytes, &manifest, cache)?;
                    }
                    return Ok(Some(digest));
                }
                Some(images) => reference = ImageReference::Digest(self.only_image(images)?),
            }
        }
        Err(self.wrong(&format!("indexes nested more than {MOST_INDEXES} deep")))
    }

    /// The digest of the image that a tag has now. `None` if there is no such tag.
    pub(crate) fn current(&self, tag: &str) -> Result<Option<ContentDigest>> {
        let mut reference = ImageReference::Tag(tag.to_owned());
        for _ in 0..=MOST_INDEXES {
            let Some((digest, bytes)) = self.manifest(&reference)? else {
                return Ok(None);
            };
            let manifest: Option<RegistryManifest> = serde_json::from_slice(&bytes).ok();
            match manifest.and_then(|manifest| manifest.manifests) {
                Some(images) => reference = ImageReference::Digest(self.only_image(&images)?),
                None => return Ok(Some(digest)),
            }
        }
        Ok(None)
    }

    /// A manifest or an index, with its digest. `None` if there is none.
    fn manifest(&self, reference: &ImageReference) -> Result<Option<(ContentDigest, Vec<u8>)>> {
        let address = self.at(&format!("manifests/{}", reference.as_str()))?;
        let response = self.get(&address, &MANIFESTS, LARGEST_MANIFEST)?;
        if response.is_missing() {
            return Ok(None);
        }
        let bytes = response.bytes()?;
        if let ImageReference::Digest(expected) = reference {
            let checked = expected.check(&bytes);
            checked.map_err(|what| self.wrong(&what))?;
        }
        Ok(Some((ContentDigest::of(&bytes), bytes)))
    }

    /// The only image of an index.
    fn only_image(&self, images: &[ImageEntry]) -> Result<ContentDigest> {
        let images: Vec<&ImageEntry> = images.iter().filter(|one| !one.is_attestation()).collect();
        let [image] = images[..] else {
            let names: Vec<String> = images.iter().take(20).map(|image| image.shown()).collect();
            let names = if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            };
            return Err(self.wrong(&format!("expected an index of one image, found {names}")));
        };
        ContentDigest::read(&image.digest).map_err(|what| self.wrong(&what))
    }

    /// Fetches the layers of an image and writes its layout; the file that a reader begins with comes last.
    fn keep(
        &self,
        digest: &ContentDigest,
        bytes: &[u8],
        manifest: &RegistryManifest,
        cache: &Cache,
    ) -> Result<()> {
        // Layers without files are not read, such as the provenance of a chart.
        let is_read = |layer: &&ImageEntry| {
            let title = layer.annotation("org.opencontainers.image.title");
            layer.media_type.contains("tar") || title.is_some()
        };
        let layers: Vec<&ImageEntry> = manifest.layers.iter().filter(is_read).collect();
        let total = layers
            .iter()
            .fold(0u64, |total, layer| total.saturating_add(layer.size));
        if layers.len() > MOST_LAYERS || total > LARGEST_DOWNLOAD {
            let limit = LARGEST_DOWNLOAD >> 20;
            return Err(self.wrong(&format!(
                "expected at most {MOST_LAYERS} layers with {limit} MB, found more"
            )));
        }
        let folder = cache.folder(digest).join("layout");
        let blob = |digest: &ContentDigest| folder.join("blobs/sha256").join(digest.hex());
        for layer in layers {
            let expected = ContentDigest::read(&layer.digest);
            let expected = expected.map_err(|what| self.wrong(&what))?;
            let address = self.at(&format!("blobs/{}", expected.as_str()))?;
            let bytes = self.get(&address, &[], layer.size.max(1))?.bytes()?;
            let checked = expected.check(&bytes);
            checked.map_err(|what| self.wrong(&what))?;
            cache.write(&blob(&expected), &bytes)?;
        }
        cache.write(&blob(digest), bytes)?;
        let media_type = if manifest.media_type.is_empty() {
            MANIFESTS[0]
        } else {
            &manifest.media_type
        };
        let index = serde_json::json!({"schemaVersion": 2, "manifests": [
            {"mediaType": media_type, "digest": digest.as_str(), "size": bytes.len()}]});
        cache.write(
            &folder.join("oci-layout"),
            b"{\"imageLayoutVersion\":\"1.0.0\"}",
        )?;
        cache.write(&folder.join("index.json"), index.to_string().as_bytes())
    }

    /// An address below the repository.
    fn at(&self, path: &str) -> Result<HttpAddress> {
        let repository = &self.repository.path;
        let is_hub = self.base.host() == "registry-1.docker.io" && !repository.contains('/');
        let folder = if is_hub { "library/" } else { "" };
        Ok(self
            .base
            .join(&format!("/v2/{folder}{repository}/{path}"))?)
    }

    /// Asks the registry, and once more as the user if it wants to know who asks.
    fn get(&self, address: &HttpAddress, accept: &[&'static str], limit: u64) -> Result<Response> {
        let response = self.ask(address, accept, limit)?;
        if response.status != 401 {
            return Ok(response);
        }
        let Some(secret) = self.secret_for(&response)? else {
            return Ok(response);
        };
        if let Ok(mut known) = self.secret.lock() {
            *known = secret;
        }
        self.ask(address, accept, limit)
    }

    fn ask(&self, address: &HttpAddress, accept: &[&'static str], limit: u64) -> Result<Response> {
        let mut request = Request::new(address, limit);
        request.accept = accept;
        if address.origin() == self.base.origin()
            && let Ok(secret) = self.secret.lock()
        {
            request.secret = secret.clone();
        }
        Ok(krm_process::get(&request)?)
    }

    /// Who asks, in the form that the registry wants. `None` if the user has no login.
    fn secret_for(&self, refusal: &Response) -> Result<Option<Secret>> {
        let login = DockerLogin::read().at(&self.repository.host);
        let challenge = refusal.header("www-authenticate").unwrap_or_default();
        let Some(parameters) = scheme_of(challenge, "Bearer") else {
            return Ok(match login {
                Some(Login::Password(credentials)) => Some(Secret::Basic(credentials)),
                _ => None,
            });
        };
        let value = |name: &str| parameter(parameters, name).unwrap_or_default();
        let realm = self.base.join(&value("realm"));
        let realm = realm.map_err(|error| self.wrong(&format!("its `realm`: {error}")))?;
        let (service, mut scope) = (value("service"), value("scope"));
        if scope.is_empty() {
            scope = format!("repository:{}:pull", self.repository.path);
        }
        let login = login.filter(|_| is_of_registry(&realm, &self.base));
        let query = format!("service={}&scope={}", escaped(&service), escaped(&scope));
        let sign = if realm.as_str().contains('?') {
            '&'
        } else {
            '?'
        };
        let with_query = HttpAddress::parse(&format!("{realm}{sign}{query}"))?;
        let mut request = Request::new(&with_query, LARGEST_MANIFEST);
        match &login {
            Some(Login::Password(credentials)) => {
                request.secret = Secret::Basic(credentials.clone())
            }
            Some(Login::Identity(token)) => {
                request.address = &realm;
                request.refresh = Some(Refresh {
                    token,
                    service,
                    scope,
                });
            }
            None => {}
        }
        let answer = krm_process::get(&request)?;
        if matches!(answer.status, 401 | 403) {
            return Ok(None);
        }
        let answer: TokenAnswer = serde_json::from_slice(&answer.bytes()?)
            .map_err(|error| self.wrong(&format!("its token: {error}")))?;
        let token = answer.token.or(answer.access_token).unwrap_or_default();
        let token = RegistryToken::parse(&token)
            .ok_or_else(|| self.wrong("expected a token, found none"))?;
        Ok(Some(Secret::Bearer(token)))
    }

    fn wrong(&self, what: &str) -> RemoteError {
        RemoteError::Registry {
            image: format!("{}/{}", self.repository.host, self.repository.path),
            reason: what.to_owned(),
        }
    }
}

/// Whether an image is in the cache, with all that is read of it.
fn is_whole(cache: &Cache, digest: &ContentDigest) -> bool {
    cache.folder(digest).join("layout/index.json").is_file()
}

/// Whether the user's password for a registry may go to its `realm`: the same host, or one of the same domain.
fn is_of_registry(realm: &HttpAddress, registry: &HttpAddress) -> bool {
    if realm.authority() == registry.authority() {
        return true;
    }
    let domain = |address: &HttpAddress| {
        let name = address.host().to_ascii_lowercase();
        let is_name = name
            .rsplit('.')
            .next()?
            .starts_with(|c: char| c.is_ascii_alphabetic());
        let parent = name.split_once('.')?.1.to_owned();
        (is_name && parent.contains('.')).then_some(parent)
    };
    let host = realm.host().to_ascii_lowercase();
    domain(registry).is_some_and(|domain| host == domain || host.ends_with(&format!(".{domain}")))
}

/// The parameters of a challenge of this scheme.
fn scheme_of<'c>(challenge: &'c str, scheme: &str) -> Option<&'c str> {
    let (name, parameters) = challenge.split_once(' ')?;
    name.eq_ignore_ascii_case(scheme).then_some(parameters)
}

/// A parameter of a challenge: `realm="https://e.com/token",service="e.com"`.
fn parameter(parameters: &str, name: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        let (key, after) = rest.split_once('=')?;
        let (value, after) = match after.strip_prefix('"') {
            Some(after) => after.split_once('"')?,
            None => after.split_at(after.find(',').unwrap_or(after.len())),
        };
        if key.trim_matches([',', ' ']).eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = after;
    }
}

/// The address of the next page in a `Link` header.
fn next_page(link: &str) -> Option<&str> {
    let mut links = link.split(',');
    links.find_map(|link| {
        let (address, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        let is_next = rest.contains("rel=\"next\"") || rest.contains("rel=next");
        is_next.then_some(address)
    })
}

/// A value of a query.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:,".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_and_where_they_are() {
        for (text, address) in [
            ("ghcr.io/o/app", "https://ghcr.io/"),
            ("e.com:5000/app", "https://e.com:5000/"),
            ("127.0.0.1:5000/o/app", "http://127.0.0.1:5000/"),
            ("localhost:5000/app", "http://localhost:5000/"),
            ("docker.io/app", "https://registry-1.docker.io/"),
        ] {
            let repository = OciRepository::parse(text).expect(text);
            assert_eq!(repository.address().expect(text).as_str(), address);
            assert_eq!(repository.source(), format!("oci://{text}"));
        }
        for text in [
            "app",
            "e.com/",
            "e.com/../x",
            "e.com/a//b",
            "me:pw@e.com/a",
            "e.com/a b",
            "-x/a",
            "e.com/-a",
        ] {
            assert!(OciRepository::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_version_becomes_a_tag() {
        let tag = |text: &str| ImageReference::parse(text).map(|found| found.as_str().to_owned());
        assert_eq!(tag("1.2.0+k3s1").as_deref(), Some("1.2.0_k3s1"));
        assert_eq!(tag("latest").as_deref(), Some("latest"));
        for text in [
            "",
            "-x",
            ".x",
            "a/b",
            "a b",
            "../x",
            &"x".repeat(129),
            "sha256:ab",
        ] {
            assert_eq!(tag(text), None, "{text}");
        }
    }

    #[test]
    fn challenges_and_links_are_read() {
        let challenge = "Bearer realm=\"https://e.com/token?a=b\", service=\"e.com\",scope=\"repository:o/app:pull,push\"";
        let parameters = scheme_of(challenge, "bearer").expect("a challenge");
        for (name, expected) in [
            ("realm", Some("https://e.com/token?a=b")),
            ("service", Some("e.com")),
            ("scope", Some("repository:o/app:pull,push")),
            ("error", None),
        ] {
            assert_eq!(parameter(parameters, name).as_deref(), expected, "{name}");
        }
        assert_eq!(scheme_of("Basic realm=\"x\"", "Bearer"), None);
        let link = "</v2/app/tags/list?last=b&n=2>; rel=\"next\"";
        assert_eq!(next_page(link), Some("/v2/app/tags/list?last=b&n=2"));
        assert_eq!(next_page("</x>; rel=\"prev\", </y>; rel=next"), Some("/y"));
        assert_eq!(next_page("x"), None);
        assert_eq!(escaped("a b&c"), "a%20b%26c");
    }

    #[test]
    fn a_password_goes_to_the_registry_and_its_domain_only() {
        let address = |text: &str| HttpAddress::parse(text).expect(text);
        for (realm, registry, expected) in [
            ("https://ghcr.io/token", "https://ghcr.io/", true),
            (
                "https://auth.docker.io/token",
                "https://registry-1.docker.io/",
                true,
            ),
            (
                "https://gitlab.com/jwt/auth",
                "https://registry.gitlab.com/",
                true,
            ),
            (
                "https://evil.example/token",
                "https://registry.gitlab.com/",
                false,
            ),
            (
                "https://evil-docker.io/token",
                "https://registry-1.docker.io/",
                false,
            ),
            ("https://other.io/token", "https://ghcr.io/", false),
            ("http://127.0.0.1:2/token", "http://127.0.0.1:1/", false),
            ("http://127.0.0.2:1/token", "http://127.0.0.1:1/", false),
        ] {
            assert_eq!(
                is_of_registry(&address(realm), &address(registry)),
                expected,
                "{realm}"
            );
        }
    }
}

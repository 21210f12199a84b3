//! What the packages of one upstream share: in a run, what it lists, what its commits contain, the open repository, and
//! the [releases that were read](super::shared_releases); between runs, its clone in the cache.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use krm_upstream::git::{GitError, Repository};

use super::failure::{Failure, Result};
use super::shared_releases::SharedUpstreams;

/// What packages of one upstream share.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    /// What repositories listed, by their addresses.
    pub(crate) references: HashMap<String, Result<String>>,
    pub(crate) histories: Arc<Histories>,
    /// The releases that were read.
    pub(crate) upstreams: SharedUpstreams,
}

/// Which commits a commit contains, as far as that was asked for: by repository and commit, the commits that were asked
/// about, and those of them that it contains.
#[derive(Debug, Default)]
pub(crate) struct Histories(Mutex<HashMap<(PathBuf, String), AskedCommits>>);

/// The commits that were asked about, and those of them that are contained.
type AskedCommits = [BTreeSet<String>; 2];

impl Histories {
    /// Which of the other commits a commit contains. A history is walked once for the same question.
    pub(crate) fn contained(
        &self,
        repository: (&Path, &Repository),
        commit: &str,
        others: &[&str],
    ) -> BTreeSet<String> {
        let (path, repository) = repository;
        let key = (path.to_path_buf(), commit.to_owned());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let [asked, contained] = known.entry(key).or_default();
        if !others.iter().all(|other| asked.contains(*other)) {
            *contained = repository.contained(commit, others);
            *asked = others.iter().map(|other| (*other).to_owned()).collect();
        }
        let is_in = |other: &&&str| contained.contains(**other);
        others
            .iter()
            .filter(is_in)
            .map(|other| (*other).to_owned())
            .collect()
    }
}

/// A repository that a thread has open, with its cache of objects.
struct OpenRepository {
    path: PathBuf,
    repository: Rc<Repository>,
    /// How often it is still given out. What was read of its packs stays in memory until it is closed.
    left: usize,
}

/// How often a repository is used before it is opened again.
const MOST_USES: usize = 32;

thread_local! {
    /// The repository that this thread read last. To open a repository takes longer than to read one file of a commit,
    /// and a package is read commit by commit.
    static LAST_OPENED: RefCell<Option<OpenRepository>> = const { RefCell::new(None) };
}

/// Opens a repository, unless this thread has it open.
pub(crate) fn opened(path: &Path) -> std::result::Result<Rc<Repository>, GitError> {
    let known = LAST_OPENED.with_borrow_mut(|last| {
        let same = last.as_mut().filter(|last| last.path == path);
        let same = same.filter(|last| last.left > 0)?;
        same.left -= 1;
        Some(Rc::clone(&same.repository))
    });
    if let Some(known) = known {
        return Ok(known);
    }
    LAST_OPENED.take();
    let repository = Rc::new(Repository::open(path)?);
    LAST_OPENED.replace(Some(OpenRepository {
        path: path.to_path_buf(),
        repository: Rc::clone(&repository),
        left: MOST_USES,
    }));
    Ok(repository)
}

/// Closes the repository that this thread has open: what is open may not know where the history ends after a fetch.
pub(crate) fn close() {
    LAST_OPENED.take();
}

/// The folder of all clones.
pub(crate) fn cache() -> Result<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = of("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.filter(|path| path.is_absolute());
    let cache = cache.or_else(|| Some(PathBuf::from(of("HOME")?).join(".cache")));
    let cache = cache.ok_or_else(|| {
        let message = "expected a folder for the cache (XDG_CACHE_HOME or HOME), found none";
        Failure::new(message).hint("export XDG_CACHE_HOME=\"$(mktemp -d)\"")
    })?;
    Ok(cache.join("krmv"))
}

/// The folder name of a clone: the readable end of the address, and a digest of the address.
pub(crate) fn folder_of(address: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let name: Vec<&str> = address.rsplit(['/', ':']).take(2).collect();
    let name: String = name.into_iter().rev().collect::<Vec<_>>().join("-");
    let name: String = name.chars().filter(|c| is_word(*c)).collect();
    let digest = sha1_smol::Sha1::from(address).digest().to_string();
    format!("{}-{}", name.trim_start_matches('.'), &digest[..12])
}

//! A revision of an upstream, and its names.

/// A commit, and the names by which a Kptfile refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The revision as given.
    pub given: String,
    /// The commit's id, in hexadecimal.
    pub commit: String,
    /// For `upstream.git.ref`: the tag or branch without the package's name in front, or the commit's id if the
    /// revision is neither.
    pub upstream_ref: String,
    /// For `upstreamLock.git.ref`: the same, with the package's name.
    pub lock_ref: String,
    /// Whether a tag and a branch of that name point to different commits. The tag is used here, as in Git; kpt takes
    /// the branch.
    pub is_ambiguous: bool,
}

impl Revision {
    /// A commit with the same name everywhere.
    pub fn named(name: &str, commit: String) -> Self {
        Self {
            given: name.to_owned(),
            commit,
            upstream_ref: name.to_owned(),
            lock_ref: name.to_owned(),
            is_ambiguous: false,
        }
    }
}

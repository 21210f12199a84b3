//! The revision that `spec.upstream` requests. It has the same meaning in all functions:
//!
//! | `revision` | `workspaceName` | requests |
//! |---|---|---|
//! | `2`, `"2"`, `v2` | none | the revision `v2` |
//! | `v2` | `ws` | the revision `v2`, if it was created in the workspace `ws` |
//! | `latest` | | the highest version |
//! | `-1`, `0`, none | `ws` | the revision of the workspace `ws` |
//! | `-1`, `0`, none | none | the branch `main` |
//!
//! Source: contract, render-variant and render-fleet.

use std::borrow::Cow;
use std::fmt;

use krm_address::latest::LATEST;
use krm_core::package_variant::Upstream;

/// A requested revision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RevisionRequest {
    /// The revision as Porch names its tags; `None` if only the workspace identifies the revision.
    revision: Option<String>,
    workspace: Option<String>,
}

/// How to find a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'r> {
    /// By the name of the revision.
    Named(&'r str),
    /// As the highest version.
    Latest,
    /// By the workspace, or the branch of that name.
    Workspace(&'r str),
}

/// The default branch, for a request without revision and workspace. Porch lists it as a workspace of this name.
const MAIN: &str = "main";
/// The revision number that Porch gives to a package on a branch.
const ON_BRANCH: &str = "-1";
/// The revision number of an object whose writer set none: Go's zero value.
const UNSET: &str = "0";

impl RevisionRequest {
    pub fn new(revision: Option<&str>, workspace: Option<&str>) -> Self {
        let given = |text: &&str| !text.is_empty();
        let is_number = |text: &&str| ![ON_BRANCH, UNSET].contains(text);
        let revision = revision.filter(given).filter(is_number);
        let workspace = workspace.filter(given);
        Self {
            revision: revision.map(|text| with_v(text).into_owned()),
            workspace: workspace.map(str::to_owned),
        }
    }

    pub fn of(upstream: &Upstream) -> Self {
        let revision = upstream.revision.as_ref();
        Self::new(
            revision.map(|revision| revision.0.as_str()),
            upstream.workspace_name.as_deref(),
        )
    }

    pub fn lookup(&self) -> Lookup<'_> {
        match self.revision.as_deref() {
            Some(LATEST) => Lookup::Latest,
            Some(revision) => Lookup::Named(revision),
            None => Lookup::Workspace(self.workspace.as_deref().unwrap_or(MAIN)),
        }
    }

    /// The workspace that a revision must come from; `None` if any is allowed.
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// The field in which a revision differs from the request, with the expected and the found value; `None` if it
    /// matches. Pass `None` for names that are not known.
    pub fn mismatch<'r>(
        &'r self,
        revision: Option<&'r str>,
        workspace: Option<&'r str>,
    ) -> Option<(&'static str, &'r str, &'r str)> {
        if let (Lookup::Named(expected), Some(found)) = (self.lookup(), revision)
            && expected != with_v(found)
        {
            return Some(("revision", expected, found));
        }
        let expected = match self.lookup() {
            Lookup::Workspace(workspace) => workspace,
            Lookup::Named(_) | Lookup::Latest => self.workspace()?,
        };
        let found = match workspace {
            Some("") if revision == Some(ON_BRANCH) => MAIN,
            found => found?,
        };
        (expected != found).then_some(("workspaceName", expected, found))
    }

    /// Checks that a revision comes from the requested workspace, if the request names both.
    ///
    /// # Errors
    /// A message that names the requested and the found workspace.
    pub fn check_workspace(&self, found: &str) -> Result<(), String> {
        match (self.lookup(), self.workspace()) {
            (Lookup::Named(revision), Some(workspace)) if found != workspace => Err(format!(
                "expected the revision `{revision}` of the workspace `{workspace}`, found one of `{found}`"
            )),
            _ => Ok(()),
        }
    }

    /// Describes the request for a message.
    pub fn describe(&self) -> String {
        let workspace = self.workspace.as_deref();
        let workspace = workspace.map(|workspace| format!(", workspace `{workspace}`"));
        match self.lookup() {
            Lookup::Workspace(workspace) => format!("workspace `{workspace}`"),
            Lookup::Named(_) | Lookup::Latest => {
                format!("revision `{self}`{}", workspace.unwrap_or_default())
            }
        }
    }

    /// Whether a revision with this name or number and this workspace matches the request. `latest` matches any
    /// revision.
    pub(crate) fn is(&self, revision: &str, workspace: &str) -> bool {
        self.mismatch(Some(revision), Some(workspace)).is_none()
    }
}

/// The revision as results and locks name it.
impl fmt::Display for RevisionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.lookup() {
            Lookup::Named(revision) => revision,
            Lookup::Latest => LATEST,
            Lookup::Workspace(workspace) => workspace,
        })
    }
}

/// The spellings of a revision; the first is the one that Porch uses for tags.
pub fn spellings(revision: &str) -> impl Iterator<Item = &str> {
    let number = revision.strip_prefix('v');
    [Some(revision), number.filter(|number| is_number(number))]
        .into_iter()
        .flatten()
}

/// Adds `v` to a number: current versions of Porch number revisions, and name their tags `v1`, `v2`, ...
fn with_v(revision: &str) -> Cow<'_, str> {
    if is_number(revision) {
        Cow::Owned(format!("v{revision}"))
    } else {
        Cow::Borrowed(revision)
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_means_what_the_table_says() {
        use Lookup::{Latest, Named, Workspace};
        for (revision, workspace, expected) in [
            (Some("2"), None, Named("v2")),
            (Some("v2"), None, Named("v2")),
            (Some("v2"), Some("ws"), Named("v2")),
            (Some("2.0.0"), None, Named("2.0.0")),
            (Some("main"), None, Named("main")),
            (Some("latest"), None, Latest),
            (Some("-1"), Some("ws"), Workspace("ws")),
            (None, Some("ws"), Workspace("ws")),
            (Some(""), Some(""), Workspace("main")),
            (Some("-1"), None, Workspace("main")),
            (Some("0"), Some("ws"), Workspace("ws")),
            (Some("0"), None, Workspace("main")),
            (None, None, Workspace("main")),
        ] {
            let request = RevisionRequest::new(revision, workspace);
            assert_eq!(request.lookup(), expected, "{revision:?} {workspace:?}");
        }
    }

    #[test]
    fn a_revision_is_the_requested_one_by_number_and_workspace() {
        for (revision, workspace, found, expected) in [
            (Some("2"), None, ("v2", "ws"), true),
            (Some("v2"), None, ("2", ""), true),
            (Some("v2"), None, ("3", "ws"), false),
            (Some("v2"), None, ("", "ws"), false),
            (Some("v2"), Some("ws"), ("2", "ws"), true),
            (Some("v2"), Some("ws"), ("2", "other"), false),
            (None, Some("ws"), ("2", "ws"), true),
            (None, Some("ws"), ("2", ""), false),
            (None, None, ("-1", "main"), true),
            (Some("-1"), None, ("-1", ""), true),
            (Some("-1"), None, ("2", "ws"), false),
            (Some("latest"), None, ("2", "ws"), true),
        ] {
            let request = RevisionRequest::new(revision, workspace);
            let is = request.is(found.0, found.1);
            assert_eq!(is, expected, "{revision:?} {workspace:?} {found:?}");
        }
    }

    #[test]
    fn whole_numbers_have_two_spellings() {
        let of = |revision| spellings(revision).collect::<Vec<_>>();
        assert_eq!(of("v2"), ["v2", "2"]);
        assert_eq!(of("v2.0.0"), ["v2.0.0"]);
        assert_eq!(of("vast"), ["vast"]);
    }
}

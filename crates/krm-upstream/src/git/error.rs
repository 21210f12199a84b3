//! Errors of reading from and writing to a repository.

use std::path::PathBuf;

use krm_package::PackageError;

use crate::is_only_file;

/// Why a package could not be read from, or a draft written to, a repository.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The flag is the address of a repository on another machine.
    #[error(
        "expected the path of a local clone, found the URL `{url}`; make a clone first: \
         git clone --mirror {url}"
    )]
    Url {
        /// The URL as given, without directory and revision.
        url: String,
    },
    /// The flag does not name a repository, a directory in it and a revision.
    #[error("expected REPOSITORY//DIRECTORY?ref=REVISION, found `{found}`: {message}")]
    Form {
        /// The flag as given.
        found: String,
        /// The problem with it.
        message: String,
    },
    /// The path does not exist, or is not a repository.
    #[error("'{}' is not a Git repository: {message}", path.display())]
    NotARepository {
        /// The path as given.
        path: PathBuf,
        /// The problem with it.
        message: String,
    },
    /// No tag, branch or commit has this name.
    #[error("the repository '{}' has no revision `{revision}`: {message}{}", path.display(), nearest(near))]
    RevisionNotFound {
        /// The path of the repository.
        path: PathBuf,
        /// The revision as given.
        revision: String,
        message: String,
        /// Tags and branches with similar names.
        near: Vec<String>,
    },
    /// The revision has no such directory.
    #[error(
        "the repository '{}' has no {} `{directory}` at the revision `{revision}`{}",
        path.display(),
        if is_only_file(directory) { "file" } else { "directory" },
        nearest(near)
    )]
    DirectoryNotFound {
        /// The path of the repository.
        path: PathBuf,
        /// The directory or file, from the repository's root.
        directory: String,
        /// The revision as given.
        revision: String,
        /// Directories, and files if it has the name of one, with similar names.
        near: Vec<String>,
    },
    /// There is a file where a directory is expected.
    #[error(
        "expected a directory, or a file of YAML or JSON, in the repository '{}' at the revision `{revision}`, \
         found the file `{file}`",
        path.display()
    )]
    NotADirectory {
        /// The path of the repository.
        path: PathBuf,
        /// The file, from the repository's root.
        file: String,
        /// The revision as given.
        revision: String,
    },
    /// An object is missing from the repository, or cannot be read.
    #[error("cannot read {what} from the repository '{}': {message}", path.display())]
    Unreadable {
        /// The path of the repository.
        path: PathBuf,
        /// What cannot be read: the file, folder or commit.
        what: String,
        /// The problem with it.
        message: String,
    },
    /// A draft cannot be written.
    #[error("cannot write the draft `{branch}` to the repository '{}': {message}", path.display())]
    Unwritable {
        /// The path of the repository.
        path: PathBuf,
        /// The branch of the draft.
        branch: String,
        message: String,
    },
    /// The package is larger than one run reads.
    #[error(
        "{what} is too large to be read from a repository: expected at most {limit}, found {found}"
    )]
    TooLarge {
        /// The file or package that is too large.
        what: String,
        /// The largest size that is read.
        limit: String,
        /// The size that was found.
        found: String,
    },
    /// The tree does not contain a package that can be read.
    #[error(transparent)]
    Package(#[from] PackageError),
}

/// Names similar to one that was not found, for the error message.
pub(super) fn near<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let found = krm_yaml::nearest::nearest(name, names, 3);
    found.into_iter().map(str::to_owned).collect()
}

/// The end of a message about a name that was not found.
fn nearest(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; the nearest are `{}`", names.join("`, `")),
    }
}

/// An error and its causes in one line, for a message.
pub(super) fn one_line(error: &dyn std::error::Error) -> String {
    texts(error).join(": ")
}

/// The texts of an error and of its causes, each once. Texts of a single word are left out: they only classify the
/// error.
pub(super) fn texts(error: &dyn std::error::Error) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.contains(' ') && !texts.contains(&text) {
            texts.push(text);
        }
        next = error.source();
    }
    texts
}

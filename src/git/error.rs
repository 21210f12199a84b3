//! Why something could not be read from a repository.

use std::path::PathBuf;

use crate::package::PackageError;

/// Why a package could not be read from a repository.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// An address of another machine.
    #[error(
        "expected the path of a local clone, found the URL `{url}`; make a clone first: \
         git clone --mirror {url}"
    )]
    Url {
        /// As it was given, without directory and revision.
        url: String,
    },
    /// Something else than a repository, a directory in it and a revision.
    #[error("expected REPOSITORY//DIRECTORY?ref=REVISION, found `{found}`: {message}")]
    Form {
        /// As it was given.
        found: String,
        /// What is wrong with it.
        message: String,
    },
    /// The path is not there, or is no repository.
    #[error("'{}' is not a Git repository: {message}", path.display())]
    NotARepository {
        /// The path as it was given.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// No tag, branch or commit is called so.
    #[error("the repository '{}' has no revision `{revision}`: {message}{}", path.display(), nearest(near))]
    RevisionNotFound {
        /// The repository.
        path: PathBuf,
        /// The revision as it was given.
        revision: String,
        /// What Git says of it.
        message: String,
        /// Tags and branches with similar names.
        near: Vec<String>,
    },
    /// The revision has no such directory.
    #[error(
        "the repository '{}' has no directory `{directory}` at the revision `{revision}`{}",
        path.display(),
        nearest(near)
    )]
    DirectoryNotFound {
        /// The repository.
        path: PathBuf,
        /// The directory, from the repository's root.
        directory: String,
        /// The revision as it was given.
        revision: String,
        /// Directories with similar names.
        near: Vec<String>,
    },
    /// A file is in the place of a directory.
    #[error(
        "expected a directory, or a file of YAML or JSON, in the repository '{}' at the revision `{revision}`, \
         found the file `{file}`",
        path.display()
    )]
    NotADirectory {
        /// The repository.
        path: PathBuf,
        /// The file, from the repository's root.
        file: String,
        /// The revision as it was given.
        revision: String,
    },
    /// An object is not in the repository, or cannot be read.
    #[error("cannot read {what} from the repository '{}': {message}", path.display())]
    Unreadable {
        /// The repository.
        path: PathBuf,
        /// The file, folder or commit.
        what: String,
        /// What is wrong with it.
        message: String,
    },
    /// A draft cannot be written.
    #[error("cannot write the draft `{branch}` to the repository '{}': {message}", path.display())]
    Unwritable {
        /// The repository.
        path: PathBuf,
        /// The branch.
        branch: String,
        /// What is wrong.
        message: String,
    },
    /// The package is larger than one run reads.
    #[error(
        "{what} is too large to be read from a repository: expected at most {limit}, found {found}"
    )]
    TooLarge {
        /// The file or package.
        what: String,
        /// How much is read.
        limit: String,
        /// How much it is.
        found: String,
    },
    /// What is in the tree is no package.
    #[error(transparent)]
    Package(#[from] PackageError),
}

/// The names of a message about one that is not there.
pub(super) fn near<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let found = crate::nearest::nearest(name, names, 3);
    found.into_iter().map(str::to_owned).collect()
}

/// The end of a message about a name that is not there.
fn nearest(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; the nearest are `{}`", names.join("`, `")),
    }
}

/// An error of several causes, for a message.
pub(super) fn one_line(error: &dyn std::error::Error) -> String {
    texts(error).join(": ")
}

/// The texts of an error and of its causes, without the words by which they are classified.
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

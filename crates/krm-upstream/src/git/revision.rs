//! Resolves a revision to a commit, and finds its names for the Kptfile.

use std::io::{self, ErrorKind};

use gix::ObjectId;
use gix::bstr::BStr;
use gix::objs::Kind;

use super::error::{near, texts};
use super::{GitError, Repository};
use krm_address::latest::LATEST;
use krm_core::revision::Revision;

/// The most annotated tags that may be nested.
const MOST_TAGS: usize = 40;

impl Repository {
    /// Finds the commit of a revision. As in kpt, a tag `DIRECTORY/REVISION` takes precedence over `REVISION`, and so
    /// does a tag of a folder around the directory. `latest` is the tag of the highest version, or, if there is none,
    /// a revision named `latest`.
    ///
    /// # Errors
    /// [`GitError::RevisionNotFound`]: the revision does not exist, is ambiguous, or is not a commit.
    pub fn resolve(&self, directory: &str, revision: &str) -> Result<Revision, GitError> {
        if revision == LATEST
            && let Some(tag) = self.latest_tag(folders_around(directory))
        {
            return Ok(Revision {
                given: revision.to_owned(),
                ..self.resolve(directory, &tag)?
            });
        }
        for folder in folders_around(directory).filter(|folder| !folder.is_empty()) {
            let tag = format!("{folder}/{revision}");
            if let Some(commit) = self.commit_of_reference(&format!("refs/tags/{tag}"))? {
                return Ok(Revision {
                    lock_ref: tag,
                    ..Revision::named(revision, commit)
                });
            }
        }
        let commit = self.rev_parse(directory, revision)?;
        let tag = self.commit_of_reference(&format!("refs/tags/{revision}"))?;
        let branch = self.commit_of_reference(&format!("refs/heads/{revision}"))?;
        let name = match (&tag, &branch) {
            (None, None) => self.short_name(revision)?.unwrap_or(&commit),
            _ => revision,
        };
        Ok(Revision {
            given: revision.to_owned(),
            upstream_ref: name.to_owned(),
            lock_ref: name.to_owned(),
            is_ambiguous: tag.is_some() && branch.is_some() && tag != branch,
            commit,
        })
    }

    /// Finds the commit with an id, or the commit that the annotated tag with that id points to. `None` if the
    /// repository has no such commit.
    pub fn commit_with_id(&self, id: &str) -> Option<String> {
        let id = ObjectId::from_hex(id.as_bytes()).ok()?;
        let object = self.peel_tags(id).ok()?;
        (object.kind == Kind::Commit).then(|| object.id.to_string())
    }

    /// The id of the object that an annotated tag points to, through tags of tags.
    pub(super) fn peeled(&self, id: ObjectId) -> Option<ObjectId> {
        Some(self.peel_tags(id).ok()?.id)
    }

    /// The object with an id; if that is an annotated tag, the object that it points to.
    fn peel_tags(&self, mut id: ObjectId) -> Result<gix::Object<'_>, GitError> {
        // Only a damaged repository has tags that point to themselves.
        for _ in 0..=MOST_TAGS {
            let what = || format!("the object `{id}`");
            let object = self.object(id, what)?;
            if object.kind != Kind::Tag {
                return Ok(object);
            }
            let target = object.to_tag_ref_iter().target_id();
            id = target.map_err(|error| self.unreadable(what(), &error))?;
        }
        let message = format!("expected at most {MOST_TAGS} nested annotated tags, found more");
        Err(self.cannot_read(format!("the object `{id}`"), message))
    }

    /// The name under which others know `refs/tags/v1`, `heads/main`, `origin/main` and the like. `None` if there is
    /// no such reference, or if the short name is ambiguous between a tag and a branch.
    fn short_name<'n>(&self, revision: &'n str) -> Result<Option<&'n str>, GitError> {
        let name = revision.strip_prefix("refs/").unwrap_or(revision);
        let is_there = |kind: &str, name: &str| {
            let found = self.commit_of_reference(&format!("refs/{kind}/{name}"))?;
            Ok::<bool, GitError>(found.is_some())
        };
        for (kind, other) in [("tags", "heads"), ("heads", "tags")] {
            let short = name.strip_prefix(kind).and_then(|n| n.strip_prefix('/'));
            if let Some(short) = short {
                let is_alone = is_there(kind, short)? && !is_there(other, short)?;
                return Ok(is_alone.then_some(short));
            }
        }
        let name = name.strip_prefix("remotes/").unwrap_or(name);
        if !is_there("remotes", name)? {
            return Ok(None);
        }
        Ok(name.split_once('/').map(|(_, branch)| branch))
    }

    /// The commit of a reference with this full name; `None` if there is none.
    pub(super) fn commit_of_reference(&self, name: &str) -> Result<Option<String>, GitError> {
        let Ok(name) = gix::refs::FullName::try_from(name) else {
            return Ok(None);
        };
        let unreadable = |error: gix::Error| self.unreadable(format!("`{name}`"), &error);
        let mut reference = match self.git.try_find_reference(name.as_ref().as_partial_name()) {
            Ok(Some(reference)) => reference,
            Ok(None) => return Ok(None),
            Err(error) if is_no_path(&error) => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        if reference.name() != name.as_ref() {
            return Ok(None);
        }
        let id = reference.follow_to_object().map_err(unreadable)?;
        let object = self.peel_tags(id.detach())?;
        Ok((object.kind == Kind::Commit).then(|| object.id.to_string()))
    }

    /// Follows the tags at the beginning of a revision, with a limit: gix would follow a tag that points to itself
    /// forever.
    fn check_tags(&self, revision: &str) -> Result<(), GitError> {
        // `:/text` names the youngest commit, of any reference, whose message contains the text.
        if revision.starts_with(":/") {
            let names = self.names_of_references();
            return names.iter().try_for_each(|name| self.check_tags_of(name));
        }
        let beginning = revision.split(['^', '~', ':']).next().unwrap_or_default();
        let name = beginning.split("@{").next().unwrap_or_default();
        self.check_tags_of(if matches!(name, "" | "@") {
            "HEAD"
        } else {
            name
        })?;
        // If the revision is only a name, `rev_parse` follows its tags later.
        if beginning.len() < revision.len()
            && let Ok(parsed) = self.git.rev_parse(beginning)
            && let Some(id) = parsed.single()
        {
            self.peel_tags(id.detach())?;
        }
        Ok(())
    }

    fn check_tags_of(&self, name: &str) -> Result<(), GitError> {
        if let Ok(Some(mut reference)) = self.git.try_find_reference(name)
            && let Ok(id) = reference.follow_to_object()
        {
            self.peel_tags(id.detach())?;
        }
        Ok(())
    }

    fn rev_parse(&self, directory: &str, revision: &str) -> Result<String, GitError> {
        let not_found = |message: String| GitError::RevisionNotFound {
            path: self.path.clone(),
            revision: revision.to_owned(),
            message,
            near: self.near_revisions(directory, revision),
        };
        if let Some(kind) = part_of_commit(revision) {
            return Err(not_found(format!("expected a commit, found a {kind}")));
        }
        self.check_tags(revision)?;
        // gix reads the file `shallow` again when it looks for parents, and does not check it then.
        let shallow = self.git.shallow_commits();
        shallow.map_err(|error| self.unreadable("`shallow`".to_owned(), &error))?;
        let spec: &BStr = revision.into();
        let parsed = self.git.rev_parse(spec);
        let parsed = parsed.map_err(|error| not_found(cause(&error)))?;
        let Some(id) = parsed.single() else {
            return Err(not_found(
                "it is ambiguous: it matches several commits".to_owned(),
            ));
        };
        let object = self.peel_tags(id.detach())?;
        match object.kind {
            Kind::Commit => Ok(object.id.to_string()),
            kind => Err(not_found(format!("expected a commit, found a {kind}"))),
        }
    }

    fn near_revisions(&self, directory: &str, revision: &str) -> Vec<String> {
        let names = self.names_of_references();
        let own = format!("{directory}/");
        let names = names
            .iter()
            .map(|name| name.strip_prefix(&own).unwrap_or(name));
        near(revision, names)
    }
}

/// The kind of object that a revision names if it is part of a commit. Refused, because gix would read parts of a
/// damaged commit without a check.
fn part_of_commit(revision: &str) -> Option<&'static str> {
    if revision.starts_with(":/") {
        return None;
    }
    // Times and texts in braces may contain colons.
    let mut depth: usize = 0;
    let has_path = revision.chars().any(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ':' && depth == 0
    });
    match revision {
        _ if has_path => Some("path"),
        _ if revision.contains("^{tree}") => Some("tree"),
        _ if revision.contains("^{blob}") => Some("blob"),
        _ => None,
    }
}

/// Whether the error only means that a name cannot be the path of a reference, such as a name below a tag or one that
/// exceeds a limit of the file system. Such a reference does not exist; any other error must be reported.
fn is_no_path(error: &gix::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return matches!(
                error.kind(),
                ErrorKind::NotFound
                    | ErrorKind::NotADirectory
                    | ErrorKind::IsADirectory
                    | ErrorKind::InvalidFilename
                    | ErrorKind::InvalidInput
            );
        }
        next = error.source();
    }
    true
}

/// Why a revision cannot be resolved.
fn cause(error: &gix::Error) -> String {
    let texts = texts(error);
    match texts.last() {
        Some(text) if !text.contains("could not be found") => text.clone(),
        _ => "no tag, branch or commit has that name".to_owned(),
    }
}

/// A folder, its parent folders, and the empty one.
fn folders_around(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
        (!folder.is_empty()).then_some(above)
    })
}

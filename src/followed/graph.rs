//! The commits of an upstream, for [`Followed`](super::Followed): read from a local repository, or from its clone in
//! the cache, into which the history is fetched as far as an answer needs it.

use std::collections::BTreeSet;

use krm_address::RefName;
use krm_core::config::UsageError;
use krm_render::{KustomizationLookup, paths_beside};
use krm_upstream::git::GitCommand;

use super::{CommitGraph, PathContent};
use crate::failure::Result;
use crate::shared::opened;
use crate::upstream::UpstreamSource;

impl CommitGraph for UpstreamSource {
    fn contains(&self, commit: &str, other: &str) -> Result<bool> {
        let Some(git) = self.kind.history().filter(|_| commit != other) else {
            return Ok(commit == other);
        };
        let (_, commit) = self.fetch_commit(commit)?;
        let (repository, other) = self.fetch_commit(other)?;
        if repository.contains(&commit, &other)? {
            return Ok(true);
        }
        if !repository.is_shallow() {
            return Ok(false);
        }
        // Only the commits since the older one, if the server and the clocks allow that.
        let name = self.releases.at(&commit);
        let name = name.and_then(|reference| RefName::parse(&reference.full_name).ok());
        if let (Some(name), Some(time)) = (name, repository.time_of(&other)) {
            let since = |address: &_| GitCommand::fetch_since(address, &name, time);
            if git.fetch_history(since).is_ok() && opened(git.path())?.contains(&commit, &other)? {
                return Ok(true);
            }
        }
        git.fetch_all()?;
        Ok(opened(git.path())?.contains(&commit, &other)?)
    }

    fn known_in(&self, commit: &str, others: &[&str]) -> BTreeSet<String> {
        let Some(git) = self.kind.history() else {
            return BTreeSet::new();
        };
        let repository = opened(git.path()).ok();
        let Some(repository) = repository.filter(|one| !one.is_shallow()) else {
            return BTreeSet::new();
        };
        let commit = repository.commit_with_id(commit);
        let place = (git.path(), &*repository);
        let found = commit.map(|commit| self.histories.contained(place, &commit, others));
        found.unwrap_or_default()
    }

    fn known_with(&self, commit: &str, others: &[&str]) -> Option<BTreeSet<String>> {
        let repository = opened(self.kind.history()?.path()).ok();
        let repository = repository.filter(|one| !one.is_shallow())?;
        let commit = repository.commit_with_id(commit)?;
        let mut all = others.iter();
        let are_here = all.all(|other| repository.commit_with_id(other).is_some());
        are_here.then(|| repository.containing(&commit, others))
    }

    fn content(&self, path: &str, commit: &str) -> Result<Option<PathContent>> {
        if !self.is_git() {
            return Ok(None);
        }
        let (repository, commit) = self.fetch_commit(commit)?;
        let content = |is_folder: bool| move |id: String| PathContent { is_folder, id };
        if let Some(mut folder) = repository.tree_of(path, &commit)? {
            for (path, id) in self.beside(path, &commit)? {
                folder += &format!(" {id} {path}");
            }
            return Ok(Some(content(true)(folder)));
        }
        Ok(repository.content_of(path, &commit)?.map(content(false)))
    }

    fn commits_between(&self, from: &str, to: &str, path: &str) -> Result<usize> {
        if !self.is_git() {
            return Ok(0);
        }
        let (_, from) = self.fetch_commit(from)?;
        let (repository, to) = self.fetch_commit(to)?;
        let mut paths = BTreeSet::from([path.to_owned()]);
        for commit in [&from, &to] {
            let beside = self.beside(path, commit)?.into_iter();
            paths.extend(beside.map(|(path, _)| path));
        }
        let mut commits = BTreeSet::new();
        for path in &paths {
            let changing = repository.commits_that_change(path, &from, &to)?;
            commits.extend(changing.into_iter().map(|commit| commit.id));
        }
        Ok(commits.len())
    }

    fn names(&self, folder: &str, commit: &str) -> Result<Vec<String>> {
        if !self.is_git() {
            return Ok(Vec::new());
        }
        let (repository, commit) = self.fetch_commit(commit)?;
        Ok(repository.names_in(folder, &commit)?)
    }

    fn moved(&self, path: &str, from: &str, to: &str) -> Option<String> {
        let repository = opened(self.kind.history()?.path()).ok()?;
        let [from, to] = [from, to].map(|commit| repository.commit_with_id(commit));
        repository.moved(path, &from?, &to?)
    }
}

impl UpstreamSource {
    /// What else belongs to a package at a commit, each with its ID: what a kustomization reads outside of its folder.
    fn beside(&self, folder: &str, commit: &str) -> Result<Vec<(String, String)>> {
        if !self.is_kustomized {
            return Ok(Vec::new());
        }
        let (repository, at) = self.fetch_commit(commit)?;
        let files = KustomizationLookup {
            names: &|folder| repository.names_in(folder, &at).unwrap_or_default(),
            file: &|path| repository.file_at(&at, path).map_err(UsageError::of),
            is_folder: &|path| repository.tree_of(path, &at).is_ok_and(|id| id.is_some()),
        };
        let mut found = Vec::new();
        for path in paths_beside(&files, folder) {
            found.extend(repository.id_of_path(&path, &at)?.map(|id| (path, id)));
        }
        Ok(found)
    }
}

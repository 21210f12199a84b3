//! Finds the tag that `latest` stands for.

use super::Repository;
use krm_address::latest::latest;

impl Repository {
    /// The tag with the highest version in the first of these folders that has one, without the folder's name. The
    /// empty folder stands for tags without a folder.
    pub fn latest_tag<'f>(&self, folders: impl IntoIterator<Item = &'f str>) -> Option<String> {
        let tags = self.names_of_tags();
        folders
            .into_iter()
            .find_map(|folder| latest(tags_below(&tags, folder), |name| name).map(str::to_owned))
    }
}

/// The names of the tags in a folder, without the folder. The empty folder has the tags without one.
pub fn tags_below<'t>(tags: &'t [String], folder: &str) -> impl Iterator<Item = &'t str> {
    let below = tags.iter().filter_map(move |tag| match folder {
        "" => Some(tag.as_str()),
        folder => tag.strip_prefix(folder)?.strip_prefix('/'),
    });
    below.filter(|name| !name.contains('/'))
}

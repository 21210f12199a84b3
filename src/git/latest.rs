//! Finds the tag that `latest` stands for.

use super::Repository;
use crate::latest::latest;

impl Repository {
    /// The tag with the highest version in the first of these folders that has one, without the folder's name. The
    /// empty folder stands for tags without a folder.
    pub(crate) fn latest_tag<'f>(
        &self,
        folders: impl IntoIterator<Item = &'f str>,
    ) -> Option<String> {
        let tags = self.names_of_tags();
        folders.into_iter().find_map(|folder| {
            let below = tags.iter().filter_map(|tag| match folder {
                "" => Some(tag.as_str()),
                folder => tag.strip_prefix(folder)?.strip_prefix('/'),
            });
            let highest = latest(below.filter(|name| !name.contains('/')), |name| name);
            highest.map(str::to_owned)
        })
    }
}

//! The tag that `latest` is.

use super::Repository;
use crate::latest::latest;

impl Repository {
    /// The tag of the highest version of a directory: among the tags in its folder, else in a folder around it, else
    /// among those in no folder. The name is without the folder.
    pub(super) fn latest_tag(&self, directory: &str) -> Option<String> {
        let tags = self.names_of_tags();
        let mut folder = directory;
        loop {
            let below = tags.iter().filter_map(|tag| match folder {
                "" => Some(tag.as_str()),
                folder => tag.strip_prefix(folder)?.strip_prefix('/'),
            });
            let highest = latest(below.filter(|name| !name.contains('/')), |name| name);
            if highest.is_some() || folder.is_empty() {
                return highest.map(str::to_owned);
            }
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }
}

//! Lists the references of a repository on this machine as `git ls-remote` prints them, without running a program in it.

use gix::objs::Kind;

use super::{GitError, Repository};

impl Repository {
    /// HEAD and all references, each with the object that an annotated tag points to, in the form of `git ls-remote`.
    /// References without an object are left out.
    ///
    /// ```text
    /// 5f0c...    HEAD
    /// 5f0c...    refs/heads/main
    /// 77ab...    refs/tags/v1
    /// 5f0c...    refs/tags/v1^{}
    /// ```
    ///
    /// # Errors
    /// [`GitError::Unreadable`].
    pub fn listed_references(&self) -> Result<String, GitError> {
        let unreadable = |error: &dyn std::error::Error| {
            self.unreadable("its branches and tags".to_owned(), error)
        };
        let platform = self.git.references();
        let platform = platform.map_err(|error| unreadable(&error))?;
        let mut names = vec!["HEAD".to_owned()];
        for reference in platform.all().map_err(|error| unreadable(&error))? {
            // Git leaves out what it cannot read, such as a name that is not UTF-8 here.
            let Ok(reference) = reference else { continue };
            if let Ok(name) = std::str::from_utf8(reference.name().as_bstr()) {
                names.push(name.to_owned());
            }
        }
        let lines = names.iter().filter_map(|name| self.listed(name));
        Ok(lines.collect())
    }

    fn listed(&self, name: &str) -> Option<String> {
        let mut reference = self.git.try_find_reference(name).ok()??;
        let id = reference.follow_to_object().ok()?.detach();
        let object = self.git.find_header(id).ok()?;
        let mut lines = format!("{id}\t{name}\n");
        if object.kind() == Kind::Tag {
            let peeled = self.peeled(id)?;
            lines += &format!("{peeled}\t{name}^{{}}\n");
        }
        Some(lines)
    }
}

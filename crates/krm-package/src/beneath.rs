//! Changes files beneath an open folder. No link is followed on the way.
//!
//! A path is walked name by name, each folder opened in the one before it. A folder that another process swaps for a
//! link is therefore an error and never a way out, whenever that happens: after the checks, and between two changes.
//!
//! ```text
//! root/apps/web.yaml      open `apps` in root, without following links; then rename or remove `web.yaml` in it
//! root/apps -> /etc       an error; nothing in /etc changes
//! ```
//!
//! Only the path of the root itself, which the user gave, may lead through links.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder {
    open: OwnedFd,
}

/// How a folder is opened. Nothing in it is read.
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Opens the folder that a user named; links are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let open = rustix::fs::openat(CWD, path, FOLDER, Mode::empty())?;
        Ok(Self { open })
    }

    /// Opens a folder in a folder, or creates it for its owner alone.
    pub(super) fn open_or_make(&self, name: &str) -> io::Result<Self> {
        match self.open_in(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match rustix::fs::mkdirat(&self.open, name, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => self.open_in(name),
                    Err(error) => Err(error.into()),
                }
            }
            opened => opened,
        }
    }

    /// Opens a folder in a folder; an error if it is a link.
    pub(super) fn open_in(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        let open = rustix::fs::openat(
            &self.open,
            name.as_ref(),
            FOLDER.union(OFlags::NOFOLLOW),
            Mode::empty(),
        )?;
        Ok(Self { open })
    }

    /// The folder around a path, and the last name.
    fn walk<'p>(&self, path: &'p Path) -> io::Result<(Option<Self>, &'p Path)> {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(Path::new(name)),
                Component::CurDir => {}
                _ => return Err(not_beneath(path)),
            }
        }
        let last = names.pop().ok_or_else(|| not_beneath(path))?;
        let mut folder: Option<Self> = None;
        for name in names {
            folder = Some(folder.as_ref().unwrap_or(self).open_in(name)?);
        }
        Ok((folder, last))
    }

    fn at<T>(
        &self,
        path: &Path,
        change: impl FnOnce(BorrowedFd<'_>, &Path) -> rustix::io::Result<T>,
    ) -> io::Result<T> {
        let (folder, name) = self.walk(path)?;
        let folder = folder.as_ref().unwrap_or(self);
        Ok(change(folder.open.as_fd(), name)?)
    }

    /// Creates a file that only its owner can read.
    pub(super) fn create_private(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let flags = flags.union(OFlags::NOFOLLOW);
        let mode = Mode::RUSR | Mode::WUSR;
        let open = self.at(path, |folder, name| {
            rustix::fs::openat(folder, name, flags, mode)
        });
        open.map(File::from)
    }

    /// Opens a regular file to read it; `None` if there is none, or the path leads through a link.
    pub(super) fn open_regular(&self, path: &Path) -> io::Result<Option<File>> {
        // Opening a FIFO would block.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = self.at(path, |folder, name| {
            rustix::fs::openat(folder, name, flags, Mode::empty())
        });
        let file = match open {
            Err(error) if leads_nowhere(&error) => return Ok(None),
            open => File::from(open?),
        };
        let is_regular = file.metadata()?.is_file();
        Ok(is_regular.then_some(file))
    }

    /// Whether there is nothing at a path.
    pub(super) fn is_absent(&self, path: &Path) -> io::Result<bool> {
        match self.stat(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
            stat => stat.map(|_| false),
        }
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.at(path, |folder, name| {
            rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        })
    }

    /// The number of the open folder in its file system.
    pub(super) fn inode(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.open)?.st_ino)
    }

    /// Renames a file within its folder. What has the new name is replaced.
    pub(super) fn rename(&self, path: &Path, to: &Path) -> io::Result<()> {
        let to = name_beside(path, to)?;
        self.at(path, |folder, name| {
            rustix::fs::renameat(folder, name, folder, to)
        })
    }

    /// As [`rename`](Self::rename), but fails if something has the new name.
    pub(super) fn rename_new(&self, path: &Path, to: &Path) -> io::Result<()> {
        let name_to = name_beside(path, to)?;
        let renamed = self.at(path, |folder, name| {
            rustix::fs::renameat_with(folder, name, folder, name_to, RenameFlags::NOREPLACE)
        });
        match renamed {
            // Some file systems cannot rename without replacing in one step.
            Err(error) if is_unsupported(&error) => {
                if self.is_absent(to)? {
                    self.rename(path, to)
                } else {
                    Err(ErrorKind::AlreadyExists.into())
                }
            }
            renamed => renamed,
        }
    }

    pub(super) fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.at(path, |folder, name| {
            rustix::fs::unlinkat(folder, name, AtFlags::empty())
        })
    }

    /// Removes a folder that is empty.
    pub(super) fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.at(path, |folder, name| {
            rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
        })
    }

    /// Creates the folders that lead to a path; also adds those that it created to `made`.
    pub(super) fn make_folders(&self, path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
        let folders: Vec<&Path> = path.ancestors().skip(1).collect();
        let missing = folders
            .into_iter()
            .filter(|path| !path.as_os_str().is_empty());
        let missing: Vec<&Path> = missing
            .take_while(|path| self.is_absent(path).unwrap_or(true))
            .collect();
        for folder in missing.into_iter().rev() {
            self.at(folder, |around, name| {
                rustix::fs::mkdirat(around, name, Mode::from_raw_mode(0o777))
            })?;
            made.push(folder.to_path_buf());
        }
        let is_folder = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        match path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            Some(parent) if !is_folder(&self.stat(parent)?) => Err(Errno::NOTDIR.into()),
            _ => Ok(()),
        }
    }
}

fn not_beneath(path: &Path) -> io::Error {
    let message = format!("'{}' is not beneath the package", path.display());
    io::Error::new(ErrorKind::InvalidInput, message)
}

/// The new name of a file that stays in its folder.
fn name_beside<'t>(path: &Path, to: &'t Path) -> io::Result<&'t Path> {
    let name = to.file_name().filter(|_| path.parent() == to.parent());
    name.map(Path::new).ok_or_else(|| not_beneath(to))
}

/// Whether a path cannot be followed to a file: something is missing, a link, or not a folder.
fn leads_nowhere(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    error.kind() == ErrorKind::NotFound
        || matches!(errno, Some(Errno::LOOP | Errno::NOTDIR | Errno::NXIO))
}

fn is_unsupported(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Every change refuses a folder that is a link, wherever the link leads, and changes nothing there.
    #[test]
    fn no_change_is_written_through_a_link() {
        let outside = tempfile::tempdir().expect("a folder");
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("inside")).expect("a folder");
        for target in [outside.path(), &root.path().join("inside")] {
            fs::write(target.join("a"), "a").expect("a file");
            fs::create_dir(target.join("d")).expect("a folder");
            let link = root.path().join("link");
            symlink(target, &link).expect("a link");
            let folder = Folder::open(root.path()).expect("a folder");
            let (a, b, d) = ("link/a".as_ref(), "link/b".as_ref(), "link/d".as_ref());
            assert!(folder.create_private(b).is_err());
            assert!(folder.rename(a, b).is_err());
            assert!(folder.rename_new(a, b).is_err());
            assert!(folder.remove_file(a).is_err());
            assert!(folder.remove_folder(d).is_err());
            let mut made = Vec::new();
            assert!(folder.make_folders("link/e/f".as_ref(), &mut made).is_err());
            assert!(folder.make_folders(b, &mut made).is_err());
            assert_eq!(made, Vec::<PathBuf>::new());
            assert!(folder.open_regular(a).expect("nothing").is_none());
            let mut left: Vec<_> = fs::read_dir(target)
                .expect("a folder")
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            left.sort();
            assert_eq!(left, ["a", "d"]);
            fs::remove_file(link).expect("removed");
        }
    }

    #[test]
    fn no_path_leads_out_of_the_folder() {
        let outside = tempfile::tempdir().expect("a folder");
        fs::create_dir(outside.path().join("root")).expect("a folder");
        let folder = Folder::open(&outside.path().join("root")).expect("a folder");
        let absolute = outside.path().join("a");
        for path in ["../a", "..", "x/../../a", "", ".", "/"] {
            assert!(folder.create_private(path.as_ref()).is_err(), "{path}");
        }
        assert!(folder.create_private(&absolute).is_err());
        assert!(!absolute.exists());
    }

    #[test]
    fn a_new_file_is_private_and_replaces_nothing() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(root.path()).expect("a folder");
        let mut made = Vec::new();
        let (one, two): (&Path, &Path) = ("a/b/one".as_ref(), "a/b/two".as_ref());
        folder.make_folders(one, &mut made).expect("folders");
        assert_eq!(made, [Path::new("a"), Path::new("a/b")]);
        let file = folder.create_private(one).expect("a file");
        let mode = file.metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(folder.create_private(one).is_err());
        folder.create_private(two).expect("a file");
        let error = folder.rename_new(one, two).expect_err("it exists");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        folder.rename(one, two).expect("renamed");
        folder.rename_new(two, one).expect("renamed");
        assert!(folder.is_absent(two).expect("read"));
        assert!(folder.open_regular(one).expect("read").is_some());
        assert!(folder.open_regular("a".as_ref()).expect("read").is_none());
    }
}

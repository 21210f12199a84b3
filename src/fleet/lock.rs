//! An advisory lock on a package directory, which ends with the process.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another run.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// A locked package directory; unlocked when it is dropped.
#[derive(Debug)]
pub(crate) struct PackageLock {
    _directory: File,
}

impl PackageLock {
    /// Locks a directory. `None` if another run holds it for longer than a few seconds.
    ///
    /// # Errors
    /// The directory cannot be opened, or its file system has no locks.
    pub(crate) fn acquire(directory: &Path) -> io::Result<Option<Self>> {
        let start = Instant::now();
        loop {
            let file = File::open(directory)?;
            match file.try_lock() {
                // Another run may have put a new package in its place meanwhile.
                Ok(()) if is_same(&file.metadata()?, &fs::metadata(directory)?) => {
                    return Ok(Some(Self { _directory: file }));
                }
                Ok(()) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {}
            }
            if start.elapsed() > PATIENCE {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_do_not_hold_one_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = PackageLock::acquire(folder.path()).expect("a lock");
        assert!(lock.is_some());
        let other = File::open(folder.path()).expect("the folder");
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(lock);
        assert!(other.try_lock().is_ok());
    }
}

//! An advisory lock on a package directory, which ends with the process.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another run to release a lock.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// How often to recreate a folder that another process removes.
const MOST_ATTEMPTS: u32 = 1_000;

/// A locked package directory, which is unlocked on drop.
#[derive(Debug)]
pub struct PackageLock {
    _directory: File,
}

impl PackageLock {
    /// Locks a directory. `None` if another run keeps it locked for more than 5 seconds.
    ///
    /// # Errors
    /// The directory cannot be opened, or its file system has no locks.
    pub fn acquire(directory: &Path) -> io::Result<Option<Self>> {
        wait(|| try_lock(directory))
    }

    /// Creates a directory with its parents, and locks it. Other runs remove folders that they leave empty, so the
    /// directory may be removed before it is locked; it is then created again.
    ///
    /// # Errors
    /// As [`PackageLock::acquire`]; or the directory cannot be created.
    pub fn make(directory: &Path) -> io::Result<Option<Self>> {
        let mut attempts = 0;
        wait(|| {
            let attempt = try_lock(directory).or_else(|error| match error.kind() {
                ErrorKind::NotFound => fs::create_dir_all(directory).map(|()| Attempt::Again),
                _ => Err(error),
            });
            attempts += 1;
            match attempt {
                // A parent folder was removed while this one was being created.
                Err(error) if is_vanished(&error) && attempts < MOST_ATTEMPTS => Ok(Attempt::Again),
                attempt => attempt,
            }
        })
    }
}

/// Whether `create_dir_all` returns this error if a folder is removed concurrently. A file in the folder's place
/// causes the same error.
fn is_vanished(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists)
}

/// The outcome of an attempt to lock.
enum Attempt {
    Locked(PackageLock),
    /// Another run holds the lock.
    Held,
    /// The directory was replaced or removed before it was locked.
    Again,
}

fn try_lock(directory: &Path) -> io::Result<Attempt> {
    let file = File::open(directory)?;
    match file.try_lock() {
        // Another run may have replaced the directory with a new package in the meantime.
        Ok(()) if is_same(&file.metadata()?, &fs::metadata(directory)?) => {
            Ok(Attempt::Locked(PackageLock { _directory: file }))
        }
        Ok(()) => Ok(Attempt::Again),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Held),
    }
}

/// Repeats the attempt until it succeeds; `None` after [`PATIENCE`].
fn wait(mut attempt: impl FnMut() -> io::Result<Attempt>) -> io::Result<Option<PackageLock>> {
    let start = Instant::now();
    loop {
        match attempt()? {
            Attempt::Locked(lock) => return Ok(Some(lock)),
            _ if start.elapsed() > PATIENCE => return Ok(None),
            Attempt::Held => std::thread::sleep(PAUSE),
            Attempt::Again => {}
        }
    }
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remove_empty_folders;

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

    #[test]
    fn folders_are_created_while_others_remove_empty_ones() {
        let fleet = tempfile::tempdir().expect("a folder");
        let churn = |name: &str| {
            for round in 0..500 {
                let package = fleet.path().join("east/eu").join(name);
                let lock = PackageLock::make(&package).unwrap_or_else(|error| {
                    panic!("{name}, round {round}: {error}");
                });
                assert!(lock.is_some());
                remove_empty_folders(fleet.path(), &package);
            }
        };
        std::thread::scope(|scope| {
            for name in ["a", "b", "c"] {
                scope.spawn(move || churn(name));
            }
        });
        assert!(!fleet.path().join("east").exists());
    }
}

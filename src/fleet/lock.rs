//! An advisory lock on a package directory, which ends with the process.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another run.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// How often a folder is made that others remove.
const MOST_ATTEMPTS: u32 = 1_000;

/// A locked package directory; unlocked when it is dropped.
#[derive(Debug)]
pub struct PackageLock {
    _directory: File,
}

impl PackageLock {
    /// Locks a directory. `None` if another run holds it for longer than a few seconds.
    ///
    /// # Errors
    /// The directory cannot be opened, or its file system has no locks.
    pub fn acquire(directory: &Path) -> io::Result<Option<Self>> {
        wait(|| try_lock(directory))
    }

    /// Makes a directory, with those above it, and locks it. Others remove folders that they left empty, so what was
    /// just made may be gone; it is made again then.
    ///
    /// # Errors
    /// As [`PackageLock::acquire`]; the directory cannot be made.
    pub fn make(directory: &Path) -> io::Result<Option<Self>> {
        let mut attempts = 0;
        wait(|| {
            let attempt = try_lock(directory).or_else(|error| match error.kind() {
                ErrorKind::NotFound => fs::create_dir_all(directory).map(|()| Attempt::Again),
                _ => Err(error),
            });
            attempts += 1;
            match attempt {
                // A folder above it was removed while this one was made.
                Err(error) if is_vanished(&error) && attempts < MOST_ATTEMPTS => Ok(Attempt::Again),
                attempt => attempt,
            }
        })
    }
}

/// Whether this is what `create_dir_all` says of a folder that is removed meanwhile. A file in its place gives the same.
fn is_vanished(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists)
}

/// What one attempt at a lock came to.
enum Attempt {
    Locked(PackageLock),
    /// Another run holds the directory.
    Held,
    /// The directory was replaced or removed meanwhile.
    Again,
}

fn try_lock(directory: &Path) -> io::Result<Attempt> {
    let file = File::open(directory)?;
    match file.try_lock() {
        // Another run may have put a new package in its place meanwhile.
        Ok(()) if is_same(&file.metadata()?, &fs::metadata(directory)?) => {
            Ok(Attempt::Locked(PackageLock { _directory: file }))
        }
        Ok(()) => Ok(Attempt::Again),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Held),
    }
}

/// Attempts until there is a lock; `None` once patience is over.
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
    use crate::fleet::remove_empty_folders;

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
    fn folders_are_made_while_others_remove_those_that_are_empty() {
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

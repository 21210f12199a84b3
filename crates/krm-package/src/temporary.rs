//! Temporary files. Each is named after the process that creates it, so that a later run can determine which ones a
//! killed run left behind.
//!
//! ```text
//! .krm-variants-5f3a90c1-4711-207599-Ab3dEf.tmp
//! .krm-variants-5f3a90c1-4711-207599-Ab3dEf.tmp
//!               |        |    |      random
//!               |        |    when the process started, in clock ticks since the host's start
//!               |        the id of the process
//!               the host since its last start, and the namespace of the process id
//! ```
//!
//! A file of this host and namespace was left behind if no process with that id and start time exists; the id alone
//! is not enough, because ids are reused. Nothing is known about processes elsewhere (another host, a container,
//! before a reboot) or of another user, so their files count as left behind after an hour. No run takes that long.

use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use rustix::fs::Mode;

use super::beneath::Folder;
use super::{PackageError, USUAL_MODE};

/// Readers of packages do not read files with such names as KRM.
const PREFIX: &str = ".krm-variants-";
const SUFFIX: &str = ".tmp";

/// No run takes longer than this.
const OLD: Duration = Duration::from_secs(60 * 60);

/// The process that a temporary file is named after.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TemporaryMaker {
    /// A digest of the host's last start and the process namespace, within which the id is unique.
    place: String,
    id: u32,
    start: u64,
}

impl TemporaryMaker {
    /// This process; `None` if the system does not provide the data.
    fn own() -> Option<&'static Self> {
        static OWN: OnceLock<Option<TemporaryMaker>> = OnceLock::new();
        let find = || {
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
            let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
            let place = format!("{} {}", boot.trim(), namespace.display());
            let place = sha1_smol::Sha1::from(place).digest().to_string();
            let id = fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()?;
            Some(TemporaryMaker {
                place: place[..8].to_owned(),
                id,
                start: start_of(id).ok()??,
            })
        };
        OWN.get_or_init(find).as_ref()
    }

    fn of_name(name: &str) -> Option<Self> {
        let inner = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        let mut parts = inner.splitn(4, '-');
        let mut next = || parts.next();
        let (place, id, start) = (next()?, next()?, next()?);
        next()?;
        Some(Self {
            place: place.to_owned(),
            id: id.parse().ok()?,
            start: start.parse().ok()?,
        })
    }

    fn prefix(&self) -> String {
        format!("{PREFIX}{}-{}-{}-", self.place, self.id, self.start)
    }
}

/// When a process started, in clock ticks since the host's start; `None` if there is no process with that id.
fn start_of(id: u32) -> io::Result<Option<u64>> {
    let stat = match fs::read(format!("/proc/{id}/stat")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        stat => stat?,
    };
    // The name of the program is in parentheses and may contain any byte.
    let stat = String::from_utf8_lossy(&stat);
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let start = fields.split_ascii_whitespace().nth(19);
    let start = start.and_then(|start| start.parse().ok());
    start
        .map(Some)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Whether this is the name of a temporary file, which a running or killed run put next to a file.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// The name of the journal of a package, for a folder of which Git knows nothing.
pub(super) fn name_of_journal(key: &str) -> String {
    format!("{PREFIX}journal-{key}{SUFFIX}")
}

/// Creates a temporary file in a folder beneath a folder, for its owner alone. Returns its path.
pub(super) fn make_in(root: &Folder, folder: &Path) -> io::Result<(PathBuf, File)> {
    let prefix = TemporaryMaker::own().map_or(PREFIX.to_owned(), TemporaryMaker::prefix);
    loop {
        // The standard library's only random numbers.
        let random = RandomState::new().hash_one(0) & 0xffff_ffff;
        let path = folder.join(format!("{prefix}{random:08x}{SUFFIX}"));
        match root.create_private(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((path, made?)),
        }
    }
}

/// The permission bits of a new file: those of upstream's file, or the usual ones, less the umask.
pub(super) fn mode_of_new(wanted: Option<u32>) -> u32 {
    wanted.unwrap_or(USUAL_MODE) & 0o777 & !umask()
}

/// The umask of this process. Asking the system for it would change it for a moment, for all threads.
fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    *UMASK.get_or_init(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mut lines = status.lines();
        let umask = lines.find_map(|line| line.strip_prefix("Umask:"));
        let umask = umask.and_then(|umask| u32::from_str_radix(umask.trim(), 8).ok());
        umask.unwrap_or_else(|| {
            let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
            rustix::process::umask(umask);
            #[allow(
                clippy::useless_conversion,
                reason = "a mode has 16 bits on some systems"
            )]
            u32::from(umask.bits())
        })
    })
}

/// Removes the temporary files among these that were left behind in a package. Errors are ignored: a file that remains
/// does no harm.
pub(super) fn remove_left_behind(root: &Path, files: &[PathBuf]) {
    let Some(folder) = Some(files)
        .filter(|files| !files.is_empty())
        .and_then(|_| Folder::open(root).ok())
    else {
        return;
    };
    for file in files {
        let Ok(path) = file.strip_prefix(root) else {
            continue;
        };
        let Ok(Some(Ok(metadata))) = folder
            .open_regular(path)
            .map(|file| file.map(|file| file.metadata()))
        else {
            continue;
        };
        let name = file.file_name().and_then(|name| name.to_str());
        let maker = name.and_then(TemporaryMaker::of_name);
        if is_left_behind(maker.as_ref(), &metadata) {
            let _ = folder.remove_file(path);
        }
    }
}

/// Whether a directory is missing, or contains nothing except what a killed run left behind.
///
/// # Errors
/// The directory cannot be read, so its contents are unknown.
pub fn is_vacant(directory: &Path) -> Result<bool, PackageError> {
    let failed = || PackageError::io("read", directory);
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        entries => entries.map_err(failed())?,
    };
    for entry in entries {
        let entry = entry.map_err(failed())?;
        let is_folder = entry.file_type().map_err(failed())?.is_dir();
        let is_left_behind = entry.file_name().to_str().is_some_and(is_temporary);
        if !(is_left_behind || is_folder && is_vacant(&entry.path())?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a killed run left a directory before it had written a file: there are temporary files, and no others.
///
/// # Errors
/// As [`is_vacant`].
pub fn is_left_by_killed_run(directory: &Path) -> Result<bool, PackageError> {
    let names = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names = names.map(|entry| entry.file_name());
    let has_temporary = names.any(|name| name.to_str().is_some_and(is_temporary));
    Ok(has_temporary && is_vacant(directory)?)
}

fn is_left_behind(maker: Option<&TemporaryMaker>, metadata: &Metadata) -> bool {
    let own = TemporaryMaker::own().filter(|_| is_own(metadata));
    if let (Some(maker), Some(own)) = (maker, own)
        && maker.place == own.place
        && let Ok(start) = start_of(maker.id)
    {
        return start != Some(maker.start);
    }
    let age = metadata.modified().ok();
    let age = age.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    age.is_some_and(|age| age > OLD)
}

/// Whether a file belongs to the user whose processes this process can see.
fn is_own(metadata: &Metadata) -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == metadata.uid())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, name: &str, age: Duration) -> PathBuf {
        let path = folder.join(name);
        let file = fs::File::create(&path).expect("a file");
        file.set_modified(SystemTime::now() - age).expect("a time");
        path
    }

    #[test]
    fn a_name_identifies_the_run_that_created_it() {
        let maker = TemporaryMaker {
            place: "5f3a90c1".into(),
            id: 4711,
            start: 207_599,
        };
        let name = format!("{}Ab3dEf{SUFFIX}", maker.prefix());
        assert!(is_temporary(&name));
        assert_eq!(TemporaryMaker::of_name(&name), Some(maker));
        assert_eq!(TemporaryMaker::of_name(".krm-variants-Ab3dEf.tmp"), None);
        assert!(is_temporary(".krm-variants-Ab3dEf.tmp"));
    }

    #[test]
    fn only_files_of_dead_runs_are_removed() {
        let Some(own) = TemporaryMaker::own() else {
            return;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let of = |place: &str, id: u32, start: u64| {
            let place = place.to_owned();
            format!("{}x{SUFFIX}", TemporaryMaker { place, id, start }.prefix())
        };
        let mut child = std::process::Command::new("true")
            .spawn()
            .expect("a process");
        child.wait().expect("its end");
        let (now, day) = (Duration::ZERO, Duration::from_secs(24 * 60 * 60));
        let table = [
            // This process, which is still running.
            (of(&own.place, own.id, own.start), now, true),
            (of(&own.place, own.id, own.start + 1), day, false),
            // The id was reused by another process.
            (of(&own.place, own.id, own.start - 1), now, false),
            // A process that has ended.
            (of(&own.place, child.id(), own.start), now, false),
            // A process elsewhere.
            (of("00000000", own.id, own.start), now, true),
            (of("00000000", own.id, own.start), day, false),
            (".krm-variants-Ab3dEf.tmp".to_owned(), now, true),
            (".krm-variants-Ab3dEf.tmp".to_owned(), day, false),
        ];
        for (name, age, stays) in table {
            let path = file(folder.path(), &name, age);
            remove_left_behind(folder.path(), std::slice::from_ref(&path));
            assert_eq!(path.exists(), stays, "{name} {age:?}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_read_does_not_count_as_a_package() {
        let folder = tempfile::tempdir().expect("a folder");
        let package = folder.path().join("package");
        assert!(is_vacant(&package).expect("no folder"));
        fs::create_dir(&package).expect("a folder");
        assert!(is_vacant(&package).expect("a folder"));
        fs::write(package.join("a.yaml"), "").expect("a file");
        assert!(!is_vacant(&package).expect("a folder"));
        let error = is_vacant(&package.join("a.yaml")).expect_err("a file");
        assert!(error.to_string().contains("cannot read"), "{error}");
    }

    #[test]
    fn remains_of_a_killed_run_are_recognized_by_its_temporary_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let is_left = || is_left_by_killed_run(folder.path()).expect("read");
        assert!(!is_left());
        fs::create_dir(folder.path().join("prod")).expect("a folder");
        assert!(!is_left(), "a user's empty folders");
        file(folder.path(), ".krm-variants-x.tmp", Duration::ZERO);
        file(
            &folder.path().join("prod"),
            ".krm-variants-y.tmp",
            Duration::ZERO,
        );
        assert!(is_left());
        file(&folder.path().join("prod"), "mine.yaml", Duration::ZERO);
        assert!(!is_left());
    }
}

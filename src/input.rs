//! Reads all of standard input.

use std::borrow::Cow;
use std::io::{self, Read};

/// Reads standard input to its end. A file is read into a buffer of its length, a long one by several
/// threads.
#[cfg(unix)]
pub(crate) fn read_stdin() -> io::Result<Cow<'static, [u8]>> {
    use std::io::{Seek, SeekFrom};
    use std::os::fd::AsFd;

    // Nothing was read through the buffer of `io::stdin` before.
    let mut file = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut bytes = Vec::new();
    if file.metadata()?.is_file() {
        let from = file.stream_position()?;
        if let Some(part) = read_part(&file, from) {
            file.seek(SeekFrom::Start(from + part.len() as u64))?;
            // The file may have grown meanwhile.
            file.read_to_end(&mut bytes)?;
            return Ok(if bytes.is_empty() {
                Cow::Borrowed(part)
            } else {
                Cow::Owned([part, &bytes].concat())
            });
        }
    }
    // A pipe, or a short file.
    (&file).take(long() as u64).read_to_end(&mut bytes)?;
    if bytes.len() < long() {
        return Ok(Cow::Owned(bytes));
    }
    read_on(&file, bytes)
}

/// Bytes from which on an input gets large pages.
#[cfg(unix)]
fn long() -> usize {
    8 * crate::parallel::share()
}
/// Bytes of memory that the rest of a pipe may fill; what is not filled takes none.
#[cfg(unix)]
const MOST: usize = 1 << 30;

/// Memory of large pages, if the system has them: it then makes and clears a five-hundredth as many.
#[cfg(unix)]
fn large_pages(length: usize) -> Option<memmap2::MmapMut> {
    let mut options = memmap2::MmapOptions::new();
    let map = options.len(length).no_reserve_swap().map_anon().ok()?;
    // Without large pages the usual ones do.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

/// Reads the rest of a long pipe, of which some bytes were read. A vector would be moved as it grows.
///
/// The buffer stays in memory until the end of the process.
#[cfg(unix)]
fn read_on(mut file: &std::fs::File, mut bytes: Vec<u8>) -> io::Result<Cow<'static, [u8]>> {
    let Some(mut map) = large_pages(MOST) else {
        file.read_to_end(&mut bytes)?;
        return Ok(Cow::Owned(bytes));
    };
    let mut length = bytes.len();
    map[..length].copy_from_slice(&bytes);
    drop(bytes);
    while length < MOST {
        match file.read(&mut map[length..]) {
            Ok(0) => return Ok(Cow::Borrowed(&Box::leak(Box::new(map))[..length])),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut bytes = map.to_vec();
    file.read_to_end(&mut bytes)?;
    Ok(Cow::Owned(bytes))
}

/// Reads a long file from an offset on; `None` if it is short, or shorter than its metadata says.
///
/// The buffer stays in memory until the end of the process.
#[cfg(unix)]
fn read_part(file: &std::fs::File, from: u64) -> Option<&'static [u8]> {
    use std::num::NonZero;
    use std::os::unix::fs::FileExt;
    use std::thread;

    let length = usize::try_from(file.metadata().ok()?.len().checked_sub(from)?).ok()?;
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    if length < long() || threads < 2 {
        return None;
    }
    let mut map = large_pages(length)?;
    let share = length.div_ceil(threads);
    let read = thread::scope(|scope| {
        let parts: Vec<_> = map
            .chunks_mut(share)
            .zip((from..).step_by(share))
            .map(|(part, at)| scope.spawn(move || file.read_exact_at(part, at)))
            .collect();
        parts
            .into_iter()
            .all(|part| matches!(part.join(), Ok(Ok(()))))
    });
    read.then(|| &**Box::leak(Box::new(map)))
}

/// Reads standard input to its end.
#[cfg(not(unix))]
pub(crate) fn read_stdin() -> io::Result<Cow<'static, [u8]>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(Cow::Owned(bytes))
}

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
    file.read_to_end(&mut bytes)?;
    Ok(Cow::Owned(bytes))
}

/// Reads a long file from an offset on; `None` if it is short, or shorter than its metadata says.
///
/// The buffer asks for large pages of memory: the system then makes and clears a five-hundredth as many
/// pages. It stays in memory until the end of the process.
#[cfg(unix)]
fn read_part(file: &std::fs::File, from: u64) -> Option<&'static [u8]> {
    use std::num::NonZero;
    use std::os::unix::fs::FileExt;
    use std::thread;

    use memmap2::MmapOptions;

    use crate::parallel::SHARE;

    let length = usize::try_from(file.metadata().ok()?.len().checked_sub(from)?).ok()?;
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    if length < 8 * SHARE || threads < 2 {
        return None;
    }
    let mut map = MmapOptions::new().len(length).map_anon().ok()?;
    // Without large pages the usual ones do.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
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

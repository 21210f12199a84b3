//! Runs a program of the user's, and ends it if nothing comes out of it for too long, or too much.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

/// The most bytes of messages that are kept.
const MOST_MESSAGES: usize = 64 << 10;

/// How long a program is waited for at a time that may take as long as it wants.
const TICK: Duration = Duration::from_secs(300);

/// What a program gets and may do.
#[derive(Default)]
pub struct Watch<'w> {
    /// How long nothing may come out of it. `None`: as long as it takes.
    pub patience: Option<Duration>,
    /// The most bytes of standard output. `None`: any number.
    pub limit: Option<u64>,
    /// Standard input.
    pub input: &'w [u8],
}

/// Why a program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing came out of it.
    Silence,
    /// Its standard output has more bytes than the limit.
    TooMuch,
}

/// What a program printed.
pub struct ProgramOutput {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub stopped: Option<StopReason>,
}

/// Runs a program to its end. A nonzero exit code is not an error.
pub fn run(program: &mut Command, watch: &Watch<'_>) -> io::Result<ProgramOutput> {
    let input = if watch.input.is_empty() {
        Stdio::null()
    } else {
        Stdio::piped()
    };
    program
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    watched(program.spawn()?, watch)
}

/// What comes out of a process.
enum Event {
    /// Some bytes of standard output.
    Bytes(Vec<u8>),
    /// A line of standard error. Empty if it is not a message.
    Message(Vec<u8>),
    /// One of the two has ended.
    End,
}

/// Waits for the end of a process, or ends it.
fn watched(mut child: Child, watch: &Watch<'_>) -> io::Result<ProgramOutput> {
    let (sender, events) = mpsc::channel();
    if let Some(mut stdin) = child.stdin.take() {
        let input = watch.input.to_vec();
        // A program may end before it has read everything.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    if let Some(stdout) = child.stdout.take() {
        let sender = sender.clone();
        std::thread::spawn(move || send_bytes(stdout, &sender));
    }
    if let Some(stderr) = child.stderr.take() {
        std::thread::spawn(move || send_messages(stderr, &sender));
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (mut open, mut stopped) = (2, None);
    while open > 0 {
        match events.recv_timeout(watch.patience.unwrap_or(TICK)) {
            Ok(Event::Bytes(bytes)) => stdout.extend(bytes),
            Ok(Event::Message(line)) if stderr.len() < MOST_MESSAGES => stderr.extend(line),
            Ok(Event::Message(_)) => {}
            Ok(Event::End) => open -= 1,
            Err(RecvTimeoutError::Timeout) if watch.patience.is_some() => {
                // It may have ended meanwhile.
                stopped = child.try_wait()?.is_none().then_some(StopReason::Silence);
                let _ = child.kill();
                break;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if watch.limit.is_some_and(|limit| stdout.len() as u64 > limit) {
            stopped = Some(StopReason::TooMuch);
            let _ = child.kill();
            break;
        }
    }
    Ok(ProgramOutput {
        status: child.wait()?,
        stdout,
        stderr,
        stopped,
    })
}

fn send_bytes(mut stream: impl Read, events: &Sender<Event>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        if events.send(Event::Bytes(buffer[..count].to_vec())).is_err() {
            return;
        }
    }
    // The receiver may have given up.
    let _ = events.send(Event::End);
}

fn send_messages(mut stream: impl Read, events: &Sender<Event>) {
    let mut buffer = vec![0; 64 << 10];
    let mut pending = Vec::new();
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        pending.extend_from_slice(&buffer[..count]);
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let complete = pending.iter().rposition(is_end).map_or(0, |at| at + 1);
        let lines = pending.drain(..complete).collect::<Vec<u8>>();
        let lines = lines
            .split(|byte| is_end(byte))
            .filter(|line| !is_trace(line));
        let lines = lines.flat_map(|line| [line, b"\n"].concat()).collect();
        if events.send(Event::Message(lines)).is_err() {
            return;
        }
    }
    // The receiver may have given up.
    let _ = events.send(Event::Message(pending));
    let _ = events.send(Event::End);
}

/// Whether a line is of the trace of packets, or of the display of progress.
fn is_trace(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let is_packet = line.contains(" pkt-line.c:") && line.contains(" packet:");
    let counted = ["% (", "remote: Enumerating objects", "remote: Total "];
    is_packet || line.trim().is_empty() || counted.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(script: &str, watch: &Watch<'_>) -> ProgramOutput {
        let mut shell = Command::new("sh");
        run(shell.args(["-c", script]), watch).expect("it ends")
    }

    fn patient(patience: Duration) -> Watch<'static> {
        Watch {
            patience: Some(patience),
            ..Watch::default()
        }
    }

    #[test]
    fn a_silent_process_is_stopped_and_an_active_one_is_not() {
        let start = Instant::now();
        let output = shell("exec sleep 60", &patient(Duration::from_millis(300)));
        assert_eq!(output.stopped, Some(StopReason::Silence));
        assert!(start.elapsed() < Duration::from_secs(30));
        // Packets of the trace count as progress, and are not messages.
        let packet = "12:00:00.000000 pkt-line.c:80   packet:  fetch< 0000";
        let script = format!(
            "for i in 1 2 3 4; do sleep 1; echo '{packet}' >&2; done; echo done; echo why >&2; exit 1"
        );
        let output = shell(&script, &patient(Duration::from_secs(20)));
        assert_eq!(output.stopped, None);
        assert_eq!(output.stdout, b"done\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr).trim(), "why");
    }

    #[test]
    fn much_output_of_both_kinds_does_not_block() {
        let script = "head -c 3000000 /dev/zero; yes | head -c 3000000 >&2";
        let output = shell(script, &Watch::default());
        assert_eq!(output.stdout.len(), 3_000_000);
        assert!(output.stderr.len() < 2 * MOST_MESSAGES + (128 << 10));
    }

    #[test]
    fn a_process_that_prints_too_much_is_stopped() {
        let watch = Watch {
            limit: Some(1 << 20),
            ..Watch::default()
        };
        let output = shell("exec cat /dev/zero", &watch);
        assert_eq!(output.stopped, Some(StopReason::TooMuch));
        assert!(output.stdout.len() < 2 << 20);
    }

    #[test]
    fn a_process_reads_its_input() {
        let input = vec![b'x'; 300_000];
        let watch = Watch {
            input: &input,
            ..Watch::default()
        };
        assert_eq!(shell("cat", &watch).stdout, input);
        // One that does not read it ends as well.
        assert!(shell("true", &watch).status.success());
    }
}

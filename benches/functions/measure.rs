//! Measuring: whole processes and work of this process, interleaved in rounds.

use std::cell::Cell;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Rounds; every row is measured once in each, so that a slow moment touches all rows.
pub(crate) const ROUNDS: usize = 5;
/// Rounds of rows that take [`SLOW`] or more.
const SLOW_ROUNDS: usize = 3;
const SLOW: Duration = Duration::from_secs(2);
/// Short work is repeated within a sample until that took so long.
const SAMPLE: Duration = Duration::from_millis(100);
const MOST_REPEATS: u32 = 50;

/// What is measured.
pub(crate) struct Row<'a> {
    pub(crate) name: String,
    work: Box<dyn Fn() + 'a>,
    memory: Box<dyn Fn() -> Option<u64> + 'a>,
    repeats: Cell<u32>,
    /// Seconds, one for each round.
    pub(crate) times: Vec<f64>,
    /// User and system time of all rounds in hundredths of a second.
    ticks: u64,
    /// Peak memory in bytes.
    pub(crate) memory_peak: Option<u64>,
}

impl<'a> Row<'a> {
    /// Work of this process, or of more than one process.
    pub(crate) fn new(name: impl Into<String>, work: impl Fn() + 'a) -> Self {
        Row {
            name: name.into(),
            work: Box::new(work),
            memory: Box::new(|| None),
            repeats: Cell::new(1),
            times: Vec::new(),
            ticks: 0,
            memory_peak: None,
        }
    }

    /// One process: `command` makes it anew for each run, with its input; its output is dropped.
    pub(crate) fn process(name: impl Into<String>, command: impl Fn() -> Command + 'a) -> Self {
        let command = std::rc::Rc::new(command);
        let again = std::rc::Rc::clone(&command);
        Row {
            memory: Box::new(move || peak_of(&mut again())),
            ..Row::new(name, move || run(&mut command()))
        }
    }

    /// Median time in seconds.
    pub(crate) fn median(&self) -> f64 {
        spread(self.times.clone())[1]
    }

    /// Least, median and greatest time in seconds.
    pub(crate) fn spread(&self) -> [f64; 3] {
        spread(self.times.clone())
    }

    /// Processor time of one run in seconds: the mean, since Linux counts in hundredths of a second.
    pub(crate) fn cpu(&self) -> f64 {
        self.ticks as f64 / 100.0 / (self.times.len() as f64 * f64::from(self.repeats.get()))
    }

    /// Least, median and greatest of this row's time by another's in the same round.
    pub(crate) fn ratio(&self, base: &Row<'_>) -> [f64; 3] {
        spread(
            self.times
                .iter()
                .zip(&base.times)
                .map(|(a, b)| a / b)
                .collect(),
        )
    }

    fn sample(&mut self) {
        let repeats = self.repeats.get();
        let (start, before) = (Instant::now(), ticks());
        for _ in 0..repeats {
            (self.work)();
        }
        let time = start.elapsed().as_secs_f64();
        self.ticks += ticks() - before;
        self.times.push(time / f64::from(repeats));
    }
}

/// Measures all rows: one run of each to warm up, the rounds, and one run to see the peak of memory.
pub(crate) fn measure(rows: &mut [Row<'_>]) {
    for row in &mut *rows {
        row.sample();
        let took = Duration::from_secs_f64(row.times[0]);
        if took < SLOW {
            let repeats = SAMPLE.as_nanos() / took.as_nanos().max(1);
            let repeats = u32::try_from(repeats).unwrap_or(MOST_REPEATS);
            row.repeats.set(repeats.clamp(1, MOST_REPEATS));
            row.times.clear();
            row.ticks = 0;
        }
    }
    // Of slow work the first run counts: nothing of it is about a cold start.
    let slow: Vec<bool> = rows.iter().map(|row| !row.times.is_empty()).collect();
    for round in 0..ROUNDS {
        for (row, slow) in rows.iter_mut().zip(&slow) {
            if !slow || (1..SLOW_ROUNDS).contains(&round) {
                row.sample();
            }
        }
    }
    for row in rows {
        row.memory_peak = (row.memory)();
    }
}

/// Least, median and greatest.
pub(crate) fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    [values[0], values[last / 2], values[last]]
}

/// A program with a file as its standard input.
pub(crate) fn with_input(program: impl AsRef<Path>, arguments: &[&str], input: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    let file = File::open(input).expect("the input is there");
    command.args(arguments).stdin(file);
    command
}

/// Runs a process to its end, which must be a good one.
pub(crate) fn run(command: &mut Command) {
    command.stderr(Stdio::null());
    let status = command.stdout(Stdio::null()).status();
    assert!(status.expect("it starts").success(), "{command:?}");
}

/// Peak memory of a process that runs for it.
pub(crate) fn peak_of(command: &mut Command) -> Option<u64> {
    // Whoever reads its output slowly sees it before it is gone.
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut stdout = child.stdout.take().expect("standard output is piped");
    let id = child.id();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut memory = None;
            let mut buffer = vec![0; 1 << 16];
            while matches!(std::io::Read::read(&mut stdout, &mut buffer), Ok(1..)) {
                memory = memory.max(peak(id));
            }
            memory
        });
        let memory = watch(&mut child);
        memory.max(reader.join().expect("the reader does not panic"))
    })
}

/// Peak memory of a process until it ends.
fn watch(child: &mut Child) -> Option<u64> {
    let mut memory = None;
    loop {
        memory = memory.max(peak(child.id()));
        if child.try_wait().expect("it is there").is_some() {
            return memory;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Peak memory of a running process in bytes; Linux only.
fn peak(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes = line.trim().strip_suffix(" kB")?.trim();
    kilobytes.parse::<u64>().ok().map(|number| number * 1024)
}

/// User and system time of this process and of its children that have ended, in hundredths of a
/// second; Linux only.
pub(crate) fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let times = fields.split_whitespace().skip(11).take(4);
    times.filter_map(|time| time.parse::<u64>().ok()).sum()
}

/// Whether a program is on PATH.
pub(crate) fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

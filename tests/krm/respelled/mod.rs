//! A value in one spelling replaced by a value in another, each with and without comments, at many
//! places and by all functions that set values: the data is the new one, and every comment is there once.
//!
//! An independent reader (`serde-saphyr`) judges the data. Comments are counted as words of the text.
//! `RESPELLED=all` tries all pairs at all places.

mod merge;
mod places;
mod setters;

use std::collections::BTreeMap;

use krm_core::config::Config;
use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};

use places::{PLACES, Place};

type Files = BTreeMap<String, String>;

/// The spellings of a value, as they stand behind an indicator. `%` is the place of the comment of its
/// line, `%%` that of one within. Further lines are indented from the column of the key or dash.
const SPELLINGS: [&str; 44] = [
    " one%",
    " 'one'%",
    " \"one\"%",
    " !!str one%",
    " &y one%",
    " *x%",
    " 5%",
    " true%",
    " \"x\\ny\\n\"%",
    " one\n  two%",
    " 'one\n  two'%",
    " \"one\n  two\"%",
    "\n  one%",
    "%\n  one",
    "%\n  'one\n  two'",
    " |%\n  x\n  y",
    " |-%\n  x\n  y",
    " |+%\n  x\n  y\n\n",
    " |2%\n    x\n   y",
    " |-%\n    x\n    y",
    " |%\n",
    " >%\n  x\n  y",
    " >-%\n  x\n\n  y",
    " >+%\n  x\n\n",
    " >1%\n  x\n y",
    " !!str |%\n  x",
    " &y |%\n  x",
    " {}%",
    " []%",
    " {a: 1}%",
    " [a, b]%",
    " {a: 1,%%\n    b: 2}%",
    " [\n    a,%%\n    b\n  ]%",
    "%\n  {a: 1}",
    "%\n  a: 1%%\n  b: 2",
    " &y%\n  a: 1",
    " !!map%\n  a: 1%%",
    "%\n  - a%%\n  - b",
    "%\n    - a: 1\n      b: |%%\n        t",
    " \"\"%",
    "%",
    " ~%",
    " null%",
    " &y%",
];

/// A spelling with comments on one side.
struct Spelled {
    /// The spelling without comments.
    spelling: &'static str,
    /// What stands behind the indicator.
    text: String,
    /// The comments in it, first that of its line.
    comments: Vec<String>,
}

impl Spelled {
    fn without_comments(&self) -> String {
        self.spelling.replace('%', "")
    }
}

/// All spellings, without comments and with those of a side.
fn spellings(side: &str) -> Vec<Spelled> {
    let plain = SPELLINGS.iter().map(|spelling| Spelled {
        spelling,
        text: spelling.replace('%', ""),
        comments: Vec::new(),
    });
    let commented = SPELLINGS.iter().map(|spelling| {
        let (line, inner) = (format!("# {side} line."), format!("# {side} inner."));
        let text = spelling.replace("%%", &format!(" {inner}"));
        let mut comments = vec![line.clone()];
        comments.extend(spelling.contains("%%").then_some(inner));
        Spelled {
            spelling,
            text: text.replace('%', &format!(" {line}")),
            comments,
        }
    });
    plain.chain(commented).collect()
}

/// As many turns as places, but for one: each pair of spellings is tried at one place or two.
const ALL_PAIRS: usize = PLACES.len() - 1;

/// The places, each with the pairs of spellings whose turn it is there.
fn trials<'s>(
    old: &'s [Spelled],
    new: &'s [Spelled],
    turns: usize,
) -> impl Iterator<Item = (&'static Place, Vec<(&'s Spelled, &'s Spelled)>)> {
    let is_all = std::env::var_os("RESPELLED").is_some_and(|which| which == "all");
    PLACES.iter().enumerate().map(move |(at, place)| {
        let pairs = (0..old.len()).flat_map(|i| (0..new.len()).map(move |j| (i, j)));
        let pairs = pairs.filter(|(i, j)| is_all || (i * 7 + j * 3 + at) % turns == 0);
        let pairs = pairs.map(|(i, j)| (&old[i], &new[j]));
        let pairs = pairs.filter(|(old, _)| place.takes(&old.text));
        (place, pairs.collect())
    })
}

/// What one run of a function made of a value.
struct Trial<'s> {
    old: &'s Spelled,
    new: &'s Spelled,
    /// The text that was edited.
    before: String,
    /// The text that the new value is from.
    given: String,
    result: String,
}

/// The data of a text as the independent reader takes it.
fn data(text: &str) -> Result<serde_json::Value, String> {
    let options = serde_saphyr::options! { budget: None };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

/// Checks how often comments are in a text.
fn counts<S: AsRef<str>>(comments: &[S], text: &str, expected: usize) -> Result<(), String> {
    for comment in comments.iter().map(AsRef::as_ref) {
        let found = text.matches(comment).count();
        if found != expected {
            return Err(format!("`{comment}`: {found} times"));
        }
    }
    Ok(())
}

/// One file for each text, in which the resource has a name of its own.
fn files_of<S: AsRef<str>>(texts: &[S]) -> Files {
    let named = |(at, text): (usize, &S)| {
        let text = text.as_ref();
        let text = text.replacen("name: c", &format!("name: c{at}"), 1);
        (format!("{at:05}.yaml"), text)
    };
    texts.iter().enumerate().map(named).collect()
}

/// Runs a function on the files of a package.
fn run_on(function: &Function, config: &str, files: &Files, supplied: &[(Role, &Files)]) -> Files {
    let supplied = supplied.iter();
    let supplied = supplied.map(|(role, files)| (*role, SuppliedInput::Files((*files).clone())));
    let inputs = Inputs {
        config: Some(Config::parse(config.to_owned(), "config").expect("a config")),
        supplied: supplied.collect(),
        ..Inputs::default()
    };
    let bytes = |(path, text): (&String, &String)| (path.clone(), text.as_bytes().to_vec());
    let items = Items::Package(files.iter().map(bytes).collect());
    let outcome = run(function, inputs, items).expect("runs");
    let errors: Vec<_> = outcome.results.iter().map(ToString::to_string).collect();
    assert!(!outcome.results.has_errors(), "{errors:#?}");
    let documents = outcome.documents.into_iter();
    let documents = documents.filter_map(|document| {
        let path = document.resource.origin.path?;
        Some((path.to_string(), document.text))
    });
    let Items::Package(files) = outcome.items else {
        unreachable!("a package")
    };
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let files = files.into_iter().map(|(path, bytes)| (path, text(bytes)));
    files.chain(documents).collect()
}

/// Failures of trials, to be told together.
#[derive(Default)]
struct Failures {
    trials: usize,
    found: Vec<String>,
}

impl Failures {
    fn check(&mut self, fault: Result<(), String>, trial: &Trial<'_>) {
        self.trials += 1;
        if let Err(fault) = fault {
            let Trial {
                before,
                given,
                result,
                ..
            } = trial;
            self.found.push(format!(
                "{fault}\n--- old\n{before}\n--- new\n{given}\n--- result\n{result}"
            ));
        }
    }

    #[track_caller]
    fn assert_none(&self) {
        let (failures, trials) = (self.found.len(), self.trials);
        let shown = self.found.iter().take(20).cloned().collect::<Vec<_>>();
        if let Some(file) = std::env::var_os("RESPELLED_OUT") {
            std::fs::write(file, self.found.join("\n=====\n")).expect("written");
        }
        assert_eq!(failures, 0, "of {trials} trials:\n{}", shown.join("\n"));
        assert!(trials > 1_000, "{trials} trials");
    }
}

//! Config fields that take one of a few words.

use crate::results::{FunctionResult, Reason, Results};
use krm_yaml::Path;
use krm_yaml::nearest::nearest;

/// The words of a boolean field.
pub const BOOL: [(&str, bool); 2] = [("true", true), ("false", false)];

/// Reads such fields. A word that is not allowed becomes an error result, and the default is used instead.
#[derive(Debug)]
pub struct EnumFields<'r> {
    /// The path of the mapping that contains the fields.
    prefix: Path,
    results: &'r mut Results,
    valid: bool,
}

impl<'r> EnumFields<'r> {
    pub fn new(prefix: Path, results: &'r mut Results) -> Self {
        Self {
            prefix,
            results,
            valid: true,
        }
    }

    /// The value of a word; the default if the field is absent or the word is not allowed.
    pub fn read<T: Copy + Default>(
        &mut self,
        field: &str,
        found: Option<&str>,
        words: &[(&str, T)],
    ) -> T {
        let Some(found) = found else {
            return T::default();
        };
        word(found, words).unwrap_or_else(|message| {
            self.refuse(field, message);
            T::default()
        })
    }

    /// `true` or `false`; `false` if the field is absent or has another value.
    pub fn read_bool(&mut self, field: &str, found: Option<&str>) -> bool {
        self.read(field, found, &BOOL)
    }

    /// The value of a field that `parse` reads; `otherwise` if the field is absent or not valid.
    pub fn read_as<T: Copy>(
        &mut self,
        field: &str,
        found: Option<&str>,
        parse: impl Fn(&str) -> Result<T, String>,
        otherwise: T,
    ) -> T {
        let read = found.map_or(Ok(otherwise), parse);
        read.unwrap_or_else(|message| {
            self.refuse(field, message);
            otherwise
        })
    }

    /// Reports an error at a field.
    pub fn refuse(&mut self, field: &str, message: String) {
        self.valid = false;
        let result = FunctionResult::error(Reason::InvalidConfig, message);
        self.results
            .push(result.with_field(self.prefix.clone().field(field)));
    }

    /// Whether all words so far were allowed.
    pub fn are_valid(&self) -> bool {
        self.valid
    }
}

/// The words without their values.
pub const fn names<T, const N: usize>(words: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = words[at].0;
        at += 1;
    }
    names
}

/// The value of a word. The error is a message with the expected words.
pub fn word<T: Copy>(found: &str, words: &[(&str, T)]) -> Result<T, String> {
    let known = words.iter().find(|(word, _)| *word == found);
    known.map(|(_, value)| *value).ok_or_else(|| {
        let names = words.iter().map(|(word, _)| *word);
        let meant = nearest(found, names, 1);
        let meant = (meant.first()).map(|name| format!("; did you mean `{name}`?"));
        let message = format!("expected {}, found `{found}`", expected(words));
        message + &meant.unwrap_or_default()
    })
}

/// The words that a message expects: `` `a` or `b` ``, `` one of `a`, `b`, `c` ``.
pub fn expected<T>(words: &[(&str, T)]) -> String {
    let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    match words.as_slice() {
        [one, other] => format!("{one} or {other}"),
        words => format!("one of {}", words.join(", ")),
    }
}

//! The names of releases: a number, the words around it, and what makes it a pre-release.
//!
//! ```text
//! v1.2.0             1.2.0, no words
//! web/v1.2.0         1.2.0 after `web/`
//! chart-1.2.0        1.2.0 after `chart-`
//! v1.0.0-gke.2       1.0.0, then 2 after `-gke.`
//! v1.2.3-rc1+k3s2    1.2.3, the pre-release rc 1, then 3 and 2 in `+k#s#`
//! 2024.01.10         2024.1.10, no words
//! ```
//!
//! Releases with the same words are releases of the same thing, and their numbers order them.

use std::cmp::Ordering;

use semver::{Prerelease, Version};

/// The words of a suffix that make a pre-release. Every other word is part of the release's name.
const PRE_RELEASES: [&str; 6] = ["alpha", "beta", "dev", "pre", "rc", "snapshot"];

/// A name with a version in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseName {
    /// The text before the number, without a `v`.
    before: String,
    number: VersionNumber,
    /// A pre-release of the number.
    pre: PreRelease,
    /// What follows, with `#` for each number.
    after: String,
    /// The numbers that follow.
    further: Vec<VersionNumber>,
    /// A pre-release of the numbers that follow.
    further_pre: PreRelease,
}

/// Digits without leading zeros: a number of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Digits(String);

/// Digits with dots between them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct VersionNumber(Vec<Digits>);

/// The identifiers of a pre-release. Empty for a final release.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct PreRelease(Vec<Identifier>);

/// Ordered as in semantic versions: numbers are lower than words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(Digits),
    Word(String),
}

impl ReleaseName {
    /// Reads a name. `None` if it has no number where a version would have it.
    pub fn parse(name: &str) -> Option<Self> {
        let start = start_of_number(name)?;
        let before = &name[..start];
        let is_v = |before: &str| !before.ends_with(|c: char| c.is_ascii_alphanumeric());
        let before = match before.strip_suffix(['v', 'V']) {
            Some(shorter) if is_v(shorter) => shorter,
            _ => before,
        };
        let (number, rest) = number(&name[start..]);
        let mut read = Self {
            before: before.to_owned(),
            number,
            pre: PreRelease::default(),
            after: String::new(),
            further: Vec::new(),
            further_pre: PreRelease::default(),
        };
        read.read_suffix(rest);
        Some(read)
    }

    fn read_suffix(&mut self, mut rest: &str) {
        let mut separators = String::new();
        let mut is_pre = false;
        while let Some(first) = rest.chars().next() {
            if first.is_ascii_digit() {
                let (number, after) = number(rest);
                rest = after;
                if is_pre {
                    let numbers = number.0.into_iter().map(Identifier::Number);
                    self.pre_now().0.extend(numbers);
                    separators.clear();
                    continue;
                }
                self.after.push_str(&separators);
                self.after.push('#');
                self.further.push(number);
            } else if is_separator(first) {
                // Build metadata is not part of a pre-release.
                is_pre &= first != '+';
                separators.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            } else {
                let is_end = |c: char| c.is_ascii_digit() || is_separator(c);
                let (word, after) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
                rest = after;
                let lower = word.to_ascii_lowercase();
                is_pre = PRE_RELEASES.contains(&&*lower);
                if is_pre {
                    self.pre_now().0.push(Identifier::Word(lower));
                    separators.clear();
                    continue;
                }
                self.after.push_str(&separators);
                self.after.push_str(word);
            }
            separators.clear();
        }
        self.after.push_str(&separators);
    }

    /// The pre-release of what was read until now.
    fn pre_now(&mut self) -> &mut PreRelease {
        if self.after.is_empty() {
            &mut self.pre
        } else {
            &mut self.further_pre
        }
    }

    /// The words around the number: the text before it, and the text after it with `#` for each further number.
    pub fn words(&self) -> [&str; 2] {
        [&self.before, &self.after]
    }

    /// Whether it is not a pre-release.
    pub fn is_final(&self) -> bool {
        self.pre.0.is_empty() && self.further_pre.0.is_empty()
    }

    /// Compares the numbers. A pre-release is lower than its final release. Words do not count.
    pub fn order(&self, other: &Self) -> Ordering {
        let further = || {
            let none = VersionNumber(Vec::new());
            let count = self.further.len().max(other.further.len());
            let at =
                |numbers: &[VersionNumber], at: usize| numbers.get(at).unwrap_or(&none).clone();
            let mut orders =
                (0..count).map(|one| at(&self.further, one).order(&at(&other.further, one)));
            orders
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        self.number
            .order(&other.number)
            .then_with(|| self.pre.order(&other.pre))
            .then_with(further)
            .then_with(|| self.further_pre.order(&other.further_pre))
    }

    /// Whether a package at this release is offered the other one: a later release of the same words that is final, or
    /// another pre-release of the same version.
    pub fn is_followed_by(&self, other: &Self) -> bool {
        let is_same_version = !self.is_final() && self.number.order(&other.number).is_eq();
        self.words() == other.words()
            && self.order(other).is_lt()
            && (other.is_final() || is_same_version)
    }

    /// Whether the parts of the other number are the first ones of this number: 1.28 of 1.28.3.
    pub fn begins_with_number_of(&self, other: &Self) -> bool {
        self.number.0.starts_with(&other.number.0)
    }

    /// Whether both have the same number, or the same pre-release of it.
    pub fn is_number_of(&self, other: &Self) -> bool {
        self.number.order(&other.number).is_eq() && self.pre == other.pre
    }

    /// The number of parts of its number: 3 for 1.2.0.
    pub fn parts(&self) -> usize {
        self.number.0.len()
    }

    /// The number as a semantic version, for ranges. `None` if a part is too large.
    pub fn semver(&self) -> Option<Version> {
        let part = |at: usize| {
            self.number
                .0
                .get(at)
                .map_or(Some(0), |digits| digits.0.parse().ok())
        };
        let mut version = Version::new(part(0)?, part(1)?, part(2)?);
        let identifiers = self.pre.0.iter().chain(&self.further_pre.0);
        let identifiers: Vec<&str> = identifiers.map(Identifier::as_str).collect();
        version.pre = Prerelease::new(&identifiers.join(".")).ok()?;
        Some(version)
    }
}

impl VersionNumber {
    fn order(&self, other: &Self) -> Ordering {
        let zero = Digits("0".to_owned());
        let count = self.0.len().max(other.0.len());
        let at = |digits: &'_ [Digits], at: usize| digits.get(at).unwrap_or(&zero).clone();
        let mut orders = (0..count).map(|one| at(&self.0, one).cmp(&at(&other.0, one)));
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PreRelease {
    fn order(&self, other: &Self) -> Ordering {
        match (self.0.is_empty(), other.0.is_empty()) {
            (false, false) => self.0.cmp(&other.0),
            (own, others) => own.cmp(&others),
        }
    }
}

impl Identifier {
    fn as_str(&self) -> &str {
        match self {
            Self::Number(Digits(text)) | Self::Word(text) => text,
        }
    }
}

impl Ord for Digits {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for Digits {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, '-' | '+' | '.' | '_' | '~')
}

/// Where the number begins: in the last component of the name, at the first digit after a separator or a `v`.
fn start_of_number(name: &str) -> Option<usize> {
    let folder = name.rfind('/').map_or(0, |at| at + 1);
    let bytes = name.as_bytes();
    // A number does not begin in the middle of one.
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
    let is_word_at = |at: usize| at > folder && is_word(bytes[at - 1]);
    let is_start = |at: &usize| {
        let at = *at;
        if !bytes[at].is_ascii_digit() {
            return false;
        }
        let is_after_v = at > folder && matches!(bytes[at - 1], b'v' | b'V');
        let is_free = !is_word_at(at) || is_after_v && !is_word_at(at - 1);
        // `2fa` is a word, and `1.0rc1` is a number.
        let (_, rest) = number(&name[at..]);
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic());
        let letters = rest[..letters.unwrap_or(rest.len())].to_ascii_lowercase();
        is_free && (letters.is_empty() || PRE_RELEASES.contains(&&*letters))
    };
    let mut places = folder..name.len();
    let glued = |at: &usize| {
        // `release1.2.0`, but not `k8s`.
        bytes[*at].is_ascii_digit()
            && !bytes[at.saturating_sub(1)].is_ascii_digit()
            && number(&name[*at..]).0.0.len() > 1
    };
    places
        .find(is_start)
        .or_else(|| (folder..name.len()).find(glued))
}

/// Splits off the number at the beginning of a text: digits with single dots between them.
fn number(text: &str) -> (VersionNumber, &str) {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let digits = rest[..end].trim_start_matches('0');
        parts.push(Digits(
            if digits.is_empty() { "0" } else { digits }.to_owned(),
        ));
        rest = &rest[end..];
        match rest.strip_prefix('.') {
            Some(next) if next.starts_with(|c: char| c.is_ascii_digit()) => rest = next,
            _ => return (VersionNumber(parts), rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> ReleaseName {
        ReleaseName::parse(name).expect(name)
    }

    #[test]
    fn words_are_what_is_not_number_or_pre_release() {
        for (name, words) in [
            ("v1.2.0", ["", ""]),
            ("1", ["", ""]),
            ("2024.01.10", ["", ""]),
            ("24.04", ["", ""]),
            ("V2", ["", ""]),
            ("web/v1.2.0", ["web/", ""]),
            ("chart-1.2.0", ["chart-", ""]),
            ("k8s-v1.2", ["k8s-", ""]),
            ("release1.2.0", ["release", ""]),
            ("release_1_2_0", ["release_", "_#_#"]),
            ("2fa-app-1.0", ["2fa-app-", ""]),
            ("v1.0.0-gke.2", ["", "-gke.#"]),
            ("v1.2.3+k3s2", ["", "+k#s#"]),
            ("v1.2.3+rke2r1", ["", "+rke#r#"]),
            ("v1.2.3-rc1+k3s2", ["", "+k#s#"]),
            ("v1.2.3-rc.1+4", ["", "+#"]),
            ("v1.2.3-SNAPSHOT", ["", ""]),
            ("1.0rc1", ["", ""]),
            ("1.0.dev3", ["", ""]),
            ("v1.2.3-1", ["", "-#"]),
            ("v1.2.3-preview.1", ["", "-preview.#"]),
            ("v1.2.3-é1", ["", "-é#"]),
            ("envoy", ["none", ""]),
            ("k8s", ["none", ""]),
            ("v", ["none", ""]),
            ("", ["none", ""]),
            ("1a2b3c4", ["none", ""]),
            ("v1.2/next", ["none", ""]),
        ] {
            let read = ReleaseName::parse(name);
            let found = read.as_ref().map_or(["none", ""], ReleaseName::words);
            assert_eq!(found, words, "{name}");
        }
    }

    #[test]
    fn numbers_order_releases() {
        for ordered in [
            &[
                "v1",
                "v1.0.1",
                "v1.2",
                "v1.10",
                "v2-alpha",
                "v2-alpha.1",
                "v2.0-beta",
                "v2-rc.2",
                "v2-rc.10",
                "v2",
                "v10",
            ][..],
            &["2023.12.31", "2024.01.9", "2024.01.10", "2024.2.1"],
            &[
                "v1.0.0-rc.1-gke.9",
                "v1.0.0-gke.1",
                "v1.0.0-gke.2-rc1",
                "v1.0.0-gke.2",
                "v1.0.0-gke.10",
                "v1.0.1-gke.1",
            ],
            &[
                "v1.2.3+k3s1",
                "v1.2.3+k3s2",
                "v1.2.4-rc1+k3s1",
                "v1.2.4+k3s1",
            ],
            &["1.99999999999999999999999", "1.100000000000000000000000"],
        ] {
            for (at, one) in ordered.iter().enumerate() {
                for (other_at, other) in ordered.iter().enumerate() {
                    let order = read(one).order(&read(other));
                    assert_eq!(order, at.cmp(&other_at), "{one} {other}");
                }
            }
        }
        assert!(read("v1.0").order(&read("1")).is_eq());
    }

    #[test]
    fn a_release_is_followed_by_later_ones_of_its_words() {
        for (own, other, expected) in [
            ("v1.2.0", "v1.3.0", true),
            ("v1.2.0", "1.3", true),
            ("v1.2.0", "v1.2.0", false),
            ("v1.2.0", "v1.1.9", false),
            ("v1.2.0", "v1.3.0-rc.1", false),
            ("v1.2.0-rc.1", "v1.2.0-rc.2", true),
            ("v1.2.0-rc.1", "v1.2.0", true),
            ("v1.2.0-rc.1", "v1.3.0-rc.1", false),
            ("v1.2.0", "v1.3.0-gke.1", false),
            ("v1.0.0-gke.2", "v1.0.0-gke.3", true),
            ("v1.0.0-gke.2", "v1.1.0", false),
            ("v1.2.3+k3s2", "v1.2.4+k3s1", true),
            ("v1.2.3+k3s2", "v1.2.4+rke2r1", false),
            ("v1.2.3+k3s2", "v1.2.4-rc1+k3s1", false),
            ("chart-1.2.0", "chart-1.3.0", true),
            ("chart-1.2.0", "v1.3.0", false),
            ("web/v1", "web/v2", true),
            ("web/v1", "shop/v2", false),
        ] {
            assert_eq!(
                read(own).is_followed_by(&read(other)),
                expected,
                "{own} {other}"
            );
        }
    }

    #[test]
    fn numbers_as_semantic_versions() {
        for (name, expected) in [
            ("v1.2", Some("1.2.0")),
            ("2024.01.10", Some("2024.1.10")),
            ("v1.2.3.4", Some("1.2.3")),
            ("v1.0.0-rc.1+k3s1", Some("1.0.0-rc.1")),
            ("v99999999999999999999", None),
        ] {
            let found = read(name).semver().map(|version| version.to_string());
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }
}

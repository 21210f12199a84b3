//! Finds the random values of a rendering: passwords, certificates, checksums of these.
//!
//! ```text
//! first      second      yours      settled
//! tls: aaa   tls: bbb    tls: mmm   tls: mmm                  the value is yours
//! url: x/aaa url: x/bbb  url: x/mmm url: x/mmm                words that are the same in both are not random
//! url: y/aaa url: y/bbb  url: x/mmm url: y/aaa                it does not fit: the value of the next one that is known
//! ```
//!
//! The locked revision is settled with the local package, and so random values are no edits. A newer one is settled with the
//! local package, and then with the locked revision, and so they are no changes.

use std::collections::HashMap;

use krm_core::diff::common_ends;
use krm_core::resource::Resource;
use krm_core::resource_key::ResourceKey;
use krm_core::results::{FunctionResult, Reason};
use krm_package::is_krm_name;
use krm_yaml::scalar::ScalarStyle;
use krm_yaml::{Content, Document, EditError, NodeKind, NodeRef, OwnedDocument, Value};

use crate::request::PackageFiles;

/// How deep values are compared.
const DEEPEST: usize = 100;

/// A step to a place in a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PlaceStep {
    Key(String),
    /// The element of a list with this `name`.
    Named(String),
    Index(usize),
}

/// A place with another value in each rendering.
#[derive(Debug)]
pub(super) struct RandomPlace {
    steps: Vec<PlaceStep>,
    /// The text of a scalar in the second rendering.
    other: Option<String>,
}

impl RandomPlace {
    fn is_name(&self) -> bool {
        let key = |step: &PlaceStep, name: &str| matches!(step, PlaceStep::Key(key) if key == name);
        matches!(&self.steps[..], [first, last] if key(first, "metadata") && key(last, "name"))
    }

    fn find<'n>(&self, root: NodeRef<'n>) -> Option<NodeRef<'n>> {
        self.steps.iter().try_fold(root, |node, step| match step {
            PlaceStep::Key(key) => node.get(key),
            PlaceStep::Index(at) => node.items().nth(*at),
            PlaceStep::Named(name) => node.items().find(|item| name_of(*item) == Some(name)),
        })
    }
}

fn name_of(item: NodeRef<'_>) -> Option<&str> {
    item.get("name")?.scalar_text()
}

/// The places in which two renderings of a resource differ.
pub(super) fn places(first: &str, second: &str) -> Vec<RandomPlace> {
    let mut found = Vec::new();
    if first == second {
        return found;
    }
    let [first, second] =
        [first, second].map(|text| OwnedDocument::parse_resource(text.to_owned()));
    if let (Ok(first), Ok(second)) = (first, second)
        && let Some((first, second)) = first.root().zip(second.root())
    {
        compare(first, second, &mut Vec::new(), &mut found);
    }
    found
}

fn compare(
    first: NodeRef<'_>,
    second: NodeRef<'_>,
    steps: &mut Vec<PlaceStep>,
    found: &mut Vec<RandomPlace>,
) {
    if first.source() == second.source() {
        return;
    }
    let kinds = [first.kind(), second.kind()];
    if kinds.iter().all(|kind| kind.is_mapping()) && steps.len() < DEEPEST {
        // Keys of one alone are changes like all others.
        for entry in first.entries() {
            let Some(key) = entry.key.scalar_text() else {
                continue;
            };
            if let Some(other) = second.get(key) {
                steps.push(PlaceStep::Key(key.to_owned()));
                compare(entry.value, other, steps, found);
                steps.pop();
            }
        }
        return;
    }
    let is_alike = first.items().count() == second.items().count();
    if kinds.iter().all(|kind| kind.is_sequence()) && is_alike && steps.len() < DEEPEST {
        for (at, (one, other)) in first.items().zip(second.items()).enumerate() {
            let name = name_of(one).filter(|name| name_of(other) == Some(name));
            let name = name.map(|name| PlaceStep::Named(name.to_owned()));
            steps.push(name.unwrap_or(PlaceStep::Index(at)));
            compare(one, other, steps, found);
            steps.pop();
        }
        return;
    }
    let other = first.scalar_text().and(second.scalar_text());
    if other.is_some() && first.value_text() == second.value_text() {
        return;
    }
    found.push(RandomPlace {
        steps: steps.clone(),
        other: other.map(str::to_owned),
    });
}

/// The resources of a package, whose values are known.
pub struct KnownValues {
    documents: Vec<OwnedDocument>,
    /// The places of resources: a document, and a root in it.
    places: HashMap<ResourceKey, Vec<(usize, usize)>>,
}

impl KnownValues {
    /// The resources in files that are named like KRM.
    pub fn of(contents: &PackageFiles) -> Self {
        let mut known = Self {
            documents: Vec::new(),
            places: HashMap::new(),
        };
        for (_, bytes) in contents.iter().filter(|(path, _)| is_krm_name(path)) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let Ok(document) = OwnedDocument::parse_resource(text) else {
                continue;
            };
            let number = known.documents.len();
            let found: Vec<_> = resources(document.document())
                .map(|(at, resource)| (at, ResourceKey::of(&resource)))
                .collect();
            known.documents.push(document);
            for (at, key) in found {
                known.places.entry(key).or_default().push((number, at));
            }
        }
        known
    }

    /// The same resource: with its name, or else with its name in another namespace, or else with a name that has other
    /// random words.
    fn same(&self, resource: &Resource, random: &[RandomPlace]) -> Option<NodeRef<'_>> {
        let key = ResourceKey::of(resource);
        let place = self.places.get(&key).and_then(|places| places.first());
        let wide = key.in_any_namespace();
        let of_kind = || {
            self.places
                .iter()
                .filter(|(other, _)| other.kind == wide.kind && other.group == wide.group)
        };
        let elsewhere = || only(of_kind().filter(|(other, _)| other.name == wide.name));
        let name = random.iter().find(|place| place.is_name());
        let renamed = || {
            let second = name?.other.as_deref()?;
            let first = resource.name.as_deref()?;
            let fits = |other: &ResourceKey| {
                let other = other.name.name().map(|name| &**name);
                other.is_some_and(|other| matches!(taken(first, second, other), Taken::Text(_)))
            };
            only(of_kind().filter(|(other, _)| fits(other)))
        };
        let (document, at) = place.or_else(elsewhere).or_else(renamed)?;
        self.documents.get(*document)?.document().root(*at)
    }

    /// A resource with the known values at its random places. Results name those that the first package knows.
    pub(super) fn settle(
        text: String,
        resource: &Resource,
        random: &[RandomPlace],
        known: &[&Self],
    ) -> Result<(String, Vec<FunctionResult>), EditError> {
        let roots: Vec<Option<NodeRef<'_>>> = known
            .iter()
            .map(|known| known.same(resource, random))
            .collect();
        let mut kept = Vec::new();
        let text = OwnedDocument::edited::<EditError>(text, |root, editor| {
            for place in random {
                let Some(node) = place.find(root) else {
                    continue;
                };
                let known = roots.iter().enumerate();
                let mut known = known.filter_map(|(at, root)| Some((at, place.find((*root)?)?)));
                let found = known.find_map(|(at, known)| Some((at, value(node, place, known)?)));
                let Some((at, content)) = found else {
                    continue;
                };
                if at == 0 {
                    let message = "it is random, another one in each rendering: kept your value";
                    let result = FunctionResult::info(message)
                        .tag("reason", Reason::RandomValue.as_str())
                        .with_resource(resource)
                        .with_field(node.path());
                    kept.push(result);
                }
                editor.replace(node, content)?;
            }
            Ok(())
        })?;
        Ok((text, kept))
    }
}

/// The resources of a file, each with the number of its document.
fn resources(document: Document<'_>) -> impl Iterator<Item = (usize, Resource)> {
    let roots = (0..document.len()).filter_map(move |at| Some((at, document.root(at)?)));
    let read = roots.map(|(at, root)| (at, Resource::read(root)));
    read.filter(|(_, one)| !one.kind.is_empty() && !one.api_version.is_empty())
}

/// The only place of the only resource.
fn only<'k>(
    mut found: impl Iterator<Item = (&'k ResourceKey, &'k Vec<(usize, usize)>)>,
) -> Option<&'k (usize, usize)> {
    match (found.next(), found.next()) {
        (Some((_, places)), None) => places.first(),
        _ => None,
    }
}

/// A known value in a random place. `None` if it does not fit.
fn value<'n>(node: NodeRef<'_>, place: &RandomPlace, known: NodeRef<'n>) -> Option<Content<'n>> {
    let kinds = [node.kind(), known.kind()];
    let (Some(second), Some(first), Some(text)) =
        (&place.other, node.scalar_text(), known.scalar_text())
    else {
        let is_alike = kinds.iter().all(|kind| kind.is_mapping())
            || kinds.iter().all(|kind| kind.is_sequence());
        return known.value().filter(|_| is_alike).map(Content::Value);
    };
    if node.as_str().is_none() {
        return known.value().map(Content::Value);
    }
    let plain = NodeKind::Scalar(ScalarStyle::Plain);
    match taken(first, second, text) {
        // A date without quotes stays without.
        Taken::Whole if kinds == [plain, plain] => Some(Content::Node(known)),
        Taken::Whole => known.value().map(Content::Value),
        Taken::Text(settled) => Some(Content::Value(Value::from(settled.as_str()))),
        Taken::Nothing => None,
    }
}

/// What of a known text goes into a random one.
#[derive(Debug, PartialEq, Eq)]
enum Taken {
    /// All of it: nothing in the text is the same each time.
    Whole,
    /// Its words in the random places.
    Text(String),
    /// It does not fit.
    Nothing,
}

/// The first rendering of a text with the random words of a known one.
fn taken(first: &str, second: &str, known: &str) -> Taken {
    let parts = [first, second, known].map(TextPart::all);
    let [first, second, all] = &parts;
    if first.len() != second.len() {
        return Taken::Whole;
    }
    if let ([one], [other]) = (&first[..], &second[..]) {
        return of_part(one, other, known);
    }
    let mut settled = Vec::new();
    for (at, (one, other)) in first.iter().zip(second).enumerate() {
        if one == other {
            settled.push(one.text.clone());
            continue;
        }
        let here = all.get(at).filter(|part| part.is_block == one.is_block);
        let found = if one.is_block {
            let before = at.checked_sub(1).map(|before| &first[before]);
            let after = all.iter().zip(all.iter().skip(1));
            let mut after = after.filter(|(known, block)| Some(*known) == before && block.is_block);
            let found = after.next().map(|(_, block)| block).or(here);
            found.map_or(Taken::Nothing, |block| Taken::Text(block.text.clone()))
        } else {
            let lines = here.into_iter().chain(all).filter(|part| !part.is_block);
            let mut fitting = lines.map(|line| of_part(one, other, &line.text));
            fitting
                .find(|taken| *taken != Taken::Nothing)
                .unwrap_or(Taken::Nothing)
        };
        match (found, here) {
            (Taken::Text(text), _) => settled.push(text),
            (Taken::Whole, Some(here)) if all.len() == first.len() => {
                settled.push(here.text.clone());
            }
            _ => return Taken::Nothing,
        }
    }
    Taken::Text(settled.join("\n"))
}

/// A line, or several lines of one word each: a certificate is taken as one, or not at all.
#[derive(Debug, PartialEq, Eq)]
struct TextPart {
    text: String,
    is_block: bool,
}

impl TextPart {
    fn all(text: &str) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for line in text.split('\n') {
            let is_block = words(line.trim()).len() == 1;
            match parts.last_mut() {
                Some(last) if last.is_block && is_block => {
                    last.text.push('\n');
                    last.text.push_str(line);
                }
                _ => parts.push(Self {
                    text: line.to_owned(),
                    is_block,
                }),
            }
        }
        parts
    }
}

fn of_part(first: &TextPart, second: &TextPart, known: &str) -> Taken {
    if first.is_block || second.is_block {
        return Taken::Whole;
    }
    of_line(&first.text, &second.text, known)
}

fn of_line(first: &str, second: &str, known: &str) -> Taken {
    let [first, second, known] = [first, second, known].map(words);
    let same = |at: usize| first[at] == second[at];
    let is_alike = first.len() == second.len();
    let (start, end) = common_ends(&first, &second, |one, other| one == other);
    // Each word for itself, or else everything between the words that are the same at both ends.
    let is_same = |at: usize| {
        if is_alike {
            same(at)
        } else {
            at < start || at >= first.len() - end
        }
    };
    let has_letter = |word: &str| word.contains(|c: char| c.is_alphanumeric());
    if !(0..first.len()).any(|at| is_same(at) && has_letter(first[at])) {
        return Taken::Whole;
    }
    if is_alike {
        let fits = known.len() == first.len()
            && (0..first.len()).all(|at| !same(at) || first[at] == known[at]);
        return if fits {
            Taken::Text(known.concat())
        } else {
            Taken::Nothing
        };
    }
    let fits = known.len() >= start + end
        && first[..start] == known[..start]
        && first[first.len() - end..] == known[known.len() - end..];
    if fits {
        Taken::Text(known.concat())
    } else {
        Taken::Nothing
    }
}

/// The words of a line, and what is between them. Base64 is one word.
fn words(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || "+/=_".contains(c);
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        let is_part = is_word(c);
        // Each other character is for itself.
        if at > start && !(is_part && last == Some(true)) {
            words.push(&line[start..at]);
            start = at;
        }
        last = Some(is_part);
    }
    if start < line.len() {
        words.push(&line[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_known_text_fill_the_random_places() {
        let text = |text: &str| Taken::Text(text.to_owned());
        for (first, second, known, expected) in [
            ("aaa", "bbb", "mine", Taken::Whole),
            ("QUE9/+", "QkI9+/", "x", Taken::Whole),
            (
                "pg: u:aaa@db",
                "pg: u:bbb@db",
                "pg: u:mmm@db",
                text("pg: u:mmm@db"),
            ),
            (
                "pg: u:aaa@db2",
                "pg: u:bbb@db2",
                "pg: u:mmm@db",
                Taken::Nothing,
            ),
            // A password with other characters has other words.
            ("key: a-a", "key: b", "key: m!m", text("key: m!m")),
            ("key: a-a", "key: b", "word: m!m", Taken::Nothing),
            (
                "a: 1\nk: aa\nb: 2",
                "a: 1\nk: bb\nb: 2",
                "a: 1\nk: mm",
                text("a: 1\nk: mm\nb: 2"),
            ),
            (
                "a: 1\nk: aa",
                "a: 1\nk: bb",
                "a: 1\nother: mm",
                Taken::Nothing,
            ),
            (
                "- BEGIN -\nsame\naa\nsame\n- END -",
                "- BEGIN -\nsame\nbb\nsame\n- END -",
                "- BEGIN -\nmm\n- END -",
                text("- BEGIN -\nmm\n- END -"),
            ),
            ("a\nb", "c", "m", Taken::Whole),
        ] {
            assert_eq!(taken(first, second, known), expected, "{first} {known}");
        }
    }

    #[test]
    fn words_cover_the_line() {
        for line in ["", "a", "a b", "--a==b--", "ä: ü\u{301}!", "a\tb"] {
            assert_eq!(words(line).concat(), line);
        }
    }

    fn secret(name: &str, value: &str, other: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\nstringData:\n  password: {value}\n  list:\n  - \
             name: x\n    value: {other}\n"
        )
    }

    #[test]
    fn a_resource_is_settled_from_known_values() {
        let [first, second] = [secret("s", "aaa", "'1'"), secret("s", "bbb", "'1'")];
        let random = places(&first, &second);
        assert_eq!(random.len(), 1);
        let document = OwnedDocument::parse_resource(first.clone()).expect("YAML");
        let resource = Resource::read(document.root().expect("a root"));
        let known =
            |text: String| KnownValues::of(&[("a.yaml".to_owned(), text.into_bytes())].into());
        let settle = |known: &[&KnownValues]| {
            KnownValues::settle(first.clone(), &resource, &random, known).expect("it is settled")
        };
        let mine = known(secret("s", "\"mine\" # mine", "'2'"));
        let (text, kept) = settle(&[&mine]);
        assert_eq!(text, secret("s", "mine", "'1'"));
        assert_eq!(kept[0].field.as_deref(), Some("stringData.password"));
        let other = known(secret("other", "x", "'2'"));
        let (text, kept) = settle(&[&other, &mine]);
        assert_eq!(text, secret("s", "mine", "'1'"));
        assert!(kept.is_empty());
        assert_eq!(settle(&[&other]).0, first);
    }

    #[test]
    fn a_date_keeps_its_spelling() {
        let [first, second, mine] =
            ["2026-11-28", "2028-01-02", "2020-02-03"].map(|date| secret("s", date, "x"));
        let document = OwnedDocument::parse_resource(first.clone()).expect("YAML");
        let resource = Resource::read(document.root().expect("a root"));
        let random = places(&first, &second);
        let known = KnownValues::of(&[("a.yaml".to_owned(), mine.clone().into_bytes())].into());
        let settled = KnownValues::settle(first, &resource, &random, &[&known]);
        assert_eq!(settled.expect("it is settled").0, mine);
    }

    #[test]
    fn a_random_name_is_found_by_the_words_around_it() {
        let [first, second] = ["job-aaa", "job-bbb"].map(|name| secret(name, "x", "'1'"));
        let random = places(&first, &second);
        assert!(random[0].is_name());
        let document = OwnedDocument::parse_resource(first.clone()).expect("YAML");
        let resource = Resource::read(document.root().expect("a root"));
        let mine = secret("job-mmm", "x", "'1'") + "---\n" + &secret("other", "x", "'1'");
        let mine = KnownValues::of(&[("a.yaml".to_owned(), mine.into_bytes())].into());
        let settled = KnownValues::settle(first, &resource, &random, &[&mine]);
        let expected = secret("job-mmm", "x", "'1'");
        assert_eq!(settled.expect("it is settled").0, expected);
    }
}

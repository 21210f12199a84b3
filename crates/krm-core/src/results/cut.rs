//! Cuts long values in results to the text around the places where they differ.

use super::QuotedValue;

/// Cuts the versions of a value to about `limit` bytes each: the bytes around the first place where any two differ, and
/// if two of them are equal there, around the first place where these two differ.
pub fn cut_values(values: [Option<&QuotedValue>; 3], limit: usize) -> [Option<QuotedValue>; 3] {
    let texts = values.map(|value| value.map(QuotedValue::as_str));
    let mut cut = cut_to_differences(texts, limit).into_iter();
    values.map(|value| {
        let cut = cut.next().flatten();
        value.zip(cut).map(|(value, cut)| value.map(|_| cut))
    })
}

/// Cuts versions of a text to about `limit` bytes each, so that those that differ still do.
pub fn cut_to_differences(texts: [Option<&str>; 3], limit: usize) -> [Option<String>; 3] {
    let present: Vec<&str> = texts.into_iter().flatten().collect();
    let starts = differences(&present, limit);
    let is_long = present.iter().any(|text| text.len() > limit);
    texts.map(|text| {
        text.map(|text| {
            if is_long {
                windows(text, &starts, limit)
            } else {
                text.to_owned()
            }
        })
    })
}

/// The first place where any two texts differ and, if two of them are equal there, the first one where these differ.
fn differences(present: &[&str], limit: usize) -> Vec<usize> {
    let first = first_difference(present);
    // Two of the three versions can be equal up to a later place.
    let pairs = [[0, 1], [0, 2], [1, 2]];
    let pairs = pairs.iter().filter_map(|[a, b]| {
        let both = [present.get(*a)?, present.get(*b)?];
        let at = first_difference(&both.map(|text| *text));
        let differ = both[0] != both[1];
        differ.then_some(at)
    });
    let second = pairs.max().filter(|second| *second > first + limit / 4);
    [Some(first), second].into_iter().flatten().collect()
}

/// How many bytes texts have in common at their beginning.
fn first_difference(texts: &[&str]) -> usize {
    let [first, rest @ ..] = texts else { return 0 };
    let common = |other: &&str| {
        let pairs = first.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    if rest.is_empty() {
        0
    } else {
        rest.iter().map(common).min().unwrap_or_default()
    }
}

/// The parts of a text around these places.
fn windows(text: &str, starts: &[usize], limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let width = limit / starts.len();
    let mut shown = String::new();
    let mut end = 0;
    for start in starts {
        // Some text before the difference helps to find the place.
        let from = start
            .saturating_sub(width / 4)
            .min(text.len() - width.min(text.len()));
        let from = boundary(text, from).max(end);
        if from > end {
            shown.push('…');
        }
        let to = boundary(text, from + width);
        shown += &text[from..to];
        end = to;
    }
    if end < text.len() {
        shown.push('…');
    }
    shown
}

/// The nearest character boundary at or before a byte.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Mark;

    fn shown(values: [&str; 3], limit: usize) -> [String; 3] {
        let values = values.map(|text| QuotedValue::name(Mark::OWN, text));
        let cut = cut_values(values.each_ref().map(Some), limit);
        cut.map(|text| text.expect("three texts").into())
    }

    #[test]
    fn short_texts_stay() {
        assert_eq!(shown(["a", "b", "c"], 3), ["a", "b", "c"]);
    }

    #[test]
    fn long_texts_are_distinguishable() {
        let same = "x".repeat(1_000);
        let texts = ["1", "2", "3"].map(|end| format!("{same}{end}{same}"));
        let found = shown(texts.each_ref().map(String::as_str), 60);
        for (text, digit) in found.iter().zip(["1", "2", "3"]) {
            assert!(text.contains(digit) && text.len() < 80, "{text}");
            assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
        }
    }

    /// Local changed one place, upstream another one.
    #[test]
    fn each_two_of_three_are_distinguishable() {
        for between in [0, 20, 60, 120, 300] {
            let between = "y".repeat(between);
            let text = |a: &str, b: &str| format!("{}{a}{between}{b}", "x".repeat(300));
            let texts = [text("a", "b"), text("A", "b"), text("a", "B")];
            let found = shown(texts.each_ref().map(String::as_str), 60);
            assert!(
                found[0] != found[1] && found[1] != found[2] && found[0] != found[2],
                "{found:?}"
            );
        }
    }

    #[test]
    fn different_texts_stay_different() {
        for limit in [20, 40, 60] {
            for [first, second] in [[0, 10], [100, 105], [100, 300], [300, 301], [5, 500]] {
                let text = |a: &str, b: &str| {
                    let between = "y".repeat(second - first);
                    format!("{}{a}{between}{b}{}", "x".repeat(first), "z".repeat(90))
                };
                let texts = [text("a", "b"), text("A", "b"), text("a", "B")];
                let found =
                    cut_to_differences(texts.each_ref().map(|text| Some(text.as_str())), limit);
                let distinct: std::collections::BTreeSet<_> = found.iter().collect();
                assert_eq!(distinct.len(), 3, "{limit} {first} {second} {found:?}");
            }
        }
        let short = [Some("a"), None, Some("b")];
        assert_eq!(
            cut_to_differences(short, 9),
            short.map(|text| text.map(str::to_owned))
        );
    }

    #[test]
    fn cuts_are_between_characters() {
        let texts = ["ä", "ö", "ü"].map(|c| format!("{}{c}{}", "é".repeat(200), "ß".repeat(200)));
        let found = shown(texts.each_ref().map(String::as_str), 61);
        assert!(found.iter().all(|text| text.len() < 80), "{found:?}");
    }
}

//! A review for people: as text, and as a comment on a pull request.

use std::fmt::Write;

use super::{BY, COUNT, RISK, Risk};
use crate::results::{FunctionResult, ResultValue, Results, printable};

/// The findings of a risk among results.
fn of_risk(results: &Results, risk: Risk) -> impl Iterator<Item = &FunctionResult> {
    let results = results.iter();
    results.filter(move |result| result.tag_value(RISK) == Some(risk.as_str()))
}

/// Whether a result is a finding of a review.
#[must_use]
pub fn is_finding(result: &FunctionResult) -> bool {
    result.tag_value(RISK).is_some()
}

/// The number of changes of a risk. A result can stand for several changes: routine ones, and similar findings.
#[must_use]
pub fn count(results: &Results, risk: Risk) -> usize {
    let counted = |result: &FunctionResult| result.tag_value(COUNT)?.parse().ok();
    let found = of_risk(results, risk);
    let counts = found.map(|result| counted(result).unwrap_or(1 + result.more));
    counts.sum()
}

/// The number of changes of each risk that occurs: `1 blocking, 2 dangerous, 14 other changes`.
fn summary(results: &Results) -> String {
    let mut parts = Vec::new();
    for risk in [Risk::Blocking, Risk::Dangerous, Risk::Notable] {
        let count = count(results, risk);
        if count > 0 {
            parts.push(format!("{count} {risk}"));
        }
    }
    let other = count(results, Risk::Routine);
    if other > 0 {
        let noun = if other == 1 { "change" } else { "changes" };
        let word = if parts.is_empty() { "routine" } else { "other" };
        parts.push(format!("{other} {word} {noun}"));
    }
    match parts.as_slice() {
        [] => "no changes for the cluster".to_owned(),
        parts => parts.join(", "),
    }
}

/// `Deployment/shop/front`. Empty if the result is not about a resource.
fn name(result: &FunctionResult) -> String {
    let resource = result.resource.as_ref();
    resource.map(ToString::to_string).unwrap_or_default()
}

/// The values of a field before and after, cut to `most` characters. `None` for both if they are the same.
fn values(result: &FunctionResult, most: usize) -> [Option<String>; 2] {
    let Some(values) = &result.values else {
        return [None, None];
    };
    let json = |value: &Option<ResultValue>| Some(value.as_ref()?.to_json());
    let (before, after) = (json(&values.current), json(&values.proposed));
    if before == after {
        return [None, None];
    }
    let shown = |own: &Option<String>, other: &Option<String>| {
        let others: Vec<&str> = other.as_deref().into_iter().collect();
        Some(shortened(own.as_deref()?, &others, most))
    };
    [shown(&before, &after), shown(&after, &before)]
}

/// The beginning of a long text. If another text has the same long beginning, the place where they differ.
pub(super) fn shortened(text: &str, others: &[&str], most: usize) -> String {
    let alike = |other: &&str| {
        let pairs = text.chars().zip(other.chars());
        pairs.take_while(|(own, other)| own == other).count()
    };
    let alike = others.iter().map(alike).max().unwrap_or_default();
    let from = if alike >= most { alike - most / 3 } else { 0 };
    let mut characters = text.chars().skip(from);
    let shown: String = characters.by_ref().take(most).collect();
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    let (start, end) = (mark(from > 0), mark(characters.next().is_some()));
    format!("{start}{shown}{end}")
}

/// A review as text, the worst changes first.
#[must_use]
pub fn text(results: &Results) -> String {
    const MOST: usize = 68;
    let mut text = String::new();
    for risk in [Risk::Blocking, Risk::Dangerous, Risk::Notable] {
        let mut last = None;
        for result in of_risk(results, risk) {
            // Writing to a String does not fail.
            if last.is_none() {
                let _ = writeln!(text, "{risk}");
            }
            let file = result.file.as_ref().map_or("", |(path, _)| path);
            let heading = (name(result), file);
            if last.as_ref() != Some(&heading) {
                let file = Some(file).filter(|file| !file.is_empty());
                let file = file.map(|file| format!("  ({file})")).unwrap_or_default();
                let _ = writeln!(text, "  {}", printable(&format!("{}{file}", heading.0)));
            }
            last = Some(heading);
            let field = result.field.as_ref();
            let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
            let by = result
                .tag_value(BY)
                .map(|by| format!(" [{by}]"))
                .unwrap_or_default();
            let line = printable(&format!("{field}{}{by}", result.text()));
            let _ = writeln!(text, "    {line}");
            let [before, after] = values(result, MOST);
            for (sign, value) in [("-", before), ("+", after)] {
                if let Some(value) = value {
                    let _ = writeln!(text, "      {sign} {}", printable(&value));
                }
            }
        }
        if last.is_some() {
            text.push('\n');
        }
    }
    text + &summary(results) + "\n"
}

/// The maximum number of characters in a comment. GitHub accepts 65,536.
const MOST: usize = 60_000;
/// The maximum number of characters in the table that is not collapsed.
const MOST_OPEN: usize = 40_000;

/// A review as a comment on a pull request. Blocking and dangerous changes are in a table; notable changes are
/// collapsed.
#[must_use]
pub fn markdown(results: &Results) -> String {
    let mut page = format!("### Review: {}\n", summary(results));
    let grave = of_risk(results, Risk::Blocking).chain(of_risk(results, Risk::Dangerous));
    page += &table(grave.collect(), MOST_OPEN);
    let notable: Vec<_> = of_risk(results, Risk::Notable).collect();
    let other: Vec<_> = of_risk(results, Risk::Routine).collect();
    if !notable.is_empty() {
        let (count, end) = (notable.len(), "\n</details>\n");
        let start = format!("\n<details>\n<summary>{count} notable</summary>\n");
        // Leave 500 characters for the line with the routine changes.
        let left = MOST - page.chars().count() - start.len() - end.len() - 500;
        page = page + &start + &table(notable, left) + end;
    }
    let other: Vec<String> = other
        .iter()
        .map(|result| {
            let by = result
                .tag_value(BY)
                .map(|by| format!(" ({by})"))
                .unwrap_or_default();
            format!("{}{by}", result.text())
        })
        .collect();
    if !other.is_empty() {
        page += &format!("\n{}\n", other.join(", "));
    }
    page
}

const HEAD: &str = "\n| risk | resource | change | by |\n|---|---|---|---|\n";
const HEAD_WITHOUT_BY: &str = "\n| risk | resource | change |\n|---|---|---|\n";

/// A table of findings with at most `most` characters.
fn table(results: Vec<&FunctionResult>, most: usize) -> String {
    if results.is_empty() {
        return String::new();
    }
    let has_by = results.iter().any(|result| result.tag_value(BY).is_some());
    let mut table = if has_by { HEAD } else { HEAD_WITHOUT_BY }.to_owned();
    let mut length = table.len();
    for (at, result) in results.iter().enumerate() {
        let row = row(result, has_by);
        length += row.chars().count();
        // Leave 100 characters for the line that counts the findings left out.
        if length + 100 > most {
            let left = results.len() - at;
            table += &format!("\n… and {left} more, which the results of the run list.\n");
            return table;
        }
        table += &row;
    }
    table
}

fn row(result: &FunctionResult, has_by: bool) -> String {
    const VALUE: usize = 120;
    let risk = result.tag_value(RISK).unwrap_or_default();
    let mut change = prose(&result.text());
    if let Some(field) = &result.field {
        change = format!("{}: {change}", code(field));
    }
    let [before, after] = values(result, VALUE).map(|value| value.map(|value| code(&value)));
    match (before, after) {
        (Some(before), Some(after)) => change += &format!("<br>{before} → {after}"),
        (Some(before), None) => change += &format!("<br>was {before}"),
        (None, Some(after)) => change += &format!("<br>now {after}"),
        (None, None) => {}
    }
    let resource = match name(result).as_str() {
        "" => String::new(),
        name => code(name),
    };
    let by = if has_by {
        format!(" {} |", result.tag_value(BY).unwrap_or_default())
    } else {
        String::new()
    };
    format!("| {risk} | {resource} | {change} |{by}\n")
}

/// A text as code in a table. Its characters have no meaning in Markdown, and `@name` in it mentions no user.
fn code(text: &str) -> String {
    let mut code = "<code>".to_owned();
    escape(text, &mut code);
    code + "</code>"
}

/// A text in a table. Parts between backticks become code.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    let mut prose = String::new();
    for (at, part) in parts.iter().enumerate() {
        if at % 2 == 1 && is_paired {
            prose += &code(part);
        } else {
            escape(part, &mut prose);
        }
    }
    prose
}

fn escape(text: &str, out: &mut String) {
    for character in printable(text).chars() {
        if character.is_ascii_punctuation() && !"-,.;()/=".contains(character)
            || (character == '.' && out.ends_with("www"))
        {
            let _ = write!(out, "&#{};", u32::from(character));
        } else {
            out.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Mark;
    use crate::yaml::Value;

    #[test]
    fn of_long_values_the_place_that_differs_is_shown() {
        let list = |size: &str| -> Value {
            let template = format!("{}{size}", "accessModes: ReadWriteOnce, ".repeat(3));
            template.as_str().into()
        };
        let result = FunctionResult::info("changes");
        let [one, two] = ["1Gi", "2Gi"].map(|size| ResultValue::of(Mark::default(), &list(size)));
        let result = result.with_values(Some(one), Some(two));
        let [before, after] = values(&result, 68).map(Option::unwrap_or_default);
        assert!(
            before.ends_with(" 1Gi\"") && before.starts_with('…'),
            "{before}"
        );
        assert!(after.ends_with(" 2Gi\""), "{after}");
    }

    #[test]
    fn nothing_in_a_value_is_markdown() {
        assert_eq!(prose("a `b|c` @d"), "a <code>b&#124;c</code> &#64;d");
        assert_eq!(prose("a ` <b>"), "a  &#60;b&#62;");
        assert_eq!(code("</code>"), "<code>&#60;/code&#62;</code>");
    }
}

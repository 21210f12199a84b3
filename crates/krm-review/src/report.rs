//! A review for people: as text, and as a comment on a pull request.

pub use super::RISK;
use super::{BY, COUNT, Risk};
use krm_core::results::{FunctionResult, Reason, ResultValue, Results};
use krm_package::escaped::{Markdown, ShownText};

/// The findings of a risk among results.
fn of_risk(results: &Results, risk: Risk) -> impl Iterator<Item = &FunctionResult> {
    let results = results.iter();
    results.filter(move |result| result.tag_value(RISK) == Some(risk.as_str()))
}

/// Whether a result is a finding of a review.
pub fn is_finding(result: &FunctionResult) -> bool {
    result.tag_value(RISK).is_some()
}

/// The number of changes of a risk. A result can stand for several changes: routine ones, and similar findings.
pub fn count(results: &Results, risk: Risk) -> usize {
    let counted = |result: &FunctionResult| result.tag_value(COUNT)?.parse().ok();
    let found = of_risk(results, risk);
    let counts = found.map(|result| counted(result).unwrap_or(1 + result.more));
    counts.sum()
}

/// The number of changes of each risk that occurs: `1 blocking, 2 dangerous, 14 other changes`.
pub fn summary(results: &Results) -> String {
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

/// The file of a result.
fn file(result: &FunctionResult) -> Option<&str> {
    let (path, _) = result.file.as_ref()?;
    Some(&**path).filter(|path| !path.is_empty())
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
pub fn text(results: &Results) -> ShownText {
    const MOST: usize = 68;
    let mut text = ShownText::default();
    for risk in [Risk::Blocking, Risk::Dangerous, Risk::Notable] {
        let mut last = None;
        for result in of_risk(results, risk) {
            if last.is_none() {
                text.line(&risk);
            }
            let heading = (name(result), file(result));
            if last.as_ref() != Some(&heading) {
                match (&*heading.0, heading.1) {
                    (name, None) => text.line(&format_args!("  {name}")),
                    ("", Some(file)) => text.line(&format_args!("  {file}")),
                    (name, Some(file)) => text.line(&format_args!("  {name}  ({file})")),
                }
            }
            last = Some(heading);
            let field = result.field.as_ref();
            let field = field.map(|field| format!("{field}: ")).unwrap_or_default();
            let by = result
                .tag_value(BY)
                .map(|by| format!(" [{by}]"))
                .unwrap_or_default();
            text.line(&format_args!("    {field}{}{by}", result.text()));
            let [before, after] = values(result, MOST);
            for (sign, value) in [("-", before), ("+", after)] {
                if let Some(value) = value {
                    text.line(&format_args!("      {sign} {value}"));
                }
            }
        }
        if last.is_some() {
            text.line("");
        }
    }
    text.line(&summary(results));
    text
}

/// The maximum number of characters in a comment. GitHub accepts 65,536.
const MOST: usize = 60_000;
/// The maximum number of characters in the table that is not collapsed.
const MOST_OPEN: usize = 40_000;

/// A review as a comment on a pull request. Blocking and dangerous changes are in a table; notable changes are
/// collapsed.
pub fn markdown(results: &Results) -> Markdown {
    let mut page = Markdown::literal("### Review: ") + Markdown::text(summary(results)) + "\n";
    let grave = of_risk(results, Risk::Blocking).chain(of_risk(results, Risk::Dangerous));
    page = page + table(grave.collect(), MOST_OPEN);
    let notes = notes(results);
    let notable: Vec<_> = of_risk(results, Risk::Notable).collect();
    if !notable.is_empty() {
        let start = Markdown::literal("\n<details>\n<summary>");
        let start = start + Markdown::text(notable.len()) + " notable</summary>\n";
        let end = Markdown::literal("\n</details>\n");
        // Leave 500 characters for the line with the routine changes.
        let others = start.length() + end.length() + notes.length() + 500;
        let left = MOST.saturating_sub(page.length() + others);
        page = page + start + table(notable, left) + end;
    }
    for (at, result) in of_risk(results, Risk::Routine).enumerate() {
        page = page + if at == 0 { "\n" } else { ", " } + Markdown::prose(&result.text());
        if let Some(by) = result.tag_value(BY) {
            page = page + " (" + Markdown::text(by) + ")";
        }
    }
    if of_risk(results, Risk::Routine).next().is_some() {
        page = page + "\n";
    }
    page + notes
}

/// What the review did not look at, whether it changed or not.
fn notes(results: &Results) -> Markdown {
    /// A note can name many files.
    const NOTE: usize = 400;
    let is_note =
        |result: &&FunctionResult| result.has_reason(Reason::NotReviewed) && !is_finding(result);
    let notes = results.iter().filter(is_note);
    notes.fold(Markdown::default(), |page, result| {
        let text = shortened(&result.text(), &[], NOTE);
        page + "\n" + Markdown::prose(&text) + "\n"
    })
}

const HEAD: &str = "\n| risk | resource | change | by |\n|---|---|---|---|\n";
const HEAD_WITHOUT_BY: &str = "\n| risk | resource | change |\n|---|---|---|\n";

/// A table of findings with at most `most` characters.
fn table(results: Vec<&FunctionResult>, most: usize) -> Markdown {
    if results.is_empty() {
        return Markdown::default();
    }
    let has_by = results.iter().any(|result| result.tag_value(BY).is_some());
    let mut table = Markdown::literal(if has_by { HEAD } else { HEAD_WITHOUT_BY });
    let mut length = table.length();
    for (at, result) in results.iter().enumerate() {
        let row = row(result, has_by);
        length += row.length();
        // Leave 100 characters for the line that counts the findings left out.
        if length + 100 > most {
            let left = Markdown::text(results.len() - at);
            return table + "\n… and " + left + " more, which the results of the run list.\n";
        }
        table = table + row;
    }
    table
}

fn row(result: &FunctionResult, has_by: bool) -> Markdown {
    const VALUE: usize = 120;
    let risk = result.tag_value(RISK).unwrap_or_default();
    let resource = Some(name(result)).filter(|name| !name.is_empty());
    let subject = resource.or_else(|| Some(file(result)?.to_owned()));
    let subject = subject.map(Markdown::code).unwrap_or_default();
    let mut row = Markdown::literal("| ") + Markdown::text(risk) + " | " + subject + " | ";
    if let Some(field) = &result.field {
        row = row + Markdown::code(field) + ": ";
    }
    row = row + Markdown::prose(&result.text());
    let [before, after] = values(result, VALUE).map(|value| value.map(Markdown::code));
    row = match (before, after) {
        (Some(before), Some(after)) => row + "<br>" + before + " → " + after,
        (Some(before), None) => row + "<br>was " + before,
        (None, Some(after)) => row + "<br>now " + after,
        (None, None) => row,
    };
    row = row + " |";
    if has_by {
        let by = result.tag_value(BY).unwrap_or_default();
        row = row + " " + Markdown::text(by) + " |";
    }
    row + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_core::results::Mark;
    use krm_yaml::Value;

    #[test]
    fn long_values_are_shown_where_they_differ() {
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
}

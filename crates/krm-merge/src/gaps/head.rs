//! Merges the head of a file: its lines above the first entry.

use super::lines::line_key;
use super::weave::{Woven, weave};
use crate::{Side, Versions};
use krm_yaml::{NodeRef, comments_above, head_end};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The merged head. Each line is local's if local has it.
///
/// A `---` that only upstream added is left out if local added one elsewhere: it would begin another document.
fn merge_head(heads: Versions<&str>) -> String {
    let lines = heads.map(|head| head.split_inclusive('\n').collect::<Vec<_>>());
    let keys = lines.as_ref().map(|lines| {
        let keys = lines.iter().map(|line| line_key(line));
        keys.collect::<Vec<_>>()
    });
    let markers = lines.as_ref().map(|lines| {
        let markers = lines.iter().filter(|line| line.starts_with("---"));
        markers.count()
    });
    let has_own_marker = markers.local > markers.base;
    let woven = weave(keys.as_ref().map(Vec::as_slice), line_key(""), &|_, _| {
        false
    });
    let mut merged = String::new();
    for token in woven {
        let line = match token {
            Woven::Kept {
                local: Some(at), ..
            }
            | Woven::Added(Side::Local, at) => lines.local[at],
            Woven::Kept { base: at, .. } => lines.base[at],
            Woven::Added(Side::Upstream, at) => lines.upstream[at],
        };
        let is_second_marker = matches!(token, Woven::Added(Side::Upstream, _))
            && line.starts_with("---")
            && has_own_marker;
        if !is_second_marker {
            merged.push_str(line);
        }
    }
    merged
}

/// The merged head. `None` if it is local's head.
pub(crate) fn merged_head(base: &str, local: &str, upstream: &str) -> Option<String> {
    let all = Versions::from([base, local, upstream]);
    let mut merged = with_mark_of(local, merge_head(all.map(without_mark)));
    let last = |text: &str| text.split_inclusive('\n').next_back().map(str::to_owned);
    let is_set_off = |line: String| line.trim().is_empty() || line.starts_with("---");
    if !last(without_mark(&merged)).is_none_or(is_set_off) {
        let end = if upstream.is_empty() { local } else { upstream };
        merged.extend(last(end));
    }
    // A `---` alone does not count as a change.
    let is_line = |line: &&str| !line.starts_with("---");
    let is_same = merged
        .lines()
        .filter(is_line)
        .eq(local.lines().filter(is_line));
    (!is_same).then_some(merged)
}

fn without_mark(text: &str) -> &str {
    text.trim_start_matches(BYTE_ORDER_MARK)
}

/// The text with a byte order mark if local has one.
fn with_mark_of(local: &str, text: String) -> String {
    if local.starts_with(BYTE_ORDER_MARK) {
        format!("{BYTE_ORDER_MARK}{text}")
    } else {
        text
    }
}

/// The text above the first key of a file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Lead<'t> {
    head: &'t str,
    /// The comment lines directly above the first key.
    above: Vec<&'t str>,
}

impl<'t> Lead<'t> {
    /// The lead of a resource. `None` if it is not the first document of its file, or not a mapping in block style.
    pub(crate) fn of(root: NodeRef<'t>) -> Option<Self> {
        let text = root.document.text;
        let end = head_end(text);
        let is_first = root.own_range()?.start == end && !text[end..].starts_with("---");
        let first = root.entries().next().filter(|_| is_first)?;
        root.kind().is_block_collection().then(|| Self {
            head: &text[..end],
            above: comments_above(first.key),
        })
    }

    /// The head with the lines above the first key.
    fn text(&self) -> String {
        let above = self.above.iter().flat_map(|line| [line, "\n"]);
        without_mark(self.head).to_owned() + &above.collect::<String>()
    }
}

/// The head, if it is not local's, and the lines above the first key. `None` if head and lines merge separately: one
/// side changed neither, or all versions agree whether there are such lines.
pub(crate) fn merged_lead(
    base: &Lead<'_>,
    local: &Lead<'_>,
    upstream: &Lead<'_>,
) -> Option<(Option<String>, Vec<String>)> {
    let all = [base, local, upstream];
    let is_bare = |lead: &&Lead<'_>| lead.above.is_empty();
    let is_one_sided = base == local || base == upstream || local == upstream;
    if is_one_sided || all.iter().all(is_bare) || !all.iter().any(is_bare) {
        return None;
    }
    let texts = Versions::from(all.map(Lead::text));
    let merged = merge_head(texts.as_ref().map(String::as_str));
    let end = head_end(&merged);
    let above = merged[end..].lines().map(|line| line.trim().to_owned());
    let head = with_mark_of(local.head, merged[..end].to_owned());
    Some(((head != local.head).then_some(head), above.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_merge_block_by_block() {
        // base, local, upstream, and the merged head; `-` for local's head.
        let table = [
            ("# a\n\n", "# a\n\n", "# a\n\n", "-"),
            ("# a\n\n", "# a\n\n", "# b\n---\n", "# b\n---\n"),
            ("# a\n\n", "# a\n\n", "", ""),
            ("# a\n\n", "# mine\n\n", "# b\n\n", "# mine\n# b\n\n"),
            ("# a\n\n", "", "# b\n\n", "# b\n\n"),
            ("# a\n\n", "", "# a\n\n", "-"),
            ("", "# mine\n\n", "", "-"),
            ("", "# mine\n\n", "# b\n\n", "# mine\n\n# b\n\n"),
            ("", "# mine\n\n# b\n\n", "# b\n\n", "-"),
            (
                "# a\n\n",
                "# mine\n\n# a\n\n",
                "# b\n\n",
                "# mine\n\n# b\n\n",
            ),
            (
                "# a\n---\n",
                "# a\n\n# mine\n---\n",
                "# b\n---\n",
                "# b\n\n# mine\n---\n",
            ),
            (
                "# a\n\n",
                "# mine\n\n",
                "# a\n\n# b\n\n",
                "# mine\n\n# b\n\n",
            ),
            ("# a\n\n", "# a\n---\n", "---\n# a\n\n", "-"),
            ("", "", "---\n", "-"),
            ("", "\u{feff}", "# b\n\n", "\u{feff}# b\n\n"),
        ];
        for (base, local, upstream, expected) in table {
            let expected = Some(expected.to_owned()).filter(|expected| expected != "-");
            assert_eq!(
                merged_head(base, local, upstream),
                expected,
                "{base:?} {local:?} {upstream:?}"
            );
        }
    }
}

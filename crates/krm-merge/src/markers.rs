//! Texts with conflict markers, as Git writes them.

use crate::Side;

/// Whether a text has marked conflicts.
pub fn has_markers(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.starts_with("<<<<<<< ")) && lines.any(|line| line.starts_with(">>>>>>> "))
}

/// Replaces each marked conflict in a text with the lines of one side.
pub fn without_markers(text: &str, side: Side) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut within: Option<Side> = None;
    for line in text.split_inclusive('\n') {
        match (within, line) {
            (None, line) if line.starts_with("<<<<<<< ") => within = Some(Side::Local),
            (Some(_), line) if line.trim_end() == "=======" => within = Some(Side::Upstream),
            (Some(_), line) if line.starts_with(">>>>>>> ") => within = None,
            (Some(now), _) if now != side => {}
            _ => kept.push_str(line),
        }
    }
    if !text.ends_with('\n') && kept.ends_with('\n') {
        kept.pop();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_side_of_markers() {
        let text = "a\n<<<<<<< local\nb\n=======\nc\n>>>>>>> v2\nd\n";
        assert!(has_markers(text));
        assert_eq!(without_markers(text, Side::Local), "a\nb\nd\n");
        assert_eq!(without_markers(text, Side::Upstream), "a\nc\nd\n");
        assert_eq!(
            without_markers(text.trim_end_matches("\nd\n"), Side::Local),
            "a\nb"
        );
        assert!(!has_markers("=======\n>>>>>>> quoted\n"));
    }
}

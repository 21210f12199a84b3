//! Merges the head of a file: its lines above the first entry.

use super::lines::line_key;
use super::weave::{Woven, weave};
use crate::{Side, Versions};

/// The merged head. Each line is local's if local has it.
///
/// A `---` that only upstream added is left out if local added one elsewhere: it would begin another document.
pub(crate) fn merge_head(heads: Versions<&str>) -> String {
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

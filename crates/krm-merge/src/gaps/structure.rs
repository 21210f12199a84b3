//! Whether a merge can change which entries and items a document has.

use super::lines::name;
use crate::naming::NAMING_FIELDS;
use krm_yaml::{NodeKind, NodeRef};

/// Whether upstream changed only values, in entries and items that local has too: then no gap of local moves.
pub(super) fn is_kept(base: NodeRef<'_>, local: NodeRef<'_>, upstream: NodeRef<'_>) -> bool {
    has_entries_of(base, upstream, true) && has_entries_of(base, local, false)
}

/// Whether a version has the entries and items of base, in the same order, and no others if they are `all`.
fn has_entries_of(base: NodeRef<'_>, version: NodeRef<'_>, all: bool) -> bool {
    match [base.kind(), version.kind()] {
        [NodeKind::Scalar(_), NodeKind::Scalar(_)] => true,
        [one, other] if one.is_mapping() && other.is_mapping() => {
            let mut own = version.entries();
            base.source() == version.source()
                || base.entries().all(|old| {
                    let mut passed = own.by_ref().take(if all { 1 } else { usize::MAX });
                    let same = passed.find(|entry| has_key_of(old.key, entry.key));
                    same.is_some_and(|entry| has_entries_of(old.value, entry.value, all))
                }) && (!all || own.next().is_none())
        }
        [one, other] if one.is_sequence() && other.is_sequence() => {
            let mut own = version.items();
            let has_same = |old: NodeRef<'_>| {
                let item = own.next().filter(|item| has_name_of(old, *item));
                item.is_some_and(|item| has_entries_of(old, item, all))
            };
            base.source() == version.source() || base.items().all(has_same) && own.next().is_none()
        }
        _ => false,
    }
}

fn has_key_of(old: NodeRef<'_>, key: NodeRef<'_>) -> bool {
    let texts = || [old, key].map(|key| key.key_text().unwrap_or(key.source()));
    old.source() == key.source() || matches!(texts(), [old, key] if old == key)
}

/// Whether two items are called the same. Most elements have the first of the fields that name one.
fn has_name_of(old: NodeRef<'_>, item: NodeRef<'_>) -> bool {
    let named = [old, item].map(|item| item.entry(NAMING_FIELDS[0].fields[0])?.value.scalar_text());
    match named {
        [Some(old), Some(name)] => old == name,
        _ => old.source() == item.source() || name(old) == name(item),
    }
}

#[cfg(test)]
mod tests {
    use crate::Side;
    use crate::fields::merge_resource;
    use crate::gaps::{GapLines, Gaps};
    use crate::merge_schema::MergeSchema;
    use krm_core::resource::Resource;
    use krm_core::schema::Schema;
    use krm_yaml::{Editor, OwnedDocument};

    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 33).expect("31 bits") % end
        }
    }

    /// Lines of a resource; `$` is a value.
    const LINES: [&str; 24] = [
        "apiVersion: v1",
        "kind: Pod",
        "metadata:",
        "  name: p",
        "  labels: {a: $, b: $}",
        "spec:",
        "  a: $",
        "  m:",
        "    \"b\": $",
        "    t: |",
        "      text $",
        "      more",
        "    1: '$'",
        "  containers:",
        "  - name: x",
        "    image: x:$",
        "    args:",
        "    - --flag=$",
        "    - one",
        "  - name: y",
        "    env:",
        "    - {name: e, value: $}",
        "    volumeMounts: []",
        "  z: $ # last",
    ];

    /// The lines of a version, with the comments and blank lines above each.
    type Version = Vec<(Vec<String>, String)>;

    fn base(random: &mut Random) -> Version {
        let lines = LINES.iter().map(|line| (Vec::new(), (*line).to_owned()));
        let mut version: Version = lines.collect();
        add_gaps(&mut version, random);
        version
    }

    fn add_gaps(version: &mut Version, random: &mut Random) {
        for (at, (gap, line)) in version.iter_mut().enumerate() {
            // Not in the text.
            if random.below(6) > 0
                || at == 0
                || matches!(line.trim(), "more")
                || line.contains("text")
            {
                continue;
            }
            let indent = " ".repeat(random.below(6));
            let comment = format!("{indent}# {}", random.below(1000));
            gap.insert(
                0,
                if random.below(3) == 0 {
                    String::new()
                } else {
                    comment
                },
            );
        }
    }

    fn change_values(version: &mut Version, random: &mut Random, percent: usize) {
        for (_, line) in version {
            if line.contains('$') && random.below(100) < percent {
                *line = line.replacen('$', &format!("v{}", random.below(9)), 1);
            }
        }
    }

    fn local(base: &Version, random: &mut Random) -> Version {
        let mut version = base.clone();
        change_values(&mut version, random, 30);
        for (gap, _) in &mut version {
            if random.below(8) == 0 {
                gap.pop();
            }
        }
        add_gaps(&mut version, random);
        for (at, line) in [
            (6, "  new: 1"),
            (8, "    own: {}"),
            (24, "  last: |\n    text"),
        ] {
            if random.below(3) == 0 {
                let at = version.len() - LINES.len() + at;
                version.insert(at, (Vec::new(), line.to_owned()));
            }
        }
        version
    }

    fn document(version: &Version) -> OwnedDocument {
        let lines = version
            .iter()
            .flat_map(|(gap, line)| gap.iter().chain([line]));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        let parsed = OwnedDocument::parse_resource(text.clone());
        parsed.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn where_entries_are_kept_the_full_merge_of_gaps_changes_nothing() {
        let schema = Schema::builtin();
        let mut applied = 0;
        for seed in 1..600 {
            let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
            let base = base(&mut random);
            let own = document(&local(&base, &mut random));
            let mut new = base.clone();
            change_values(&mut new, &mut random, 40);
            let (base, new) = (document(&base), document(&new));
            let [b, l, u] = [&base, &own, &new].map(|owned| owned.root().expect("a root"));
            let mut editor = Editor::new(own.document());
            let merge_schema = MergeSchema::of(&Resource::read(l), &schema, false);
            merge_resource(Some(b), l, u, merge_schema, Side::Upstream, &mut editor)
                .expect("merges");
            if Gaps::of(Some(b), l, u, &editor).is_some() {
                continue;
            }
            let merged = editor.finish_parsed().expect("YAML");
            let Some(gaps) = GapLines::of_all(Some(b), l, u) else {
                continue;
            };
            applied += 1;
            let mut editor = Editor::new(merged.document());
            gaps.apply(merged.root().expect("a root"), &mut editor);
            let before = merged.document().text;
            let after = editor.finish_parsed().expect("YAML");
            let texts = [b, l, u].map(|root| root.document.text);
            let shown = texts.join("=====\n");
            assert_eq!(before, after.document().text, "seed {seed}:\n{shown}");
        }
        assert!(applied > 250, "{applied}");
    }
}

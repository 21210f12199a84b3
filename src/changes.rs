//! What an upgrade changes in a package, resource by resource.
//!
//! ```text
//! added    ConfigMap/settings
//! changed  Deployment/app  spec.replicas, spec.template.spec.containers[name=app].image
//! removed  Service/old
//! changed  notes.txt
//! ```

use std::collections::{BTreeMap, BTreeSet};

use krm_core::results::and_more;
use serde::Serialize;

use super::blame_fields::fields_by_resource;
use super::package::{Contents, KPTFILE, is_setting};

/// A resource, or a file without resources, that differs between two states of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PackageChange {
    /// `Kind/name`, or the path of the file.
    pub(crate) name: String,
    pub(crate) change: ChangeKind,
    /// The fields that differ, if both states have the resource.
    pub(crate) fields: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChangeKind {
    Added,
    Changed,
    Removed,
}

/// How many fields of a resource a line names.
const NAMED: usize = 3;

impl PackageChange {
    fn of<T>(name: &str, before: Option<&T>, after: Option<&T>, fields: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            change: match (before, after) {
                (None, _) => ChangeKind::Added,
                (_, None) => ChangeKind::Removed,
                _ => ChangeKind::Changed,
            },
            fields,
        }
    }
}

impl std::fmt::Display for PackageChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = match self.change {
            ChangeKind::Added => "added",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "removed",
        };
        write!(f, "{verb:<7}  {}", self.name)?;
        let shown = self.fields.len().min(NAMED);
        if let Some((last, first)) = self.fields[..shown].split_last() {
            let more = and_more(self.fields.len() - shown + 1);
            let first: String = first.iter().map(|field| format!("{field}, ")).collect();
            write!(f, "  {first}{last}{more}")?;
        }
        Ok(())
    }
}

/// The resources and other files in which two states of a package differ. The Kptfile, which records the upgrade, is
/// left out.
pub(crate) fn changes(before: &Contents, after: &Contents) -> Vec<PackageChange> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing = paths.into_iter().filter(|path| {
        *path != KPTFILE && !is_setting(path) && before.get(*path) != after.get(*path)
    });
    let differing: Vec<&String> = differing.collect();
    let of = |state: &Contents| {
        let files = differing.iter();
        let files = files.filter_map(|path| Some(((*path).clone(), state.get(*path)?.clone())));
        fields_by_resource(&files.collect())
    };
    let [(old, old_files), (new, new_files)] = [of(before), of(after)];
    let mut found = Vec::new();
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let none = BTreeMap::new();
        let [before, after] = [old.get(name), new.get(name)];
        let [old, new] = [before, after].map(|fields| fields.unwrap_or(&none));
        let fields: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let fields = fields
            .into_iter()
            .filter(|field| old.get(*field) != new.get(*field));
        let fields: Vec<String> = fields.cloned().collect();
        let is_in_both = before.is_some() && after.is_some();
        // A resource whose fields are the same only moved, or has other comments.
        if fields.is_empty() && is_in_both {
            continue;
        }
        let fields = if is_in_both { fields } else { Vec::new() };
        found.push(PackageChange::of(name, before, after, fields));
    }
    for path in differing {
        if !old_files.contains(path) && !new_files.contains(path) {
            let [before, after] = [before, after].map(|state| state.get(path));
            found.push(PackageChange::of(path, before, after, Vec::new()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, value: &str) -> String {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: \"{value}\"\n  b: x\n"
        )
    }

    fn lines(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
        let files = |files: &[(&str, &str)]| {
            let files = files.iter();
            files
                .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
                .collect()
        };
        let found = changes(&files(before), &files(after));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_resource_is_named_once_with_its_fields() {
        let [one, two] = [map("one", "1"), map("one", "2")];
        let other = map("system:other", "1");
        let both = format!("{two}---\n{other}");
        let changed = "changed  ConfigMap/one  data.a";
        assert_eq!(lines(&[("a.yaml", &one)], &[("a.yaml", &two)]), [changed]);
        assert_eq!(
            lines(&[("a.yaml", &one)], &[("a.yaml", &both)]),
            [changed, "added    ConfigMap/system:other"]
        );
        assert_eq!(
            lines(&[("a.yaml", &both)], &[("a.yaml", &two)]),
            ["removed  ConfigMap/system:other"]
        );
    }

    #[test]
    fn other_files_are_named_and_moves_and_comments_are_not() {
        let one = map("one", "1");
        let commented = format!("# comment\n{one}");
        assert!(lines(&[("a.yaml", &one)], &[("b.yaml", &one)]).is_empty());
        assert!(lines(&[("a.yaml", &one)], &[("a.yaml", &commented)]).is_empty());
        assert!(lines(&[("Kptfile", "a")], &[("Kptfile", "b")]).is_empty());
        assert_eq!(
            lines(
                &[("notes.txt", "a"), ("old", "")],
                &[("notes.txt", "b"), ("new", "")]
            ),
            ["added    new", "changed  notes.txt", "removed  old"]
        );
    }

    #[test]
    fn a_line_names_three_fields_and_counts_the_others() {
        let text = |value: &str| {
            let data: String = (1..6).map(|at| format!("  k{at}: {value}\n")).collect();
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n{data}")
        };
        let found = lines(&[("a.yaml", &text("x"))], &[("a.yaml", &text("y"))]);
        assert_eq!(
            found,
            ["changed  ConfigMap/a  data.k1, data.k2, data.k3 and 2 more"]
        );
    }
}

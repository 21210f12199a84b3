//! What an upgrade changes in a package, resource by resource.
//!
//! ```text
//! added    ConfigMap/settings
//! changed  Deployment/app  spec.replicas, spec.template.spec.containers[name=app].image
//! removed  Service/old
//! changed  notes.txt
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use krm_core::resource::Resource;
use krm_core::resource_key::ResourceKey;
use krm_core::results::and_more;
use krm_core::schema::Schema;
use krm_merge::MergeSchema;
use krm_package::{is_krm_name, is_setting};
use krm_yaml::{NodeRef, OwnedDocument};
use serde::Serialize;

use super::fields::{PairedField, leaves, pair_fields, walkable};

/// A resource, or a file without resources, that differs between two states of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackageChange {
    /// `Kind/name`, or the path of the file.
    pub name: String,
    /// The file of a resource, if a resource of the same name in another file changed, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What happened to it.
    pub change: ChangeKind,
    /// The fields that differ.
    pub fields: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Only the second state has it.
    Added,
    /// Both have it.
    Changed,
    /// Only the first state has it.
    Removed,
}

/// How many fields of a resource a line names.
const NAMED: usize = 3;

impl PackageChange {
    fn of<T>(name: &str, before: Option<&T>, after: Option<&T>, fields: BTreeSet<String>) -> Self {
        Self {
            name: name.to_owned(),
            file: None,
            change: match (before, after) {
                (None, _) => ChangeKind::Added,
                (_, None) => ChangeKind::Removed,
                _ => ChangeKind::Changed,
            },
            fields: fields.into_iter().collect(),
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
        if let Some(file) = &self.file {
            write!(f, " in {file}")?;
        }
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
pub fn package_changes(
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
) -> Vec<PackageChange> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing = paths.into_iter().filter(|path| {
        *path != "Kptfile" && !is_setting(path) && before.get(*path) != after.get(*path)
    });
    let differing: Vec<&String> = differing.collect();
    let of = |state: &BTreeMap<String, Vec<u8>>| {
        let files = differing.iter();
        let files = files.filter_map(|path| Some(((*path).clone(), state.get(*path)?.clone())));
        ComparableResources::of(&files.collect())
    };
    let (old, new) = (of(before), of(after));
    let mut found = old.changes(&new);
    for change in &mut found {
        if change.change != ChangeKind::Changed {
            change.fields.clear();
        }
    }
    for path in differing {
        if !old.has_file(path) && !new.has_file(path) {
            let [before, after] = [before, after].map(|state| state.get(path));
            found.push(PackageChange::of(path, before, after, BTreeSet::new()));
        }
    }
    found
}

/// The parsed resources of a package.
#[derive(Debug)]
pub struct ComparableResources {
    files: BTreeMap<String, OwnedDocument>,
}

/// A resource in its package: who it is, its file if it has no name, and how many equal ones are before it.
type ResourceId<'a> = (ResourceKey, &'a str, usize);

/// A resource with the name that a person reads, and its file.
struct NamedResource<'a> {
    shown: String,
    path: &'a str,
    node: NodeRef<'a>,
}

impl ComparableResources {
    /// The resources of the files that are YAML. A file that cannot be walked has no fields that could be compared.
    pub fn of(contents: &BTreeMap<String, Vec<u8>>) -> Self {
        let files = contents.iter().filter(|(path, _)| is_krm_name(path));
        let files = files.filter_map(|(path, bytes)| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            Some((path.clone(), walkable(text)?.ok()?))
        });
        Self {
            files: files.collect(),
        }
    }

    /// Whether a file has resources.
    fn has_file(&self, path: &str) -> bool {
        let document = self.files.get(path);
        let mut roots = document.into_iter().flat_map(OwnedDocument::roots);
        roots.any(|root| !Resource::read(root).kind.is_empty())
    }

    /// The resources, those in Lists too, each with the name that a person reads.
    fn resources(&self) -> BTreeMap<ResourceId<'_>, NamedResource<'_>> {
        let mut found = BTreeMap::new();
        let mut counts: HashMap<(ResourceKey, &str), usize> = HashMap::new();
        let mut add = |path, resource: &Resource, node| {
            let key = ResourceKey::as_written(resource);
            let file = if key.name.name().is_some() { "" } else { path };
            let count = counts.entry((key.clone(), file)).or_default();
            let name = resource.name.as_deref().unwrap_or(path);
            let shown = format!("{}/{name}", resource.kind);
            let named = NamedResource { shown, path, node };
            found.insert((key, file, *count), named);
            *count += 1;
        };
        for (path, document) in &self.files {
            for root in document.roots() {
                let resource = Resource::read(root);
                match resource.elements(root) {
                    Some(elements) => elements
                        .iter()
                        .for_each(|(element, resource)| add(path.as_str(), resource, *element)),
                    None if resource.kind.is_empty() => {}
                    None => add(path, &resource, root),
                }
            }
        }
        found
    }

    /// The resources that differ in another state of the package, by their names, with the fields that differ: all
    /// fields of a resource that one state lacks.
    pub fn changes(&self, after: &Self) -> Vec<PackageChange> {
        let schema = Schema::builtin();
        let (old, new) = (self.resources(), after.resources());
        let ids: BTreeSet<&ResourceId<'_>> = old.keys().chain(new.keys()).collect();
        let mut found = Vec::new();
        for id in ids {
            let [before, after] = [old.get(id), new.get(id)];
            let fields = match [before, after] {
                [Some(before), Some(after)] => {
                    let schema = MergeSchema::of(&Resource::read(after.node), &schema, true);
                    differing_fields([before.node, after.node], schema)
                }
                sides => {
                    let nodes = sides.into_iter().flatten();
                    let all = nodes.flat_map(|one| leaves(one.node));
                    all.map(|leaf| leaf.key).collect()
                }
            };
            // Otherwise it only moved, or has other comments.
            let Some(named) = before.or(after).filter(|_| !fields.is_empty()) else {
                continue;
            };
            let change = PackageChange::of(&named.shown, before, after, fields);
            found.push((change, after.unwrap_or(named).path));
        }
        found.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let mut changes = Vec::new();
        for alike in found.chunk_by(|(one, _), (other, _)| one.name == other.name) {
            let are_apart = alike.iter().any(|(_, path)| *path != alike[0].1);
            let file = |path: &str| are_apart.then(|| path.to_owned());
            changes.extend(alike.iter().map(|(change, path)| PackageChange {
                file: file(path),
                ..change.clone()
            }));
        }
        changes
    }
}

fn differing_fields(nodes: [NodeRef<'_>; 2], schema: MergeSchema<'_>) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    pair_fields(nodes, schema, &mut |field| match field {
        PairedField::Same(_) => {}
        PairedField::Changed(key) | PairedField::Added(key) | PairedField::Removed(key) => {
            fields.insert(key);
        }
    });
    fields
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
        let found = package_changes(&files(before), &files(after));
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
    fn resources_with_one_name_are_named_with_their_files() {
        let [one, two] = [map("one", "1"), map("one", "2")];
        assert_eq!(
            lines(
                &[("a.yaml", &one), ("b.yaml", &one), ("c.yaml", &one)],
                &[("a.yaml", &two), ("b.yaml", &one), ("c.yaml", &two)]
            ),
            [
                "changed  ConfigMap/one in a.yaml  data.a",
                "changed  ConfigMap/one in c.yaml  data.a"
            ]
        );
    }

    #[test]
    fn other_files_are_listed_but_moves_and_comments_are_not() {
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
    fn elements_are_paired_as_a_merge_pairs_them() {
        let thing = |list: &str| {
            format!(
                "apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: a}}\nspec: {{list: [{list}]}}\n"
            )
        };
        let check = |old: &str, new: &str, expected: &[&str]| {
            let (old, new) = (thing(old), thing(new));
            assert_eq!(lines(&[("a.yaml", &old)], &[("a.yaml", &new)]), expected);
        };
        let (x, y) = ("{id: x, tag: 1}", "{id: y, tag: 1}");
        check(
            &format!("{x}, {y}"),
            &format!("{x}, {{id: z}}, {y}"),
            &["changed  Thing/a  spec.list[1].id"],
        );
        check(
            &format!("{x}, {y}"),
            &format!("{y}, {{id: x, tag: 2}}"),
            &["changed  Thing/a  spec.list, spec.list[1].tag"],
        );
        check(
            "{name: x, tag: 1}, {name: y}",
            "{name: y}, {name: x, tag: 1}",
            &[],
        );
    }

    #[test]
    fn resources_are_identified_by_their_namespaces_too_and_in_lists() {
        let [one, two] = ["one", "two"].map(|namespace| {
            map("a", "1").replace("name: a", &format!("name: a\n  namespace: {namespace}"))
        });
        let changed = two.replace("a: \"1\"", "a: \"2\"");
        let (old, new) = (format!("{one}---\n{two}"), format!("{one}---\n{changed}"));
        let expected = ["changed  ConfigMap/a  data.a"];
        assert_eq!(lines(&[("a.yaml", &old)], &[("a.yaml", &new)]), expected);
        let list = |items: [&str; 2]| {
            let item = |text: &str| format!("- {}\n", text.trim_end().replace('\n', "\n  "));
            let items = items.map(item).concat();
            format!("apiVersion: v1\nkind: List\nitems:\n{items}")
        };
        let listed = list([&one, &changed]);
        assert_eq!(lines(&[("a.yaml", &old)], &[("a.yaml", &listed)]), expected);
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

//! ARCHITECTURE.md names every crate, and no path that does not exist. What it says of imports within a crate, files, clocks
//! and names holds; imports between crates are the compiler's business.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::Path;
use std::{fs, io};

use regex::Regex;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The words between backticks that are paths of this repository.
fn paths(page: &str) -> BTreeSet<&str> {
    let folders = [
        "crates/",
        "functions/",
        "src/",
        "tests/",
        "docs/",
        "tools/",
        ".ci/",
    ];
    let quoted = page.split('`').skip(1).step_by(2);
    quoted
        .filter(|word| folders.iter().any(|folder| word.starts_with(folder)))
        .collect()
}

/// A file of a crate: its path from the root of the repository, and its code without comments and tests.
struct Source {
    path: String,
    code: String,
}

impl Source {
    /// The folder of its crate, with the slash at its end, and the path in the crate.
    fn parts(&self) -> (&str, &str) {
        let end = self.path.find("src/").expect("sources of a crate") + "src/".len();
        self.path.split_at(end)
    }
}

/// The folders with the sources of all crates.
fn crates() -> Vec<String> {
    let mut found = vec!["src/".to_owned()];
    for folder in ["crates", "functions"] {
        let entries = fs::read_dir(root().join(folder)).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let names = names.map(|name| name.into_string().expect("names are UTF-8"));
        found.extend(names.map(|name| format!("{folder}/{name}/src/")));
    }
    found
}

/// All files of all crates but those of tests.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut tests = BTreeSet::new();
    let mut pending: Vec<_> = crates().iter().map(|folder| root().join(folder)).collect();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            pending.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let text = fs::read_to_string(&path).expect("a file");
        let path = path.strip_prefix(root()).expect("below the root");
        let path = path.to_str().expect("names are UTF-8").to_owned();
        let folder = path
            .trim_end_matches("mod.rs")
            .trim_end_matches("lib.rs")
            .trim_end_matches(".rs");
        let (code, modules) = without_tests(&text);
        let folder = folder.trim_end_matches('/');
        tests.extend(modules.iter().map(|module| format!("{folder}/{module}")));
        found.push(Source { path, code });
    }
    found.retain(|source| {
        let name = source.path.trim_end_matches(".rs");
        !tests
            .iter()
            .any(|test| name == test || source.path.starts_with(&format!("{test}/")))
    });
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 300, "{} files", found.len());
    found
}

/// The code of a file without comments and items of tests, and the names of its modules of tests.
fn without_tests(text: &str) -> (String, Vec<&str>) {
    let (mut code, mut modules) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        if text.starts_with("#[cfg(test)]") {
            let indent = line.len() - text.len();
            for line in lines.by_ref() {
                let text = line.trim_start();
                let module = text
                    .strip_suffix(';')
                    .and_then(|text| text.rsplit_once("mod "));
                modules.extend(module.map(|(_, name)| name));
                let is_end = line.len() - text.len() == indent && !text.starts_with('#');
                if is_end && (text.ends_with(';') || text.starts_with('}') || text.ends_with('}')) {
                    break;
                }
            }
        } else if !text.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    (code, modules)
}

/// The words of a text that follow another one.
fn words_after<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(before).map(move |(at, _)| {
        let rest = &text[at + before.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn the_architecture_names_every_crate_and_no_other_path() -> io::Result<()> {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md"))?;
    let named = paths(&page);
    for path in &named {
        let is_pattern = path.contains(['<', '*']);
        assert!(
            is_pattern || root().join(path).exists(),
            "there is no `{path}`"
        );
    }
    for folder in crates() {
        let name = folder.trim_end_matches("src/").trim_end_matches('/');
        let name = name.rsplit('/').next().unwrap_or_default();
        assert!(page.contains(name), "`{name}` is not named");
    }
    Ok(())
}

/// A crate that holds more is two.
const MOST_LINES: usize = 13_000;

#[test]
fn no_crate_has_too_many_lines_of_code() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for Source { path, code } in sources() {
        let (folder, _) = path.split_once("src/").expect("a file of a crate");
        let count = code.lines().filter(|line| !line.trim().is_empty()).count();
        *lines.entry(folder.to_owned()).or_default() += count;
    }
    assert!(lines.len() > 20, "{lines:?}");
    lines.retain(|_, count| *count > MOST_LINES);
    assert!(
        lines.is_empty(),
        "more than {MOST_LINES} without tests and comments: {lines:?}"
    );
}

/// Fails if some of these import each other, directly or through others.
fn assert_runs_one_way<T: Ord + Clone + Debug>(mut imports: BTreeMap<T, BTreeSet<T>>) {
    // A file is in no circle if it imports none of the others, or none of them imports it.
    while !imports.is_empty() {
        let before = imports.len();
        let is_end = |own: &T, imported: &BTreeSet<T>| {
            imported.iter().all(|other| !imports.contains_key(other))
                || !imports.values().any(|others| others.contains(own))
        };
        let ends: Vec<T> = imports
            .iter()
            .filter(|(own, imported)| is_end(own, imported))
            .map(|(own, _)| own.clone())
            .collect();
        imports.retain(|own, _| !ends.contains(own));
        assert!(imports.len() < before, "import each other: {imports:#?}");
    }
}

/// The modules of a path, from the crate's root.
type ModulePath = Vec<String>;

/// What the files of a crate import.
struct Imports {
    /// The paths that each module imports, and those that it hands on.
    imported: BTreeMap<ModulePath, Vec<ModulePath>>,
    handed_on: BTreeMap<ModulePath, Vec<ModulePath>>,
}

impl Imports {
    fn of(sources: &[&Source]) -> Self {
        let statement = Regex::new(r"(?m)^\s*(pub(?:\([^)]*\))? )?use ([^;]+);").expect("a regex");
        let inline = Regex::new(r"\b(?:crate|super)(?:::\w+)+").expect("a regex");
        let (mut imported, mut handed_on) = (BTreeMap::new(), BTreeMap::new());
        for source in sources {
            let (_, module) = source.parts();
            let module = module.trim_end_matches(".rs").trim_end_matches("/mod");
            let module: ModulePath = module.split('/').map(str::to_owned).collect();
            let (mut own, mut public) = (Vec::new(), Vec::new());
            for found in statement.captures_iter(&source.code) {
                let paths = leaves(&found[2]);
                if found.get(1).is_some() {
                    public.extend(paths);
                } else {
                    own.extend(paths);
                }
            }
            let rest = statement.replace_all(&source.code, "");
            own.extend(
                inline
                    .find_iter(&rest)
                    .flat_map(|path| leaves(path.as_str())),
            );
            for paths in [&mut own, &mut public] {
                paths
                    .iter_mut()
                    .for_each(|path| *path = absolute(&module, path));
            }
            imported.insert(module.clone(), own);
            handed_on.insert(module, public);
        }
        Self {
            imported,
            handed_on,
        }
    }

    /// The module that has what a path names.
    fn module_of(&self, path: &[String]) -> Option<ModulePath> {
        let lengths = (1..=path.len()).rev();
        let prefixes = lengths.map(|length| path.split_at(length));
        let mut modules = prefixes.filter(|(module, _)| self.imported.contains_key(*module));
        let (module, rest) = modules.next()?;
        let name = rest.first();
        let mut names = self.handed_on[module].iter();
        let from = names.find(|from| from.last() == name && *from != path);
        from.map_or(Some(module.to_vec()), |from| self.module_of(from))
    }
}

/// The paths of an import: those of `a::{b, c::d}` are `a::b` and `a::c::d`.
fn leaves(import: &str) -> Vec<ModulePath> {
    let words = |path: &str| -> ModulePath {
        let path = path.split(" as ").next().unwrap_or_default();
        let words = path.split("::").map(str::trim);
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let Some((before, list)) = import.split_once('{') else {
        return vec![words(import)];
    };
    let list = list
        .trim_end()
        .strip_suffix('}')
        .expect("a list of imports");
    let mut depth = 0;
    let parts = list.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts
        .filter(|part| !part.trim().is_empty())
        .flat_map(leaves);
    parts.map(|part| [words(before), part].concat()).collect()
}

/// A path of a module from the crate's root.
fn absolute(module: &[String], path: &[String]) -> ModulePath {
    let ups = path.iter().take_while(|word| *word == "super").count();
    match path.first().map(String::as_str) {
        Some("crate") => path[1..].to_vec(),
        Some("self") => [module, &path[1..]].concat(),
        Some("super") => [&module[..module.len().saturating_sub(ups)], &path[ups..]].concat(),
        _ => [module, path].concat(),
    }
}

#[test]
fn no_two_files_of_a_crate_import_each_other() {
    let mut sources = sources();
    // The crates' roots hand on what others have.
    let roots = ["lib.rs", "main.rs"];
    sources.retain(|source| !roots.contains(&source.parts().1));
    let mut count = 0;
    for folder in crates() {
        let own = sources.iter().filter(|source| source.parts().0 == folder);
        let imports = Imports::of(&own.collect::<Vec<_>>());
        // A module and those below it are one.
        let is_below = |a: &ModulePath, b: &ModulePath| a.starts_with(b) || b.starts_with(a);
        let files = imports.imported.iter().map(|(module, paths)| {
            let modules = paths.iter().filter_map(|path| imports.module_of(path));
            let others = modules.filter(|other| !is_below(other, module));
            (module.clone(), others.collect())
        });
        let files: BTreeMap<ModulePath, BTreeSet<ModulePath>> = files.collect();
        count += files.values().map(BTreeSet::len).sum::<usize>();
        assert_runs_one_way(files);
    }
    assert!(count > 500, "{count} imports");
}

#[test]
fn steps_do_no_input_or_output() {
    let crates = [
        "core", "merge", "overlay", "patch", "render", "review", "variant", "yaml",
    ];
    // A switch of tests is a variable; a path of data asks for the current directory to compare with it.
    let known = ["crates/krm-yaml/src/test_switch.rs"];
    for source in &sources() {
        let (folder, _) = source.parts();
        let is_step = folder.starts_with("functions/") && folder != "functions/render-fleet/src/";
        let is_lower = crates.map(|name| format!("crates/krm-{name}/src/"));
        if !is_step && !is_lower.contains(&folder.to_owned()) {
            continue;
        }
        let path = &source.path;
        if known.contains(&path.as_str()) || path.ends_with("/main.rs") {
            continue;
        }
        for word in ["fs::", "std::env", "std::net", "std::process"] {
            let found = source.code.lines().find(|line| line.contains(word));
            assert_eq!(found, None, "{path}: `{word}`");
        }
    }
}

#[test]
fn only_locks_stamps_and_messages_on_a_terminal_know_the_time() {
    // What they do with it is no part of an output, but for the date of a fleet's report.
    let known = [
        "crates/krm-function/src/filter/",
        "crates/krm-package/src/file.rs",
        "crates/krm-package/src/lock.rs",
        "crates/krm-package/src/temporary.rs",
        "functions/render-fleet/src/program.rs",
    ];
    for Source { path, code } in &sources() {
        let knows = code.contains("Instant") || code.contains("SystemTime");
        let may = known.iter().any(|known| path.starts_with(known));
        assert!(may || !knows, "{path} reads a clock");
    }
}

#[test]
fn only_one_source_file_writes_to_the_terminal() {
    let writes = Regex::new(
        r"\bstdout\(\)|\bstderr\(\)|\bTerm\b|Stdio::inherit|print(ln)?!\(|dbg!\(|error\.(print|exit)\(|get_matches\(\)|/dev/(tty|std)",
    );
    // A program inherits the streams, unless its output is taken.
    let inherits = Regex::new(r"\.(status|spawn)\(\)").expect("a regex");
    let writes = writes.expect("a regex");
    let mut found = 0;
    for Source { path, code } in &sources() {
        let starts_programs = code.contains("std::process");
        for line in code.lines() {
            let may_inherit = starts_programs && inherits.is_match(line);
            if !writes.is_match(line) && !may_inherit {
                continue;
            }
            let is_editor = may_inherit && path == "src/interactive.rs";
            // Each stream of the user's git and curl is taken.
            let is_client = may_inherit && path == "crates/krm-process/src/running.rs";
            let is_writer = path == "crates/krm-package/src/escaped/streams.rs";
            assert!(is_editor || is_client || is_writer, "{path}: {line}");
            found += 1;
        }
    }
    assert!(found > 5, "{found}");
}

/// Who reads texts by the core schema of YAML 1.2, and why these are no resources, or their values do not matter.
const CORE_READERS: [(&str, &str); 10] = [
    (
        "crates/krm-core/src/mask.rs",
        "any text that may hold a Secret",
    ),
    (
        "crates/krm-core/src/results/secrets/texts.rs",
        "any text that may hold a Secret",
    ),
    (
        "crates/krm-core/src/source_text/resources.rs",
        "chooses the reading",
    ),
    (
        "crates/krm-follow/src/search/versions.rs",
        "versions are texts",
    ),
    (
        "crates/krm-merge/src/fields/document.rs",
        "a document in a text, or a file that is no resource",
    ),
    (
        "crates/krm-merge/src/package/combined_file.rs",
        "only whether a text is YAML",
    ),
    (
        "crates/krm-merge/src/package/documents.rs",
        "documents that are no resources",
    ),
    ("crates/krm-patch/src/write/text.rs", "a literal"),
    ("src/review/mod.rs", "only whether a text is YAML"),
    (
        "crates/krm-remote/src/helm.rs",
        "the index of a chart repository",
    ),
];

#[test]
fn texts_of_resources_are_read_as_kubernetes_reads_them() {
    let parse = "OwnedDocument::parse(";
    let mut found = BTreeSet::new();
    for Source { path, code } in &sources() {
        let is_reader = code.contains(parse) && !path.starts_with("crates/krm-yaml/");
        let is_known = CORE_READERS.iter().any(|(reader, _)| reader == path);
        assert!(
            !is_reader || is_known,
            "{path}: expected `parse_resource` or `parse_document`, found `{parse}`"
        );
        found.extend(is_reader.then(|| path.clone()));
    }
    let expected = CORE_READERS
        .iter()
        .map(|(path, _)| (*path).to_owned())
        .collect();
    assert_eq!(found, expected);
}

/// To be lowered whenever there are fewer.
const MOST_NAMES: usize = 8;

#[test]
fn few_names_of_types_are_defined_more_than_once() {
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Source { path, code } in sources() {
        for line in code.lines() {
            // Types of traits and implementations are indented.
            let is_alias = line.starts_with("type ") || line.starts_with("pub");
            let keywords = ["struct ", "enum ", "trait ", "type "];
            for keyword in &keywords[..if is_alias { 4 } else { 3 }] {
                let names = words_after(line, keyword);
                for name in names.filter(|name| name.starts_with(char::is_uppercase)) {
                    let paths = defined.entry(name.to_owned()).or_default();
                    paths.push(path.clone());
                }
            }
        }
    }
    assert!(defined.len() > 500, "{} types", defined.len());
    defined.retain(|_, paths| paths.len() > 1);
    assert!(
        defined.len() <= MOST_NAMES,
        "{}: {defined:#?}",
        defined.len()
    );
}

/// The files in which a value becomes JSON without the mark that says whether it may be quoted, and why.
const JSON_WITHOUT_MARK: [(&str, &str); 11] = [
    ("crates/krm-yaml/src/value.rs", "it writes JSON"),
    ("crates/krm-yaml/src/edit/refuse.rs", "names of keys"),
    ("crates/krm-patch/src/node/fields.rs", "names of keys"),
    (
        "crates/krm-core/src/results/secrets/mod.rs",
        "it asks the mark",
    ),
    (
        "crates/krm-core/src/results/shown.rs",
        "values that have been marked",
    ),
    ("crates/krm-review/src/lib.rs", "compares values"),
    ("crates/krm-review/src/report.rs", "values of results"),
    ("crates/krm-function/src/filter/print.rs", "results"),
    (
        "functions/expand-variant-set/src/variant.rs",
        "values of results",
    ),
    (
        "functions/render-fleet/src/report/finding.rs",
        "values of results",
    ),
    ("src/report.rs", "results"),
];

#[test]
fn a_value_becomes_json_only_with_its_mark() {
    let json = Regex::new(r"\b(\w+)(?:\.|::)to_json\b").expect("a regular expression");
    let found = sources().into_iter().filter(|source| {
        // An edit of `krmv diff` is masked when it is made.
        let mut names = json
            .captures_iter(&source.code)
            .map(|found| found[1].to_owned());
        names.any(|name| name != "Edit")
            || source.code.contains(").to_json()")
            || source.code.contains("?.to_json()")
            || source.code.contains("\n            .to_json()")
    });
    let found: BTreeSet<String> = found.map(|source| source.path).collect();
    let known = JSON_WITHOUT_MARK.map(|(path, _)| path.to_owned());
    let unknown: Vec<_> = found.iter().filter(|path| !known.contains(path)).collect();
    assert!(
        unknown.is_empty(),
        "use `results::QuotedValue` or `results::ResultValue`: {unknown:?}"
    );
    let gone: Vec<_> = known.iter().filter(|path| !found.contains(*path)).collect();
    assert!(gone.is_empty(), "no longer needed: {gone:?}");
}

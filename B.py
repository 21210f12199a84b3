import shutil
def sub(p,*pairs):
    s=open(p).read()
    for a,b in pairs:
        assert a in s,(p,a)
        s=s.replace(a,b,1)
    open(p,'w').write(s)
shutil.copy('/tmp/next/lines.rs','src/results/lines.rs')
sub('src/results/mod.rs',("mod list;\n","mod lines;\nmod list;\n"),
('''        if let Some((path, _)) = &self.file {
            write!(f, "{}: ", printable(path))?;
        }
        if let Some(resource)''','''        if let Some((path, _)) = &self.file {
            write!(f, "{}:", printable(path))?;
            if let Some(line) = self.tag_value("line") {
                write!(f, "{line}:")?;
            }
            f.write_str(" ")?;
        }
        if let Some(resource)'''),
("/// One line: `[error] file.yaml: ConfigMap/name: field: message (Reason)`.","/// One line: `[error] file.yaml: ConfigMap/name: field: message (Reason)`, with `file.yaml:12` where the line is known."))
sub('src/results/list.rs',("    /// Those that are listed, grouped by file;","    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, FunctionResult> {\n        self.listed.iter_mut()\n    }\n\n    /// Those that are listed, grouped by file;"))
sub('src/yaml/path.rs',('''    /// Its elements, from the root down.''','''    /// Reads a path as it is printed; `None` if it is none, or has elements by their keys or values.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut path = Self::root();
        let mut rest = text;
        while !rest.is_empty() {
            let quoted = rest.strip_prefix('[').and_then(unquote);
            let (element, after) = if let Some((name, after)) = quoted {
                (PathElement::Field(name), after.strip_prefix(']')?)
            } else if let Some(index) = rest.strip_prefix('[') {
                let (index, after) = index.split_once(']')?;
                (PathElement::Index(index.parse().ok()?), after)
            } else {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                (PathElement::Field(name.to_owned()), after)
            };
            path.0.push(element);
            rest = after;
        }
        Some(path)
    }

    /// Its elements, from the root down.'''),
('''        assert_eq!(
            path.to_string(),
            r#"metadata.annotations["kpt.dev/config-injection"]"#
        );
''','''        assert_eq!(
            path.to_string(),
            r#"metadata.annotations["kpt.dev/config-injection"]"#
        );
        let path = path.index(3).field("").field("a]\\"").index(0).index(1);
        assert_eq!(Path::parse(&path.to_string()), Some(path));
        assert_eq!(Path::parse("a[name=b].c"), None);
'''))
sub('src/result_printer.rs',
('''//! [info] merged: 2 changed, 0 added, 0 removed, 0 moved, 2 conflicts
//! ```
//!
//! A terminal''','''//! [info] merged: 2 changed, 0 added, 0 removed, 0 moved, 2 conflicts
//! ```
//!
//! A result whose line is known begins with `deployment.yaml:12:`. Equal decisions about fields are one line, that of the
//! first, with how many more there are; `--verbose` lists them all.
//!
//! A terminal'''),
("    /// Whether it goes to a terminal that shows colours.\n    pub(crate) colour: bool,\n","    /// Whether it goes to a terminal that shows colours.\n    pub(crate) colour: bool,\n    /// Whether equal decisions are listed one by one.\n    pub(crate) lists_all: bool,\n"),
('''        for result in results {
            if let Some((path, _)) = &result.file {''','''        let grouped = Grouped::of(results, self.lists_all);
        for result in results.iter().filter(|result| grouped.is_first(result)) {
            if let Some((path, _)) = &result.file {'''),
('''                let line = FunctionResult {
                    file: None,
                    ..result.clone()
                };
                match Versions::of(&line).filter(|_| self.colour) {
                    Some(versions) => self.conflict(&mut text, &line, &versions),
                    None => self.line(&mut text, "  ", line.severity, &line.to_string()),
                }''','''                let has_line = result.tag_value("line").is_some();
                let line = FunctionResult {
                    file: result.file.clone().filter(|_| has_line),
                    ..result.clone()
                };
                let more = grouped.more(result);
                match Versions::of(&line).filter(|_| self.colour) {
                    Some(versions) => self.conflict(&mut text, &line, &versions, &more),
                    None => {
                        let line = line.to_string() + &more;
                        self.line(&mut text, "  ", result.severity, &line);
                    }
                }'''),
("    fn conflict(self, text: &mut String, result: &FunctionResult, versions: &Versions<'_>) {","    fn conflict(\n        self,\n        text: &mut String,\n        result: &FunctionResult,\n        versions: &Versions<'_>,\n        more: &str,\n    ) {"),
('''        self.line(text, "  ", result.severity, &heading.to_string());''','''        let heading = heading.to_string() + more;
        self.line(text, "  ", result.severity, &heading);'''),
('''/// The three versions of a conflict.
struct Versions''','''/// Results about fields, grouped by what was decided.
#[derive(Default)]
struct Grouped<'r> {
    /// The first of each group, and how many there are.
    groups: HashMap<Decided<'r>, (&'r FunctionResult, usize)>,
}

/// What was decided: severity, reason, the name of the field, and the message with the values.
type Decided<'r> = (Severity, &'r str, Option<PathElement>, &'r Message);

impl<'r> Grouped<'r> {
    fn of(results: &'r Results, lists_all: bool) -> Self {
        let mut grouped = Self::default();
        for result in results.iter().filter(|_| !lists_all) {
            if let Some(decided) = decided(result) {
                grouped.groups.entry(decided).or_insert((result, 0)).1 += 1;
            }
        }
        grouped
    }

    fn group(&self, result: &FunctionResult) -> Option<&(&'r FunctionResult, usize)> {
        self.groups.get(&decided(result)?)
    }

    fn is_first(&self, result: &FunctionResult) -> bool {
        self.group(result).is_none_or(|(first, _)| std::ptr::eq(*first, result))
    }

    /// What follows a result that stands for others too.
    fn more(&self, result: &FunctionResult) -> String {
        match self.group(result) {
            Some((_, count)) if *count > 1 => {
                let more = count - 1;
                let places = if more == 1 { "place" } else { "places" };
                format!(", and the same in {more} more {places} (--verbose lists them)")
            }
            _ => String::new(),
        }
    }
}

fn decided(result: &FunctionResult) -> Option<Decided<'_>> {
    let reason = result.tag_value("reason").filter(|_| result.more == 0)?;
    let is_decision = [Reason::MergeConflict, Reason::Combined].map(Reason::as_str).contains(&reason);
    let path = Path::parse(result.field.as_deref()?)?;
    let name = path.elements().last().cloned();
    is_decision.then_some((result.severity, reason, name, &result.message))
}

/// The three versions of a conflict.
struct Versions'''),
("use crate::results::{FunctionResult, Results, Severity, printable};","use crate::results::{FunctionResult, Message, Reason, Results, Severity, printable};\nuse crate::yaml::{Path, PathElement};"),
("    use crate::results::{Message, Reason};\n",""),
)
s=open('src/result_printer.rs').read()
s=s.replace("ResultPrinter { colour: false }","ResultPrinter { colour: false, lists_all: false }").replace("ResultPrinter { colour: true }","ResultPrinter { colour: true, lists_all: false }")
s=s.replace('''    #[test]
    fn headings_and_severities''','''    #[test]
    fn equal_decisions_are_one_line() {
        let conflict = |file: &str, field: &str, name: &str, line: &str| {
            let resource = Resource {
                kind: "Deployment".into(),
                name: Some(name.into()),
                ..Resource::default()
            };
            let result = FunctionResult::warning(Reason::MergeConflict, "both changed it");
            result.about(&resource).in_file(file).at(field).tag("line", line)
        };
        let mut results = Results::default();
        results.push(conflict("a.yaml", "metadata.labels.x", "a", "6"));
        results.push(conflict("a.yaml", "spec.template.metadata.labels.x", "a", "16"));
        results.push(conflict("a.yaml", "spec.y", "a", "20"));
        results.push(conflict("b.yaml", "metadata.labels.x", "b", "6"));
        let printer = |lists_all| ResultPrinter {
            colour: false,
            lists_all,
        };
        let text = printer(false).by_file(&results);
        assert_eq!(
            text,
            "a.yaml\\n  \\
             [warning] a.yaml:6: Deployment/a: metadata.labels.x: both changed it (MergeConflict), and the same in 2 more \\
             places (--verbose lists them)\\n  \\
             [warning] a.yaml:20: Deployment/a: spec.y: both changed it (MergeConflict)\\n"
        );
        assert_eq!(printer(true).by_file(&results).lines().count(), 6);
    }

    #[test]
    fn headings_and_severities''')
s=s.replace("    use super::*;\n\n    fn results()","    use super::*;\n    use crate::resource::Resource;\n\n    fn results()")
open('src/result_printer.rs','w').write(s)
sub('src/filter/print.rs',("            text(ResultPrinter { colour }, shown)","            let lists_all = arguments.verbose;\n            text(ResultPrinter { colour, lists_all }, shown)"))
sub('src/filter/driver.rs',("    write_results(function, arguments, &results)?;","    let results = results.with_lines(|_| Some(Cow::Borrowed(&text)));\n    write_results(function, arguments, &results)?;"))
sub('src/filter/package_directory.rs',("    say(arguments, start, || {\n        let count = results.iter().count();","    let results = results.with_lines(|path| written_text(&files, &changes, path));\n    say(arguments, start, || {\n        let count = results.iter().count();"),
('''/// Writes the changes, or prints the diff instead.''','''/// The text of a file after the changes.
fn written_text<'f>(
    files: &'f PackageFiles,
    changes: &'f [FileChange],
    path: &str,
) -> Option<Cow<'f, str>> {
    match changes.iter().find(|change| change.path() == path) {
        Some(FileChange::Write { bytes, .. }) => Some(String::from_utf8_lossy(bytes)),
        Some(FileChange::Delete { .. }) => None,
        None => files.get(path).map(|file| Cow::Borrowed(&*file.content.text)),
    }
}

/// Writes the changes, or prints the diff instead.'''),
("use std::path::Path;","use std::borrow::Cow;\nuse std::path::Path;"))
sub('src/filter/driver.rs',("use std::io::Write;\n","use std::borrow::Cow;\nuse std::io::Write;\n"))

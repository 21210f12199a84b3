//! Every role of every function, handed over in every way, through the real kpt: the data that comes
//! out is that of a run without kpt whose roles come by flag, and the files that filled a role stay.
//!
//! Left out where kpt is not on PATH; ignored by default, since kpt takes its time:
//! `cargo test --test krm -- --ignored kpt_roles`.

#![allow(clippy::print_stderr, reason = "says what was left out, and counts")]

mod table;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use krm_function::supplied::Role;
use krm_yaml::{OwnedDocument, Value, to_block_text};

use crate::merge_cases::{data, plain, read};
use table::{Files, Place, SCENARIOS, Scenario};

/// How the roles are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Flag,
    Inline,
    /// `{path: DIR}`.
    Directory,
    /// A directory named by annotations of a PackageVariant.
    Annotation,
    /// `config.kubernetes.io/merge-source` on items.
    MergeSource,
}

/// How kpt calls the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// `kpt fn eval DIR --exec`.
    Eval,
    /// `kpt fn render DIR --allow-exec`.
    Render,
    /// `kpt fn source DIR | FUNCTION | kpt fn sink OUT`.
    Pipe,
    /// `kpt fn source DIR | kpt fn eval - --exec | kpt fn sink OUT`.
    EvalOfPipe,
}

fn ways(scenario: &Scenario) -> Vec<Way> {
    let mut ways = vec![Way::Flag];
    if scenario.typed.is_some() {
        ways.extend([Way::Inline, Way::Directory]);
    }
    let is_annotated = |(role, _): &(Role, Files)| role.annotation().is_some();
    if scenario.variant.is_some() && scenario.roles.iter().all(is_annotated) {
        ways.push(Way::Annotation);
    }
    if scenario.name == "merge-package" {
        ways.push(Way::MergeSource);
    }
    ways
}

fn calls(scenario: &Scenario, way: Way) -> Vec<Call> {
    let mut calls = vec![Call::Pipe, Call::EvalOfPipe];
    if way != Way::MergeSource && scenario.place >= Place::Eval {
        calls.push(Call::Eval);
    }
    let is_configured = !matches!(way, Way::MergeSource | Way::Flag);
    if is_configured && scenario.place == Place::Render {
        calls.push(Call::Render);
    }
    calls
}

fn write(folder: &Path, files: Files) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

/// What a command writes to stdout.
fn run(command: &mut Command, input: Option<&[u8]>) -> Result<Vec<u8>, String> {
    command.stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a program");
    let mut stdin = child.stdin.take().expect("stdin");
    stdin
        .write_all(input.unwrap_or_default())
        .expect("an input");
    drop(stdin);
    let output = child.wait_with_output().expect("an output");
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("{command:?}: {text}"))
    }
}

fn kpt(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new("kpt");
    command.arg("fn").args(arguments).arg(folder);
    command
}

fn value(text: &str) -> Value {
    let owned = OwnedDocument::parse(text.to_owned()).expect("YAML");
    owned.root().and_then(|root| root.value()).expect("a value")
}

fn entry(key: &str, value: Value) -> (Value, Value) {
    (Value::from(key), value)
}

/// The entries of a mapping under a key, which is made if it is not there.
fn below<'v>(map: &'v mut Value, key: &str) -> &'v mut Vec<(Value, Value)> {
    let Value::Mapping(entries) = map else {
        panic!("no mapping: {map:?}")
    };
    if !entries.iter().any(|(name, _)| name.as_str() == Some(key)) {
        entries.push(entry(key, Value::Mapping(Vec::new())));
    }
    let found = entries
        .iter_mut()
        .find(|(name, _)| name.as_str() == Some(key));
    match found {
        Some((_, Value::Mapping(entries))) => entries,
        other => panic!("no mapping: {other:?}"),
    }
}

fn directory(role: Role) -> String {
    format!("roles/{role}")
}

/// All documents of the files of a role, each with its path and index as kpt writes them.
fn documents(files: Files) -> Vec<Value> {
    let mut found = Vec::new();
    for (path, text) in files {
        let owned = OwnedDocument::parse((*text).to_owned()).expect("YAML");
        let document = owned.document();
        let roots = (0..document.len()).filter_map(|index| document.root(index));
        for (index, root) in roots.enumerate() {
            let mut value = root.value().expect("a value");
            let index = index.to_string();
            for prefix in ["config.kubernetes.io", "internal.config.kubernetes.io"] {
                annotate(&mut value, &format!("{prefix}/path"), path);
                annotate(&mut value, &format!("{prefix}/index"), &index);
            }
            found.push(value);
        }
    }
    found
}

/// Gives a resource one more annotation.
fn annotate(resource: &mut Value, name: &str, text: &str) {
    let Value::Mapping(entries) = resource else {
        panic!("no resource: {resource:?}")
    };
    let metadata = entries
        .iter_mut()
        .find(|(key, _)| key.as_str() == Some("metadata"));
    let (_, metadata) = metadata.expect("metadata");
    below(metadata, "annotations").push(entry(name, Value::from(text)));
}

/// The functionConfig that fills the roles, or leaves them to others.
fn config(scenario: &Scenario, way: Way) -> Option<Value> {
    let mut config = match (way, scenario.typed, scenario.variant) {
        (Way::Annotation, _, Some(variant)) => value(variant),
        (_, Some((kind, fields)), _) => value(&format!(
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: c, namespace: default}}\n{fields}"
        )),
        (_, None, Some(variant)) => value(variant),
        (_, None, None) => value(scenario.other?),
    };
    for (role, files) in scenario.roles {
        let named = Value::from(directory(*role).as_str());
        let field = match way {
            Way::Inline => Value::Sequence(documents(files)),
            Way::Directory => Value::Mapping(vec![entry("path", named)]),
            Way::Annotation => {
                let name = role.annotation().expect("an annotation");
                annotate(&mut config, name, &directory(*role));
                continue;
            }
            Way::Flag | Way::MergeSource => continue,
        };
        let Value::Mapping(entries) = &mut config else {
            panic!("no mapping")
        };
        entries.push(entry(role.as_str(), field));
    }
    Some(config)
}

/// Everything that one run needs.
struct Room<'s> {
    scenario: &'s Scenario,
    way: Way,
    folder: &'s Path,
    function: PathBuf,
}

impl Room<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The flags of the function, with its config.
    fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        if self.way == Way::Flag {
            for (role, files) in self.scenario.roles {
                let place = self.path(&format!("flags/{role}"));
                write(&place, files);
                flags.extend([format!("--{role}"), place.display().to_string()]);
            }
        }
        flags
    }

    fn config(&self) -> Option<PathBuf> {
        let config = config(self.scenario, self.way)?;
        let path = self.path("config.yaml");
        std::fs::write(&path, to_block_text(&config)).expect("a file");
        Some(path)
    }

    /// The package, with the directories that fill roles.
    fn package(&self) -> PathBuf {
        let package = self.path("package");
        std::fs::create_dir_all(&package).expect("a folder");
        write(&package, self.scenario.package);
        if matches!(self.way, Way::Directory | Way::Annotation) {
            for (role, files) in self.scenario.roles {
                write(&package.join(directory(*role)), files);
            }
        }
        package
    }

    /// The package as `kpt fn source` gives it, with the annotated items of the roles.
    fn source(&self) -> Result<Vec<u8>, String> {
        let list = run(&mut kpt(&["source"], &self.package()), None)?;
        if self.way != Way::MergeSource {
            return Ok(list);
        }
        let mut list = value(&String::from_utf8(list).expect("UTF-8"));
        for (role, files) in self.scenario.roles {
            let place = self.path(&format!("sources/{role}"));
            write(&place, files);
            let text = run(&mut kpt(&["source"], &place), None)?;
            let more = value(&String::from_utf8(text).expect("UTF-8"));
            let word = match role {
                Role::Original => "original",
                _ => "updated",
            };
            let (Some(Value::Sequence(more)), Value::Mapping(entries)) =
                (more.get("items").cloned(), &mut list)
            else {
                panic!("no list")
            };
            let items = entries
                .iter_mut()
                .find(|(key, _)| key.as_str() == Some("items"));
            let Some((_, Value::Sequence(items))) = items else {
                panic!("no items")
            };
            for mut item in more {
                annotate(&mut item, "config.kubernetes.io/merge-source", word);
                items.push(item);
            }
        }
        Ok(to_block_text(&list).into_bytes())
    }

    /// Runs the function through kpt; gives the directory with what came out.
    fn run(&self, call: Call) -> Result<PathBuf, String> {
        let (flags, config) = (self.flags(), self.config());
        let exec = || {
            let mut words = vec![self.function.display().to_string()];
            words.extend(flags.clone());
            words.join(" ")
        };
        let configured = |command: &mut Command, flag: &str| {
            if let Some(config) = &config {
                command.arg(flag).arg(config);
            }
        };
        match call {
            Call::Eval => {
                let package = self.package();
                let mut command = kpt(&["eval"], &package);
                command.arg("--exec").arg(exec());
                configured(&mut command, "--fn-config");
                run(&mut command, None)?;
                Ok(package)
            }
            Call::Render => {
                let package = self.package();
                let at = package.join("fn-config.yaml");
                std::fs::copy(config.as_ref().expect("a config"), at).expect("a copy");
                let path = package.join("Kptfile");
                let kptfile = std::fs::read_to_string(&path).expect("a Kptfile");
                let pipeline = format!(
                    "pipeline:\n  mutators:\n  - exec: {}\n    configPath: fn-config.yaml\n",
                    self.function.display()
                );
                std::fs::write(path, kptfile + &pipeline).expect("a Kptfile");
                run(kpt(&["render"], &package).arg("--allow-exec"), None)?;
                Ok(package)
            }
            Call::Pipe | Call::EvalOfPipe => {
                let list = self.source()?;
                let list = match call {
                    Call::Pipe => {
                        let mut command = Command::new(&self.function);
                        configured(command.args(&flags), "--config");
                        run(&mut command, Some(&list))?
                    }
                    _ => {
                        let mut command = kpt(&["eval"], Path::new("-"));
                        command.arg("--exec").arg(exec());
                        configured(&mut command, "--fn-config");
                        run(&mut command, Some(&list))?
                    }
                };
                let out = self.path("out");
                run(&mut kpt(&["sink"], &out), Some(&list))?;
                Ok(out)
            }
        }
    }
}

/// What came out, by file and name; what was printed has no files.
type Data = BTreeMap<String, Value>;

fn is_printed(scenario: &Scenario) -> bool {
    matches!(scenario.name, "apply-config" | "create-patch")
}

/// The data of a directory: the package's, and that of the directories that fill roles.
fn outcome(scenario: &Scenario, folder: &Path) -> (Data, Data) {
    let (mut package, mut roles) = (Data::new(), Data::new());
    for (key, mut value) in data(&read(folder)) {
        if key.starts_with("fn-config.yaml ") {
            continue;
        }
        if key.starts_with("roles/") {
            roles.insert(key, value);
            continue;
        }
        if key.starts_with("Kptfile ")
            && let Value::Mapping(entries) = &mut value
        {
            entries.retain(|(key, _)| key.as_str() != Some("pipeline"));
        }
        let (file, name) = key.split_once(' ').expect("a path");
        match is_printed(scenario) {
            true if file == "Kptfile" => None,
            true => package.insert(name.to_owned(), value),
            false => package.insert(key, value),
        };
    }
    (package, roles)
}

/// What the function makes of the package without kpt, with its roles by flag.
fn expected(scenario: &Scenario, function: &Path) -> Data {
    let folder = tempfile::tempdir().expect("a folder");
    let room = Room {
        scenario,
        way: Way::Flag,
        folder: folder.path(),
        function: function.to_owned(),
    };
    let package = room.package();
    let mut command = Command::new(function);
    command.arg("--package").arg(&package).args(room.flags());
    if let Some(config) = room.config() {
        command.arg("--config").arg(config);
    }
    if scenario.name == "create-overlay" {
        let overlay = folder.path().join("overlay");
        command.arg("--into").arg(&overlay);
        run(&mut command, None).unwrap_or_else(|error| panic!("{error}"));
        return outcome(scenario, &overlay).0;
    }
    let printed = run(&mut command, None).unwrap_or_else(|error| panic!("{error}"));
    if !is_printed(scenario) {
        return outcome(scenario, &package).0;
    }
    let text = String::from_utf8(printed).expect("UTF-8");
    let files = [("printed.yaml".to_owned(), text)];
    let found = data(&files.into_iter().collect());
    let named = found.into_iter().map(|(key, value)| {
        let (_, name) = key.split_once(' ').expect("a path");
        (name.to_owned(), value)
    });
    named.collect()
}

fn try_one(scenario: &Scenario, way: Way, call: Call, function: &Path, expected: &Data) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let room = Room {
        scenario,
        way,
        folder: folder.path(),
        function: function.to_owned(),
    };
    let place = match room.run(call) {
        Ok(place) => place,
        Err(error) => return error,
    };
    let (package, roles) = outcome(scenario, &place);
    let mut said = String::new();
    let mut compare = |what: &str, found: &Data, expected: &Data| {
        let keys = found.keys().chain(expected.keys());
        let mut keys: Vec<&String> = keys.collect();
        keys.dedup();
        for key in keys {
            let (a, b) = (found.get(key), expected.get(key));
            if a != b {
                let text = |value: Option<&Value>| value.map(Value::to_json);
                said += &format!(
                    "{what} {key}:\n  found    {:?}\n  expected {:?}\n",
                    text(a),
                    text(b)
                );
            }
        }
    };
    compare("package", &package, expected);
    if matches!(way, Way::Directory | Way::Annotation) {
        let mut given = Data::new();
        for (role, files) in scenario.roles {
            let texts = files.iter().map(|(path, text)| {
                let path = format!("{}/{path}", directory(*role));
                (path, (*text).to_owned())
            });
            given.extend(data(&texts.collect()));
        }
        compare("role", &roles, &given);
    }
    said
}

#[test]
fn every_role_has_a_scenario() {
    for scenario in SCENARIOS {
        assert_eq!(scenario.name, scenario.function.name);
    }
    for function in krmv::FUNCTIONS {
        for role in function.roles {
            let has = |scenario: &&Scenario| {
                scenario.function.name == function.name
                    && scenario.roles.iter().any(|(own, _)| own == role)
            };
            let name = function.name;
            assert!(SCENARIOS.iter().any(|s| has(&s)), "{name}: role {role}");
        }
    }
}

#[test]
#[ignore = "calls kpt a hundred times; .ci/run runs it"]
fn all_ways() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join("kpt").is_file()) {
        eprintln!("left out: kpt is not on PATH");
        return;
    }
    let (mut tried, mut wrong) = (0, Vec::new());
    for scenario in SCENARIOS {
        let function = Path::new(crate::running::function(scenario.name));
        let expected = expected(scenario, function);
        assert!(!expected.is_empty(), "{}: nothing came out", scenario.name);
        for way in ways(scenario) {
            for call in calls(scenario, way) {
                tried += 1;
                let said = try_one(scenario, way, call, function, &expected);
                if !said.is_empty() {
                    wrong.push(format!("{}, {way:?}, {call:?}: {said}", scenario.name));
                }
            }
        }
    }
    eprintln!("{tried} ways of handing over roles");
    assert!(
        wrong.is_empty(),
        "{} of {tried}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// What kpt writes is compared as the values that it stands for.
#[test]
fn configs_fill_the_roles() {
    for scenario in SCENARIOS {
        for way in ways(scenario) {
            let config = config(scenario, way);
            let is_filled = config.as_ref().is_some_and(|config| {
                let text = plain(config.clone()).to_json();
                let named = |(role, _): &(Role, Files)| {
                    text.contains(&format!("\"{role}\":")) || text.contains(&directory(*role))
                };
                scenario.roles.iter().all(named)
            });
            let is_due = matches!(way, Way::Inline | Way::Directory | Way::Annotation);
            assert_eq!(is_filled, is_due, "{}, {way:?}", scenario.name);
        }
    }
}

//! Texts made to hang, crash or bloat a reader: each is read or refused, soon.

#![allow(clippy::print_stdout, reason = "the figures of a test run")]

use indoc::indoc;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use krm_core::config::Config;
use krm_core::results::Severity;
use krm_function::supplied::Role;
use krm_function::{Function, Inputs, Items, SuppliedInput, run};
use krm_yaml::{Content, Document, Editor, MAX_DEPTH, ParseOptions, Tree, Value};

/// Contract, Bad input: five seconds for an input of up to 50 MB.
const PATIENCE: Duration = Duration::from_secs(5);

/// `count` pieces in a row.
fn many(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        let _ = write!(text, "{}", piece(i));
        text
    })
}

/// Each level nine times the one above.
fn bomb(levels: u8, entry: impl Fn(char, String) -> String) -> String {
    let mut text = String::new();
    for level in 1..=levels {
        let name = |level: u8| char::from(b'a' + level);
        let aliases = vec![format!("*{}", name(level - 1)); 9].join(", ");
        text.push_str(&entry(name(level), aliases));
    }
    text
}

fn texts() -> Vec<(&'static str, String)> {
    let long = 50_000;
    vec![
        ("deep flow sequences", "[".repeat(100_000)),
        ("deep flow mappings", "{a: ".repeat(100_000)),
        (
            "deep and closed",
            "[".repeat(100_000) + &"]".repeat(100_000),
        ),
        ("deep block sequences", "- ".repeat(100_000) + "a\n"),
        ("deep complex keys", "? ".repeat(50_000) + "a\n"),
        (
            "deep block mappings",
            many(3000, |i| format!("{:i$}k:\n", "")),
        ),
        (
            "alias bomb",
            format!(
                "a: &a [x, x]\n{}",
                bomb(15, |name, aliases| format!("{name}: &{name} [{aliases}]\n"))
            ),
        ),
        (
            "merge bomb",
            format!(
                "a: &a {{x: 1}}\n{}",
                bomb(12, |name, aliases| format!(
                    "{name}: &{name}\n  <<: [{aliases}]\n"
                ))
            ),
        ),
        ("alias to itself", "a: &a [*a]\n".into()),
        ("alias to nothing", "a: *nope\n".into()),
        ("long plain key", "k".repeat(1_000_000) + ": v\n"),
        (
            "long quoted key",
            format!("\"{}\": v\n", "k".repeat(1_000_000)),
        ),
        ("long scalar", format!("k: \"{}\"\n", "v".repeat(2_000_000))),
        ("many keys", many(long, |i| format!("k{i}: v\n"))),
        ("many number keys", many(long, |i| format!("{i}: v\n"))),
        (
            "many complex keys",
            many(20_000, |i| format!("? [{i:07}]\n: v\n")),
        ),
        (
            "nested complex keys",
            format!(
                "{}{}",
                "? ".repeat(500),
                many(long, |i| format!("k{i:06} "))
            ),
        ),
        (
            "nested pairs of complex keys",
            format!("{}x{}", "{? ".repeat(400), " , b}".repeat(400)),
        ),
        ("many anchors", many(long, |i| format!("- &a{i} x\n"))),
        (
            "many anchors and aliases",
            many(30_000, |i| format!("- &a{i} x\n- *a{i}\n")),
        ),
        (
            "one anchor, many aliases",
            format!("- &a x\n{}", "- *a\n".repeat(long)),
        ),
        (
            "anchors above aliases",
            many(30_000, |i| format!("- &a{i} x\n")) + &many(30_000, |i| format!("- *a{i}\n")),
        ),
        ("many documents", "---\na: 1\n".repeat(long)),
        (
            "documents behind anchors",
            format!(
                "{}{}",
                many(30_000, |i| format!("- &a{i} x\n")),
                "---\n&a x\n".repeat(30_000)
            ),
        ),
        ("many ends of documents", "a: 1\n...\n".repeat(30_000)),
        (
            "many ends without documents",
            format!("a: 1\n{}b: 1\n", "...\n".repeat(long)),
        ),
        ("many comments", "# c\n".repeat(100_000) + "a: 1\n"),
        (
            "comments in front of nesting",
            "# c\n".repeat(100_000) + &"- ".repeat(500) + "a\n",
        ),
        (
            "comments behind nesting",
            many(500, |i| format!("{:i$}k:\n", "")) + &"# c\n".repeat(100_000),
        ),
        (
            "comments in flow",
            format!("[\n{}]\n", "# c\n1,\n".repeat(30_000)),
        ),
        (
            "empty values",
            "k:\n".to_owned() + &many(long, |i| format!("- k{i}:\n")),
        ),
        (
            "lone keys",
            format!("{{{}}}\n", many(long, |i| format!("k{i}, "))),
        ),
        ("empty pairs", format!("[{}]\n", ": , ".repeat(long))),
        ("question marks in flow", format!("[{}]", "? ".repeat(long))),
        ("colons", format!("a: {}\n", "b:".repeat(100_000))),
        (
            "tags",
            many(10_000, |i| format!("%TAG !a{i}! tag:x{i}\n")) + "---\na: 1\n",
        ),
        ("properties on lines", "- &a\n  !!str\n  x\n".repeat(30_000)),
        ("one long line", format!("[{}1]\n", "1,".repeat(100_000))),
        (
            "blocks on one line of flow",
            "- ".repeat(300) + &format!("[{}1]\n", "{a: 1}, ".repeat(long)),
        ),
        (
            "plain lines",
            "a: b\n".to_owned() + &"  c\n".repeat(200_000),
        ),
        (
            "quoted blank lines",
            format!("a: \"{}\"\n", "\n\n".repeat(200_000)),
        ),
        (
            "blank lines in a block",
            format!("a: |\n{}  x\n", " \n".repeat(200_000)),
        ),
        (
            "blank lines behind a block",
            format!("a: |\n  x\n{}b: 1\n", "\n".repeat(200_000)),
        ),
        ("many blocks", "- |\n  x\n\n".repeat(long)),
        (
            "blocks behind blank lines",
            format!("{}{}", "\n".repeat(200_000), "- |\n  x\n".repeat(100)),
        ),
        ("blocks of no length", "- |\n".repeat(long)),
        (
            "blank lines",
            format!("a: 1\n{}b: 2\n", "\n".repeat(500_000)),
        ),
        ("spaces", format!("a:{}b\n", " ".repeat(1_000_000))),
        ("carriage returns", "a: 1\r".repeat(long)),
        ("control characters", "a: b\0c\u{1}\n".into()),
        ("marks in the middle", "a: 1\n---\n\u{feff}b: 2\n".into()),
        ("cut off quoted", "a: \"abc".into()),
        ("cut off escape", "a: \"\\x4".into()),
        ("half a pair", "a: \"\\uD83D\"".into()),
        ("cut off flow", "a: {b: [1, 2".into()),
        ("cut off block", "a: |".into()),
        ("cut off kept block", "a: |+".into()),
        ("cut off tag", "a: !<foo".into()),
        ("cut off anchor", "a: &".into()),
        ("cut off directive", "%YAML 1.".into()),
        ("lone indicators", "? \n: \n- \n".into()),
    ]
}

/// Runs on a stack of 2 MB, as the test harness and many programs give.
fn on_a_small_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(2 << 20);
        let thread = builder.spawn_scoped(scope, run).expect("a thread");
        thread.join().expect("no panic")
    })
}

fn parse(text: &str) -> Option<Tree> {
    Tree::parse(text, ParseOptions::default()).ok()
}

#[test]
fn hostile_texts_are_read_or_refused_quickly() {
    let (mut read, mut refused) = (0, 0);
    for (name, text) in texts() {
        let start = Instant::now();
        let accepted = on_a_small_stack(|| {
            let Some(tree) = parse(&text) else {
                return false;
            };
            let document = Document::new(&text, &tree);
            let root = document.root(0);
            // Bombs are refused when they are written out, which may take their budget of nodes.
            if let Some(root) = root.filter(|_| !name.contains("bomb")) {
                let _ = root.value();
                assert!(root.equals(&root) || text.contains('*'), "{name}");
            }
            let same = Editor::new(document).finish().expect("nothing changed");
            assert!(same == text, "{name}: bytes changed");
            true
        });
        let took = start.elapsed();
        if took > Duration::from_millis(500) {
            println!("{name}: {} bytes took {took:?}", text.len());
        }
        assert!(took < PATIENCE, "{name} took {took:?}");
        *(if accepted { &mut read } else { &mut refused }) += 1;
    }
    println!("{read} hostile texts read, {refused} refused");
}

#[test]
fn many_edits_of_one_text_take_no_longer_than_few() {
    let count = 20_000;
    for (name, text) in [
        ("entries", many(count, |i| format!("k{i}: v\n"))),
        ("items", "- v # c\n".repeat(count)),
        ("nested", many(count, |i| format!("- name: {i}\n  v: 1\n"))),
        (
            "anchors",
            many(count / 2, |i| format!("- &a{i} x\n- {{b: *a{i}}}\n")),
        ),
        ("flow", format!("[{}]\n", "{a: 1, b: 2}, ".repeat(count))),
        (
            "json",
            format!("[{}1]", "{\"a\":1,\"b\":[]},".repeat(count)),
        ),
        (
            "flow lines",
            format!("[\n{}]\n", "  {a: 1, b: 2}, # c\n".repeat(count)),
        ),
    ] {
        let tree = parse(&text).expect(name);
        let document = Document::new(&text, &tree);
        let root = document.root(0).expect("content");
        let start = Instant::now();
        let mut editor = Editor::new(document);
        let values = root.items().chain(root.entries().map(|entry| entry.value));
        let values: Vec<_> = values.collect();
        for node in &values {
            let node = *node;
            match node.entries().next() {
                Some(entry) if node.entries().count() > 1 => {
                    let key = entry.key.as_str().expect("a string");
                    editor.remove_entry(node, key);
                }
                _ => {
                    let _ = editor.replace(node, Content::Value(Value::from("new")));
                }
            }
        }
        for node in values {
            let _ = node.location();
            if start.elapsed() > PATIENCE {
                break;
            }
        }
        let after = editor.finish().expect(name);
        let took = start.elapsed();
        println!("{count} edits of {name}: {took:?}, {} bytes", after.len());
        assert!(took < PATIENCE, "{name} took {took:?}");
    }
}

#[test]
fn nesting_has_a_limit_counted_from_the_root() {
    let block = |depth: usize| "- ".repeat(depth) + "x\n";
    let lines =
        |depth: usize| many(depth, |i| format!("{:i$}k:\n", "")) + &format!("{:depth$}x\n", "");
    let flow = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let maps = |depth: usize| "{k: ".repeat(depth) + "x" + &"}".repeat(depth);
    let keys = |depth: usize| "? ".repeat(depth) + "x\n";
    let shapes: [&(dyn Fn(usize) -> String + Sync); 5] = [&block, &lines, &flow, &maps, &keys];
    for shape in shapes {
        on_a_small_stack(|| {
            let text = shape(MAX_DEPTH);
            let tree = parse(&text).expect("512 levels");
            let document = Document::new(&text, &tree);
            let root = document.root(0).expect("a root");
            let value = root.value().expect("no aliases");
            assert!(value == value.clone() && root.equals(&root));
            // Written into another text, one level less deep.
            let before = "a: b\n";
            let outer = parse(before).expect("valid");
            let outer = Document::new(before, &outer);
            let inner = root
                .items()
                .next()
                .or(root.entries().next().map(|e| e.value));
            let inner = inner.expect("an element");
            for content in [
                Content::Node(inner),
                Content::Value(inner.value().expect("finite")),
            ] {
                let mut editor = Editor::new(outer);
                let place = outer.root(0).expect("a root");
                editor.set(place, "a", content.clone()).expect("a value");
                editor
                    .insert_entry(place, None, "z", content)
                    .expect("a mapping");
                let after = editor.finish().expect("512 levels");
                let tree = parse(&after).expect("finish has parsed it");
                let copy = Document::new(&after, &tree)
                    .root(0)
                    .and_then(|root| root.get("z"));
                assert_eq!(copy.and_then(|copy| copy.value()), inner.value());
            }
            let around = ParseOptions::of_resources(1);
            assert!(Tree::parse(&text, around).is_err(), "one level around");
            assert!(parse(&shape(MAX_DEPTH + 1)).is_none(), "513 levels");
        });
    }
}

#[test]
fn aliases_nest_no_deeper_than_a_stack_can_take() {
    // Each line is 200 levels around the one before: 20,000 levels when written out.
    let level = |i: usize| {
        format!(
            "a{i}: &a{i} {}*a{}{}\n",
            "[".repeat(200),
            i - 1,
            "]".repeat(200)
        )
    };
    let text = "a0: &a0 x\n".to_owned() + &(1..100).map(level).collect::<String>();
    on_a_small_stack(|| {
        let tree = parse(&text).expect("valid");
        let root = Document::new(&text, &tree).root(0).expect("a root");
        assert!(root.value().is_none());
        assert!(root.get("a3").and_then(|node| node.value()).is_some());
    });
}

/// Runs a binary that may take so many kilobytes of memory, its own code included.
fn run_within(kilobytes: u32, binary: &str, arguments: &[&str], stdin: &str) -> (i32, String) {
    let limited = format!("ulimit -v {kilobytes}; exec \"$0\" \"$@\"");
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", &limited, binary]).args(arguments);
    let output = command.write_stdin(stdin).output().expect("sh runs");
    let said = [output.stdout, output.stderr].concat();
    let code = output.status.code().unwrap_or(-1);
    (code, String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_few_bytes_of_aliases_do_not_become_hundreds_of_megabytes() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let resource = |spec: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: A\nmetadata: {{name: s, namespace: default}}\nspec:\n{spec}"
        )
    };
    let tree = |leaf: &str, levels: u8| {
        let entry = |name, aliases| format!("  {name}: &{name} [{aliases}]\n");
        format!("  a: &a {leaf}\n{}", bomb(levels, entry))
    };
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\nmetadata: {name: i}\ninjectors: [{name: s}]\n";
    let config = write("config.yaml", config);
    let package = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        items:
        - apiVersion: example.com/v1
          kind: A
          metadata:
            name: p
            annotations:
              kpt.dev/config-injection: required
          spec: {x: 1}
    "};
    let live = indoc! {"
        apiVersion: config.kubernetes.io/v1
        kind: ResourceList
        items:
        - apiVersion: example.com/v1
          kind: A
          metadata: {name: s, namespace: default}
          spec: {x: 1}
    "};
    let original = write("original.yaml", &resource("  x: 1\n"));
    let long = format!("\"{}\"", "y".repeat(100_000));
    let inject = crate::running::function("inject-config");
    let merge = crate::running::function("merge-package");
    for (name, bomb) in [
        ("many nodes", tree("[x, x]", 7)),
        ("long text", tree(&long, 6)),
    ] {
        let source = write("source.yaml", &resource(&format!("  x: 1\n{bomb}")));
        let arguments = ["--config", &config, "--resources", &source];
        let (code, said) = run_within(500_000, inject, &arguments, package);
        assert_eq!(code, 1, "{name}: {said}");
        assert!(said.contains("expand to too many values"), "{name}: {said}");
        let arguments = ["--original", &original, "--upstream", &source];
        let (code, said) = run_within(500_000, merge, &arguments, live);
        assert_eq!(code, 1, "{name}: {said}");
        assert!(said.contains("expand to too many values"), "{name}: {said}");
    }
    // What files have is written out as ever.
    let source = write("source.yaml", &resource(&tree("[x, x]", 3)));
    let arguments = ["--config", &config, "--resources", &source];
    let (code, said) = run_within(500_000, inject, &arguments, package);
    assert_eq!(code, 0, "{said}");
}

/// Runs a function in memory with one config and one supplied file; gives the errors, each once, and
/// whether the items stayed as they came.
fn refused_in_memory(
    function: &Function,
    config: &str,
    supplied: (Role, String),
    items: Items,
) -> (BTreeSet<String>, bool) {
    let (role, text) = supplied;
    let file = BTreeMap::from([("source.yaml".to_owned(), text)]);
    let inputs = Inputs {
        config: Some(Config::parse(config.to_owned(), "config").expect("a config")),
        supplied: vec![(role, SuppliedInput::Files(file))],
        ..Inputs::default()
    };
    let outcome = run(function, inputs, items.clone()).expect("inputs");
    let errors = outcome.results.iter();
    let errors = errors.filter(|result| result.severity == Severity::Error);
    let tags = errors.flat_map(|error| &error.tags);
    let reasons = tags.filter(|(name, _)| name == "reason");
    let reasons = reasons.map(|(_, reason)| reason.clone()).collect();
    (reasons, outcome.items == items)
}

#[test]
fn one_source_in_thousands_of_places_does_not_become_gigabytes() {
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: InjectConfig\nmetadata: {name: i}\ninjectors: [{name: s}]\n";
    let point = |i| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c{i}\n  annotations:\n    kpt.dev/config-injection: optional\ndata: {{}}\n"
        )
    };
    let source = |kilobytes: usize| {
        let value = "v".repeat(kilobytes << 10);
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: s}}\ndata: {{k: {value}}}\n"
        );
        (Role::Resources, text)
    };
    let one_file = many(1000, |i| format!("---\n{}", point(i)));
    let one_file = BTreeMap::from([("points.yaml".to_owned(), one_file.into_bytes())]);
    let files = (0..1000).map(|i| (format!("{i}.yaml"), point(i).into_bytes()));
    for package in [one_file, files.collect()] {
        let refused = |kilobytes| {
            let items = Items::Package(package.clone());
            refused_in_memory(&inject_config::FUNCTION, config, source(kilobytes), items)
        };
        let too_large = BTreeSet::from(["OutputTooLarge".to_owned()]);
        assert_eq!(refused(100), (too_large, true));
        assert_eq!(refused(10), (BTreeSet::new(), false));
    }
}

#[test]
fn many_small_alias_bombs_do_not_become_gigabytes() {
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: ApplyPatch\nmetadata: {name: p}\n";
    let entry = |name, aliases| format!("    {name}: &{name} [{aliases}]\n");
    let bomb = format!("    a: &a [x, x]\n{}", bomb(4, entry));
    let patch = format!("target: {{kind: A}}\npatch:\n  spec:\n{bomb}");
    let item =
        |i| format!("- apiVersion: example.com/v1\n  kind: A\n  metadata:\n    name: a{i}\n");
    let items = many(400, item);
    let list = format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}");
    let patches = (Role::Patches, patch);
    let items = Items::ResourceList(list);
    let refused = refused_in_memory(&apply_patch::FUNCTION, config, patches, items);
    let too_large = BTreeSet::from(["OutputTooLarge".to_owned()]);
    assert_eq!(refused, (too_large, true));
}

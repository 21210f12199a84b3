//! Quoted scalars whose lines stand at the indentation of their parent, as kubectl and
//! controller-gen write them.

use indoc::indoc;
use krm_yaml::{Content, Document, Editor, NodeRef, ParseOptions, Tree, Value};

use crate::running::{KPTFILE, list, run};
use crate::step;

/// Reads by the general parser, and as always: both give one tree.
#[track_caller]
fn parse(text: &str) -> Tree {
    let general = Tree::parse_general(text, ParseOptions::default());
    let tree = Tree::parse(text, ParseOptions::default());
    // The general tree has its aliases.
    assert!(general == tree || text.contains('*'), "{text}");
    tree.unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn at<'d>(root: NodeRef<'d>, path: &[&str]) -> NodeRef<'d> {
    path.iter()
        .fold(root, |node, name| match name.parse::<usize>() {
            Ok(index) => node.items().nth(index).expect("an item"),
            Err(_) => node.get(name).expect("an entry"),
        })
}

#[test]
fn lines_at_the_indentation_of_the_parent_are_read_with_exact_spans() {
    // The text, the path of a scalar, its value, its source.
    let cases: [(&str, &[&str], &str, &str); 13] = [
        ("a: 'b\nc'\nd: e\n", &["a"], "b c", "'b\nc'"),
        (
            "a: \"b\n\n\nc\\n\" # d\n",
            &["a"],
            "b\n\nc\n",
            "\"b\n\n\nc\\n\"",
        ),
        (
            "a:\n  b: '\n  it''s\n\n  c'\n",
            &["a", "b"],
            " it's\nc",
            "'\n  it''s\n\n  c'",
        ),
        ("- 'a\nb'\n- c\n", &["0"], "a b", "'a\nb'"),
        ("a:\n- \"b\n- c\"\n", &["a", "0"], "b - c", "\"b\n- c\""),
        (
            "a:\n  - b: 'c\n    d: e'\n",
            &["a", "0", "b"],
            "c d: e",
            "'c\n    d: e'",
        ),
        // Each of these has something that only the general parser reads.
        ("x: &x 1\na: 'b\nc'\nd: *x\n", &["a"], "b c", "'b\nc'"),
        ("? a\n: 'b\nc'\n", &["a"], "b c", "'b\nc'"),
        ("a: !!str \"b\n\\x41\"\n", &["a"], "b A", "\"b\n\\x41\""),
        (
            "a: \"\\e\\\"'\n'\"\nb: \"c\\\nd\n\ne\"\n",
            &["b"],
            "cd\ne",
            "\"c\\\nd\n\ne\"",
        ),
        (
            "a: ''''\nx: &x it's # '\nb: 'c\nd'\n",
            &["b"],
            "c d",
            "'c\nd'",
        ),
        ("x: !y 'z'\na: b's\n  c: |\n", &[], "", ""),
        (
            "x: &x |\n  it's\n\na: \"\u{e9}\r\n\r\n\u{e9}\"\r\n",
            &["a"],
            "\u{e9}\n\u{e9}",
            "\"\u{e9}\r\n\r\n\u{e9}\"",
        ),
    ];
    for (text, path, value, source) in cases {
        if path.is_empty() {
            let tree = Tree::parse(text, ParseOptions::default());
            assert!(tree.is_err(), "{text}");
            continue;
        }
        let tree = parse(text);
        let node = at(Document::new(text, &tree).root(0).expect("a root"), path);
        assert_eq!(node.as_str(), Some(value), "{text}");
        assert_eq!(node.source(), source, "{text}");
    }
}

#[test]
fn scalars_that_other_parsers_refuse_stay_refused() {
    for (text, line) in [
        ("a: b\nc\n", 2),
        ("a: 'b\n--- c'\n", 1),
        ("a: 'b\n...\n'\n", 1),
        ("'a\nb': c\n", 2),
        ("x:\n  'a\nb': c\n", 3),
        ("a: 'b\nc\n", 1),
        ("x: &x 1\na: 'b\nc' d\n", 3),
    ] {
        let general = Tree::parse_general(text, ParseOptions::default()).expect_err(text);
        let error = Tree::parse(text, ParseOptions::default()).expect_err(text);
        assert_eq!(error, general, "{text}");
        assert_eq!(error.line, line, "{error}:\n{text}");
    }
}

#[test]
fn edits_next_to_a_scalar_at_the_parents_indentation_keep_its_bytes() {
    for head in ["", "x: &x 1\n"] {
        let text = format!("{head}a:\n  b: 'c\n\n  d'\n  e: f\n  g: \"h\n  i\" # j\n");
        let tree = parse(&text);
        let document = Document::new(&text, &tree);
        let a = at(document.root(0).expect("a root"), &["a"]);
        let mut editor = Editor::new(document);
        editor
            .set(a, "e", Content::Value(Value::from("k")))
            .expect("e is set");
        editor
            .set(a, "l", Content::Value(Value::from("m")))
            .expect("l is added");
        assert_eq!(
            editor.finish().expect("YAML"),
            format!("{head}a:\n  b: 'c\n\n  d'\n  e: k\n  g: \"h\n  i\" # j\n  l: m\n")
        );
        let mut editor = Editor::new(Document::new(&text, &tree));
        editor
            .set(a, "g", Content::Value(Value::from("k")))
            .expect("g is set");
        assert!(editor.remove_entry(a, "b"));
        assert_eq!(
            editor.finish().expect("YAML"),
            format!("{head}a:\n  e: f\n  g: \"k\" # j\n")
        );
    }
}

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gateways.networking.istio.io
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        description: 'Configuration affecting edge load balancer. See more details
        at:

        https://istio.io/docs/reference/config/networking/gateway.html'
        type: object
";

#[test]
fn a_package_with_such_a_file_is_edited() {
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: SetPackageContext\ndata: {region: a}\n";
    let context = indoc! {r#"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: kptfile.kpt.dev
          annotations:
            note: "first

            second"
    "#};
    let files = [
        (
            "Kptfile",
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: x\n",
        ),
        ("crd.yaml", CRD),
        ("package-context.yaml", context),
    ];
    let outcome = step::on_package(&set_package_context::FUNCTION, config, &files).expect("a run");
    assert_eq!(outcome.file("crd.yaml"), CRD);
    assert_eq!(
        outcome.file("package-context.yaml"),
        format!("{context}data:\n  region: a\n")
    );
    // The same in a ResourceList, where the lines stand one level deeper.
    let item: String = CRD.lines().fold("-".to_owned(), |item, line| {
        let space = if item == "-" { " " } else { "  " };
        let line = if line.is_empty() {
            String::new()
        } else {
            format!("{space}{line}")
        };
        item + &line + "\n"
    });
    let context = indoc! {"
        - apiVersion: v1
          kind: ConfigMap
          metadata:
            name: kptfile.kpt.dev
            annotations:
              internal.config.kubernetes.io/path: package-context.yaml
    "};
    let outcome = run(&["region=a"], list(&[KPTFILE, &item, context]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.contains(&item), "{}", outcome.stdout);
}

#[test]
fn a_scalar_at_the_parents_indentation_is_copied_with_an_added_field() {
    let resource = |spec: &str| {
        format!("apiVersion: example.com/v1\nkind: A\nmetadata:\n  name: a\nspec:\n{spec}")
    };
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, spec: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("a.yaml"), resource(spec)).expect("a file");
        path
    };
    let original = write("original", "  a: b\n");
    let upstream = write(
        "upstream",
        "  a: 'c\n\n  d'\n  e:\n    f: \"g\n    h\"\n    i:\n    - 'j\n    k'\n",
    );
    let local = resource("    a: b\n    mine: 1\n");
    let flags = [
        (krm_function::supplied::Role::Original, original),
        (krm_function::supplied::Role::Upstream, upstream),
    ];
    let config = "apiVersion: fn.kpt.dev/v1alpha1\nkind: MergePackage\n";
    let outcome = step::on_package_with(
        &merge_package::FUNCTION,
        config,
        &[("a.yaml", &local)],
        &flags,
    )
    .expect("a run");
    let text = outcome.file("a.yaml");
    let tree = parse(text);
    let spec = at(
        Document::new(text, &tree).root(0).expect("a root"),
        &["spec"],
    );
    assert_eq!(at(spec, &["a"]).as_str(), Some("c\nd"), "{text}");
    assert_eq!(at(spec, &["e", "f"]).as_str(), Some("g h"), "{text}");
    assert_eq!(at(spec, &["e", "i", "0"]).as_str(), Some("j k"), "{text}");
    assert!(text.contains("    mine: 1\n"), "{text}");
}

//! Injection replaces one field; all other bytes stay, with comments, anchors and kpt's ids.

use crate::step::on_list;
use indoc::indoc;

use super::*;

#[test]
fn the_field_is_replaced_in_its_place() {
    let before = "# head
apiVersion: example.com/v1
kind: B # k
spec: # of the package
  old: 1 # gone
  list:
  - 1 # gone

metadata:
  annotations: {kpt.dev/config-injection: required, kpt.dev/injected-resource: \"porch\"} # a
  name: b
# status
status: {x: 1}
# foot
";
    let source = "apiVersion: example.com/v1
kind: B
metadata:
  name: s
# about the spec
spec: # of the cluster
    port: 0x1f90 # hexadecimal

    # about on
    'on': \"yes\"
    text: >-
      folded
      text
    list: [a,   b] # l
status: {x: 2}
";
    let files = [("Kptfile", KPTFILE), ("b.yaml", before)];
    let outcome = run(&config("[{name: s}]", &[source]), &files);
    assert_eq!(
        outcome.file("b.yaml"),
        "# head
apiVersion: example.com/v1
kind: B # k
spec: # of the package
  port: 0x1f90 # hexadecimal

  # about on
  'on': \"yes\"
  text: >-
    folded
    text
  list: [a,   b] # l

metadata:
  annotations: {kpt.dev/config-injection: required, kpt.dev/injected-resource: \"s\", kpt.dev/injected-resource-name: s} # a
  name: b
# status
status: {x: 1}
# foot
"
    );
}

#[test]
fn files_changed_outside_are_brought_up_to_date() {
    let b = point("example.com/v1", "B", "b", "required", "spec:\n  x: 1\n");
    let files = [("Kptfile", KPTFILE), ("b.yaml", &*b)];
    let s = resource("example.com/v1", "B", "s", "spec:\n  x: 2\n");
    let first = run(&config("[{name: s}]", &[&s]), &files);
    let files: Vec<_> = first.files.iter().map(|(p, t)| (&**p, &**t)).collect();

    // The resource changed.
    let changed = run(
        &config("[{name: s}]", &[&s.replace("x: 2", "x: 3")]),
        &files,
    );
    assert_eq!(
        changed.file("b.yaml"),
        first.file("b.yaml").replace("x: 2", "x: 3")
    );
    assert_eq!(changed.file("Kptfile"), first.file("Kptfile"));

    // Its comments come along each time, and do not pile up.
    let commented = |x: u8| {
        let spec = format!("spec: # of s\n  # about x\n  x: {x} # x\n");
        resource("example.com/v1", "B", "s", &spec)
    };
    let mut before = first.file("b.yaml").replace("spec:\n", "spec: # of b\n");
    for x in [7, 8, 9] {
        let files = [("Kptfile", first.file("Kptfile")), ("b.yaml", &*before)];
        let outcome = run(&config("[{name: s}]", &[&commented(x)]), &files);
        let spec = format!("spec: # of b\n  # about x\n  x: {x} # x\n");
        assert!(
            outcome.file("b.yaml").ends_with(&spec),
            "{}",
            outcome.file("b.yaml")
        );
        before = outcome.file("b.yaml").to_owned();
    }

    // Another one is selected.
    let t = resource("example.com/v1", "B", "t", "spec:\n  x: 4\n");
    let other = run(&config("[{name: t}]", &[&s, &t]), &files);
    let expected = first
        .file("b.yaml")
        .replace("x: 2", "x: 4")
        .replace("name: s", "name: t");
    assert_eq!(other.file("b.yaml"), expected);
    assert_eq!(
        other.file("Kptfile"),
        first.file("Kptfile").replace("\"s\"", "\"t\"")
    );

    // The selector was removed: the last value stays.
    let removed = run(&config("[]", &[&s]), &files);
    assert_eq!(removed.file("b.yaml"), first.file("b.yaml"));
    assert_eq!(
        condition(&removed, "config.injection.B.b"),
        "False NoResourceSelected"
    );
    assert!(
        removed
            .file("Kptfile")
            .contains("- conditionType: config.injection.B.b")
    );
}

#[test]
fn a_value_that_an_alias_reads_stays() {
    let b = indoc! {"
        apiVersion: example.com/v1
        kind: B
        metadata:
          name: b
          annotations:
            kpt.dev/config-injection: required
        spec: &spec {}
        status: *spec
    "};
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    let outcome = run(
        &config("[{name: s}]", &[&s]),
        &[("Kptfile", KPTFILE), ("b.yaml", b)],
    );
    assert!(
        outcome
            .file("b.yaml")
            .ends_with("spec: &spec {x: 1}\nstatus: {}\n"),
        "{}",
        outcome.file("b.yaml")
    );
    // A changed alias is replaced in place.
    let b = indoc! {"
        apiVersion: example.com/v1
        kind: B
        metadata:
          name: b
          annotations:
            kpt.dev/config-injection: required
        status: &spec {}
        spec: *spec # alias
    "};
    let outcome = run(
        &config("[{name: s}]", &[&s]),
        &[("Kptfile", KPTFILE), ("b.yaml", b)],
    );
    assert!(
        outcome
            .file("b.yaml")
            .ends_with("status: &spec {}\nspec: {x: 1} # alias\n"),
        "{}",
        outcome.file("b.yaml")
    );
}

#[test]
fn a_json_file_stays_json() {
    let b = indoc! {r#"
        {
          "apiVersion": "example.com/v1",
          "kind": "B",
          "metadata": {"name": "b", "annotations": {"kpt.dev/config-injection": "required"}},
          "spec": {}
        }
    "#};
    let s = resource(
        "example.com/v1",
        "B",
        "s",
        indoc! {"
            spec:
              # why
              x: 'yes' # y
              t: |
                a
                b
        "},
    );
    let outcome = run(
        &config("[{name: s}]", &[&s]),
        &[("Kptfile", KPTFILE), ("b.json", b)],
    );
    assert_eq!(
        outcome.file("b.json"),
        "{\n  \"apiVersion\": \"example.com/v1\",\n  \"kind\": \"B\",\n  \"metadata\": {\"name\": \"b\", \"annotations\": {\"kpt.dev/config-injection\": \"required\", \"kpt.dev/injected-resource-name\": \"s\"}},\n  \"spec\": {\"x\": \"yes\", \"t\": \"a\\nb\\n\"}\n}\n"
    );
}

/// kpt would restore comments of list elements by position: it must not know the item again.
#[test]
fn items_whose_commented_lists_change_lose_kpts_ids() {
    let item = |text: &str, id: usize| {
        let mut item = String::new();
        for (index, line) in text.lines().enumerate() {
            item.push_str(if index == 0 { "- " } else { "  " });
            item.push_str(&format!("{line}\n"));
        }
        let ids = format!(
            "annotations:\n      internal.config.kubernetes.io/id: '{id}'\n      config.k8s.io/id: '{id}'\n"
        );
        item.replace("annotations:\n", &ids)
    };
    let list = |kptfile: &str, b: &str| {
        format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{}{}",
            item(kptfile, 1),
            item(b, 2)
        )
    };
    let kptfile = |comment: &str| {
        format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: example\n  annotations:\n    a: b\ninfo:\n  readinessGates:\n  - conditionType: other{comment}\n"
        )
    };
    let b = |comment: &str| {
        point(
            "example.com/v1",
            "B",
            "b",
            "required",
            &format!("spec:\n  list:\n  - 1{comment}\n"),
        )
    };
    let s = resource("example.com/v1", "B", "s", "spec: {x: 1}\n");
    for (kptfile_comment, b_comment, ids) in [
        ("", "", 4),
        (" # why", "", 2),
        ("", " # why", 2),
        (" # c", " # c", 0),
    ] {
        let text = list(&kptfile(kptfile_comment), &b(b_comment));
        let outcome = on_list(&FUNCTION, &config("[{name: s}]", &[&s]), &text).expect("a config");
        let after = outcome.file("-");
        assert_eq!(after.matches("/id: '").count(), ids, "{after}");
        let again = on_list(&FUNCTION, &config("[{name: s}]", &[&s]), after).expect("a config");
        assert_eq!(again.file("-"), after);
    }
}

/// kpt puts comments of the old value back by their paths; in flow style there is no room for them.
#[test]
fn a_source_in_flow_style_has_room_for_the_comments_of_the_point() {
    let check = |old: &str, new: &str, after: &str| {
        let point = point("example.com/v1", "B", "b", "required", old);
        let kptfile = KPTFILE.replace('\n', "\n  ");
        let point = point.replace('\n', "\n  ");
        let list = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- {}\n- {}\n",
            kptfile.trim_end(),
            point.trim_end()
        );
        let s = resource("example.com/v1", "B", "s", new);
        let outcome = on_list(&FUNCTION, &config("[{name: s}]", &[&s]), &list).expect("a config");
        let found = outcome.file("-");
        let after = after.replace('\n', "\n  ");
        assert!(found.contains(after.trim_end()), "{old}{new}{found}");
    };
    let new = "spec: {peers: [a], mtu: 9000}\n";
    for old in [
        "spec:\n  peers: [] # none yet\n  mtu: 1\n",
        "spec:\n  # none yet\n  peers: []\n",
        "spec:\n  mtu: 1 # small\n",
    ] {
        check(old, new, "spec:\n  peers:\n  - a\n  mtu: 9000\n");
    }
    check(
        "spec: # of b\n  mtu: 1\n",
        new,
        "spec: {peers: [a], mtu: 9000} # of b\n",
    );
    check(
        "spec:\n  a: # of a\n    b: 1 # one\n  c: {d: 1} # of c\n",
        "spec:\n  # about a\n  a: {b: 2} # new\n  c: {d: 2}\n",
        "spec:\n  # about a\n  a: # new\n    b: 2\n  c: {d: 2}\n",
    );
}

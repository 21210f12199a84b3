//! Tables and examples: base, local, upstream, and what comes out.

use super::*;
use crate::resource::Resource;
use crate::schema::Schema;
use crate::yaml::{Document, ParseOptions, Tree};

/// The merged text, and conflicts as `path:winner`.
pub(super) fn merged(
    base: &str,
    local: &str,
    upstream: &str,
    winner: Side,
) -> (String, Vec<String>) {
    let schema = Schema::builtin();
    let trees = [base, local, upstream].map(|text| {
        Tree::parse(text, ParseOptions::default()).unwrap_or_else(|e| panic!("{e}: {text}"))
    });
    let base = Document::new(base, &trees[0]);
    let local = Document::new(local, &trees[1]);
    let upstream = Document::new(upstream, &trees[2]);
    let mut editor = Editor::new(local);
    let (Some(l), Some(u)) = (local.root(0), upstream.root(0)) else {
        panic!("empty")
    };
    let merge_schema = MergeSchema::of(&Resource::read(l), &schema, true);
    let found =
        merge_resource(base.root(0), l, u, merge_schema, winner, &mut editor).expect("merges");
    let conflicts = found.conflicts.iter().map(|conflict| {
        let order = if conflict.thing == Thing::Order {
            "order of "
        } else {
            ""
        };
        format!("{order}{}:{}", conflict.path, conflict.winner.as_str())
    });
    (editor.finish().expect("YAML"), conflicts.collect())
}

#[track_caller]
fn check(base: &str, local: &str, upstream: &str, expected: &str) {
    check_conflicts(base, local, upstream, expected, &[]);
}

#[track_caller]
fn check_conflicts(base: &str, local: &str, upstream: &str, expected: &str, paths: &[&str]) {
    let (text, conflicts) = merged(base, local, upstream, Side::Upstream);
    assert_eq!(text, expected);
    assert_eq!(conflicts, paths);
}

/// The contents of a Pod's container or of anything else, at the top of a text for reading.
fn pod(containers: &str) -> String {
    let lines = containers.lines().map(|line| format!("  {line}\n"));
    format!(
        "apiVersion: v1\nkind: Pod\nspec:\n{}",
        lines.collect::<String>()
    )
}

#[test]
fn scalars() {
    check(
        "a: 1\nb: 1\nc: 1\n",
        "a: 2\nb: 1\nc: 1\n",
        "a: 1\nb: 1\nc: 3\nd: 4\n",
        "a: 2\nb: 1\nc: 3\nd: 4\n",
    );
    check_conflicts(
        "a: 1\n",
        "a: 2 # mine\n",
        "a: 3\n",
        "a: 3 # mine\n",
        &["a:upstream"],
    );
    assert_eq!(
        merged("a: 1\n", "a: 2\n", "a: 3\n", Side::Local),
        ("a: 2\n".to_owned(), vec!["a:local".to_owned()])
    );
    // Equal by value, however written.
    check(
        "a: 5\nb: x\n",
        "a: 5.0\nb: 'x'\n",
        "a: 5\nb: \"x\"\n",
        "a: 5.0\nb: 'x'\n",
    );
    check("a: \"5\"\n", "a: \"5\"\n", "a: 5\n", "a: 5\n");
}

#[test]
fn null_is_an_ordinary_value() {
    check("a: 1\n", "a: 1\n", "a: null\n", "a: null\n");
    check(
        "a: 1\nb: 1\n",
        "a: null\nb: 1\n",
        "a: 1\nb: 2\n",
        "a: null\nb: 2\n",
    );
    check_conflicts(
        "a: 1\nb: 1\n",
        "a: null\nb: 1\n",
        "b: 1\n",
        "b: 1\n",
        &["a:upstream"],
    );
    check("a: null\nb: 1\n", "a: null\nb: 1\n", "b: 1\n", "b: 1\n");
    check("a: null\n", "a: null\n", "a:\n  b: 1\n", "a:\n  b: 1\n");
}

#[test]
fn removed_keys() {
    check("a: 1\nb: 1\n", "a: 1\nb: 1\n", "b: 1\n", "b: 1\n");
    check("a: 1\nb: 1\n", "b: 1\n", "a: 1\nb: 2\n", "b: 2\n");
    check_conflicts(
        "a: 1\nb: 1\n",
        "a: 2\nb: 1\n",
        "b: 1\n",
        "b: 1\n",
        &["a:upstream"],
    );
    check_conflicts(
        "a: 1\nb: 1\n",
        "b: 1\n",
        "a: 2\nb: 1\n",
        "a: 2\nb: 1\n",
        &["a:upstream"],
    );
    assert_eq!(
        merged("a: 1\nb: 1\n", "b: 1\n", "a: 2\nb: 1\n", Side::Local),
        ("b: 1\n".to_owned(), vec!["a:local".to_owned()])
    );
}

#[test]
fn removed_maps_leave_nothing_behind() {
    let base = "a:\n  b:\n    c: 1\n    d: 2\nz: 1\n";
    check(base, base, "z: 1\n", "z: 1\n");
    check(base, "z: 1\n", base, "z: 1\n");
    // Each side removed one of two.
    check(
        "a: {b: 1, c: 1}\nz: 1\n",
        "a: {b: 1}\nz: 1\n",
        "a: {c: 1}\nz: 1\n",
        "z: 1\n",
    );
    // What the other side added stays.
    let more = "a:\n  b:\n    c: 1\n    d: 2\n    # mine\n    e: 3\nz: 1\n";
    let left = "a:\n  b:\n    # mine\n    e: 3\nz: 1\n";
    check_conflicts(base, more, "z: 1\n", left, &["a.b.e:local"]);
    check_conflicts(base, "z: 1\n", more, left, &["a.b.e:upstream"]);
    // An explicit empty one stays.
    check("a: {b: 1}\n", "a: {b: 1}\n", "a: {}\n", "a: {}\n");
    check(
        "a: {b: 1}\nz: 1\n",
        "a: {}\nz: 1\n",
        "a: {b: 1}\nz: 2\n",
        "a: {}\nz: 2\n",
    );
}

#[test]
fn changed_within_a_removed_map() {
    let base = "a:\n  b: 1\n  c: 1\nz: 1\n";
    let changed = "a:\n  b: 1\n  c: 2\nz: 1\n";
    check_conflicts(base, changed, "z: 1\n", "z: 1\n", &["a.c:upstream"]);
    check_conflicts(
        base,
        "z: 1\n",
        changed,
        "a:\n  c: 2\nz: 1\n",
        &["a.c:upstream"],
    );
}

#[test]
fn new_keys_stand_between_their_neighbours() {
    check(
        "a: 1\nc: 1\n",
        "a: 1\nc: 1\nl: 1\n",
        "a: 1\n# b\nb: 2 # two\nc: 1\n",
        "a: 1\n# b\nb: 2 # two\nc: 1\nl: 1\n",
    );
    check(
        "a: 1\n",
        "a: 1\ns: 1\n",
        "a: 1\ng: 1\n",
        "a: 1\ns: 1\ng: 1\n",
    );
}

#[test]
fn keyed_lists() {
    let base = pod("containers:\n- name: a\n  image: a:1\n- name: b\n  image: b:1\n");
    let local = pod(
        "containers:\n- name: l\n- name: a # ca\n  image: a:1\n- name: b\n  image: b:1\n  args: [x]\n",
    );
    let upstream = pod(
        "containers:\n- name: a\n  image: a:2\n# new\n- name: u\n  image: u:1\n- name: b\n  image: b:1\n",
    );
    let expected = pod(
        "containers:\n- name: l\n- name: a # ca\n  image: a:2\n# new\n- name: u\n  image: u:1\n- name: b\n  image: b:1\n  args: [x]\n",
    );
    check(&base, &local, &upstream, &expected);
    // An element removed on one side and changed on the other is one conflict.
    let gone = pod("containers:\n- name: a\n  image: a:1\n");
    check_conflicts(
        &base,
        &local,
        &gone,
        &pod("containers:\n- name: l\n- name: a # ca\n  image: a:1\n"),
        &["spec.containers[2]:upstream"],
    );
    let changed = pod("containers:\n- name: a\n  image: a:1\n- name: b\n  image: b:2\n");
    check_conflicts(
        &base,
        &gone,
        &changed,
        &changed,
        &["spec.containers[1]:upstream"],
    );
}

#[test]
fn ports_by_port_and_protocol() {
    let base = pod(
        "containers:\n- name: a\n  ports:\n  - containerPort: 80\n  - containerPort: 80\n    protocol: UDP\n",
    );
    let local = pod(
        "containers:\n- name: a\n  ports:\n  - containerPort: 80\n    hostPort: 1\n  - containerPort: 80\n    protocol: UDP\n",
    );
    let upstream = pod(
        "containers:\n- name: a\n  ports:\n  - containerPort: 80\n    protocol: TCP\n  - containerPort: 80\n    protocol: UDP\n    name: u\n",
    );
    // What local and upstream put behind the port: local's first.
    let expected = pod(
        "containers:\n- name: a\n  ports:\n  - containerPort: 80\n    hostPort: 1\n    protocol: TCP\n  - containerPort: 80\n    protocol: UDP\n    name: u\n",
    );
    check(&base, &local, &upstream, &expected);
}

#[test]
fn sets_and_atomic_lists() {
    let with = |finalizers: &str, args: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  finalizers: [{finalizers}]\nspec:\n  containers:\n  - name: c\n    args: [{args}]\n"
        )
    };
    check(
        &with("a, b, c", "x, y"),
        &with("a, l, c", "x, y"),
        &with("a, b, c, u", "x, y, u"),
        &with("a, l, c, u", "x, y, u"),
    );
    check_conflicts(
        &with("a", "x, y"),
        &with("a", "x, l"),
        &with("a", "x, u"),
        &with("a", "x, u"),
        &["spec.containers[0].args:upstream"],
    );
}

#[test]
fn duplicated_keys_by_position() {
    let list = |values: &str| {
        let items = values
            .split(' ')
            .map(|v| format!("  - name: E\n    value: {v}\n"));
        pod(&format!(
            "containers:\n- name: c\n  env:\n{}",
            items.collect::<String>()
        ))
    };
    check(&list("a b"), &list("a l"), &list("u b"), &list("u l"));
}

#[test]
fn upstream_reorders() {
    let list = |names: &str, image: &str| {
        let items = names
            .chars()
            .map(|n| format!("# {n}\n- name: {n}\n  image: {n}:{image}\n"));
        pod(&format!("containers:\n{}", items.collect::<String>()))
    };
    check(
        &list("abc", "1"),
        &list("abc", "1"),
        &list("cab", "2"),
        &list("cab", "2"),
    );
    let local = list("abc", "1").replace("b:1", "b:9");
    let expected = list("cab", "2").replace("b:2", "b:9").replace("a:2", "a:1");
    let upstream = list("cab", "1").replace("c:1", "c:2");
    check(&list("abc", "1"), &local, &upstream, &expected);
    let (text, conflicts) = merged(
        &list("abc", "1"),
        &list("bac", "1"),
        &list("acb", "1"),
        Side::Local,
    );
    assert_eq!(text, list("bac", "1"));
    assert_eq!(conflicts, ["order of spec.containers:local"]);
}

#[test]
fn comments() {
    let base = "# one\na: 1 # x\nb: 1\n# two\nc:\n  d: 1\n";
    let upstream = "# uno\na: 1 # y\n# new\nb: 1 # z\n# two\nc: # more\n  # deep\n  d: 1\n";
    check(base, base, upstream, upstream);
    // Changed by local: kept.
    check(
        base,
        "# mine\na: 1 # own\nb: 1\n# two\nc:\n  d: 1\n",
        upstream,
        "# mine\na: 1 # own\n# new\nb: 1 # z\n# two\nc: # more\n  # deep\n  d: 1\n",
    );
    // A new setter comment beside a value of local's own is not taken.
    check("a: 1\n", "a: 2\n", "a: 1 # kpt-set: ${a}\n", "a: 2\n");
    check(
        "a: 1\n",
        "a: 1\n",
        "a: 2 # kpt-set: ${a}\n",
        "a: 2 # kpt-set: ${a}\n",
    );
    check("a: 1 # x\n", "a: 1 # x\n", "a: 1\n", "a: 1\n");
}

#[test]
fn identifiers_and_pipeline_annotations_are_not_merged() {
    let base = "apiVersion: v1\nkind: Pod\nmetadata: # kpt-merge: /a\n  name: a\n  annotations:\n    internal.kpt.dev/upstream-identifier: a\n    config.kubernetes.io/path: x\n";
    let local = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
    check(
        base,
        local,
        &base
            .replace("/a", "/b")
            .replace(": a\n    config", ": b\n    config"),
        local,
    );
    check(local, local, base, local);
    let more = format!("{base}    mine: x\n");
    check(
        local,
        local,
        &more,
        &format!("{local}  annotations:\n    mine: x\n"),
    );
    check(base, base, local, base);
}

/// Local changed nothing: upstream's document comes out, spelled as here.
#[track_caller]
fn take(before: &str, upstream: &str, expected: &str) {
    check(before, before, upstream, expected);
}

#[test]
fn keys_that_are_no_strings() {
    take("e: {\n  a: 1,\n}\n", "e: {2: x}\n", "e: {\n  2: x,\n}\n");
    take("e: {\"a\": 1}\n", "e: {2: x}\n", "e: {2: \"x\"}\n");
    // JSON has no others.
    take("{\"a\": 1}\n", "{2: x}\n", "{\"2\": \"x\"}\n");
    check(": x\nb: 1\n", ": x\nb: 2\n", ": y\nb: 1\n", ": y\nb: 2\n");
    check(
        "? [a]\n: 1\nb: 1\n",
        "? [a]\n: 1\nb: 2\n",
        "? [a]\n: 3\nb: 1\n? {c: d}\n: 5\n",
        "? [a]\n: 3\nb: 2\n{c: d}: 5\n",
    );
    check(
        "a: &a k\n*a : 1\nb: 1\n",
        "a: &a k\n*a : 1\nb: 2\n",
        "a: k\nk: 3\nb: 1\n",
        "a: &a k\n*a : 3\nb: 2\n",
    );
    // A value without a key is not that of a key without value.
    take(
        "? a\nb: 1\n: nothing\n",
        "? a\n:\n: nothing\n",
        "? a\n:\n: nothing\n",
    );
}

#[test]
fn indentation_can_change_a_value() {
    take(
        "f:\n  - a\n  - b\n",
        "f:\n - a\n  - b\n",
        "f:\n  - a\n    - b\n",
    );
}

#[test]
fn comments_never_cut_off_lines_of_a_value() {
    take(
        "below:\n  b # c\n",
        "below:\n  a\n  c\n",
        "below:\n  a\n  c # c\n",
    );
    take("a: # c\n  k: v\n", "a: x\n  y\n", "a: # c\n  x\n  y\n");
    take(
        "a:\n  # c\n  b\n",
        "a: |\n  x\n  y\n",
        "a:\n  # c\n  \"x\\ny\\n\"\n",
    );
    take(
        "s:\r\n  # c\r\n  b\r\n",
        "s:\r\n- x\r\n",
        "s:\r\n  # c\r\n- x\r\n",
    );
}

#[test]
fn a_value_and_its_comment_come_together() {
    take("b:\nc: 1\n", "b: x # c\nc: 1\n", "b: x # c\nc: 1\n");
    take("a: # d\n", "a: x # c\n", "a: x # c\n");
    take(
        "metadata:\n  finalizers:\n  - a\n",
        "metadata:\n  finalizers: [] # c\n",
        "metadata:\n  finalizers: []\n",
    );
}

#[test]
fn the_last_line_gets_its_line_break_before_others_come() {
    check(
        "a:\nf:\n",
        "a:\nf:\n  h: 1",
        "f:\n  d:\na:\n",
        "f:\n  h: 1\n  d:\na:",
    );
}

#[test]
fn a_removed_map_comes_back_with_the_comment_of_its_key() {
    check_conflicts(
        "k: 1\na: # c\n  b: 1\n",
        "k: 1\n",
        "k: 1\na: # c\n  b: 2\n",
        "k: 1\na: # c\n  b: 2\n",
        &["a.b:upstream"],
    );
}

#[test]
fn white_space_below_is_no_text_of_a_new_block_scalar() {
    take("e: |\n ]\n\t\n", "e: |\n", "e: \"\"\n\t\n");
    // What stood between goes in the same merge.
    take(
        "e: |\n  x\ng: 1\n   \nh: 1\n",
        "e: |\n  y\nh: 1\n",
        "e: |\n  y\nh: 1\n",
    );
    take(
        "e: |\n  x\ng: [\n ]\nh: # c\n\t\n",
        "g: [\n ]\nh: # c\ne: |\n",
        "g: [\n ]\nh: # c\n\t\ne: |\n",
    );
    // Blank lines go where another entry comes in.
    check_conflicts(
        "a:\n  b: |\n",
        "a:\n  b0: |\n  b: |\n  \n",
        "b: |\n",
        "a:\n  b0: |\nb: \"\"\n",
        &["a.b0:local"],
    );
}

/// A container with arguments, one a line.
fn with_args(lines: &str) -> String {
    let lines = lines.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    format!(
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: c\n    args:\n{}",
        lines.collect::<String>()
    )
}

#[test]
fn comments_in_a_list_without_keys_outlive_upstreams_change() {
    let check_args = |base: &str, local: &str, upstream: &str, expected: &str, paths: &[&str]| {
        check_conflicts(
            &with_args(base),
            &with_args(local),
            &with_args(upstream),
            &with_args(expected),
            paths,
        );
    };
    check_args(
        "- --a=1\n- --b=1\n",
        "# the first\n- --a=1 # keep until SEC-7\n- '--b=1'\n",
        "- --b=1\n- --c=1 # new\n- --a=2\n",
        "- '--b=1'\n- --c=1 # new\n# the first\n- --a=2 # keep until SEC-7\n",
        &[],
    );
    // A conflict that upstream wins.
    check_args(
        "- a\n- b\n",
        "- a # mine\n- x\n",
        "- a\n- b\n- c\n",
        "- a # mine\n- b\n- c\n",
        &["spec.containers[0].args:upstream"],
    );
    // What local did not touch comes as upstream has it.
    let upstream = "# new\n- 'a'\n\n# off\n\n- c # d\n";
    check_args("- a\n- b\n", "- a\n- b\n", upstream, upstream, &[]);
    // Above the first one, while upstream changes another comment.
    check_args(
        "- a\n- b\n",
        "# mine\n- a\n- b\n",
        "- a\n- b # y\n",
        "# mine\n- a\n- b # y\n",
        &[],
    );
    // Comments of equal elements merge three-way.
    check_args(
        "- a # x\n- b # x\n",
        "- a # mine\n- b # x\n",
        "- a # y\n- b # y\n",
        "- a # mine\n- b # y\n",
        &[],
    );
}

#[test]
fn comments_of_rules_outlive_a_new_verb() {
    let role = |rules: &str| format!("apiVersion: v1\nkind: Role\nrules:\n{rules}");
    let base = "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs:\n  - get\n- apiGroups:\n  - apps\n  resources: [deployments]\n  verbs: [get]\n";
    let local = base
        .replace("- get\n", "- get # audited\n")
        .replace("- apps\n", "- apps # ours\n");
    let added = "- apiGroups: [batch]\n  resources: [jobs]\n  verbs: [get]\n";
    let upstream = |rules: &str| {
        format!(
            "{added}{}",
            rules.replace("verbs: [get]", "verbs: [get, list]")
        )
    };
    let upstream = (
        upstream(base).replacen("[get, list]", "[get]", 1),
        upstream(&local).replacen("[get, list]", "[get]", 1),
    );
    check(
        &role(base),
        &role(&local),
        &role(&upstream.0),
        &role(&upstream.1),
    );
}

#[test]
fn a_changed_scalar_keeps_locals_style() {
    let check_style = |before: &str, after: &str, expected: &str| {
        let text = |value: &str| format!("a: {value}\nb: 1\n");
        take(&text(before), &text(after), &text(expected));
    };
    check_style("\"a:1\"", "a:2", "\"a:2\"");
    check_style("'a:1' # c", "\"a:2\" # c", "'a:2' # c");
    check_style("a:1", "\"a:2\"", "a:2");
    // What the style cannot hold is in double quotes.
    check_style("one", "'1'", "\"1\"");
    check_style("'one'", "5", "5");
    check_style("'one'", "|\n  one\n  two", "|\n  one\n  two");
    check_style("|\n  one\n  two", "\"one\"", "|-\n  one");
    check_style(
        ">\n  one\n  two",
        ">\n  one\n  two\n  three",
        ">\n  one\n  two\n  three",
    );
    take(
        "e: [\"a\", 'b']\n",
        "e: [\"a\", 'c']\n",
        "e: [\"a\", 'c']\n",
    );
    check(
        "e: {a: \"x\", b: 1}\n",
        "e: {a: \"x\", b: 2}\n",
        "e: {a: y, b: 1}\n",
        "e: {a: \"y\", b: 2}\n",
    );
}

#[test]
fn a_kept_block_scalar_stays_one() {
    let text = |value: &str| format!("a: |+\n{value}b: 1\n");
    take(
        &text("  one\n\n"),
        &text("  two\n\n\n"),
        &text("  two\n\n\n"),
    );
    // Added, and at the end.
    take("a: 1\n", "a: 1\nb: |+\n  x\n\n", "a: 1\nb: |+\n  x\n\n");
    take(
        "a: 1\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
    );
    take(
        "a: x\nc: 2\n",
        "a: |+\n  x\n\nc: 2\n",
        "a: |+\n  x\n\nc: 2\n",
    );
    take(
        "l:\n- x\nc: 2\n",
        "l:\n- |+\n  x\n\n- y: |+\n    z\n\nc: 2\n",
        "l:\n- |+\n  x\n\n- y: |+\n    z\n\nc: 2\n",
    );
    // Blank lines of the file are not to become part of the value.
    let blank = "a: x\n\nc: 2\n";
    take(blank, "a: |+\n  x\n\nc: 2\n", "a: \"x\\n\\n\"\n\nc: 2\n");
    take(
        "a: 1\nd: 1\n\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
        "a: 1\nb: |+\n  x\n\nc: 2\n",
    );
    take(
        "a: |+\n  x\n\nd: 1\n\nc: 2\n",
        "a: |+\n  y\n\nc: 2\n",
        "a: |+\n  y\n\nc: 2\n",
    );
}

#[test]
fn the_comment_of_a_block_scalars_header_outlives_its_text() {
    let text = |header: &str, line: &str| format!("a: {header}\n  {line}\nb: 1\n");
    check(
        &text("|-", "one"),
        &text("|- # why", "one"),
        &text("|-", "two"),
        &text("|- # why", "two"),
    );
    check(
        &text("|- # x", "one"),
        &text("|- # x", "one"),
        &text("| # y", "two"),
        &text("| # y", "two"),
    );
    // Changed without the text, removed, and with a text that needs no lines.
    take(
        &text("|- # x", "one"),
        &text("|- # y", "one"),
        &text("|- # y", "one"),
    );
    take(
        &text("|- # x", "one"),
        &text("|-", "two"),
        &text("|-", "two"),
    );
    check(
        &text("|-", "one"),
        &text("|- # why", "one"),
        "a: 5\nb: 1\n",
        "a: 5 # why\nb: 1\n",
    );
    check(
        &text("|-", "one"),
        &text("|- # why", "one"),
        "a:\n  c: d\nb: 1\n",
        "a: # why\n  c: d\nb: 1\n",
    );
    check(
        "a: x\n",
        "a: x # why\n",
        "a: |\n  y # not\n",
        "a: | # why\n  y # not\n",
    );
    take("- a: x\n", "- a: | # d\n    y\n", "- a: | # d\n    y\n");
    check("a: x # c\n", "a: x\n", "a: | # c\n  y\n", "a: |\n  y\n");
}

#[test]
fn a_changed_comment_of_a_key_with_its_value_below_is_taken() {
    for value in ["k: v", "- v", "v", "\"v\"", "[v]"] {
        let text = |comment: &str| format!("a:{comment}\n  {value}\nb: 1\n");
        take(&text(" # c"), &text(" # d"), &text(" # d"));
        take(&text(""), &text(" # d"), &text(" # d"));
        take(&text(" # c"), &text(""), &text(""));
        check(
            &text(" # c"),
            &text(" # mine"),
            &text(" # d"),
            &text(" # mine"),
        );
        let other = |comment: &str| text(comment).replace('v', "w");
        take(&text(" # c"), &other(" # d"), &other(" # d"));
        take(&text(""), &other(" # d"), &other(" # d"));
        check(
            &text(" # c"),
            &text(" # mine"),
            &other(" # d"),
            &other(" # mine"),
        );
    }
}

#[test]
fn comments_of_new_entries_in_flow_collections_over_several_lines_come_along() {
    take(
        "e: {\n  a: 1, # one\n}\n",
        "e: {\n  a: 1, # one\n  # above\n  b: 2, # two\n}\n",
        "e: {\n  a: 1, # one\n  # above\n  b: 2, # two\n}\n",
    );
    check(
        &with_args("").replace("args:\n", "args: [\n      a,\n    ]\n"),
        &with_args("").replace("args:\n", "args: [\n      a, # mine\n    ]\n"),
        &with_args("# new\n- b # bee\n- a\n"),
        &with_args("").replace(
            "args:\n",
            "args: [\n      # new\n      b, # bee\n      a, # mine\n    ]\n",
        ),
    );
    // On one line there is no room for them.
    check(
        "e: {a: 1, c: 1}\n",
        "e: {a: 1, c: 2}\n",
        "e:\n  a: 1\n  b: 1 # b\n  c: 1\n",
        "e: {a: 1, b: 1, c: 2}\n",
    );
}

#[test]
fn an_added_element_has_the_dash_of_its_surroundings() {
    let list = |names: &str| {
        let items = names
            .chars()
            .map(|n| format!("-   name: {n}\n    image: {n}\n    args:\n    -   x\n    -   y\n"));
        pod(&format!("containers:\n{}", items.collect::<String>()))
    };
    let narrow = |names: &str| {
        list(names)
            .replace("-   ", "- ")
            .replace("    image", "  image")
            .replace("      args:\n      ", "    args:\n    ")
            .replace("      - ", "    - ")
            .replace("      image", "    image")
    };
    check(&narrow("a"), &list("a"), &narrow("ab"), &list("ab"));
}

#[test]
fn commented_out_lines_that_local_removed_do_not_come_back_with_a_neighbour() {
    let base = "a: 1\n# b: 2\nc: 3\n# d: 4\n";
    let upstream = "a: 1\n# b: 2\n# new\nn: 1\nc: 3\n# d: 4\ne: 5\n";
    check(
        base,
        "a: 1\nc: 3\n",
        upstream,
        "a: 1\n# new\nn: 1\nc: 3\ne: 5\n",
    );
    // One more of them is new.
    let twice = "a: 1\n# b: 2\nc: 3\n# b: 2\ne: 5\n";
    check(
        "a: 1\n# b: 2\nc: 3\n",
        "a: 1\nc: 3\n",
        twice,
        "a: 1\nc: 3\n# b: 2\ne: 5\n",
    );
    check(
        &with_args("- a\n# - b\n- c\n"),
        &with_args("- a # mine\n- c\n"),
        &with_args("- a\n# - b\n- n\n- c\n"),
        &with_args("- a # mine\n- n\n- c\n"),
    );
}

#[test]
fn what_upstream_adds_keeps_its_spaces() {
    take(
        "a: 1\n",
        "a: 1\nb:\n  image:   x  # c\n  k :  v\n  l:\n  - m:   n\n    # deep\n      # deeper\n    o: p\n",
        "a: 1\nb:\n  image:   x  # c\n  k :  v\n  l:\n  - m:   n\n    # deep\n      # deeper\n    o: p\n",
    );
}

//! Scalars, maps and their keys.

use super::{check, check_conflicts, merged, take};
use crate::Side;
use indoc::indoc;

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
    // Fields that the other side added are kept.
    let more = indoc! {"
        a:
          b:
            c: 1
            d: 2
            # mine
            e: 3
        z: 1
    "};
    let left = "a:\n  b:\n    # mine\n    e: 3\nz: 1\n";
    check_conflicts(base, more, "z: 1\n", left, &["a.b.e:local"]);
    check_conflicts(base, "z: 1\n", more, left, &["a.b.e:upstream"]);
    // An explicit empty mapping is kept.
    check("a: {b: 1}\n", "a: {b: 1}\n", "a: {}\n", "a: {}\n");
    check(
        "a: {b: 1}\nz: 1\n",
        "a: {}\nz: 1\n",
        "a: {b: 1}\nz: 2\n",
        "a: {}\nz: 2\n",
    );
}

/// The whole map of the winner, or its absence, but never a part of it.
#[test]
fn a_change_within_a_removed_map_is_a_conflict() {
    let base = "a:\n  b: 1\n  c: {d: 1, e: 1}\nz: 1\n";
    let changed = "a:\n  b: 1\n  c: {d: 2, e: 1}\nz: 1\n";
    check_conflicts(base, changed, "z: 1\n", "z: 1\n", &["a:upstream"]);
    check_conflicts(base, "z: 1\n", changed, changed, &["a:upstream"]);
    // What the other side merely added is kept, also if it changed something else.
    let more = "a:\n  b: 1\n  c: {d: 2, e: 1, f: 3}\n  g: 4\nz: 1\n";
    let conflicts = ["a:upstream", "a.c.f:local", "a.g:local"];
    check_conflicts(
        base,
        more,
        "z: 1\n",
        "a:\n  c: {f: 3}\n  g: 4\nz: 1\n",
        &conflicts,
    );
    check_conflicts(base, "z: 1\n", more, more, &["a:upstream"]);
    let (text, conflicts) = merged(base, "z: 1\n", changed, Side::Local);
    assert_eq!(
        (text.as_str(), conflicts),
        ("z: 1\n", vec!["a:local".to_owned()])
    );
    // Both sides removed something.
    check_conflicts(base, "z: 1\n", "a:\n  b: 1\nz: 1\n", "z: 1\n", &[]);
}

#[test]
fn new_keys_are_placed_between_their_neighbours() {
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
fn identifiers_and_pipeline_annotations_are_not_merged() {
    let base = indoc! {"
        apiVersion: v1
        kind: Pod
        metadata: # kpt-merge: /a
          name: a
          annotations:
            internal.kpt.dev/upstream-identifier: a
            config.kubernetes.io/path: x
    "};
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

#[test]
fn keys_that_are_not_strings() {
    take("e: {\n  a: 1,\n}\n", "e: {2: x}\n", "e: {\n  2: x,\n}\n");
    take("e: {\"a\": 1}\n", "e: {2: x}\n", "e: {2: \"x\"}\n");
    // JSON has only string keys.
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
    // A value with an empty key is not taken for the value of a key without one.
    take(
        "? a\nb: 1\n: nothing\n",
        "? a\n:\n: nothing\n",
        "? a\n:\n: nothing\n",
    );
}

#[test]
fn an_alias_within_an_atomic_value_stays_where_it_reads_upstreams() {
    let text = |labels: &str, selector: &str, replicas: u8| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  labels: &l\n    app: x\n{labels}spec:\n  replicas: {replicas}\n  selector:{selector}\n  template:\n    metadata:\n      labels: *l\n"
        )
    };
    let tier = "    tier: u\n";
    for selector in [" {matchLabels: *l}", "\n    matchLabels: *l"] {
        let [base, local, upstream, after] =
            [("", 1), ("", 5), (tier, 1), (tier, 5)].map(|(labels, n)| text(labels, selector, n));
        check(&base, &local, &upstream, &after);
    }
}

#[test]
fn annotations_without_a_value_count_as_removed() {
    let text = |annotations: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n{annotations}  labels: {{a: b}}\n"
        )
    };
    let identifier = "    internal.kpt.dev/upstream-identifier: a\n";
    check(
        &text("    x: y\n"),
        &text(&format!("    x: y\n{identifier}")),
        &text(""),
        &text(identifier),
    );
    let removed = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {a: c}\n";
    check(
        &text(""),
        &text(identifier),
        removed,
        &text(identifier).replace("a: b", "a: c"),
    );
    let other = text("").replace("a: b", "a: c");
    check(
        &text(""),
        &text(identifier),
        &other,
        &text(identifier).replace("a: b", "a: c"),
    );
    check(
        &text(""),
        &text(identifier),
        &text("    x: y\n"),
        &text(&format!("{identifier}    x: y\n")),
    );
}

#[test]
fn a_file_that_sops_encrypted_is_one_value_but_for_its_metadata() {
    let of = |namespace: &str, user: &str, password: &str, mac: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  namespace: {namespace}\nstringData:\n  user: ENC[{user}]\n  \
             password: ENC[{password}]\nsops:\n  mac: ENC[{mac}]\n"
        )
    };
    let (base, upstream) = (of("a", "u1", "p1", "1"), of("a", "u1", "p2", "3"));
    // Both edited it: neither checksum fits to both values.
    let local = of("mine", "u2", "p1", "2");
    let whole = of("mine", "u1", "p2", "3");
    check_conflicts(&base, &local, &upstream, &whole, &["stringData:upstream"]);
    let (text, _) = merged(&base, &local, &upstream, Side::Local);
    assert_eq!(text, local);
    // One side did.
    let local = of("mine", "u1", "p1", "1");
    check(&base, &local, &upstream, &whole);
    // One side encrypted it, the other one changed a value.
    let plain = |password: &str| {
        format!("apiVersion: v1\nkind: Secret\nstringData:\n  user: u\n  password: {password}\n")
    };
    let local = indoc! {"
        apiVersion: v1
        kind: Secret
        stringData:
          user: ENC[u]
          password: ENC[p]
        sops:
          mac: ENC[m]
    "};
    let (text, conflicts) = merged(&plain("p1"), local, &plain("p2"), Side::Local);
    assert_eq!((&*text, conflicts.len()), (local, 1));
}

/// In maps of which nothing is known: a `values.yaml`, a custom resource.
#[test]
fn entries_that_a_side_gave_another_key_are_one() {
    let text = |key: &str, replicas: u8, more: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Example\nspec:\n  first: 1\n  {key}:\n    # how many\n    replicas: {replicas}\n    image: db:1\n    user: a\n    host: b\n    port: 5432{more}\n  last: 1\n"
        )
    };
    let base = text("primary", 1, "");
    check(
        &base,
        &text("primary", 3, ""),
        &text("main", 1, ""),
        &text("main", 3, ""),
    );
    let more = "\n    # what for\n    more: true";
    check(
        &base,
        &text("main", 3, ""),
        &text("primary", 1, more),
        &text("main", 3, more),
    );
    // Comments of both sides stay.
    let ours = text("primary", 3, "").replace("# how many", "# how many\n    # at most 5");
    check(
        &base,
        &ours,
        &text("main", 1, "").replace("port: 5432", "port: 5433 # new"),
        &ours
            .replace("primary", "main")
            .replace("port: 5432", "port: 5433 # new"),
    );
    // Other values: another entry.
    let start = base.find("  primary:").expect("a key");
    let end = base.find("  last:").expect("a key");
    let other = "  main:\n    replicas: 7\n    image: cache:2\n    user: c\n    port: 6379\n";
    let theirs = format!("{}{other}{}", &base[..start], &base[end..]);
    check_conflicts(
        &base,
        &text("primary", 3, ""),
        &theirs,
        &theirs,
        &["spec.primary:upstream"],
    );
}

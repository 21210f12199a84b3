//! Lists without keys merge by their elements.

use super::*;

/// Merges lists without a schema. Returns the merged elements, one a line, and the conflicts.
fn list(versions: [&str; 3], winner: Side) -> (String, Vec<String>) {
    let text = |list: &str| {
        let lines = list.lines().map(|line| format!("  {line}\n"));
        let body: String = lines.collect();
        format!("apiVersion: example.com/v1\nkind: Example\nspec:\n  x:\n{body}")
    };
    let [base, local, upstream] = versions.map(text);
    let (merged, conflicts) = merged(&base, &local, &upstream, winner);
    let again = super::merged(&base, &merged, &upstream, winner);
    assert_eq!(again.0, merged, "merged twice");
    let lines = merged
        .lines()
        .skip(4)
        .map(|line| line.get(2..).unwrap_or(line));
    let merged: Vec<_> = lines.collect();
    (merged.join("\n"), conflicts)
}

#[track_caller]
fn both(base: &str, local: &str, upstream: &str, expected: &str) {
    for winner in [Side::Local, Side::Upstream] {
        let (merged, conflicts) = list([base, local, upstream], winner);
        assert_eq!(merged, expected, "{winner:?}");
        assert_eq!(conflicts, [""; 0], "{winner:?}");
    }
}

/// Checks a conflict. `expected` is the result if local wins, and the result if upstream wins.
#[track_caller]
fn conflict(versions: [&str; 3], expected: [&str; 2], path: &str) {
    for (winner, expected) in [Side::Local, Side::Upstream].into_iter().zip(expected) {
        let (merged, conflicts) = list(versions, winner);
        assert_eq!(merged, expected, "{winner:?}");
        let path = format!("{path}:{}", winner.as_str());
        assert_eq!(conflicts, [path], "{winner:?}");
    }
}

#[test]
fn arguments_merge_by_their_flags() {
    both(
        "- --a=1\n- --b=1",
        "- --a=2 # ours\n- --b=1",
        "- --a=1\n- --b=2\n- --c=1",
        "- --a=2 # ours\n- --b=2\n- --c=1",
    );
    // Local removed a flag, and upstream added one.
    both(
        "- --a=1\n- --b",
        "- --a=1",
        "- --a=1\n- --b\n- --c",
        "- --a=1\n- --c",
    );
    // Equal new flags become one. All other new flags are kept.
    both(
        "- --a",
        "- --a\n- --x\n- --y",
        "- --x\n- --a\n- --z",
        "- --a\n- --x\n- --y\n- --z",
    );
    // Both sides changed an image in an argument.
    both(
        "- --i=r/app:1\n- --b",
        "- --i=m/app:1\n- --b",
        "- --i=r/app:2\n- --c",
        "- --i=m/app:2\n- --c",
    );
    conflict(
        ["- --a=1\n- --b", "- --a=2\n- --b", "- --a=3\n- --b\n- --c"],
        ["- --a=2\n- --b\n- --c", "- --a=3\n- --b\n- --c"],
        "spec.x[0]",
    );
    // Local removed the argument that upstream changed.
    conflict(
        ["- --a=1\n- --b", "- --b\n- --c", "- --a=3\n- --b"],
        ["- --b\n- --c", "- --a=3\n- --b\n- --c"],
        "spec.x[0]",
    );
    // Both added the same flag.
    conflict(
        ["- --b", "- --b\n- --a=1", "- --b\n- --a=2"],
        ["- --b\n- --a=1", "- --b\n- --a=2"],
        "spec.x[1]",
    );
}

#[test]
fn a_flag_and_the_value_after_it_are_one_element() {
    both(
        "- -n\n- one\n- -m\n- one",
        "- -n\n- two\n- -m\n- one",
        "- -n\n- one\n- -m\n- two",
        "- -n\n- two\n- -m\n- two",
    );
    both(
        "- -n\n- a\n- -m",
        "- -m",
        "- -n\n- a\n- -m\n- -o",
        "- -m\n- -o",
    );
    // A flag and its value are kept or removed together.
    let changed = "- -n\n- b\n- -m\n- -o";
    for (local, expected) in [
        (
            "- -m\n- -p",
            ["- -m\n- -p\n- -o", "- -n\n- b\n- -m\n- -p\n- -o"],
        ),
        ("- -n=c\n- -m", ["- -n=c\n- -m\n- -o", changed]),
    ] {
        conflict(["- -n\n- a\n- -m", local, changed], expected, "spec.x");
    }
}

#[test]
fn maps_merge_by_what_identifies_them() {
    both(
        "- alert: A\n  for: 1m\n- alert: B\n  for: 1m",
        "- alert: B\n  for: 1m\n  labels: {a: b}\n- alert: A\n  for: 5m",
        "- alert: A\n  for: 1m\n  expr: up\n- alert: B\n  for: 1m",
        "- alert: B\n  for: 1m\n  labels: {a: b}\n- alert: A\n  for: 5m\n  expr: up",
    );
    both(
        "- apiGroups: [apps]\n  resources: [pods]\n  verbs: [get]",
        "- apiGroups: [apps]\n  resources: [pods]\n  verbs: [get, list]\n- apiGroups: [x]\n  resources: [y]\n  verbs: [get]",
        "- apiGroups: [apps]\n  resources: [pods]\n  verbs: [get, watch]",
        "- apiGroups: [apps]\n  resources: [pods]\n  verbs: [get, list, watch]\n- apiGroups: [x]\n  resources: [y]\n  verbs: [get]",
    );
    conflict(
        [
            "- key: a\n  v: 1",
            "- key: a\n  v: 2\n- key: b\n  v: 1",
            "- key: a\n  v: 3",
        ],
        [
            "- key: a\n  v: 2\n- key: b\n  v: 1",
            "- key: a\n  v: 3\n- key: b\n  v: 1",
        ],
        "spec.x[0].v",
    );
    conflict(
        [
            "- key: a\n  v: 1\n- key: b",
            "- key: b\n- key: c",
            "- key: a\n  v: 3\n- key: b",
        ],
        ["- key: b\n- key: c", "- key: a\n  v: 3\n- key: b\n- key: c"],
        "spec.x[0]",
    );
}

/// Elements with the same name are distinguished by more fields.
#[test]
fn alerts_of_one_name_are_identified_by_their_labels() {
    let alert = |severity: &str, more: &str| {
        format!("- alert: A\n  labels: {{severity: {severity}}}\n  for: {more}")
    };
    let list =
        |one: &str, other: &str| format!("{}\n{}", alert("warning", one), alert("critical", other));
    both(
        &list("1m", "1m"),
        &list("5m", "1m"),
        &list("1m", "2m"),
        &list("5m", "2m"),
    );
    // Local gave one of them another label.
    let page = |more: &str| list(more, "1m").replace("warning", "page");
    both(
        &list("1m", "1m"),
        &page("1m"),
        &list("2m", "1m"),
        &page("2m"),
    );
    both(
        "- {kind: User, name: a, namespace: x}\n- {kind: User, name: a, namespace: y}",
        "- {kind: User, name: a, namespace: y, ours: 1}",
        "- {kind: User, name: a, namespace: x}\n- {kind: User, name: a, namespace: y, theirs: 1}",
        "- {kind: User, name: a, namespace: y, ours: 1, theirs: 1}",
    );
}

/// The Roles of a RoleList have the same name in several namespaces.
#[test]
fn resources_in_a_list_are_identified_by_kind_namespace_and_name() {
    let role = |namespace: &str, rest: &str| {
        format!(
            "- kind: Role\n  metadata:\n    name: r\n    namespace: {namespace}{rest}\n  verbs: [get]"
        )
    };
    let list = |rests: [&str; 2]| format!("{}\n{}", role("a", rests[0]), role("b", rests[1]));
    let (ours, theirs) = ("\n    ours: 1", "\n    theirs: 1");
    both(
        &list(["", ""]),
        &list([ours, ""]),
        &list([theirs, theirs]),
        &list([&format!("{ours}{theirs}"), theirs]),
    );
}

/// All endpoints are similar: each is paired with the one that it has the most in common with.
#[test]
fn the_most_similar_elements_pair() {
    let endpoint = |interval: &str, own: &str, action: &str| {
        format!(
            "- {{port: https, scheme: https, tls: x, interval: {interval}, drop: [{own}]{action}}}"
        )
    };
    let list = |interval: &str, action: &str| {
        let first = endpoint(interval, "a, b, c", action);
        format!("{first}\n{}", endpoint("1m", "d, e, f", action))
    };
    both(
        &list("1m", ""),
        &list("2m", ""),
        &list("1m", ", action: keep"),
        &list("2m", ", action: keep"),
    );
}

/// The element that local changed is not taken for the element that local removed.
#[test]
fn similar_elements_pair_before_the_rest() {
    let rule = |cidr: &str, port: &str| {
        format!("- to: [{{cidr: {cidr}}}]\n  ports: [{{port: {port}, protocol: TCP}}]")
    };
    let [one, other] = [rule("a", "1"), rule("b", "2")];
    let (ours, theirs) = (rule("a, x: 1", "1"), rule("b, x: 1", "2"));
    conflict(
        [
            &format!("{one}\n{other}"),
            &ours,
            &format!("{one}\n{theirs}"),
        ],
        [&ours, &format!("{ours}\n{theirs}")],
        "spec.x[1]",
    );
    both(
        &one,
        &ours,
        &format!("{one}\n{other}"),
        &format!("{ours}\n{other}"),
    );
}

#[test]
fn the_only_map_without_a_name_that_both_changed_merges() {
    let list = |a: &str, c: &str| format!("- {{a: {a}, b: [p, q, r, s, t], c: {c}}}");
    both(
        &format!("- x: 1\n{}", list("2", "2")),
        &format!("{}\n- x: 1", list("2", "3")),
        &format!("- x: 1\n{}", list("4", "2")),
        &format!("{}\n- x: 1", list("4", "3")),
    );
    both(
        "- from: a\n  to: b",
        "- from: c\n  to: b",
        "- from: a\n  to: d",
        "- from: c\n  to: d",
    );
    // It has nothing left by which it could be recognised when the result is merged again.
    conflict(
        [
            "- {a: 1, b: 1}\n- {c: 1}\n- --x",
            "- {a: 2, b: 1}\n- {c: 1}\n- --x",
            "- {a: 1, b: 2}\n- {c: 1}",
        ],
        ["- {a: 2, b: 1}\n- {c: 1}", "- {a: 1, b: 2}\n- {c: 1}"],
        "spec.x[0]",
    );
}

/// It does not matter then which element it became.
#[test]
fn a_field_that_one_side_changed_need_not_be_known() {
    both(
        "- {a: 1, b: 1, c: 1}\n- {a: 1, b: 1, c: 2}\n- x",
        "- {a: 1, b: 1, c: 3}\n- x",
        "- {a: 1, b: 1, c: 1}\n- {a: 1, b: 1, c: 2}\n- y",
        "- {a: 1, b: 1, c: 3}\n- y",
    );
    both(
        "- a\n- b",
        "- x # ours\n- y\n- b",
        "- a\n- c\n- b",
        "- x # ours\n- y\n- c\n- b",
    );
}

/// A rule of a role must not get the verbs of another rule.
#[test]
fn an_element_that_replaced_another_does_not_merge_with_it() {
    let rule = |resource: &str, verbs: &str| {
        format!("- apiGroups: [x]\n  resources: [{resource}]\n  verbs: [{verbs}]")
    };
    let [nodes, pods, secrets] = [
        rule("nodes", "watch"),
        rule("pods", "get"),
        rule("secrets", "get"),
    ];
    let more = rule("pods", "get, list");
    conflict(
        [
            &format!("{nodes}\n{pods}"),
            &format!("{nodes}\n{secrets}"),
            &format!("{nodes}\n{more}"),
        ],
        [&format!("{nodes}\n{secrets}"), &format!("{nodes}\n{more}")],
        "spec.x[1]",
    );
    // Both renamed it.
    let [ours, theirs] = ["p", "q"].map(|name| format!("- {{name: {name}, a: 1, b: 1}}"));
    conflict(
        [
            "- {name: w, a: 1, b: 1}\n- {name: v}",
            &format!("{ours}\n- {{name: v}}"),
            &format!("{theirs}\n- {{name: v}}"),
        ],
        [
            &format!("{ours}\n- {{name: v}}"),
            &format!("{theirs}\n- {{name: v}}"),
        ],
        "spec.x[0]",
    );
    // Did local change the rule that upstream removed, or add a new one?
    conflict(
        [
            &format!("{nodes}\n{pods}"),
            &format!("{nodes}\n{secrets}"),
            &nodes,
        ],
        [&format!("{nodes}\n{secrets}"), &nodes],
        "spec.x",
    );
}

/// The whole list is one conflict, if nothing in it is certain.
#[test]
fn a_list_whose_elements_are_all_ambiguous_is_one_value() {
    for (versions, expected) in [
        // Local has an unrelated list.
        (["- a\n- b", "- c", "- a\n- b\n- d"], "- a\n- b\n- d"),
        (
            ["- a\n- b\n- c", "- b\n- a\n- c", "- a\n- c\n- b"],
            "- a\n- c\n- b",
        ),
    ] {
        let (_, conflicts) = list(versions, Side::Local);
        assert_eq!(conflicts, ["spec.x:local"], "{versions:?}");
        let (merged, _) = list(versions, Side::Upstream);
        assert_eq!(merged, expected);
    }
}

/// Elements outside of an ambiguous run merge one by one.
#[test]
fn the_smallest_ambiguous_run_is_one_value() {
    conflict(
        [
            "- {a: 1, b: 1}\n- {a: 1, b: 2}\n- x\n- y",
            "- {a: 1, b: 3}\n- x\n- y\n- ours",
            "- {a: 2, b: 1}\n- {a: 2, b: 2}\n- x\n- z",
        ],
        [
            "- {a: 1, b: 3}\n- x\n- z\n- ours",
            "- {a: 2, b: 1}\n- {a: 2, b: 2}\n- x\n- z\n- ours",
        ],
        "spec.x",
    );
}

#[test]
fn elements_that_occur_twice_do_not_conflict() {
    both(
        "- a\n- b\n- a",
        "- b\n- a",
        "- a\n- b\n- a\n- c",
        "- b\n- a\n- c",
    );
    both(
        "- a\n- b",
        "- a\n- b\n- c",
        "- b\n- a\n- b",
        "- b\n- a\n- b\n- c",
    );
    // Upstream renamed a flag that occurs twice.
    both(
        "- --store=a\n- --store=b",
        "- --store=a\n- --store=b\n- --qps=7",
        "- --end=a\n- --end=b",
        "- --end=a\n- --end=b\n- --qps=7",
    );
    // Both sides changed both elements alike.
    both(
        "- {k: a, v: [1]}\n- {k: b, v: [1]}\n- {k: b, v: [1]}",
        "- {k: a, v: [1, 3]}\n- {k: b, v: [2]}\n- {k: b, v: [2]}",
        "- {k: a, v: [1]}\n- {k: b, v: [2]}\n- {k: b, v: [2]}",
        "- {k: a, v: [1, 3]}\n- {k: b, v: [2]}\n- {k: b, v: [2]}",
    );
    // Both sides replaced the same element by the same value.
    both(
        "- a\n- b\n- c\n- d",
        "- a\n- mine\n- c\n- d",
        "- a\n- mine\n- c\n- other",
        "- a\n- mine\n- c\n- other",
    );
}

#[test]
fn a_field_that_is_unique_in_all_versions_identifies_an_element() {
    // The path is the name of an endpoint, but the port is the same in all versions.
    both(
        "- path: /m\n  port: https",
        "- path: /eu\n  port: https",
        "- path: /m\n  port: https\n  scheme: https\n  tls: {skip: true}",
        "- path: /eu\n  port: https\n  scheme: https\n  tls: {skip: true}",
    );
    let group = |a: &str, b: &str| {
        format!("- group: a\n  x: {{p: {a}, q: 1}}\n- group: b\n  x: {{p: {b}, q: 1}}")
    };
    both(
        &group("1", "1"),
        &group("2", "1").replace("q: 1", "q: 2"),
        &group("1", "3"),
        &group("2", "3").replace("q: 1", "q: 2"),
    );
    // Only one of the elements has the field.
    both(
        "- run: [x]\n- key: k\n  run: [x, y]",
        "- run: [x]\n- key: k\n  mem: 1\n  run: [x, y]",
        "- run: []\n- key: k\n  run: [y]",
        "- run: []\n- key: k\n  mem: 1\n  run: [y]",
    );
}

#[test]
fn an_element_edited_next_to_a_removed_one_is_not_mistaken_for_it() {
    let rule = |group: &str, resources: &str, verbs: &str| {
        format!("- apiGroups: [{group}]\n  resources: [{resources}]\n  verbs: [{verbs}]")
    };
    let (pods, apms) = (
        rule("''", "pods", "get"),
        rule("apm", "apms, s, f", "get, list, watch"),
    );
    let removed = rule("log", "logs, s", "get, list, watch");
    let added = rule("auth", "reviews", "create");
    let ours = apms.replace(", f", "");
    both(
        &format!("{pods}\n{apms}\n{removed}"),
        &format!("{pods}\n{ours}\n{removed}"),
        &format!("{added}\n{pods}\n{apms}"),
        &format!("{added}\n{pods}\n{ours}"),
    );
}

/// Operations of a JSON patch have the same path if they append.
#[test]
fn similar_elements_that_both_sides_changed_merge() {
    let list = |registry: &str, tag: &str| {
        let one = |name: &str| {
            format!(
                "- {{op: add, path: /x/-, value: {{run: [test, {name}], image: {registry}r/t:{tag}, labels: {{s: o, t: {name}}}}}}}"
            )
        };
        format!("{}\n{}", one("a"), one("b"))
    };
    both(
        &list("", "1"),
        &list("m.io/", "1"),
        &list("", "2"),
        &list("m.io/", "2"),
    );
}

/// It is unclear which of the new elements replaces a moved one.
#[test]
fn a_move_of_what_the_other_side_replaced_is_not_lost() {
    // Local moved, upstream replaced.
    conflict(
        ["- x\n- a\n- b", "- x\n- b\n- a", "- x\n- c\n- d"],
        ["- x\n- b\n- a", "- x\n- c\n- d"],
        "spec.x",
    );
    // Upstream moved an element. Local has two similar elements, one of which is a changed version of it.
    let [old, ours, new] =
        ["", ", d: 1", ", e: 1"].map(|more| format!("- {{a: 1, b: 1, c: 1{more}}}"));
    conflict(
        [
            &format!("- x\n{old}"),
            &format!("{ours}\n- x\n{new}"),
            &format!("{old}\n- x\n- y"),
        ],
        [&format!("{ours}\n- x\n{new}"), &format!("{old}\n- x\n- y")],
        "spec.x",
    );
    // Local moved other elements than upstream replaced.
    both(
        "- x\n- y\n- a\n- b",
        "- y\n- x\n- a\n- b",
        "- x\n- y\n- c\n- d",
        "- y\n- x\n- c\n- d",
    );
}

/// Egress rules of a policy that had none.
#[test]
fn maps_in_a_list_that_both_sides_added_are_all_kept() {
    let [ours, theirs] = ["443", "53"].map(|port| format!("- ports:\n  - port: {port}"));
    for base in ["  []", ""] {
        both(base, &ours, &theirs, &format!("{ours}\n{theirs}"));
    }
    both(
        "",
        &format!("{ours} # ours"),
        &format!("{theirs}\n{ours}"),
        &format!("{theirs}\n{ours} # ours"),
    );
    // Words may form a command.
    conflict(["  []", "- run", "- serve"], ["- run", "- serve"], "spec.x");
}

/// Aliases merge as if they were written out.
#[test]
fn elements_that_are_aliases_merge_by_their_values() {
    both(
        "- &a x\n- y",
        "- &a x\n- y\n- one: *a",
        "- &a x\n- y\n- two: *a",
        "- &a x\n- y\n- one: *a\n- two: x",
    );
}

#[test]
fn elements_of_custom_resources_merge_by_their_names() {
    // Rules that record and rules that alert, in one list.
    let mixed = "- record: a\n  expr: 1\n- alert: B\n  expr: 2";
    conflict(
        [
            mixed,
            &format!("{mixed}\n- alert: C\n  expr: 3"),
            &format!("{mixed}\n- alert: C\n  expr: 4"),
        ],
        [
            &format!("{mixed}\n- alert: C\n  expr: 3"),
            &format!("{mixed}\n- alert: C\n  expr: 4"),
        ],
        "spec.x[2].expr",
    );
    for name in ["secretKey", "step", "id", "refId"] {
        let own = format!("- {name}: a\n  x: {{p: 1}}");
        let [ours, theirs] = [2, 3].map(|p| format!("{own}\n- {name}: b\n  x: {{p: {p}}}"));
        conflict([&own, &ours, &theirs], [&ours, &theirs], "spec.x[1].x.p");
        both(
            &format!("{own}\n- {name}: b\n  x: {{p: 1, q: 1}}"),
            &format!("{own}\n- {name}: b\n  x: {{p: 2, q: 1}}"),
            &format!("{own}\n- {name}: b\n  x: {{p: 1, q: 2}}"),
            &format!("{own}\n- {name}: b\n  x: {{p: 2, q: 2}}"),
        );
    }
    // Patches by their targets, and routes by what they match, unless local changed that.
    for (name, of) in [("target", "kind: "), ("matches", "- path: ")] {
        let patch = |of_a: &str, a: &str| {
            format!(
                "- {name}:\n    {of}{of_a}\n  {a}\n- {name}:\n    {of}B\n  p: 1\n  q: 1\n  r: 1"
            )
        };
        both(
            &patch("A", "p: 1\n  q: 1"),
            &patch("A", "p: 2\n  q: 1"),
            &patch("A", "p: 1\n  q: 2"),
            &patch("A", "p: 2\n  q: 2"),
        );
        both(
            &patch("A", "s: 1\n  t: 1\n  u: 1\n  w: 1\n  y: 1\n  v: 1"),
            &patch("X", "s: 1\n  t: 1\n  u: 1\n  w: 1\n  y: 1\n  v: 1"),
            &patch("A", "s: 1\n  t: 1\n  u: 1\n  w: 1\n  y: 1\n  v: 2"),
            &patch("X", "s: 1\n  t: 1\n  u: 1\n  w: 1\n  y: 1\n  v: 2"),
        );
    }
}

#[test]
fn elements_of_one_entry_merge_by_their_keys() {
    both(
        "- list: {a: 1, b: 1}\n- git: {a: 1, b: 1}",
        "- list: {a: 2, b: 1}\n- clusters: {}\n- git: {a: 1, b: 2}",
        "- list: {a: 1, b: 2}\n- git: {a: 2, b: 1}",
        "- list: {a: 2, b: 2}\n- clusters: {}\n- git: {a: 2, b: 2}",
    );
    // Both sides may add an element with the same key.
    both(
        "- list: {a: 1}",
        "- list: {a: 1}\n- git: {a: 1}",
        "- list: {a: 2}\n- git: {a: 2}",
        "- list: {a: 2}\n- git: {a: 1}\n- git: {a: 2}",
    );
}

#[test]
fn several_elements_that_one_side_replaced_keep_their_places() {
    let check = |base: &str, local: &str, upstream: &str, expected: &str| {
        let [base, local, upstream, expected] = [base, local, upstream, expected]
            .map(|names| format!("- {}", names.replace(' ', "\n- ")));
        both(&base, &local, &upstream, &expected);
    };
    // Later files of values override earlier ones.
    check(
        "common base-1 prod-1",
        "common base-1 prod-1 local",
        "common base-2 prod-2",
        "common base-2 prod-2 local",
    );
    check("a b c d", "a b mine c d", "x y z d", "x y mine z d");
    check("a b c", "x y c", "first a b c", "first x y c");
    check("a b c", "x y c", "a between b c", "x between y c");
    // One more than before: nothing orders them.
    check("a b c", "a b mine c", "x y z c", "mine x y z c");
}

#[test]
fn elements_with_one_name_are_identified_by_their_version() {
    let crd = |version: &str, fields: &str| {
        format!("- {{name: apps, version: {version}, {fields}, b: 1, c: 1}}")
    };
    both(
        &crd("v1alpha1", "a: 1"),
        &crd("v1alpha1", "a: 2"),
        &format!(
            "{}\n{}",
            crd("v1beta1", "a: 1"),
            crd("v1alpha1", "a: 1, d: 1")
        ),
        &format!(
            "{}\n{}",
            crd("v1beta1", "a: 1"),
            crd("v1alpha1", "a: 2, d: 1")
        ),
    );
}

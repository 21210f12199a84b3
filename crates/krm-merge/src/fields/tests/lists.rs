//! Lists with keys, sets, and their order.

use super::{check, check_conflicts, merged, pod};
use crate::Side;
use indoc::indoc;

#[test]
fn keyed_lists() {
    let base = pod("containers:\n- name: a\n  image: a:1\n- name: b\n  image: b:1\n");
    let local = pod(indoc! {"
            containers:
            - name: l
            - name: a # ca
              image: a:1
            - name: b
              image: b:1
              args: [x]
        "});
    let upstream = pod(indoc! {"
            containers:
            - name: a
              image: a:2
            # new
            - name: u
              image: u:1
            - name: b
              image: b:1
        "});
    let expected = pod(indoc! {"
            containers:
            - name: l
            - name: a # ca
              image: a:2
            # new
            - name: u
              image: u:1
            - name: b
              image: b:1
              args: [x]
        "});
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
    let base = pod(indoc! {"
            containers:
            - name: a
              ports:
              - containerPort: 80
              - containerPort: 80
                protocol: UDP
        "});
    let local = pod(indoc! {"
            containers:
            - name: a
              ports:
              - containerPort: 80
                hostPort: 1
              - containerPort: 80
                protocol: UDP
        "});
    let upstream = pod(indoc! {"
            containers:
            - name: a
              ports:
              - containerPort: 80
                protocol: TCP
              - containerPort: 80
                protocol: UDP
                name: u
        "});
    // Both sides add a field after the port: local's field comes first.
    let expected = pod(indoc! {"
            containers:
            - name: a
              ports:
              - containerPort: 80
                hostPort: 1
                protocol: TCP
              - containerPort: 80
                protocol: UDP
                name: u
        "});
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
        &["spec.containers[0].args[1]:upstream"],
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

/// The schema calls a subject one value, but its fields are separate decisions.
#[test]
fn subjects_of_a_role_binding_merge_by_their_fields() {
    let text = |name: &str, namespace: &str| {
        let one = |name: &str| {
            format!("- kind: ServiceAccount\n  name: {name}\n  namespace: {namespace}\n")
        };
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: r\nsubjects:\n{}{}",
            one(name),
            one("other")
        )
    };
    check(
        &text("old", "sys"),
        &text("old", "corp"),
        &text("new", "sys"),
        &text("new", "corp"),
    );
}

#[test]
fn both_sides_replaced_an_element_and_upstream_added_another() {
    check("l: [a]\n", "l: [n]\n", "l: [m, n]\n", "l: [m, n]\n");
    check(
        "l: [a, b]\n",
        "l: [n, b]\n",
        "l: [m, n, b]\n",
        "l: [m, n, b]\n",
    );
}

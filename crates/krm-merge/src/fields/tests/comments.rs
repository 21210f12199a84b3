//! Comments merge three-way, like the values that they belong to.

use super::{check, check_conflicts, pod, take};
use indoc::indoc;

#[test]
fn comments() {
    let base = indoc! {"
        # one
        a: 1 # x
        b: 1
        # two
        c:
          d: 1
    "};
    let upstream = indoc! {"
        # uno
        a: 1 # y
        # new
        b: 1 # z
        # two
        c: # more
          # deep
          d: 1
    "};
    check(base, base, upstream, upstream);
    // Changed by local: kept. Where both changed a line above a key, both lines are.
    check(
        base,
        indoc! {"
            # mine
            a: 1 # own
            b: 1
            # two
            c:
              d: 1
        "},
        upstream,
        indoc! {"
            # mine
            # uno
            a: 1 # own
            # new
            b: 1 # z
            # two
            c: # more
              # deep
              d: 1
        "},
    );
    // A new setter comment next to a value that local changed is not taken.
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
fn comments_never_cut_off_lines_of_a_value() {
    // Local's own comment, and upstream's value.
    let check = |comment: &str, base: &str, upstream: &str, expected: &str| {
        let local = base.replacen('@', comment, 1);
        let base = base.replacen('@', "", 1);
        check(&base, &local, upstream, expected);
        take(&local, upstream, upstream);
    };
    check(
        " # c",
        "below:\n  b@\n",
        "below:\n  a\n  c\n",
        "below:\n  a\n  c # c\n",
    );
    check(" # c", "a:@\n  k: v\n", "a: x\n  y\n", "a: x\n  y # c\n");
    check(
        "  # c\n",
        "a:\n@  b\n",
        "a: |\n  x\n  y\n",
        "a: | # c\n  x\n  y\n",
    );
    check(
        "  # c\n",
        "a: # b\n@  b\n",
        "a: | # b\n  x\n  y\n",
        "a: # b\n  # c\n  \"x\\ny\\n\"\n",
    );
    check(
        "  # c\r\n",
        "s:\r\n@  b\r\n",
        "s:\r\n- x\r\n",
        "s: # c\r\n- x\r\n",
    );
}

#[test]
fn a_value_and_its_comment_come_together() {
    take("b:\nc: 1\n", "b: x # c\nc: 1\n", "b: x # c\nc: 1\n");
    take("a: # d\n", "a: x # c\n", "a: x # c\n");
    take(
        "metadata:\n  finalizers:\n  - a\n",
        "metadata:\n  finalizers: [] # c\n",
        "metadata:\n  finalizers: [] # c\n",
    );
}

#[test]
fn a_comment_never_becomes_part_of_a_value() {
    take(
        "a: one\nb: 1\n",
        "a: \"x\\ny\\n\" # note\nb: 1\n",
        "a: | # note\n  x\n  y\nb: 1\n",
    );
    check(
        "a: one\n",
        "a: one # mine\n",
        "a: |+ # note\n  x\n\n",
        "a: |+ # mine\n  x\n\n",
    );
}

#[test]
fn the_comment_of_a_value_comes_with_the_first_merge() {
    take("s: {}\n", "s: # note\n  k: v\n", "s: # note\n  k: v\n");
    take("s:\n", "s: # note\n- k\n", "s: # note\n- k\n");
    take(
        "s:\n- k: v\n",
        "s:\n- # note\n  k: v\n",
        "s:\n- # note\n  k: v\n",
    );
}

#[test]
fn comments_within_flow_collections_are_taken() {
    let text = |comment: &str| format!("a: {{b: 1,{comment}\n    c: 2}}\n");
    take(&text(""), &text(" # one"), &text(" # one"));
    take(&text(" # one"), &text(" # two"), &text(" # two"));
    take(
        &text(" # one"),
        "a:\n  b: 1 # two\n  c: 2\n",
        "a:\n  b: 1 # two\n  c: 2\n",
    );
}

#[test]
fn a_removed_map_comes_back_with_the_comment_of_its_key() {
    check_conflicts(
        "k: 1\na: # c\n  b: 1\n",
        "k: 1\n",
        "k: 1\na: # c\n  b: 2\n",
        "k: 1\na: # c\n  b: 2\n",
        &["a:upstream"],
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
    // An element that occurs twice.
    check_args(
        "- a\n- b\n- b\n",
        "- a # mine\n- b\n",
        "- a\n- b\n- b\n- c\n",
        "- a # mine\n- b\n- c\n",
        &[],
    );
    // A conflict that upstream wins.
    check_args(
        "- a\n- b\n- c\n",
        "- b\n- a # mine\n- c\n",
        "- a\n- c\n- b\n",
        "- a # mine\n- c\n- b\n",
        &["spec.containers[0].args:upstream"],
    );
    // Both changed it.
    check_args(
        "- a\n- b\n",
        "- a # mine\n- x\n",
        "- a\n- b\n- c\n",
        "- a # mine\n- x\n- c\n",
        &[],
    );
    // Parts that local did not change are taken as upstream has them.
    let upstream = indoc! {"
        # new
        - 'a'

        # off

        - c # d
    "};
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
    let base = indoc! {r#"
        - apiGroups: [""]
          resources: [pods]
          verbs:
          - get
        - apiGroups:
          - apps
          resources: [deployments]
          verbs: [get]
    "#};
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
    // On one line there is no room for comments.
    check(
        "e: {a: 1, c: 1}\n",
        "e: {a: 1, c: 2}\n",
        "e:\n  a: 1\n  b: 1 # b\n  c: 1\n",
        "e: {a: 1, b: 1, c: 2}\n",
    );
}

#[test]
fn commented_out_lines_that_local_removed_do_not_come_back_with_a_neighbour() {
    let base = "a: 1\n# b: 2\nc: 3\n# d: 4\n";
    let upstream = indoc! {"
        a: 1
        # b: 2
        # new
        n: 1
        c: 3
        # d: 4
        e: 5
    "};
    check(
        base,
        "a: 1\nc: 3\n",
        upstream,
        "a: 1\n# new\nn: 1\nc: 3\ne: 5\n",
    );
    // Upstream added one more of the removed lines, which is new.
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

/// At the foot of a document, a map or a list, and between entries.
#[test]
fn loose_comments_that_only_upstream_changed_are_taken() {
    for text in [
        "a: 1\nz: 0\n@",
        "a: 1\nz: 0\n\n@\n",
        "a: 1\nm:\n  b: 1\n@\nz: 0\n",
        indoc! {"
            a: 1
            l:
            - b: 1
            @
            - c: 1
            z: 0
        "},
        indoc! {"
            a: 1

            @

            b: 1
            z: 0
        "},
        "a: 1\nm:\n  b: 1\n  @\nz: 0\n",
        "a: 1\r\n\r\n@\r\n\r\nb: 1\r\nz: 0\r\n",
    ] {
        let with = |comment: &str| text.replace('@', comment);
        let local = |comment: &str| with(comment).replace("z: 0", "z: 9");
        check(
            &with("# old"),
            &local("# old"),
            &with("# new"),
            &local("# new"),
        );
        // Changed by local, or by both: kept. Local's line is the first one.
        let line = text.lines().find(|line| line.contains('@'));
        let indent = line.unwrap_or_default().trim_end_matches('@');
        let newline = if text.contains('\r') { "\r\n" } else { "\n" };
        let both = format!("# own{newline}{indent}# new");
        check(
            &with("# old"),
            &local("# own"),
            &with("# old"),
            &local("# own"),
        );
        check(
            &with("# old"),
            &local("# own"),
            &with("# new"),
            &local(&both),
        );
        check(
            &with("# old"),
            &local("# new"),
            &with("# new"),
            &local("# new"),
        );
    }
}

#[test]
fn loose_comments_follow_the_side_that_changed_them_or_what_is_around() {
    // Comments that one side added or removed.
    let (without, with) = ("a: 1\nz: 0\n", "a: 1\nz: 0\n# b: 2\n# c: 3\n");
    let local = |text: &str| text.replace("a: 1", "a: 9");
    check(without, &local(without), with, &local(with));
    check(with, &local(with), without, &local(without));
    // The comment is unchanged, but has a new neighbour.
    check(
        "a: 1\n\n# c\n\nz: 0\n",
        "a: 9\n\n# c\n\nz: 0\n",
        indoc! {"
            a: 1
            b: 1

            # c

            z: 0
        "},
        indoc! {"
            a: 9
            b: 1

            # c

            z: 0
        "},
    );
    // Upstream also removes an entry elsewhere. The second merge changes nothing.
    let base = indoc! {"
        a: 1
        b: 1

        # old

        z: 0
        # foot
    "};
    let upstream = indoc! {"
        b: 1

        # new

        z: 0
        # feet
    "};
    let [local, merged] = [base, upstream].map(|text| text.replace("b: 1", "b: 9"));
    check(base, &local, upstream, &merged);
    check(base, &merged, upstream, &merged);
    // A comment does not become a line of a block scalar.
    check(
        "a: 1\nt: |\n  x\n",
        "a: 9\nt: |\n  x\n",
        "a: 1\nt: |\n  x\n# c\n",
        "a: 9\nt: |\n  x\n# c\n",
    );
    check(
        "a: 1\nt: |\n    x\n",
        "a: 9\nt: |\n  x\n",
        "a: 1\nt: |\n    x\n  # c\n",
        "a: 9\nt: |\n  x\n# c\n",
    );
}

#[test]
fn a_comment_in_an_item_whose_first_entry_moved_appears_once() {
    let base = pod(indoc! {"
            containers:
            - name: x
              volumeMounts:
              - mountPath: /a
                name: a
              args: [a]
        "});
    let local = base.replacen("      name: a", "      # own\n      name: a", 1);
    let upstream = pod(indoc! {"
            containers:
            - name: x
              args: [a]
              volumeMounts:
              - name: a
                mountPath: /a
              - name: c
                mountPath: /c
        "});
    let expected = upstream.replacen("- name: a\n", "- # own\n      name: a\n", 1);
    check(&base, &local, &upstream, &expected);
}

#[test]
fn comments_that_upstream_moved_with_their_entry_are_indented_as_there() {
    let comments = |indent: &str| {
        (0..8)
            .map(|at| format!("{indent}# line {at}\n"))
            .collect::<String>()
    };
    let [old, new] = ["    ", "        "].map(comments);
    let base = format!("spec:\n  old:\n{old}    a: 1\n  b:\n    c: 1\n    x: 1\n");
    let local = base.replacen("x: 1", "x: 2", 1);
    let upstream =
        format!("spec:\n  b:\n    schema:\n      deep:\n{new}        a: 1\n    c: 1\n    x: 1\n");
    check(
        &base,
        &local,
        &upstream,
        &upstream.replacen("x: 1", "x: 2", 1),
    );
}

#[test]
fn a_comment_after_a_value_follows_it_to_another_key() {
    let kustomization = |key: &str, comment: &str| {
        format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{key}:\n- target:\n    kind: Deployment{comment}\n  path: patch.yaml\n"
        )
    };
    check(
        &kustomization("patchesJson6902", ""),
        &kustomization("patchesJson6902", " # ours"),
        &kustomization("patches", ""),
        &kustomization("patches", " # ours"),
    );
}

#[test]
fn a_comment_after_a_value_follows_it_to_an_element_with_another_name() {
    let webhook = |name: &str, comment: &str, policy: &str, operations: &str| {
        format!(
            "- clientConfig:\n    service:\n      name: hooks\n      namespace: system{comment}\n  failurePolicy: {policy}\n  name: {name}\n  \
             rules:\n  - operations: [{operations}]\n"
        )
    };
    let webhooks = |all: &[String]| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nwebhooks:\n{}",
            all.concat()
        )
    };
    let old = |comment: &str| {
        webhooks(&[webhook(
            "all.example.com",
            comment,
            "Fail",
            "CREATE, DELETE",
        )])
    };
    let new = |comment: &str| {
        webhooks(&[
            webhook("create.example.com", comment, "Fail", "CREATE"),
            webhook("delete.example.com", "", "Ignore", "DELETE"),
        ])
    };
    check(&old(""), &old(" # ours"), &new(""), &new(" # ours"));
}

#[test]
fn a_setter_does_not_follow_its_value_to_another_element() {
    let volume = |name: &str, comment: &str| {
        pod(&format!(
            "volumes:\n- name: {name}\n  configMap:\n    name: settings{comment}\n"
        ))
    };
    check(
        &volume("old", ""),
        &volume("old", " # kpt-set: ${settings}"),
        &volume("new", ""),
        &volume("new", ""),
    );
    check(
        &volume("old", ""),
        &volume("old", " # ours"),
        &volume("new", ""),
        &volume("new", " # ours"),
    );
}

#[test]
fn a_comment_goes_with_a_value_that_has_no_other_place() {
    check("a: 1\nb: 2\n", "a: 1\nb: 2 # ours\n", "a: 1\n", "a: 1\n");
}

#[test]
fn lines_between_the_items_of_a_list_in_flow_style_merge_by_lines() {
    let list = |first: &str, second: &str, value: &str| {
        pod(&format!(
            "containers:\n- name: app\n  args: [\n    # at release\n    \"-version\", \"devel\",{first}\n    \"-quiet\",{second}\n    \"-image\", \"{value}\"\n  ]\n"
        ))
    };
    check(
        &list("\n    # one", "\n    # as of May", "a:1"),
        &list("", "\n    # as of May", "a:1"),
        &list("\n    # one", "\n    # as of June", "a:2"),
        &list("", "\n    # as of June", "a:2"),
    );
    check(
        &list("\n    # one", "\n    # as of May", "a:1"),
        &list("\n    # one\n    # ours", "\n    # as of May", "own:1"),
        &list("\n    # one", "", "a:1"),
        &list("\n    # one\n    # ours", "", "own:1"),
    );
}

#[test]
fn two_equal_comments_above_one_moved_entry_become_one() {
    check(
        "a: 1\nb: 1\n",
        "a: 1\n# both\n# ours\nnew: 1\nb: 1\n",
        "a: 1\nb: 1\n# both\nnew: 1\n",
        "a: 1\n# both\n# ours\nnew: 1\nb: 1\n",
    );
}

#[test]
fn comments_stay_in_an_element_without_a_name_whose_keys_upstream_moved() {
    let before = pod(indoc! {"
        x:
        - to:
          - cidr: a
          ports:
          - port: 1
            protocol: TCP
    "});
    let local = before.replace("port: 1", "port: 1 # ours");
    let upstream = pod(indoc! {"
            x:
            - ports:
              - port: 1
                # theirs
                protocol: TCP
              to:
              - cidr: a
        "});
    // The values are equal, so the order of keys is local's.
    let expected = local.replace("      protocol", "      # theirs\n      protocol");
    check(&before, &local, &upstream, &expected);
}

#[test]
fn a_comment_that_came_with_its_element_is_not_given_to_a_new_one_like_it() {
    let peers = |peers: &str| {
        let lines = peers.lines().map(|line| format!("  {line}\n"));
        pod(&format!("rules:\n- from:\n{}", lines.collect::<String>()))
    };
    let before = indoc! {"
        - cidr: 10.0.0.0/8
        - cidr: 172.16.0.0/12
    "};
    let upstream = indoc! {"
        - cidr: 10.0.0.0/8
          except: none
        - cidr: 10.0.0.0/8
        - cidr: 172.16.0.0/12
    "};
    let commented = |text: &str| text.replace("/8\n- cidr: 172", "/8 # ours\n- cidr: 172");
    check(
        &peers(before),
        &peers(&commented(before)),
        &peers(upstream),
        &peers(&commented(upstream)),
    );
}

#[test]
fn a_comment_above_the_first_key_of_a_new_element_appears_once_where_both_sides_renamed_one() {
    let container = |variables: &str| {
        let lines = variables.lines().map(|line| format!("  {line}\n"));
        pod(&format!(
            "containers:\n- name: app\n  env:\n{}",
            lines.collect::<String>()
        ))
    };
    let [level, host, port] =
        ["LEVEL", "HOST", "PORT"].map(|name| format!("-\n  name: {name}\n  value: {name}\n"));
    let own = port.replace("name: PORT", "name: OWN_PORT");
    let new = host.replace("  name: HOST", "  # theirs\n  name: NEW_HOST");
    check(
        &container(&[&*level, &host, &port].concat()),
        &container(&[&*level, &host, &own].concat()),
        &container(&[&*level, &new, &port].concat()),
        // The first comment in a new element follows its dash.
        &container(&[&*level, &own, &new.replace("-\n  # theirs", "- # theirs")].concat()),
    );
}

#[test]
fn a_comment_goes_with_its_entry_that_one_side_removed_and_the_other_moved() {
    let moved = "a: 1\nc: 1\nd: 1\ne: 2\n# of b\nb: 1\n";
    let with = "a: 1\n# of b\nb: 1\nc: 1\nd: 1\ne: 1\n";
    let without = "a: 1\nc: 1\nd: 1\ne: 1\n";
    check(with, without, moved, "a: 1\nc: 1\nd: 1\ne: 2\n");
    check(with, moved, without, "a: 1\nc: 1\nd: 1\ne: 2\n");
    // What the other side wrote stays.
    let written = moved.replace("# of b", "# of b\n# ours");
    check(with, &written, without, "a: 1\nc: 1\nd: 1\ne: 2\n# ours\n");
}

#[test]
fn a_comment_in_an_element_that_both_sides_replaced_appears_once() {
    let secrets = |last: &str| pod(&format!("imagePullSecrets:\n-\n  name: one\n{last}"));
    check(
        &secrets("-\n  kind: x\n  name: two\n"),
        &secrets("-\n  kind: x\n  name: own\n"),
        &secrets("-\n  # theirs\n  kind: x\n"),
        &secrets("-\n  kind: x\n  name: own\n- # theirs\n  kind: x\n"),
    );
}

#[test]
fn a_comment_stays_above_its_value_where_both_sides_added_to_a_list_in_an_element_without_a_name() {
    let hosts = |names: &str| {
        let names = names.lines().map(|line| format!("  {line}\n"));
        pod(&format!(
            "hosts:\n- ip: 10.0.0.1\n  names:\n{}",
            names.collect::<String>()
        ))
    };
    check(
        &hosts("- a\n- b\n"),
        &hosts("- own\n- a\n- b\n"),
        &hosts("- new\n- a\n# theirs\n- b\n"),
        &hosts("- own\n- new\n- a\n# theirs\n- b\n"),
    );
}

#[test]
fn a_comment_in_an_element_that_both_sides_added_under_another_name_is_kept() {
    let ports = |port: &str| {
        pod(&format!(
            "containers:\n- name: app\n  ports:\n  - name: http\n    containerPort: 80\n{port}"
        ))
    };
    let own = "  - name: own\n    containerPort: 90\n    hostPort: 9000\n";
    let their = "  - containerPort: 90\n    # theirs\n    hostPort: 9000\n";
    check(
        &ports(""),
        &ports(own),
        &ports(their),
        &ports(&format!("{own}    # theirs\n")),
    );
}

#[test]
fn comments_of_fields_that_a_merge_key_brings_appear_once() {
    let element = "  schema:\n    # of the schema\n    type: object\n";
    let anchored = format!("versions:\n- &one\n  name: one\n{element}- <<: *one\n  name: two\n");
    let written = format!("versions:\n- name: one\n{element}- name: two\n{element}");
    let own = anchored.replace("# of the schema", "# of our schema");
    check(&pod(&anchored), &pod(&own), &pod(&written), &pod(&own));
}

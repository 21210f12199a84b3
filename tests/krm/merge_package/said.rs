//! What a merge says, and what it takes for a change.

use super::*;

fn pod(mounts: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: app\n    volumeMounts:\n{mounts}"
    )
}

fn said_of(texts: [&str; 3], fields: &str) -> Vec<String> {
    let files = texts.map(|text| [("p.yaml", text)]);
    merge_files([&files[0], &files[1], &files[2]], fields).1
}

/// A volume is mounted twice: only the path tells which mount was removed.
#[test]
fn a_removed_element_is_named_by_its_key() {
    let (a, b) = (
        "    - name: data\n      mountPath: /a\n",
        "    - name: data\n      mountPath: /b\n",
    );
    let base = pod(&format!("{a}{b}"));
    let (local, upstream) = (pod(&format!("{a}{}      readOnly: true\n", b)), pod(a));
    let said = said_of([&base, &local, &upstream], "");
    assert!(
        said[0].contains("upstream removed the element `/b`, local changed it ("),
        "{said:?}"
    );
    let said = said_of([&base, &upstream, &local], "");
    assert!(
        said[0].contains("local removed the element `/b`, upstream changed it ("),
        "{said:?}"
    );
}

#[test]
fn a_removed_list_is_reported_as_one_change() {
    let of = |args: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: app\n    image: a\n{args}"
        )
    };
    let (base, local, upstream) = (of("    args: [a]\n"), of("    args: [a, b]\n"), of(""));
    let said = said_of([&base, &local, &upstream], "");
    assert!(
        said[0].contains("upstream removed the list within `app`, local changed it"),
        "{said:?}"
    );
}

#[test]
fn additions_to_a_removed_part_are_reported() {
    let of = |limits: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: app\n    image: a\n{limits}"
        )
    };
    let with = |limits: &str| of(&format!("    resources:\n      limits: {limits}\n"));
    let (base, more, none) = (with("{cpu: 1}"), with("{cpu: 1, memory: 1Gi}"), of(""));
    let said = said_of([&base, &more, &none], "");
    assert!(
        said[0].contains("upstream removed the parent of the value within `app`, local added it ("),
        "{said:?}"
    );
    let said = said_of([&base, &none, &more], "");
    assert!(
        said[0].contains("local removed the parent of the value within `app`, upstream added it ("),
        "{said:?}"
    );
}

#[test]
fn changed_files_that_are_not_krm_prevent_a_fast_forward() {
    let a = map("a", "{x: a}");
    let run = |notes: [Option<&str>; 3], fields: &str| {
        let files = notes.map(|notes| {
            let notes = notes.map(|notes| ("notes.txt", notes));
            [("a.yaml", a.as_str())]
                .into_iter()
                .chain(notes)
                .collect::<Vec<_>>()
        });
        merge_files([&files[0], &files[1], &files[2]], fields).1
    };
    let counted = |notes, counts: &str| {
        let said = run(notes, "");
        assert_eq!(
            said,
            [format!("[info] merged: {counts}, 0 moved, 0 conflicts")]
        );
    };
    counted([None, None, Some("n")], "0 changed, 1 added, 0 removed");
    counted(
        [Some("o"), Some("o"), Some("n")],
        "1 changed, 0 added, 0 removed",
    );
    counted(
        [Some("o"), Some("o"), None],
        "0 changed, 0 added, 1 removed",
    );
    let said = run(
        [Some("o"), Some("mine"), Some("o")],
        "strategy: fast-forward\n",
    );
    assert!(
        said[0].starts_with("[error] notes.txt: ") && said[0].ends_with("(LocalChanges)"),
        "{said:?}"
    );
}

/// The strategies that overwrite local changes do so in files that are not KRM, too.
#[test]
fn files_that_are_not_krm_are_overwritten() {
    let a = map("a", "{x: a}");
    let notes = |text| [("a.yaml", a.as_str()), ("notes.txt", text)];
    for (strategy, stands) in [
        ("resource-merge", "mine"),
        ("copy-merge", "old"),
        ("force-delete-replace", "old"),
    ] {
        let sources: [&[(&str, &str)]; 3] = [&notes("old"), &notes("mine"), &notes("old")];
        let (files, said) = merge_files(sources, &format!("strategy: {strategy}\n"));
        assert_eq!(files["notes.txt"], stands, "{strategy}");
        let warned = format!("notes.txt: `{strategy}` overwrites local changes");
        let is_said = said.iter().any(|line| line.contains(&warned));
        assert_eq!(is_said, stands == "old", "{said:?}");
    }
}

/// A file that upstream has in the place of a resource of local cannot be copied over it: nothing is lost silently.
#[test]
fn a_file_that_takes_the_place_of_a_resource_is_reported() {
    let [a, b] = ["a", "b"].map(|name| map(name, "{x: a}"));
    let upstream = [("a.yaml", a.as_str()), ("b.yaml", "values: 1\n")];
    for strategy in ["resource-merge", "copy-merge"] {
        let sources: [&[(&str, &str)]; 3] = [
            &upstream[..1],
            &[("a.yaml", a.as_str()), ("b.yaml", b.as_str())],
            &upstream,
        ];
        let (files, said) = merge_files(sources, &format!("strategy: {strategy}\n"));
        assert_eq!(files["b.yaml"], b, "{strategy}");
        let told = "b.yaml: local and upstream both changed the file: kept your version";
        assert!(
            said.iter().any(|line| line.contains(told)),
            "{strategy}: {said:?}"
        );
    }
}

#[test]
fn comments_that_only_upstream_changed_count_as_a_change() {
    let [old, new] = ["old", "new"].map(|comment| map("a", &format!("{{x: a}} # {comment}")));
    let (files, said) = merge_files(
        [
            &[("a.yaml", &old)],
            &[("a.yaml", &old)],
            &[("a.yaml", &new)],
        ],
        "",
    );
    assert_eq!(files["a.yaml"], new);
    assert_eq!(
        said,
        ["[info] merged: 1 changed, 0 added, 0 removed, 0 moved, 0 conflicts"]
    );
}

/// Each side turned two of three elements round: the three orders are a cycle.
#[test]
fn an_order_in_conflict_names_the_elements() {
    let pod = |names: &str| {
        let containers = names.chars().map(|name| format!("  - {{name: {name}}}\n"));
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n{}",
            containers.collect::<String>()
        )
    };
    let [base, local, upstream] = ["abc", "bac", "acb"].map(pod);
    let said = said_of([&base, &local, &upstream], "");
    assert!(
        said[0].contains("order") && said[0].contains(r#"["b","a","c"]"#),
        "{said:?}"
    );
}

/// The one that removed all is the one that a rule takes: what the other added goes with it.
#[test]
fn a_rule_decides_over_what_was_added_to_something_removed() {
    let of = |resources: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: app\n    image: a\n{resources}"
        )
    };
    let with = |limits: &str| of(&format!("    resources:\n      limits: {limits}\n"));
    let (base, more, none) = (with("{cpu: 1}"), with("{cpu: 1, memory: 1Gi}"), of(""));
    let alone = of("    resources:\n      limits:\n        memory: 1Gi\n");
    for (versions, taken, stands) in [
        ([&base, &more, &none], "upstream", &none),
        ([&base, &none, &more], "local", &none),
        ([&base, &more, &none], "local", &with("{memory: 1Gi}")),
        ([&base, &none, &more], "upstream", &alone),
    ] {
        let files = versions.map(|text| [("p.yaml", text.as_str())]);
        let rule = format!("conflicts:\n- {{take: {taken}}}\n");
        let (files, said) = merge_files([&files[0], &files[1], &files[2]], &rule);
        assert_eq!(&files["p.yaml"], stands, "{taken}: {said:?}");
    }
}

/// Upstream's value of a mapping that is one value comes into local's text, with the comments of what stays.
#[test]
fn comments_in_a_value_that_upstream_changed_stay() {
    let policy = |spec: &str| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: n\nspec:\n{spec}"
        )
    };
    for (base, local, upstream, merged) in [
        // A selector: its entries by their keys.
        (
            "  podSelector:\n    matchLabels:\n      a: x\n      b: y\n",
            "  podSelector:\n    matchLabels:\n      a: x\n      b: y # ours\n",
            "  podSelector:\n    matchLabels:\n      a: z\n      b: y\n      c: w\n",
            "  podSelector:\n    matchLabels:\n      a: z\n      b: y # ours\n      c: w\n",
        ),
        // A list of rules without names: one became another with half of its fields.
        (
            "  ingress:\n  - a: 1\n    b: 2\n    c: 3\n",
            "  ingress:\n  - a: 1\n    b: 2 # ours\n    c: 3\n",
            "  ingress:\n  - a: 1\n    b: 2\n    c: 4\n    d: 5\n",
            "  ingress:\n  - a: 1\n    b: 2 # ours\n    c: 4\n    d: 5\n",
        ),
        // Or it is another one.
        (
            "  ingress:\n  - a: 1\n    b: 2\n    c: 3\n",
            "  ingress:\n  - a: 1\n    b: 2\n    c: 3 # ours\n",
            "  ingress:\n  - a: 1\n    d: 2\n    e: 4\n    f: 5\n",
            "  ingress:\n  - a: 1\n    d: 2\n    e: 4\n    f: 5\n",
        ),
    ] {
        let files = [base, local, upstream].map(|text| [("n.yaml", policy(text))]);
        let files = files
            .each_ref()
            .map(|[(path, text)]| [(*path, text.as_str())]);
        let (files, said) = merge_files([&files[0], &files[1], &files[2]], "");
        assert_eq!(files["n.yaml"], policy(merged), "{said:?}");
    }
}

/// Fields of a Service that exclude each other are decided together.
#[test]
fn the_affinity_of_a_service_is_one_decision() {
    let service = |affinity: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\nspec:\n{affinity}")
    };
    let base = service(
        "  sessionAffinity: ClientIP\n  sessionAffinityConfig: {clientIP: {timeoutSeconds: 1}}\n",
    );
    let local = service(
        "  sessionAffinity: ClientIP\n  sessionAffinityConfig: {clientIP: {timeoutSeconds: 2}}\n",
    );
    let upstream = service("  sessionAffinity: None\n");
    for (winner, stands) in [("local", &local), ("upstream", &upstream)] {
        let files = [&base, &local, &upstream].map(|text| [("s.yaml", text.as_str())]);
        let fields = format!("onConflict: {winner}\n");
        let (files, said) = merge_files([&files[0], &files[1], &files[2]], &fields);
        assert_eq!(&files["s.yaml"], stands, "{said:?}");
        assert_eq!(conflicts(&said).len(), 1, "{said:?}");
    }
}

/// Resources of one name in two namespaces are two.
#[test]
fn namespaces_distinguish_resources() {
    let of = |namespace: &str, data: &str| {
        map("a", data).replace("name: a", &format!("name: a\n  namespace: {namespace}"))
    };
    let both = |one: &str, other: &str| [("a.yaml", of("one", one)), ("b.yaml", of("two", other))];
    let versions = [
        both("{x: 1}", "{x: 1}"),
        both("{x: 1, l: 1}", "{x: 1}"),
        // Upstream has them in each other's files.
        [
            ("a.yaml", of("two", "{x: 2}")),
            ("b.yaml", of("one", "{x: 3}")),
        ],
    ];
    let files = versions
        .each_ref()
        .map(|files| files.each_ref().map(|(path, text)| (*path, text.as_str())));
    let (files, said) = merge_files([&files[0], &files[1], &files[2]], "");
    assert_eq!(conflicts(&said), Vec::<&String>::new());
    assert_eq!(files["b.yaml"], of("one", "{x: 3, l: 1}"));
    assert_eq!(files["a.yaml"], of("two", "{x: 2}"));
}

/// What `kpt` itself writes into a root Kptfile is no local change.
#[test]
fn a_fast_forward_ignores_differences_of_the_lock() {
    let with = |lock: &str| format!("{}{lock}", kptfile("p"));
    let lock = |commit: &str| {
        format!(
            "upstreamLock:\n  type: git\n  git: {{repo: r, directory: d, ref: v1, commit: {commit}}}\n"
        )
    };
    let (a, b) = (map("a", "{x: a}"), map("a", "{x: b}"));
    let run = |local: &str| {
        let base = with(&lock("c1"));
        merge_files(
            [
                &[("Kptfile", &base), ("a.yaml", &a)],
                &[("Kptfile", local), ("a.yaml", &a)],
                &[("Kptfile", &base), ("a.yaml", &b)],
            ],
            "strategy: fast-forward\n",
        )
    };
    let (files, said) = run(&with(&lock("c2")));
    assert_eq!(files["a.yaml"], b, "{said:?}");
    let (files, said) = run(&with(&format!(
        "{}info: {{description: mine}}\n",
        lock("c1")
    )));
    assert_eq!(files["a.yaml"], a);
    assert!(said[0].ends_with("(LocalChanges)"), "{said:?}");
}

#[test]
fn a_rules_file_with_local_resources_is_kept() {
    let (a, b, c) = (map("a", "{x: a}"), map("b", "{x: b}"), map("c", "{x: c}"));
    let both = format!("{a}---\n{b}");
    let (files, said) = merge_files(
        [
            &[("c.yaml", &c), ("v.yaml", &a)],
            &[("c.yaml", &c), ("v.yaml", &both)],
            &[("c.yaml", &c), ("v.yaml", "x: 1\n")],
        ],
        "conflicts:\n- {take: upstream}\n",
    );
    assert_eq!(files["v.yaml"], b);
    assert!(
        said[0].starts_with("[warning] v.yaml: ") && said[0].contains("kept your version"),
        "{said:?}"
    );
}

#[test]
fn long_values_are_cut_around_the_difference() {
    let long = "x".repeat(400);
    let texts = ["1", "2", "3"].map(|end| map("a", &format!("{{v: {long}{end}}}")));
    let files = texts.each_ref().map(|text| [("p.yaml", text.as_str())]);
    let sources: [&[(&str, &str)]; 3] = [&files[0], &files[1], &files[2]];
    let (_, results) = crate::merge_cases::merge_with_results(sources, "");
    let result = results.iter().next().expect("a conflict");
    let message = result.message.to_string();
    for (version, digit) in ["original", "local", "upstream"]
        .into_iter()
        .zip(["1", "2", "3"])
    {
        let tag = result.tags.iter().find(|(name, _)| name == version);
        let (_, text) = tag.expect("a version");
        assert!(text.contains(digit) && text.len() < 270, "{text}");
        assert!(message.contains(&format!("x{digit}\"")), "{}", message);
    }
    assert!(message.len() < 350, "{message}");
}

#[test]
fn after_an_error_the_summary_counts_what_would_have_changed() {
    let texts = [
        map("a", "{x: a, y: 1}"),
        map("a", "{x: b, y: 1}"),
        map("a", "{x: c, y: 2}"),
    ];
    let said = said_of(texts.each_ref().map(String::as_str), "onConflict: error\n");
    assert_eq!(
        said[1],
        "[info] not merged: 1 would change, 0 would be added, 0 removed, 0 moved, 1 conflict"
    );
}

/// `namespace: ""` is an absent namespace, for every function that writes identifiers.
#[test]
fn an_empty_namespace_is_left_out_of_upstream_identifiers() {
    let annotated = map("l", "{}").replace(
        "\ndata:",
        "\n  annotations:\n    internal.kpt.dev/upstream-identifier: '|ConfigMap|default|l'\ndata:",
    );
    let new = map("a", "{}").replace("name: a", "name: a\n  namespace: \"\"");
    let old = map("l", "{}");
    let (files, _) = merge_files(
        [
            &[("l.yaml", &old)],
            &[("l.yaml", &annotated)],
            &[("l.yaml", &old), ("a.yaml", &new)],
        ],
        "",
    );
    assert!(
        files["a.yaml"].contains("|ConfigMap|default|a"),
        "{}",
        files["a.yaml"]
    );
}

/// Two errors of one run: a sub-package on both sides, and a conflict elsewhere.
#[test]
fn one_error_does_not_hide_the_others() {
    let root = kptfile("root");
    let (s, x, y) = (kptfile("s"), map("a", "{x: x}"), map("a", "{x: y}"));
    let field = |value: &str| map("f", &format!("{{v: {value}}}"));
    let (f, mine, theirs) = (field("1"), field("2"), field("3"));
    let (_, said) = merge_files(
        [
            &[("Kptfile", &root), ("f.yaml", &f)],
            &[
                ("Kptfile", &root),
                ("f.yaml", &mine),
                ("s/Kptfile", &s),
                ("s/a.yaml", &x),
            ],
            &[
                ("Kptfile", &root),
                ("f.yaml", &theirs),
                ("s/Kptfile", &s),
                ("s/a.yaml", &y),
            ],
        ],
        "onConflict: error\n",
    );
    let errors = said.iter().filter(|line| line.starts_with("[error]"));
    assert_eq!(errors.count(), 2, "{said:?}");
}

/// `kpt pkg get` of a package without a Kptfile makes one: that is no local change.
#[test]
fn a_fast_forward_takes_the_kptfile_of_kpt_pkg_get() {
    let made = format!(
        "{}upstream:\n  type: git\n  git: {{repo: r, directory: d, ref: v1}}\nupstreamLock:\n  type: git\n  git: {{repo: r, directory: d, ref: v1, commit: c}}\n",
        kptfile("p")
    );
    let (a, b) = (map("a", "{x: a}"), map("a", "{x: b}"));
    let run = |made: &str| {
        merge_files(
            [
                &[("a.yaml", &a)],
                &[("Kptfile", made), ("a.yaml", &a)],
                &[("a.yaml", &b)],
            ],
            "strategy: fast-forward\n",
        )
    };
    let (files, said) = run(&made);
    assert_eq!(
        (&files["a.yaml"], &files["Kptfile"]),
        (&b, &made),
        "{said:?}"
    );
    let (_, said) = run(&format!("{made}info: {{description: mine}}\n"));
    assert!(said[0].ends_with("(LocalChanges)"), "{said:?}");
}

/// The package context is made by kpt: an upstream without one does not take it away.
#[test]
fn a_package_context_survives_an_upstream_without_one() {
    let root = kptfile("root");
    let context = map("kptfile.kpt.dev", "{name: root}");
    let (a, b) = (map("a", "{x: a}"), map("a", "{x: b}"));
    let (files, said) = merge_files(
        [
            &[("Kptfile", &root), ("a.yaml", &a)],
            &[
                ("Kptfile", &root),
                ("package-context.yaml", &context),
                ("a.yaml", &a),
            ],
            &[("Kptfile", &root), ("a.yaml", &b)],
        ],
        "strategy: force-delete-replace\n",
    );
    assert_eq!(files["package-context.yaml"], context, "{said:?}");
    assert_eq!(files["a.yaml"], b);
}

//! Texts and files that are not KRM: documents by their fields, other text by lines.

use expect_test::expect;
use indoc::indoc;
use std::process::Command;

use krm_function::{Inputs, Items, SuppliedInput, run};

use super::*;

/// Merges one file; gives it and the lines that are no summary.
fn merge_file(path: &str, texts: [&str; 3], fields: &str) -> (String, Vec<String>) {
    let files = texts.map(|text| [(path, text)]);
    let (found, mut said) = merge_files([&files[0], &files[1], &files[2]], fields);
    said.retain(|line| !line.starts_with("[info] merged: "));
    (found[path].clone(), said)
}

#[test]
fn a_file_merges_by_lines() {
    let base = "# Notes\n\none\ntwo\nthree\n";
    let (local, upstream) = (
        "# Our notes\n\none\ntwo\nthree\n",
        indoc! {"
            # Notes

            one
            two
            three
            four
        "},
    );
    let (found, said) = merge_file("NOTES.md", [base, local, upstream], "");
    expect![[r#"
        # Our notes

        one
        two
        three
        four
    "#]]
    .assert_eq(&found);
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
}

#[test]
fn lines_that_both_changed_are_separate_conflicts() {
    let texts = [
        "a\nb\nc\nd\ne\n",
        indoc! {"
            A
            b
            c
            x
            y
            e
        "},
        indoc! {"
            a
            b
            c
            z
            e
            f
        "},
    ];
    let (found, said) = merge_file("a.txt", texts, "");
    expect![[r#"
        A
        b
        c
        z
        e
        f
    "#]]
    .assert_eq(&found);
    assert_eq!(
        conflicts(&said),
        [
            "[warning] a.txt: local and upstream both changed line 4 (original \"d\\n\", local \"x\\ny\\n\", \
             upstream \"z\\n\"): kept upstream's value (MergeConflict)"
        ]
    );
    let (found, said) = merge_file("a.txt", texts, "onConflict: local\n");
    expect![[r#"
        A
        b
        c
        x
        y
        e
        f
    "#]]
    .assert_eq(&found);
    assert!(
        conflicts(&said)[0].contains("both changed lines 4-5 "),
        "{said:?}"
    );
    let (found, _) = merge_file("a.txt", texts, "onConflict: error\n");
    assert_eq!(found, texts[1]);
}

#[test]
fn a_file_with_crlf_takes_lines_with_lf() {
    let texts = ["a\nb\nc\nd\n", "a\r\nB\r\nc\r\nd\r\n", "a\nb\nc\nD\n"];
    let (found, said) = merge_file("a.txt", texts, "");
    assert_eq!(found, "a\r\nB\r\nc\r\nD\r\n");
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
}

#[test]
fn a_binary_file_stays_with_a_conflict() {
    let texts = ["\0a\nb\nc\n", "\0A\nb\nc\n", "\0a\nb\nC\n"];
    let (found, said) = merge_file("logo.png", texts, "");
    assert_eq!(found, texts[1]);
    assert!(
        conflicts(&said)[0].ends_with("both changed the file: kept your version (MergeConflict)")
    );
}

#[test]
fn values_merge_as_documents() {
    let base = indoc! {"
        image:
          tag: v1   # set by CI
        replicas: 1

        # Limits
        resources: {}
    "};
    let local = indoc! {"
        image:
          tag: v1   # set by CI
        replicas: 5 # ours

        # Limits
        resources: {}
    "};
    let upstream = "replicas: 1\nimage:\n  tag: v2   # set by CI\nresources: {cpu: 1}\n";
    let (found, said) = merge_file("values.yaml", [base, local, upstream], "");
    assert!(
        found.contains("  tag: v2   # set by CI\n") && found.contains("replicas: 5 # ours\n"),
        "{found}"
    );
    assert!(found.contains("cpu: 1"), "{found}");
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
    // A conflict is one of a field.
    let upstream = base
        .replace("replicas: 1", "replicas: 3")
        .replace("v1", "v2");
    let (found, said) = merge_file("values.yaml", [base, local, &upstream], "");
    assert_eq!(
        found,
        local
            .replace("replicas: 5", "replicas: 3")
            .replace("v1", "v2")
    );
    assert_eq!(
        conflicts(&said),
        [
            "[warning] values.yaml: replicas: local and upstream both changed the value (original 1, local 5, \
             upstream 3): kept upstream's value (MergeConflict)"
        ]
    );
}

#[test]
fn json_stays_json() {
    let texts = [
        "{\n  \"title\": \"a\",\n  \"rows\": 1\n}\n",
        "{\n  \"title\": \"mine\",\n  \"rows\": 1\n}\n",
        "{\n  \"title\": \"a\",\n  \"rows\": 2\n}",
    ];
    let (found, said) = merge_file("d.json", texts, "");
    expect![[r#"
        {
          "title": "mine",
          "rows": 2
        }
    "#]]
    .assert_eq(&found);
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
}

/// Lines of which every one fits, and all together do not.
#[test]
fn a_merge_by_lines_stays_yaml() {
    let texts = [
        "a: 1\n---\nb: 1\nc: 1\n",
        "a: 1\nx: 1\n---\nb: 1\nc: 1\n",
        "x: 2\na: 1\n---\nb: 1\nc: 1\n",
    ];
    let (found, said) = merge_file("two.yaml", texts, "");
    assert_eq!(found, texts[1]);
    assert!(
        conflicts(&said)[0].contains("both changed the file"),
        "{said:?}"
    );
    let upstream = "a: 1\n---\nb: 1\nc: 2\n";
    let (found, _) = merge_file("two.yaml", [texts[0], texts[1], upstream], "");
    expect![[r#"
        a: 1
        x: 1
        ---
        b: 1
        c: 2
    "#]]
    .assert_eq(&found);
}

/// Merges packages in memory; gives the files and the lines that are no summary.
fn merge_packages(packages: [&[(&str, &str)]; 3]) -> Result<(Files, Vec<String>), String> {
    let [original, local, upstream] = packages.map(|files| -> Files {
        let files = files.iter();
        files
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect()
    });
    let inputs = Inputs {
        supplied: vec![
            (Role::Original, SuppliedInput::Files(original)),
            (Role::Upstream, SuppliedInput::Files(upstream)),
        ],
        ..Inputs::default()
    };
    let local = local
        .into_iter()
        .map(|(path, text)| (path, text.into_bytes()));
    let outcome = run(&FUNCTION, inputs, Items::Package(local.collect()));
    let outcome = outcome.map_err(|error| error.to_string())?;
    let Items::Package(files) = outcome.items else {
        panic!("a package stays one");
    };
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let files = files.into_iter().map(|(path, bytes)| (path, text(bytes)));
    let said = outcome.results.iter().map(ToString::to_string);
    let said = said.filter(|line| !line.starts_with("[info] merged: "));
    Ok((files.collect(), said.collect()))
}

#[test]
fn a_template_merges_by_lines() {
    let base = "kind: {{ .Kind }}\n{{ if .Values.x }}\nx: 1\n{{ end }}\ny: 1\n";
    let (local, upstream) = (base.replace("x: 1", "x: 2"), base.replace("y: 1", "y: 2"));
    let other = map("a", "{x: a}");
    let changed = map("a", "{x: b}");
    let (files, said) = merge_packages([
        &[("t/a.yaml", base), ("b.yaml", &other)],
        &[("t/a.yaml", &local), ("b.yaml", &other)],
        &[("t/a.yaml", &upstream), ("b.yaml", &changed)],
    ])
    .expect("merged");
    assert_eq!(files["t/a.yaml"], local.replace("y: 1", "y: 2"));
    assert_eq!(files["b.yaml"], changed);
    let [warning, combined] = &said[..] else {
        panic!("{said:?}");
    };
    assert!(combined.contains(": combined local's"), "{combined}");
    assert!(
        warning.starts_with(
            "[warning] t/a.yaml: merged as text, since the local file is not YAML: line 2"
        ),
        "{said:?}"
    );
    assert!(warning.ends_with("(NotYaml)"), "{said:?}");
    // One side alone: nothing is to be said.
    let (files, said) = merge_packages([
        &[("a.yaml", base)],
        &[("a.yaml", &local)],
        &[("a.yaml", base)],
    ])
    .expect("merged");
    assert_eq!((files["a.yaml"].as_str(), said.len()), (local.as_str(), 0));
}

#[test]
fn a_file_that_one_version_broke_is_text_in_all() {
    let base = map("a", "{x: a}") + "# end\n# of it\n# all\n";
    let local = base.replace("# all", "# mine");
    let broken = base.replace("x: a}", "x: [b}");
    let (files, said) = merge_packages([
        &[("a.yaml", &base)],
        &[("a.yaml", &local)],
        &[("a.yaml", &broken)],
    ])
    .expect("merged");
    assert_eq!(files["a.yaml"], local.replace("x: a}", "x: [b}"));
    let is_it = |line: &String| line.contains("the upstream file is not YAML");
    assert!(
        said.iter().any(is_it) && conflicts(&said).is_empty(),
        "{said:?}"
    );
    // Local did not touch it, or deleted it.
    let (files, _) = merge_packages([
        &[("a.yaml", &base)],
        &[("a.yaml", &base)],
        &[("a.yaml", &broken)],
    ])
    .expect("merged");
    assert_eq!(files["a.yaml"], broken);
    let (files, said) = merge_packages([
        &[("a.yaml", &base), ("b", "")],
        &[("b", "")],
        &[("a.yaml", &broken), ("b", "")],
    ])
    .expect("merged");
    assert_eq!(keys(&files), ["b"]);
    assert!(
        said.iter().any(|line| line.ends_with("(StaysDeleted)")),
        "{said:?}"
    );
}

#[test]
fn duplicate_keys_make_a_text_but_no_kptfile() {
    for path in ["a.yaml", "Kptfile"] {
        for text in ["a: 1\na: 2\n", "a: [\n"] {
            let is_error = path == "Kptfile";
            let good = [("b.txt", ""), (path, "a: 1\n")];
            for at in 0..3 {
                let mut packages = [&good[..]; 3];
                let bad = [("b.txt", ""), (path, text)];
                packages[at] = &bad;
                let merged = merge_packages(packages);
                assert_eq!(
                    merged.is_err(),
                    is_error,
                    "{path} {text:?} {at}: {merged:?}"
                );
            }
        }
    }
}

fn config_map(key: &str, text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| format!("    {line}\n").replace("    \n", "\n"));
    let text: String = lines.collect();
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  {key}: | # ours\n{text}  end: x\n"
    )
}

/// Merges the text of a ConfigMap's key; gives the file, and the lines that are no summary.
fn merge_text(key: &str, texts: [&str; 3], fields: &str) -> (String, Vec<String>) {
    let texts = texts.map(|text| config_map(key, text));
    merge_file("a.yaml", texts.each_ref().map(String::as_str), fields)
}

#[test]
fn a_document_is_combined_only_if_each_side_brought_something() {
    let said = |texts: [&str; 3]| {
        let texts = texts.map(|text| text.replace(' ', "\n").replace(':', ": "));
        merge_text("c.yaml", texts.each_ref().map(String::as_str), "").1
    };
    // The list is one conflict, so nothing is combined.
    let found = said(["b:[1,2,3] c:1", "b:[1,1,3] c:1", "b:[1,m,3] c:1"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(conflicts(&found).len(), 1, "{found:?}");
    // Upstream's document has everything that local changed.
    assert_eq!(said(["b:[m] c:1", "b:[m,3] c:1", "b:[3] c:2"]), [""; 0]);
    // Local's list has a conflict, and local's other change is combined with upstream's.
    let found = said([
        "b:[1,2,3] c:1 d:1",
        "b:[1,1,3] c:2 d:1",
        "b:[1,m,3] c:1 d:3",
    ]);
    let expected = r#"combined local's {"c":2} with upstream's {"d":3}"#;
    assert!(
        found.iter().any(|said| said.contains(expected)),
        "{found:?}"
    );
}

#[test]
fn a_document_in_a_string_merges_by_its_fields() {
    let base = indoc! {"
        # Settings
        level: info   # of logs

        server:
            port: 80
            hosts: [a, b]
    "};
    let local = base.replace("level: info ", "level: \"debug\" ");
    let upstream = base
        .replace("port: 80", "port: 8080")
        .replace("# Settings", "# New settings");
    let (found, said) = merge_text("c.yaml", [base, &local, &upstream], "");
    let both = local
        .replace("port: 80", "port: 8080")
        .replace("# Settings", "# New settings");
    assert_eq!(found, config_map("c.yaml", &both));
    assert_eq!(
        said,
        [
            "[info] a.yaml: ConfigMap/a: data[\"c.yaml\"]: combined local's {\"level\":\"debug\"} with \
             upstream's {\"server.port\":8080} (Combined)"
        ]
    );
    // A conflict is one of the inner field.
    let upstream = upstream.replace("info", "warn");
    let (found, said) = merge_text("c.yaml", [base, &local, &upstream], "onConflict: local\n");
    assert_eq!(found, config_map("c.yaml", &both));
    assert!(
        conflicts(&said)[0]
            .contains("both changed `level` of the value (original \"info\", local \"debug\""),
        "{said:?}"
    );
    // As one value, as before.
    let (found, said) = merge_text("c.yaml", [base, &local, &upstream], "combine: none\n");
    assert_eq!(found, config_map("c.yaml", &upstream));
    assert_eq!((said.len(), conflicts(&said).len()), (1, 1), "{said:?}");
}

#[test]
fn json_in_a_string_keeps_its_bytes() {
    let base = "{\"title\": \"a\",\n  \"panels\": [ {\"id\":1} ], \"rows\":1 }\n";
    let local = base.replace("\"a\"", "\"mine\"");
    let upstream = base.replace("\"rows\":1", "\"rows\":2");
    let (found, said) = merge_text("d.json", [base, &local, &upstream], "");
    assert_eq!(
        found,
        config_map("d.json", &local.replace("\"rows\":1", "\"rows\":2"))
    );
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
    // On one line, in quotes.
    let quoted = |text: &str| {
        format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  annotations:\n    x: '{text}'\n")
    };
    let texts = [
        "{\"a\":1,\"b\":1}",
        "{\"a\":2,\"b\":1}",
        "{\"a\":1,\"b\":2}",
    ]
    .map(quoted);
    let (found, _) = merge_file("a.yaml", texts.each_ref().map(String::as_str), "");
    assert_eq!(found, quoted("{\"a\":2,\"b\":2}"));
}

#[test]
fn a_script_in_a_string_merges_by_lines() {
    let base = "#!/bin/sh\nset -e\n\nrun one\nrun two\n";
    let local = base.replace("set -e", "set -eu");
    let upstream = base.replace("run two\n", "run two\nrun three\n");
    let (found, said) = merge_text("run.sh", [base, &local, &upstream], "");
    assert_eq!(
        found,
        config_map(
            "run.sh",
            &local.replace("run two\n", "run two\nrun three\n")
        )
    );
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(": combined local's"), "{said:?}");
    let upstream = upstream.replace("run one", "run 1");
    let local = local.replace("run one", "run first");
    let (found, said) = merge_text("run.sh", [base, &local, &upstream], "onConflict: local\n");
    assert_eq!(
        found,
        config_map(
            "run.sh",
            &local.replace("run two\n", "run two\nrun three\n")
        )
    );
    assert_eq!(conflicts(&said).len(), 1, "{said:?}");
    assert!(
        conflicts(&said)[0].contains("upstream \"run 1\\n\")"),
        "{said:?}"
    );
}

/// Templates are no documents: their braces are not to be printed anew.
#[test]
fn a_template_in_a_string_merges_by_lines() {
    let base = "{{ if .x }}\na: 1\n{{ end }}\nb: {{ .b }}\nc: 1\n";
    let (local, upstream) = (
        base.replace("a: 1", "a: 2"),
        base.replace(".b }}", ".new }}"),
    );
    let (found, said) = merge_text("t.tpl", [base, &local, &upstream], "");
    assert_eq!(
        found,
        config_map("t.tpl", &local.replace(".b }}", ".new }}"))
    );
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
    let base = "a: {{ .a }}\nb: {{ .b }}\n\nc: 1\n";
    let (local, upstream) = (
        base.replace("c: 1", "c: 2"),
        base.replace(".b }}", ".new | quote }}"),
    );
    let (found, said) = merge_text("t.yaml", [base, &local, &upstream], "");
    assert_eq!(
        found,
        config_map("t.yaml", &local.replace(".b }}", ".new | quote }}"))
    );
    assert_eq!(conflicts(&said).len(), 0, "{said:?}");
}

#[test]
fn images_at_the_ends_of_lines_merge_by_their_parts() {
    let base = "3.8.0=quay.io/strimzi/kafka:0.45\n3.9.0=quay.io/strimzi/kafka:0.45\n";
    let local = base.replace("quay.io/strimzi", "mirror");
    let upstream = "3.9.0=quay.io/strimzi/kafka:0.46\n4.0.0=quay.io/strimzi/kafka:0.46\n";
    let (found, said) = merge_text("images", [base, &local, upstream], "");
    assert!(
        found.contains("    3.9.0=mirror/kafka:0.46\n    4.0.0=quay.io/strimzi/kafka:0.46\n"),
        "{found}"
    );
    // Upstream removed the line that local changed.
    assert_eq!(conflicts(&said).len(), 1, "{said:?}");
    assert!(conflicts(&said)[0].contains("3.8.0"), "{said:?}");
    let (_, said) = merge_text("images", [base, &local, upstream], "combine: text\n");
    assert!(conflicts(&said)[0].contains("3.9.0"), "{said:?}");
}

#[test]
fn texts_in_other_styles_stay_in_them() {
    let file = |text: &str| {
        format!("apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n  text: {text}\n  end: 1\n")
    };
    for texts in [
        [
            "\"a\\nb\\nc\\nd\\n\"",
            "\"A\\nb\\nc\\nd\\n\"",
            "\"a\\nb\\nc\\nD\\n\"",
            "\"A\\nb\\nc\\nD\\n\"",
        ],
        [
            indoc! {"
                >
                    a

                    b

                    c

                    d"},
            indoc! {"
                >
                    A

                    b

                    c

                    d"},
            indoc! {"
                >
                    a

                    b

                    c

                    D"},
            indoc! {"
                >
                    A

                    b

                    c

                    D"},
        ],
        [
            "|-\n    a\n    b\n    c\n    d",
            "|-\n    A\n    b\n    c\n    d",
            "|-\n    a\n    b\n    c\n    D",
            "|-\n    A\n    b\n    c\n    D",
        ],
        [
            "|+\n    a\n    b\n    c\n    d\n",
            "|+\n    A\n    b\n    c\n    d\n",
            "|+\n    a\n    b\n    c\n    D\n",
            "|+\n    A\n    b\n    c\n    D\n",
        ],
    ] {
        let [base, local, upstream, merged] = texts.map(file);
        let (found, said) = merge_file("a.yaml", [&base, &local, &upstream], "");
        assert_eq!(found, merged, "{said:?}");
        assert_eq!(conflicts(&said).len(), 0, "{said:?}");
    }
}

/// A generator of numbers below a bound.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn edited(&mut self, lines: &[String], words: usize) -> String {
        let mut lines = lines.to_vec();
        for _ in 0..self.below(5) {
            let at = self.below(lines.len() + 1);
            let line = format!("line {}", self.below(words));
            match self.below(3) {
                0 => lines.insert(at, line),
                1 => lines.truncate(at.max(1)),
                _ if at < lines.len() => lines[at] = line,
                _ => lines.push(line),
            }
        }
        let end = if self.below(5) > 0 { "\n" } else { "" };
        lines.join("\n") + end
    }
}

/// Both outcomes of many merges are those of `git merge-file`, and so is whether there is a conflict.
#[test]
fn lines_merge_as_git_merges_them() {
    let mut numbers = Numbers(88_172_645_463_325_252);
    let texts = |numbers: &mut Numbers| {
        let words = [3, 8, 40, 1000][numbers.below(4)];
        let count = 1 + numbers.below(30);
        let lines: Vec<String> = (0..count)
            .map(|_| format!("line {}", numbers.below(words)))
            .collect();
        let base = lines.join("\n") + "\n";
        [
            base,
            numbers.edited(&lines, words),
            numbers.edited(&lines, words),
        ]
    };
    let all: Vec<(String, [String; 3])> = (0..150)
        .map(|number| (format!("{number}.txt"), texts(&mut numbers)))
        .collect();
    let versions = [0, 1, 2].map(|version| {
        let files = all
            .iter()
            .map(|(path, texts)| (path.as_str(), texts[version].as_str()));
        files.collect::<Vec<_>>()
    });
    let directory = tempfile::tempdir().expect("a directory");
    let mut clean = 0;
    for (winner, flag) in [("local", "--ours"), ("upstream", "--theirs")] {
        let fields = format!("onConflict: {winner}\n");
        let (found, said) = merge_files([&versions[0], &versions[1], &versions[2]], &fields);
        for (path, texts) in &all {
            let files = ["base", "local", "upstream"].map(|name| directory.path().join(name));
            for (file, text) in files.iter().zip(texts) {
                std::fs::write(file, text).expect("written");
            }
            let git = |flags: &[&str]| {
                let mut git = Command::new("git");
                git.args(["merge-file", "-p"]).args(flags);
                let files = [&files[1], &files[0], &files[2]];
                git.args(files).output().expect("git runs")
            };
            let expected = String::from_utf8(git(&[flag]).stdout).expect("UTF-8");
            assert_eq!(found[path], expected, "{path} {texts:?}");
            let is_clean = git(&[]).status.success();
            clean += usize::from(is_clean);
            let is_said = said.iter().any(|line| {
                line.contains(&format!(" {path}: ")) && line.ends_with("(MergeConflict)")
            });
            assert_eq!(is_clean, !is_said, "{path} {texts:?}");
        }
    }
    assert!((60..260).contains(&clean), "{clean} of 300 are clean");
}

/// The sides' changes meet in one list, one image or one text of the document.
#[test]
fn each_document_with_the_changes_of_both_sides_is_combined() {
    let base = indoc! {"
        list:
        - name: x
          v: 1
          w: 1
        - name: y
          v: 2
        image: reg/app:1
        lines: |
          one
          two
          three
    "};
    for (local, upstream) in [
        (("w: 1", "w: 5"), ("v: 1", "v: 6")),
        (("  w: 1\n", ""), ("v: 2", "v: 3")),
        (("- name: x\n  v: 1\n  w: 1\n", ""), ("v: 2", "v: 3")),
        (("reg/app", "mirror/app"), ("app:1", "app:2")),
        (("  one", "  ONE"), ("  three", "  THREE")),
    ] {
        let [local, upstream] = [local, upstream].map(|(old, new)| base.replace(old, new));
        let texts = [base.to_owned(), local, upstream];
        let in_resource = texts.each_ref().map(|text| {
            let text: String = text.lines().map(|line| format!("    {line}\n")).collect();
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  c.yaml: |\n{text}"
            )
        });
        for (path, texts) in [("a.yaml", in_resource), ("values.yaml", texts)] {
            let (_, said) = merge_file(path, texts.each_ref().map(String::as_str), "");
            assert_eq!(said.len(), 1, "{path}: {said:?}");
            assert!(said[0].ends_with("(Combined)"), "{path}: {said:?}");
        }
    }
}

#[test]
fn a_file_that_upstream_deleted_and_local_changed_is_reported_as_deleted() {
    let [kptfile, old, new] = [kptfile("p"), "1\n".to_owned(), "2\n".to_owned()];
    let sources: [&[(&str, &str)]; 3] = [
        &[("Kptfile", &kptfile), ("a.txt", &old)],
        &[("Kptfile", &kptfile), ("a.txt", &new)],
        &[("Kptfile", &kptfile)],
    ];
    let (found, said) = merge_files(sources, "");
    assert_eq!(found["a.txt"], new);
    assert!(
        said[0]
            .contains("a.txt: upstream deleted the file, and local changed it: kept your version"),
        "{said:?}"
    );
}

/// It is not a text either.
#[test]
fn a_file_of_too_many_levels_is_an_error() {
    let folder = crate::git::Folder::new(&[]);
    for side in ["original", "local", "upstream"] {
        folder.put(&format!("{side}/Kptfile"), kptfile("p"));
    }
    for levels in [513, 600, 5000] {
        let text = ["a: ", &"[".repeat(levels), &"]".repeat(levels), "\n"].concat();
        folder.put("local/deep.yaml", text);
        let outcome = folder.merge(&["--original", "original", "--upstream", "upstream"]);
        outcome.assert_code(2);
        let expected = "deep.yaml: line 1, column 5";
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("more than 512 nested collections"),
            "{}",
            outcome.stderr
        );
    }
}

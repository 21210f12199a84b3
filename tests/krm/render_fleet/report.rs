//! `--report` and `--join`: the page and the data of a run.

use expect_test::expect_file;
use std::path::Path;

use serde_json::Value;

use super::{Fleet, render_fleet};
use crate::git::{Folder, map};
use crate::running::Outcome;

/// A report as data.
fn data(folder: &Folder, path: &str) -> Value {
    serde_json::from_str(&folder.get(path)).expect("JSON")
}

/// An array in a report.
fn list<'v>(report: &'v Value, name: &str) -> &'v Vec<Value> {
    report[name].as_array().expect(name)
}

/// The page without its style and its script.
fn content(page: &str) -> String {
    let mut page = page.to_owned();
    for tag in ["style", "script"] {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let start = page.find(&open).expect("an inline one") + open.len();
        let end = page.find(&close).expect("its end");
        page.replace_range(start..end, "");
    }
    page
}

/// A report without the command line and the date, in which runs differ.
fn headless(fleet: &Fleet, path: &str) -> String {
    let report = fleet.folder.get(path);
    let is_of_run = |line: &str| {
        ["render-fleet --", "\"date\": ", "<time "]
            .iter()
            .any(|text| line.contains(text))
    };
    let lines = report.lines().filter(|line| !is_of_run(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// A fleet of twelve packages at `v1`, each third with the same local edit.
fn edited() -> Fleet {
    let fleet = Fleet::new();
    let put = |revision: &str| {
        for number in 0..12 {
            let place = format!("r{number}/app");
            fleet.put(&format!("v{number:02}"), revision, &place, "");
        }
    };
    put("v1");
    fleet.expect(&[], 0, &["12 created"]);
    for number in (0..12).step_by(3) {
        let file = format!("fleet/r{number}/app/cm.yaml");
        fleet.edit(&file, "a: \"1\"", "a: \"mine\"");
    }
    put("v2");
    fleet
}

#[test]
fn the_report_of_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let reports = ["report.json", "report.html"];
    let paths = reports.map(|name| folder.path().join(name));
    let mut command = assert_cmd::Command::new(render_fleet());
    command.current_dir(root.join("examples/render-fleet-clusters"));
    let arguments = "--package package --config fn-config.yaml --variants variants --resources repositories.yaml --catalog catalog=catalog --check";
    command.args(arguments.split(' '));
    command.env("SOURCE_DATE_EPOCH", "1798761599");
    for path in &paths {
        command.arg("--report").arg(path);
    }
    let code = command.output().expect("it runs").status.code();
    assert_eq!(code, Some(3));
    for (name, path) in reports.iter().zip(&paths) {
        let found = std::fs::read_to_string(path).expect("a report");
        // The head shows the command line.
        let found = found.replace(&folder.path().display().to_string(), "reports");
        let found = found.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        let found = if name.ends_with("html") {
            content(&found)
        } else {
            found
        };
        let expected = root.join("tests/cases/render_fleet").join(name);
        expect_file![expected].assert_eq(&found);
    }
}

/// The revision of the fleet comes from the user.
#[test]
fn the_head_of_a_report_has_the_date_the_command_and_the_title() {
    let fleet = edited();
    let title = "2026-11-26, fleet at 3f2a1c9 <main>";
    let flags = [
        "--report",
        "r.json",
        "--report",
        "r.html",
        "--report-title",
        title,
    ];
    fleet.expect(&flags, 0, &[]);
    let head = &data(&fleet.folder, "r.json")["head"];
    assert_eq!(head["title"], title);
    let date = head["date"].as_str().expect("a text");
    assert!(
        date.len() == 20 && date > "2026-01-01" && date.ends_with('Z'),
        "{date}"
    );
    assert_eq!(head["version"], env!("CARGO_PKG_VERSION"));
    let command = head["command"].as_str().expect("a text");
    assert!(command.starts_with("render-fleet --package "), "{command}");
    assert!(
        command.ends_with("--report-title '2026-11-26, fleet at 3f2a1c9 <main>'"),
        "{command}"
    );
    let page = fleet.folder.get("r.html");
    assert!(
        page.contains("2026-11-26, fleet at 3f2a1c9 &#60;main&#62;"),
        "{page}"
    );
    assert!(page.contains("<code>render-fleet --package "), "{page}");
}

/// Local has another registry and another tag, upstream another tag: the file has the registry of the one and the tag of the
/// other.
#[test]
fn a_conflict_over_a_part_shows_the_value_that_the_file_has() {
    let fleet = Fleet::new();
    let pod = |image: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: pod}}\nspec:\n  containers:\n  - name: a\n    image: {image}\n"
        )
    };
    for (revision, image) in [("v4", "app:1"), ("v5", "app:2")] {
        fleet.folder.put("catalog/nginx/pod.yaml", pod(image));
        fleet.folder.commit(revision);
        fleet.folder.git(&["tag", revision]);
    }
    fleet.put("a", "v4", "east/a", "");
    fleet.expect(&[], 0, &["1 created"]);
    let path = "fleet/east/a/pod.yaml";
    fleet.edit(path, "image: app:1", "image: own/app:1-fips");
    fleet.put("a", "v5", "east/a", "");
    let kept = "kept upstream's value; the file has \"own/app:2\" (MergeConflict)";
    fleet.expect(&["--report", "r.json", "--report", "r.html"], 0, &[kept]);
    assert!(
        fleet
            .folder
            .get("fleet/east/a/pod.yaml")
            .contains("image: own/app:2\n")
    );
    let report = data(&fleet.folder, "r.json");
    assert_eq!(
        list(&report, "conflicts")[0]["tags"]["merged"],
        "\"own/app:2\""
    );
    let page = fleet.folder.get("r.html");
    assert_eq!(page.matches("<div class=\"wins\">").count(), 1, "{page}");
    assert!(
        page.contains(
            "<div class=\"wins\"><dt>in the file</dt><dd><code>&#34;own/app:2&#34;</code>"
        ),
        "{page}"
    );
}

#[test]
fn identical_outcomes_are_reported_once() {
    let fleet = edited();
    fleet.expect(&["--report", "r.json", "--report", "r.html"], 0, &[]);
    let report = data(&fleet.folder, "r.json");
    assert_eq!(report["written"], true);
    assert_eq!(report["counts"]["updated"], 12);
    assert_eq!(report["counts"]["conflicts"], 4);
    assert_eq!(list(&report, "variants").len(), 12);
    let [conflict] = &list(&report, "conflicts")[..] else {
        panic!("{report}");
    };
    let names = ["default/v00", "default/v03", "default/v06", "default/v09"];
    assert_eq!(conflict["variants"], serde_json::json!(names));
    assert_eq!(conflict["field"]["path"], "data.a");
    // The ConfigMap of those without an edit, that of those with one, and all Kptfiles.
    let sets = list(&report, "changes").iter();
    let sets: Vec<usize> = sets.map(|set| list(set, "variants").len()).collect();
    assert_eq!(sets, [12, 8, 4], "{report:#}");
    let page = fleet.folder.get("r.html");
    assert_eq!(page.matches("+  a: &#34;2&#34;").count(), 2, "{page}");
    assert!(page.contains("4 variants"), "{page}");
}

#[test]
fn the_rule_of_a_conflict_decides_it_for_all() {
    let fleet = Fleet::new();
    let pods = |image: &str, more: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  template:\n    spec:\n      \
             containers:\n{more}      - name: app\n        image: {image}\n"
        )
    };
    fleet.folder.put("catalog/nginx/web.yaml", pods("one", ""));
    fleet.folder.commit("v4");
    fleet.folder.git(&["tag", "v4"]);
    fleet.folder.put("catalog/nginx/web.yaml", pods("two", ""));
    fleet.folder.commit("v5");
    fleet.folder.git(&["tag", "v5"]);
    let names = ["a", "b", "c"];
    for name in names {
        fleet.put(name, "v4", &format!("{name}/app"), "");
    }
    fleet.expect(&[], 0, &["3 created"]);
    // In `b` the container is the second one.
    for (name, more) in [
        ("a", ""),
        ("b", "      - name: proxy\n        image: p\n"),
        ("c", ""),
    ] {
        let path = format!("fleet/{name}/app/web.yaml");
        let text = fleet.folder.get(&path);
        let text = text.replace("image: one", "image: mine");
        fleet.folder.put(
            &path,
            text.replace("      - name: app", &format!("{more}      - name: app")),
        );
        fleet.put(name, "v5", &format!("{name}/app"), "");
    }
    fleet.expect(
        &["--check", "--report", "r.html", "--report", "r.json"],
        3,
        &["3 conflicts"],
    );
    let report = data(&fleet.folder, "r.json");
    assert_eq!(list(&report, "conflicts").len(), 1, "{report:#}");
    let page = fleet.folder.get("r.html");
    let rule = page
        .split("<pre tabindex=\"0\">- target")
        .nth(1)
        .expect("a rule");
    let rule = rule.split("</pre>").next().expect("its end");
    let rule = format!("- target{rule}")
        .replace("&#39;", "'")
        .replace("&#34;", "\"");
    let config = format!(
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: RenderFleet\nmetadata: {{name: f}}\nconflicts:\n{rule}"
    );
    fleet.folder.put("config.yaml", &config);
    let arguments = ["--config", "config.yaml", "--check", "--report", "d.json"];
    let outcome = fleet.expect(&arguments, 3, &["3 updated"]);
    assert!(
        !outcome.stderr.contains("[warning]"),
        "{config}\n{}",
        outcome.stderr
    );
    let report = data(&fleet.folder, "d.json");
    assert_eq!(report["counts"]["conflicts"], 0);
    let [decided] = &list(&report, "conflicts")[..] else {
        panic!("{report:#}");
    };
    assert_eq!(decided["severity"], "info");
    assert_eq!(list(decided, "variants").len(), 3);
}

#[test]
fn joined_shards_are_one_run() {
    let fleet = edited();
    fleet.put("lost", "v9", "lost/app", "");
    fleet.expect(
        &["--check", "--report", "one.json", "--report", "one.html"],
        1,
        &[],
    );
    for shard in 0..3 {
        let report = format!("s{shard}.json");
        let results = format!("s{shard}.yaml");
        let shard = format!("{shard}/3");
        fleet.run(&[
            "--check",
            "--shard",
            &shard,
            "--report",
            &report,
            "--results",
            &results,
        ]);
    }
    let join = |arguments: &[&str]| {
        let outcome = fleet.folder.run(render_fleet(), arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    };
    join(&[
        "--join", "s2.json", "s0.json", "s1.json", "--report", "all.json", "--report", "all.html",
    ]);
    for name in ["json", "html"] {
        let [one, all] = ["one", "all"].map(|file| headless(&fleet, &format!("{file}.{name}")));
        assert_eq!(all, one, "{name}");
    }
    let reports = fleet.folder.path("reports");
    std::fs::create_dir(&reports).expect("a folder");
    fleet.folder.put("reports/notes.txt", "no report");
    for shard in ["s0.json", "s1.json", "s2.json"] {
        fleet
            .folder
            .put(&format!("reports/{shard}"), fleet.folder.get(shard));
    }
    join(&["--join", "reports", "--report", "directory.json"]);
    assert_eq!(
        headless(&fleet, "directory.json"),
        headless(&fleet, "one.json")
    );
    // Results have no diffs, and do not name the keys of list elements.
    join(&[
        "--join",
        "s1.yaml",
        "--join",
        "s0.yaml",
        "s2.yaml",
        "--report",
        "results.json",
    ]);
    let (results, one) = (
        data(&fleet.folder, "results.json"),
        data(&fleet.folder, "one.json"),
    );
    for part in ["counts", "conflicts"] {
        assert_eq!(results[part], one[part], "{part}");
    }
    let names = |report: &Value| {
        let variants = list(report, "variants").iter();
        let pairs = variants.map(|variant| (variant["name"].clone(), variant["action"].clone()));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(names(&results), names(&one));
}

#[test]
fn a_removed_package_has_its_variant_in_joined_results() {
    let fleet = Fleet::new();
    for name in ["a", "b"] {
        fleet.put(name, "v1", &format!("{name}/app"), "");
    }
    fleet.expect(&[], 0, &[]);
    fleet.drop("a");
    let run = [
        "--check",
        "prune=true",
        "--results",
        "r.yaml",
        "--report",
        "r.json",
    ];
    fleet.expect(&run, 3, &["1 deleted"]);
    let outcome = fleet
        .folder
        .run(render_fleet(), &["--join", "r.yaml", "--report", "j.json"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let [report, joined] = ["r.json", "j.json"].map(|path| data(&fleet.folder, path));
    assert_eq!(joined["variants"], report["variants"]);
    assert_eq!(joined["variants"][0]["name"], "default/a");
    assert_eq!(joined["variants"][0]["action"], "deleted");
}

#[test]
fn a_forecast_writes_nothing_and_says_so() {
    let fleet = edited();
    let before = fleet.files();
    fleet.expect(
        &["--check", "--report", "r.html", "--report", "r.json"],
        3,
        &[],
    );
    assert_eq!(fleet.files(), before);
    assert_eq!(data(&fleet.folder, "r.json")["written"], false);
    let page = fleet.folder.get("r.html");
    assert!(page.contains("Nothing was written."), "{page}");
    fleet.expect(&["--report", "r.html"], 0, &[]);
    let page = fleet.folder.get("r.html");
    assert!(!page.contains("Nothing was written."), "{page}");
}

#[test]
fn names_and_values_are_not_markup() {
    let hostile = "</code></pre><script>alert(1)</script>'\"&<b>";
    let fleet = Fleet::new();
    fleet.put("a", "v1", "r/app", "");
    fleet.expect(&[], 0, &[]);
    let yaml = serde_json::Value::from(hostile).to_string();
    fleet.edit(
        "fleet/r/app/cm.yaml",
        "a: \"1\"",
        &format!("a: {yaml}\n  {yaml}: {yaml}"),
    );
    fleet.put("a", "v2", "r/app", "");
    let name = format!(
        "apiVersion: config.porch.kpt.dev/v1alpha1\nkind: PackageVariant\nmetadata:\n  name: {yaml}\nspec:\n  upstream: {{repo: catalog, package: {yaml}, revision: {yaml}}}\n  downstream: {{repo: s, package: b}}\n"
    );
    fleet.folder.put("variants/hostile.yaml", name);
    fleet.run(&["--report", "r.html", "--report", "r.json"]);
    let page = fleet.folder.get("r.html");
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert_eq!(page.matches("</script").count(), 1, "{page}");
    let content = content(&page);
    assert!(
        content.contains("alert(1)") && !content.contains("<b>'"),
        "{content}"
    );
    assert!(!content.contains("&<b>"), "{content}");
    let outcome = fleet.folder.run(
        render_fleet(),
        &["--join", "r.json", "--report", "again.html"],
    );
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(headless(&fleet, "again.html"), headless(&fleet, "r.html"));
}

#[test]
fn values_of_secrets_are_in_no_report() {
    let fleet = Fleet::new();
    let secret = |value: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData:\n  key: {value}\n"
        )
    };
    fleet
        .folder
        .put("catalog/nginx/secret.yaml", secret("hunter1"));
    fleet.folder.commit("v4");
    fleet.folder.git(&["tag", "v4"]);
    fleet.put("a", "v4", "r/app", "");
    let run = ["--report", "r.html", "--report", "r.json", "--diff"];
    let diff = fleet.expect(&run, 0, &[]).stdout;
    assert!(diff.contains("hunter1"), "{diff}");
    for report in ["r.html", "r.json"] {
        let text = fleet.folder.get(report);
        assert!(
            text.contains("secret.yaml") && text.contains("***"),
            "{text}"
        );
        assert!(!text.contains("hunter"), "{text}");
    }
}

#[test]
fn wrong_uses_of_reports() {
    let folder = Folder::new(&[]);
    let run = |arguments: &[&str]| -> Outcome { folder.run(render_fleet(), arguments) };
    folder.put("none.json", "{}");
    folder.put("other.yaml", map("1", "2"));
    folder.put("broken.yaml", "a: [");
    let report = |written: bool, name: &str| {
        format!(
            "{{\"apiVersion\": \"fn.kpt.dev/v1alpha1\", \"kind\": \"FleetReport\", \"written\": {written}, \"counts\": {{}}, \
             \"variants\": [{{\"name\": \"{name}\"}}], \"conflicts\": [], \"results\": [], \"changes\": []}}"
        )
    };
    folder.put("a.json", report(true, "n/a"));
    folder.put("b.json", report(false, "n/b"));
    folder.put(
        "lost.json",
        report(true, "n/c").replace(
            "\"results\": []",
            "\"results\": [{\"variants\": [\"n/d\"], \"message\": \"m\", \"severity\": \"info\"}]",
        ),
    );
    folder.put(
        "kind.json",
        report(true, "n/a").replace("FleetReport", "Fleet"),
    );
    std::fs::create_dir(folder.path("no-reports")).expect("a folder");
    for (arguments, message) in [
        (
            &["--join", "gone.json", "--report", "r.html"][..],
            "--join gone.json: cannot read it",
        ),
        (
            &["--join", "no-reports", "--report", "r.html"],
            "--join no-reports: expected the reports of shards, found no file `*.json`",
        ),
        (
            &["--join", "none.json", "--report", "r.html"],
            "--join none.json: missing field `apiVersion`",
        ),
        (
            &["--join", "kind.json", "--report", "r.html"],
            "--join kind.json: expected a FleetReport",
        ),
        (
            &["--join", "other.yaml", "--report", "r.html"],
            "--join other.yaml: expected a FleetReport or a FunctionResultList",
        ),
        (
            &["--join", "broken.yaml", "--report", "r.html"],
            "--join broken.yaml: line 1",
        ),
        (
            &["--join", "a.json", "a.json", "--report", "r.html"],
            "found `n/a` in both",
        ),
        (
            &["--join", "a.json", "b.json", "--report", "r.html"],
            "--join b.json: expected reports of one run",
        ),
        (
            &["--join", "lost.json", "--report", "r.html"],
            "--join lost.json: expected `n/d` among `variants`",
        ),
        (
            &["--join", "a.json", "--report", "r.txt"],
            "expected a file that ends with `.html` or `.json`",
        ),
        (
            &["--join", "a.json", "--report", "gone/r.html"],
            "expected a file in a directory that exists",
        ),
        (&["--join", "a.json"], "--report"),
        (
            &["--join", "a.json", "--report", "r.html", "--package", "x"],
            "cannot be used with",
        ),
        (&["--report", "r.html"], "required"),
    ] {
        let outcome = run(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(message),
            "{arguments:?}: {}",
            outcome.stderr
        );
        assert!(!folder.path("r.html").exists());
    }
}

/// Nobody would learn of the packages that such a run changed.
#[test]
fn results_and_reports_that_cannot_be_written_are_an_error_before_any_package() {
    let fleet = Fleet::new();
    fleet.put("one", "v1", "r/app", "");
    fleet.expect(&[], 0, &["1 created"]);
    fleet.put("one", "v2", "r/app", "");
    let before = fleet.files();
    std::fs::create_dir(fleet.folder.path("folder.json")).expect("a folder");
    for (flag, path) in [
        ("--results", "nowhere/results.yaml"),
        ("--results", "folder.json"),
        ("--results", "/dev/full"),
        ("--report", "nowhere/report.json"),
        ("--report", "folder.json"),
    ] {
        fleet.expect(&[flag, path], 2, &[path]);
        assert_eq!(fleet.files(), before, "{flag} {path}");
    }
    let both = ["--results", "results.yaml", "--report", "report.json"];
    fleet.expect(&both, 0, &["1 updated"]);
    for name in ["results.yaml", "report.json"] {
        let text = fleet.folder.get(name);
        assert!(
            !text.contains("did not end") && text.contains("updated"),
            "{text}"
        );
    }
}

/// A report that an earlier run wrote would be taken for that of this one.
#[test]
fn a_run_that_does_not_end_leaves_no_report_of_an_earlier_one() {
    let fleet = Fleet::new();
    fleet.put("one", "v1", "r/app", "");
    let both = ["--results", "results.yaml", "--report", "report.json"];
    fleet.expect(&both, 0, &["1 created"]);
    fleet.folder.put("variants/one.yaml", "a: [");
    fleet.expect(&both, 2, &[]);
    for name in ["results.yaml", "report.json"] {
        let text = fleet.folder.get(name);
        assert!(text.contains("the run did not end"), "{text}");
    }
    let join = ["--join", "report.json", "--report", "joined.json"];
    let outcome = fleet.folder.run(render_fleet(), &join);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("report.json"), "{}", outcome.stderr);
}

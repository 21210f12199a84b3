//! CEL expressions: what they give, what is refused before they run, what ends them.

use std::fs;
use std::time::{Duration, Instant};

use krm_core::text_map::TextMap;
use krm_variant::expression::{
    Compiler, ObjectFields, TargetFields, Variable, Variables, on_large_stack,
};

fn pairs(list: &[(&'static str, &'static str)]) -> TextMap {
    list.iter().copied().collect()
}

/// Evaluates an expression for the repository `cluster-01` and the team `team-a`.
fn evaluate(source: &str) -> Result<String, String> {
    evaluate_with(source, TargetFields::Object, true)
}

fn evaluate_with(source: &str, target: TargetFields, repository: bool) -> Result<String, String> {
    on_large_stack(|| evaluate_here(source, target, repository)).expect("a thread")
}

fn evaluate_here(source: &str, target: TargetFields, repository: bool) -> Result<String, String> {
    let variables = Variables { repository, target };
    let mut compiler = Compiler::default();
    let expression = compiler
        .compile(source, &variables)
        .map_err(|e| format!("compile: {e}"))?;
    let region = pairs(&[
        ("region", "useast1"),
        ("env", "prod"),
        ("org", "hr"),
        ("kpt.dev/zone", "b"),
    ]);
    let team = pairs(&[("role", "dev"), ("größe", "ü"), ("count", "3")]);
    let notes = pairs(&[("owner", "Ada"), ("since", "2024-02-29T23:30:00-05:00")]);
    let none = TextMap::default;
    let object = |name: &str, labels, annotations| ObjectFields {
        name: name.to_owned(),
        namespace: "default".to_owned(),
        labels,
        annotations,
    };
    let upstream = object("example-repo.foo.v1", none(), none());
    let repository = object("cluster-01", region, none());
    let team = object("team-a", team, notes);
    let mut evaluator = compiler.evaluator(1);
    evaluator.set_text(Variable::RepoDefault, "cluster-01");
    evaluator.set_text(Variable::PackageDefault, "foo");
    evaluator.set_object(Variable::Upstream, &upstream);
    evaluator.set_object(Variable::Repository, &repository);
    match target {
        TargetFields::Listed => evaluator.set_listed("cluster-01", "foo"),
        TargetFields::Object => evaluator.set_object(Variable::Target, &team),
    }
    evaluator
        .evaluate(&expression)
        .map_err(|e| format!("evaluate: {e}"))
}

#[test]
fn expressions_and_their_values() {
    for (source, expected) in [
        // The name of a function that Porch does not have, as a text.
        ("['existsOne'][0] + '-' + string(size('a'))", "existsOne-1"),
        // Variables, fields, indexes.
        ("repoDefault", "cluster-01"),
        ("packageDefault", "foo"),
        ("upstream.name", "example-repo.foo.v1"),
        ("repository.name", "cluster-01"),
        ("repository.namespace", "default"),
        ("target.name", "team-a"),
        ("repository.labels['region']", "useast1"),
        ("repository.labels.region", "useast1"),
        ("repository.labels['kpt.dev/zone']", "b"),
        ("repository['labels']['env']", "prod"),
        ("target.annotations.owner", "Ada"),
        (".repoDefault", "cluster-01"),
        // Strings.
        ("'literal'", "literal"),
        ("\"double\" + 'single'", "doublesingle"),
        ("r'raw\\n'", "raw\\n"),
        ("'''three\nlines'''", "three\nlines"),
        ("'tab\\tend'", "tab\tend"),
        ("'\\u00e9\\U0001F600\\x41'", "\u{e9}\u{1F600}A"),
        (
            "repository.labels['region'] + '-endpoints'",
            "useast1-endpoints",
        ),
        ("repoDefault + '-' + packageDefault", "cluster-01-foo"),
        ("repoDefault.contains('ster') ? 'y' : 'n'", "y"),
        ("repoDefault.startsWith('cluster') ? 'y' : 'n'", "y"),
        ("repoDefault.endsWith('-02') ? 'y' : 'n'", "n"),
        ("string(size(repoDefault))", "10"),
        ("string(repoDefault.size())", "10"),
        ("string('größe'.size())", "5"),
        ("target.labels['größe']", "ü"),
        ("'a' < 'b' ? 'less' : 'more'", "less"),
        // Regular expressions.
        ("repoDefault.matches('^cluster-[0-9]+$') ? 'y' : 'n'", "y"),
        ("matches(repoDefault, 'x') ? 'y' : 'n'", "n"),
        ("'straße'.matches('^[a-zß]+$') ? 'y' : 'n'", "y"),
        ("'a.b'.matches('a\\\\.b') ? 'y' : 'n'", "y"),
        // Conditions.
        (
            "repository.labels.env == 'prod' ? 'gold' : 'bronze'",
            "gold",
        ),
        (
            "repository.labels.env != 'prod' ? 'gold' : 'bronze'",
            "bronze",
        ),
        ("true && !false || false ? 'y' : 'n'", "y"),
        (
            "has(repository.labels.region) ? repository.labels.region : 'none'",
            "useast1",
        ),
        (
            "has(repository.labels.zone) ? repository.labels.zone : 'none'",
            "none",
        ),
        ("'zone' in repository.labels ? 'y' : 'n'", "n"),
        (
            "!('zone' in repository.labels) && 'env' in repository.labels ? 'y' : 'n'",
            "y",
        ),
        (
            "repository.labels.env in ['prod', 'stage'] ? 'live' : 'test'",
            "live",
        ),
        ("repository.labels.nope == 'x' || true ? 'y' : 'n'", "y"),
        ("false && repository.labels.nope == 'x' ? 'y' : 'n'", "n"),
        ("has(target.repo) ? 'listed' : 'object'", "object"),
        ("1 == 1.0 ? 'equal' : 'other'", "equal"),
        ("dyn(1) == dyn('1') ? 'equal' : 'other'", "other"),
        // Lists and maps.
        ("['a', 'b', 'c'][1]", "b"),
        ("(['a'] + ['b'])[1]", "b"),
        ("{'us': 'America', 'eu': 'Europe'}['eu']", "Europe"),
        ("{'us': 'America'}.us", "America"),
        ("{'a': '1', 'a': '2'}['a']", "2"),
        ("string(size({'a': 1, 'b': 2}))", "2"),
        (
            "{'useast1': 'use1', 'uswest1': 'usw1'}[repository.labels.region]",
            "use1",
        ),
        ("[1, 'mixed', true][1]", "mixed"),
        // Macros; maps are walked in the order of their keys.
        ("repository.labels.exists(k, k == 'env') ? 'y' : 'n'", "y"),
        ("repository.labels.all(k, k.size() > 2) ? 'y' : 'n'", "y"),
        ("['a', 'b', 'a'].exists_one(x, x == 'b') ? 'y' : 'n'", "y"),
        ("repository.labels.map(k, k)[0]", "env"),
        (
            "repository.labels.map(k, k + '=' + repository.labels[k])[2]",
            "org=hr",
        ),
        ("['b', 'a'].map(x, x + x)[0]", "bb"),
        ("[1, 2, 3].map(x, x > 1, string(x))[0]", "2"),
        ("['x', 'yy'].filter(x, size(x) > 1)[0]", "yy"),
        ("[['a'], ['b']].map(x, x[0])[1]", "b"),
        ("string([1, 2, 3].map(x, x * x)[2] + 1)", "10"),
        (
            "[1, 2].exists(x, [3, 4].exists(y, x + y == 6)) ? 'y' : 'n'",
            "y",
        ),
        ("['shadow'].map(repository, repository)[0]", "shadow"),
        // Numbers and conversions.
        ("string(1 + 2 * 3 - 4 / 2 % 2)", "7"),
        ("string(7u)", "7"),
        ("string(1.0)", "1"),
        ("string(0.1)", "0.1"),
        ("string(1e21)", "1e+21"),
        ("string(1e20)", "1e+20"),
        ("string(123456789.0)", "1.23456789e+08"),
        ("string(100000.0)", "100000"),
        ("string('ä'.matches('^\\\\w$'))", "false"),
        ("string('٣'.matches('^\\\\d$'))", "false"),
        ("string('äa'.matches('ä\\\\b'))", "true"),
        ("string(-5)", "-5"),
        ("string(int(target.labels.count) + 1)", "4"),
        ("string(int('42') + int(2.9))", "44"),
        ("string(double('1.5') * 2.0)", "3"),
        ("string(true)", "true"),
        ("string(bool('true'))", "true"),
        ("string(b'abc')", "abc"),
        ("string(size(bytes('é')))", "2"),
        ("type(1) == int ? 'int' : 'other'", "int"),
        (
            "type(timestamp(0)) == google.protobuf.Timestamp ? 'y' : 'n'",
            "y",
        ),
        // Times, in UTC.
        (
            "string(timestamp(target.annotations.since))",
            "2024-03-01T04:30:00Z",
        ),
        (
            "string(timestamp(target.annotations.since).getHours())",
            "4",
        ),
        ("string(timestamp(target.annotations.since).getDate())", "1"),
        (
            "string(timestamp('2024-01-01T12:00:00Z').getHours('America/New_York'))",
            "7",
        ),
        (
            "string(timestamp('2024-01-01T12:00:00Z').getFullYear())",
            "2024",
        ),
        (
            "string(timestamp('2024-01-01T00:00:00Z') + duration('36h'))",
            "2024-01-02T12:00:00Z",
        ),
        ("string(duration('1h30m'))", "5400s"),
        ("string(duration('90m').getHours())", "1"),
        ("string(timestamp(0))", "1970-01-01T00:00:00Z"),
    ] {
        assert_eq!(evaluate(source), Ok(expected.to_owned()), "{source}");
    }
    let listed = |source| evaluate_with(source, TargetFields::Listed, false);
    assert_eq!(
        listed("target.repo + '/' + target.package"),
        Ok("cluster-01/foo".to_owned())
    );
}

#[test]
fn some_expressions_are_refused_before_evaluation() {
    for (source, expected) in [
        ("foo", "line 1, column 1: undeclared variable `foo`"),
        (
            "'a' + fooo.bar",
            "line 1, column 7: undeclared variable `fooo`",
        ),
        (
            "'a' +\n  foo",
            "line 2, column 3: undeclared variable `foo`",
        ),
        (
            "repository.spec",
            "undeclared field `spec`, expected one of name, namespace, labels, annotations",
        ),
        ("repository['spec']", "undeclared field `spec`"),
        ("target.repo", "undeclared field `repo`"),
        (
            "has(repository.labels.x) ? target.repo : 'x'",
            "undeclared field `repo`",
        ),
        ("repoDefault.name", "string has no fields"),
        ("true ? 'a' : nope", "undeclared variable `nope`"),
        ("['a'].map(x, x)[0] + x", "undeclared variable `x`"),
        ("lower('A')", "undeclared function `lower`"),
        ("'A'.lowerAscii()", "undeclared function `lowerAscii`"),
        ("'a,b'.split(',')[0]", "undeclared function `split`"),
        ("'a'.replace('a', 'b')", "undeclared function `replace`"),
        ("cel.bind(x, 'a', x)", "undeclared variable `cel`"),
        ("math.greatest(1, 2)", "undeclared variable `math`"),
        ("['a'].existsOne(x, x == 'a') ? 'a' : 'b'", "undeclared"),
        (
            "[[1].existsOne(x, x == 1)][0] ? 'a' : 'b'",
            "undeclared function `existsOne`",
        ),
        (
            "{'k': [1].existsOne(x, x == 1)}.k ? 'a' : 'b'",
            "undeclared function `existsOne`",
        ),
        (
            "has([{'a': 1}].existsOne(x, true).y) ? 'a' : 'b'",
            "undeclared function `existsOne`",
        ),
        ("optional.of('a').value()", "undeclared variable `optional`"),
        ("repository.?labels", "unsupported syntax"),
        (
            "contains(repoDefault, 'a') ? 'a' : 'b'",
            "expected `x.contains()`",
        ),
        ("'a'.string()", "expected `string(x)`"),
        (
            "size('a', 'b') == 1 ? 'a' : 'b'",
            "`size` does not take (string, string)",
        ),
        ("repoDefault + 1", "`+` does not take (string, int)"),
        ("1 + repoDefault", "`+` does not take (int, string)"),
        ("size(repoDefault) + 'x'", "`+` does not take (int, string)"),
        (
            "repoDefault && true ? 'a' : 'b'",
            "`&&` does not take (string, bool)",
        ),
        ("repoDefault ? 'a' : 'b'", "expected a bool"),
        ("true ? 'a' : 1", "the branches of `?:` are string and int"),
        (
            "repoDefault < 1 ? 'a' : 'b'",
            "`<` does not take (string, int)",
        ),
        ("-repoDefault", "`-` does not take (string)"),
        ("!repoDefault", "`!` does not take (string)"),
        ("repoDefault[0]", "`[]` does not take (string, int)"),
        ("['a']['b']", "`[]` does not take (list(string), string)"),
        ("['a'].map(x, x + 1)[0]", "`+` does not take (string, int)"),
        (
            "[repoDefault].map(x, x)[0] + 1",
            "`+` does not take (string, int)",
        ),
        (
            "[1].map(x, x * 2)[0] + 'a'",
            "`+` does not take (int, string)",
        ),
        ("1.map(x, x)", "expected a list or map, found int"),
        ("{1.5: 'a'}[1.5]", "double cannot be the key of a map"),
        ("size(repoDefault)", "expected a string, found int"),
        ("true", "expected a string, found bool"),
        ("null", "expected a string, found null"),
        ("['a']", "expected a string, found list(string)"),
        ("repository", "expected a string, found object"),
        ("type('a')", "expected a string, found type"),
        ("string", "expected a string, found type"),
        ("'a'.matches('(') ? 'a' : 'b'", "bad pattern"),
        (
            r"'a'.matches('[\\b]') ? 'a' : 'b'",
            r"bad pattern: invalid escape sequence: `\b`",
        ),
        ("Msg{a: 1}", "messages are not supported"),
        ("'a", "Syntax error"),
        ("a b", "line 1, column 3"),
        ("(1", "Syntax error"),
        (
            &("true ? ".repeat(300) + "'a'" + &" : 'b'".repeat(300)),
            "too deep",
        ),
        (
            &("(".repeat(60) + "'a'" + &")".repeat(60)),
            ": the expression is nested too deeply",
        ),
        ("@paid('a')", "Syntax error"),
        ("99999999999999999999", "invalid int literal"),
    ] {
        let error = evaluate(source).expect_err(source);
        assert!(error.starts_with("compile: line "), "{source}: {error}");
        assert!(error.contains(expected), "{source}: {error}");
    }
    let error = evaluate_with("repository.name", TargetFields::Listed, false);
    assert!(error.is_err_and(|e| e.contains("undeclared variable `repository`")));
}

#[test]
fn expressions_that_fail_on_values_of_objects() {
    for (source, expected) in [
        (
            "repository.labels['zone']",
            "line 1, column 18: no such key: `zone`",
        ),
        ("'a' + repository.labels.zone", "no such key: `zone`"),
        (
            "['a' + repository.labels['zone']][0]",
            "line 1, column 25: no such key: `zone`",
        ),
        (
            "{'k': repository.labels['zone']}.k",
            "line 1, column 24: no such key: `zone`",
        ),
        (
            "string(repository.labels.region + 1)",
            "`+` does not take (string, int)",
        ),
        ("int(repository.labels.region) == 1 ? 'a' : 'b'", "int"),
        ("repository.labels", "expected a string, found map"),
        ("repository.labels.env ? 'a' : 'b'", "bool"),
        ("[repository.name][1]", "ndex"),
        ("string(1 / (size(repository.name) - 10))", "ero"),
        (
            "timestamp(repository.name) == timestamp(0) ? 'a' : 'b'",
            "timestamp",
        ),
        (
            "repository.name.matches(repository.name + '(') ? 'a' : 'b'",
            "bad pattern",
        ),
        ("dyn(1)", "expected a string, found int"),
    ] {
        let error = evaluate(source).expect_err(source);
        assert!(
            error.starts_with("evaluate: line 1, column "),
            "{source}: {error}"
        );
        assert!(error.contains(expected), "{source}: {error}");
        assert!(error.contains(source), "{source}: {error}");
    }
}

/// Expressions made to take long, or much.
fn hostile() -> Vec<String> {
    let ten = "[1,2,3,4,5,6,7,8,9,0]";
    let nest = |macro_name: &str, depth: usize, inner: &str| {
        let mut text = String::new();
        for level in 0..depth {
            text += &format!("{ten}.{macro_name}(x{level}, ");
        }
        text + inner + &")".repeat(depth)
    };
    let filter = |depth: usize| {
        let mut text = "true".to_owned();
        for level in 0..depth {
            text = format!("size({ten}.filter(x{level}, {text})) > 0");
        }
        format!("{text} ? 'a' : 'b'")
    };
    let double = |depth: usize| {
        let mut text = "'xxxxxxxxxxxxxxxx'".to_owned();
        for _ in 0..depth {
            text = format!("[{text}].map(s, s + s)[0]");
        }
        text
    };
    vec![
        format!("string(size({}))", nest("map", 9, "1")),
        format!("{} ? 'a' : 'b'", nest("all", 9, "true")),
        format!("{} ? 'a' : 'b'", nest("exists", 9, "false")),
        format!("{} || true ? 'a' : 'b'", nest("exists", 9, "false")),
        filter(9),
        format!("{} ? 'a' : 'b'", nest("exists_one", 9, "true")),
        double(40),
        format!("string(size({}))", "[0]".to_owned() + &"+[0]".repeat(1000)),
        format!("string({})", "1".to_owned() + &"+1".repeat(1400)),
        "'a'".to_owned() + &" + 'a'".repeat(600),
        "(".repeat(2000) + "'a'" + &")".repeat(2000),
        "!".repeat(4001) + "true ? 'a' : 'b'",
        "-".repeat(4000) + "1",
        "[".repeat(2000) + &"]".repeat(2000),
        "{".repeat(4000),
        "x.".repeat(2000) + "y",
        "repository.labels".to_owned() + &"['a']".repeat(700),
        format!("'{}'", "a".repeat(5000)),
        format!("repoDefault.matches('{}') ? 'a' : 'b'", "(a+)+".repeat(60)),
        format!("repoDefault.matches('{}') ? 'a' : 'b'", "a{1000}{1000}"),
        format!("repoDefault.matches('{}') ? 'a' : 'b'", "(".repeat(200)),
        format!(
            "[{}].map(x, {ten}.map(y, x.matches('(a|b)*c{{1,50}}')))[0][0] ? 'a' : 'b'",
            "'a',".repeat(500) + "'b'"
        ),
        format!("string(size({}.map(l, l == {ten})))", nest("map", 7, "'a'")),
        format!("{ten}.map(x, 'a' + {})[0]", double(30)),
        "a?b:".repeat(1000) + "c",
        "true ? ".repeat(300) + "'a'" + &" : 'b'".repeat(300),
        format!(
            "string({}[0] == {}[0])",
            nest("map", 6, ten),
            nest("map", 6, ten)
        ),
    ]
    .into_iter()
    .chain(steps().map(|step| format!("{} ? 'a' : 'b'", nest("all", 7, &step))))
    .chain(steps().map(|step| format!("string({}[0] == [])", nest("map", 7, &step))))
    .collect()
}

/// Steps of a loop that take long without making large values.
fn steps() -> impl Iterator<Item = String> {
    let joined = |piece: &str, count: usize, by: &str| vec![piece; count].join(by);
    let numbered = |count: usize, by: &str| {
        let pieces = (0..count).map(|i| by.replace('#', &i.to_string()));
        pieces.collect::<Vec<_>>().join(",")
    };
    [
        joined("true", 500, "&&"),
        joined("false", 450, "||") + "||true",
        format!("[{}][0] == 0", joined("0", 1500, ",")),
        format!("{{{}}}[1] == 1", numbered(450, "#:1")),
        format!("{{{}}}.k1 == 1", numbered(320, "'k#':1")),
        format!("has({{{}}}.k1)", numbered(320, "'k#':1")),
        "!(!(".repeat(18) + "true" + &"))".repeat(18),
        format!("'{}' != ''", "x".repeat(3000)),
        joined("x0 == x0", 200, "&&"),
        joined("has(repository.labels.zone)", 100, "||") + "||true",
        joined("repository.labels.zzz == 'a'", 80, "||") + "||true",
        joined("1/0 == 1", 280, "||") + "||true",
        joined("timestamp(0) == timestamp(0)", 45, "&&"),
        "timestamp('2024-01-01T12:00:00Z').getHours('America/New_York') > 0".to_owned(),
        format!("duration('{}') != duration('1s')", "1h".repeat(1500)),
        format!("int('{}1') == 1", "0".repeat(3000)),
        "'abcdefgh'.matches('(a|b|c|d|e|f|g|h|i)*$')".to_owned(),
        "!'abc'.matches(string(x0) + string(x1) + string(x2) + string(x3) + '\\\\pL{1,20}')"
            .to_owned(),
    ]
    .into_iter()
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the figures, for whoever asks with --nocapture"
)]
fn hostile_expressions_end() {
    for source in hostile() {
        let start = Instant::now();
        let outcome = evaluate(&source);
        let took = start.elapsed();
        let shown: String = source.chars().take(60).collect();
        // What is deep but cheap may pass; all the rest is an error that says why.
        if let Err(error) = &outcome {
            assert!(error.len() < 900, "{shown}: {error}");
        }
        // Generous: a test build, on a machine that does other things.
        assert!(took < Duration::from_secs(20), "{shown}: {took:?}");
        println!("{took:?} {shown} {:.90}", outcome.unwrap_or_else(|e| e));
    }
}

/// What the processor spent on this thread; what else the machine does hardly counts. Elsewhere
/// than on Linux it is the time that passed.
fn spent(since: Instant) -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

/// A field of this process's status in bytes; none elsewhere than on Linux.
fn memory(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// `cargo test --release --test krm -- --ignored hostile`: it must run alone. The 100 ms are those of a release build.
#[test]
#[ignore = "measures time and memory"]
#[expect(
    clippy::print_stdout,
    reason = "the figures, for whoever asks with --nocapture"
)]
fn hostile_expressions_end_within_100_ms_and_20_mb() {
    evaluate("'warm'").expect("a value");
    let start = Instant::now();
    let mut most = (Duration::ZERO, 0);
    // A build that checks for overflow takes several times as long.
    let most_time = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 100 });
    // What an expression leaves behind counts for those after it.
    let before = memory("VmRSS:");
    for source in hostile() {
        // The peak begins anew.
        let is_reset = fs::write("/proc/self/clear_refs", "5").is_ok();
        let (outcome, took) = on_large_stack(|| {
            let before = spent(start);
            let outcome = evaluate_here(&source, TargetFields::Object, true);
            (outcome, spent(start).saturating_sub(before))
        })
        .expect("a thread");
        let peak = memory("VmHWM:").zip(before).filter(|_| is_reset);
        let bytes = peak.map_or(0, |(peak, before)| peak.saturating_sub(before));
        println!(
            "{took:>12?} {bytes:>9} {:.60} {:.90}",
            source,
            outcome.unwrap_or_else(|e| e)
        );
        assert!(took < most_time, "{source}: {took:?}");
        assert!(bytes < 20_000_000, "{source}: {bytes} bytes");
        most = (most.0.max(took), most.1.max(bytes));
    }
    println!("most: {:?}, {} bytes", most.0, most.1);
}

#[test]
fn a_spent_budget_stays_spent() {
    let ten = "[1,2,3,4,5,6,7,8,9,0]";
    let long = format!(
        "{ten}.all(a, {ten}.all(b, {ten}.all(c, {ten}.all(d, {ten}.all(e, {ten}.all(f, true))))))"
    );
    for source in [
        format!("{long} || true ? 'a' : 'b'"),
        format!("true && {long} ? 'a' : 'b'"),
        format!("{ten}.exists(x, {long}) ? 'a' : 'b'"),
    ] {
        let error = evaluate(&source).expect_err(&source);
        assert!(error.contains("too much time or memory"), "{error}");
    }
}

/// Values are kept by the fields that an expression reads.
#[test]
fn values_follow_the_fields_that_are_read() {
    let variables = Variables {
        repository: true,
        target: TargetFields::Object,
    };
    let mut compiler = Compiler::default();
    let expression = compiler.compile("target.labels.zone + '-' + target.name", &variables);
    let expression = expression.expect("an expression");
    let zones = ["x", "y", ""];
    let labels = |zone| match zone {
        "" => TextMap::default(),
        zone => pairs(&[("zone", zone), ("other", "o")]),
    };
    let names: Vec<String> = (0..1500).map(|number| format!("n{number}")).collect();
    let numbered = names.iter().chain(&names).enumerate();
    let targets = numbered.flat_map(|(number, name)| {
        zones.map(|zone| ObjectFields {
            name: if number % 3 == 0 { "same" } else { name }.to_owned(),
            namespace: "default".to_owned(),
            labels: labels(zone),
            annotations: TextMap::default(),
        })
    });
    let targets: Vec<ObjectFields> = targets.collect();
    let mut evaluator = compiler.evaluator(10 * names.len());
    for (target, zone) in targets.iter().zip(zones.into_iter().cycle()) {
        evaluator.set_object(Variable::Target, target);
        let found = evaluator.evaluate(&expression);
        match zone {
            "" => assert!(found.is_err_and(|error| error.message.contains("zone"))),
            zone => assert_eq!(found, Ok(format!("{zone}-{}", target.name))),
        }
    }
}

/// A value that is kept costs what it would cost to evaluate it again.
#[test]
fn a_kept_value_is_paid_for() {
    let text = "a".repeat(100_000);
    let variables = Variables {
        repository: true,
        target: TargetFields::Object,
    };
    let mut compiler = Compiler::default();
    let expression = compiler.compile("repoDefault + repoDefault", &variables);
    let expression = expression.expect("an expression");
    let mut evaluator = compiler.evaluator(1);
    evaluator.set_text(Variable::RepoDefault, &text);
    let failed = (0..1000).find_map(|_| evaluator.evaluate(&expression).err());
    assert!(failed.is_some_and(|error| error.is_over_budget));
}

/// Units that are left next to a condition, each of them 8 bytes of the result.
fn room_beside(condition: &str) -> usize {
    let variables = Variables {
        repository: false,
        target: TargetFields::Listed,
    };
    let mut compiler = Compiler::default();
    let source = format!("{condition} ? repoDefault : ''");
    let expression = compiler.compile(&source, &variables).expect(condition);
    let text = "a".repeat(8 * 200_000);
    let fits = |units: usize| {
        let mut evaluator = compiler.evaluator(1);
        evaluator.set_text(Variable::RepoDefault, &text[..8 * units]);
        evaluator.set_text(Variable::PackageDefault, "12345678");
        evaluator.set_listed("cluster-01", "foo");
        match evaluator.evaluate(&expression) {
            Ok(_) => true,
            Err(error) if error.is_over_budget => false,
            Err(error) => panic!("{condition}: {error}"),
        }
    };
    let (mut most, mut least_too_many) = (0, 200_000);
    while most + 1 < least_too_many {
        let middle = usize::midpoint(most, least_too_many);
        if fits(middle) {
            most = middle;
        } else {
            least_too_many = middle;
        }
    }
    most
}

/// The page of `expand-variant-set`: a unit for each node, and one for 8 bytes that are read or created.
/// These are the units that a condition takes more than `true`; it fails everywhere or nowhere.
#[test]
fn the_cost_of_an_expression() {
    let whole = on_large_stack(|| room_beside("true")).expect("a thread");
    for (condition, units) in [
        ("false || true", 2),
        ("1 < 2", 2),
        ("'12345678' != '1234567812345678'", 5),
        ("packageDefault == '12345678'", 6),
        ("[1, 2, 3].size() == 3", 13),
        ("{'a': 1, 'b': 2}.size() == 2", 15),
        ("{'a': 1, 'b': [2]} == {'a': 1, 'b': [2]}", 32),
        ("[1, 2, 3].all(x, x > 0)", 38),
        ("[1, 2, 3].exists(x, x == 3)", 41),
        ("[1, 2, 3].map(x, x + 1) != []", 56),
        ("[1, 2, 3].filter(x, x > 1) != []", 63),
        ("packageDefault.matches('[0-9]+')", 6),
        // A pattern of 19 bytes is tried on 16.
        (
            "(packageDefault + packageDefault).matches('^12345678[0-9]{8}$')",
            21,
        ),
    ] {
        let room = on_large_stack(|| room_beside(condition)).expect("a thread");
        assert_eq!(whole - room, units, "{condition}");
    }
}

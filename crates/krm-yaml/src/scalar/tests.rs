// The tests are long tables.
#![allow(clippy::too_many_lines)]

use super::*;
use granit_parser::{Event, Parser};
use proptest::prelude::*;

const CONTEXTS: [Context; 2] = [Context::Block, Context::Flow];

#[test]
fn core_schema() {
    let int = |value| Value::Number(Number::Int(value));
    let float = |value| Value::Number(Number::Float(value));
    let verbatim = |text: &str| Value::Number(Number::Verbatim(text.into()));
    let table = [
        ("", Value::Null),
        ("~", Value::Null),
        ("null", Value::Null),
        ("Null", Value::Null),
        ("NULL", Value::Null),
        ("true", true.into()),
        ("True", true.into()),
        ("TRUE", true.into()),
        ("false", false.into()),
        ("FALSE", false.into()),
        ("0", int(0)),
        ("-0", int(0)),
        ("+12", int(12)),
        ("-19", int(-19)),
        ("0o17", int(15)),
        ("0x1fA", int(0x1fa)),
        ("170141183460469231731687303715884105727", int(i128::MAX)),
        ("-170141183460469231731687303715884105728", int(i128::MIN)),
        (
            "170141183460469231731687303715884105728",
            verbatim("170141183460469231731687303715884105728"),
        ),
        (
            "0xffffffffffffffffffffffffffffffff",
            verbatim("0xffffffffffffffffffffffffffffffff"),
        ),
        ("017", verbatim("017")),
        ("08", verbatim("08")),
        ("-00", verbatim("-00")),
        ("0.", float(0.0)),
        ("-.5", float(-0.5)),
        ("1e3", float(1000.0)),
        ("+12.5E-02", float(0.125)),
        ("08.5", float(8.5)),
        ("1e400", verbatim("1e400")),
        (".inf", float(f64::INFINITY)),
        ("+.Inf", float(f64::INFINITY)),
        ("-.INF", float(f64::NEG_INFINITY)),
        (".NaN", float(f64::NAN)),
    ];
    for (text, expected) in table {
        let value = Reading::Core.value(text);
        assert_eq!(value, expected, "{text}");
        // `==` does not distinguish an integer from a float.
        assert_eq!(
            format!("{value:?}").get(..12),
            format!("{expected:?}").get(..12),
            "{text}"
        );
    }
    for text in [
        "nULL",
        "yes",
        "tRUE",
        "0o8",
        "0o",
        "0x",
        "0x-1",
        "0xg",
        "-0x1",
        "+0o7",
        "0b1",
        "1_000",
        "1,000",
        "1:30",
        ".",
        "-",
        "+",
        "..",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1.2.3",
        "-.nan",
        ".iNF",
        "inf",
        "nan",
        "2001-12-14",
        "<<",
        "=",
        "1 ",
        "--1",
        "٣",
    ] {
        assert_eq!(Reading::Core.value(text), text.into(), "{text}");
    }
}

#[test]
fn ordinary_words_are_plain() {
    for text in [
        "v1.2.3",
        "1.2.3",
        "10.0.0.1",
        "10.0.0.0/8",
        "foo-bar",
        "a b",
        "-x",
        "--flag=1",
        "/path",
        "500m",
        "1Gi",
        "25%",
        "naïve",
        "日本",
        "a#b",
        "~/x",
        ".",
        "..",
        "./a",
        ".hidden",
        "1.2.3-rc.1",
        "8080:80",
        "sha256:9f86d0",
        "0755x",
        "null-value",
        "yesterday",
        "nope",
        "on-call",
        "_1",
        "1a",
        "a=b",
        "=a",
        "<<a",
        "a'b\"c",
        "2001-12-14-backup",
        "20011214",
        "2001-12",
        "it's",
        "(x)",
        "$(x)",
        "😀",
        "a\u{a0}b",
        "x|y",
        "a>b",
        "a&b",
        "a*",
        "C:\\x",
        "+",
        "+a",
        "-.",
        "1.2:3:4",
        "12:60",
        "1/2",
        "1-2",
        "0xg",
        "0b2",
        "0o8",
        "e3",
        "1e",
        "inf",
        "NaN",
        "apps/v1",
    ] {
        let number = text == "20011214";
        for context in CONTEXTS {
            assert_eq!(plain_is_safe(text, context), !number, "{text} {context:?}");
        }
    }
}

#[test]
fn flow_context_is_narrower() {
    for text in [
        "a,b",
        "a]",
        "{a",
        "a[0]",
        "a}",
        "http://x.y/z?q=1#f",
        "?x",
        "a?",
    ] {
        assert!(
            plain_is_safe(text, Context::Block) || text.starts_with('{'),
            "{text}"
        );
        assert!(!plain_is_safe(text, Context::Flow), "{text}");
    }
    for text in ["gcr.io/a/b:v0.1", "http://x.y/z#f", "a::b"] {
        assert!(plain_is_safe(text, Context::Block), "{text}");
        assert!(plain_is_safe(text, Context::Flow), "{text}");
    }
}

#[test]
fn text_that_readers_disagree_on_is_quoted() {
    for text in [
        // Syntax.
        "",
        " a",
        "a ",
        "\u{a0}a",
        "-",
        "- a",
        "?",
        "? a",
        ":",
        ":a",
        ": a",
        ",a",
        "[a",
        "]",
        "{",
        "}",
        "#a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "'a'",
        "\"a\"",
        "%a",
        "@a",
        "`a",
        "a: b",
        "a #b",
        "a:",
        "a:b:",
        "a\nb",
        "a\tb",
        "a\rb",
        "a\u{1}",
        "\u{7f}",
        "a\u{85}b",
        "a\u{2028}b",
        "a\u{2029}b",
        "\u{feff}a",
        "a\u{feff}",
        "\u{fffe}",
        "---",
        "--- a",
        "...",
        "---a",
        // Null, booleans, merge and value.
        "~",
        "null",
        "Null",
        "NULL",
        "nULL",
        "y",
        "Y",
        "n",
        "N",
        "yes",
        "Yes",
        "YES",
        "yEs",
        "no",
        "No",
        "NO",
        "on",
        "On",
        "ON",
        "off",
        "Off",
        "OFF",
        "true",
        "True",
        "TRUE",
        "tRue",
        "false",
        "False",
        "FALSE",
        "=",
        "<<",
        // Integers.
        "0",
        "1",
        "-1",
        "+1",
        "017",
        "08",
        "0o17",
        "0O17",
        "0x1F",
        "0X1f",
        "-0x1",
        "0b11",
        "0B1",
        "-0b1",
        "1_000",
        "1,000",
        "0_7",
        "-_1",
        "-_",
        "._",
        "0o-7",
        "0b+1",
        "0x_",
        "1__0",
        "340282366920938463463374607431768211456",
        // Floats.
        "1.0",
        "1.",
        ".5",
        "-.5",
        "1e3",
        "1E3",
        "1e+3",
        "1.5e-3",
        "1_0.5",
        "1,000.5",
        "6.8523015e+5",
        ".inf",
        "-.inf",
        "+.INF",
        ".InF",
        ".nan",
        ".NaN",
        ".NAN",
        "012.5",
        ".e+5",
        // Base 60.
        "1:30",
        "190:20:30",
        "190:20:30.15",
        "-1:30",
        "00:11:22:33:44:55",
        "1_0:30",
        // Dates and times.
        "2001-12-14",
        "2006-1-2",
        "2001-12-14t21:59:43.10-05:00",
        "2001-12-14T21:59:43Z",
        "2001-12-14 21:59:43.10 -5",
        "2001-1-1   1:2:3",
        "-2001-12-14 21:59:43",
    ] {
        for context in CONTEXTS {
            assert!(!plain_is_safe(text, context), "{text:?} {context:?}");
        }
    }
}

#[test]
fn quoted() {
    let table = [
        ("", "\"\"", Some("''")),
        ("a", "\"a\"", Some("'a'")),
        (
            "it's \"x\" \\",
            "\"it's \\\"x\\\" \\\\\"",
            Some("'it''s \"x\" \\'"),
        ),
        ("a\tb", "\"a\\tb\"", Some("'a\tb'")),
        ("a\r\nb", "\"a\\r\\nb\"", None),
        ("\0\u{1b}\u{7f}", "\"\\u0000\\u001B\\u007F\"", None),
        (
            "\u{85}\u{2028}\u{2029}\u{feff}\u{ffff}",
            "\"\\u0085\\u2028\\u2029\\uFEFF\\uFFFF\"",
            None,
        ),
        (
            "naïve 日本 😀\u{a0}",
            "\"naïve 日本 😀\u{a0}\"",
            Some("'naïve 日本 😀\u{a0}'"),
        ),
    ];
    for (text, double, single) in table {
        assert_eq!(write_double_quoted(text), double);
        assert_eq!(write_single_quoted(text).as_deref(), single);
    }
}

#[test]
fn inline() {
    use ScalarStyle::*;
    let table = [
        ("a", Plain, Context::Block, "a"),
        ("yes", Plain, Context::Block, "\"yes\""),
        ("a,b", Plain, Context::Block, "a,b"),
        ("a,b", Plain, Context::Flow, "\"a,b\""),
        ("yes", SingleQuoted, Context::Block, "'yes'"),
        ("a\nb", SingleQuoted, Context::Block, "\"a\\nb\""),
        ("a", DoubleQuoted, Context::Flow, "\"a\""),
        ("a", Literal, Context::Block, "\"a\""),
        ("a", Folded, Context::Block, "\"a\""),
    ];
    for (text, preferred, context, expected) in table {
        assert_eq!(write_inline(text, preferred, context), expected);
    }
}

#[test]
fn blocks() {
    let table = [
        ("a\nb\n", false, Some(("|", "  a\n  b"))),
        ("a", false, Some(("|-", "  a"))),
        ("a\n\n", false, Some(("|+", "  a\n"))),
        ("a\n\n  b\n", false, Some(("|", "  a\n\n    b"))),
        (" a\n", false, Some(("|2", "   a"))),
        ("\n\n a", false, Some(("|2-", "\n\n   a"))),
        ("\ta\n\n\n", false, Some(("|2+", "  \ta\n\n"))),
        ("a\n \nb", false, Some(("|-", "  a\n   \n  b"))),
        (
            "a\tb # c: d\n---\n",
            false,
            Some(("|", "  a\tb # c: d\n  ---")),
        ),
        ("", false, None),
        ("\n\n", false, None),
        (" \n\t", false, None),
        ("a\r\nb\n", false, None),
        ("a\u{1}", false, None),
        ("a\u{85}", false, None),
        ("a\u{feff}", false, None),
        ("a\nb\n", true, Some((">", "  a\n\n  b"))),
        ("a\n\nb", true, Some((">-", "  a\n\n\n  b"))),
        ("a\n b\nc\n", true, Some((">", "  a\n   b\n  c"))),
        ("\na\n\n", true, Some((">+", "\n  a\n"))),
        ("a\n \nb", true, None),
    ];
    for (text, folded, expected) in table {
        let written = write_block(text, folded, 2, "\n", 2);
        let written = written
            .as_ref()
            .map(|(header, body)| (header.as_str(), body.as_str()));
        assert_eq!(written, expected, "{text:?} {folded}");
    }
    assert_eq!(
        write_block("a\nb\n", false, 4, "\r\n", 4),
        Some(("|".to_owned(), "    a\r\n    b".to_owned()))
    );
    assert_eq!(write_block("a", false, 0, "\n", 2), None);
    assert_eq!(write_block(" a", false, 12, "\n", 10), None);
}

fn parsed_scalars(document: &str) -> Result<Vec<(String, bool)>, String> {
    let mut scalars = Vec::new();
    for event in Parser::new_from_str(document) {
        if let (Event::Scalar(text, style, ..), _) = event.map_err(|error| error.to_string())? {
            scalars.push((
                text.into_owned(),
                style == granit_parser::ScalarStyle::Plain,
            ));
        }
    }
    Ok(scalars)
}

/// Checks that a document has `count` scalars, and that the one at `position` is `text`.
fn check_parsed(document: &str, text: &str, position: usize, count: usize) {
    let scalars = parsed_scalars(document).unwrap_or_else(|error| panic!("{document:?}: {error}"));
    assert_eq!(scalars.len(), count, "{document:?}");
    assert_eq!(scalars[position].0, text, "{document:?}");
    if scalars[position].1 {
        assert_eq!(Reading::Core.value(text), text.into(), "{document:?}");
    }
}

fn tricky() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-?:,\\[\\]{}#&*!|>'\"%@` ab01._\\n\\t]{0,8}",
        "[ab \\n]{0,10}",
        "[ a\\n\\t#:-]{0,12}",
        "[-+0-9._,:eExobTZ ]{0,8}",
        "(?i)y|n|yes|no|on|off|true|false|null|~|=|<<|[-+.]{0,2}(inf|nan)",
        "[a-c\\x00-\\x1f\\x7f-\\u{a0}\\u{2028}\\u{2029}\\u{feff}\\u{fffe}é日😀 ]{0,6}",
        "\\PC{0,20}",
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inline_reads_back(text in tricky()) {
        use ScalarStyle::*;
        for style in [Plain, SingleQuoted, DoubleQuoted, Literal, Folded] {
            let written = write_inline(&text, style, Context::Block);
            check_parsed(&format!("k: {written}\nz: y\n"), &text, 1, 4);
            check_parsed(&format!("- {written} # c\n- z\n"), &text, 0, 2);
            check_parsed(&format!("{written}: v\n"), &text, 0, 2);
            check_parsed(&written, &text, 0, 1);
            let written = write_inline(&text, style, Context::Flow);
            check_parsed(&format!("[{written}]"), &text, 0, 1);
            check_parsed(&format!("[{written},{written}]"), &text, 1, 2);
            check_parsed(&format!("{{k: {written}}}"), &text, 1, 2);
            check_parsed(&format!("{{{written}: v}}"), &text, 0, 2);
        }
    }

    #[test]
    fn safe_text_is_a_string(text in tricky()) {
        for context in CONTEXTS {
            if plain_is_safe(&text, context) {
                prop_assert_eq!(Reading::Core.value(&text), Value::from(text.as_str()));
            }
        }
    }

    #[test]
    fn blocks_read_back(text in tricky(), end in "\\n{0,3}") {
        let text = text + &end;
        for folded in [false, true] {
            for newline in ["\n", "\r\n"] {
                if let Some((header, body)) = write_block(&text, folded, 2, newline, 2) {
                    check_parsed(&format!("k: {header}{newline}{body}{newline}z: y{newline}"), &text, 1, 4);
                    check_parsed(&format!("k: {header}{newline}{body}{newline}"), &text, 1, 2);
                }
                if let Some((header, body)) = write_block(&text, folded, 5, newline, 3) {
                    check_parsed(&format!("k:{newline}  l: {header}{newline}{body}{newline}# c{newline}"), &text, 2, 3);
                }
            }
        }
    }

    #[test]
    fn numbers_read_back(integer in any::<i128>(), float in any::<f64>()) {
        for number in [Number::Int(integer), Number::Float(float)] {
            prop_assert_eq!(Reading::Core.value(&number.to_string()), Value::Number(number.clone()));
            prop_assert!(!plain_is_safe(&number.to_string(), Context::Block));
        }
    }
}

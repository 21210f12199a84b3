//! The line scanner and the general parser read every text in the same way.

#![allow(clippy::print_stdout, reason = "the figures of a test run")]

use indoc::indoc;
use krm_core::resource::Resource;
use krm_yaml::{Document, MAX_DEPTH, NodeRef, ParseError, ParseOptions, Tree};

use crate::texts;

/// Reads a text both ways, as a plain text and as resources; whether the scanner took it.
#[track_caller]
fn compare(text: &str, name: &str) -> bool {
    let plain = same_tree(text, ParseOptions::default(), name);
    let tree = same_tree(text, ParseOptions::of_resources(0), name);
    assert_eq!(plain.is_some(), tree.is_some(), "{name}:\n{text}\n{text:?}");
    let resources = tree.as_ref().map(|tree| {
        let document = Document::new(text, tree);
        let roots = (0..document.len()).map(|index| document.root(index));
        roots
            .map(|root| root.filter(is_krm).map(Resource::read))
            .collect::<Vec<_>>()
    });
    let without_tree = krm_core::identity::documents(text);
    assert_eq!(without_tree, resources, "{name}:\n{text}\n{text:?}");
    tree.is_some()
}

/// The tree of the scanner, which is the parser's; `None` where the scanner leaves the text to the parser.
#[track_caller]
fn same_tree(text: &str, options: ParseOptions, name: &str) -> Option<Tree> {
    let fast = Tree::parse_fast(text, options)?;
    let general = Tree::parse_general(text, options);
    assert!(
        general.as_ref() == Ok(&fast),
        "{name}:\n{text}\n{text:?}\n{}",
        difference(&fast, &general)
    );
    Some(fast)
}

fn is_krm(root: &NodeRef<'_>) -> bool {
    let has = |key| root.get(key).is_some_and(|value| value.as_str().is_some());
    has("apiVersion") && has("kind")
}

fn difference(fast: &Tree, general: &Result<Tree, ParseError>) -> String {
    let general = match general {
        Ok(tree) => format!("{tree:#?}"),
        Err(error) => return format!("the general parser: {error}"),
    };
    let fast = format!("{fast:#?}");
    let lines = fast.lines().zip(general.lines()).enumerate();
    let first = lines.filter(|(_, (a, b))| a != b).map(|(n, _)| n).next();
    let near = |text: &str| {
        let lines = text
            .lines()
            .skip(first.unwrap_or_default().saturating_sub(9));
        lines.take(20).collect::<Vec<_>>().join("\n")
    };
    format!("scanner:\n{}\ngeneral:\n{}", near(&fast), near(&general))
}

#[test]
fn trees_of_all_texts_are_the_same() {
    for (source, texts) in [
        ("own cases", texts::own_cases()),
        ("shared", texts::shared()),
        ("suite", texts::suite()),
    ] {
        let mut taken = 0;
        for text in &texts {
            if compare(&text.text, &text.name) {
                taken += 1;
            } else {
                println!("left to the general parser: {}", text.name);
            }
        }
        println!("{source}: the scanner took {taken} of {}", texts.len());
        assert!(source != "shared" || taken * 10 >= texts.len() * 9);
    }
}

#[test]
fn both_readers_stop_at_the_same_value_of_too_many() {
    let options = ParseOptions::default();
    for piece in ["- a\n", "- {ä: [], b: c}\n", "- a:\n    b: |\n      c\n"] {
        let text = piece.repeat(12_000_000 / piece.len());
        let read = Tree::parse(&text, options).map(drop);
        let error = read.expect_err(piece);
        assert!(error.message.ends_with("values in one text"), "{error}");
        let general = Tree::parse_general(&text, options).map(drop);
        assert_eq!(general, Err(error), "{piece}");
    }
}

#[test]
fn many_small_resources_in_a_file_are_read() {
    let document =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {c: d}\n---\n";
    let text = document.repeat(80_000);
    let documents = krm_core::identity::documents(&text).expect("within the limits");
    assert_eq!(documents.iter().flatten().count(), 80_000);
    assert!(Tree::parse(&text, ParseOptions::default()).is_ok());
}

/// Texts that the scanner takes, one construct each.
const TAKEN: [&str; 50] = [
    "a: b\n",
    "a: \"\\x41\\U0001F600\\0\\a\\v\\e\\N\\_\\L\\P\"\nb: \"\\xff\n  \\P\"\n",
    "a: \"b\\n\n  \\ c\\ d\\ \"\ne: \"f\\ \"\ng: \"\\ h\"\n",
    "0: a\n80: b\n8: {9: c}\n999999999999999999: d\n",
    indoc! {"
        a:
          b: c
          d:
          - e
          - f: g
            h: i
        j: ''
    "},
    indoc! {"
        - - a
          - b
        -
        - c:
          - d
          -
    "},
    "- a\n- b: c\n  d: [e, 'f', \"g\", {h: i, \"j\":k, 'l' : m}, [], {}, -1]\n",
    indoc! {"
        # c
        ---
        # d
        a: b # e

        # f
        c: # g
          d: e
          # h
    "},
    indoc! {"
        a: |
          x

           y
          # z
        b: >-
           f
           g

           h
             i
           j


        # k
        c: |+
          x


        d: e
    "},
    "a: |\r\n  x\r\n  y\r\nb: 'c'\r\n# d\r\n",
    "a: |\n  x",
    "a: |+\n  x\n\n",
    "a: 'it''s' # b\n\"c d\": \"\\u00e9\\n\\\"\\\\\\/\"\n'e' : f\n",
    "a: b:c#d\n\u{e9}: \u{65e5}\u{672c} \u{1f600}\nurl: http://x/y#z\nargs: --a=b\nport: :8080\n",
    indoc! {"
        a: 1
        ---
        b: 2
        --- # x
        c:
        - d
    "},
    "  a: b\n  c: d\n",
    "a: b",
    "a:",
    "- a: b\n",
    "-   a: b\n    c: d\n",
    "a:\n  - b\n  -   - c\n      - d\n",
    "a: b  \nc:  \nd: e   # f  \n",
    "a:\n-\n  b: c\nd: e\n",
    "a: \"tab\there\"\n# tab\there\nb: |\n  x\ty\n  \tz\n",
    "a: |\n  x\n     \nb: c\n",
    "  # x\na: |\n  b\n# y\n",
    "a: -1\nb: -x\nc: ?x\nd: ---\n",
    "{\"a\":{\"b\":[1,-2.5e3,\"c\",{}],\"d\":[]},\"e\":null}",
    indoc! {r#"
        {
          "a": {
            "b": [
              1,
              "c"
            ],
            "d": true
          },
          "e": []
        }
    "#},
    "# a\n---\n[{\"a\": \"\\u00e9\"}, false] # b\n# c\n---\n  {\n}\n",
    "{\r\n\"a\": 1,\r\n\r\n  \"b\": [ ]\r\n}\r\n",
    indoc! {r#"
        a:
        - {
           "b": 1
         }
        - [c, d,
          e]
        f: {g: [
          h
         ],
         i: j }
    "#},
    "- [[\n  1\n ],\n [2, {\"a\":[]}]]\n",
    "{\"a\": [{\n\"b\": 'c'\n}, {\n\"b\": d e\n}]}",
    "a: b\n  c\nd: e  \n\n   f g  # h\n",
    indoc! {"
        a:
        - b
          c


          d

        - e: f
           g
          h: i
    "},
    "a: 'b\n  c'\nd: 'e  \n\n   f''g\n   h ' # i\nj: '\n k\n\n '\n",
    "a: \"b\\n\n  c\"\nd: \"e  \n\n   f\\\"g\\u00e9\n   h \" # i\nj: \"\n k\n\n \"\n",
    indoc! {r#"
        - - a
           b
        - 'c
           d'
        - e: "f
             g"
    "#},
    indoc! {r#"
        a: 'b
        c

        d' # e
        f:
        - g: "h

          i
           j
          "
        - 'k
        - l
         m'
        s:
          o: '
          p: q

          # r'
    "#},
    "a:\n  \"b\nc\"\nd:\n  - - 'e\n    f'\n    - \"\n    \\\"g\\n\n\n    ---\"\n",
    "a: 'b\r\n\r\nc'\r\nd: \"e\r\nf\"\r\n",
    "a: b\r\n  c\r\n\r\n  d\r\ne: \"f\r\n  g\"\r\n",
    "a: b\n  c",
    indoc! {"
        # a
        ---
        # b
        ---
        c: d
        --- # e

        ---
        ---
        # f
    "},
    "---\n",
    "a:\n  b\nc: # d\n  # e\n\n  f\n  g # h\ni:\n- \n  j\n-\n  'k\n  l'\nm:\n  [n, {o: p}]\nq:\n    r\n  s\n",
    indoc! {"
        a: |2
           b
          c

           d
        # e
        f: >2-
          g
           h

          i
          j

        k:
          l: |+1
            m

           n

        o: |9
                 p"},
    indoc! {"
        - a: |1-
            b
           c
           d
        - e:
            f: |-2

                g
              # h
               i
    "},
    indoc! {r#"
        a: b
          - c
          * d
          "e" 'f
          [g] {h
          `i` @j %k !l &m *n >o |p ,q ?r
    "#},
];

#[test]
fn usual_constructs_are_taken() {
    for text in TAKEN {
        assert!(compare(text, "taken"), "not taken: {text:?}");
    }
}

#[test]
fn unusual_yaml_is_left_to_the_general_parser() {
    for text in [
        "",
        "# a\n",
        "a\n",
        "---\na\n",
        "a: &b c\n",
        "a: *b\n",
        "a: !!str b\n",
        "%YAML 1.2\n---\na: b\n",
        "a: b\n...\n",
        "a:\n  |\n  b\n",
        "a:\n  &b c\n",
        "a:\n  b\n c\nd\n",
        "a: b # c\n  d\n",
        "a: b\n  c: d\n",
        "a: b\n  # c\n  d\n",
        "a: b\n\tc\n",
        "a:\n  b: 'c\n d'\n",
        "a: 'b\n--- c'\n",
        "a: b\nc\n",
        "n: a\n",
        "a:\n  'b\nc': d\n",
        "a: 'b\n\tc'\n",
        "a: \"b\\\n  c\"\n",
        "a: 'b\n  c': d\n",
        "'a\n  b': c\n",
        "a: 'b\n",
        "a: 'b\n---\n  c'\n",
        "a: [b\n  c, 'd\n  e']\n",
        "a:\tb\n",
        "\ta: b\n",
        "a: b\t\n",
        "\u{feff}a: b\n",
        "? a\n: b\n",
        "a: b\rc: d\n",
        "a: \u{1}\n",
        "a: \u{85}b\n",
        "- |1\n  b\n",
        "a: |0\n  b\n",
        "a: |11\n  b\n",
        "a: |-2-\n  b\n",
        "a: |2\n b\n",
        "a: |2\n  b\n   \n",
        "a: |2\n   \n  b\n",
        "a: |2\n",
        "a: |+1\n\nb: c\n",
        "a: [b: c]\n",
        "a: [b,\nc]\n",
        "- a: [b,\n  c]\n",
        "a: [b\n  , c]\n",
        "a: [b,\n  # d\n  c]\n",
        "a: [b, # d\n  c]\n",
        "a: [b\n  c]\n",
        "a: [b,\n  c,\n  ]\n",
        "a: [b,\n\tc]\n",
        "{\"a\":\n1}\n",
        "{\"a\"\n:1}\n",
        "{\"a\":1\n",
        "{\n---\n}\n",
        "{\"a\":1}\n{\"b\":1}\n",
        "{\"a\":1}: b\n",
        "{\"a\":1}\n: b\n",
        "[\"a\": b]\n",
        "{\"a\":1,\n\"a\":2}\n",
        "a: [b c: d]\n",
        "a: {b}\n",
        "a: b: c\n",
        "a: - b\n",
        "a: 1\na: 2\n",
        "a: 1\n'a': 2\n",
        "1: a\n1: b\n",
        "1: a\n'1': b\n",
        "01: a\n",
        "-1: a\n",
        "1.0: a\n",
        "0x1: a\n",
        "1000000000000000000: a\n",
        "true: a\n",
        "null: a\n",
        "{a: b}: c\n",
        "a: |\n   b\n  c\n",
        "a: \"b\\ \n  c\"\n",
        "a: \"b\\ \t\n  c\"\n",
        "a: \"\\x4\"\n",
        "a: \"\\U00110000\"\n",
        "a: \"b \\\n  c\"\n",
        "a: 'b'c\n",
        "a: 'b'# c\n",
        "a:\n   b: c\n  d: e\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
    ] {
        assert!(!compare(text, "left"), "taken: {text:?}");
    }
}

#[test]
fn large_mappings_are_searched_for_a_key_that_comes_twice() {
    let text = |last: usize| -> String {
        let keys = (0..100).chain([last]).map(|n| format!("key{n}: v\n"));
        keys.collect()
    };
    assert!(compare(&text(100), "unique"));
    assert!(!compare(&text(57), "twice"));
}

#[test]
fn long_keys_and_values_are_read_alike() {
    let mut taken = 0;
    for length in (900..1100).step_by(7).chain([1023, 1024, 1025, 5000]) {
        for letter in ["k", "\u{e9}", "\u{65e5}"] {
            let long = letter.repeat(length);
            for text in [
                format!("{long}: v\n"),
                format!("'{long}': v\n"),
                format!("- {long}    : v\n"),
                format!("a: {{{long}: v}}\n"),
                format!("a: {{\"{long}\":v}}\n"),
                format!("a: {long}\nb: '{long}'\nc: [{long}, {long}]\n"),
                format!("- {long}\n- '{long}'\n- [{long}, {long}]\n- {{a: {long}}}\n"),
                format!("- a: {long}  # {long}\n  b: |\n   {long}\n  c: d\n"),
            ] {
                taken += usize::from(compare(&text, "long"));
            }
        }
    }
    assert!(taken > 100);
}

#[test]
fn deep_collections_are_read_alike() {
    let deepest = MAX_DEPTH - 1;
    for depth in (0..9).chain(100..103).chain(deepest - 2..deepest + 3) {
        let nested: String = (0..depth).map(|n| format!("{:n$}a:\n", "")).collect();
        let text = format!("{nested}{:depth$}a: b\nc: d\n", "");
        assert_eq!(compare(&text, "mappings"), depth <= deepest);
        compare(&format!("{}a\n- b\n", "- ".repeat(depth)), "dashes");
        let flow = format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
        compare(&flow, "flow");
        let mappings = format!("a: {}1{}\n", "{a: ".repeat(depth), "}".repeat(depth));
        assert_eq!(compare(&mappings, "flow"), depth <= deepest, "{mappings}");
        let lines = mappings.replace('{', "{\n  ").replace('}', "\n  }");
        assert_eq!(compare(&lines, "lines"), depth <= deepest, "{lines}");
    }
}

#[test]
fn depth_is_counted_from_the_outermost_document() {
    let text = "- a:\n    b: []\n";
    let depth = |depth| {
        Tree::parse_fast(
            text,
            ParseOptions {
                depth,
                ..ParseOptions::default()
            },
        )
        .is_some()
    };
    assert!(depth(508));
    assert!(!depth(509));
    assert!(
        Tree::parse_general(
            text,
            ParseOptions {
                depth: 508,
                ..ParseOptions::default()
            }
        )
        .is_ok()
    );
    assert!(
        Tree::parse_general(
            text,
            ParseOptions {
                depth: 509,
                ..ParseOptions::default()
            }
        )
        .is_err()
    );
}

#[test]
fn mutated_texts_are_read_alike() {
    fuzz(20_000, &seeds());
}

#[test]
fn mutated_json_is_read_alike() {
    fuzz(10_000, &json_seeds());
}

/// The long run of `.ci/run`.
#[test]
#[ignore = "takes a minute in a release build"]
fn a_million_mutated_texts_are_read_alike() {
    fuzz(1_200_000, &seeds());
    fuzz(500_000, &json_seeds());
}

fn fuzz(inputs: usize, seeds: &[String]) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut taken = 0;
    for _ in 0..inputs {
        let mut text = random.pick(seeds).clone().into_bytes();
        // Most texts with one change or two: more of them stay in the scanner's part of YAML.
        let most = [1, 1, 2, 5];
        let changes = *random.pick(&most);
        for _ in 0..=random.below(changes) {
            mutate(&mut text, seeds, &mut random);
        }
        let text = String::from_utf8_lossy(&text);
        taken += usize::from(compare(&text, "mutated"));
    }
    println!("the scanner took {taken} of {inputs} mutated texts");
    assert!(taken * 10 > inputs, "only {taken} of {inputs} were taken");
}

/// Windows of lines from all texts, and the constructs above.
fn seeds() -> Vec<String> {
    let mut seeds: Vec<String> = TAKEN.iter().map(|text| (*text).to_owned()).collect();
    for text in [texts::own_cases(), texts::shared()].into_iter().flatten() {
        let lines: Vec<&str> = text.text.split_inclusive('\n').collect();
        for window in lines.chunks(24).take(8) {
            let window: String = window.concat();
            if window.len() >= 2000 {
                continue;
            }
            if seeds.len().is_multiple_of(8) {
                seeds.push(window.replace('\n', "\r\n"));
            }
            seeds.push(window);
        }
    }
    seeds
}

/// What the windows hold as JSON: on one line, printed over several, and within block collections.
fn json_seeds() -> Vec<String> {
    let mut json = Vec::new();
    for (number, seed) in seeds().iter().enumerate() {
        let Ok(tree) = Tree::parse(seed, ParseOptions::default()) else {
            continue;
        };
        let root = Document::new(seed, &tree).root(0);
        let Some(value) = root.and_then(|root| root.value()) else {
            continue;
        };
        let Ok(value) = value.to_json().parse::<serde_json::Value>() else {
            continue;
        };
        let (line, printed) = (value.to_string(), format!("{value:#}\n"));
        json.push(match number % 10 {
            0 | 1 => line,
            2 => format!("# a\n---\n{line}\n---\n{printed}"),
            3 => format!("a: {line} # b\nc:\n- {line}\n- {line}\n"),
            4 => format!("a: {}c:\n- {}", deeper(&printed, 1), deeper(&printed, 2)),
            5 => format!("[{line},{line},\n{printed}]\n"),
            6 => printed.replace('\n', "\r\n"),
            _ => printed,
        });
    }
    json.retain(|text| text.len() < 4000);
    json
}

/// Each line but the first, so many spaces to the right.
fn deeper(text: &str, spaces: usize) -> String {
    let lines = text.lines().collect::<Vec<_>>();
    lines.join(&format!("\n{:spaces$}", "")) + "\n"
}

const TOKENS: [&str; 83] = [
    "- ",
    "-",
    ": ",
    ":",
    "#",
    " #",
    " # c",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "  ",
    "    ",
    "|",
    "|-",
    "|+",
    ">",
    ">-",
    "|2",
    "\"",
    "'",
    "''",
    "\\",
    "\\n",
    "\\\"",
    "\\u00e9",
    "\\x41",
    "\\U0001F600",
    "\\P",
    "\\ ",
    "[",
    "]",
    "{",
    "}",
    ",",
    ", ",
    "[]",
    "{}",
    "[a, b]",
    "{a: b}",
    "{\"a\":1}",
    "&a ",
    "*a",
    "!!str ",
    "---\n",
    "--- ",
    "...\n",
    "%YAML 1.2\n",
    "? ",
    "?",
    "@",
    "`",
    "~",
    "a",
    "a: b\n",
    "- a\n",
    "- a: b\n",
    "\u{feff}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{e9}",
    "\0",
    "\u{7f}",
    "\n\n",
    "-\n",
    ",\n",
    "[\n",
    "{\n",
    "\n}",
    "\n]",
    "\": ",
    "\":",
    "null",
    "\n  ",
    "\n   x",
    "\n\n  - ",
    " 'a\n  b'",
    " \"a\n\n   b \"",
    " 'a\nb'",
    " \"a\n\n  b\"",
    " \n",
];

fn mutate(text: &mut Vec<u8>, seeds: &[String], random: &mut Random) {
    let at = random.below(text.len() + 1);
    match random.below(12) {
        0 if at < text.len() => text[at] ^= 1 << random.below(7),
        1 if at < text.len() => drop(text.remove(at)),
        2..=4 => {
            let token = random.pick(&TOKENS).bytes();
            text.splice(at..at, token);
        }
        5 => {
            let end = (at + random.below(12)).min(text.len());
            text.drain(at..end);
        }
        6 => {
            let other = random.pick(seeds).as_bytes();
            let from = random.below(other.len() + 1);
            let to = (from + random.below(40)).min(other.len());
            text.splice(at..at, other[from..to].iter().copied());
        }
        7 => text.truncate(at),
        _ => mutate_line(text, at, seeds, random),
    }
}

fn mutate_line(text: &mut Vec<u8>, at: usize, seeds: &[String], random: &mut Random) {
    let start = text[..at].iter().rposition(|b| *b == b'\n');
    let start = start.map_or(0, |n| n + 1);
    let end = text[at..].iter().position(|b| *b == b'\n');
    let end = end.map_or(text.len(), |n| at + n + 1);
    let line = text[start..end].to_vec();
    let spaces = line.iter().take_while(|b| **b == b' ').count();
    match random.below(6) {
        0 => drop(text.drain(start..end)),
        1 => drop(text.splice(start..start, line)),
        2 => drop(text.splice(start..start, vec![b' '; 1 + random.below(4)])),
        3 => drop(text.drain(start..start + random.below(spaces + 1))),
        4 => {
            // Behind another line.
            text.drain(start..end);
            let to = random.below(text.len() + 1);
            let to = text[..to].iter().rposition(|b| *b == b'\n');
            let to = to.map_or(0, |n| n + 1);
            text.splice(to..to, line);
        }
        _ => {
            let other = random.pick(seeds);
            let count = other.split_inclusive('\n').count();
            let from = random.below(count.max(1));
            let lines = other.split_inclusive('\n').skip(from);
            let lines: String = lines.take(1 + random.below(3)).collect();
            text.splice(start..start, lines.into_bytes());
        }
    }
}

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 16) % limit.max(1) as u64).expect("below a usize")
    }

    fn pick<'s, T>(&mut self, from: &'s [T]) -> &'s T {
        &from[self.below(from.len())]
    }
}

//! Translates RE2 regular expressions for the `regex` crate.
//!
//! `^\w+$` -> `^[0-9A-Za-z_]+$`
//!
//! The two syntaxes are almost the same. In RE2, Perl classes and word boundaries are ASCII only, character classes
//! have neither nesting nor set operations, and `\<` and `\u` have no special meaning.

/// The flags of RE2.
const FLAGS: &str = "imsU-";

/// Translates a pattern to the syntax of the `regex` crate.
///
/// # Errors
/// The pattern uses syntax that the crate accepts and RE2 does not.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    // The position of the first element of the character class, within one.
    let mut class: Option<usize> = None;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = escape(rest, class.is_some(), &mut out)?,
            '[' if class.is_none() => {
                out.push('[');
                if let Some(negated) = rest.strip_prefix('^') {
                    out.push('^');
                    rest = negated;
                }
                class = Some(out.len());
            }
            '[' => match rest.strip_prefix(':').and_then(|name| name.find(":]")) {
                // `[:alpha:]`
                Some(end) => {
                    let (name, after) = rest.split_at(end + 3);
                    out.extend(["[", name]);
                    rest = after;
                }
                None => out.push_str("\\["),
            },
            ']' if class.is_some_and(|first| first < out.len()) => {
                out.push(']');
                class = None;
            }
            // These are literals in an RE2 class.
            ']' | '&' | '~' if class.is_some() => out.extend(['\\', c]),
            '(' if class.is_none() => {
                out.push('(');
                rest = flags(rest, &mut out)?;
            }
            other => out.push(other),
        }
    }
    match class {
        Some(_) => Err("missing closing ]".to_owned()),
        None => Ok(out),
    }
}

/// Translates an escape sequence, after its backslash. Gives what follows it.
fn escape<'p>(text: &'p str, in_class: bool, out: &mut String) -> Result<&'p str, String> {
    let mut characters = text.chars();
    let Some(c) = characters.next() else {
        return Err("trailing backslash at end of expression".to_owned());
    };
    let rest = characters.as_str();
    let translated = match c {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        's' => r"[\t\n\f\r ]",
        'S' => r"[^\t\n\f\r ]",
        'b' if !in_class => r"(?-u:\b)",
        'B' if !in_class => r"(?-u:\B)",
        // Everything up to `\E`, or the end, is literal.
        'Q' if !in_class => {
            let (literal, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
            out.push_str(&regex::escape(literal));
            return Ok(rest);
        }
        // A `\E` without `\Q` has no effect.
        'E' if !in_class => "",
        '<' => "<",
        '>' => ">",
        'u' | 'U' | 'b' | 'B' => return Err(format!("invalid escape sequence: `\\{c}`")),
        other => {
            out.extend(['\\', other]);
            ""
        }
    };
    out.push_str(translated);
    Ok(rest)
}

/// The flags of a group, after its parenthesis. Gives what follows them.
fn flags<'p>(text: &'p str, out: &mut String) -> Result<&'p str, String> {
    let Some(mut rest) = text.strip_prefix('?') else {
        return Ok(text);
    };
    out.push('?');
    let is_flag = |c: &char| c.is_ascii_alphabetic() || *c == '-';
    while let Some(flag) = rest.chars().next().filter(is_flag) {
        out.push(flag);
        rest = &rest[1..];
        if flag == 'P' {
            break;
        }
        if !FLAGS.contains(flag) {
            return Err(format!("invalid or unsupported flag: `{flag}`"));
        }
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::super::functions::pattern;

    #[test]
    fn patterns_match_as_in_re2() {
        for (source, text, expected) in [
            // Perl classes are ASCII.
            (r"^\w$", "ä", false),
            (r"^\W$", "ä", true),
            (r"^[\w-]+$", "a-ä", false),
            (r"^[^\w]$", "ä", true),
            (r"^[\W]$", "ä", true),
            (r"^\d$", "٣", false),
            (r"^\D$", "٣", true),
            (r"^[\d]$", "٣", false),
            (r"^\s$", "\u{a0}", false),
            (r"^\S$", "\u{a0}", true),
            (r"^\s$", "\u{b}", false),
            (r"^\s$", "\t", true),
            (r"ä\b", "äa", true),
            (r"\bä", "ä", false),
            (r"\ba\b", "a", true),
            (r"^\B", "ä", true),
            (r"^[[:alpha:]]$", "ä", false),
            (r"^[[:^alpha:]]$", "ä", true),
            (r"^[[:word:]]$", "ä", false),
            // Everything else is Unicode.
            (r"^.$", "ä", true),
            (r"^\pL$", "ä", true),
            (r"^\p{Greek}$", "β", true),
            (r"(?i)^Ä$", "ä", true),
            (r"^[^a]$", "ä", true),
            // Classes have no nesting and no set operations.
            (r"^[a&&b]$", "&", true),
            (r"^[[]$", "[", true),
            (r"^[a[b]$", "[", true),
            (r"^[]a]$", "]", true),
            (r"^[^]a]$", "]", false),
            (r"^[a~~b]$", "~", true),
            (r"^[[:x]$", ":", true),
            // Literals, and other escapes.
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"^\Qa.b", "a.bc", true),
            (r"^a\E$", "a", true),
            (r"^a\>$", "a>", true),
            (r"\.example\.com$", "a.example.com", true),
            (r"^(?P<name>a)(?:b)$", "ab", true),
            (r"a$", "a\n", false),
            (r"(?s)^.$", "\n", true),
            (r"(?m)^b$", "a\nb", true),
        ] {
            let made = pattern(source).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert_eq!(made.is_match(text), expected, "{source} on {text:?}");
        }
        for refused in [
            r"(?x)a", r"(?u)a", r"(?R)a", r"a\", r"[a", r"\u0041", r"(?=a)", r"\1", "(", r"[\E]",
            r"[\Qa]", r"[\b]", r"[\B]",
        ] {
            assert!(pattern(refused).is_err(), "{refused}");
        }
    }
}

//! Translates RE2 regular expressions for the `regex` crate.
//!
//! `^\w+$` -> `^[0-9A-Za-z_]+$`
//!
//! The two syntaxes are almost the same. In RE2, Perl classes and word boundaries are ASCII only, character classes
//! have neither nesting nor set operations, and `\<` and `\u` have no special meaning.

use std::iter::Peekable;
use std::str::Chars;

/// The flags of RE2.
const FLAGS: &str = "imsU-";

/// Translates a pattern to the syntax of the `regex` crate.
///
/// # Errors
/// The pattern uses syntax that the crate accepts and RE2 does not.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut scan = Scan {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len()),
    };
    while let Some(c) = scan.rest.next() {
        match c {
            '\\' => scan.escape(false)?,
            '[' => scan.class()?,
            '(' => scan.group()?,
            other => scan.out.push(other),
        }
    }
    Ok(scan.out)
}

struct Scan<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
}

impl Scan<'_> {
    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some(c) = self.rest.next() else {
            return Err("trailing backslash at end of expression".to_owned());
        };
        let class = match c {
            'd' => "[0-9]",
            'D' => "[^0-9]",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            's' => r"[\t\n\f\r ]",
            'S' => r"[^\t\n\f\r ]",
            'b' if !in_class => r"(?-u:\b)",
            'B' if !in_class => r"(?-u:\B)",
            'Q' if !in_class => {
                self.literal();
                return Ok(());
            }
            // A `\E` without `\Q` has no effect.
            'E' if !in_class => return Ok(()),
            '<' | '>' => {
                self.out.push(c);
                return Ok(());
            }
            'u' | 'U' | 'b' | 'B' => {
                return Err(format!("invalid escape sequence: `\\{c}`"));
            }
            other => {
                self.out.extend(['\\', other]);
                return Ok(());
            }
        };
        self.out.push_str(class);
        Ok(())
    }

    /// Copies the text between `\Q` and `\E`, or up to the end, as a literal.
    fn literal(&mut self) {
        let mut text = String::new();
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.peek() == Some(&'E') {
                self.rest.next();
                break;
            }
            text.push(c);
        }
        self.out.push_str(&regex::escape(&text));
    }

    /// Translates a character class. Its opening bracket has already been read.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut is_first = true;
        while let Some(c) = self.rest.next() {
            match c {
                ']' if !is_first => {
                    self.out.push(']');
                    return Ok(());
                }
                '\\' => self.escape(true)?,
                '[' if self.rest.peek() == Some(&':') => self.named_class(),
                // These characters are literal in RE2.
                '[' | ']' | '&' | '~' => self.out.extend(['\\', c]),
                other => self.out.push(other),
            }
            is_first = false;
        }
        Err("missing closing ]".to_owned())
    }

    /// Translates a named class such as `[:alpha:]` after its bracket. Without an end, the bracket is literal.
    fn named_class(&mut self) {
        let mut ahead = self.rest.clone();
        let mut name = String::new();
        ahead.next();
        for c in ahead.by_ref() {
            name.push(c);
            if name.ends_with(":]") {
                self.out.push_str("[:");
                self.out.push_str(&name);
                self.rest = ahead;
                return;
            }
        }
        self.out.push_str("\\[");
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        while let Some(flag) = self.rest.next_if(|c| c.is_ascii_alphabetic() || *c == '-') {
            self.out.push(flag);
            if flag == 'P' {
                break;
            }
            if !FLAGS.contains(flag) {
                return Err(format!("invalid or unsupported flag: `{flag}`"));
            }
        }
        Ok(())
    }
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

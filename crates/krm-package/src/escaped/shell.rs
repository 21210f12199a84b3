//! Words of command lines that a person can copy.

use std::fmt::Write;

use super::characters::is_unsafe;

/// Quotes a word so that a shell reads it as one word, and a person sees what it is. A word that cannot be shown as it
/// is has its bytes as escapes in `$'...'`.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.contains(is_unsafe) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = "$'".to_owned();
    for character in word.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\'' | '\\' => quoted.extend(['\\', character]),
            _ if is_unsafe(character) => {
                // Three octal digits end by themselves, unlike hexadecimal ones in some shells.
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String does not fail.
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(character),
        }
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::printable;
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("x[0]"), "'x[0]'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a/b.yaml:spec.replicas"), "a/b.yaml:spec.replicas");
        assert_eq!(
            quoted("a\n\u{1b}'\\1\u{202e}"),
            r"$'a\n\033\'\\1\342\200\256'"
        );
    }

    #[test]
    fn a_shell_reads_the_word_that_was_quoted() {
        let hostile = "a\u{1b}1[2J'\"\\$(id)`id`\n\r\t\u{9b}9\u{202e}\u{200b}*? ;&|<>#~!é漢";
        let words: Vec<String> = hostile
            .char_indices()
            .map(|(at, _)| hostile[at..].to_owned())
            .collect();
        for word in &words {
            let line = quoted(word);
            assert_eq!(printable(&line), line);
            let shell = Command::new("bash")
                .args(["-c", &format!("printf %s {line}")])
                .output();
            // A system without bash.
            let Ok(output) = shell else { return };
            assert_eq!(String::from_utf8_lossy(&output.stdout), *word, "{line}");
        }
    }
}

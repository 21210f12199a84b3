//! Whether a text holds a Secret: a manifest, a kustomization, a patch, as YAML or JSON, and what encodes one.

use std::sync::LazyLock;

use memchr::memmem;
use regex_lite::Regex;

use krm_address::encoded::{base64_decoded, is_base64, percent_decoded};

use super::carriers::{SecretPlace, TextReader, holds, of_root};
use krm_yaml::OwnedDocument;

/// A line that says that what follows is a Secret or makes one: `kind: Secret`, also in JSON, in a string, or commented out.
const SECRET_LINE: &str = concat!(
    r#"(?:^|[^A-Za-z0-9_./])(?:kind["'\\]*[ \t]*:[ \t]*(?:[&!][^ \n]+[ \t]+)*["'\\]*Secret(?:List|Generator)?"#,
    r#"["'\\]*[ \t\r]*(?:$|[,}\]#]|\\[nr])|(?:stringData|secretGenerator)["'\\]*[ \t]*:)"#
);

/// Whether a text seems to define a Secret, judging by its lines: a text that is not YAML has no resources.
pub fn speaks_of_secret(text: &[u8]) -> bool {
    #[expect(clippy::expect_used, reason = "a constant, which a test compiles")]
    static LINE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(SECRET_LINE).expect("a regular expression"));
    let has = |text: &[u8]| WORDS.iter().any(|word| memmem::find(text, word).is_some());
    // A match has no end of a line or field in it but the last byte. Only parts with such a word are matched.
    let ends_part = |byte: &u8| matches!(byte, b'\n' | b',' | b'{' | b'}');
    let mut parts = text.split_inclusive(ends_part);
    has(text)
        && parts.any(|part| {
            has(part) && LINE.is_match(String::from_utf8_lossy(part).trim_end_matches('\n'))
        })
}

/// What says that a Secret follows has one of these.
const WORDS: [&[u8]; 3] = [b"Secret", b"stringData", b"secretGenerator"];

/// Reads texts within texts so many levels deep.
pub(super) const fn reader(levels: usize) -> TextReader {
    TextReader {
        levels,
        holds_secret,
    }
}

/// Whether a text in a place holds a value of a Secret. Texts within texts are followed `levels` times; a text that is nested
/// deeper counts as secret.
fn holds_secret(text: &str, place: SecretPlace, levels: usize) -> bool {
    if let Some(decoded) = decoded(text) {
        return match (decoded, levels.checked_sub(1)) {
            (Decoded::Text(text), Some(left)) => holds_secret(&text, place, left),
            (Decoded::Text(_), None) | (Decoded::Compressed, _) => true,
        };
    }
    if !may_hold(text) {
        return false;
    }
    let Some(left) = levels.checked_sub(1) else {
        return true;
    };
    if speaks_of_secret(text.as_bytes()) {
        return true;
    }
    let Ok(owned) = OwnedDocument::parse(text.to_owned()) else {
        return false;
    };
    owned.roots().any(|root| {
        let is_other = place == SecretPlace::OtherPatch;
        // A plain text is read as one scalar, the same text again.
        if root
            .scalar_text()
            .is_some_and(|own| own.trim() == text.trim())
        {
            return false;
        }
        let place = match of_root(root) {
            SecretPlace::Plain if is_other => SecretPlace::OtherPatch,
            place => place,
        };
        holds(place, root, reader(left))
    })
}

/// Whether a text is worth parsing: it has the words of a Secret, of a patch of one, or escapes that can spell them.
fn may_hold(text: &str) -> bool {
    let has = |word: &[u8]| memmem::find(text.as_bytes(), word).is_some();
    has(b"ecret")
        || has(b"stringData")
        || has(b"/data")
        || has(b"\\") && (has(b"kind") || has(b"\\x") || has(b"\\u"))
        || encoded_word(text).is_some()
}

/// The first word of a text that is long enough to encode a manifest.
fn encoded_word(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| c.is_whitespace() || "\"',;".contains(c));
    words.find(|word| {
        let begin = word.as_bytes().get(..SHORTEST);
        begin.is_some_and(|begin| {
            // Other long words encode no text.
            let bytes = base64_decoded(begin);
            let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
            begin.iter().all(|byte| is_base64(*byte))
                && (bytes.iter().all(is_text) || bytes.starts_with(&GZIP))
        })
    })
}

/// How compressed data begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The shortest encoded text that is decoded. A Secret with a value is longer.
const SHORTEST: usize = 32;

enum Decoded {
    Text(String),
    /// Nothing shows what is in it.
    Compressed,
}

/// The text that a whole text encodes: base64, in lines or not, or the address of data.
fn decoded(text: &str) -> Option<Decoded> {
    let text = text.trim();
    let data = match text.strip_prefix("data:") {
        Some(data) => {
            let (kind, data) = data.split_once(',')?;
            if !kind.ends_with("base64") {
                let (bytes, _) = percent_decoded(data);
                return Some(Decoded::Text(String::from_utf8_lossy(&bytes).into_owned()));
            }
            data
        }
        None => text,
    };
    if data.len() < SHORTEST
        || !data
            .bytes()
            .all(|b| is_base64(b) || b.is_ascii_whitespace())
    {
        return None;
    }
    let bytes = base64_decoded(data.as_bytes());
    if bytes.starts_with(&GZIP) {
        return Some(Decoded::Compressed);
    }
    // Most words are base64 by chance. They do not encode a text.
    let text = String::from_utf8(bytes).ok()?;
    let is_text = !text.contains(|c: char| c.is_control() && !c.is_whitespace());
    is_text.then_some(Decoded::Text(text))
}

#[cfg(test)]
mod tests {
    use super::{SecretPlace, holds_secret, speaks_of_secret};

    const PLAIN: SecretPlace = SecretPlace::Plain;

    #[test]
    fn lines_that_define_a_secret_are_found() {
        for text in [
            "kind: Secret",
            "- kind: Secret\r\n",
            "  kind:   'Secret' # it is",
            r#"{"apiVersion":"v1","kind":"Secret","data":{}}"#,
            r#""{\"kind\": \"Secret\"}""#,
            r#"a: "kind: Secret\nstringData: {}""#,
            "kind: !!str Secret",
            "kind: SecretList",
            "# kind: Secret",
            "stringData:\n  a: {{ .Values.a }}",
        ] {
            assert!(speaks_of_secret(text.as_bytes()), "{text}");
        }
        for text in [
            "kind: SecretProviderClass",
            "kind: SecretStore",
            "# the kind: Secret is made by an operator",
            "# this is not a Secret",
            "secretKeyRef: {name: Secret}",
            "mykind: Secret",
            "name: Secret",
            ".spec.stringData: a",
        ] {
            assert!(!speaks_of_secret(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn texts_within_texts_and_encoded_ones_are_read() {
        let secret = "apiVersion: v1\nkind: \"Secre\\x74\"\nmetadata: {name: s}\ndata: {a: b}\n";
        let base64 =
            "YXBpVmVyc2lvbjogdjEKa2luZDogU2VjcmV0Cm1ldGFkYXRhOiB7bmFtZTogc30KZGF0YToge2E6IGJ9Cg==";
        let percent = "data:,kind%3A%20Secret%0Adata%3A%20%7Ba%3A%20b%7D";
        let operation = "- {op: add, path: /data/a, value: b}\n";
        for text in [secret, base64, percent, operation] {
            assert!(holds_secret(text, PLAIN, 8), "{text}");
        }
        let within = format!("files:\n- content: {base64}\n");
        assert!(holds_secret(&within, PLAIN, 8));
        assert!(holds_secret(
            "data:text/plain;base64,H4sIAAAAAAAAA0vOzy0oSi0uTk0BAIaOXhEJAAAA",
            PLAIN,
            8
        ));
        assert!(!holds_secret(operation, SecretPlace::OtherPatch, 8));
        for text in [
            "kind: ConfigMap\nmetadata: {name: Secret}\ndata: {a: b}\n",
            "a text with the word Secret",
            "a: 1 # not a Secret\n",
            "dGhpcyBpcyBqdXN0IGEgdGV4dCB0aGF0IGlzIGxvbmcK",
            "[\"Secret\"]",
        ] {
            assert!(!holds_secret(text, PLAIN, 8), "{text}");
        }
    }
}

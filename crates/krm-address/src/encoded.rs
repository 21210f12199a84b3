//! Texts that other texts encode: `%20` in an address, base64 in a Secret and in a login.

/// The bytes of an address with its `%` escapes resolved, and whether they are all right: a wrong one stands for itself.
pub fn percent_decoded(text: &str) -> (Vec<u8>, bool) {
    let (mut bytes, mut is_right) = (Vec::with_capacity(text.len()), true);
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let mut byte = *first;
        if byte == b'%' {
            let digits = after
                .get(..2)
                .filter(|two| two.iter().all(u8::is_ascii_hexdigit));
            let digits = digits.and_then(|two| std::str::from_utf8(two).ok());
            match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
                Some(escaped) => (byte, rest) = (escaped, &after[2..]),
                None => is_right = false,
            }
        }
        bytes.push(byte);
    }
    (bytes, is_right)
}

/// Whether base64 has this character, for either of its alphabets or as padding.
pub fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

/// The bytes that base64 encodes. Padding, line breaks and other characters are passed over.
pub fn base64_decoded(data: &[u8]) -> Vec<u8> {
    let (mut bits, mut count) = (0_u32, 0);
    let mut bytes = Vec::with_capacity(data.len() / 4 * 3);
    for byte in data {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        for (text, expected) in [
            ("bWU6cHc=", "me:pw"),
            ("bWU6cHc", "me:pw"),
            ("bWU6\ncGFzcw==", "me:pass"),
            ("", ""),
        ] {
            assert_eq!(
                base64_decoded(text.as_bytes()),
                expected.as_bytes(),
                "{text}"
            );
        }
    }

    #[test]
    fn invalid_escapes_are_taken_literally() {
        for (text, expected, is_right) in [
            ("a%20b%2Fc", "a b/c", true),
            ("%", "%", false),
            ("%2", "%2", false),
            ("%+1%zz%41", "%+1%zzA", false),
        ] {
            assert_eq!(percent_decoded(text), (expected.into(), is_right), "{text}");
        }
    }
}

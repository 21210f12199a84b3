//! File names in the headers of a diff, quoted as git quotes them (`quote_c_style`).

/// A file name as git writes it.
pub(super) fn quote(name: &str) -> String {
    if !name
        .chars()
        .any(|c| c.is_control() || c == '"' || c == '\\')
    {
        return name.into();
    }
    quote_always(name)
}

/// The same, always in quotes.
pub(super) fn quote_always(name: &str) -> String {
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            other if other.is_control() => {
                for byte in other.encode_utf8(&mut [0; 4]).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

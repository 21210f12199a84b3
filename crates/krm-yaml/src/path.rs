//! Paths into a value: `spec.template.spec.containers[0].image`.

use std::fmt;

/// One step of a path, as structured-merge-diff names them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathElement {
    /// The value of a mapping entry.
    Field(String),
    /// The element of a keyed list: its keys and their values as written.
    Key(Vec<(String, String)>),
    /// The element of a set: its value as written.
    Value(String),
    /// The element of any list, counted from 0.
    Index(usize),
}

/// A path from the root of a resource to one of its nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Path(Vec<PathElement>);

impl Path {
    /// The path of the root.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of field names only.
    #[must_use]
    pub fn fields(names: &[&str]) -> Self {
        Self(
            names
                .iter()
                .map(|name| PathElement::Field((*name).to_owned()))
                .collect(),
        )
    }

    /// This path with one more element.
    #[must_use]
    pub fn child(&self, element: PathElement) -> Self {
        let mut elements = self.0.clone();
        elements.push(element);
        Self(elements)
    }

    /// This path with one more field.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        self.child(PathElement::Field(name.to_owned()))
    }

    /// This path with one more list index.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.child(PathElement::Index(index))
    }

    /// Reads a printed path. `None` if the text is not a path.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut path = Self::root();
        let mut rest = text;
        while !rest.is_empty() {
            let quoted = rest.strip_prefix('[').and_then(unquote);
            let (element, after) = if let Some((name, after)) = quoted {
                (PathElement::Field(name), after.strip_prefix(']')?)
            } else if let Some(inner) = rest.strip_prefix('[') {
                element(inner)?
            } else {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (name, after) = name.split_at(end);
                (PathElement::Field(name.to_owned()), after)
            };
            path.0.push(element);
            rest = after;
        }
        Some(path)
    }

    /// Its elements, from the root down.
    #[must_use]
    pub fn elements(&self) -> &[PathElement] {
        &self.0
    }
}

/// Reads an element of a list up to its closing bracket. Returns it and the rest after the bracket.
fn element(text: &str) -> Option<(PathElement, &str)> {
    if let Some(value) = text.strip_prefix('=') {
        let (value, after) = unquoted(value)?;
        return Some((PathElement::Value(value), after.strip_prefix(']')?));
    }
    if let Some((index, after)) = text.split_once(']')
        && let Ok(index) = index.parse()
    {
        return Some((PathElement::Index(index), after));
    }
    let (mut keys, mut rest) = (Vec::new(), text);
    loop {
        let (key, value) = rest.split_once('=')?;
        let (value, after) = unquoted(value)?;
        keys.push((key.to_owned(), value));
        rest = match after.strip_prefix(',') {
            Some(more) => more,
            None => return Some((PathElement::Key(keys), after.strip_prefix(']')?)),
        };
    }
}

/// Reads a value in brackets, as [`Quoted`] prints it. Returns it and the rest after it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"') {
        return unquote(text);
    }
    let (value, rest) = text.split_at(text.find([',', ']'])?);
    Some((value.to_owned(), rest))
}

/// Whether a name needs no brackets in a printed path.
fn is_bare(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_/$".contains(&b))
}

/// Prints a value in brackets; in quotes if one of its characters has a meaning there.
struct Quoted<'v>(&'v str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value) = self;
        let is_plain = !value.is_empty()
            && value.trim() == *value
            && !value.contains(|c| char::is_control(c) || "[],=*\"".contains(c));
        if is_plain {
            f.write_str(value)
        } else {
            write!(f, "{value:?}")
        }
    }
}

/// Reads a quoted text as a path prints it. Returns the text and the rest after the closing quote. `None` if a quote is
/// missing or an escape is unknown.
pub fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut rest = quoted.strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        text.push(match rest.next()? {
            '"' => return Some((text, rest.as_str())),
            '\\' => match rest.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'u' => {
                    let (code, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                    rest = after.chars();
                    char::from_u32(u32::from_str_radix(code, 16).ok()?)?
                }
                itself @ ('"' | '\'' | '\\') => itself,
                _ => return None,
            },
            character => character,
        });
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, element) in self.0.iter().enumerate() {
            match element {
                PathElement::Field(name) if is_bare(name) => {
                    write!(f, "{}{name}", if i == 0 { "" } else { "." })?;
                }
                PathElement::Field(name) => write!(f, "[{name:?}]")?,
                PathElement::Index(index) => write!(f, "[{index}]")?,
                PathElement::Value(value) => write!(f, "[={}]", Quoted(value))?,
                PathElement::Key(keys) => {
                    let keys = keys.iter().map(|(k, v)| format!("{k}={}", Quoted(v)));
                    write!(f, "[{}]", keys.collect::<Vec<_>>().join(","))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_kubernetes_writes_them() {
        let path = Path::fields(&["spec", "containers"])
            .index(0)
            .field("image");
        assert_eq!(path.to_string(), "spec.containers[0].image");
        let path = Path::fields(&["metadata", "annotations", "kpt.dev/config-injection"]);
        assert_eq!(
            path.to_string(),
            r#"metadata.annotations["kpt.dev/config-injection"]"#
        );
        let path = path.index(3).field("").field("a]\"").index(0).index(1);
        assert_eq!(Path::parse(&path.to_string()), Some(path));
        let element = |keys: &[(&str, &str)]| {
            let keys = keys.iter();
            let keys = keys.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            PathElement::Key(keys.collect())
        };
        let path = Path::fields(&["ports"])
            .child(element(&[("port", "80"), ("protocol", "a,]=\"")]))
            .field("name");
        assert_eq!(Path::parse(&path.to_string()), Some(path));
        let path = Path::fields(&["args"]).child(PathElement::Value("-v=5]".to_owned()));
        assert_eq!(Path::parse(&path.to_string()), Some(path));
        for wrong in ["a[name", "a[name=b", "a[name=b].c[", "a[]", "a[x]", "a[=b"] {
            assert_eq!(Path::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_text_in_quotes_is_read_as_it_was_written() {
        for text in [
            "",
            "a.b",
            "\"]\\",
            "\n\r\t\0'",
            "\u{1b}\u{202e}ä\u{301}",
            "\\u{41}",
        ] {
            let quoted = format!("{text:?}]");
            assert_eq!(unquote(&quoted), Some((text.to_owned(), "]")), "{quoted}");
        }
        for wrong in [
            "",
            "a",
            "\"a",
            r#""\""#,
            r#""\x""#,
            r#""\u41""#,
            r#""\u{110000}""#,
        ] {
            assert_eq!(unquote(wrong), None, "{wrong}");
        }
    }
}

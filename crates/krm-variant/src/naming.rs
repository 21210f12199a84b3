//! Names of generated objects. They are the same as Porch's, so that fleets of Porch can be taken over.
//!
//! `fleet` + `cluster-01` + `foo` -> `fleet-cluster-01-foo`
//!
//! Source: contract, expand-variant-set.

/// The most bytes of an object's name that is also used as the value of a label.
const LONGEST: usize = 63;
/// How many hex digits of a hash distinguish shortened names.
const DIGITS: usize = 8;

/// The name of the PackageVariant that a set creates for a downstream package.
pub(crate) fn variant_name(set: &str, repo: &str, package: &str) -> String {
    let full = [set, repo, package].join("-");
    if is_object_name(&full) {
        shortened(full)
    } else {
        hashed(&cleaned(&full), &full)
    }
}

/// The name that Porch gives to a PackageRevision: `<repository>.<package>.<workspace>`.
pub fn revision_name(repository: &str, package: &str, workspace: &str) -> String {
    format!("{repository}.{}.{workspace}", package.replace('/', "."))
}

/// The value of a label that names an object: the name itself if it is short enough.
pub fn label_value(text: &str) -> String {
    shortened(text.to_owned())
}

fn shortened(full: String) -> String {
    if full.len() <= LONGEST {
        return full;
    }
    hashed(&full, &full)
}

/// The beginning of a name, with a hash of the full name.
fn hashed(name: &str, full: &str) -> String {
    let mut digest = sha1_smol::Sha1::from(full).digest().to_string();
    digest.truncate(DIGITS);
    let mut end = name.len().min(LONGEST - DIGITS - 1);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    // `a.-0123abcd` is not a valid name: a DNS label cannot begin with a dash.
    format!("{}-{digest}", name[..end].trim_end_matches('.'))
}

/// Whether the text is a valid object name: DNS labels of lowercase letters, digits and dashes, separated by dots.
fn is_object_name(text: &str) -> bool {
    text.split('.').all(|label| {
        let is_legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(is_legal)
    })
}

/// Replaces all characters that object names cannot contain: `Team A/b` -> `team-a-b`.
fn cleaned(text: &str) -> String {
    let replace = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9' | '-' | '.') => c,
        _ => '-',
    };
    let name: String = text.trim_end_matches('.').chars().map(replace).collect();
    // A dot needs a letter or digit on both sides.
    let bytes = name.as_bytes();
    let is_inner = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let cleaned = bytes.iter().enumerate().map(|(i, byte)| {
        let before = i.checked_sub(1).and_then(|i| bytes.get(i));
        match byte {
            b'.' if !is_inner(before) || !is_inner(bytes.get(i + 1)) => '-',
            other => char::from(*other),
        }
    });
    let cleaned: String = cleaned.collect();
    cleaned.trim_start_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variants() {
        let long = "a".repeat(60);
        for (set, repo, package, expected) in [
            ("fleet", "cluster-01", "foo", "fleet-cluster-01-foo"),
            ("a.b", "c", "d", "a.b-c-d"),
            // 63 bytes pass, 64 are shortened.
            (
                "s",
                "r",
                &"p".repeat(59),
                &format!("s-r-{}", "p".repeat(59)),
            ),
            // The expected hashes come from `printf %s NAME | sha1sum`.
            (
                "s",
                "r",
                &"p".repeat(60),
                &format!("s-r-{}-7247825c", "p".repeat(50)),
            ),
            ("s", "r", "Team A/b", "s-r-team-a-b-7d90e7d9"),
            ("s", "r", "b_", "s-r-b--f2df0415"),
            ("s", "r", "b.", "s-r-b-4b47be90"),
            // A dot is kept only between letters or digits.
            ("s", "r", "a.b_", "s-r-a.b--48efe755"),
            ("s", "r", "a.-b", "s-r-a--b-41705659"),
            ("s", "r", "a-.b", "s-r-a--b-08c836ad"),
        ] {
            assert_eq!(variant_name(set, repo, package), expected);
        }
        // A dot at the cut is dropped.
        let name = variant_name(&long[..49], "r", "x.yyyyyyyyyyyyyyyyyyyyyyyy");
        assert!(name.starts_with(&format!("{}-r-x-", &long[..49])), "{name}");
    }
}

//! Image references: a repository (registry and path) and a version (tag and digest) that change independently.
//!
//! ```text
//! docker.io/app:1 -> mirror/app:1   # local
//! docker.io/app:1 -> docker.io/app:2   # upstream
//! mirror/app:2   # merged
//! ```

use super::super::super::kptfile::{last_component, repository};
use super::super::super::rule::{self, Outcome, Side};
use super::super::super::text::PartConflict;
use super::super::super::versions::Versions;
use super::MergedText;
use krm_yaml::Value;

/// An image reference at the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Image<'a> {
    /// The text before it: `--flag=`, or nothing.
    prefix: &'a str,
    /// Registry and path.
    repository: &'a str,
    /// Tag and digest, with the character before them.
    version: &'a str,
}

impl<'a> Image<'a> {
    /// Reads a line that is an image reference, or that ends with one after `=` or `: `.
    fn of(line: &'a str) -> Option<Self> {
        let ends = [
            line.rfind('=').map(|at| at + 1),
            line.rfind(": ").map(|at| at + 2),
        ];
        let start = ends.into_iter().flatten().max().unwrap_or_default();
        let (prefix, reference) = line.split_at(start);
        let repository = repository(reference);
        let version = &reference[repository.len()..];
        (is_repository(repository) && is_version(version)).then_some(Self {
            prefix,
            repository,
            version,
        })
    }
}

/// The key under which versions of a line that ends in an image are paired. `None` for other lines.
pub(super) fn key_of_line(line: &str) -> Option<(&str, &str)> {
    let image = Image::of(line).filter(|image| !image.prefix.is_empty())?;
    Some((image.prefix, last_component(image.repository)))
}

/// Merges a line that ends in an image. `None` if a part of the image is a conflict.
pub(super) fn merge_line(lines: Versions<&str>) -> Option<String> {
    let merged = merge(lines, false, Side::Local)?;
    merged.conflicts.is_empty().then_some(merged.text)
}

/// Whether a text is a path of names, perhaps after a registry.
fn is_repository(text: &str) -> bool {
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
    let is_name = |part: &str| {
        let is_char = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
        let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        part.chars().all(is_char) && is_end(part.chars().next()) && is_end(part.chars().next_back())
    };
    match text.split_once('/') {
        Some((first, rest)) => {
            !first.is_empty() && first.chars().all(is_host) && rest.split('/').all(is_name)
                || text.split('/').all(is_name)
        }
        None => is_name(text),
    }
}

/// Whether a text is nothing, `:tag`, `@digest`, or both.
fn is_version(text: &str) -> bool {
    let (tag, digest) = text.split_at(text.find('@').unwrap_or(text.len()));
    let is_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_digest = |digest: &str| {
        let (algorithm, hash) = digest.split_once(':').unwrap_or_default();
        !algorithm.is_empty() && hash.len() >= 32 && hash.chars().all(|c| c.is_ascii_hexdigit())
    };
    let tag = tag.strip_prefix(':').map_or(tag.is_empty(), |tag| {
        !tag.is_empty() && tag.len() <= 128 && tag.chars().all(is_tag)
    });
    tag && digest.strip_prefix('@').is_none_or(is_digest)
}

/// Merges an image that both sides changed. `None` if the texts are not versions of one image, or if they merge as one
/// value.
///
/// `is_image` means that the field is always an image, so two tags are versions even if no side changed the repository.
pub(super) fn merge(texts: Versions<&str>, is_image: bool, winner: Side) -> Option<MergedText> {
    let images = texts.map(Image::of).all()?;
    let name = last_component(images.base.repository);
    let is_one = |image: Image<'_>| {
        image.prefix == images.base.prefix && last_component(image.repository) == name
    };
    if !images.into_iter().all(is_one) {
        return None;
    }
    let parts = [
        ("repository", images.map(|image| image.repository)),
        ("version", images.map(|image| image.version)),
    ];
    let outcomes = parts.map(|(_, part)| rule::merge(part.map(Some), |a, b| a == b));
    let is_alike = parts[0]
        .1
        .into_iter()
        .all(|one| one == images.base.repository);
    if outcomes == [Outcome::Conflict; 2] || is_alike && !is_image {
        return None;
    }
    let mut merged = MergedText::of(images.base.prefix);
    for ((within, part), outcome) in parts.into_iter().zip(outcomes) {
        let shown = |text: &str| Value::from(text.trim_start_matches([':', '@']));
        let side = match outcome {
            Outcome::Wins(side) => side,
            Outcome::Conflict => {
                merged.conflicts.push(PartConflict {
                    within: within.to_owned(),
                    values: texts.map(|text| Some(Value::from(text))),
                });
                winner
            }
        };
        let (taken, other) = (side.of(part), side.other().of(part));
        merged.text.push_str(taken);
        if outcome != Outcome::Conflict && taken != other {
            let brought = match side {
                Side::Local => &mut merged.local,
                Side::Upstream => &mut merged.upstream,
            };
            *brought = Some(shown(taken));
        }
    }
    Some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result, what each side changed, and the parts in conflict. `-` if the image merges as one value.
    fn merged(texts: [&str; 3]) -> String {
        let [base, local, upstream] = texts;
        let versions = Versions::new(base, local, upstream);
        let Some(merged) = merge(versions, false, Side::Upstream) else {
            return "-".to_owned();
        };
        let shown = |value: Option<Value>| value.map_or("-".to_owned(), |value| value.to_json());
        let conflicts = merged.conflicts.iter().map(|one| one.within.as_str());
        let conflicts: Vec<_> = conflicts.collect();
        format!(
            "{} {} {} {}",
            merged.text,
            shown(merged.local),
            shown(merged.upstream),
            conflicts.join(",")
        )
    }

    #[test]
    fn repository_and_version_merge_apart() {
        let digest = "@sha256:0123456789abcdef0123456789abcdef";
        let pinned = format!("quay.io/a/app:1{digest}");
        for (texts, expected) in [
            (
                ["quay.io/a/app:1", "mirror/app:1", "quay.io/a/app:2"],
                r#"mirror/app:2 "mirror/app" "2" "#,
            ),
            (
                ["quay.io/a/app:1", "quay.io/a/app:2", "ghcr.io/a/app:1"],
                r#"ghcr.io/a/app:2 "2" "ghcr.io/a/app" "#,
            ),
            (
                ["app", "host:5000/app", "app:2"],
                r#"host:5000/app:2 "host:5000/app" "2" "#,
            ),
            // A tag and a digest are one version.
            (
                ["quay.io/a/app:1", "mirror/app:1", pinned.as_str()],
                &format!(r#"mirror/app:1{digest} "mirror/app" "1{digest}" "#),
            ),
            (
                ["quay.io/a/app:1", pinned.as_str(), "ghcr.io/a/app:2"],
                r#"ghcr.io/a/app:2 - "ghcr.io/a/app" version"#,
            ),
            // After a flag, in a line.
            (
                ["--image=a/app:1", "--image=b/app:1", "--image=a/app:2"],
                r#"--image=b/app:2 "b/app" "2" "#,
            ),
            (
                [
                    "3.9.0=r/kafka:0.45",
                    "3.9.0=m/kafka:0.45",
                    "3.9.0=r/kafka:0.46",
                ],
                r#"3.9.0=m/kafka:0.46 "m/kafka" "0.46" "#,
            ),
            (["--a=r/app:1", "--b=m/app:1", "--a=r/app:2"], "-"),
            // One side has the change of the other already.
            (["a/app:1", "b/app:2", "a/app:2"], r#"b/app:2 "b/app" - "#),
            // Both changed both, or another image.
            (["a/app:1", "b/app:2", "c/app:3"], "-"),
            (["a/app:1", "b/app2:1", "a/app:2"], "-"),
            (["a/app:1", "a/app:2", "a/app:3"], "-"),
            // No images.
            (["a b", "x/a b", "a b:2"], "-"),
            (["http://a/b:1", "http://x/b:1", "http://a/b:2"], "-"),
            (["/a/b", "/x/b", "/a/b:1"], "-"),
            (["a/$(APP):1", "b/$(APP):1", "a/$(APP):2"], "-"),
            (["", "x/", ":2"], "-"),
        ] {
            assert_eq!(merged(texts), expected, "{texts:?}");
        }
    }
}

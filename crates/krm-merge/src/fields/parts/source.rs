//! Entries of a kustomization that name what it reads: a location and a version that change independently, like those
//! of an image.
//!
//! ```text
//! https://github.com/org/app//deploy?ref=v1 -> https://git.local/org/app//deploy?ref=v1     # local
//! https://github.com/org/app//deploy?ref=v1 -> https://github.com/org/app//deploy?ref=v2    # upstream
//! https://git.local/org/app//deploy?ref=v2                                                  # merged
//! ```

use super::super::super::kustomization::{KustomizationSource, Remote};
use super::super::super::rule::{self, Outcome, Side};
use super::super::super::versions::Versions;
use super::MergedText;
use krm_yaml::Value;

/// Merges a reference that both sides changed. `None` if it merges as one value.
pub(super) fn merge(texts: Versions<Option<&str>>) -> Option<MergedText> {
    let sources = texts.map(|text| text.map(KustomizationSource::of));
    if sources.local == sources.upstream
        && matches!(sources.local, Some(KustomizationSource::Path(_)))
    {
        return Some(MergedText::of(texts.local?));
    }
    let remotes = sources.map(|source| match source {
        Some(KustomizationSource::Remote(remote)) => Some(remote),
        _ => None,
    });
    let remotes = remotes.all()?;
    let all = || remotes.as_ref().into_iter();
    let is_one = |remote: &Remote<'_>| {
        remote.name() == remotes.base.name()
            && remote.versions().len() == remotes.base.versions().len()
    };
    if !all().all(is_one) {
        return None;
    }
    let locations = remotes.as_ref().map(Remote::location);
    let versions = remotes.as_ref().map(Remote::versions);
    let side = |outcome| match outcome {
        Outcome::Wins(side) => Some(side),
        Outcome::Conflict => None,
    };
    let location = side(rule::merge(locations.map(Some), |a, b| a == b))?;
    let version = side(rule::merge(versions.map(Some), |a, b| a == b))?;
    let text = Remote::text_of(location.of(locations), version.of(versions));
    let mut merged = MergedText::of(&text);
    let mut brings = |side: Side, value: Value| match side {
        Side::Local => merged.local = Some(value),
        Side::Upstream => merged.upstream = Some(value),
    };
    if locations.local != locations.upstream {
        brings(
            location,
            Value::from(location.of(locations).join("{version}")),
        );
    }
    if versions.local != versions.upstream {
        let first = version.of(versions).first().copied();
        brings(version, Value::from(first.unwrap_or_default()));
    }
    Some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_and_version_merge_apart() {
        let [github, mirror, other] = [
            "https://github.com/org/app//deploy?ref=",
            "https://git.local/mirrors/app.git//deploy?ref=",
            "https://git.local/mirrors/app//other?ref=",
        ];
        let file = |host: &str, version: &str| {
            format!("https://{host}/org/app/releases/download/v{version}/install-{version}.yaml")
        };
        for (versions, expected) in [
            (
                [github, mirror, github].map(str::to_owned),
                Some(format!("{mirror}2")),
            ),
            ([github, other, github].map(str::to_owned), None),
        ] {
            let [base, local, upstream] = &versions;
            let texts = [
                format!("{base}1"),
                format!("{local}1"),
                format!("{upstream}2"),
            ];
            let texts = Versions::from(texts.each_ref().map(|text| Some(text.as_str())));
            assert_eq!(merge(texts).map(|merged| merged.text), expected);
        }
        let texts = [
            file("github.com", "1.0"),
            file("git.local", "1.0"),
            file("github.com", "1.1.0"),
        ];
        let texts = Versions::from(texts.each_ref().map(|text| Some(text.as_str())));
        let merged = merge(texts).expect("merges");
        assert_eq!(merged.text, file("git.local", "1.1.0"));
        assert_eq!(merged.upstream, Some(Value::from("v1.1.0")));
        // Both moved on: one value.
        let texts = [1, 2, 3].map(|version| format!("{github}{version}"));
        let texts = Versions::from(texts.each_ref().map(|text| Some(text.as_str())));
        assert!(merge(texts).is_none());
    }

    #[test]
    fn two_spellings_of_one_path_are_one() {
        let texts = Versions::from([None, Some("a/b.yaml"), Some("./a/b.yaml")]);
        assert_eq!(merge(texts).expect("merges").text, "a/b.yaml");
        let texts = Versions::from([None, Some("a/b.yaml"), Some("a/c.yaml")]);
        assert!(merge(texts).is_none());
    }
}

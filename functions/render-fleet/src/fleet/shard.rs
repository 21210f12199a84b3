//! Divides a fleet into shares: the SHA-1 of the owner's name assigns each variant and package to one.

use std::str::FromStr;

use krm_core::config::UsageError;

/// Share `index` of `count`, with `index` counted from 0. All shares together are the whole fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Whether a variant, and the package that it owns, belongs to this share. The SHA-1 of its `<namespace>/<name>`,
    /// read as one big-endian number, modulo the number of shares is the index of its share.
    pub(crate) fn has(self, owner: &str) -> bool {
        let digest = sha1_smol::Sha1::from(owner).digest().bytes();
        let count = u64::from(self.count);
        let remainder = digest
            .iter()
            .fold(0, |rest, byte| (rest * 256 + u64::from(*byte)) % count);
        remainder == u64::from(self.index)
    }
}

impl FromStr for Shard {
    type Err = UsageError;

    fn from_str(text: &str) -> Result<Self, UsageError> {
        let wrong = || {
            UsageError::of(format!(
                "expected a share of the fleet such as `0/4` (the first of four), found `{text}`"
            ))
        };
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u32>().ok();
        match (number(index), number(count)) {
            (Some(index), Some(count)) if index < count => Ok(Self { index, count }),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variant_belongs_to_one_share() {
        let names: Vec<String> = (0..100).map(|n| format!("default/fleet-{n}")).collect();
        for count in [1, 2, 3, 16, 1000] {
            for name in &names {
                let shares = (0..count).filter(|index| {
                    let index = *index;
                    Shard { index, count }.has(name)
                });
                assert_eq!(shares.count(), 1, "{name} of {count}");
            }
        }
    }

    /// `printf default/a | sha1sum` prints 4c2d...; for powers of two up to 256, only its last byte matters.
    #[test]
    fn the_digest_is_one_big_endian_number() {
        let digest = sha1_smol::Sha1::from("default/a").digest().bytes();
        let index = u32::from(digest[19] % 16);
        assert!(Shard { index, count: 16 }.has("default/a"));
    }

    /// The expected values come from `python3 -c 'print(int(hashlib.sha1(b"default/a").hexdigest(), 16) % 3)'`.
    #[test]
    fn shares_that_others_can_compute() {
        for (owner, count, index) in [
            ("default/a", 3, 1),
            ("default/a", 10, 5),
            ("default/a", 1000, 55),
            ("fleet/edge-07", 10, 6),
            ("fleet/edge-07", 1000, 826),
            ("x/y", 10, 0),
            ("x/y", 1000, 230),
        ] {
            assert!(Shard { index, count }.has(owner), "{owner} of {count}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "1", "2/2", "1/0", "-1/2", "a/b", "0/1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("1/2".parse(), Ok(Shard { index: 1, count: 2 }));
    }
}

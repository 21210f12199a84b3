//! Texts that are much alike, each kept as its difference from another one, as Git's packs keep objects: a run makes thousands of
//! resources from one template, which take several times the memory of its input.
//!
//! A difference is a text, too: numbers and new parts in turn. `3, 4, 2, "xy"` keeps three bytes, skips four, and inserts two; the
//! end stays.

use std::sync::Arc;

use memchr::memchr;

/// A text that shares its base with others.
#[derive(Debug)]
pub(crate) struct PackedText {
    base: Arc<str>,
    delta: Box<str>,
}

impl From<String> for PackedText {
    fn from(text: String) -> Self {
        Self {
            base: text.into(),
            delta: Box::default(),
        }
    }
}

impl PackedText {
    /// The text.
    pub(crate) fn unpack(&self) -> String {
        let base = &*self.base;
        let mut text = String::with_capacity(base.len() + self.delta.len());
        let mut delta = &*self.delta;
        let mut at = 0;
        while !delta.is_empty() {
            let [kept, skipped, inserted] = std::array::from_fn(|_| take_number(&mut delta));
            let (new, rest) = delta.split_at(inserted);
            text.push_str(&base[at..at + kept]);
            text.push_str(new);
            at += kept + skipped;
            delta = rest;
        }
        text.push_str(&base[at..]);
        text
    }
}

/// Packs texts in the order in which they are made.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    base: Arc<str>,
    /// The last difference, whose memory is used again.
    delta: String,
}

impl Packer {
    /// Packs a text. One that is like none before becomes the base of those behind it.
    pub(crate) fn pack(&mut self, text: &str) -> PackedText {
        self.delta.clear();
        if !push_delta(&mut self.delta, &self.base, text) {
            self.delta.clear();
            self.base = Arc::from(text);
        }
        PackedText {
            base: Arc::clone(&self.base),
            delta: Box::from(self.delta.as_str()),
        }
    }
}

/// Writes the difference between two texts; false if it takes more than half of the new one. What a line has changed is one part.
fn push_delta(delta: &mut String, base: &str, text: &str) -> bool {
    // Both behind the last part.
    let (mut old, mut new) = (base, text);
    while old != new {
        let kept = shared_start(old, new);
        let rest = [old, new].map(|text| &text[kept..]);
        let line = rest.map(|text| memchr(b'\n', text.as_bytes()).map(|end| end + 1));
        let [old_end, new_end] = match line {
            [Some(old_end), Some(new_end)] => [old_end, new_end],
            _ => rest.map(str::len),
        };
        let shared = shared_end(&rest[0][..old_end], &rest[1][..new_end]);
        push_number(delta, kept);
        push_number(delta, old_end - shared);
        push_number(delta, new_end - shared);
        delta.push_str(&rest[1][..new_end - shared]);
        if delta.len() > text.len() / 2 {
            return false;
        }
        old = &rest[0][old_end - shared..];
        new = &rest[1][new_end - shared..];
    }
    true
}

/// Length of the start that two texts share.
fn shared_start(one: &str, other: &str) -> usize {
    let (words, _) = one.as_bytes().as_chunks::<8>();
    let (other_words, _) = other.as_bytes().as_chunks::<8>();
    let mut pairs = words.iter().zip(other_words);
    let number = |word: &[u8; 8]| u64::from_le_bytes(*word);
    let shared = match pairs.position(|(one, other)| one != other) {
        Some(at) => {
            let difference = number(&words[at]) ^ number(&other_words[at]);
            8 * at + difference.trailing_zeros() as usize / 8
        }
        None => {
            let at = 8 * words.len().min(other_words.len());
            let rest = one.as_bytes()[at..].iter().zip(&other.as_bytes()[at..]);
            at + rest.take_while(|(one, other)| one == other).count()
        }
    };
    // The same in both, since so are the bytes before.
    let boundary = (0..=shared).rfind(|at| one.is_char_boundary(*at));
    boundary.unwrap_or_default()
}

/// Length of the end that two texts share.
fn shared_end(one: &str, other: &str) -> usize {
    let bytes = one.bytes().rev().zip(other.bytes().rev());
    let shared = bytes.take_while(|(one, other)| one == other).count();
    let boundary = (one.len() - shared..).find(|at| one.is_char_boundary(*at));
    one.len() - boundary.unwrap_or(one.len())
}

/// Bits of a number in one character of a difference, which is ASCII.
const BITS: u32 = 6;
/// The character's bit that says that more follow.
const MORE: u8 = 1 << BITS;

fn push_number(delta: &mut String, number: usize) {
    let mut left = number;
    loop {
        let bits = (left % usize::from(MORE)) as u8;
        left >>= BITS;
        if left == 0 {
            delta.push(char::from(bits));
            return;
        }
        delta.push(char::from(bits | MORE));
    }
}

fn take_number(delta: &mut &str) -> usize {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (first, rest) = delta.split_at(1);
        *delta = rest;
        let char = first.as_bytes()[0];
        number |= usize::from(char % MORE) << shift;
        shift += BITS;
        if char < MORE {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::{prop_assert_eq, proptest};

    use super::*;

    fn packed(texts: &[&str]) -> Vec<PackedText> {
        let mut packer = Packer::default();
        texts.iter().map(|text| packer.pack(text)).collect()
    }

    #[test]
    fn texts_come_back() {
        let long = "a: b\n".repeat(2000);
        let texts = [
            "",
            "a",
            "a\n",
            "a\nb",
            "kind: A\nname: é1\nspec: x\n",
            "kind: A\nname: è2\nspec: x\n",
            "kind: A\nname: è\nspec: x\n",
            "kind: A\nname: 22\nspec: x\nmore: y\n",
            "kind: A\n",
            &long,
            &format!("{long}c"),
            &long[..5000],
            &format!("b{}", &long[1..]),
        ];
        for one in texts {
            for other in texts {
                let packed = packed(&[one, other, one]);
                let back: Vec<String> = packed.iter().map(PackedText::unpack).collect();
                assert_eq!(back, [one, other, one]);
            }
        }
    }

    proptest! {
        #[test]
        fn any_texts_come_back(texts in vec("([aéè\\u{1F600}]{0,3}\r?\n){0,4}[aé]{0,2}", 1..6)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let packed = packed(&texts);
            let back: Vec<String> = packed.iter().map(PackedText::unpack).collect();
            prop_assert_eq!(back, texts);
        }
    }

    #[test]
    fn texts_that_are_alike_share_their_base() {
        let text = |name: &str| format!("{}name: {name}\n{0}", "kind: A\n".repeat(20));
        let packed = packed(&[&text("one"), &text("other"), "another\n"]);
        assert!(Arc::ptr_eq(&packed[0].base, &packed[1].base));
        assert_eq!(&*packed[0].delta, "");
        // 160 bytes and the key, 2 of `one`, and 4 of `other`.
        assert_eq!(&*packed[1].delta, "\u{67}\u{2}\u{2}\u{4}ther");
        assert!(!Arc::ptr_eq(&packed[0].base, &packed[2].base));
    }
}

//! SHA-256 (FIPS 180-4), to name the document that the table was made of.

/// The first 32 bits of the fractional parts of a root of the first primes.
fn constants<const N: usize>(root: impl Fn(u128) -> u128) -> [u32; N] {
    let mut primes = (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    std::array::from_fn(|_| {
        let prime = primes.next().unwrap_or_default();
        (root(prime) & u128::from(u32::MAX)) as u32
    })
}

/// The largest number whose power is not above `n`.
fn root(n: u128, power: u32) -> u128 {
    let (mut low, mut high) = (0, 1 << 42);
    while high - low > 1 {
        let middle: u128 = (low + high) / 2;
        if middle.checked_pow(power).is_some_and(|value| value <= n) {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

/// The hash in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let rounds: [u32; 64] = constants(|prime| root(prime << 96, 3));
    let mut hash: [u32; 8] = constants(|prime| root(prime << 64, 2));
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut words = [0u32; 64];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, b| word << 8 | u32::from(*b));
        }
        for i in 16..64 {
            let (a, b) = (words[i - 15], words[i - 2]);
            let a = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let b = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            words[i] = [words[i - 16], a, words[i - 7], b]
                .iter()
                .fold(0, |sum: u32, n| sum.wrapping_add(*n));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = hash;
        for (word, round) in words.iter().zip(rounds) {
            let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let first = [h, sum, choice, round, *word];
            let first = first.iter().fold(0, |sum: u32, n| sum.wrapping_add(*n));
            let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        }
        for (sum, n) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(n);
        }
    }
    hash.iter().map(|word| format!("{word:08x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        let table = [
            (
                "",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                "abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ];
        for (text, expected) in table {
            assert_eq!(sha256(text.as_bytes()), expected);
        }
    }
}

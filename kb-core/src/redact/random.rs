//! Whether a word looks as if nobody could have thought of it. What cannot be judged counts as random.

/// Letters and digits that make a secret where nothing else speaks for one.
const LEAST: usize = 16;
/// The same behind a word such as `token`.
const LEAST_BEHIND_A_WORD: usize = 8;
/// Digits of a 64-bit value: addresses and GUIDs are no secrets.
const HEX_OF_64_BITS: usize = 16;
/// Pieces of a word are runs of one kind of letter (`cuda`, `Memcpy`, `3`, `D`): names have long ones, random texts short ones.
const SHORT_PIECES: f32 = 2.9;
/// Letters of a piece that may be a word.
const WORD: usize = 4;
/// Letters without a vowel that no word has together.
const NO_VOWELS: usize = 7;

/// How much speaks for a secret already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspicion {
    None,
    /// A word before it says that a secret follows.
    Named,
}

/// A run of letters, digits and `+ / = _ -`.
pub(super) fn is_random(run: &str, suspicion: Suspicion) -> bool {
    if is_mangled(run) {
        return false;
    }
    let atoms = run.split(|letter: char| !letter.is_ascii_alphanumeric());
    let atoms: Vec<&str> = atoms.filter(|atom| !atom.is_empty()).collect();
    if atoms.iter().any(|atom| is_random_atom(atom, suspicion)) {
        return true;
    }
    // In base64, signs stand far from each other; in names they part short words.
    let atoms: Vec<&str> = atoms.into_iter().filter(|atom| !is_hex_value(atom)).collect();
    let length: usize = atoms.iter().map(|atom| atom.len()).sum();
    let least = match suspicion {
        Suspicion::None => 20,
        Suspicion::Named => 12,
    };
    let joined = Shape::of(&atoms.concat());
    length >= least && length >= 9 * atoms.len() && joined.kinds() >= 2 && joined.is_broken()
}

/// A name of C++ as the Itanium ABI mangles it: most of it are names with their lengths before them.
fn is_mangled(run: &str) -> bool {
    let Some(mut rest) = run.strip_prefix("_Z") else {
        return false;
    };
    let mut named = 0;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        rest = rest.get(at..).unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = rest.split_at_checked(digits).unwrap_or_default();
        let length: usize = number.parse().unwrap_or(0);
        rest = behind;
        if let Some(name) = behind
            .get(..length)
            .filter(|name| length > 2 && !is_random_atom(name, Suspicion::None))
        {
            named += name.len();
            rest = behind.get(length..).unwrap_or_default();
        }
    }
    2 * named > run.len()
}

fn is_random_atom(atom: &str, suspicion: Suspicion) -> bool {
    let shape = Shape::of(atom);
    let length = atom.len();
    if is_hex_value(atom) && (suspicion == Suspicion::None || atom.starts_with("0x")) {
        return false;
    }
    let is_hex = atom.bytes().all(|byte| byte.is_ascii_hexdigit());
    if shape.kinds() == 1 && shape.digits > 0 {
        return length > 20 && atom.bytes().any(|byte| byte != b'0');
    }
    let least = match suspicion {
        Suspicion::None => LEAST,
        Suspicion::Named => LEAST_BEHIND_A_WORD,
    };
    if is_hex && shape.digits > 0 {
        return length > HEX_OF_64_BITS || length >= least && suspicion == Suspicion::Named;
    }
    if shape.digits > 0 && shape.digits < length {
        let one_case = shape.kinds() == 2 && shape.pieces >= 4;
        return length >= least && (shape.is_broken() || one_case && shape.mean() < 4.0)
            || length >= 32 && shape.mean() < 4.5;
    }
    length >= least + 4
        && (shape.is_broken() || shape.kinds() == 1 && shape.longest_without_vowel >= NO_VOWELS)
}

/// `0x7f00deadbeef`, `00000000deadbeef`.
fn is_hex_value(atom: &str) -> bool {
    let digits = atom
        .strip_prefix("0x")
        .or_else(|| atom.strip_prefix("0X"))
        .unwrap_or(atom);
    digits.len() <= HEX_OF_64_BITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[derive(Debug, Default)]
struct Shape {
    length: usize,
    pieces: usize,
    digits: usize,
    uppers: usize,
    lowers: usize,
    /// Letters in pieces of four and more, which are words.
    of_words: usize,
    longest_without_vowel: usize,
}

impl Shape {
    fn of(atom: &str) -> Self {
        let mut shape = Self::default();
        let mut last: Option<u8> = None;
        let mut without_vowel = 0;
        // Length of the piece that is being read: a capital letter begins a word (`Memcpy`), several are one (`CUDA`).
        let mut piece = 0;
        for byte in atom.bytes() {
            shape.length += 1;
            match byte {
                b'0'..=b'9' => shape.digits += 1,
                b'A'..=b'Z' => shape.uppers += 1,
                _ => shape.lowers += 1,
            }
            let goes_on = last.is_some_and(|last| {
                kind(last) == kind(byte)
                    || piece == 1 && last.is_ascii_uppercase() && byte.is_ascii_lowercase()
            });
            if goes_on {
                piece += 1;
                if byte.is_ascii_alphabetic() && piece >= WORD {
                    shape.of_words += if piece == WORD { WORD } else { 1 };
                }
            } else {
                shape.pieces += 1;
                piece = 1;
            }
            let is_consonant = byte.is_ascii_alphabetic() && !b"aeiouyAEIOUY".contains(&byte);
            without_vowel = if is_consonant { without_vowel + 1 } else { 0 };
            shape.longest_without_vowel = shape.longest_without_vowel.max(without_vowel);
            last = Some(byte);
        }
        shape
    }

    fn is_broken(&self) -> bool {
        self.mean() < SHORT_PIECES || self.mean() < 3.5 && 2 * self.of_words < self.length
    }

    #[allow(clippy::cast_precision_loss, reason = "words are short")]
    fn mean(&self) -> f32 {
        self.length as f32 / self.pieces.max(1) as f32
    }

    fn kinds(&self) -> usize {
        [self.digits, self.uppers, self.lowers]
            .iter()
            .filter(|count| **count > 0)
            .count()
    }
}

fn kind(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_logs_have_are_not_random() {
        for word in [
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            "cudaErrorPeerAccessUnsupported",
            "nvmlDeviceGetP2PStatus",
            "cudaMemcpy3DPeerAsync",
            "NCCL_SOCKET_IFNAME",
            "GPU-592ae3c5-d0e9-aa09-ab69-25fb91b6a20a",
            "0x7f00deadbeef0000",
            "ffffffffc0a1b2c3",
            "cutlass_80_tensorop_s16816gemm_bf16_128x128_32x4_tn_align8",
            "NVIDIA-H100-80GB-HBM3",
            "ProcessGroupNCCL",
            "libcudnn_ops_infer",
            "x86_64-linux-gnu",
            "_ZN3c104cuda9SetDeviceEi",
            "cudaGraphInstantiateFlagAutoFreeOnLaunch",
        ] {
            assert!(!is_random(word, Suspicion::None), "{word}");
        }
    }

    #[test]
    fn what_nobody_thought_of_is_random() {
        for word in [
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ3kP8sT2v",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
            "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==",
            "JBSWY3DPEHPK3PXP",
            "q8Zt4LxV2nRk7WcY",
            "xkcdqzwvbnmtrplksjhg",
        ] {
            assert!(is_random(word, Suspicion::None), "{word}");
        }
        for word in ["a1b2c3d4", "8f3kd92m", "deadbeefcafe0123"] {
            assert!(is_random(word, Suspicion::Named), "{word}");
        }
    }
}

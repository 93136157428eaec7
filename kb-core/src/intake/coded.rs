//! Text that was encoded as a whole, so that hardly a word of it can be read: base64 and hexadecimal digits, escapes of bytes, letters
//! that are printed twice. Only where nearly all of a text is so is it refused: logs have keys, sums and dumps in them.

/// How a text was encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Base64, or hexadecimal digits.
    Base64,
    /// Each byte as an escape: `\x4e`, `\116`.
    Escapes,
    /// Each letter, a backspace and the letter again, as `man` prints bold ones.
    Overstruck,
}

impl Coding {
    /// What it is, and how to get at the text.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Base64 => {
                "base64 or hexadecimal digits: send what `base64 -d FILE` or `xxd -r -p FILE` prints"
            }
            Self::Escapes => {
                "escapes of bytes such as \\x4e or \\116: send what `printf '%b' \"$(cat FILE)\"` prints"
            }
            Self::Overstruck => {
                "letters that are printed twice, with backspaces: send what `col -b < FILE` prints"
            }
        }
    }
}

/// A run of letters and digits from this length on is no word, in bytes: base64 is wrapped at 64 or 76, and a GPU's UUID has 40.
const LONG_RUN: usize = 60;
/// Such a run has at least so many different bytes: a ruler of `=` is none.
const DIFFERENT: u32 = 8;
/// From this share on it is nearly all, in percent.
const MOST_PERCENT: u64 = 90;
/// A shorter text is too short to tell, in bytes that are no blanks.
const LEAST: u64 = 256;
/// With so many words beside it there is something to read.
const MOST_WORDS: u64 = 3;
/// Shorter ones may be part of what was encoded, in letters.
const WORD: usize = 3;
/// Of pairs of digits, so many have a letter where they are hexadecimal: in tables of decimal numbers none has. In percent.
const LETTERS_PERCENT: u64 = 15;

const BACKSPACE: u8 = 8;

/// Bytes of a text by what they are part of.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Coded {
    /// All but blanks.
    all: u64,
    runs: u64,
    escapes: u64,
    overstruck: u64,
    pairs: u64,
    pairs_with_letter: u64,
    words: u64,
}

impl Coded {
    pub(super) fn count(&mut self, sample: &[u8]) {
        for word in sample
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
        {
            self.all += word.len() as u64;
            if word.len() >= LONG_RUN && is_run(word) {
                self.runs += word.len() as u64;
            } else if let [high, low] = word
                && high.is_ascii_hexdigit()
                && low.is_ascii_hexdigit()
            {
                self.pairs += 1;
                self.pairs_with_letter += u64::from(high.is_ascii_alphabetic() || low.is_ascii_alphabetic());
            } else {
                self.words += u64::from(word.len() >= WORD && word.iter().all(u8::is_ascii_alphabetic));
                self.escapes += escapes(word);
                self.overstruck += overstruck(word);
            }
        }
    }

    /// How the text was encoded, where nearly all of it was.
    pub(super) fn judge(&self) -> Option<Coding> {
        let is_hex = self.pairs_with_letter * 100 >= self.pairs * LETTERS_PERCENT;
        let pairs = if is_hex { 2 * self.pairs } else { 0 };
        let of = [
            (self.runs + pairs, Coding::Base64),
            (self.escapes, Coding::Escapes),
            (self.overstruck, Coding::Overstruck),
        ];
        let (most, coding) = of.into_iter().max_by_key(|(bytes, _)| *bytes)?;
        (self.all >= LEAST && self.words <= MOST_WORDS && most * 100 >= self.all * MOST_PERCENT)
            .then_some(coding)
    }
}

fn is_run(word: &[u8]) -> bool {
    let is_of_run =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
    let different = word
        .iter()
        .fold(0_u128, |seen, byte| seen | (1_u128 << (byte & 0x7f)));
    word.iter().all(is_of_run) && different.count_ones() >= DIFFERENT
}

/// Bytes of the word that are escapes of others.
fn escapes(word: &[u8]) -> u64 {
    let mut found = 0;
    let mut rest = word;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let behind = rest.get(at..).unwrap_or_default();
        let is_escape = match *behind {
            [_, b'x', high, low, ..] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
            [_, b'0'..=b'3', middle, low, ..] => is_octal(middle) && is_octal(low),
            _ => false,
        };
        let length = if is_escape { 4 } else { 1 };
        found += if is_escape { 4 } else { 0 };
        rest = behind.get(length..).unwrap_or_default();
    }
    found
}

fn is_octal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'7')
}

/// Bytes of the word that print a letter twice, or a line below it.
fn overstruck(word: &[u8]) -> u64 {
    let mut found = 0;
    let mut rest = word;
    while let Some([first, BACKSPACE, second, ..]) = rest.get(..3) {
        if first != second && *first != b'_' {
            break;
        }
        found += 3;
        rest = rest.get(3..).unwrap_or_default();
    }
    found
}

//! Texts that were encoded on their way: for an address (`NVRM%3A%20Xid`, `NVRM%3A+Xid`), for a mail (quoted-printable), and with the
//! blanks of a table or of tabs between their words.

use std::ops::Range;

/// A word that is longer was not written into an address, in bytes.
const LONGEST: usize = 8 << 10;

/// The word of a line in which the last `%` or `+` stood.
#[derive(Debug, Default)]
pub(super) struct Address {
    word: Range<usize>,
    is_encoded: bool,
}

impl Address {
    /// What the `%` or `+` at a place stands for: its length, and the text. The places of a line come in order.
    pub(super) fn stand(&mut self, line: &[u8], at: usize) -> Option<(usize, &'static str)> {
        if !self.word.contains(&at) {
            let start = self.word.end.min(at);
            let is_end = |byte: &u8| byte.is_ascii_whitespace();
            let before = line.get(start..at)?.iter().rposition(is_end);
            let start = before.map_or(start, |blank| start + blank + 1);
            let rest = line.get(at..)?;
            let end = rest
                .iter()
                .position(is_end)
                .map_or(line.len(), |blank| at + blank);
            self.word = start..end;
            let word = line.get(self.word.clone())?;
            let mut signs = memchr::memchr_iter(b'%', word);
            self.is_encoded = word.len() <= LONGEST
                && signs.any(|sign| escaped(word.get(sign..).unwrap_or_default()).is_some());
        }
        if !self.is_encoded {
            return None;
        }
        let rest = line.get(at..)?;
        if rest.first() == Some(&b'+') {
            return Some((1, " "));
        }
        Some((ESCAPE, escaped(rest)?))
    }
}

const ESCAPE: usize = 3;

/// What `%3A` stands for. Letters and digits are never written so.
fn escaped(rest: &[u8]) -> Option<&'static str> {
    let [b'%', digits @ ..] = rest else {
        return None;
    };
    shown(byte(digits)?)
}

fn byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..2)?).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// What a mail writes in place of a byte: `=3D`, and `=20` and `=09` where a line ends. `rest` ends with the last word of the line, so
/// that blanks behind it are not read for each sign.
pub(super) fn of_mail(rest: &[u8]) -> Option<(usize, &'static str)> {
    let [b'=', digits @ ..] = rest else {
        return None;
    };
    for (encoded, text) in TYPOGRAPHIC {
        if rest.starts_with(encoded.as_bytes()) {
            return Some((encoded.len(), text));
        }
    }
    let is_last = || {
        let behind = rest.get(ESCAPE..).unwrap_or_default();
        behind.iter().all(u8::is_ascii_whitespace)
    };
    match byte(digits)? {
        b'=' => Some((ESCAPE, "=")),
        b' ' | b'\t' if is_last() => Some((ESCAPE, " ")),
        _ => None,
    }
}

/// What mail programs put in place of blanks and quotes, encoded.
const TYPOGRAPHIC: [(&str, &str); 5] = [
    ("=C2=A0", " "),
    ("=E2=80=98", "'"),
    ("=E2=80=99", "'"),
    ("=E2=80=9C", "\""),
    ("=E2=80=9D", "\""),
];

/// The length of a tab, or of several blanks, each of which stands for one blank between two words.
pub(super) fn blanks(rest: &[u8]) -> Option<usize> {
    let len = rest.iter().take_while(|byte| is_blank(**byte)).count();
    (len > 1 || rest.first() == Some(&b'\t')).then_some(len)
}

/// Where the words of a line stand: what is around them tells nothing.
pub(super) fn words(line: &[u8]) -> Range<usize> {
    let start = line.iter().take_while(|byte| is_blank(**byte)).count();
    start..line.trim_ascii_end().len().max(start)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn shown(byte: u8) -> Option<&'static str> {
    const SIGNS: &str = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    match byte {
        b'\n' | b'\r' => Some("\r"),
        b'\t' => Some(" "),
        _ => {
            let at = SIGNS.bytes().position(|sign| sign == byte)?;
            SIGNS.get(at..=at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_encoded_word_has_signs_that_stand_for_others() {
        let decoded = |line: &str| {
            let mut address = Address::default();
            let (mut text, mut at) = (String::new(), 0);
            while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
                let is_sign = rest.starts_with(['%', '+']);
                let stand = is_sign.then(|| address.stand(line.as_bytes(), at)).flatten();
                let (len, stand) = stand.unwrap_or((1, &rest[..1]));
                text.push_str(stand);
                at += len;
            }
            text
        };
        assert_eq!(decoded("q=NVRM%3A%20Xid+79 a+b 5% x"), "q=NVRM: Xid 79 a+b 5% x");
        assert_eq!(decoded("a%0D%0Ab 100%41 50%zz %"), "a\r\rb 100%41 50%zz %");
    }

    #[test]
    fn a_mail_writes_few_bytes_in_another_way() {
        assert_eq!(of_mail(b"=3D1"), Some((3, "=")));
        assert_eq!(of_mail(b"=20"), Some((3, " ")));
        assert_eq!(of_mail(b"=20 GPUs"), None);
        assert_eq!(of_mail(b"=E2=80=99s"), Some((9, "'")));
    }

    #[test]
    fn only_blanks_between_words_are_put_together() {
        assert_eq!(
            [&b"  b"[..], b"\tb", b" b", b"b"].map(blanks),
            [Some(2), Some(1), None, None]
        );
        assert_eq!(words(b"  a b \t"), 2..5);
        assert_eq!(words(b"   "), 3..3);
    }
}

//! A part of a line as words, numbers and signs.

/// What is read before and behind the word that woke this, in bytes.
const AROUND: usize = 96;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'l> {
    Word(&'l [u8]),
    Number(u64),
    Sign(u8),
}

impl Token<'_> {
    pub(super) fn is_of(self, list: &[&str]) -> bool {
        matches!(self, Self::Word(word) if list.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())))
    }

    /// Whether it is one of these words or its plural.
    pub(super) fn is_thing(self, list: &[&str]) -> bool {
        let Self::Word(word) = self else {
            return false;
        };
        let singular = match word {
            [one @ .., b's' | b'S'] => one,
            _ => word,
        };
        let is = |known: &&str| {
            let known = known.as_bytes();
            word.eq_ignore_ascii_case(known) || singular.eq_ignore_ascii_case(known)
        };
        list.iter().any(is)
    }
}

/// Lanes of PCI Express: `x16`, and as nvidia-smi writes it, `16x`.
pub(super) fn width(token: &Token<'_>) -> Option<u64> {
    let Token::Word([b'x' | b'X', digits @ ..] | [digits @ .., b'x' | b'X']) = token else {
        return None;
    };
    number(digits).filter(|_| digits.len() <= 2)
}

/// What stands around a place of a line. Reads a bounded part of it.
pub(super) fn tokens(line: &[u8], at: usize) -> Vec<Token<'_>> {
    let from = at.saturating_sub(AROUND);
    let part = line.get(from..line.len().min(at + AROUND)).unwrap_or_default();
    // A word that the part cuts is none.
    let cut = if from > 0 { length_of_word(part) } else { 0 };
    let mut rest = part.get(cut..).unwrap_or_default();
    let mut tokens = Vec::new();
    while let Some((first, behind)) = rest.split_first() {
        let length = length_of_word(rest);
        if length == 0 {
            if !first.is_ascii_whitespace() {
                tokens.push(Token::Sign(*first));
            }
            rest = behind;
            continue;
        }
        let (word, behind) = rest.split_at(length);
        tokens.push(number(word).map_or(Token::Word(word), Token::Number));
        rest = behind;
    }
    tokens
}

/// Digits and points are one word: `2.0` and `550.54.14` count nothing.
fn length_of_word(text: &[u8]) -> usize {
    let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric();
    let length = text.iter().take_while(is_of_word).count();
    let is_digits = length > 0 && text.iter().take(length).all(u8::is_ascii_digit);
    let point = text.get(length..).unwrap_or_default();
    match point {
        [b'.', digit, ..] if is_digits && digit.is_ascii_digit() => {
            let more = point
                .iter()
                .take_while(|byte| **byte == b'.' || byte.is_ascii_alphanumeric());
            length + more.count()
        }
        _ => length,
    }
}

fn number(word: &[u8]) -> Option<u64> {
    if !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

//! Letters as the words of other languages are written here: small, each in one piece, and the dotless `ı` of Turkish as `i`, for in
//! capitals it is `I`.

use std::borrow::Cow;

/// A mark, the letters before it, and each of them with the mark as one letter.
const MARKS: [(char, &str, &str); 21] = [
    ('\u{300}', "aeiouâăêôơưy", "àèìòùầằềồờừỳ"),
    ('\u{301}', "aeiouyclnrszâăêôơư", "áéíóúýćĺńŕśźấắếốớứ"),
    ('\u{302}', "aeioucghjswyạẹọ", "âêîôûĉĝĥĵŝŵŷậệộ"),
    ('\u{303}', "anoiuâăeêôơưy", "ãñõĩũẫẵẽễỗỡữỹ"),
    ('\u{304}', "aeiou", "āēīōū"),
    ('\u{306}', "aegiouạи", "ăĕğĭŏŭặй"),
    // The first is of Turkish: the small letter of `İ`.
    ('\u{307}', "icegz", "iċėġż"),
    ('\u{308}', "aeiouyеі", "äëïöüÿёї"),
    ('\u{309}', "aâăeêioôơuưy", "ảẩẳẻểỉỏổởủửỷ"),
    ('\u{30a}', "au", "åů"),
    ('\u{30b}', "ou", "őű"),
    ('\u{30c}', "cdelnrstz", "čďěľňřšťž"),
    ('\u{31b}', "ou", "ơư"),
    ('\u{323}', "aeioơuưy", "ạẹịọợụựỵ"),
    ('\u{327}', "cgklnrst", "çģķļņŗşţ"),
    ('\u{328}', "aeiu", "ąęįų"),
    ('\u{653}', "ا", "آ"),
    ('\u{654}', "اوي", "أؤئ"),
    ('\u{655}', "ا", "إ"),
    (
        '\u{3099}',
        "かきくけこさしすせそたちつてとはひふへほうカキクケコサシスセソタチツテトハヒフヘホウ",
        "がぎぐげござじずぜぞだぢづでどばびぶべぼゔガギグゲゴザジズゼゾダヂヅデドバビブベボヴ",
    ),
    ('\u{309a}', "はひふへほハヒフヘホ", "ぱぴぷぺぽパピプペポ"),
];
/// Korean syllables: the first of them, and the first of each of the parts that they are made of, with the number of those parts.
const SYLLABLES: u32 = 0xac00;
const INITIALS: (u32, u32) = (0x1100, 19);
const VOWELS: (u32, u32) = (0x1161, 21);
/// The first stands for none, and is no letter.
const FINALS: (u32, u32) = (0x11a7, 28);

/// A line with its letters so; as it is where they are so already.
pub(super) fn folded(line: &str) -> Cow<'_, str> {
    folded_bytes(line.as_bytes()).map_or(Cow::Borrowed(line), Cow::Owned)
}

/// The same of bytes; `None` where the letters are so already.
pub(super) fn folded_bytes(text: &[u8]) -> Option<String> {
    let varies = |valid: &str| valid.chars().any(varies);
    if text.is_ascii() || !text.utf8_chunks().any(|chunk| varies(chunk.valid())) {
        return None;
    }
    let mut folded = String::with_capacity(text.len());
    each(text, |_, letter| folded.push(letter));
    Some(folded)
}

/// Where a place of the folded text stands in the text.
pub(super) fn place(text: &[u8], folded: usize) -> usize {
    let (mut length, mut found) = (0, 0);
    each(text, |at, letter| {
        if length <= folded {
            found = at;
        }
        length += letter.len_utf8();
    });
    found
}

/// Calls with each folded letter and the place where it begins in the text. What is no UTF-8 is one letter.
fn each(text: &[u8], mut take: impl FnMut(usize, char)) {
    let mut last: Option<(usize, char)> = None;
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let both = last.and_then(|(from, last)| Some((from, composed(last, letter)?)));
            if both.is_some() {
                last = both;
            } else if let Some((from, done)) = last.replace((at, small(letter))) {
                take(from, done);
            }
            at += letter.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            if let Some((from, done)) = last.replace((at, char::REPLACEMENT_CHARACTER)) {
                take(from, done);
            }
            at += chunk.invalid().len();
        }
    }
    if let Some((from, done)) = last {
        take(from, done);
    }
}

/// Whether a letter is another one when it is folded, or is one with the letter before it.
fn varies(letter: char) -> bool {
    match letter {
        'ı'
        | '’'
        | '\u{300}'..='\u{36f}'
        | '\u{653}'..='\u{655}'
        | '\u{1161}'..='\u{11c2}'
        | '\u{3099}'
        | '\u{309a}' => true,
        '\u{80}'..='\u{52f}' | '\u{1e00}'..='\u{1eff}' => letter.is_uppercase(),
        _ => false,
    }
}

/// Capitals in ASCII stay: words are compared without their case there.
fn small(letter: char) -> char {
    match letter {
        'ı' | 'İ' => 'i',
        '’' => '\'',
        _ if !varies(letter) => letter,
        _ => {
            let mut small = letter.to_lowercase();
            match (small.next(), small.next()) {
                (Some(one), None) => one,
                _ => letter,
            }
        }
    }
}

fn composed(last: char, mark: char) -> Option<char> {
    if !varies(mark) {
        return None;
    }
    if matches!(mark, '\u{1161}'..='\u{11c2}') {
        return syllable(last.into(), mark.into());
    }
    let (_, letters, composed) = MARKS.iter().find(|(known, ..)| *known == mark)?;
    let at = letters
        .chars()
        .position(|letter| letter == last.to_ascii_lowercase())?;
    composed.chars().nth(at)
}

fn syllable(last: u32, part: u32) -> Option<char> {
    let number = |letter: u32, (first, count): (u32, u32)| {
        let number = letter.checked_sub(first)?;
        (number < count).then_some(number)
    };
    if let Some(vowel) = number(part, VOWELS) {
        let initial = number(last, INITIALS)?;
        return char::from_u32(SYLLABLES + (initial * VOWELS.1 + vowel) * FINALS.1);
    }
    let end = number(part, FINALS).filter(|end| *end > 0)?;
    let open = number(last, (SYLLABLES, INITIALS.1 * VOWELS.1 * FINALS.1))?;
    char::from_u32(last + end).filter(|_| open % FINALS.1 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_small_and_in_one_piece() {
        for (text, expected) in [
            ("ÉCHEC", "éCHEC"),
            ("E\u{301}CHEC", "éCHEC"),
            ("ОШИБКА", "ошибка"),
            (
                "BULUNAMADI bulunamadı İZİN i\u{307}",
                "BULUNAMADI bulunamadi iZiN i",
            ),
            ("I\u{307}ZI\u{307}N", "iZiN"),
            ("lo\u{302}\u{303}i thâ\u{301}t ba\u{323}i", "lỗi thất bại"),
            ("d’attente", "d'attente"),
            ("\u{1109}\u{1175}\u{11af}\u{1111}\u{1162}", "실패"),
            ("か\u{3099}", "が"),
        ] {
            assert_eq!(folded(text), expected, "{text}");
            assert!(matches!(folded(expected), Cow::Borrowed(_)), "{expected}");
        }
        assert_eq!(folded_bytes(b"\xff\xc3\x89"), Some("\u{fffd}é".to_owned()));
        assert_eq!(folded_bytes(b"\xff failed"), None);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "x E\u{301}CHEC y".as_bytes();
        assert_eq!((place(text, 2), place(text, 4), place(text, 8)), (2, 5, 9));
        assert_eq!(place(b"\xffa\xc3\x89", 4), 2);
    }
}

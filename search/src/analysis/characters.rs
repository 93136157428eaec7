//! Classes of characters, and the runs of one class that a text is made of.

/// Longer runs are data (base64, hashes), not words.
const MAX_WORD_BYTES: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Word,
    /// Scripts that are written without blanks.
    Cjk,
    Separator,
}

impl Class {
    #[inline]
    fn of(c: char) -> Self {
        if c == '_' || c.is_ascii_alphanumeric() {
            Self::Word
        } else if is_cjk(c) {
            Self::Cjk
        } else if c.is_alphanumeric() {
            Self::Word
        } else {
            Self::Separator
        }
    }
}

/// Calls `take` with class, first byte and text of each word or CJK run. Words above [`MAX_WORD_BYTES`] are left out.
pub(crate) fn each_run(text: &str, mut take: impl FnMut(Class, usize, &str)) {
    let mut run: Option<(Class, usize)> = None;
    let mut end_run = |run: Option<(Class, usize)>, end: usize| {
        let Some((class, start)) = run else { return };
        if class == Class::Cjk || end - start <= MAX_WORD_BYTES {
            take(class, start, text.get(start..end).unwrap_or_default());
        }
    };
    for (at, c) in text.char_indices() {
        let class = Class::of(c);
        if run.is_some_and(|(current, _)| current == class) {
            continue;
        }
        end_run(run, at);
        run = (class != Class::Separator).then_some((class, at));
    }
    end_run(run, text.len());
}

/// True for Han ideographs, kana and Hangul syllables (Unicode blocks).
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x3040..=0x30FF      // Hiragana, Katakana
        | 0x31F0..=0x31FF    // Katakana phonetic extensions
        | 0x3400..=0x4DBF    // Han extension A
        | 0x4E00..=0x9FFF    // Han
        | 0xAC00..=0xD7AF    // Hangul syllables
        | 0xF900..=0xFAFF    // Han compatibility
        | 0xFF66..=0xFF9D    // half-width Katakana
        | 0x20000..=0x323AF  // Han extensions B to H
    )
}

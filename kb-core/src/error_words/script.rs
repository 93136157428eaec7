//! How languages write their words.

/// How a language writes its words, which decides where one may stand in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Without blanks between words: a word may stand anywhere.
    Joined,
    /// With blanks; it begins a word.
    Parted,
    /// The same, and it ends there or in an ending of its language: short words begin others.
    Whole,
    /// With blanks, and it may be the end of a longer word: `Speicherfehler`.
    Compound,
}

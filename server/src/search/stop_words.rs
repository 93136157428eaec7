//! Words that carry no error: rare in a technical text and common everywhere else, so rarity would mistake them.

/// English function words and the politeness of questions.
const STOP_WORDS: [&str; 96] = [
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "but", "by", "can", "could", "did", "do", "does", "doing", "else", "for",
    "from", "get", "getting", "had", "has", "have", "help", "here", "how", "i", "if", "in", "into", "is",
    "it", "its", "just", "like", "may", "me", "my", "no", "not", "now", "of", "on", "or", "our", "out",
    "please", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "under", "until", "up", "us", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "why", "will", "with", "without", "would", "you", "your",
    "yes", "very",
];

/// Chinese characters that join words: a pair with one of them straddles two words, or asks.
const JOINING: [char; 10] = ['的', '了', '和', '与', '及', '是', '吗', '呢', '么', '请'];

/// Whether a lower-case word, or a pair of Chinese characters, says nothing about an error.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word) || word == "如何" || word.contains(JOINING)
}

//! Words that carry no error: rare in a technical text and common everywhere else, so rarity would mistake them.

/// English function words and the politeness of questions.
const STOP_WORDS: [&str; 119] = [
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "but", "by", "can", "could", "did", "do", "does", "doing", "else", "for",
    "from", "get", "getting", "had", "has", "have", "help", "here", "how", "i", "if", "in", "into", "is",
    "it", "its", "just", "like", "may", "me", "my", "no", "not", "now", "of", "on", "or", "our", "out",
    "please", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "under", "until", "up", "us", "was", "we", "were", "what",
    "when", "where", "which", "while", "who", "why", "will", "with", "without", "would", "you", "your",
    "yes", "very", "ain", "aren", "couldn", "didn", "doesn", "don", "fix", "gets", "got", "hasn", "isn",
    "mean", "means", "s", "seem", "seems", "shouldn", "solve", "t", "ve", "wasn", "won", "wouldn",
];

/// Chinese characters that join words: a pair with one of them straddles two words, or asks.
const JOINING: [char; 11] = ['的', '了', '和', '与', '及', '是', '吗', '呢', '么', '请', '吧'];

/// Pairs with which people ask, or tell how it came about.
const ASKING: [&str; 18] = [
    "如何", "为何", "为什", "怎样", "怎办", "哪里", "哪个", "解决", "办法", "问题", "遇到", "突然", "这个",
    "一个", "有没", "不能", "无法", "可以",
];

/// Whether a lower-case word, or a pair of Chinese characters, says nothing about an error.
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word) || ASKING.contains(&word) || word.contains(JOINING)
}

//! Stop words: common everywhere but rare in technical texts, so that their document frequency would mislead.

use std::collections::HashSet;
use std::sync::LazyLock;

/// English function words and the politeness of questions.
const ENGLISH: &str = "a about after again all also am an and any are as at be because been before between but by can could did do does doing else for \
    from get getting had has have help here how i if in into is it its just like may me my no not now of on or our out \
    please should so some such than that the their them then there these they this those to too under until up us was we \
    were what when where which while who why will with without would you your yes very ain aren couldn didn doesn don fix \
    gets got hasn isn mean means s seem seems shouldn solve t ve wasn won wouldn working works issue issues problem problems \
    try trying tried several few randomly sometimes suddenly even though plenty lots keeps keep anyone know using use every \
    each hours minutes happens happen";

/// Shortest word that is known when it is misspelt, in bytes.
const MIN_MISSPELT: usize = 5;

/// Chinese characters that join words: a pair that holds one belongs to two words, or to a question.
const JOINING: [char; 11] = ['的', '了', '和', '与', '及', '是', '吗', '呢', '么', '请', '吧'];

/// Pairs of Chinese characters that ask, or say when.
const ASKING: &str = "如何 为何 为什 怎样 怎办 哪里 哪个 解决 办法 问题 遇到 突然 这个 一个 有没 不能 无法 可以 什么 怎么 \
    一直 总是 有时 经常 之后 以后 里面 明明 但是 只有 正常 出现 提示 显示";

static STOP_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| ENGLISH.split(' ').chain(ASKING.split(' ')).collect());

/// True where a word in lower case, or a pair of Chinese characters, says nothing about an error.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word) || word.contains(JOINING)
}

/// True for a word that is one letter away from a longer stop word: `workng`.
pub(crate) fn is_misspelt_stop_word(word: &str) -> bool {
    let is_near = |known: &&str| known.len() >= MIN_MISSPELT && strsim::osa_distance(known, word) == 1;
    word.len() >= MIN_MISSPELT && ENGLISH.split(' ').any(|known| is_near(&known))
}

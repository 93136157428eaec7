//! What a query looks for: its words in all their forms, the things they name, and what misspelt ones were meant to be.

use std::collections::HashMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::concepts::{Mention, asked, word_for};
use super::inflections::inflections;
use super::stop_words::is_stop_word;
use super::terms::{Lexicon, Needle, slice_of};
use super::tokenizer::{Word, parts, parts_of, words};
use super::typos::{GUESS, Guess};

/// Words of a text that are looked at; what comes after says no more about what is sought.
pub(super) const MAX_WORDS: usize = 48;

/// What another form of a word counts beside the word as written, and what another name of the same thing does.
const OTHER_FORM: f32 = 0.8;
const OTHER_NAME: f32 = 0.7;
/// What a name of several words counts beside its words, and a pair of Chinese characters that is no known word.
const HALF: f32 = 0.5;

/// A word that no record has, and what it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ReadAs {
    /// As it was written, in lower case.
    pub typed: String,
    /// Words that records have, the most likely first.
    pub meant: Vec<String>,
}

/// What is looked for.
#[derive(Debug, Default)]
pub(super) struct Sought {
    /// What may be found.
    pub(super) needles: Vec<Needle>,
    /// Words that no record has and that are like none.
    pub(super) unknown: Vec<String>,
    /// Words that were corrected.
    pub(super) read_as: Vec<ReadAs>,
    /// The text with the likeliest corrections in it, where there were any.
    pub(super) spelt: Option<String>,
    /// Of these, what else they may stand for.
    guesses: Guesses,
}

/// What each corrected word may stand for and how much that counts, by the likeliest.
type Guesses = HashMap<String, Vec<(String, f32)>>;

/// Reads a query. Words that no record has cannot narrow anything down and are only named.
pub(super) fn sought(lexicon: &Lexicon<'_>, text: &str) -> tantivy::Result<Sought> {
    let mut as_typed = read(lexicon, text, &Guesses::new())?;
    if as_typed.read_as.is_empty() {
        return Ok(as_typed);
    }
    // Names of several words are seen only once each of their words is spelt right.
    let spelt = spelt(text, &as_typed.read_as);
    // What is also written right is no guess.
    for word in words(text) {
        as_typed.guesses.remove(&word.text);
    }
    let as_meant = read(lexicon, &spelt, &as_typed.guesses)?;
    Ok(Sought {
        spelt: Some(spelt),
        needles: as_meant.needles,
        ..as_typed
    })
}

/// The text with each corrected word as the likeliest that was meant.
fn spelt(text: &str, read_as: &[ReadAs]) -> String {
    let mut spelt = String::with_capacity(text.len());
    let mut from = 0;
    for word in words(text) {
        let corrected = read_as.iter().find(|read| read.typed == word.text);
        let meant = corrected.and_then(|read| read.meant.first());
        // Words may overlap; what was taken is not taken again.
        if let (Some(meant), Some(before)) = (meant, text.get(from..word.start)) {
            spelt.push_str(before);
            spelt.push_str(meant);
            from = word.end;
        }
    }
    spelt.push_str(text.get(from..).unwrap_or_default());
    spelt
}

/// Reads a text in which the keys of `guesses` stand for words that were spelt otherwise.
fn read(lexicon: &Lexicon<'_>, text: &str, guesses: &Guesses) -> tantivy::Result<Sought> {
    let all = words(text);
    let names = Names::of(&all, text);
    let is_typing = text.chars().next_back().is_some_and(char::is_alphanumeric) || text.ends_with('_');
    let last = all.last().map(|word| word.position).filter(|_| is_typing);
    let only_stop_words = all.iter().all(|word| is_stop_word(&word.text));
    let mut seen: Vec<&Word> = Vec::new();
    let mut found = Sought::default();
    for word in &all {
        let is_last = last == Some(word.position);
        let says_nothing = is_stop_word(&word.text) && !only_stop_words && !is_last;
        if says_nothing || names.straddle(word) || seen.iter().any(|known| known.text == word.text) {
            continue;
        }
        if seen.len() == MAX_WORDS {
            break;
        }
        seen.push(word);
        let names = names.around(word);
        if let Some(guess) = guesses.get(&word.text) {
            found.needles.extend(guessed(lexicon, word, guess, &names)?);
        } else {
            find(lexicon, text, word, is_last, &names, &mut found)?;
        }
    }
    for name in names.of_several_words() {
        let whole = lexicon.needle(&[(word_for(name), HALF)])?;
        found.needles.extend(whole.map(Needle::half));
    }
    if found.needles.is_empty() {
        look_further(lexicon, &seen, &mut found)?;
    }
    Ok(found)
}

/// Nothing of the query is known: words that are a letter further off.
fn look_further(lexicon: &Lexicon<'_>, seen: &[&Word], found: &mut Sought) -> tantivy::Result<()> {
    for word in seen {
        if let Some(guess) = lexicon.not_far(&word.text)? {
            found.unknown.retain(|unknown| *unknown != word.text);
            found.take(&word.text, guess);
        }
    }
    Ok(())
}

/// A corrected word: what it may stand for, in all its forms, and what it is a name or a part of a name of.
fn guessed(
    lexicon: &Lexicon<'_>,
    word: &Word,
    guess: &[(String, f32)],
    names: &[&'static str],
) -> tantivy::Result<Option<Needle>> {
    let mut same = guess.to_vec();
    let forms = inflections(&word.text).into_iter();
    same.extend(forms.map(|form| (form, OTHER_FORM)));
    same.extend(names.iter().map(|name| (word_for(name), OTHER_NAME)));
    let needle = lexicon.needle(&same)?;
    Ok(needle.map(|mut needle| {
        needle.rarity *= GUESS;
        needle
    }))
}

/// One word: as it stands in all its forms, or completed, or by the parts it is made of, or as what it is like.
fn find(
    lexicon: &Lexicon<'_>,
    text: &str,
    word: &Word,
    is_last: bool,
    names: &[&'static str],
    found: &mut Sought,
) -> tantivy::Result<()> {
    let is_single_cjk = word.is_cjk && word.text.chars().nth(1).is_none();
    let is_begun = is_single_cjk || (is_last && word.text.chars().nth(1).is_some());
    let mut same = vec![(word.text.clone(), 1.0)];
    // A word that no record has may lack its end; its forms alone would miss the commonest (`duplicat`, `duplicated`).
    if is_begun || !lexicon.knows(&word.text)? {
        same.extend(lexicon.completions(&word.text)?);
    }
    same.extend(inflections(&word.text).into_iter().map(|form| (form, OTHER_FORM)));
    same.extend(names.iter().map(|name| (word_for(name), OTHER_NAME)));
    if let Some(needle) = lexicon.needle(&same)? {
        let is_half = word.is_cjk && names.is_empty();
        found.needles.push(if is_half { needle.half() } else { needle });
        return Ok(());
    }
    let parts = parts_of(slice_of(text, word));
    let mut known = Vec::new();
    for part in &parts {
        known.extend(lexicon.exact(part)?);
    }
    if !parts.is_empty() && known.len() == parts.len() {
        found.needles.extend(known);
        return Ok(());
    }
    if let Some(guess) = lexicon.close(&word.text)? {
        found.take(&word.text, guess);
    } else if !known.is_empty() {
        found.needles.extend(known);
    } else if let Some(halves) = lexicon.split(&word.text)? {
        found.needles.extend(halves);
    } else if let Some(guess) = begun(lexicon, word, is_last)? {
        found.take(&word.text, guess);
    } else if !word.is_cjk {
        found.unknown.push(word.text.clone());
    }
    Ok(())
}

fn begun(lexicon: &Lexicon<'_>, word: &Word, is_last: bool) -> tantivy::Result<Option<Guess>> {
    if is_last {
        lexicon.close_beginning(&word.text)
    } else {
        Ok(None)
    }
}

impl Needle {
    /// Carries half of what its rarity says.
    fn half(mut self) -> Self {
        self.rarity *= HALF;
        self
    }
}

impl Sought {
    fn take(&mut self, typed: &str, guess: Guess) {
        if let Some(likeliest) = guess.meant.first() {
            self.guesses.insert(likeliest.clone(), guess.weighted);
        }
        self.needles.push(guess.needle);
        self.read_as.push(ReadAs {
            typed: typed.to_owned(),
            meant: guess.meant,
        });
    }
}

/// The things that a query names, with where: in its words, and in the parts of its compound words.
struct Names {
    found: Vec<Named>,
}

struct Named {
    mention: Mention,
    start: usize,
    end: usize,
}

impl Names {
    fn of(all: &[Word], text: &str) -> Self {
        let parts = parts(text);
        let found = [all, parts.as_slice()]
            .into_iter()
            .flat_map(|list| asked(list).into_iter().map(move |mention| (list, mention)))
            .filter_map(|(list, mention)| {
                Some(Named {
                    start: list.get(mention.first)?.start,
                    end: list.get(mention.last)?.end,
                    mention,
                })
            })
            .collect();
        Self { found }
    }

    /// What a word is a part of, or what its own parts together name.
    fn around(&self, word: &Word) -> Vec<&'static str> {
        let holds = |named: &&Named| named.start <= word.start && word.end <= named.end;
        self.found
            .iter()
            .filter(holds)
            .map(|named| named.mention.concept)
            .collect()
    }

    /// Whether a pair of Chinese characters is half in a name: such a pair is no word.
    fn straddle(&self, word: &Word) -> bool {
        let overlaps = |named: &Named| named.start < word.end && word.start < named.end;
        word.is_cjk && self.found.iter().any(overlaps) && self.around(word).is_empty()
    }

    /// Names that stand for more than their single words, each once.
    fn of_several_words(&self) -> Vec<&'static str> {
        let mut found: Vec<&'static str> = Vec::new();
        for named in self
            .found
            .iter()
            .filter(|named| named.mention.last > named.mention.first)
        {
            if !found.contains(&named.mention.concept) {
                found.push(named.mention.concept);
            }
        }
        found
    }
}

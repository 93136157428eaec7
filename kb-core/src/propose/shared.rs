//! The longest text that all messages have, where they share no words: `xyzERRORabc` and `1ERROR2`.

use std::collections::BTreeSet;

use memchr::memmem::Finder;

/// Only so much of the shortest message is looked through, in bytes.
const MOST_BYTES: usize = 1024;
/// A shorter text is no literal to look for.
const LEAST_BYTES: usize = 3;

/// The longest text that stands in all of them, without blanks around it; none of fewer than three bytes.
pub(super) fn longest(messages: &[&str]) -> Option<String> {
    let shortest = *messages.iter().min_by_key(|message| message.len())?;
    let cut = shortest.floor_char_boundary(MOST_BYTES);
    let shortest = shortest.get(..cut)?;
    let places: Vec<usize> = shortest
        .char_indices()
        .map(|(place, _)| place)
        .chain([shortest.len()])
        .collect();
    // A text that all have has parts of each lesser length that all have.
    let (mut least, mut most) = (0, places.len() - 1);
    let mut found = None;
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        match of_length(shortest, &places, middle, messages) {
            Some(text) => {
                found = Some(text);
                least = middle;
            }
            None => most = middle - 1,
        }
    }
    let found = found?.trim();
    (found.len() >= LEAST_BYTES).then(|| found.to_owned())
}

/// A text of so many characters that all messages have; of several the one with the most letters.
fn of_length<'m>(shortest: &'m str, places: &[usize], length: usize, messages: &[&str]) -> Option<&'m str> {
    let mut asked = BTreeSet::new();
    let mut best: Option<(usize, &str)> = None;
    for (start, end) in places.iter().zip(places.iter().skip(length)) {
        let text = shortest.get(*start..*end)?;
        if !asked.insert(text) {
            continue;
        }
        let finder = Finder::new(text);
        if messages
            .iter()
            .all(|message| finder.find(message.as_bytes()).is_some())
        {
            let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
            if best.is_none_or(|(most, _)| letters > most) {
                best = Some((letters, text));
            }
        }
    }
    best.map(|(_, text)| text)
}

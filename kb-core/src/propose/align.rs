//! What several messages share, in order: words and signs that are equal, and parts that vary in the same way.

use super::tokens::{Token, What};
use crate::matcher::rarity::word_weight;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) what: What,
    /// As it stands in the first message.
    pub(super) text: String,
}

impl Item {
    pub(super) fn of(token: &Token, message: &str) -> Self {
        Self {
            what: token.what,
            text: token.text(message).to_owned(),
        }
    }

    fn is(&self, token: &Token, message: &str) -> bool {
        self.what == token.what && (self.what != What::Text || self.text == token.text(message))
    }

    /// How much it says where it is shared: rare words most.
    fn weight(&self) -> u32 {
        match self.what {
            What::Varies(_) => 20,
            What::Text if self.text.chars().any(char::is_alphanumeric) => {
                let weight = word_weight(self.text.to_ascii_lowercase().as_bytes());
                // Weights are between 0.1 and 2.
                let rarity = if weight >= 1.0 { 100 } else { 30 };
                rarity + u32::try_from(self.text.len().min(40)).unwrap_or(0)
            }
            What::Text => 4,
        }
    }
}

/// The heaviest sequence of items that a message has too, as pairs of places: in the items, in the tokens.
pub(super) fn shared(items: &[Item], tokens: &[Token], message: &str) -> Vec<(usize, usize)> {
    let width = tokens.len() + 1;
    let mut best = vec![0_u32; (items.len() + 1) * width];
    let get = |best: &[u32], item: usize, token: usize| best.get(item * width + token).copied().unwrap_or(0);
    // From the end, so that the way back is read from the beginning.
    for (at, item) in items.iter().enumerate().rev() {
        for (place, token) in tokens.iter().enumerate().rev() {
            let mut most = get(&best, at + 1, place).max(get(&best, at, place + 1));
            if item.is(token, message) {
                most = most.max(get(&best, at + 1, place + 1) + item.weight());
            }
            if let Some(cell) = best.get_mut(at * width + place) {
                *cell = most;
            }
        }
    }
    let (mut at, mut place) = (0, 0);
    let mut pairs = Vec::new();
    while let (Some(item), Some(token)) = (items.get(at), tokens.get(place)) {
        let here = get(&best, at, place);
        if item.is(token, message) && here == get(&best, at + 1, place + 1) + item.weight() {
            pairs.push((at, place));
            at += 1;
            place += 1;
        } else if here == get(&best, at + 1, place) {
            at += 1;
        } else {
            place += 1;
        }
    }
    pairs
}

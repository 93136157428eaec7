//! Lines of one message put together: from lines that nobody knows to templates, as they come.
//!
//! The algorithm is Drain: a tree of fixed depth leads by the number of tokens and by the first of them to the few templates
//! that a line is compared with, and the most similar one takes it if it is similar enough.
//!
//! P. He, J. Zhu, Z. Zheng, M. R. Lyu: *Drain: An Online Log Parsing Approach with Fixed Depth Tree*, IEEE International
//! Conference on Web Services (ICWS), 2017, pages 33-40.
//!
//! What varies from line to line (numbers, addresses, paths …) is told by the token classes of [`crate::propose`], so that a
//! template and the pattern that is made from its lines see the same parts.
//!
//! ```text
//! tokens   a line -> its tokens     mod   the tree
//! ```

#[cfg(test)]
mod tests;
mod tokens;

use std::collections::HashMap;

pub use tokens::tokens;

/// Tokens that lead down the tree, behind the number of tokens. He et al. use trees of depth 3 to 5.
const LEADING: usize = 2;
/// Share of tokens that must be equal. He et al. use 0.3 to 0.5; lines of a few words need more to be the same message.
const LEAST_SIMILAR: f64 = 0.6;
/// What stands in a template where its lines differ.
pub const ANY: &str = "<*>";

/// What a line was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// One of this template, by its place in the list.
    Known(usize),
    /// The same, and the template has become more general by it.
    Widened(usize),
    /// The first of a new template.
    New(usize),
    /// There are as many templates as there may be, and it is none of them.
    Full,
}

/// Templates, at most so many. Tokens carry the blank before them, so that all of them together are the text.
#[derive(Debug)]
pub struct Templates {
    most: usize,
    list: Vec<Vec<String>>,
    leaves: HashMap<Key, Vec<usize>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    length: usize,
    leading: Vec<String>,
}

impl Templates {
    /// None yet.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            list: Vec::new(),
            leaves: HashMap::new(),
        }
    }

    /// Adds a template that was kept elsewhere; its place, or `None` where there is no room.
    pub fn restore(&mut self, tokens: Vec<String>) -> Option<usize> {
        if self.list.len() >= self.most {
            return None;
        }
        let place = self.list.len();
        self.leaves.entry(Key::of(&tokens)).or_default().push(place);
        self.list.push(tokens);
        Some(place)
    }

    /// Finds the template of a line, or makes one.
    pub fn place(&mut self, tokens: Vec<String>) -> Placed {
        let near = self.leaves.get(&Key::of(&tokens));
        let near = near.into_iter().flatten().filter_map(|place| {
            let similar = similarity(self.list.get(*place)?, &tokens);
            (similar >= LEAST_SIMILAR).then_some((*place, similar))
        });
        // Of equal ones the first, so that the order of lines alone decides.
        let best = near.reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((place, _)) = best else {
            return self.restore(tokens).map_or(Placed::Full, Placed::New);
        };
        let is_wider = self
            .list
            .get_mut(place)
            .is_some_and(|known| widen(known, &tokens));
        if is_wider {
            Placed::Widened(place)
        } else {
            Placed::Known(place)
        }
    }

    /// The tokens of a template.
    pub fn get(&self, place: usize) -> &[String] {
        self.list.get(place).map_or(&[], Vec::as_slice)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Makes a template more general, so that it takes these tokens, too; true where it did not. Those of another number are left.
pub fn widen(template: &mut [String], tokens: &[String]) -> bool {
    if template.len() != tokens.len() {
        return false;
    }
    let mut is_wider = false;
    for (known, token) in template.iter_mut().zip(tokens) {
        if known != token && known.trim_start() != ANY {
            let blank = known.len() - known.trim_start().len();
            known.replace_range(blank.., ANY);
            is_wider = true;
        }
    }
    is_wider
}

impl Key {
    /// The first tokens, where they say something. Lines that begin with what varies share a leaf.
    fn of(tokens: &[String]) -> Self {
        Self {
            length: tokens.len(),
            leading: tokens
                .iter()
                .take(LEADING)
                .map(|token| token.trim_start().to_owned())
                .collect(),
        }
    }
}

/// The share of places at which both have the same token. What varies counts half: it is the same in many messages. A number
/// that stayed says which error it is: with another one it is another message.
fn similarity(template: &[String], tokens: &[String]) -> f64 {
    let (mut equal, mut all) = (0.0, 0.0);
    for (known, token) in template.iter().zip(tokens) {
        let weight = if token.trim_start().starts_with('<') {
            0.5
        } else {
            1.0
        };
        all += weight;
        if known == token {
            equal += weight;
        } else if is_code(known) && is_code(token) {
            return 0.0;
        }
    }
    if all > 0.0 { equal / all } else { 0.0 }
}

fn is_code(token: &str) -> bool {
    let token = token.trim_start();
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
}

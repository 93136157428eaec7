//! What a JSON text makes in memory, found out while it comes and before anything is made of it. A byte of `[0,0,0…`
//! becomes a value of a hundred bytes and more: it is the number of values that must be bounded, not the bytes.

use super::{BodyError, Sink};

/// What is counted, and how much of it there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Values(usize),
    /// Members of a list that is a member of the whole: `{"items": [ … ]}`. They are read one by one.
    Items(usize),
}

/// Counts values as the text goes by. It takes any bytes: what is no JSON is refused by whoever parses it.
#[derive(Debug, Clone, Default)]
pub struct Weigher {
    depth: usize,
    within_text: bool,
    escaped: bool,
    values: usize,
    items: usize,
}

/// Depth of the members of `{"items": [ … ]}`.
const ITEM_DEPTH: usize = 2;

impl Weigher {
    pub fn push(&mut self, piece: &[u8]) {
        for &byte in piece {
            if self.within_text {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.within_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.within_text = true,
                b'[' | b'{' => {
                    self.depth = self.depth.saturating_add(1);
                    self.note();
                }
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                b',' => self.note(),
                _ => {}
            }
        }
    }

    /// A list, an object or a further member begins.
    fn note(&mut self) {
        self.values = self.values.saturating_add(1);
        if self.depth == ITEM_DEPTH {
            self.items = self.items.saturating_add(1);
        }
    }

    /// Values so far, lists and objects among them.
    pub fn values(&self) -> usize {
        self.values
    }

    pub fn check(&self, bound: Bound) -> Result<(), BodyError> {
        match bound {
            Bound::Values(most) if self.values > most => Err(BodyError::TooManyValues(most)),
            Bound::Items(most) if self.items > most => Err(BodyError::TooManyItems(most)),
            Bound::Values(_) | Bound::Items(_) => Ok(()),
        }
    }
}

#[derive(Debug)]
pub(super) struct Weighed {
    pub(super) body: Vec<u8>,
    pub(super) weigher: Weigher,
    bound: Bound,
    /// The length of the body where it is known.
    announced: usize,
}

impl Weighed {
    pub(super) fn new(bound: Bound) -> Self {
        Self {
            body: Vec::new(),
            weigher: Weigher::default(),
            bound,
            announced: 0,
        }
    }

    /// Says how long the body will be.
    pub(super) fn announce(&mut self, bytes: usize) {
        self.announced = bytes;
    }

    fn make_room(&mut self, bytes: usize) {
        let length = self.body.len();
        if self.body.capacity() - length >= bytes || length < LARGE_BYTES {
            return;
        }
        let rest = self.announced.saturating_sub(length);
        let more = if rest >= bytes {
            rest
        } else {
            bytes.max(length / GROWTH)
        };
        // Where so much is not to be had, the body grows as any list does.
        self.body.try_reserve_exact(more).ok();
    }

    /// Memory that the body takes, and what will be made of it.
    pub(super) fn bytes(&self) -> usize {
        let made = match self.bound {
            Bound::Values(_) => self.weigher.values().saturating_mul(VALUE_BYTES),
            // One is made at a time.
            Bound::Items(_) => 0,
        };
        // Memory that is reserved and not yet written is not held.
        let held = if self.body.capacity() > self.announced {
            self.body.capacity()
        } else {
            self.body.len()
        };
        held.saturating_add(made)
    }
}

/// From this length on a body grows by what is needed: while it is copied to larger memory, both are held. A client has to send
/// so much before the rest of what it announced is reserved.
const LARGE_BYTES: usize = 1 << 20;
/// A large body whose length is not known grows by this part of itself.
const GROWTH: usize = 4;

/// About what a value takes while a request is worked on: as a node with its place in the text, as a value of the type
/// that is read, and once more where unknown members are kept.
const VALUE_BYTES: usize = 256;

impl Sink for Weighed {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.weigher.push(piece);
        self.weigher.check(self.bound)?;
        self.make_room(piece.len());
        self.body.extend_from_slice(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighed(text: &str, piece: usize) -> Weigher {
        let mut weigher = Weigher::default();
        for piece in text.as_bytes().chunks(piece) {
            weigher.push(piece);
        }
        weigher
    }

    #[test]
    fn values_are_counted_and_texts_are_not_looked_into() {
        for (text, values, items) in [
            ("", 0, 0),
            (r#"{"text": "a, [b], {\"c\": 1}, \\"}"#, 1, 0),
            (r#"{"items": [0, 0, 0]}"#, 4, 3),
            (r#"{"items": [{"a": [1, 2]}, {"a": 1}], "b": 1}"#, 8, 2),
            (r#"{"items": []}"#, 2, 1),
        ] {
            for piece in [1, 3, 1000] {
                let weigher = weighed(text, piece);
                assert_eq!((weigher.values, weigher.items), (values, items), "{text}");
            }
        }
    }

    #[test]
    fn a_large_body_takes_little_more_than_its_bytes() {
        const LENGTH: usize = 9 << 20;
        for announced in [0, LENGTH] {
            let mut body = Weighed::new(Bound::Items(1));
            body.announce(announced);
            let mut most = 0;
            for piece in vec![b' '; LENGTH].chunks(8 << 10) {
                body.take(piece).unwrap();
                most = most.max(body.bytes());
                if announced > 0 && body.body.len() > 2 * LARGE_BYTES {
                    assert_eq!(body.bytes(), body.body.len(), "what is reserved is not held");
                    assert_eq!(body.body.capacity(), LENGTH, "nothing is copied");
                }
            }
            assert!(most <= LENGTH + LENGTH / GROWTH, "{most}");
        }
    }

    #[test]
    fn no_value_goes_uncounted() {
        // Every value but the first of its list or object has a comma before it.
        let text = format!("[{}]", "0,".repeat(1000));
        assert_eq!(weighed(&text, 7).values(), 1001);
        let text = "{\"\":0},".repeat(1000);
        assert!(weighed(&text, 7).values() >= 2000);
        let text = "[".repeat(1000);
        assert_eq!(weighed(&text, 7).values(), 1000);
    }
}

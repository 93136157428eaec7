//! Makes new texts of known ones: bytes changed, parts cut, doubled, exchanged with another text's, and words put in.

/// Longest text that is made, in bytes.
const LONGEST: usize = 64 << 10;

/// A source of texts that is the same for the same seed.
pub(crate) struct Mutator {
    state: u64,
    dictionary: &'static [&'static str],
}

impl Mutator {
    /// The seed must not be 0.
    pub(crate) fn new(seed: u64, dictionary: &'static [&'static str]) -> Self {
        Self {
            state: seed,
            dictionary,
        }
    }

    /// The next text.
    pub(crate) fn next(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut text = self.one_of(corpus).clone();
        for _ in 0..=self.below(6) {
            self.change(&mut text, corpus);
        }
        text.truncate(LONGEST);
        text
    }

    fn change(&mut self, text: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let (from, to) = self.range(text.len());
        match self.below(8) {
            0 => {
                // Special bytes more often than others.
                let byte = [0, b'\n', b'\r', 0x1b, b'"', b'{', b'\\', 0xff, self.byte()][self.below(9)];
                text.insert(from, byte);
            }
            1 if from < text.len() => text[from] ^= 1 << self.below(8),
            2 => drop(text.drain(from..to)),
            3 => text.truncate(from),
            4 => {
                let part = text[from..to].to_vec();
                text.splice(from..from, part);
            }
            5 => {
                let other = self.one_of(corpus).clone();
                let (start, end) = self.range(other.len());
                text.splice(from..to, other[start..end].iter().copied());
            }
            _ => {
                let word = self.dictionary[self.below(self.dictionary.len())];
                text.splice(from..from, word.bytes());
            }
        }
    }

    fn one_of<'a>(&mut self, corpus: &'a [Vec<u8>]) -> &'a Vec<u8> {
        &corpus[self.below(corpus.len())]
    }

    /// Two places, in order.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let (one, other) = (self.below(length + 1), self.below(length + 1));
        (one.min(other), one.max(other))
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }

    /// G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003): the triple 13, 7, 17.
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % u64::try_from(limit).unwrap()).unwrap()
    }
}

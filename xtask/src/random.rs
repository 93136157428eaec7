//! Numbers and texts that are drawn: the same ones from the same seed.

/// A reproducible source of numbers (`SplitMix64`).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 11).unwrap_or(0) % bound
    }
}

/// Words of some texts, each as often as they say it.
#[cfg_attr(
    not(feature = "evaluation"),
    allow(dead_code, reason = "only made records and their tests use it")
)]
pub(crate) struct Vocabulary {
    words: Vec<String>,
    random: Random,
}

#[cfg_attr(
    not(feature = "evaluation"),
    allow(dead_code, reason = "only made records and their tests use it")
)]
impl Vocabulary {
    pub(crate) fn new<'t>(texts: impl Iterator<Item = &'t str>, seed: u64) -> Self {
        Self {
            words: texts.flat_map(str::split_whitespace).map(str::to_owned).collect(),
            random: Random::new(seed),
        }
    }

    /// As many words as a text has, drawn; the text itself where there are none to draw.
    pub(crate) fn instead_of(&mut self, text: &str) -> String {
        if self.words.is_empty() {
            return text.to_owned();
        }
        let drawn = text.split_whitespace().map(|_| {
            let at = self.random.below(self.words.len());
            self.words.get(at).map_or("", String::as_str)
        });
        drawn.collect::<Vec<_>>().join(" ")
    }
}

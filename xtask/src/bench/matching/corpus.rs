//! Logs made from a seed: healthy ones, and healthy ones with error lines planted at known places. The same seed gives
//! the same bytes.

use crate::random::Random;

/// Shapes of healthy lines: kernel, driver, NCCL, training, serving, cluster, builds and everyday sentences. `%` and a
/// letter stand for a value.
const SHAPES: &str = include_str!("healthy.txt");

pub(crate) struct Healthy {
    shapes: Vec<&'static str>,
    random: Random,
    second: u64,
}

impl Healthy {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            shapes: SHAPES.lines().collect(),
            random: Random::new(seed),
            second: 0,
        }
    }

    pub(crate) fn line(&mut self, into: &mut String) {
        self.second += 1;
        let shape = self
            .shapes
            .get(self.random.below(self.shapes.len()))
            .copied()
            .unwrap_or_default();
        let mut rest = shape;
        while let Some((before, after)) = rest.split_once('%') {
            into.push_str(before);
            let kind = after.chars().next();
            if let Some(value) = kind.and_then(|kind| self.value(kind)) {
                into.push_str(&value);
                rest = after.get(1..).unwrap_or_default();
            } else {
                into.push('%');
                rest = after;
            }
        }
        into.push_str(rest);
        into.push('\n');
    }

    /// A host's prefix as the journal writes it.
    pub(crate) fn journal_prefix(&mut self) -> String {
        self.second += 1;
        format!(
            "{} {} train[{}]: ",
            self.stamp('S'),
            self.host(),
            self.random.below(90_000)
        )
    }

    fn value(&mut self, kind: char) -> Option<String> {
        let value = match kind {
            'r' => self.random.below(8).to_string(),
            'd' => (1 + self.random.below(99_999)).to_string(),
            'D' => (1_000_000 + self.random.below(900_000_000)).to_string(),
            'f' => format!("{}.{:03}", self.random.below(999), self.random.below(1_000)),
            'x' => format!("{:08x}", self.random.next() >> 32),
            'h' => self.host(),
            'T' | 'S' | 'B' | 't' => self.stamp(kind),
            _ => return None,
        };
        Some(value)
    }

    fn host(&mut self) -> String {
        format!("gpu{:03}", self.random.below(64))
    }

    fn stamp(&self, kind: char) -> String {
        let (hour, minute, second) = (self.second / 3_600 % 24, self.second / 60 % 60, self.second % 60);
        match kind {
            'T' => format!("2026-11-21T{hour:02}:{minute:02}:{second:02}.417Z"),
            'S' => format!("Nov 21 {hour:02}:{minute:02}:{second:02}"),
            'B' => format!("{:5}.{:06}", self.second, self.second * 7 % 1_000_000),
            _ => format!("{hour:02}:{minute:02}:{second:02}"),
        }
    }
}

/// Healthy lines up to this size, in bytes.
pub(crate) fn healthy(bytes: usize, seed: u64) -> String {
    let mut lines = Healthy::new(seed);
    let mut text = String::with_capacity(bytes + 1024);
    while text.len() < bytes {
        lines.line(&mut text);
    }
    text
}

/// A log and where its errors stand.
pub(crate) struct Planted {
    pub(crate) text: String,
    /// Line number, and the place of the planted error in the list it was taken from.
    pub(crate) truth: Vec<(u64, usize)>,
}

/// Healthy lines, of which each `every`th on average is one of `errors` behind a journal prefix.
pub(crate) fn planted(bytes: usize, every: usize, errors: &[&str], seed: u64) -> Planted {
    let mut lines = Healthy::new(seed);
    let mut random = Random::new(seed ^ 0xfeed);
    let mut text = String::with_capacity(bytes + 1024);
    let mut truth = Vec::new();
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        let chosen = (random.below(every) == 0).then(|| random.below(errors.len()));
        let Some((at, error)) = chosen.and_then(|at| Some((at, errors.get(at)?))) else {
            lines.line(&mut text);
            continue;
        };
        text.push_str(&lines.journal_prefix());
        text.push_str(error);
        text.push('\n');
        truth.push((number, at));
    }
    Planted { text, truth }
}

//! Lines that anybody may read afterwards: everything is cut that may tell of a person, a machine or a secret.

use super::{Kind, Redactor};

/// Lines of a key in PEM, at most: a text that was cut off within one does not end there.
const MOST_OF_PEM: usize = 200;

/// Redacts line after line; keys that stand on several are cut as a whole.
#[derive(Debug)]
pub struct Lines {
    redactor: Redactor<'static>,
    /// Lines since the beginning of a key in PEM.
    in_pem: Option<usize>,
}

impl Lines {
    /// `host`: the name of the machine that wrote them, where it is known.
    pub fn of(host: Option<&str>) -> Self {
        let mut redactor = Redactor::of(&Kind::ALL, host.unwrap_or_default());
        redactor.guesses = true;
        Self {
            redactor,
            in_pem: None,
        }
    }

    /// The line without what it gives away.
    pub fn next(&mut self, line: &str) -> String {
        let is_within_key = self.is_within_key();
        self.pass(line);
        if is_within_key {
            self.redactor.mark(Kind::Secrets, "PEM")
        } else {
            self.redactor.text(line, false)
        }
    }

    /// Takes note of a line that the caller leaves out: a key may begin or end on it.
    pub fn pass(&mut self, line: &str) {
        if let Some(lines) = self.in_pem {
            let ends = line.contains("-----END") || lines >= MOST_OF_PEM;
            self.in_pem = (!ends).then_some(lines + 1);
        } else if let Some((_, behind)) = line.split_once("-----BEGIN")
            && !behind.contains("-----END")
        {
            self.in_pem = Some(0);
        }
    }

    /// Whether a key has begun on an earlier line and not ended yet.
    pub fn is_within_key(&self) -> bool {
        self.in_pem.is_some()
    }

    /// How often something was cut, by kind; the same text counts once.
    pub fn count(&self, kind: Kind) -> usize {
        self.redactor
            .marks
            .keys()
            .filter(|(known, _)| *known == kind)
            .count()
    }
}

/// One line by itself.
pub fn line(line: &str) -> String {
    Lines::of(None).next(line)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_cut_takes_as_long_after_many_others() {
        let began = Instant::now();
        let mut lines = Lines::of(None);
        for number in 1..=100_000 {
            let mark = lines.redactor.mark(Kind::Users, &format!("ann{number}"));
            assert_eq!(mark, format!("user-{number}"));
        }
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    }
}

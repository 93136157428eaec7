//! Redaction of what is shared, until it changes nothing more. What was shown is then what is kept: the form that comes back is
//! redacted again, and is shown again where that changes something.

use kb_core::redact;

use super::make::{at, moved, short};
use super::{Line, Shared};

/// Marks are numbered anew each time, and stay as they are from the second time on.
const MOST_PASSES: usize = 4;
/// What stands for a text that does not settle.
const NOTHING: &str = "…";

impl Shared {
    /// The same, redacted so often that once more changes nothing.
    #[must_use]
    pub fn settled(self) -> Self {
        let mut settled = self;
        for _ in 0..MOST_PASSES {
            let next = settled.redacted_once();
            if next == settled {
                return settled;
            }
            settled = next;
        }
        settled.without_unsettled()
    }

    fn redacted_once(&self) -> Self {
        let mut lines = redact::Lines::of(None);
        let mut next = self.clone();
        for line in &mut next.marked {
            redact_line(line, &mut lines);
        }
        for note in &mut next.notes {
            *note = redact::line(note);
        }
        for known in &mut next.environment {
            known.component = redact::line(&known.component);
            known.value = redact::line(&known.value);
        }
        next
    }

    fn without_unsettled(self) -> Self {
        let next = self.redacted_once();
        let mut left = self;
        for (line, next) in left.marked.iter_mut().zip(next.marked) {
            if *line != next {
                NOTHING.clone_into(&mut line.text);
                line.captures.clear();
                (line.start, line.end) = (0, 0);
            }
        }
        let is_settled = |text: &String| redact::line(text) == *text;
        left.notes.retain(is_settled);
        left.environment
            .retain(|known| is_settled(&known.component) && is_settled(&known.value));
        left
    }
}

fn redact_line(line: &mut Line, lines: &mut redact::Lines) {
    let clean = lines.next(&line.text);
    let span = moved((line.start as usize, line.end as usize), &line.text, &clean);
    let (clean, span) = short(clean, span);
    (line.start, line.end) = (at(span.0), at(span.1));
    line.captures.retain(|_, value| clean.contains(value.as_str()));
    line.text = clean;
}

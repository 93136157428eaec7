//! Lines of the driver between those of a tool, as a console shows both. The report keeps them, and a note says so.

use super::draft::Draft;
use super::lines::Line;
use crate::report::{LogExcerpt, When};

/// Most lines that are kept.
const MOST_LINES: usize = 1_000;
/// Longest line that is kept, in characters.
const LONGEST_LINE: usize = 2_000;

pub(super) fn read(draft: &mut Draft, lines: &[Line]) {
    let of_driver = lines.iter().filter(|line| is_of_driver(&line.text));
    let kept: Vec<String> = of_driver
        .take(MOST_LINES)
        .map(|line| line.text.chars().take(LONGEST_LINE).collect())
        .collect();
    let Some(first) = kept.first() else { return };
    draft.note(
        "output",
        format!(
            "the driver wrote {} of its lines, the first is {first:?}: look into it with `match`",
            kept.len()
        ),
    );
    draft.logs.push(LogExcerpt {
        source: "output".to_owned(),
        // The output does not say when.
        when: When::Before,
        text: kept.join("\n"),
    });
}

fn is_of_driver(text: &str) -> bool {
    ["NVRM:", "nvidia-nvswitch", "SXid (", "NVLink:"]
        .iter()
        .any(|mark| text.contains(mark))
}

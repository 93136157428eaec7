//! Lines of the driver between those of a tool, as a console shows both. The report keeps them, and a note says so.

use super::draft::Draft;
use super::lines::{Kept, Line};
use crate::observation::read_line;

pub(super) fn read(draft: &mut Draft, lines: &[Line]) {
    let mut kept = Kept::default();
    let of_driver = lines.iter().filter(|line| is_of_driver(&line.text));
    of_driver.for_each(|line| kept.keep(line));
    if let Some((first, count)) = kept.first() {
        let told =
            format!("the driver wrote {count} lines, the first is {first:?}: look into it with `match`");
        draft.note("output", told);
    }
    draft.logs.extend(kept.excerpt("output"));
}

fn is_of_driver(text: &str) -> bool {
    let has_mark = ["NVRM:", "nvidia-nvswitch", "SXid ("]
        .iter()
        .any(|mark| text.contains(mark));
    has_mark || read_line(text).is_some()
}

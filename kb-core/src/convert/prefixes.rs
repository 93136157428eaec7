//! What launchers put before each line, taken off: ranks of mpirun and srun, pods of kubectl, services of compose, times.
//! Lines of several workers are put together again, worker by worker.

use std::collections::BTreeMap;

use super::lines::Line;
use crate::scanner::launcher_prefix;

/// Of ten lines that say something so many must have a prefix; others are the launcher's own.
const MOST_OF_TEN: usize = 8;

/// The lines without their prefixes; as they are where most have none. Numbers stay those of the text.
pub(super) fn without_prefixes(lines: Vec<Line>) -> Vec<Line> {
    let prefixes: Vec<_> = lines
        .iter()
        .map(|line| launcher_prefix(line.text.as_bytes()))
        .collect();
    let said = lines.iter().filter(|line| !line.text.trim().is_empty()).count();
    let with_prefix = prefixes.iter().filter(|prefix| prefix.is_some()).count();
    if said == 0 || with_prefix * 10 < said * MOST_OF_TEN {
        return lines;
    }
    let mut workers: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    let mut sorted: Vec<(usize, Line)> = lines
        .into_iter()
        .zip(prefixes)
        .filter_map(|(line, prefix)| {
            let prefix = prefix?;
            let next = workers.len();
            let place = *workers.entry(prefix.worker).or_insert(next);
            let text = line.text.get(prefix.len..)?;
            let text = text.strip_prefix(' ').unwrap_or(text).to_owned();
            Some((place, Line { text, ..line }))
        })
        .collect();
    sorted.sort_by_key(|(place, _)| *place);
    sorted.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    fn told(text: &str) -> Vec<(usize, String)> {
        let lines = without_prefixes(lines(text.as_bytes())).into_iter();
        lines.map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn each_launchers_prefix_is_taken_off() {
        for prefix in [
            "[1,0]<stdout>:",
            "[1,0]<stdout>: ",
            "0: ",
            "[pod/bench-0/main] ",
            "bench-1  | ",
            "2026-11-27T10:00:00.123456789Z ",
            "2026-11-27T10:00:00.123456789Z stdout F ",
            "[pod/bench-0/main] 2026-11-27T10:00:00Z ",
            "2026-11-27 10:00:00,123 ",
            "[Fri Nov 27 10:00:00 2026] ",
            "Nov 27 10:00:00 gpu-17 nvbandwidth[77]: ",
        ] {
            let text =
                format!("{prefix}nvbandwidth Version: v0.8\n{prefix}\n{prefix} 0      N/A    393.75\n");
            let expected = ["nvbandwidth Version: v0.8", "", "0      N/A    393.75"];
            let found: Vec<String> = told(&text)
                .into_iter()
                .map(|(_, line)| line.trim().to_owned())
                .collect();
            assert_eq!(found, expected, "{prefix:?}");
        }
    }

    #[test]
    fn workers_that_wrote_at_the_same_time_are_told_one_after_the_other() {
        let found = told("srun: job 7 queued\n0: a\n1: x\n0: b\n1: y\n0: c\n");
        let numbers: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [2, 4, 6, 3, 5]);
        assert_eq!(found[1].1, "b");
    }

    #[test]
    fn text_without_prefixes_stays() {
        let text = " 0      N/A    393.75\n   1  393.75  N/A\n12: x\nnode1:12:13 [0] NCCL INFO x\n";
        let lines: Vec<String> = told(text).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, text.lines().collect::<Vec<_>>());
    }
}

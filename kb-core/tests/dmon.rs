//! Tables of `dcgmi dmon` with several columns: each value of a column of health finds the record that speaks of it.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::scanner::{ScanOptions, Summary, scan};

fn matcher() -> Arc<Matcher> {
    let records = kb_seed::records();
    let signatures = records.iter().map(|record| record.signatures(Revision(1)));
    Arc::new(Matcher::build(signatures.collect()).0)
}

fn found(matcher: &Arc<Matcher>, text: &str) -> Summary {
    scan(matcher, text.as_bytes(), ScanOptions::default())
}

fn ids(summary: &Summary) -> Vec<String> {
    summary.matches.iter().map(|found| found.id.to_string()).collect()
}

const HEAD: &str = "#Entity   GPUTL   XIDER   EDVTL   RRF     RRP     NRCLT   RPCTR   TMPTR   \n\
                    ID                                                            C       \n";

#[test]
fn each_value_that_tells_of_trouble_finds_its_record() {
    let matcher = matcher();
    let healthy =
        format!("{HEAD}GPU 0     98      0       0       0       0       0       0       61      \n");
    let summary = found(&matcher, &healthy);
    assert_eq!((ids(&summary), summary.unexplained), (vec![], None));
    for (row, record) in [
        (
            "GPU 1     0       79      0       0       0       0       0       40      ",
            "xid/79-gpu-has-fallen-off-the-bus",
        ),
        (
            "GPU 1     0       0       4       0       0       0       0       40      ",
            "dcgm/double-bit-ecc-errors",
        ),
        (
            "GPU 1     0       0       0       1       0       0       0       40      ",
            "dcgm/row-remap-failed",
        ),
        (
            "GPU 1     0       0       0       0       1       0       0       40      ",
            "dcgm/row-remap-pending",
        ),
        (
            "GPU 1     0       0       0       0       0       7       0       40      ",
            "dcgm/nvlink-errors",
        ),
    ] {
        let text = format!("{healthy}{row}\n");
        let summary = found(&matcher, &text);
        assert_eq!(ids(&summary), [record], "{row}");
        let line = &summary.matches[0].lines[0];
        assert_eq!(line.line, 4);
        let (start, end) = (
            usize::try_from(line.start).unwrap(),
            usize::try_from(line.end).unwrap(),
        );
        assert!(
            row.contains(text[start..end].trim()) && end <= text.len(),
            "{start}..{end}"
        );
        assert_eq!(summary.unexplained, None, "{row}");
    }
}

#[test]
fn a_value_that_no_record_speaks_of_is_told_and_so_is_a_column_that_is_not_read() {
    let matcher = matcher();
    let text = format!("{HEAD}GPU 1     0       0       0       0       0       0       12      40      \n");
    let summary = found(&matcher, &text);
    assert_eq!(ids(&summary), [""; 0]);
    let unexplained = summary.unexplained.unwrap();
    assert_eq!(unexplained.lines[0].line, 3);
    assert!(unexplained.lines[0].text.as_ref().unwrap().starts_with("GPU 1"));
    assert_eq!(summary.notes, [""; 0]);
    let unknown = found(&matcher, "#Entity   ZORGB   TMPTR\nID\nGPU 0     7       45\n");
    assert_eq!(
        unknown.notes,
        ["the table of dcgmi dmon on line 1 has columns that were not read: ZORGB"]
    );
    assert_eq!(unknown.unexplained, None);
}

/// However the text is cut into pieces, and however long it is.
#[test]
fn a_table_is_read_to_its_end() {
    let matcher = matcher();
    let healthy = "GPU 0     98      0       0       0       0       0       0       61      \n";
    let text = format!(
        "step 1 failed\n{HEAD}{}GPU 5     98      79      0       0       0       0       3       61      \nstep 2 failed\n",
        healthy.repeat(2_000)
    );
    assert!(text.len() > 128 << 10);
    let whole = found(&matcher, &text);
    assert_eq!(ids(&whole), ["xid/79-gpu-has-fallen-off-the-bus"]);
    assert_eq!(whole.matches[0].lines[0].line, 2_004);
    let lines: Vec<u64> = whole
        .unexplained
        .iter()
        .flat_map(|all| &all.lines)
        .map(|line| line.line)
        .collect();
    assert_eq!(lines, [1, 2_004]);
    let mut scanner = matcher.scanner(ScanOptions::default());
    text.as_bytes().chunks(777).for_each(|piece| scanner.feed(piece));
    assert_eq!(scanner.finish(), whole);
}

/// Behind times, launchers and marks of pages, however wide.
#[test]
fn a_table_is_read_behind_prefixes() {
    let matcher = matcher();
    for (head, row) in [
        ("2026-11-30T10:00:00Z ", "2026-11-30T10:00:00.500Z "),
        ("> ", "> "),
        ("| ", "| "),
        ("svc-1 | ", "svc-1 | "),
        (
            "Nov 30 10:00:00 node7 dcgmi[812]: ",
            "Nov 30 10:00:00 node7 dcgmi[10812]: ",
        ),
        ("  ", ""),
        ("as wide % ", "as wide % "),
        ("\u{1b}[36msvc-1 | \u{1b}[0m", "\u{1b}[36msvc-1 | \u{1b}[0m"),
    ] {
        let text = format!(
            "{head}#Entity   XIDER   TMPTR   \n{head}ID                C       \n{row}GPU 2     0       44      \n{row}GPU 3     79      45      \n"
        );
        let summary = found(&matcher, &text);
        assert_eq!(ids(&summary), ["xid/79-gpu-has-fallen-off-the-bus"], "{head}");
        let line = &summary.matches[0].lines[0];
        assert_eq!((line.line, summary.matches[0].lines.len()), (4, 1), "{head}");
        let (start, end) = (
            usize::try_from(line.start).unwrap(),
            usize::try_from(line.end).unwrap(),
        );
        assert!(
            text[..end].ends_with("79") || text[start..end].contains("79"),
            "{head}"
        );
        assert_eq!(summary.unexplained, None, "{head}");
        let of_tables: Vec<&String> = summary
            .notes
            .iter()
            .filter(|note| note.contains("dcgmi"))
            .collect();
        assert_eq!(of_tables, [""; 0], "{head}");
    }
}

/// The name of the column is excused only where its rows are read, and a row that is not read is told.
#[test]
fn what_is_not_read_of_a_table_is_told() {
    let matcher = matcher();
    for line in [
        "XIDER 79",
        "the column XIDER of #Entity",
        "#EntityX   XIDER   TMPTR",
    ] {
        assert!(found(&matcher, line).unexplained.is_some(), "{line}");
    }
    let summary = found(
        &matcher,
        "#Entity   XIDER   TMPTR\nGPU 0     0       44\nstep 1\nGPU 3     79      45\n",
    );
    assert_eq!(
        summary.notes,
        ["rows of tables of dcgmi dmon that were not read, or not wholly: 1, the first on line 4"]
    );
}

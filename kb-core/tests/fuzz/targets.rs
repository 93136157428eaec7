//! What is read, and what must hold whatever it is.

use std::sync::{Arc, LazyLock};

use kb_core::annex::{self, read_annex};
use kb_core::convert::{Format, Options, convert as convert_output};
use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::{Record, read_document};
use kb_core::report::{Node, Report};
use kb_core::scanner::{Event, ScanOptions, scan as scan_whole};
use kb_core::validate::check_record;

/// Pieces of logs.
pub(crate) const LOG_WORDS: &[&str] = &[
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n",
    "CUDA error: peer access is not supported between these two devices",
    "[rank3]: ",
    "node1:4711:4712 [0] NCCL WARN ",
    "2026-01-02T03:04:05.678901Z ",
    "Jan  2 03:04:05 node1 kernel: [12345.678901] ",
    "\u{1b}[31m",
    "\u{1b}[0m",
    "\r",
    "\r\n",
    "显卡",
    "\u{feff}",
];

/// Pieces of JSON.
pub(crate) const JSON_WORDS: &[&str] = &[
    "null",
    "true",
    "-0",
    "1e999",
    "18446744073709551616",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"id\":",
    "\"regex\": \"(a+)+b\",",
    "\"regex\": \"((((((((((x{1000}){1000}\",",
    "\"schema_version\": 2,",
    "[[[[[[[[[[[[[[[[",
    "{\"\":{\"\":{\"\":",
    ",",
    "}",
    "]",
];

/// Pieces of what the tools print.
pub(crate) const TOOL_WORDS: &[&str] = &[
    "nvbandwidth Version: v0.8\n",
    "Running device_to_device_memcpy_read_ce.\n",
    "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0       N/A    393.91\n",
    "SUM device_to_device_memcpy_read_ce 787.53\n",
    "# nThread 1 nGpus 2\n",
    "#  Rank  0 Group  0 Pid   1648 on         vm device  0 [0000:00:06] NVIDIA H200\n",
    "\tGPU0\tGPU1\tCPU Affinity\n",
    "GPU1\tNV18\t X \n",
    "Device: 0, NVIDIA H200, pciBusID: 0, pciDeviceID: 6, pciDomainID:0\n",
    "node1:4711:4711 [0] NCCL INFO ",
    "NCCL DIAG ",
    " N/A ",
    "99999999999999999999",
    "1e308",
    "\u{1b}[4m",
    "\n",
];

/// The seed records' matcher.
static MATCHER: LazyLock<Arc<Matcher>> = LazyLock::new(|| {
    let seeds = [
        (
            include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json"),
            include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.ext.json"),
        ),
        (
            include_str!("../../../kb-seed/tensorflow/gpu-peer-access-error.json"),
            include_str!("../../../kb-seed/tensorflow/gpu-peer-access-error.ext.json"),
        ),
    ];
    let records =
        seeds.map(|(document, annex)| Record::parse(document, annex).unwrap().signatures(Revision(1)));
    Arc::new(Matcher::build(records.to_vec()).0)
});

/// However a text arrives the answer is the same, and what it says lies within the text.
pub(crate) fn scan(text: &[u8]) {
    let whole = scan_whole(&MATCHER, text, ScanOptions::default());
    let piece = usize::from(text.first().copied().unwrap_or(0)) + 1;
    let mut scanner = MATCHER.scanner(ScanOptions::default());
    let mut events = Vec::new();
    for bytes in text.chunks(piece) {
        events.extend(scanner.push(bytes));
    }
    let (last, summary) = scanner.finish_with_events();
    events.extend(last);
    assert_eq!(summary, whole, "in pieces of {piece}");
    let length = text.len() as u64;
    assert_eq!(whole.bytes_scanned, length);
    let mut hits = 0;
    for event in &events {
        if let Event::Hit(hit) = event {
            hits += 1;
            assert!((1..=whole.lines_scanned).contains(&hit.line), "{hit:?}");
            assert!(hit.start <= hit.end && hit.end <= length, "{hit:?}");
        }
    }
    let counted: u64 = whole.matches.iter().map(|found| found.count).sum();
    assert!(counted <= hits, "{counted} counted, {hits} hits");
    for found in &whole.matches {
        let folded: u64 = found.folds.iter().map(|fold| fold.count).sum();
        assert_eq!(folded + found.overflow, found.count, "{found:?}");
    }
}

/// A document is refused with reasons, or read; what is read can be matched with.
pub(crate) fn document(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let read = read_document(text);
    let violations = check_record(None, text, annex::EMPTY);
    match read {
        Err(reasons) => assert!(!reasons.is_empty() && !violations.is_empty()),
        Ok(document) => build(text, annex::EMPTY, document.id.as_str()),
    }
}

/// As [`document`], for the annex of a good one.
pub(crate) fn annex(text: &[u8]) {
    const DOCUMENT: &str = include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json");
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let violations = check_record(None, DOCUMENT, text);
    match read_annex(text) {
        Err(reasons) => assert!(!reasons.is_empty() && !violations.is_empty()),
        Ok(_) => build(DOCUMENT, text, "cuda/peer-access-unsupported-by-hardware"),
    }
}

fn build(document: &str, annex: &str, id: &str) {
    let record = Record::parse(document, annex).unwrap();
    assert_eq!(
        (record.id().as_str(), record.document_text.as_str()),
        (id, document)
    );
    let (matcher, _) = Matcher::build(vec![record.signatures(Revision(1))]);
    let signature = record.document.signature.as_bytes().to_vec();
    scan_whole(&Arc::new(matcher), &signature, ScanOptions::default());
}

/// A report that is read comes back as it was.
pub(crate) fn report(text: &[u8]) {
    let Ok(report) = serde_json::from_slice::<Report>(text) else {
        return;
    };
    let written = serde_json::to_string(&report).unwrap();
    let again: Report = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
}

/// Output is refused with what to do, or becomes a report that can be written and read.
pub(crate) fn convert(text: &[u8]) {
    let format = text.first().map(|byte| usize::from(*byte) % 16);
    let options = |format| Options {
        format,
        ..Options::new(
            Node {
                id: "node-1".parse().unwrap(),
                hostname: None,
                boot_id: None,
            },
            "2026-11-21T07:21:49Z".to_owned(),
            "0.1.0".to_owned(),
        )
    };
    for format in [None, format.and_then(|place| Format::ALL.get(place).copied())] {
        match convert_output(text, &options(format)) {
            Ok(converted) => report(&serde_json::to_vec(&converted).unwrap()),
            Err(error) => assert!(!error.what.is_empty() && !error.advice.is_empty()),
        }
    }
}

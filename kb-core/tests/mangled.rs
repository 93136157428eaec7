//! Well-known messages as they arrive from addresses, pages, mails, strings of JSON, tables and terminals: each is found all the same, at
//! its line and its place.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::scanner::{ScanOptions, Summary, scan};

const MESSAGES: [&str; 10] = [
    "[ 3630.123456] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    "[ 3630.123456] NVRM: Xid (PCI:0000:3b:00): 48, pid=812, name=python, DBE (double bit error) in partition 4",
    "[ 3630.123456] NVRM: Xid (PCI:0000:3b:00): 119, pid=812, name=python, Timeout after 6s of waiting for RPC response from GPU0 GSP!",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.20 GiB is free.",
    "RuntimeError: CUDA error: peer access is not supported between these two devices",
    "NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 3b000",
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
    "Failed to initialize NVML: Driver/library version mismatch",
    "RuntimeError: CUDA error: an illegal memory access was encountered",
    "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error",
];

/// As `encodeURIComponent` of JavaScript writes it.
fn address(text: &str) -> String {
    let encoded = text.bytes().map(|byte| {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    encoded.collect()
}

/// As Python's `quopri` writes it.
fn mail(text: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for letter in text.chars() {
        let encoded = match letter {
            '=' => "=3D".to_owned(),
            letter => letter.to_string(),
        };
        if length + encoded.len() > 75 {
            out.push_str("=\n");
            length = 0;
        }
        length += encoded.len();
        out.push_str(&encoded);
    }
    out
}

fn terminal(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let lines = letters.chunks(80).map(|line| line.iter().collect());
    lines.collect::<Vec<String>>().join("\n")
}

type Change = fn(&str) -> String;

const CHANGES: [(&str, Change); 12] = [
    ("double blanks", |l| l.replace(' ', "  ")),
    ("tabs", |l| l.replace(' ', "\t")),
    ("no-break spaces", |l| l.replace(' ', "\u{a0}")),
    ("address", address),
    ("address of a request", |l| {
        format!(
            "10.0.0.1 - - \"GET /search?q={}&lang=en HTTP/1.1\" 200",
            address(l)
        )
    }),
    ("form of a request", |l| {
        // As Python's `quote_plus` writes it.
        let text = address(l)
            .replace("%20", "+")
            .replace('(', "%28")
            .replace(')', "%29");
        format!("text={}", text.replace('\'', "%27").replace('!', "%21"))
    }),
    ("html", |l| {
        let text = l.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        text.replace('"', "&quot;").replace('\'', "&#39;")
    }),
    ("json", |l| serde_json::to_string(&l.replace(' ', "\t")).unwrap()),
    ("json with quotes and colours", |l| {
        let text = serde_json::to_string(&format!("\u{1b}[31msaid \"{l}\"\u{1b}[0m")).unwrap();
        format!("{{\"log\":{text}}}")
    }),
    ("mail", mail),
    ("mail with ends of lines of the internet", |l| {
        mail(l).replace('\n', "\r\n") + "\r\n"
    }),
    ("terminal", terminal),
];

fn matcher() -> Arc<Matcher> {
    let records = kb_seed::records();
    let signatures = records.iter().map(|record| record.signatures(Revision(1)));
    Arc::new(Matcher::build(signatures.collect()).0)
}

fn found(matcher: &Arc<Matcher>, text: &str) -> Summary {
    scan(matcher, text.as_bytes(), ScanOptions::default())
}

#[test]
fn known_messages_are_found_however_they_arrive() {
    let matcher = matcher();
    let mut lost = Vec::new();
    for message in MESSAGES {
        let first = found(&matcher, message)
            .matches
            .first()
            .map(|first| first.id.clone());
        assert!(first.is_some(), "{message}");
        for (name, change) in CHANGES {
            let text = format!("one line\n{}\n", change(message));
            let summary = found(&matcher, &text);
            let same = summary.matches.iter().find(|one| Some(&one.id) == first.as_ref());
            if same.is_none_or(|one| one.lines.first().map(|line| line.line) != Some(2)) {
                lost.push(format!("{name}: {text}"));
            }
        }
    }
    assert!(lost.is_empty(), "{} lost: {lost:#?}", lost.len());
}

#[test]
fn what_is_marked_are_the_bytes_as_sent() {
    let matcher = matcher();
    for (text, marked) in [
        (
            "q=Failed%20to%20initialize%20NVML%3A%20Driver%2Flibrary%20version%20mismatch&x=1",
            "Driver%2Flibrary%20version%20mismatch",
        ),
        (
            "x Failed  to\tinitialize  NVML:  Driver/library  version  mismatch",
            "Failed  to\tinitialize  NVML:  Driver/library  version  mismatch",
        ),
    ] {
        let summary = found(&matcher, text);
        let line = &summary.matches.first().unwrap().lines[0];
        let start = usize::try_from(line.start).unwrap();
        let end = usize::try_from(line.end).unwrap();
        assert_eq!(&text[start..end], marked);
    }
}

/// What no record explains stays so: a text that was not encoded is not decoded.
#[test]
fn near_misses_stay_misses_however_they_arrive() {
    let matcher = matcher();
    for record in kb_seed::records() {
        for miss in &record.annex.near_misses {
            for (name, change) in CHANGES.iter().take(4) {
                let text: Vec<String> = miss.text.lines().map(change).collect();
                let text = text.join("\n");
                let summary = found(&matcher, &text);
                let is_found = summary.matches.iter().any(|found| found.id == *record.id());
                assert!(!is_found, "{}: {name}: {text}", record.id());
            }
        }
    }
}

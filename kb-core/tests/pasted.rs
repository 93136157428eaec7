//! Own examples as people paste them: behind what programs put around a line, and changed as encoders, pages and editors do.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::Record;
use kb_core::scanner::{ScanOptions, scan};

/// Of so many texts of one wrapper one may lose its record.
const LOST_OF: usize = 60;

/// Changes one line.
type Wrap = fn(&str) -> String;

/// A text as JSON writes it, with the quotes around it.
fn json(line: &str) -> String {
    serde_json::to_string(line).unwrap()
}

/// As Go's encoder writes it, without the quotes.
fn go(line: &str) -> String {
    let text = json(line);
    let text = text[1..text.len() - 1].replace('<', "\\u003c");
    text.replace('>', "\\u003e").replace('&', "\\u0026")
}

const WRAPPERS: [(&str, Wrap); 34] = [
    ("docker", |l| {
        format!(
            r#"{{"log":"{}\n","stream":"stderr","time":"2026-11-21T03:14:07.231904512Z"}}"#,
            go(l)
        )
    }),
    ("docker of zap", |l| {
        let inner = format!(r#"{{"level":"error","ts":1763694847.2,"msg":"{}"}}"#, go(l));
        format!(r#"{{"log":"{}\n","stream":"stderr"}}"#, go(&inner))
    }),
    ("zap", |l| {
        format!(
            r#"{{"level":"error","ts":1763694847.23,"caller":"worker/main.go:112","msg":"{}"}}"#,
            go(l)
        )
    }),
    ("structlog json", |l| {
        format!(
            r#"{{"event": {}, "level": "error", "timestamp": "2026-11-21T03:14:07Z"}}"#,
            json(l)
        )
    }),
    ("slog text", |l| {
        format!("time=2026-11-21T03:14:07.231Z level=ERROR msg={}", json(l))
    }),
    ("journal json", |l| {
        format!(r#"{{"_PID":"812","MESSAGE":{},"PRIORITY":"3"}}"#, json(l))
    }),
    ("journal verbose", |l| format!("    MESSAGE={l}")),
    ("structlog", |l| {
        format!("2026-11-21 03:14:07 [error    ] {l}    [worker] rank=3")
    }),
    ("loguru", |l| {
        format!("2026-11-21 03:14:07.231 | ERROR    | __main__:main:12 - {l}")
    }),
    ("kubectl", |l| {
        format!("[pod/train-0/main] 2026-11-21T03:14:07.231904512Z {l}")
    }),
    ("cri", |l| {
        format!("2026-11-21T03:14:07.231904512+00:00 stderr F {l}")
    }),
    ("rank", |l| format!("[rank0]: {l}")),
    ("ray, colours lost", |l| {
        format!("[36m(RayWorkerWrapper pid=812)[0m {l}")
    }),
    ("vllm", |l| {
        format!("(EngineCore_0 pid=812) ERROR 11-21 03:14:07 [core.py:718] {l}")
    }),
    ("mpirun", |l| format!("[1,3]<stderr>:{l}")),
    ("pytest", |l| format!("E       {l}")),
    ("github actions", |l| {
        format!("2026-11-21T03:14:07.2319045Z ##[error]{l}")
    }),
    ("jenkins", |l| format!("[2026-11-21T03:14:07.231Z] {l}")),
    ("grep", |l| format!("train.log:123:{l}")),
    ("quoted", |l| format!("> {l}")),
    ("quoted twice", |l| format!("> > {l}")),
    ("table", |l| format!("| {l} |")),
    ("list", |l| format!("- `{l}`")),
    ("python string", |l| format!("'{l}',")),
    ("python bytes", |l| format!("b\"{}\"", l.replace('"', "\\\""))),
    ("html", |l| {
        l.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
            .replace('\'', "&#39;")
    }),
    ("curly quotes", |l| l.replace('\'', "’").replace('"', "”")),
    ("no-break spaces", |l| l.replace(' ', "\u{a0}")),
    ("full-width colons", |l| l.replace(": ", "：")),
    ("colours", |l| {
        l.split(' ')
            .map(|word| format!("\u{1b}[1;31m{word}\u{1b}[0m"))
            .collect::<Vec<_>>()
            .join(" ")
    }),
    ("colours lost", |l| format!("[1;31m{l}[0m")),
    ("colours shown", |l| format!("^[[31m{l}^[[0m")),
    ("colours in json", |l| {
        format!(r#"{{"msg":"\u001b[31m{}\u001b[0m"}}"#, go(l))
    }),
    ("crlf", |l| format!("{l}\r")),
];

#[test]
fn examples_are_recognised_as_they_are_pasted() {
    let records = kb_seed::records();
    let (matcher, _) = Matcher::build(
        records
            .iter()
            .map(|record| record.signatures(Revision(1)))
            .collect(),
    );
    let matcher = Arc::new(matcher);
    let finds = |record: &Record, text: &str| {
        let summary = scan(&matcher, text.as_bytes(), ScanOptions::default());
        summary.matches.iter().any(|found| found.id == *record.id())
    };
    let mut tried: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    let examples = records.iter().flat_map(|record| {
        let examples = record.annex.examples.iter();
        examples.map(move |example| (record, example.text.as_str()))
    });
    for (number, (record, example)) in examples.enumerate() {
        // Each example meets two of the wrappers, each wrapper examples of all domains.
        for step in [number, number * 7 + 3] {
            let (name, wrap) = WRAPPERS[step % WRAPPERS.len()];
            let text = example.lines().map(|line| wrap(line) + "\n").collect::<String>();
            let (count, lost) = tried.entry(name).or_default();
            *count += 1;
            if !finds(record, &text) {
                lost.push(format!("{}: {text}", record.id()));
            }
        }
    }
    assert_eq!(tried.len(), WRAPPERS.len());
    let over: Vec<_> = tried
        .iter()
        .filter(|(_, (count, lost))| lost.len() * LOST_OF > *count)
        .collect();
    assert!(over.is_empty(), "{over:#?}");
}

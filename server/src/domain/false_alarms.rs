//! False alarms: what matches in a log of a healthy run.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::scanner::Event;
use serde::Serialize;

use super::lookup::{MatchOptions, Matching};
use crate::clean::{CleanError, Corpus, Log};
use crate::feed::Generation;

const PIECE: usize = 256 << 10;
/// Characters of a line that are shown.
const SHOWN: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alarm {
    pub file: String,
    /// The first line on which the record stands, from 1.
    pub line: u64,
    pub count: u64,
    pub record: RecordId,
    /// What of it matched there: a pattern's id, `signature`, or `code:` and the code.
    pub pattern: String,
    pub text: String,
}

impl fmt::Display for Alarm {
    /// `clean/a.log.zst:17: error: false-alarm: nccl/x (pattern) on 3 lines: the line; what to do`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            count,
            record,
            pattern,
            text,
        } = self;
        let lines = if *count == 1 {
            "one line"
        } else {
            &format!("{count} lines")
        };
        write!(
            f,
            "{file}:{line}: error: false-alarm: {record} ({pattern}) on {lines} of a healthy run: {text:?}; \
             narrow the pattern, or take the line out of the log if the record is right about it"
        )
    }
}

/// Matches one log as `POST /api/v1/match` would; each record that stands in the answer is an alarm, in the order
/// of their first lines. A log that is not as long as the manifest says is an error.
pub fn alarms(generation: &Arc<Generation>, corpus: &Corpus, log: &Log) -> Result<Vec<Alarm>, CleanError> {
    let path = corpus.path(log);
    let unreadable = |source| CleanError::Read {
        path: path.clone(),
        source,
    };
    let file = File::open(&path).map_err(unreadable)?;
    let mut text = zstd::stream::read::Decoder::new(file).map_err(unreadable)?;
    let mut matching = Matching::start(Arc::clone(generation), MatchOptions::default());
    let mut buffer = vec![0; PIECE];
    let mut events = Vec::new();
    loop {
        let read = text.read(&mut buffer).map_err(unreadable)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            break;
        };
        events.extend(matching.push(piece));
    }
    let (last, answer) = matching
        .finish_with_events()
        .map_err(|source| unreadable(std::io::Error::other(source)))?;
    if (answer.bytes_scanned, answer.lines_scanned) != (log.bytes, log.lines) {
        return Err(CleanError::Unlike {
            path,
            bytes: log.bytes,
            lines: log.lines,
            found_bytes: answer.bytes_scanned,
            found_lines: answer.lines_scanned,
        });
    }
    events.extend(last);
    // What another record takes back (`relations`) is in the events and not in the answer.
    let mut alarms: BTreeMap<&RecordId, Alarm> = BTreeMap::new();
    for event in &events {
        let Event::Hit(hit) = event else { continue };
        if !answer.matches.iter().any(|found| found.id == hit.record) {
            continue;
        }
        let alarm = alarms.entry(&hit.record).or_insert_with(|| Alarm {
            file: path.to_string_lossy().into_owned(),
            line: hit.line,
            count: 0,
            record: hit.record.clone(),
            pattern: hit.pattern.clone(),
            text: hit
                .text
                .iter()
                .flat_map(|marked| marked.text.chars())
                .take(SHOWN)
                .collect(),
        });
        alarm.count += 1;
    }
    let mut alarms: Vec<Alarm> = alarms.into_values().collect();
    alarms.sort_by_key(|alarm| alarm.line);
    Ok(alarms)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bundle::read_path;
    use crate::feed::offline;

    const PLANTED: &str = "[    5.2] NVRM: Persistence mode is deprecated and will be removed in a future release. Please use nvidia-persistenced instead.";

    #[test]
    fn a_planted_line_is_an_alarm_and_a_shortened_log_an_error() {
        let record =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../kb-seed/driver/persistence-mode-deprecated.json");
        let generation = Arc::new(offline(read_path(&record).unwrap()).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let judged = |text: &str, lines: usize| {
            let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
            std::fs::write(folder.path().join("a.log.zst"), packed).unwrap();
            let entry = serde_json::json!({
                "file": "a.log.zst", "origin": "ours", "read_on": "2026-11-22", "licence": "Apache-2.0",
                "bytes": text.len(), "lines": lines, "part": "unseen", "note": "made here",
            });
            std::fs::write(folder.path().join("manifest.jsonl"), entry.to_string()).unwrap();
            let corpus = Corpus::read(folder.path()).unwrap();
            let log = corpus.logs().first().unwrap().clone();
            alarms(&generation, &corpus, &log)
        };
        let healthy = "[    5.1] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.159.04\n";
        assert_eq!(judged(&healthy.repeat(3), 3).unwrap(), []);

        let text = format!("{healthy}{PLANTED}\n{healthy}{PLANTED}\n");
        let found = judged(&text, 4).unwrap();
        let [alarm] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((alarm.line, alarm.count), (2, 2));
        assert_eq!(alarm.record.as_str(), "driver/persistence-mode-deprecated");
        assert_eq!(alarm.text, PLANTED);
        let said = alarm.to_string();
        assert!(
            said.contains("a.log.zst:2: error: false-alarm: driver/persistence-mode-deprecated"),
            "{said}"
        );

        let error = judged(&text, 5).unwrap_err().to_string();
        assert!(
            error.contains("4 lines") && error.contains("the manifest says"),
            "{error}"
        );
    }
}

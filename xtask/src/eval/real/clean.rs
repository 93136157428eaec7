//! The clean corpus: logs of healthy runs. Does anything match?

use std::path::Path;

use anyhow::Result;
use peerless::clean::{Corpus, Part};
use peerless::domain::false_alarms::alarms;
use serde_json::json;

use crate::eval::knowledge::Knowledge;
use crate::eval::report::{Report, shortened};

const FOLDER: &str = "clean";
const MB: f64 = 1e6;

#[derive(Default)]
struct Counts {
    logs: usize,
    bytes: u64,
    lines: u64,
    with_alarm: usize,
    /// Records that match, once for each log.
    alarms: usize,
    lines_hit: u64,
}

pub(crate) fn judge(knowledge: &Knowledge, data: &Path, report: &mut Report) -> Result<()> {
    let folder = data.join(FOLDER);
    if !folder.is_dir() {
        eprintln!("note: there is no {}", folder.display());
        return Ok(());
    }
    let corpus = Corpus::read(&folder)?;
    let mut table = "| part | logs | MB | lines | logs with a false alarm | false alarms (record and log) | lines hit | false alarms a MB |\n\
                     | --- | --: | --: | --: | --: | --: | --: | --: |\n"
        .to_owned();
    let mut values = serde_json::Map::new();
    for (name, part) in [("seen", Part::Seen), ("unseen", Part::Unseen)] {
        let mut counts = Counts::default();
        for log in corpus.logs().iter().filter(|log| log.part == part) {
            let found = alarms(&knowledge.generation, &corpus, log)?;
            counts.logs += 1;
            counts.bytes += log.bytes;
            counts.lines += log.lines;
            counts.with_alarm += usize::from(!found.is_empty());
            counts.alarms += found.len();
            counts.lines_hit += found.iter().map(|alarm| alarm.count).sum::<u64>();
            for alarm in found {
                report.miss(format!(
                    "{name} healthy log {}, line {}: {} on {} lines, {}",
                    log.file,
                    alarm.line,
                    alarm.record,
                    alarm.count,
                    shortened(&alarm.text)
                ));
            }
        }
        table.push_str(&counts.row(name));
        values.insert(name.to_owned(), counts.json());
        report.bar(
            format!("{:.1} MB of healthy logs, {name}", counts.megabytes()),
            "no false alarm",
            counts.alarms.to_string(),
            counts.alarms == 0,
        );
    }
    report.table("clean", "Logs of healthy runs", &table, values.into());
    Ok(())
}

impl Counts {
    fn megabytes(&self) -> f64 {
        self.bytes as f64 / MB
    }

    /// False alarms a megabyte; 0 where there is nothing.
    fn rate(&self) -> f64 {
        if self.bytes == 0 {
            0.0
        } else {
            self.alarms as f64 / self.megabytes()
        }
    }

    fn row(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {:.1} | {} | {} | {} | {} | {:.3} |\n",
            self.logs,
            self.megabytes(),
            self.lines,
            self.with_alarm,
            self.alarms,
            self.lines_hit,
            self.rate()
        )
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "logs": self.logs,
            "bytes": self.bytes,
            "lines": self.lines,
            "logs_with_false_alarm": self.with_alarm,
            "false_alarms": self.alarms,
            "lines_hit": self.lines_hit,
            "false_alarms_a_megabyte": self.rate(),
        })
    }
}

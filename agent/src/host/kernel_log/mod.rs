//! The kernel log: what it says about GPUs in this boot, and what it says while the run goes on.
//!
//! The two are told apart by place, not by time: what there is when the log is opened was written before, what is
//! added later was written during the run. The stamps of the log are those of the scheduler's clock, which is not
//! corrected as the monotonic clock is: after weeks they are minutes apart.

mod aside;
mod events;
mod kind;
mod message;
mod origin;
mod record;
mod rfc5424;
mod source;

use std::collections::{BTreeMap, VecDeque};

use kb_core::report::{Fact, GapKind, LogExcerpt, When};

use super::HostRoot;
pub(crate) use events::{LogEvents, events};
use record::Record;
use source::Source;

/// Lines kept of the time before the run, the newest ones.
const MOST_BEFORE: usize = 200;
/// Lines kept of the run, the first ones: a flood follows its cause.
const MOST_DURING: usize = 200;
const LONGEST_LINE: usize = 1_000;
/// How the kernel's first line begins.
const FIRST_LINE: &str = "Linux version ";
/// Why a log that was read still does not show the run.
const BEFORE_ONLY: &str = "before only: the file is a copy made at boot, to which nobody adds what the kernel writes \
                           later, so that the time of the run was not seen";

pub(crate) struct KernelLog {
    name: String,
    source: Result<Source, Fact<bool>>,
    /// A file that was put aside a moment ago, to which syslog still writes.
    still_written: Option<Source>,
    before: Kept,
    about_iommu: String,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    left_out: u64,
}

impl KernelLog {
    pub(crate) fn open(root: &HostRoot) -> Self {
        let (name, source) = match Source::open(root) {
            Ok((name, source)) => (name, Ok(source)),
            Err(gap) => (String::new(), Err(gap)),
        };
        let mut log = Self {
            name,
            source,
            still_written: None,
            before: Kept::default(),
            about_iommu: String::new(),
        };
        let (records, start) = log.read_first(root);
        let this_boot = records.get(start..).unwrap_or_default();
        for record in this_boot
            .iter()
            .filter(|record| kind::is_relevant(&record.message))
        {
            let line = line_of(record);
            if kind::is_about_iommu(&line) {
                log.about_iommu.push_str(&line);
                log.about_iommu.push('\n');
            }
            log.before.push_newest(line);
        }
        log
    }

    pub(super) fn about_iommu(&self) -> &str {
        &self.about_iommu
    }

    pub(crate) fn finish(mut self) -> (Vec<LogExcerpt>, BTreeMap<String, Fact>) {
        let mut during = Kept::default();
        for record in self.read() {
            if kind::is_relevant(&record.message) {
                during.push_first(line_of(&record));
            }
            during.left_out += u64::from(record.is_cut);
        }
        let readable = match &self.source {
            Ok(source) if !source.shows_the_window() => {
                Fact::missing(GapKind::NotVisible, BEFORE_ONLY, self.name.clone())
            }
            Ok(_) => Fact::read(true, self.name.clone()),
            Err(gap) => gap.clone(),
        };
        let mut facts = BTreeMap::from([("kernel_log.readable".to_owned(), readable.map(Into::into))]);
        let left_out = [("before", self.before.left_out), ("during", during.left_out)];
        if left_out.iter().any(|(_, lines)| *lines > 0) {
            let counts: serde_json::Map<_, _> = left_out
                .map(|(when, lines)| (when.to_owned(), lines.into()))
                .into_iter()
                .collect();
            let fact = Fact::read(counts.into(), self.name.clone());
            facts.insert("kernel_log.lines_left_out".to_owned(), fact);
        }
        let excerpts = [(When::Before, self.before), (When::During, during)];
        let excerpts = excerpts.into_iter().filter(|(_, kept)| !kept.lines.is_empty());
        let excerpts = excerpts.map(|(when, kept)| LogExcerpt {
            source: self.name.clone(),
            when,
            text: Vec::from(kept.lines).join("\n"),
        });
        (excerpts.collect(), facts)
    }

    /// What there is, and where in it this boot begins.
    fn read_first(&mut self, root: &HostRoot) -> (Vec<Record>, usize) {
        let several = match &mut self.source {
            Ok(source) if source.holds_several_boots() => aside::since_boot(root, &self.name, source),
            _ => return (self.read(), 0),
        };
        match several {
            Ok(since) => {
                let start = start_of_boot(&since.records);
                self.still_written = since.still_written;
                (since.records, start)
            }
            Err(error) => {
                self.failed(&error);
                (Vec::new(), 0)
            }
        }
    }

    /// New records. A log that cannot be read any more is said to be so.
    fn read(&mut self) -> Vec<Record> {
        let Ok(source) = &mut self.source else {
            return Vec::new();
        };
        // What was put aside is older.
        let files = self.still_written.iter_mut().chain([source]);
        let read: std::io::Result<Vec<_>> = files.map(Source::read).collect();
        match read {
            Ok(records) => records.into_iter().flatten().collect(),
            Err(error) => {
                self.failed(&error);
                Vec::new()
            }
        }
    }

    fn failed(&mut self, error: &std::io::Error) {
        let gap = Fact::missing(GapKind::Failed, error.to_string(), self.name.clone());
        self.source = Err(gap);
    }
}

/// The log read line by line, all of it: what is matched on the node need not leave it.
pub(crate) struct Follower(Source);

impl Follower {
    pub(crate) fn open(root: &HostRoot) -> Result<(String, Self), String> {
        let opened = Source::open(root).map(|(name, source)| (name, Self(source)));
        opened.map_err(|gap| gap.gap.map_or_else(|| gap.source.clone(), |gap| gap.reason))
    }

    pub(crate) fn is_file(&self) -> bool {
        self.0.holds_several_boots()
    }

    /// What was written since the last call, at the first what there is.
    pub(crate) fn read(&mut self) -> std::io::Result<Vec<String>> {
        let records = self.0.read()?;
        Ok(records.iter().map(line_of).collect())
    }
}

impl Kept {
    fn push_newest(&mut self, line: String) {
        if self.lines.len() == MOST_BEFORE {
            self.lines.pop_front();
            self.left_out += 1;
        }
        self.lines.push_back(line);
    }

    fn push_first(&mut self, line: String) {
        if self.lines.len() == MOST_DURING {
            self.left_out += 1;
        } else {
            self.lines.push_back(line);
        }
    }
}

/// Where the last boot begins: a stamp smaller than the one before it, or the kernel's first line, which is there without
/// stamps, too. Stamps of different processors may be out of order by moments.
fn start_of_boot(records: &[Record]) -> usize {
    const MOMENT: u64 = 1_000_000;
    let mut start = 0;
    let mut newest = 0;
    for (index, record) in records.iter().enumerate() {
        if record.message.starts_with(FIRST_LINE) {
            start = index;
            newest = 0;
        }
        let Some(time) = record.microseconds else { continue };
        if time.saturating_add(MOMENT) < newest {
            start = index;
            newest = time;
        }
        newest = newest.max(time);
    }
    start
}

fn line_of(record: &Record) -> String {
    record.line().chars().take(LONGEST_LINE).collect()
}

#[cfg(test)]
mod tests;

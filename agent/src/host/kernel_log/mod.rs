//! The kernel log: what it says about GPUs in this boot, and what it says while the run goes on.
//!
//! The two are told apart by place, not by time: what there is when the log is opened was written before, what is
//! added later was written during the run. The stamps of the log are those of the scheduler's clock, which is not
//! corrected as the monotonic clock is: after weeks they are minutes apart.

mod aside;
mod boots;
mod events;
mod files;
mod json;
mod kept;
mod kind;
mod last_line;
mod lines;
mod message;
mod older_agent;
mod origin;
mod overlooked;
mod record;
mod rfc5424;
mod source;

use std::collections::BTreeMap;

use kb_core::report::{Fact, GapKind, LogExcerpt, When};

use super::HostRoot;
use boots::start_of_boot;
pub(crate) use events::{LogEvents, events, events_of_run};
use kept::Kept;
use lines::Lines;
use record::Record;
use source::Source;

const LONGEST_LINE: usize = 1_000;
/// Why a log that was read still does not show the run.
const BEFORE_ONLY: &str = "before only: the file is a copy made at boot, to which nobody adds what the kernel writes \
                           later, so that the time of the run was not seen";

pub(crate) struct KernelLog {
    name: String,
    source: Result<Source, Fact<bool>>,
    /// A file that was put aside a moment ago, to which syslog still writes.
    still_written: Option<Lines>,
    /// The last line, where it had no end before the run.
    unended: Vec<u8>,
    before: Kept,
    about_iommu: String,
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
            unended: Vec::new(),
            before: Kept::default(),
            about_iommu: String::new(),
        };
        let (records, start) = log.read_first(root);
        if let Some(lines) = log.lines() {
            log.unended = lines.unended().to_vec();
        }
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
            log.before.push_newest(&record.message, line);
        }
        log
    }

    pub(super) fn about_iommu(&self) -> &str {
        &self.about_iommu
    }

    pub(crate) fn finish(mut self) -> (Vec<LogExcerpt>, BTreeMap<String, Fact>) {
        let mut during = Kept::default();
        let mut records = self.read();
        records.extend(self.last_line());
        for record in records {
            if kind::is_relevant(&record.message) {
                during.push_first(&record.message, line_of(&record));
            }
            if record.is_cut {
                during.leave_out();
            }
        }
        let readable = match &self.source {
            Ok(source) if !source.shows_the_window() => {
                Fact::missing(GapKind::NotVisible, BEFORE_ONLY, self.name.clone())
            }
            Ok(_) => Fact::read(true, self.name.clone()),
            Err(gap) => gap.clone(),
        };
        let mut facts = BTreeMap::from([("kernel_log.readable".to_owned(), readable.map(Into::into))]);
        let left_out = [("before", self.before.left_out()), ("during", during.left_out())];
        if left_out.iter().any(|(_, lines)| *lines > 0) {
            let counts: serde_json::Map<_, _> = left_out
                .map(|(when, lines)| (when.to_owned(), lines.into()))
                .into_iter()
                .collect();
            let fact = Fact::read(counts.into(), self.name.clone());
            facts.insert("kernel_log.lines_left_out".to_owned(), fact);
        }
        let excerpts = [(When::Before, self.before), (When::During, during)];
        let excerpts = excerpts.into_iter().filter_map(|(when, kept)| {
            let lines = kept.into_lines();
            (!lines.is_empty()).then(|| LogExcerpt {
                source: self.name.clone(),
                when,
                text: lines.join("\n"),
            })
        });
        (excerpts.collect(), facts)
    }

    /// What there is, and where in it this boot begins.
    fn read_first(&mut self, root: &HostRoot) -> (Vec<Record>, usize) {
        let several = match &mut self.source {
            Ok(source) if !source.is_numbered() => source
                .lines()
                .map(|lines| aside::since_boot(root, &self.name, lines)),
            Ok(_) | Err(_) => None,
        };
        match several {
            None => (self.read(), 0),
            Some(Ok(since)) => {
                let start = start_of_boot(&since.of.records);
                self.still_written = since.still_written;
                (since.of.records, start)
            }
            Some(Err(error)) => {
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
        let aside = self.still_written.as_mut().map_or(Ok(Vec::new()), Lines::read);
        let read = aside.and_then(|mut records| {
            records.extend(source.read()?);
            Ok(records)
        });
        match read {
            Ok(records) => records,
            Err(error) => {
                self.failed(&error);
                Vec::new()
            }
        }
    }

    /// Of a last line without an end, what was written during the run.
    fn last_line(&mut self) -> Vec<Record> {
        let before = std::mem::take(&mut self.unended);
        match self.lines() {
            Some(lines) if lines.unended() != before => last_line::settled(lines),
            _ => Vec::new(),
        }
    }

    /// The file of syslog's that is written to.
    fn lines(&mut self) -> Option<&mut Lines> {
        if self.still_written.is_some() {
            return self.still_written.as_mut();
        }
        let source = self.source.as_mut().ok()?;
        if source.is_numbered() {
            None
        } else {
            source.lines()
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
        !self.0.is_numbered()
    }

    /// What was written since the last call, at the first what there is.
    pub(crate) fn read(&mut self) -> std::io::Result<Vec<String>> {
        let records = self.0.read()?;
        let known = records.iter().filter(|record| !record.is_unread);
        Ok(known.map(line_of).collect())
    }

    /// The last line of a file, where it has no end.
    pub(crate) fn last_line(&mut self) -> Vec<String> {
        let file = if self.is_file() { self.0.lines() } else { None };
        let records = file.map(Lines::last_line).unwrap_or_default();
        let known = records.iter().filter(|record| !record.is_unread);
        known.map(line_of).collect()
    }
}

fn line_of(record: &Record) -> String {
    record.line().chars().take(LONGEST_LINE).collect()
}

#[cfg(test)]
mod tests;

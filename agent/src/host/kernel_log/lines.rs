//! A log that is read line by line: a file of syslog's, or one that stands for the device.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;

use kb_core::health::{Unended, read_message};
use kb_core::text::Sha256;

use super::super::HostRoot;
use super::aside;
use super::files::{FORMS, MOST_RECORDS, TAIL_BYTES};
use super::last_line::is_torn_for_good;
use super::origin::Origin;
use super::overlooked::is_overlooked;
use super::record::{Record, Written};
use crate::files::last_bytes;

/// What the file is, beside its lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its lines are records of the device, as in a tree that stands for a machine.
    Kmsg,
    Syslog,
    /// Nobody adds to it.
    Snapshot,
}

pub(super) struct Lines {
    file: BufReader<File>,
    kind: Kind,
    origin: Origin,
    passed_over: PassedOver,
    /// What was told of the line that is read next, when it had no end.
    told: Vec<u8>,
    /// The last line, where it has no end. The place is before it.
    unended: Vec<u8>,
}

/// Lines of a file of syslog's that were read and are no records.
#[derive(Debug, Clone, Default)]
pub(super) struct PassedOver {
    /// Some were other hosts'.
    pub(super) has_others: bool,
    /// The names of another host that wrote in this boot, and of this one.
    pub(super) of_this_boot: Option<(String, String)>,
}

pub(super) struct Earlier {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) offset: u64,
    pub(super) last_bytes: Option<Sha256>,
    /// The line behind the place, where it had no end.
    pub(super) unended: Option<Unended>,
    /// Those that whoever read up to it knew, see [`FORMS`].
    pub(super) forms: u32,
}

impl Lines {
    pub(super) fn of(root: &HostRoot, file: File, kind: Kind) -> Self {
        Self {
            file: BufReader::new(file),
            kind,
            origin: Origin::of(root),
            passed_over: PassedOver::default(),
            told: Vec::new(),
            unended: Vec::new(),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn passed_over(&self) -> PassedOver {
        self.passed_over.clone()
    }

    /// What was written since the last call, oldest first; at the first call what there is.
    pub(super) fn read(&mut self) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        let mut line = Vec::new();
        self.unended.clear();
        while records.len() < MOST_RECORDS && self.file.read_until(b'\n', &mut line)? > 0 {
            if line.last() != Some(&b'\n') {
                // Still being written, or cut.
                self.file.seek_relative(-i64::try_from(line.len()).unwrap_or(0))?;
                self.unended = line;
                break;
            }
            let told = std::mem::take(&mut self.told);
            records.extend(self.messages(&line, &told));
            line.clear();
        }
        Ok(records)
    }

    /// The last line, where it had no end when the file was read last.
    pub(super) fn unended(&self) -> &[u8] {
        &self.unended
    }

    /// The messages of that line. It is read again.
    pub(super) fn last_line(&mut self) -> Vec<Record> {
        let (line, told) = (self.unended.clone(), self.told.clone());
        self.messages(&line, &told)
    }

    /// The messages of a line, of which some may have been told when it had no end.
    pub(super) fn messages(&mut self, line: &[u8], told: &[u8]) -> Vec<Record> {
        let mut records = self.parse(line);
        if !told.is_empty() {
            for (record, before) in records.iter_mut().zip(self.parse(told)) {
                record.is_told = tells_the_same(record, &before);
            }
        }
        records
    }

    fn parse(&mut self, line: &[u8]) -> Vec<Record> {
        let text = String::from_utf8_lossy(line);
        if self.kind == Kind::Kmsg {
            let record = Record::from_kmsg(&text);
            return record.into_iter().flat_map(Record::split).collect();
        }
        let written = self.origin.written(&text);
        if let Some(other) = self.origin.other_host(&text) {
            self.passed_over.has_others = true;
            if self.passed_over.of_this_boot.is_none() && written != Written::LongBefore {
                self.passed_over.of_this_boot = Some((other.to_owned(), self.origin.own().to_owned()));
            }
            return Vec::new();
        }
        let record = if self.origin.is_in_unknown_form(&text) {
            Some(Record::unread())
        } else {
            Record::from_text(&text)
        };
        let records = record.into_iter().flat_map(Record::split);
        let mut records: Vec<Record> = records.map(|record| Record { written, ..record }).collect();
        let is_unread = records.iter().any(|record| record.is_unread);
        if !is_unread && is_overlooked(text.trim_end(), &records, |host| !self.origin.is_another(host)) {
            records.push(Record {
                written,
                ..Record::unread()
            });
        }
        records
    }

    /// Goes on behind the place, or at the beginning of a file that took the place of that one; what was added to that
    /// one meanwhile, and whether lines may be lost.
    pub(super) fn go_on_from(
        &mut self,
        root: &HostRoot,
        name: &str,
        earlier: &Earlier,
    ) -> io::Result<(Vec<Record>, bool)> {
        let data = self.file.get_ref().metadata()?;
        let is_same = (data.dev(), data.ino()) == (earlier.device, earlier.inode);
        let goes_on = is_same && data.len() >= earlier.offset && {
            let now = last_bytes(self.file.get_ref(), earlier.offset);
            let known = earlier.last_bytes.as_ref();
            known.is_none_or(|known| now.is_ok_and(|now| now == *known))
        };
        if goes_on {
            self.go_to(earlier)?;
            return Ok((Vec::new(), false));
        }
        let is_whole = data.len() <= TAIL_BYTES;
        if is_same {
            // Emptied while we did not look, and filled again perhaps.
            return Ok((Vec::new(), true));
        }
        let rotated = aside::newest(root, name, (earlier.device, earlier.inode));
        let Some(old) = rotated else {
            return Ok((Vec::new(), true));
        };
        let mut old = Self::of(root, old, Kind::Syslog);
        old.go_to(earlier)?;
        let mut records = old.read()?;
        let mut is_lost = !is_whole;
        if data.len() == 0 {
            // Begun anew, and its writer still has the old one.
            *self = old;
        } else {
            // Nobody ends the last line any more.
            let last = old.last_line();
            is_lost |= last.iter().any(is_torn_for_good);
            records.extend(last);
        }
        Ok((records, is_lost))
    }

    fn go_to(&mut self, earlier: &Earlier) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(earlier.offset))?;
        self.told.clear();
        let told = earlier.unended.map_or(0, |unended| unended.told);
        (&mut self.file).take(told).read_to_end(&mut self.told)?;
        self.file.seek(SeekFrom::Start(earlier.offset))?;
        Ok(())
    }

    /// Whether nothing lies before what is read next.
    pub(super) fn is_at_beginning(&mut self) -> io::Result<bool> {
        Ok(self.file.stream_position()? == 0)
    }

    /// Behind what was read. What becomes of a last line without an end is added by whoever judges it.
    pub(super) fn place(&mut self) -> io::Result<Earlier> {
        let data = self.file.get_ref().metadata()?;
        let offset = self.file.stream_position()?;
        Ok(Earlier {
            device: data.dev(),
            inode: data.ino(),
            offset,
            // Emptied meanwhile: no place behind the beginning has the digest of nothing.
            last_bytes: Some(last_bytes(self.file.get_ref(), offset).unwrap_or_else(|_| Sha256::of([]))),
            unended: None,
            forms: FORMS,
        })
    }
}

fn tells_the_same(record: &Record, before: &Record) -> bool {
    let told = |record: &Record| read_message(&record.message).map(|event| (event.what, event.device));
    record.is_unread == before.is_unread
        && (record.is_unread || told(record).is_some())
        && told(record) == told(before)
}

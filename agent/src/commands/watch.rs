//! `peerless-agent watch`: a log followed as it grows, each known error told as it comes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use kb_core::intake::{Form, Intake, NotText};
use kb_core::scanner::{Event, Hit, ScanOptions, Scanner};
use kb_core::terminal::harmless;
use kb_core::text::Sha256;
use serde::Serialize;

use crate::cli::WatchArgs;
use crate::files::last_bytes;
use crate::host::{Follower, HostRoot};
use crate::process::say;
use crate::signatures::{About, Known};

use super::matching::known;
use super::{InputError, write_out};

/// Between two looks at a log that has not grown.
const PAUSE: Duration = Duration::from_secs(1);
/// Lines after which the scanner starts afresh, so that one that runs for months keeps nothing of what is long past.
const LINES_OF_A_SCAN: u64 = 100_000;
/// Notes of a scan that are told as they come. Some count, and are another sentence for each line; what is said of the
/// others stands in those that come when the scan ends.
const NOTES_AT_ONCE: usize = 20;

/// Follows until the reader is gone, the program is ended, or, with `--once`, the log is read.
pub(crate) fn watch(arguments: &WatchArgs) -> anyhow::Result<u8> {
    let known = known(&arguments.signatures)?;
    let mut teller = Teller::new(&known, arguments.json);
    match follow(&mut teller, arguments) {
        Err(error) if is_reader_gone(&error) => Ok(0),
        ended => ended,
    }
}

fn is_reader_gone(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn follow(teller: &mut Teller<'_>, arguments: &WatchArgs) -> anyhow::Result<u8> {
    if arguments.journal {
        return journal(teller, arguments.once);
    }
    match &arguments.file {
        Some(path) => file(teller, path, arguments.once),
        None => kernel_log(teller, &HostRoot::new(&arguments.host_root), arguments.once),
    }
}

fn kernel_log(teller: &mut Teller<'_>, root: &HostRoot, once: bool) -> anyhow::Result<u8> {
    let (name, mut log) =
        Follower::open(root).map_err(|why| anyhow::anyhow!("the kernel log cannot be read: {why}"))?;
    let there = log.read().with_context(|| format!("read {name}"))?;
    if once {
        for line in there.into_iter().chain(log.last_line()) {
            teller.line(&line)?;
        }
        teller.end()?;
        return Ok(0);
    }
    if log.is_file() {
        return file(teller, &root.path(name.trim_start_matches('/'))?, false);
    }
    say(&format!("following {name}"));
    loop {
        for line in log.read().with_context(|| format!("read {name}"))? {
            teller.line(&line)?;
        }
        std::thread::sleep(PAUSE);
    }
}

/// A file that is cut or replaced is read from its beginning. One that is no text ends it: silence would mean "no error".
fn file(teller: &mut Teller<'_>, path: &Path, once: bool) -> anyhow::Result<u8> {
    let name = || format!("read {}", path.display());
    let no_text = |why: NotText| InputError(format!("{}: {why}", path.display()));
    let mut tail = Tail::open(path, !once).with_context(name)?;
    if !once {
        check_beginning(path)?;
        say(&format!("following {}", path.display()));
    }
    let mut intake = Intake::default();
    let mut is_told = false;
    loop {
        let piece = tail.read().with_context(name)?;
        if piece.is_of_another_file {
            // The last line of the old file ends with it.
            teller.bytes(&intake.end())?;
            teller.end()?;
            intake = Intake::default();
            is_told = false;
        }
        teller.bytes(&intake.push(&piece.bytes))?;
        if let Some(why) = intake.refused() {
            return Err(no_text(why).into());
        }
        if let Some(why) = intake.unread().filter(|_| !is_told) {
            say(&format!("{}: {why}", path.display()));
            is_told = true;
        }
        if !piece.bytes.is_empty() {
            continue;
        }
        if once {
            teller.bytes(&intake.end())?;
            teller.end()?;
            if !teller.has_told {
                intake.judge().map_err(no_text)?;
            }
            return Ok(0);
        }
        std::thread::sleep(PAUSE);
    }
}

/// What is added to a file can be read only where the file began as text.
fn check_beginning(path: &Path) -> anyhow::Result<()> {
    let name = || format!("read {}", path.display());
    let mut head = Vec::new();
    let file = File::open(path).with_context(name)?;
    file.take(Form::HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .with_context(name)?;
    let mut intake = Intake::default();
    intake.push(&head);
    if let Some(why) = intake.refused() {
        return Err(InputError(format!("{}: {why}", path.display())).into());
    }
    if intake.is_utf16() {
        let why = "the file is UTF-16, which cannot be followed; `watch --once` and `match` read it";
        return Err(InputError(format!("{}: {why}", path.display())).into());
    }
    Ok(())
}

fn journal(teller: &mut Teller<'_>, once: bool) -> anyhow::Result<u8> {
    let mut command = Command::new("journalctl");
    command.args(["--output=short-iso", "--no-pager"]);
    command.args(if once {
        ["--boot", "--quiet"]
    } else {
        ["--follow", "--lines=0"]
    });
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("start journalctl, which reads the journal")?;
    let lines = child.stdout.take().context("journalctl's output")?;
    for line in BufReader::new(lines).split(b'\n') {
        teller.line(&String::from_utf8_lossy(&line.context("read the journal")?))?;
    }
    teller.end()?;
    let status = child.wait().context("wait for journalctl")?;
    anyhow::ensure!(status.success(), "journalctl ended: {status}");
    Ok(0)
}

struct Piece {
    bytes: Vec<u8>,
    /// What comes from now on is of a file that was cut or replaced.
    is_of_another_file: bool,
}

struct Tail {
    path: PathBuf,
    file: File,
    place: u64,
    /// A pipe has no place to go back to.
    is_file: bool,
    /// Digest of what stands before the place; `None` where it was cut while it was read.
    last_bytes: Option<Sha256>,
}

impl Tail {
    fn open(path: &Path, at_end: bool) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let place = if at_end {
            io::Seek::seek(&mut file, io::SeekFrom::End(0))?
        } else {
            0
        };
        Ok(Self {
            path: path.to_owned(),
            is_file: file.metadata()?.is_file(),
            last_bytes: last_bytes(&file, place).ok(),
            file,
            place,
        })
    }

    /// What was added; empty where nothing was.
    fn read(&mut self) -> io::Result<Piece> {
        const PIECE: u64 = 1 << 20;
        let mut bytes = Vec::new();
        let mut is_of_another_file = self.was_emptied() && self.reopen()?;
        (&mut self.file).take(PIECE).read_to_end(&mut bytes)?;
        self.place += bytes.len() as u64;
        if bytes.is_empty() {
            is_of_another_file |= self.has_successor()? && self.reopen()?;
        } else {
            self.last_bytes = last_bytes(&self.file, self.place).ok();
        }
        Ok(Piece {
            bytes,
            is_of_another_file,
        })
    }

    /// Opens what has the name now; false where there is none, as between an old file and the new one.
    fn reopen(&mut self) -> io::Result<bool> {
        match Self::open(&self.path, false) {
            Ok(newer) => {
                *self = newer;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// True when what was read is no longer there, even if the file has as many bytes again.
    fn was_emptied(&self) -> bool {
        let is_there = |known: &Sha256| last_bytes(&self.file, self.place).is_ok_and(|now| now == *known);
        self.is_file && !self.last_bytes.as_ref().is_some_and(is_there)
    }

    /// True when another file has the name. An empty one has no lines yet, and the writer may still have this one.
    fn has_successor(&self) -> io::Result<bool> {
        let mine = self.file.metadata()?;
        let there = match std::fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        Ok((mine.dev(), mine.ino()) != (there.dev(), there.ino()) && there.len() > 0)
    }
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    hit: &'a Hit,
    about: &'a About,
}

struct Teller<'a> {
    known: &'a Known,
    scanner: Option<Scanner>,
    lines: u64,
    json: bool,
    has_told: bool,
    noted: BTreeSet<String>,
}

impl<'a> Teller<'a> {
    fn new(known: &'a Known, json: bool) -> Self {
        Self {
            known,
            scanner: None,
            lines: 0,
            json,
            has_told: false,
            noted: BTreeSet::new(),
        }
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.bytes(format!("{line}\n").as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let matcher = &self.known.matcher;
        let scanner = self
            .scanner
            .get_or_insert_with(|| matcher.scanner(ScanOptions::default()));
        let events = scanner.push(bytes);
        self.lines += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        let notes = scanner.notes();
        self.tell(&events)?;
        if self.noted.len() < NOTES_AT_ONCE {
            self.note(notes)?;
        }
        if self.lines >= LINES_OF_A_SCAN && bytes.ends_with(b"\n") {
            self.end()?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.lines = 0;
        if let Some(scanner) = self.scanner.take() {
            let (events, summary) = scanner.finish_with_events();
            self.tell(&events)?;
            self.note(summary.notes)?;
        }
        self.noted.clear();
        Ok(())
    }

    /// What was left out: without it, silence would pass for "no error". Lines of JSON are hits and nothing else.
    fn note(&mut self, notes: Vec<String>) -> io::Result<()> {
        for note in notes {
            if self.noted.contains(&note) {
                continue;
            }
            if self.json {
                say(&format!("note: {note}"));
            } else {
                write_out(&format!("note: {}\n", harmless(&note)))?;
            }
            self.noted.insert(note);
        }
        Ok(())
    }

    fn tell(&mut self, events: &[Event]) -> io::Result<()> {
        for event in events {
            let Event::Hit(hit) = event else { continue };
            self.has_told = true;
            let about = self.known.about(&hit.record);
            let line = if self.json {
                serde_json::to_string(&Told { hit, about: &about })?
            } else {
                let text = hit.text.as_ref().map_or("", |marked| marked.text.as_str());
                let weight = about.weight();
                let weight = if weight.is_empty() {
                    weight
                } else {
                    format!(" ({weight})")
                };
                let address = about
                    .address
                    .map_or_else(String::new, |address| format!(" {address}"));
                // What a log holds must not act on the terminal.
                harmless(&format!("{}{weight}{address}: {text}", hit.record))
            };
            write_out(&format!("{line}\n"))?;
        }
        Ok(())
    }
}

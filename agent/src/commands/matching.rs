//! `peerless-agent match`: texts explained on the node, with signatures that were fetched before.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::intake::Intake;
use kb_core::matcher::Matcher;
use kb_core::scanner::{ScanOptions, Summary, UnexplainedLine, errors_and_harmless};
use kb_core::terminal::harmless;
use kb_core::verdict::ExitCode;

use crate::cli::{MatchArgs, MatchFailOn, SignatureArgs};
use crate::decompress::Decompressed;
use crate::process::say;
use crate::signatures::{self, About, Known};
use crate::upload::{ConfigurationError, ZSTD_MAGIC};

use super::{InputError, print};

const PIECE: usize = 1 << 20;
const NOTHING: u8 = 1;
/// Lines that no record explains, shown with their text.
const MOST_UNEXPLAINED: usize = 8;

pub(crate) fn match_files(arguments: &MatchArgs) -> anyhow::Result<u8> {
    let known = known(&arguments.signatures)?;
    let (mut found, mut unexplained) = (false, false);
    for path in &arguments.files {
        let wrong = |error: io::Error| InputError(format!("{}: {error}", path.display()));
        let raw: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(File::open(path).map_err(wrong)?)
        };
        let text = unpacked(raw).map_err(wrong)?;
        let summary = scan(&known.matcher, text).map_err(wrong)?;
        found |= errors_and_harmless(&summary.matches).0 > 0;
        unexplained |= summary.unexplained.is_some() || summary.unknown_cause.is_some();
        let text = if arguments.json {
            let records: BTreeMap<&RecordId, About> = summary
                .matches
                .iter()
                .map(|found| (&found.id, known.about(&found.id)))
                .collect();
            let file = path.to_string_lossy();
            let answer = serde_json::json!({ "file": file, "summary": summary, "records": records });
            format!("{answer}\n")
        } else {
            told(path, &summary, &known)
        };
        print(&text)?;
    }
    let is_minded = arguments.fail_on == Some(MatchFailOn::Unexplained);
    Ok(match (unexplained && is_minded, found) {
        (true, _) => ExitCode::Unknown.number(),
        (false, true) => 0,
        (false, false) => NOTHING,
    })
}

pub(crate) fn known(arguments: &SignatureArgs) -> anyhow::Result<Known> {
    let path = arguments
        .signatures
        .clone()
        .unwrap_or_else(signatures::default_path);
    let server = match &arguments.server {
        Some(server) => match arguments.access.uploader(server, &arguments.state.folder()) {
            Ok(server) => Some(server),
            // A file for the server's sake, such as a token that only root reads, is not needed for what is here.
            Err(error @ (ConfigurationError::File { .. } | ConfigurationError::Credential { .. }))
                if path.is_file() =>
            {
                say(&format!("{error}; the signatures that are here already are used"));
                None
            }
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    Ok(signatures::matcher(&path, server.as_ref(), &say)?)
}

/// The text of what is compressed with zstd, told by its first bytes. What else is no text the intake refuses.
fn unpacked(mut raw: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut head = Vec::new();
    raw.by_ref()
        .take(ZSTD_MAGIC.len() as u64)
        .read_to_end(&mut head)?;
    let is_zstd = head == ZSTD_MAGIC;
    let all = BufReader::new(io::Cursor::new(head).chain(raw));
    Ok(if is_zstd {
        Box::new(Decompressed::new(all)?)
    } else {
        Box::new(all)
    })
}

/// In what is no text, "no known error" is not said.
fn scan(matcher: &Arc<Matcher>, mut source: impl Read) -> io::Result<Summary> {
    let mut scanner = matcher.scanner(ScanOptions::default());
    let mut intake = Intake::default();
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => scanner.feed(&intake.push(piece.get(..bytes).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if let Some(why) = intake.refused() {
            return Err(io::Error::other(why));
        }
    }
    scanner.feed(&intake.end());
    let mut summary = scanner.finish();
    if errors_and_harmless(&summary.matches).0 == 0 {
        intake.judge().map_err(io::Error::other)?;
    }
    summary.notes.extend(intake.unread().map(|why| why.to_string()));
    Ok(summary)
}

/// Without it "no known error" would read as if nothing had happened.
fn not_known(file: &str, summary: &Summary) -> Option<String> {
    let unexplained = summary.unexplained.as_ref()?;
    let line = |line: &UnexplainedLine| {
        let text = line.text.as_deref().unwrap_or_default();
        format!("  {:>6}: {}\n", line.line, harmless(text))
    };
    let lines: String = unexplained
        .lines
        .iter()
        .take(MOST_UNEXPLAINED)
        .map(line)
        .collect();
    Some(format!("{file}: {}\n{lines}", unexplained.sentence()))
}

fn told(path: &Path, summary: &Summary, known: &Known) -> String {
    let file = harmless(&path.to_string_lossy());
    let mut told = Vec::new();
    let (errors, harmless_ones) = errors_and_harmless(&summary.matches);
    if errors == 0 {
        let also = match harmless_ones {
            0 => String::new(),
            1 => ", 1 known message that is harmless".to_owned(),
            more => format!(", {more} known messages that are harmless"),
        };
        told.push(format!(
            "{file}: no known error in {} lines{also}\n",
            summary.lines_scanned
        ));
        told.extend(not_known(&file, summary));
    }
    for found in &summary.matches {
        let is_cause = summary.root_cause.as_ref() == Some(&found.id);
        let cause = match (is_cause, found.harmless) {
            (true, _) => " (first cause)",
            (false, true) => " (harmless)",
            (false, false) => "",
        };
        let times = if found.count == 1 {
            "once"
        } else {
            &format!("{} times", found.count)
        };
        let lines: Vec<String> = found.lines.iter().map(|line| line.line.to_string()).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let lines = lines.join(", ");
        told.push(format!("{file}: {}{cause}: {times}, {word} {lines}\n", found.id));
        let about = known.about(&found.id);
        // The line of the log: the record's own text is of another machine.
        let first = found.lines.first().and_then(|line| line.text.as_ref());
        let more = [
            first.map_or_else(String::new, |marked| marked.text.clone()),
            about.weight(),
            about
                .harmless
                .as_ref()
                .map_or_else(String::new, |unless| format!("harmless, unless: {unless}")),
            about.address.clone().unwrap_or_default(),
        ];
        let more = more.iter().filter(|more| !more.is_empty());
        told.extend(more.map(|more| format!("  {}\n", harmless(more))));
    }
    // What was capped or left out: without it an answer that is not whole would pass for one.
    let further = summary.unexplained.as_ref().filter(|_| errors > 0);
    told.extend(further.map(|further| format!("{file}: note: {}\n", further.sentence())));
    let notes = summary.notes.iter();
    told.extend(notes.map(|note| format!("{file}: note: {}\n", harmless(note))));
    told.concat()
}

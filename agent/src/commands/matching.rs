//! `peerless-agent match`: texts explained on the node, with signatures that were fetched before.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use kb_core::matcher::Matcher;
use kb_core::scanner::{ScanOptions, Summary};

use crate::cli::{MatchArgs, SignatureArgs};
use crate::process::say;
use crate::signatures;
use crate::upload::{ConfigurationError, ZSTD_MAGIC};

use super::{InputError, print};

/// Bytes taken at a time.
const PIECE: usize = 1 << 20;
/// No known error was found.
const NOTHING: u8 = 1;

/// Looks through each file.
pub(crate) fn match_files(arguments: &MatchArgs) -> anyhow::Result<u8> {
    let matcher = matcher(&arguments.signatures)?;
    let mut found = false;
    for path in &arguments.files {
        let wrong = |error: io::Error| InputError(format!("{}: {error}", path.display()));
        let (raw, name): (Box<dyn Read>, Cow<'_, str>) = if path == Path::new("-") {
            (Box::new(io::stdin().lock()), "FILE".into())
        } else {
            (Box::new(File::open(path).map_err(wrong)?), path.to_string_lossy())
        };
        let text = unpacked(raw, &name).map_err(wrong)?;
        let summary = scan(&matcher, text).map_err(wrong)?;
        found |= !summary.matches.is_empty();
        let text = if arguments.json {
            format!(
                "{}\n",
                serde_json::json!({ "file": path.to_string_lossy(), "summary": summary })
            )
        } else {
            told(path, &summary)
        };
        print(&text)?;
    }
    Ok(if found { 0 } else { NOTHING })
}

/// The matcher that the arguments name.
pub(crate) fn matcher(arguments: &SignatureArgs) -> anyhow::Result<Arc<Matcher>> {
    let path = arguments
        .signatures
        .clone()
        .unwrap_or_else(signatures::default_path);
    let server = match &arguments.server {
        Some(server) => match arguments.access.uploader(server) {
            Ok(server) => Some(server),
            // A file for the server's sake, such as a token that only root reads, is not needed for what is here.
            Err(error @ ConfigurationError::File { .. }) if path.is_file() => {
                say(&format!("{error}; the signatures that are here already are used"));
                None
            }
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    Ok(signatures::matcher(&path, server.as_ref(), &say)?)
}

/// The text of what is compressed with zstd, told by its first bytes. What this program cannot read is refused: as a
/// text it would hold no known error.
fn unpacked(mut raw: impl Read + 'static, name: &str) -> io::Result<Box<dyn Read>> {
    /// First bytes, and who reads the rest: RFC 1952 (2.3.1), the .xz file format (2.1.1.1), bzip2's block size 1 to 9.
    const FOREIGN: [(&[u8], &str); 3] = [
        (&[0x1f, 0x8b], "zcat"),
        (b"\xfd7zXZ\0", "xzcat"),
        (b"BZh", "bzcat"),
    ];
    let mut head = Vec::new();
    raw.by_ref().take(6).read_to_end(&mut head)?;
    for (magic, reader) in FOREIGN {
        if head.starts_with(magic) {
            return Err(io::Error::other(format!(
                "it is compressed: run `{reader} {name} | peerless-agent match -`"
            )));
        }
    }
    let is_zstd = head.starts_with(&ZSTD_MAGIC);
    let all = BufReader::new(io::Cursor::new(head).chain(raw));
    Ok(if is_zstd {
        Box::new(zstd::stream::read::Decoder::with_buffer(all)?)
    } else {
        Box::new(all)
    })
}

fn scan(matcher: &Arc<Matcher>, mut source: impl Read) -> io::Result<Summary> {
    let mut scanner = matcher.scanner(ScanOptions::default());
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Ok(0) => return Ok(scanner.finish()),
            Ok(bytes) => scanner.feed(piece.get(..bytes).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// For people: the first cause first, each with its lines.
fn told(path: &Path, summary: &Summary) -> String {
    let file = path.display();
    if summary.matches.is_empty() {
        return format!("{file}: no known error in {} lines\n", summary.lines_scanned);
    }
    let mut told = Vec::new();
    for found in &summary.matches {
        let is_cause = summary.root_cause.as_ref() == Some(&found.id);
        let cause = if is_cause { " (first cause)" } else { "" };
        let lines: Vec<String> = found.lines.iter().map(|line| line.line.to_string()).collect();
        let lines = lines.join(", ");
        told.push(format!(
            "{file}: {}{cause}: {} times, lines {lines}\n",
            found.id, found.count
        ));
    }
    told.concat()
}

//! `peerless-agent match`: texts explained on the node, with signatures that were fetched before.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use kb_core::matcher::Matcher;
use kb_core::scanner::{ScanOptions, Summary};

use crate::cli::{MatchArgs, SignatureArgs};
use crate::process::say;
use crate::signatures;
use crate::upload::ConfigurationError;

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
        let summary = if path == Path::new("-") {
            scan(&matcher, io::stdin().lock()).map_err(wrong)?
        } else {
            File::open(path)
                .and_then(|file| scan(&matcher, file))
                .map_err(wrong)?
        };
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

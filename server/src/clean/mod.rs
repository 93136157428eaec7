//! The clean corpus: logs of runs in which nothing failed, so that every match in them is a false alarm.
//!
//! A folder holds the logs, each compressed with zstd, and `manifest.jsonl`, which names them with their origin.
//! `peerless check` and the evaluation judge it (`domain::false_alarms`). Its lines, each once, ship with the program,
//! where every publication is held against them.

mod lines;
mod manifest;

use std::io;
use std::path::PathBuf;

pub use lines::{PROGRESS, healthy_lines};
pub use manifest::{Corpus, Log, Part};

#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// The system refused, or a log is no zstd.
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}:{line}: {source}", path.display())]
    Manifest {
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        source: serde_json::Error,
    },
    #[error("{}: the manifest must name each log of its folder once", .0.display())]
    Unnamed(PathBuf),
    #[error(
        "{}: holds {found_bytes} bytes and {found_lines} lines, the manifest says {bytes} and {lines}",
        path.display()
    )]
    Unlike {
        path: PathBuf,
        /// Decompressed bytes that the manifest states.
        bytes: u64,
        lines: u64,
        /// Decompressed bytes that are there.
        found_bytes: u64,
        found_lines: u64,
    },
}

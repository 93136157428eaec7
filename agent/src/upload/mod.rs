//! Sends a report to a server, once: the report id is the idempotency key, so sending again is harmless. What could
//! not be sent is kept as the very bytes that were to be sent.

mod body;
mod client;
mod spool;

pub(crate) use body::{Body, read_body};
pub(crate) use client::Uploader;
pub(crate) use spool::Spool;

use std::path::PathBuf;

/// Why a report cannot be sent from here, whatever the server does.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigurationError {
    /// Not an http or https address.
    #[error("--server {url:?}: {why}; give an address such as https://peerless.example")]
    Server {
        /// As given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file that was named cannot be used.
    #[error("{option} {}: {why}", .path.display())]
    File {
        /// The option.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The environment variable cannot be used.
    #[error("PEERLESS_TOKEN: {why}")]
    Token {
        /// What is wrong with it; never its value.
        why: String,
    },
    /// The client could not be made.
    #[error("cannot make TLS connections here: {why}; name a certificate file with --ca-file")]
    Tls {
        /// The TLS library's reason.
        why: String,
    },
}

/// Why the server did not take a report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    /// No answer.
    #[error("no answer from {server}: {why}")]
    Unreachable {
        /// Where it was sent.
        server: String,
        /// Why, down to the root cause.
        why: String,
    },
    /// The server answered that it cannot now; the same bytes may be taken later.
    #[error("{server} answered {status}{detail}")]
    Refused {
        /// Where it was sent.
        server: String,
        /// HTTP status.
        status: u16,
        /// `: ` and the answer's own words, where it has any.
        detail: String,
    },
}

impl UploadError {
    /// True when the same bytes will be refused for ever: malformed, another body under this id, a newer major.
    pub(crate) fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Refused {
                status: 400 | 409 | 413 | 415 | 422,
                ..
            }
        )
    }
}

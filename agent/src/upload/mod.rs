//! Sends a report to a server, once: the report id is the idempotency key, so sending again is harmless. What could
//! not be sent is kept as the very bytes that were to be sent.

mod answer;
mod ask;
mod body;
mod bundle;
mod client;
mod enrol;
mod feedback;
mod receipt;
mod redact;
mod retry;
mod secret;
mod signatures;
mod spool;
mod unwaited;
mod within;

pub(crate) use body::{Body, ZSTD_MAGIC, read_body};
pub(crate) use bundle::{pack, unpack};
pub(crate) use client::Uploader;
pub(crate) use enrol::{credential_file, keep_credential, own_credential, unusable_credential};
pub(crate) use redact::Redaction;
pub(crate) use retry::{Pace, Patience, send};
pub(crate) use spool::{Limits, Spool, read_kept, remove};

use std::path::PathBuf;
use std::time::Duration;

/// Why a report cannot be sent from here, whatever the server does.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigurationError {
    #[error("--server {url:?}: {why}; give an address such as https://peerless.example")]
    Server { url: String, why: String },
    #[error("{option} {}: {why}", .path.display())]
    File {
        option: &'static str,
        path: PathBuf,
        why: String,
    },
    #[error("the node's credential {} cannot be used: {why}; `peerless-agent enrol --again` gets another", .path.display())]
    Credential { path: PathBuf, why: String },
    #[error("PEERLESS_TOKEN: {why}")]
    Token {
        /// What is wrong with it; never its value.
        why: String,
    },
    #[error("cannot make TLS connections here: {why}; name a certificate file with --ca-file")]
    Tls { why: String },
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    #[error("no answer from {server}: {why}")]
    Unreachable { server: String, why: String },
    /// The server answered that it cannot now; the same bytes may be taken later.
    #[error("{server} answered {status}{detail}")]
    Refused {
        server: String,
        status: u16,
        /// The stable code of the problem document, where the answer is one: a proxy's is not.
        code: Option<String>,
        /// `: ` and the answer's own words, where it has any.
        detail: String,
        retry_after: Option<Duration>,
    },
    /// It looks like success, but nothing says that the server has the report.
    #[error(
        "{server} answered {status}, but not that it has the report: {shown}; is a proxy or a login page in between?"
    )]
    Foreign {
        server: String,
        status: u16,
        shown: String,
    },
}

/// The server is older than the report's format: it takes the same bytes once it has been upgraded.
const NEWER_REPORT: &str = "newer_report";
/// The credential writes another node: one that was kept before the node had its name keeps no other waiting.
const OTHER_NODE: &str = "other_node";

/// What becomes of a kept report that the server did not take, and of those behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The same bytes will be refused for ever: malformed, too large, another body under this id.
    PutAside,
    /// It is kept; the trouble is this report's own, the others may go.
    KeepAndGoOn,
    /// It is kept; the others would fare no better.
    KeepAndStop,
}

impl UploadError {
    /// True where the same bytes may be taken a moment later.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Foreign { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504 | 507),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Unreachable { .. } | Self::Foreign { .. } => None,
            Self::Refused { retry_after, .. } => *retry_after,
        }
    }

    pub(crate) fn is_for_good(&self) -> bool {
        self.next() == Next::PutAside
    }

    fn next(&self) -> Next {
        let Self::Refused { status, code, .. } = self else {
            return Next::KeepAndStop;
        };
        match (status, code.as_deref()) {
            // Without a code it is not the server's own word: something in between minds this report's size or text, today.
            (422, Some(NEWER_REPORT)) | (403, Some(OTHER_NODE)) | (500, _) | (400 | 413 | 422, None) => {
                Next::KeepAndGoOn
            }
            (400 | 409 | 413 | 415 | 422, Some(_)) => Next::PutAside,
            _ => Next::KeepAndStop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_of_somebody_else_is_tried_again() {
        let foreign = UploadError::Foreign {
            server: "http://127.0.0.1".to_owned(),
            status: 200,
            shown: "text/html".to_owned(),
        };
        assert!(foreign.may_pass());
        assert_eq!(foreign.next(), Next::KeepAndStop);
    }

    #[test]
    fn each_refusal_has_its_consequence() {
        let refused = |status, code: Option<&str>| UploadError::Refused {
            server: "http://127.0.0.1".to_owned(),
            status,
            code: code.map(str::to_owned),
            detail: String::new(),
            retry_after: None,
        };
        for status in [400, 409, 413, 415, 422] {
            assert_eq!(refused(status, Some("a_code")).next(), Next::PutAside, "{status}");
            assert_ne!(
                refused(status, None).next(),
                Next::PutAside,
                "{status} of a proxy"
            );
        }
        assert_eq!(refused(413, None).next(), Next::KeepAndGoOn);
        assert_eq!(refused(422, Some("invalid_report")).next(), Next::PutAside);
        assert_eq!(refused(422, Some(NEWER_REPORT)).next(), Next::KeepAndGoOn);
        assert_eq!(refused(500, Some("internal")).next(), Next::KeepAndGoOn);
        assert_eq!(refused(403, Some(OTHER_NODE)).next(), Next::KeepAndGoOn);
        assert_eq!(refused(403, Some("forbidden")).next(), Next::KeepAndStop);
        for status in [301, 401, 403, 404, 429, 502, 503, 507] {
            assert_eq!(refused(status, None).next(), Next::KeepAndStop, "{status}");
        }
    }
}

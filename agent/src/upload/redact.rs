//! What `--redact` takes out of a report, as words of the command line.

use kb_core::redact::{Kind, report};
use serde_json::Value;

/// What is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Redaction {
    /// Names of the host and of those that log lines name beside it
    Hosts,
    /// IP and hardware addresses
    Addresses,
    /// Paths outside of the system's own folders
    Paths,
    /// Keys, tokens and passwords
    Secrets,
    /// Names of users and e-mail addresses
    Users,
}

impl From<Redaction> for Kind {
    fn from(word: Redaction) -> Self {
        match word {
            Redaction::Hosts => Self::Hosts,
            Redaction::Addresses => Self::Addresses,
            Redaction::Paths => Self::Paths,
            Redaction::Secrets => Self::Secrets,
            Redaction::Users => Self::Users,
        }
    }
}

pub(crate) fn redact(value: &mut Value, words: &[Redaction]) {
    let kinds: Vec<Kind> = words.iter().map(|word| Kind::from(*word)).collect();
    report(value, &kinds);
}

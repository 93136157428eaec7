//! How values are put into words: verdicts, sizes, times, rates, and links that are safe to follow.

use kb_core::annex::Severity;
use kb_core::report::Outcome;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;
use time::macros::format_description;

use super::i18n::{Language, terms};

/// How a value is coloured. Colour only repeats what the words beside it say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Warn,
    Bad,
    Unknown,
}

impl Tone {
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub tone: Tone,
    /// One character, for readers who do not see colours.
    pub sign: &'static str,
    pub label: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub href: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub value: String,
}

impl Row {
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

pub fn verdict(verdict: Verdict, language: Language) -> Mark {
    let (tone, sign) = match verdict {
        Verdict::Healthy => (Tone::Good, "✓"),
        Verdict::NoFaultSeen => (Tone::Unknown, "–"),
        Verdict::Degraded => (Tone::Warn, "△"),
        Verdict::Refused => (Tone::Bad, "⊘"),
        Verdict::Unknown => (Tone::Unknown, "?"),
        Verdict::Broken => (Tone::Bad, "✗"),
    };
    let label = terms::Words::of(language).verdict(verdict);
    Mark { tone, sign, label }
}

pub fn outcome(outcome: Outcome, language: Language) -> Mark {
    let (tone, sign) = match outcome {
        Outcome::Pass => (Tone::Good, "✓"),
        Outcome::Fail | Outcome::Hang => (Tone::Bad, "✗"),
        Outcome::Skipped => (Tone::Unknown, "–"),
        Outcome::NotVisible | Outcome::Unrecognised => (Tone::Unknown, "?"),
        Outcome::PassAlone => (Tone::Warn, "△"),
        Outcome::Inconclusive => (Tone::Warn, "?"),
    };
    let label = terms::Words::of(language).outcome(outcome);
    Mark { tone, sign, label }
}

pub fn severity(severity: Severity, language: Language) -> Mark {
    let (tone, sign) = match severity {
        Severity::Info => (Tone::Unknown, "i"),
        Severity::Warning => (Tone::Warn, "△"),
        Severity::Error => (Tone::Bad, "✗"),
        Severity::Fatal => (Tone::Bad, "⊘"),
    };
    let label = terms::Words::of(language).severity(severity);
    Mark { tone, sign, label }
}

/// `12 345 678`, with thin spaces that do not break.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A size: `4.2 MB` with MB = 1e6 bytes.
pub fn bytes(bytes: u64) -> String {
    scaled(bytes, 1_000, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

/// A size of memory: `141 GiB` with GiB = 2^30 bytes, as GPUs are described.
pub fn memory(bytes: u64) -> String {
    scaled(bytes, 1_024, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

fn scaled(bytes: u64, step: u64, units: &[&str]) -> String {
    let mut scale = 1_u64;
    let mut unit = units.first().copied().unwrap_or_default();
    for next in units.iter().skip(1) {
        let Some(next_scale) = scale.checked_mul(step) else {
            break;
        };
        if bytes < next_scale {
            break;
        }
        scale = next_scale;
        unit = next;
    }
    let whole = bytes / scale;
    let tenths = (bytes % scale).saturating_mul(10) / scale;
    if whole >= 100 || tenths == 0 || scale == 1 {
        format!("{whole} {unit}")
    } else {
        format!("{whole}.{tenths} {unit}")
    }
}

pub fn seconds(seconds: f64) -> String {
    if seconds < 0.001 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{seconds:.1} s")
    }
}

/// `2026-11-21 07:22 UTC`.
pub fn moment(time: OffsetDateTime) -> String {
    let format = format_description!("[year]-[month]-[day] [hour]:[minute] UTC");
    time.to_offset(time::UtcOffset::UTC)
        .format(&format)
        .unwrap_or_else(|_| time.unix_timestamp().to_string())
}

/// An address as a link target if it leads to a web page; scripts and the like stay plain text.
pub fn web_href(address: &str) -> Option<String> {
    let lower = address.trim_start().to_ascii_lowercase();
    let leads_to_a_page = lower.starts_with("https://") || lower.starts_with("http://");
    leads_to_a_page.then(|| address.trim().to_owned())
}

/// One part of a path or query, percent-encoded.
pub fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

pub fn record_href(id: &str) -> String {
    format!("/r/{id}")
}

pub fn is_chinese(text: &str) -> bool {
    text.chars()
        .any(|c| matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{2ffff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(grouped(999), "999");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(4_200_000), "4.2 MB");
        assert_eq!(bytes(u64::MAX), "18.4 EB");
        assert_eq!(memory(150_754_820_096), "140 GiB");
        assert_eq!(seconds(0.000_02), "20 µs");
        assert_eq!(seconds(0.0204), "20.4 ms");
    }

    #[test]
    fn only_web_pages_become_links() {
        assert_eq!(
            web_href("https://docs.nvidia.com/x").as_deref(),
            Some("https://docs.nvidia.com/x")
        );
        assert_eq!(web_href(" HTTP://x").as_deref(), Some("HTTP://x"));
        for bad in [
            "javascript:alert(1)",
            " javascript:alert(1)",
            "data:text/html,x",
            "//evil",
            "",
            "ftp://x",
        ] {
            assert_eq!(web_href(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn query_parts_are_encoded() {
        assert_eq!(encoded("Xid 79 & <b>"), "Xid%2079%20%26%20%3Cb%3E");
        assert_eq!(encoded("错"), "%E9%94%99");
    }
}

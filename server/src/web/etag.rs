//! Entity tags. A record's tag names its revision (`"r8"`), not bytes, so a weak tag made by a proxy that compresses
//! (`W/"r8"`, or Apache's `"r8-gzip"`) means the same and is taken for the same.

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use kb_core::ids::{Revision, Seq};
use kb_core::text::Sha256;

use super::error::{Code, Problem};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tags {
    Any,
    /// The tags, without quotes and weakness.
    These(Vec<String>),
}

pub(super) fn of_revision(revision: Revision) -> HeaderValue {
    quoted(&revision.to_string())
}

/// A newer program may make another answer of the same knowledge.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) fn of_seq(seq: Seq) -> HeaderValue {
    quoted(&format!("s{seq}-{VERSION}"))
}

pub(super) fn of_seq_as(seq: Seq, form: &str) -> HeaderValue {
    quoted(&format!("s{seq}-{form}-{VERSION}"))
}

/// Tag of bytes that change without a new revision, such as a page with what people said of a record.
pub(super) fn of_bytes(bytes: &[u8]) -> HeaderValue {
    quoted(Sha256::of(bytes).as_str())
}

fn quoted(tag: &str) -> HeaderValue {
    // Letters, digits, dots and dashes within quotes: always a header value.
    HeaderValue::from_str(&format!("\"{tag}\"")).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
}

pub(super) fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, Problem> {
    let mut tags = Vec::new();
    for value in headers.get_all(name) {
        let malformed = || {
            Problem::new(
                Code::BadHeader,
                format!("{name} must be * or a list of quoted tags such as \"r8\""),
            )
        };
        let text = value.to_str().map_err(|_| malformed())?;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if part == "*" {
                return Ok(Some(Tags::Any));
            }
            let tag = part.strip_prefix("W/").unwrap_or(part);
            let tag = tag
                .strip_prefix('"')
                .and_then(|tag| tag.strip_suffix('"'))
                .ok_or_else(malformed)?;
            tags.push(tag.strip_suffix("-gzip").unwrap_or(tag).to_owned());
        }
    }
    Ok((!tags.is_empty()).then_some(Tags::These(tags)))
}

impl Tags {
    pub(super) fn hold(&self, tag: &HeaderValue) -> bool {
        match self {
            Self::Any => true,
            Self::These(tags) => {
                let tag = tag.to_str().unwrap_or_default().trim_matches('"');
                tags.iter().any(|own| own == tag)
            }
        }
    }

    /// The revisions named; tags of other kinds are none.
    pub(super) fn revisions(&self) -> Vec<Revision> {
        let Self::These(tags) = self else {
            return Vec::new();
        };
        let number = |tag: &String| tag.strip_prefix('r')?.parse().ok().map(Revision);
        tags.iter().filter_map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::IF_MATCH;

    use super::*;

    fn read_one(text: &str) -> Result<Option<Tags>, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert(IF_MATCH, HeaderValue::from_str(text).unwrap());
        read(&headers, &IF_MATCH)
    }

    #[test]
    fn weak_tags_and_lists_are_read() {
        for text in ["\"r8\"", "W/\"r8\"", " \"r8-gzip\" ", "\"x\", W/\"r8\""] {
            let tags = read_one(text).unwrap().unwrap();
            assert!(tags.hold(&of_revision(Revision(8))), "{text}");
            assert_eq!(tags.revisions(), [Revision(8)], "{text}");
            assert!(!tags.hold(&of_revision(Revision(88))), "{text}");
        }
        assert_eq!(read_one("*").unwrap(), Some(Tags::Any));
        assert_eq!(read_one("").unwrap(), None);
    }

    #[test]
    fn the_tag_of_a_state_names_the_program_that_made_the_answer() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(of_seq(Seq(7)), format!("\"s7-{version}\""));
        assert_eq!(of_seq_as(Seq(7), "dot"), format!("\"s7-dot-{version}\""));
        let of_another = read_one("\"s7-0.0.9\"").unwrap().unwrap();
        assert!(!of_another.hold(&of_seq(Seq(7))));
        let of_this = read_one(&format!("W/\"s7-{version}-gzip\"")).unwrap().unwrap();
        assert!(of_this.hold(&of_seq(Seq(7))));
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        for text in ["r8", "\"r8", "W/r8"] {
            assert_eq!(read_one(text).unwrap_err().code(), Code::BadHeader, "{text}");
        }
    }
}

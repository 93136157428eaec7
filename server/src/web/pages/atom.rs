//! `/feed.atom`: the newest changes among the published records, as an Atom feed (RFC 4287).

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::text::Sha256;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::rendered;
use crate::bundle::licence;
use crate::feed::Generation;
use crate::render::words::record_href;
use crate::web::api::export::{not_modified, unless_known};
use crate::web::error::Problem;
use crate::web::limits::FEED_ENTRIES;
use crate::web::links::base_url;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/atom.xml", escape = "html")]
pub struct Feed {
    id: String,
    updated: String,
    rights: String,
    base: String,
    licence_url: &'static str,
    version: &'static str,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    id: String,
    title: String,
    updated: String,
    href: String,
    domain: String,
    summary: String,
}

pub async fn get(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let Some(mut response) = unless_known(&request, generation.seq)? else {
        return Ok(not_modified(generation.seq));
    };
    let feed = feed(&generation, &base_url(&request, &state));
    let body = rendered(&feed).map_err(|error| Problem::internal(&error))?;
    Ok(response
        .content_type("application/atom+xml; charset=utf-8")
        .body(body))
}

fn feed(generation: &Generation, base: &str) -> Feed {
    let newest = generation.newest(FEED_ENTRIES);
    let updated = newest.iter().map(|published| published.changed_at).max();
    let entry = |published: &&std::sync::Arc<crate::feed::PublishedRecord>| {
        let document = &published.record.document;
        Entry {
            id: stable_id(&format!("record {}", document.id)),
            title: for_xml(published.record.title()),
            updated: rfc3339(published.changed_at),
            href: record_href(document.id.as_str()),
            domain: for_xml(&document.domain),
            summary: for_xml(&document.root_cause),
        }
    };
    Feed {
        id: stable_id("feed"),
        updated: rfc3339(updated.unwrap_or(OffsetDateTime::UNIX_EPOCH)),
        rights: format!("{} ({})", licence::NAME, licence::ID),
        base: for_xml(base),
        licence_url: licence::URL,
        version: env!("CARGO_PKG_VERSION"),
        entries: newest.iter().map(entry).collect(),
    }
}

/// A name that stays whatever address the server has: a UUID of version 8 (RFC 9562) from the SHA-256 of what it names.
fn stable_id(of: &str) -> String {
    let digest = Sha256::of(format!("peerless {of}"));
    let hex = digest.as_str();
    let piece = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    let variant = match hex.as_bytes().get(16) {
        Some(b'0'..=b'3') => '8',
        Some(b'4'..=b'7') => '9',
        Some(b'8' | b'9' | b'a' | b'b') => 'a',
        _ => 'b',
    };
    format!(
        "urn:uuid:{}-{}-8{}-{variant}{}-{}",
        piece(0..8),
        piece(8..12),
        piece(13..16),
        piece(17..20),
        piece(20..32)
    )
}

/// Without characters that XML forbids however written (XML 1.0, section 2.2), and with the line end that readers give back.
fn for_xml(text: &str) -> String {
    let allowed =
        |c: char| matches!(c, '\t' | '\n' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..);
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .map(|c| {
            if allowed(c) {
                c
            } else {
                char::REPLACEMENT_CHARACTER
            }
        })
        .collect()
}

/// Atom wants a year of four digits; no record is from another.
fn rfc3339(at: OffsetDateTime) -> String {
    at.format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ATOM: &str = "http://www.w3.org/2005/Atom";

    fn rendered(title: &str, summary: &str) -> String {
        let entry = Entry {
            id: stable_id("record a/b"),
            title: for_xml(title),
            updated: rfc3339(OffsetDateTime::UNIX_EPOCH),
            href: record_href("a/b"),
            domain: "a".to_owned(),
            summary: for_xml(summary),
        };
        let feed = Feed {
            id: stable_id("feed"),
            updated: rfc3339(OffsetDateTime::UNIX_EPOCH),
            rights: licence::NAME.to_owned(),
            base: "http://127.0.0.1:8080".to_owned(),
            licence_url: licence::URL,
            version: "1",
            entries: vec![entry],
        };
        feed.render().unwrap()
    }

    #[test]
    fn an_entry_is_as_new_as_its_publication() {
        let records = ["t/a", "t/b"].map(|id| {
            let text = crate::feed::samples::document(id, "lost its peer");
            (text.to_string(), r#"{"schema_version": 1}"#.to_owned())
        });
        let generation = crate::feed::samples::generation_of(&records);
        let feed = feed(&generation, "http://127.0.0.1:8080");
        let updated: Vec<_> = feed.entries.iter().map(|entry| entry.updated.as_str()).collect();
        assert_eq!(updated, ["1970-01-01T00:00:02Z", "1970-01-01T00:00:01Z"]);
        assert_eq!(feed.updated, "1970-01-01T00:00:02Z");
    }

    proptest! {
        #[test]
        fn any_text_comes_back_as_it_was(
            title in "(\\PC|[<>&\"'\u{0}-\u{1f}\u{7f}\u{fffe}\u{ffff}]|]]>|<!--){0,40}",
            summary in any::<String>(),
        ) {
            let xml = rendered(&title, &summary);
            let document = roxmltree::Document::parse(&xml);
            prop_assert!(document.is_ok(), "{document:?}\n{xml}");
            let document = document.unwrap();
            let entry = document.descendants().find(|node| node.has_tag_name((ATOM, "entry"))).unwrap();
            let text = |name: &str| {
                let child = entry.children().find(|node| node.has_tag_name((ATOM, name))).unwrap();
                child.text().unwrap_or_default().to_owned()
            };
            prop_assert_eq!(text("title"), for_xml(&title));
            prop_assert_eq!(text("summary"), for_xml(&summary));
        }

        #[test]
        fn an_id_is_a_uuid_of_version_8_and_stays(name in "\\PC{0,40}") {
            let id = stable_id(&name);
            prop_assert_eq!(&id, &stable_id(&name));
            let uuid = id.strip_prefix("urn:uuid:").unwrap();
            let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
            prop_assert_eq!(lengths, vec![8, 4, 4, 4, 12]);
            prop_assert_eq!(uuid.as_bytes()[14], b'8');
            prop_assert!(b"89ab".contains(&uuid.as_bytes()[19]));
        }
    }
}

//! The page for an error, with a way on: what is near, where to search, and what helps with this kind of thing.

mod titles;

use actix_web::http::StatusCode;
use askama::Template;
use kb_core::ids::RecordId;

use super::filters;
use super::layout::{Layout, Section};
use crate::feed::Generation;
use crate::render::i18n::Locale;
use crate::render::i18n::failure::Words;
use crate::render::record::texts;
use crate::render::words::{Link, encoded, record_href};
use crate::web::error::Code;

#[derive(Debug, Template)]
#[template(path = "pages/failure.html")]
pub struct FailurePage {
    layout: Layout,
    words: &'static Words,
    status: u16,
    code: &'static str,
    title: &'static str,
    /// In English.
    detail: String,
    /// Where to log in, where that may help.
    login: Option<String>,
    ways_on: Vec<WayOn>,
    near: Vec<Near>,
    links: Vec<Link>,
    /// What the field of the search holds.
    query: String,
}

/// Something the reader can do; `code` is set in monospace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WayOn {
    pub before: &'static str,
    pub code: &'static str,
    pub after: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    pub id: String,
    pub href: String,
    pub heading: String,
    /// BCP 47.
    pub lang: &'static str,
}

impl Near {
    pub fn of(generation: &Generation, id: &RecordId, locale: Locale) -> Option<Self> {
        let published = generation.record(id)?;
        let heading = texts::heading(&published.record, locale.language);
        Some(Self {
            id: id.to_string(),
            href: locale.href(record_href(id.as_str())),
            heading: heading.text,
            lang: heading.lang,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Record,
    /// A part of a record that there is.
    OfRecord,
    Node,
    Report,
    Domain,
    /// Lines of a pasted text that were kept.
    Kept,
    /// An answer that was shared.
    Answer,
    /// Lines that no record knows.
    Unmatched,
    /// An address that leads nowhere.
    Address,
    Other,
}

#[derive(Debug)]
pub struct Asked {
    pub kind: Kind,
    pub locale: Locale,
    pub near: Vec<Near>,
    pub domain: Option<String>,
    pub words: String,
}

impl Asked {
    pub fn nothing(locale: Locale) -> Self {
        Self {
            kind: Kind::Other,
            locale,
            near: Vec::new(),
            domain: None,
            words: String::new(),
        }
    }
}

pub fn page(code: Code, detail: &str, asked: Asked) -> FailurePage {
    let words = Words::of(asked.locale.language);
    let own = match code {
        Code::NotFound | Code::BadId => own_words(asked.kind, words),
        // A domain stands in the query.
        Code::BadQuery if asked.kind == Kind::Domain => own_words(asked.kind, words),
        _ => None,
    };
    let title = own.map_or_else(|| titles::title(code, words), |(title, _)| title);
    let layout = Layout::new(format!("{title} · Peerless"), Section::Elsewhere)
        .spoken(asked.locale)
        .with_own_search();
    let may_help = code == Code::Unauthorized && layout.visitor.name.is_none();
    let mut ways_on: Vec<WayOn> = own
        .into_iter()
        .map(|(_, means)| WayOn {
            before: means,
            code: "",
            after: "",
        })
        .collect();
    ways_on.extend(ways_of(code.status(), asked.kind, words));
    FailurePage {
        login: may_help.then(|| asked.locale.href(layout.visitor.login_href.as_str())),
        links: links(&asked, words),
        layout,
        words,
        status: code.status().as_u16(),
        code: code.name(),
        title,
        detail: sentence(detail),
        ways_on,
        near: asked.near,
        query: asked.words,
    }
}

fn own_words(kind: Kind, words: &Words) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        Kind::Record => (words.no_record, words.record_means),
        Kind::OfRecord => (words.no_part, words.part_means),
        Kind::Node => (words.no_node, words.node_means),
        Kind::Report => (words.no_report, words.report_means),
        Kind::Domain => (words.no_domain, words.domain_means),
        Kind::Kept => (words.nothing_kept, words.kept_means),
        Kind::Answer => (words.no_answer, words.answer_means),
        Kind::Unmatched => (words.no_lines, words.lines_mean),
        Kind::Address => (words.no_address, words.address_means),
        Kind::Other => return None,
    })
}

fn links(asked: &Asked, words: &Words) -> Vec<Link> {
    let link = |text: &str, address: &str| Link {
        text: text.to_owned(),
        href: asked.locale.href(address),
    };
    let meant = asked.domain.as_ref();
    let meant = meant.map(|domain| link(domain, &format!("/search?domain={}", encoded(domain))));
    let listed = match asked.kind {
        Kind::Node | Kind::Report => Some(link(words.all_nodes, "/nodes")),
        Kind::Unmatched => Some(link(words.all_lines, "/unmatched")),
        _ => None,
    };
    let always = [
        link(words.look_up, "/"),
        link(words.all_records, "/search"),
        Link {
            text: words.api.to_owned(),
            href: "/docs/api".to_owned(),
        },
    ];
    meant.into_iter().chain(listed).chain(always).collect()
}

/// Details are written for programs, lower case and without a full stop.
fn sentence(detail: &str) -> String {
    let mut chars = detail.chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let mut text: String = first.to_uppercase().chain(chars).collect();
    if !text.ends_with(['.', '?', '!', '…', '`']) {
        text.push('.');
    }
    text
}

fn ways_of(status: StatusCode, kind: Kind, words: &Words) -> Vec<WayOn> {
    let of_texts = |before| WayOn {
        before,
        code: "",
        after: "",
    };
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            let who = if matches!(kind, Kind::Node | Kind::Report) {
                WayOn {
                    before: words.for_operators,
                    code: "peerless serve --public-fleet",
                    after: words.stop,
                }
            } else {
                of_texts(words.for_roles)
            };
            let token = WayOn {
                before: words.programs_send,
                code: "curl -H 'Authorization: Bearer TOKEN' …/api/v1/nodes",
                after: "",
            };
            vec![who, token]
        }
        StatusCode::PAYLOAD_TOO_LARGE => vec![WayOn {
            before: words.send_as_file,
            code: "curl --data-binary @train.log -H 'Content-Type: text/plain' …/api/v1/match",
            after: "",
        }],
        status if status.is_server_error() => vec![of_texts(words.try_again)],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn details_become_sentences() {
        assert_eq!(sentence("there is no such record"), "There is no such record.");
        assert_eq!(sentence(""), "");
        assert_eq!(sentence("what?"), "What?");
    }
}

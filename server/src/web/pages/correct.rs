//! Links beside what a record says, for editors: each opens the form at the field that says it.

use kb_core::record::Record;
use kb_core::text::Part;

use super::edit::field_name;
use super::record::RecordPage;
use crate::feed::PublishedRecord;
use crate::render::i18n::history::Words;
use crate::render::i18n::{Language, Locale};
use crate::render::record::Notice;
use crate::render::words::{Link, Tone, encoded, record_href};
use crate::store::{Review, ReviewState};
use crate::web::state::AppState;

/// Reviews of a record that are looked at: the open one is among the newest.
const NEWEST: u32 = 20;

/// Adds what editors see: where to correct, and whether somebody waits for a review.
pub(super) async fn fill(
    page: &mut RecordPage,
    published: &PublishedRecord,
    state: &AppState,
    locale: Locale,
) {
    if !page.layout.visitor.edits {
        return;
    }
    let (record, language) = (&published.record, locale.language);
    let href = record_href(record.id().as_str());
    let form = |field: &str| {
        let (at, read) = (encoded(field), published.revision.0);
        Some(locale.href(format!("{href}/-/edit?at={at}&read={read}")))
    };
    for advice in &mut page.record.workarounds {
        advice.correct = form(&workaround(record, advice.position, language));
    }
    for advice in &mut page.record.dead_ends {
        advice.correct = form(&dead_end(record, advice.position, language));
    }
    page.record.root_cause_correct = form(&root_cause(record, language));
    // A page that does not tell of the review is better than none: the list of reviews has it.
    let reviews = state.store.reviews(record.id(), NEWEST).await;
    let reviews = reviews.unwrap_or_default();
    let open = reviews.iter().find(|review| review.state == ReviewState::Open);
    page.record
        .notices
        .extend(open.map(|review| waiting(review, locale.href(format!("{href}/-/revisions")), language)));
}

fn waiting(review: &Review, href: String, language: Language) -> Notice {
    let words = Words::of(language);
    Notice {
        tone: Tone::Warn,
        title: words.waiting,
        text: format!("{}, {}", review.asked_by.name, review.revision),
        link: Some(Link {
            href,
            text: words.see_changes.to_owned(),
        }),
    }
}

/// The field that the page shows the text of: the Chinese one where there is one.
fn workaround(record: &Record, position: usize, language: Language) -> String {
    let (document, annex) = (&record.document, &record.annex);
    match language {
        Language::Chinese if annex.workarounds_zh.get(position).is_some() => {
            field_name(Part::Annex, &format!("/workarounds_zh/{position}/action"))
        }
        Language::Chinese if document.workarounds_zh.get(position).is_some() => {
            field_name(Part::Document, "/workarounds_zh")
        }
        _ => field_name(Part::Document, &format!("/workarounds/{position}/action")),
    }
}

fn dead_end(record: &Record, position: usize, language: Language) -> String {
    match language {
        Language::Chinese if record.annex.dead_ends_zh.get(position).is_some() => {
            field_name(Part::Annex, &format!("/dead_ends_zh/{position}/action"))
        }
        _ => field_name(Part::Document, &format!("/dead_ends/{position}/action")),
    }
}

fn root_cause(record: &Record, language: Language) -> String {
    let has_chinese = record
        .document
        .root_cause_zh
        .as_deref()
        .is_some_and(|text| !text.trim().is_empty());
    match language {
        Language::Chinese if has_chinese => field_name(Part::Document, "/root_cause_zh"),
        _ => field_name(Part::Document, "/root_cause"),
    }
}

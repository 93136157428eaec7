//! The open review of a record with what publishing would do, and comments on its fields.

use kb_core::text::Part;

use crate::domain::curate::{self, Foreseen};
use crate::domain::tokens::Actor;
use crate::render::i18n::{Locale, field, history::Words};
use crate::render::words::{moment, record_href};
use crate::store::{Asks, Comment, RecordState, RecordStatus, Review, ReviewState, Scope};
use crate::web::error::Problem;
use crate::web::state::AppState;

/// Decided reviews that are shown.
const DECIDED: u32 = 20;

#[derive(Debug)]
pub struct ReviewPart {
    pub(super) csrf: String,
    pub(super) action: String,
    pub(super) edit_href: String,
    /// The newest revision, and its name: `r8`.
    pub(super) head: u32,
    pub(super) head_name: String,
    /// True where there is something to ask a review of.
    pub(super) may_ask: bool,
    pub(super) may_publish: bool,
    pub(super) is_admin: bool,
    pub(super) open: Option<OpenReview>,
    pub(super) decided: Vec<Decided>,
    pub(super) comments: Vec<CommentView>,
}

impl ReviewPart {
    pub(super) fn has_reviews(&self) -> bool {
        self.open.is_some() || self.may_ask || !self.decided.is_empty()
    }
}

#[derive(Debug)]
pub(super) struct OpenReview {
    pub(super) n: u32,
    pub(super) revision: u32,
    pub(super) name: String,
    /// What is asked, and what its button says.
    pub(super) asks: &'static str,
    pub(super) approve: &'static str,
    pub(super) asked_by: String,
    /// Whoever looks asked for it.
    pub(super) is_own: bool,
    pub(super) asked_at: String,
    pub(super) note: String,
    /// Of a withdrawal: address and id of the record that says it better.
    pub(super) instead: Option<(String, String)>,
    pub(super) warnings: Vec<String>,
    pub(super) verdicts: Option<Verdicts>,
}

#[derive(Debug)]
pub(super) struct Verdicts {
    pub(super) keys: String,
    pub(super) looked: String,
    pub(super) complete: bool,
    pub(super) nodes: Vec<NodeView>,
}

#[derive(Debug)]
pub(super) struct NodeView {
    pub(super) node: String,
    pub(super) href: String,
    pub(super) before: String,
    pub(super) after: String,
}

#[derive(Debug)]
pub(super) struct Decided {
    pub(super) revision: String,
    /// What was asked; empty of a publication.
    pub(super) asked: String,
    pub(super) state: &'static str,
    pub(super) by: String,
    pub(super) at: String,
    pub(super) reason: String,
}

#[derive(Debug)]
pub(super) struct CommentView {
    pub(super) n: u32,
    pub(super) label: String,
    pub(super) revision: String,
    pub(super) author: String,
    pub(super) at: String,
    pub(super) body: String,
    pub(super) done: Option<String>,
}

pub(super) async fn part(
    state: &AppState,
    status: &RecordStatus,
    editor: &Actor,
    csrf: String,
    locale: Locale,
) -> Result<ReviewPart, Problem> {
    let id = &status.id;
    let reviews = state.store.reviews(id, DECIDED).await?;
    let waiting = reviews.iter().find(|review| review.state == ReviewState::Open);
    let open = match waiting {
        Some(review) => Some(open(state, review, editor, locale).await),
        None => None,
    };
    let comments = state.store.comments(id).await?;
    let href = record_href(id.as_str());
    let published = status
        .published
        .filter(|_| status.state == RecordState::Published);
    Ok(ReviewPart {
        csrf,
        action: locale.href(format!("{href}/-/revisions")),
        edit_href: locale.href(format!("{href}/-/edit")),
        head: status.head.0,
        head_name: status.head.to_string(),
        may_ask: published != Some(status.head) && waiting.is_none_or(|open| open.revision != status.head),
        may_publish: editor.may(Scope::Publish),
        is_admin: editor.may(Scope::Admin),
        open,
        decided: reviews
            .iter()
            .filter_map(|review| decided(review, locale))
            .collect(),
        comments: comments
            .into_iter()
            .map(|comment| comment_view(comment, locale))
            .collect(),
    })
}

async fn open(state: &AppState, review: &Review, editor: &Actor, locale: Locale) -> OpenReview {
    let words = Words::of(locale.language);
    let store = state.store.as_ref();
    let outlook = curate::outlook(store, &state.knowledge, review, state.clock.as_ref()).await;
    let (warnings, foreseen) = match outlook {
        Ok((warnings, foreseen)) => (
            warnings
                .into_iter()
                .map(|warning| format!("{}: {}", warning.pointer, warning.reason))
                .collect(),
            Some(foreseen),
        ),
        Err(error) => (vec![error.to_string()], None),
    };
    let (asks, approve) = match (review.asks.is_withdrawal(), curate::merges_into(review)) {
        (_, Some(_)) => (words.asks_merge, words.approve_merge),
        (true, None) => (words.asks_withdrawal, words.approve_withdrawal),
        (false, None) => (words.asks, words.approve),
    };
    OpenReview {
        n: review.n,
        revision: review.revision.0,
        name: review.revision.to_string(),
        asks,
        approve,
        asked_by: review.asked_by.name.clone(),
        is_own: review.asked_by.id == editor.by().id,
        asked_at: moment(review.asked_at),
        note: review.note.clone().unwrap_or_default(),
        instead: review.asks.replaced_by().map(|other| {
            let href = locale.href(record_href(other.as_str()));
            (href, other.to_string())
        }),
        warnings,
        verdicts: foreseen
            .filter(|foreseen| !foreseen.deciding.is_empty())
            .map(|foreseen| verdicts(&foreseen, locale)),
    }
}

fn verdicts(foreseen: &Foreseen, locale: Locale) -> Verdicts {
    let words = Words::of(locale.language);
    let labels = field::Words::of(locale.language);
    let key = |key: &&'static str| {
        let name = match *key {
            "action" => "first_action",
            "at_fault" => "who",
            other => other,
        };
        labels.named(name).unwrap_or(key)
    };
    let keys: Vec<&str> = foreseen.deciding.iter().map(key).collect();
    let joined = |found: &[String]| {
        if found.is_empty() {
            words.none.to_owned()
        } else {
            found.join("; ")
        }
    };
    Verdicts {
        keys: keys.join(", "),
        looked: words.looked(foreseen.looked_at as u64),
        complete: foreseen.complete,
        nodes: foreseen
            .nodes
            .iter()
            .map(|node| NodeView {
                node: node.node.to_string(),
                href: locale.href(format!("/nodes/{}", node.node)),
                before: joined(&node.before),
                after: joined(&node.after),
            })
            .collect(),
    }
}

fn decided(review: &Review, locale: Locale) -> Option<Decided> {
    let decision = review.decided.as_ref()?;
    let words = Words::of(locale.language);
    let asked = match (&review.asks, review.asks.replaced_by()) {
        (Asks::Publish, _) => String::new(),
        (asks, instead) => {
            let asked = match asks {
                Asks::Merge { .. } => words.to_merge,
                _ => words.to_withdraw,
            };
            let instead = instead.map(|other| format!(" ({}: {other})", words.asks_instead));
            format!("{asked}{}", instead.unwrap_or_default())
        }
    };
    Some(Decided {
        revision: review.revision.to_string(),
        asked,
        state: state_word(review.state, words),
        by: decision.by.clone(),
        at: moment(decision.at),
        reason: decision.reason.clone().unwrap_or_default(),
    })
}

fn state_word(state: ReviewState, words: &'static Words) -> &'static str {
    match state {
        ReviewState::Open => words.open,
        ReviewState::Approved => words.approved,
        ReviewState::SentBack => words.sent_back,
        ReviewState::Withdrawn => words.withdrawn,
    }
}

fn comment_view(comment: Comment, locale: Locale) -> CommentView {
    let labels = field::Words::of(locale.language);
    let words = Words::of(locale.language);
    let label = match (comment.pointer.as_str(), comment.part) {
        ("", Part::Document) => words.document.to_owned(),
        ("", Part::Annex) => words.annex.to_owned(),
        (pointer, part) => field::spoken(labels, part, pointer),
    };
    CommentView {
        n: comment.n,
        label,
        revision: comment.revision.to_string(),
        author: comment.author,
        at: moment(comment.at),
        body: comment.body,
        done: comment.resolved.map(|(by, at)| format!("{by}, {}", moment(at))),
    }
}

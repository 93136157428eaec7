//! Lines of pasted texts that their owners let us keep. They stand in the room of anonymous writing, where they expire and are
//! taken back, and are put together when somebody looks.

use kb_core::templates::{Placed, Templates, tokens};
use kb_core::text::Sha256;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::lines::UnknownLines;
use crate::domain::anonymous::{AnonymousError, Nobody};
use crate::store::{
    AnonymousEntry, AnonymousKept, AnonymousKind, AnonymousStore, StoreError, Unmatched, UnmatchedState,
};

const MOST_KEPT_LINES: usize = 50;
/// Texts that are looked at, the newest.
const MOST_TEXTS: u32 = 200;
const MOST_MESSAGES: usize = 500;
const MOST_EXAMPLES: usize = 5;

/// What is kept of a text, as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    lines: Vec<String>,
}

/// Unknown lines of a text as kept: redacted, each message once; and whether there are more than are looked at or kept.
pub fn keepable(found: UnknownLines) -> (Vec<String>, bool) {
    let are_more = found.are_more || found.lines.len() > MOST_KEPT_LINES;
    let lines = found.lines.into_iter().take(MOST_KEPT_LINES);
    (lines.map(|line| line.example).collect(), are_more)
}

#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("no line looks like an error that nobody knows")]
    NoLines,
    #[error(transparent)]
    Anonymous(#[from] AnonymousError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps lines until the time that is given back. Whoever has the key takes them back with it.
pub async fn keep(
    store: &dyn AnonymousStore,
    nobody: Nobody,
    (lines, key): (Vec<String>, &str),
    at: OffsetDateTime,
) -> Result<(OffsetDateTime, AnonymousKept), KeepError> {
    nobody.check()?;
    if lines.is_empty() {
        return Err(KeepError::NoLines);
    }
    let body = serde_json::to_string(&Kept { lines }).unwrap_or_default();
    let mut entry = nobody.entry((AnonymousKind::Lines, ""), body, at)?;
    entry.key_sha256 = Some(Sha256::of(key.as_bytes()).to_string());
    let until = entry.expires_at;
    match store.keep_anonymous(entry).await? {
        AnonymousKept::TooManyToday => Err(AnonymousError::TooManyToday.into()),
        kept @ AnonymousKept::Kept { .. } => Ok((until, kept)),
    }
}

/// Deletes what was kept with this key; false where there is nothing.
pub async fn take_back(store: &dyn AnonymousStore, key: &str) -> Result<bool, StoreError> {
    let hash = Sha256::of(key.as_bytes()).to_string();
    store.take_back_anonymous(&hash).await
}

pub async fn pasted(store: &dyn AnonymousStore) -> Result<Vec<Unmatched>, StoreError> {
    let texts = store.anonymous(AnonymousKind::Lines, None, MOST_TEXTS).await?;
    let found = tokio::task::spawn_blocking(move || messages(&texts)).await;
    Ok(found.unwrap_or_else(|error| {
        tracing::error!(%error, "kept lines cannot be put together, which is a fault of ours");
        Vec::new()
    }))
}

/// An id is that of the text and the place of the line in it.
fn messages(texts: &[AnonymousEntry]) -> Vec<Unmatched> {
    let mut templates = Templates::new(MOST_MESSAGES);
    let mut found: Vec<Unmatched> = Vec::new();
    // The text in which each was seen last: a text counts once.
    let mut last_texts: Vec<i64> = Vec::new();
    // From the oldest on, so that a message keeps its id.
    for text in texts.iter().rev() {
        let kept: Kept = serde_json::from_str(&text.body).unwrap_or_default();
        for (number, line) in kept.lines.into_iter().enumerate() {
            match templates.place(tokens(&line)) {
                Placed::New(_) => {
                    last_texts.push(text.n);
                    found.push(Unmatched {
                        id: format!("p{}-{number}", text.n),
                        template: String::new(),
                        examples: vec![line],
                        count: 1,
                        nodes: 0,
                        first_seen: text.written_at,
                        last_seen: text.written_at,
                        state: UnmatchedState::Open,
                        assignee: None,
                        reason: None,
                        record: None,
                        changed_by: None,
                        changed_at: None,
                    });
                }
                Placed::Known(place) | Placed::Widened(place) => {
                    if let (Some(message), Some(last)) = (found.get_mut(place), last_texts.get_mut(place)) {
                        if *last != text.n {
                            *last = text.n;
                            message.count += 1;
                        }
                        message.last_seen = text.written_at;
                        if message.examples.len() < MOST_EXAMPLES && !message.examples.contains(&line) {
                            message.examples.push(line);
                        }
                    }
                }
                Placed::Full => {}
            }
        }
    }
    for (place, message) in found.iter_mut().enumerate() {
        templates
            .get(place)
            .concat()
            .trim()
            .clone_into(&mut message.template);
    }
    found.sort_by_key(|message| std::cmp::Reverse((message.count, message.last_seen)));
    found
}

//! Who publishes what decides a node's verdict: not whoever wrote it alone, and not whoever goes back alone to what says less.

use std::collections::BTreeMap;

use kb_core::ids::{RecordId, Revision};
use kb_core::record::Record;

use super::CurateError;
use super::deciding::{deciding, takes_alarms_away};
use crate::store::{
    ActorKind, AuditQuery, By, RecordState, RecordStatus, ReviewState, SeedSource, Store, StoreError,
};

/// Revisions compared for who changed what. Whoever saved an older one since the last publication counts as an author.
const MOST_COMPARED: u32 = 100;
/// Revisions since the last publication for which the audit is asked. Of more, nobody knows whose the change is.
const MOST_ASKED: u32 = 5_000;

#[derive(Debug, Clone)]
pub struct Approver {
    pub by: By,
    /// The person who acts, by a session or a token; none of a token that is the system's, for which the operator answers.
    pub person: Option<String>,
    /// An administrator's reason to do without a second person.
    pub alone: Option<String>,
}

impl Approver {
    pub fn system(by: By) -> Self {
        Self {
            by,
            person: None,
            alone: None,
        }
    }
}

/// Who made a change, or asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Author {
    Person(String),
    /// A part of the program, or a token that is the system's.
    System,
    /// Nothing tells who it was.
    Unknown,
}

impl Author {
    pub(super) fn may_be(&self, person: &str) -> bool {
        match self {
            Self::Person(author) => author == person,
            Self::System => false,
            Self::Unknown => true,
        }
    }
}

/// Refuses to let one person publish what decides a node's verdict; gives the reason of an administrator who does so nevertheless.
pub(super) async fn check_second_person(
    store: &dyn Store,
    status: &RecordStatus,
    revision: Revision,
    approver: &Approver,
) -> Result<Option<String>, CurateError> {
    let Some(person) = &approver.person else {
        return Ok(None);
    };
    let id = &status.id;
    let published = status
        .published
        .filter(|_| status.state == RecordState::Published);
    let before = record_of(store, id, published).await?;
    let after = record_of(store, id, Some(revision)).await?;
    let Some(after) = after else { return Ok(None) };
    let was_seen = was_published(store, id, revision).await?;
    let mut keys = Vec::new();
    if was_seen || published.is_some_and(|published| revision < published) {
        keys = takes_alarms_away(before.as_ref(), &after);
        if !keys.is_empty() && is_asked_by_another(store, id, revision, person).await? {
            keys.clear();
        }
    }
    if keys.is_empty() && !was_seen {
        keys = deciding(before.as_ref(), &after);
        let base = published.filter(|published| *published < revision).zip(before);
        if !keys.is_empty() && !wrote(store, id, base, revision, person).await? {
            keys.clear();
        }
    }
    match &approver.alone {
        _ if keys.is_empty() => Ok(None),
        Some(reason) => Ok(Some(reason.clone())),
        None => Err(CurateError::SecondPerson(keys)),
    }
}

async fn wrote(
    store: &dyn Store,
    id: &RecordId,
    base: Option<(Revision, Record)>,
    revision: Revision,
    person: &str,
) -> Result<bool, StoreError> {
    let since = base.as_ref().map_or(1, |(published, _)| published.0 + 1);
    if revision.0.saturating_sub(since) >= MOST_ASKED {
        return Ok(true);
    }
    let compared = since.max(revision.0.saturating_sub(MOST_COMPARED));
    let saved = saves(store, id, (Revision(since), revision)).await?;
    let mut authors = BTreeMap::new();
    let mut last = base.map(|(_, record)| record);
    for number in (since..=revision.0).map(Revision) {
        let mut decides = true;
        if number.0 >= compared {
            let this = record_of(store, id, Some(number)).await?;
            // What nobody can read may decide whatever comes next.
            decides = this
                .as_ref()
                .is_none_or(|this| !deciding(last.as_ref(), this).is_empty());
            last = this.or(last);
        } else if number.0 + 1 == compared {
            last = record_of(store, id, Some(number)).await?;
        }
        if !decides {
            continue;
        }
        match saved.get(&number) {
            Some(by) => {
                authors.insert((by.kind.as_str(), &by.id), by);
            }
            // What readers saw had its second person.
            None if was_published(store, id, number).await? => {}
            None => return Ok(true),
        }
    }
    for by in authors.into_values() {
        if author_of(store, by).await?.may_be(person) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn is_asked_by_another(
    store: &dyn Store,
    id: &RecordId,
    revision: Revision,
    person: &str,
) -> Result<bool, StoreError> {
    let reviews = store.reviews(id, 1).await?;
    let asked = reviews.iter().find(|review| {
        review.state == ReviewState::Open && review.revision == revision && !review.asks.is_withdrawal()
    });
    match asked {
        Some(asked) => Ok(!author_of(store, &asked.asked_by).await?.may_be(person)),
        None => Ok(false),
    }
}

/// A revision as today's rules read it; `None` where they cannot.
pub(super) async fn record_of(
    store: &dyn Store,
    id: &RecordId,
    revision: Option<Revision>,
) -> Result<Option<Record>, StoreError> {
    let Some(revision) = revision else { return Ok(None) };
    let texts = store.revision(id, revision).await?;
    Ok(texts.and_then(|texts| Record::from_texts(texts.document, texts.annex).ok()))
}

pub(super) async fn author_of(store: &dyn Store, by: &By) -> Result<Author, StoreError> {
    Ok(match by.kind {
        ActorKind::Person => Author::Person(by.id.clone()),
        ActorKind::Token => match store.token(&by.id).await? {
            Some(stored) => stored.token.person.map_or(Author::System, Author::Person),
            None => Author::Unknown,
        },
        ActorKind::System => Author::System,
    })
}

pub(super) async fn are_one(store: &dyn Store, one: &By, other: &By) -> Result<bool, StoreError> {
    if (one.kind, &one.id) == (other.kind, &other.id) {
        return Ok(true);
    }
    let (one, other) = (author_of(store, one).await?, author_of(store, other).await?);
    Ok(one == other && matches!(one, Author::Person(_)))
}

/// Number of the open review of a record that the same person asked for: it gives way to what the person asks now.
pub(super) async fn gives_way(store: &dyn Store, id: &RecordId, by: &By) -> Result<Option<u32>, StoreError> {
    let reviews = store.reviews(id, 1).await?;
    match reviews.iter().find(|review| review.state == ReviewState::Open) {
        Some(review) if are_one(store, by, &review.asked_by).await? => Ok(Some(review.n)),
        _ => Ok(None),
    }
}

/// Whether readers saw this revision before: then a second person has seen it.
async fn was_published(store: &dyn Store, id: &RecordId, revision: Revision) -> Result<bool, StoreError> {
    for action in ["record.publish", "record.rename"] {
        if !rows(store, id, action, (revision, revision)).await?.is_empty() {
            return Ok(true);
        }
    }
    // What comes with the program or an import is published without a row of its own. Whoever saves has one, by any name.
    let texts = store.revision(id, revision).await?;
    let sources = [SeedSource::Program, SeedSource::Import];
    let is_seed = texts.is_some_and(|texts| sources.iter().any(|source| texts.meta.actor == source.actor()));
    Ok(is_seed && saves(store, id, (revision, revision)).await?.is_empty())
}

async fn saves(
    store: &dyn Store,
    id: &RecordId,
    between: (Revision, Revision),
) -> Result<BTreeMap<Revision, By>, StoreError> {
    let rows = rows(store, id, "record.save", between).await?;
    let saved = rows
        .into_iter()
        .filter_map(|(revision, by)| Some((revision?, by)));
    Ok(saved.collect())
}

async fn rows(
    store: &dyn Store,
    id: &RecordId,
    action: &str,
    (first, last): (Revision, Revision),
) -> Result<Vec<(Option<Revision>, By)>, StoreError> {
    let query = AuditQuery {
        action: Some(action.to_owned()),
        subject: Some(id.to_string()),
        revisions: Some((first, last)),
        limit: last.0.saturating_sub(first.0).saturating_add(1),
        ..AuditQuery::default()
    };
    let rows = store.audit(&query).await?;
    Ok(rows.into_iter().map(|row| (row.to_revision, row.by)).collect())
}

//! What of a record decides how a node or a text is judged: severity, first action, what is at fault, whether the message is
//! harmless, and rules over reports. Such a change needs a second person.

use std::collections::BTreeSet;

use kb_core::annex::{Annex, read_annex};
use kb_core::ids::{RecordId, Revision};

use super::CurateError;
use crate::store::{ActorKind, AuditEntry, AuditQuery, By, RecordState, RecordStatus, Store, StoreError};

/// Revisions that are looked at for who changed something; more lie between two publications of no record.
const MOST_REVISIONS: u32 = 100;
/// Rows of the audit that are read for them.
const MOST_ROWS: u32 = 500;

/// Who publishes.
#[derive(Debug, Clone)]
pub struct Approver {
    pub by: By,
    /// The person who acts, by a session or a token; none of a token that is the system's, for which the operator answers.
    pub person: Option<String>,
    /// An administrator's reason to do without a second person.
    pub alone: Option<String>,
}

impl Approver {
    /// A part of the program, or whoever runs it on the machine of the database.
    pub fn system(by: By) -> Self {
        Self {
            by,
            person: None,
            alone: None,
        }
    }
}

/// Keys of the annex that differ and decide.
pub(super) fn deciding(before: Option<&Annex>, after: &Annex) -> Vec<&'static str> {
    let differ = [
        (
            "severity",
            before.and_then(|annex| annex.severity) != after.severity,
        ),
        ("action", before.and_then(|annex| annex.action) != after.action),
        (
            "at_fault",
            before.and_then(|annex| annex.at_fault.as_ref()) != after.at_fault.as_ref(),
        ),
        (
            "harmless",
            before.and_then(|annex| annex.harmless.as_ref()) != after.harmless.as_ref(),
        ),
        (
            "probe",
            before.map(|annex| annex.probe.as_slice()).unwrap_or_default() != after.probe,
        ),
    ];
    differ
        .into_iter()
        .filter(|(_, differs)| *differs)
        .map(|(key, _)| key)
        .collect()
}

/// Refuses to publish what decides a node's verdict by the one who wrote it; gives the reason of an administrator who does so
/// nevertheless.
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
    let before = annex_of(store, id, published).await?;
    let after = annex_of(store, id, Some(revision)).await?;
    let Some(after) = after else { return Ok(None) };
    let keys = deciding(before.as_ref(), &after);
    if keys.is_empty() || was_published(store, id, revision).await? {
        return Ok(None);
    }
    let first = published.filter(|published| *published < revision);
    let first = first.map_or(1, |published| published.0 + 1);
    let first = first.max(revision.0.saturating_sub(MOST_REVISIONS));
    let saved = rows(store, id, "record.save").await?;
    let mut last = before;
    let mut authors = BTreeSet::new();
    for number in first..=revision.0 {
        let this = annex_of(store, id, Some(Revision(number))).await?;
        let Some(this) = this else { continue };
        if !deciding(last.as_ref(), &this).is_empty() {
            authors.extend(author(store, &saved, Revision(number)).await?);
        }
        last = Some(this);
    }
    if !authors.contains(person) {
        return Ok(None);
    }
    match &approver.alone {
        Some(reason) => Ok(Some(reason.clone())),
        None => Err(CurateError::SecondPerson(keys)),
    }
}

async fn annex_of(
    store: &dyn Store,
    id: &RecordId,
    revision: Option<Revision>,
) -> Result<Option<Annex>, StoreError> {
    let Some(revision) = revision else { return Ok(None) };
    let texts = store.revision(id, revision).await?;
    Ok(texts.and_then(|texts| read_annex(&texts.annex).ok()))
}

/// The person who saved a revision: by a session, or with a token of theirs.
async fn author(
    store: &dyn Store,
    saved: &[AuditEntry],
    revision: Revision,
) -> Result<Option<String>, StoreError> {
    let row = saved.iter().find(|row| row.to_revision == Some(revision));
    let Some(by) = row.map(|row| &row.by) else {
        return Ok(None);
    };
    match by.kind {
        ActorKind::Person => Ok(Some(by.id.clone())),
        ActorKind::Token => Ok(store.token(&by.id).await?.and_then(|stored| stored.token.person)),
        ActorKind::System => Ok(None),
    }
}

/// Whether readers saw this revision before: then a second person has seen it, and an emergency may bring it back.
async fn was_published(store: &dyn Store, id: &RecordId, revision: Revision) -> Result<bool, StoreError> {
    let published = rows(store, id, "record.publish").await?;
    Ok(published.iter().any(|row| row.to_revision == Some(revision)))
}

/// The newest rows of the audit that say this of a record.
async fn rows(store: &dyn Store, id: &RecordId, action: &str) -> Result<Vec<AuditEntry>, StoreError> {
    let query = AuditQuery {
        action: Some(action.to_owned()),
        subject: Some(id.to_string()),
        limit: MOST_ROWS,
        ..AuditQuery::default()
    };
    store.audit(&query).await
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn each_of_what_judges_decides_and_nothing_else() {
        let annex = |rest: &str| read_annex(&format!(r#"{{"schema_version": 1{rest}}}"#)).unwrap();
        let plain = annex("");
        for (rest, expected) in [
            (r#", "severity": "info""#, vec!["severity"]),
            (r#", "action": "none""#, vec!["action"]),
            (
                r#", "at_fault": {"who": "gpu", "source": "https://example.org/"}"#,
                vec!["at_fault"],
            ),
            (r#", "harmless": {"unless": "it repeats"}"#, vec!["harmless"]),
            (
                r#", "probe": [{"id": "a", "scope": "report", "when": "true"}]"#,
                vec!["probe"],
            ),
            (r#", "title": "Another title""#, vec![]),
        ] {
            assert_eq!(deciding(Some(&plain), &annex(rest)), expected, "{rest}");
            assert_eq!(deciding(None, &annex(rest)), expected, "{rest}");
        }
    }
}

//! What of a record decides how a node or a text is judged: severity, first action, what is at fault, whether the message is
//! harmless, and rules over reports; of a record that says one of these, also what it recognises. Such a change needs a second
//! person.

use std::collections::BTreeSet;

use kb_core::ids::{RecordId, Revision};
use kb_core::record::Record;

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

/// Keys that differ and decide. Of a record that decides, what it recognises decides as well: with a pattern less it says nothing of a
/// node. More patterns are for the gate.
pub(super) fn deciding(before: Option<&Record>, after: &Record) -> Vec<&'static str> {
    let annex = &after.annex;
    let old = before.map(|record| &record.annex);
    let mut differ = vec![
        ("severity", old.and_then(|old| old.severity) != annex.severity),
        ("action", old.and_then(|old| old.action) != annex.action),
        (
            "at_fault",
            old.and_then(|old| old.at_fault.as_ref()) != annex.at_fault.as_ref(),
        ),
        (
            "harmless",
            old.and_then(|old| old.harmless.as_ref()) != annex.harmless.as_ref(),
        ),
        (
            "probe",
            old.map(|old| old.probe.as_slice()).unwrap_or_default() != annex.probe,
        ),
    ];
    let taken = old
        .map(|old| old.relations.cancels.as_slice())
        .unwrap_or_default();
    let takes_more = is_less(&annex.relations.cancels, taken);
    match before.filter(|before| !decides(before).is_empty()) {
        Some(before) => differ.extend(recognises_less(before, after, takes_more)),
        None => differ.push(("relations", takes_more)),
    }
    differ
        .into_iter()
        .filter(|(_, differs)| *differs)
        .map(|(key, _)| key)
        .collect()
}

/// Keys by which a record decides; without them nothing that it recognises is a verdict.
pub(super) fn decides(record: &Record) -> Vec<&'static str> {
    let annex = &record.annex;
    [
        ("severity", annex.severity.is_some()),
        ("action", annex.action.is_some()),
        ("at_fault", annex.at_fault.is_some()),
        ("harmless", annex.harmless.is_some()),
        ("probe", !annex.probe.is_empty()),
    ]
    .into_iter()
    .filter(|(_, is_there)| *is_there)
    .map(|(key, _)| key)
    .collect()
}

/// What of a record's recognition is gone or narrower.
fn recognises_less(before: &Record, after: &Record, takes_more: bool) -> [(&'static str, bool); 7] {
    let (old, new) = (&before.annex, &after.annex);
    let relations = |record: &Record| {
        let mut relations = record.annex.relations.clone();
        relations.cancels.clear();
        relations
    };
    [
        ("signature", before.document.signature != after.document.signature),
        (
            "regex",
            before.document.regex.is_some() && before.document.regex != after.document.regex,
        ),
        ("codes", is_less(&before.codes(), &after.codes())),
        ("patterns", is_less(&old.patterns, &new.patterns)),
        ("phrases", is_less(&old.phrases, &new.phrases)),
        ("applies_to", is_less(&new.applies_to, &old.applies_to)),
        ("relations", takes_more || relations(before) != relations(after)),
    ]
}

/// Whether something of `before` is not in `after`.
fn is_less<T: PartialEq>(before: &[T], after: &[T]) -> bool {
    before.iter().any(|item| !after.contains(item))
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
    let before = record_of(store, id, published).await?;
    let after = record_of(store, id, Some(revision)).await?;
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
        let this = record_of(store, id, Some(Revision(number))).await?;
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

/// The person who saved a revision: by a session, or with a token of theirs.
async fn author(
    store: &dyn Store,
    saved: &[AuditEntry],
    revision: Revision,
) -> Result<Option<String>, StoreError> {
    match saved.iter().find(|row| row.to_revision == Some(revision)) {
        Some(row) => person_of(store, &row.by).await,
        None => Ok(None),
    }
}

/// The person who acts, by a session or with a token of theirs.
pub(super) async fn person_of(store: &dyn Store, by: &By) -> Result<Option<String>, StoreError> {
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
    use serde_json::{Value, json};

    use super::*;

    fn record(annex: &Value, signature: &str) -> Record {
        let document = json!({
            "id": "cuda/a", "signature": signature, "domain": "cuda", "category": "x", "root_cause": "y", "regex": "one\\s+two",
        });
        let mut whole = json!({"schema_version": 1});
        for (key, value) in annex.as_object().unwrap() {
            whole[key] = value.clone();
        }
        Record::from_texts(document.to_string(), whole.to_string()).unwrap()
    }

    #[test]
    fn each_of_what_judges_decides_and_nothing_else() {
        let plain = record(&json!({}), "s");
        for (annex, expected) in [
            (json!({"severity": "info"}), vec!["severity"]),
            (json!({"action": "none"}), vec!["action"]),
            (
                json!({"at_fault": {"who": "gpu", "source": "https://example.org/"}}),
                vec!["at_fault"],
            ),
            (json!({"harmless": {"unless": "it repeats"}}), vec!["harmless"]),
            (
                json!({"probe": [{"id": "a", "scope": "report", "when": "true"}]}),
                vec!["probe"],
            ),
            (json!({"relations": {"cancels": ["cuda/b"]}}), vec!["relations"]),
            (json!({"title": "Another title"}), vec![]),
        ] {
            let after = record(&annex, "s");
            assert_eq!(deciding(Some(&plain), &after), expected, "{annex}");
            assert_eq!(deciding(None, &after), expected, "{annex}");
        }
    }

    #[test]
    fn what_a_deciding_record_recognises_decides_where_it_becomes_less() {
        let full = json!({
            "severity": "fatal",
            "codes": ["Xid 79"],
            "patterns": [{"id": "a", "regex": "fallen off"}],
        });
        let with = |key: &str, value: Value| {
            let mut annex = full.clone();
            annex[key] = value;
            annex
        };
        let before = record(&full, "s");
        for (annex, signature, expected) in [
            (with("codes", json!([])), "s", vec!["codes"]),
            (with("patterns", json!([])), "s", vec!["patterns"]),
            (
                with("patterns", json!([{"id": "a", "regex": "fallen off a cliff"}])),
                "s",
                vec!["patterns"],
            ),
            (
                with(
                    "applies_to",
                    json!([{"component": "driver", "introduced": "999"}]),
                ),
                "s",
                vec!["applies_to"],
            ),
            (
                with("relations", json!({"only_alone": true})),
                "s",
                vec!["relations"],
            ),
            (full.clone(), "another", vec!["signature"]),
            (with("codes", json!(["Xid 79", "Xid 1079"])), "s", vec![]),
        ] {
            let after = record(&annex, signature);
            assert_eq!(deciding(Some(&before), &after), expected, "{annex}");
        }
        // Where nothing is decided, nothing of it is.
        let plain = record(&json!({"codes": ["Xid 79"]}), "s");
        assert_eq!(
            deciding(Some(&plain), &record(&json!({}), "s")),
            Vec::<&str>::new()
        );
    }
}

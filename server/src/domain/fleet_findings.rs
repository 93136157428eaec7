//! Findings of a node with a life: whether they are new, go on or are over, and what people do about them.

use kb_core::ids::NodeId;
use time::{Duration, OffsetDateTime};

use crate::store::{FindingChange, FindingStep, HandlingKind, NodeFinding, NodeStore, StoreError};

pub const NOTE_CHARACTERS: usize = 1_000;
pub const OWNER_CHARACTERS: usize = 200;
/// Longest time for which a finding is silenced, in days.
pub const SILENCE_DAYS: i64 = 365;

/// Where a finding stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingState {
    /// One run has shown it since it was over last, and nobody has said anything.
    New,
    /// Several runs have.
    Ongoing,
    /// Somebody knows of it.
    Acknowledged,
    /// It is open, and nobody needs to be told for a time.
    Silenced,
    /// Neither the report that stands nor the latest shows it.
    Resolved,
}

impl FindingState {
    pub const ALL: [Self; 5] = [
        Self::New,
        Self::Ongoing,
        Self::Acknowledged,
        Self::Silenced,
        Self::Resolved,
    ];

    /// The word that the API uses.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Ongoing => "ongoing",
            Self::Acknowledged => "acknowledged",
            Self::Silenced => "silenced",
            Self::Resolved => "resolved",
        }
    }

    pub fn of(finding: &NodeFinding, now: OffsetDateTime) -> Self {
        if !finding.is_open {
            return Self::Resolved;
        }
        if let Some(handling) = &finding.handling {
            match handling.kind {
                HandlingKind::Silenced(until) if until > now => return Self::Silenced,
                // What was acknowledged and came again after it was over is news.
                HandlingKind::Acknowledged if handling.at >= finding.opened_at => return Self::Acknowledged,
                _ => {}
            }
        }
        if finding.opened_at == finding.last_at {
            Self::New
        } else {
            Self::Ongoing
        }
    }
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum HandleError {
    #[error("node {0} shows nothing of the name {1:?}, and did not lately")]
    Nothing(NodeId, String),
    #[error("a note has at most {NOTE_CHARACTERS} printable characters")]
    Note,
    #[error("an owner's name has 1 to {OWNER_CHARACTERS} printable characters")]
    Owner,
    #[error("until must lie in the future, and at most {SILENCE_DAYS} days from now")]
    Until,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Carries a step out.
pub async fn change(store: &dyn NodeStore, mut change: FindingChange) -> Result<(), HandleError> {
    match &mut change.step {
        FindingStep::Acknowledge { note } => check_note(note)?,
        FindingStep::Silence { until, note } => {
            check_note(note)?;
            let latest = change.at.saturating_add(Duration::days(SILENCE_DAYS));
            if *until <= change.at || *until > latest {
                return Err(HandleError::Until);
            }
        }
        FindingStep::Own(Some(owner)) => {
            *owner = owner.trim().to_owned();
            if !is_good(owner, OWNER_CHARACTERS) || owner.is_empty() {
                return Err(HandleError::Owner);
            }
        }
        FindingStep::Release | FindingStep::Own(None) => {}
    }
    let (node, name) = (change.node.clone(), change.name.clone());
    if store.change_finding(change).await? {
        Ok(())
    } else {
        Err(HandleError::Nothing(node, name))
    }
}

fn check_note(note: &mut Option<String>) -> Result<(), HandleError> {
    *note = note
        .as_deref()
        .map(str::trim)
        .filter(|note| !note.is_empty())
        .map(str::to_owned);
    match note {
        Some(note) if !is_good(note, NOTE_CHARACTERS) => Err(HandleError::Note),
        _ => Ok(()),
    }
}

fn is_good(text: &str, most: usize) -> bool {
    text.chars().count() <= most
        && !text
            .chars()
            .any(|character| character.is_control() && character != '\n')
}

#[cfg(test)]
mod tests {
    use kb_core::report::Bearing;

    use super::*;
    use crate::store::Handling;

    fn finding(is_open: bool, opened: i64, last: i64, handling: Option<(HandlingKind, i64)>) -> NodeFinding {
        let at = |second| OffsetDateTime::UNIX_EPOCH + Duration::seconds(second);
        NodeFinding {
            name: "xid/79".to_owned(),
            record: None,
            rule: String::new(),
            title: String::new(),
            subjects: 1,
            severity: None,
            action: None,
            bearing: Bearing::Fault,
            simulated: false,
            is_open,
            first_at: at(0),
            opened_at: at(opened),
            last_at: at(last),
            ended_at: None,
            reports: 1,
            by_policy: None,
            owner: None,
            handling: handling.map(|(kind, second)| Handling {
                kind,
                note: None,
                by: "ada".to_owned(),
                at: at(second),
            }),
        }
    }

    #[test]
    fn a_silence_ends_by_itself_and_an_acknowledgement_with_the_fault() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::seconds(100);
        let until = |second| HandlingKind::Silenced(OffsetDateTime::UNIX_EPOCH + Duration::seconds(second));
        let known = HandlingKind::Acknowledged;
        for (finding, expected) in [
            (finding(true, 50, 50, None), FindingState::New),
            (finding(true, 50, 60, None), FindingState::Ongoing),
            (finding(false, 50, 60, None), FindingState::Resolved),
            (
                finding(true, 50, 60, Some((known, 55))),
                FindingState::Acknowledged,
            ),
            (finding(true, 50, 60, Some((known, 45))), FindingState::Ongoing),
            (finding(true, 50, 50, Some((known, 45))), FindingState::New),
            (
                finding(true, 50, 60, Some((until(101), 45))),
                FindingState::Silenced,
            ),
            (
                finding(true, 50, 60, Some((until(100), 45))),
                FindingState::Ongoing,
            ),
            (
                finding(false, 50, 60, Some((until(101), 45))),
                FindingState::Resolved,
            ),
        ] {
            assert_eq!(FindingState::of(&finding, now), expected, "{finding:?}");
        }
    }
}

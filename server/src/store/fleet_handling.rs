//! What people do about what a node shows. It changes no verdict and no count.

use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::By;

/// What was done about a finding last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handling {
    pub kind: HandlingKind,
    pub note: Option<String>,
    /// Name of who did it.
    pub by: String,
    pub at: OffsetDateTime,
}

impl Handling {
    /// Whether it counts at a time, for a finding that began then.
    pub fn holds(&self, opened_at: OffsetDateTime, now: OffsetDateTime) -> bool {
        match self.kind {
            HandlingKind::Acknowledged => self.at >= opened_at,
            HandlingKind::Silenced(until) => until > now,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlingKind {
    /// Somebody knows of it, for as long as it stays open.
    Acknowledged,
    /// Nobody needs to be told until then.
    Silenced(OffsetDateTime),
}

/// A step with a finding of a node.
#[derive(Debug, Clone)]
pub struct FindingChange {
    pub node: NodeId,
    /// Name of the finding on its node.
    pub name: String,
    pub step: FindingStep,
    pub by: By,
    pub at: OffsetDateTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindingStep {
    Acknowledge {
        note: Option<String>,
    },
    Silence {
        until: OffsetDateTime,
        note: Option<String>,
    },
    /// Neither acknowledged nor silenced any more.
    Release,
    /// To somebody, or to nobody again.
    Own(Option<String>),
}

impl FindingStep {
    pub fn action(&self) -> &'static str {
        match self {
            Self::Acknowledge { .. } => "finding.acknowledge",
            Self::Silence { .. } => "finding.silence",
            Self::Release => "finding.release",
            Self::Own(_) => "finding.own",
        }
    }
}

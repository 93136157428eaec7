//! How a report was held against the others of its node, and by what a stored one was judged.

use kb_core::ids::ReportId;

use super::{Causes, NewFinding, Proofs, ReportListing, Weight};

/// What decided about a stored report, and what it tells by that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedBy {
    pub report: ReportListing,
    /// Version of the records and the policy; empty where that was not noted.
    pub rule_set: String,
    /// What is open of it; `None` where nothing is.
    pub open: Option<Causes>,
    /// Whether it tells of its node, as [`super::ReportStore::judge_again`] says.
    pub tells: bool,
}

/// How a report was held against the node's others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// Reports that the node had then. With another number it is held against them again: [`super::ReportSaved::Overtaken`].
    pub reports: u32,
    /// How often reports of the node had been judged anew then. With another number it is held against them again, too.
    pub judged_anew: u32,
    /// Later proofs of health that turn out to be none beside this report.
    pub refuted: Vec<Refuted>,
    /// A fault that came late: a later report shows that it is over, or tells the same.
    pub is_over: bool,
    /// Reports whose faults are over with it, or are told again by it.
    pub ends: Vec<ReportId>,
    /// Reports whose faults are over with it, and what they warned of is not, each with the reason.
    pub warns: Vec<(ReportId, String)>,
    /// Open faults of which it is known now by what names they are told.
    pub named: Vec<(ReportId, Causes)>,
}

impl Judged {
    /// Of a report that is held against what was read of its node.
    pub fn beside(known: &Proofs) -> Self {
        Self {
            reports: known.reports,
            judged_anew: known.judged_anew,
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refuted {
    pub id: ReportId,
    /// What it is worth instead.
    pub weight: Weight,
    pub reason: String,
    /// What it tells of, where it is worth an alarm.
    pub causes: Causes,
    pub finding: Option<NewFinding>,
    /// An alarm that a still later report shows to be over, or tells again.
    pub is_over: bool,
}

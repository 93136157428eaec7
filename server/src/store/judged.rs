//! How a report was held against the others of its node, and by what a stored one was judged.

use kb_core::ids::ReportId;
use kb_core::verdict::Verdict;

use super::{Causes, NewFinding, Proofs, ReportListing, Weight};

/// What decided about a stored report, and what it tells by that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedBy {
    pub report: ReportListing,
    /// Version of the records and the policy; empty where that was not noted.
    pub rule_set: String,
    /// What is open of it; `None` where nothing is.
    pub open: Option<Causes>,
    /// What was over of it but for its warnings when other rules took it away.
    pub ended: Option<Ended>,
    /// Whether it tells of its node, as [`super::ReportStore::judge_again`] says.
    pub tells: bool,
}

/// What a report told and is over, but for what it warned of: [`Causes::only_warns`] says why that is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The verdict of the whole.
    pub verdict: Verdict,
    pub causes: Causes,
}

impl Ended {
    /// Whether a report with this verdict and these causes tells no more than what was over.
    pub fn covers(&self, verdict: Verdict, causes: &Causes) -> bool {
        verdict <= self.verdict && causes.are_among(&self.causes)
    }
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

//! What a later report leaves of an earlier one: a fault and the warnings beside it end each by a rule of its own.

use std::sync::Arc;

use kb_core::ids::NodeId;
use kb_core::policy::Policy;
use kb_core::report::Report;
use kb_core::verdict::{Verdict, unproven};

use super::IngestError;
use super::ends::{leaves_open, leaves_states_open};
use super::log_read::{is_told_by_kernel, unread_logs};
use super::over::leaves_alarm_open;
use super::past::{Past, policy_for, verdict_of};
use super::seen_again::leaves_warning_open;
use super::warned::Warned;
use crate::domain::policy::Site;
use crate::store::Causes;

pub(super) enum Left {
    Nothing,
    /// The fault is over, and what was warned of beside it is not, with the reason.
    Warning(String),
    All(String),
}

/// A report that told of something.
pub(super) struct Told {
    pub(super) body: Arc<Report>,
    verdict: Verdict,
    /// Names of its causes.
    pub(super) causes: Vec<String>,
    /// The run that a later look's ledger names as its last proof.
    proof: Option<Arc<Report>>,
}

impl Told {
    pub(super) fn of(body: &Arc<Report>, verdict: Verdict, causes: &Causes) -> Self {
        Self {
            body: Arc::clone(body),
            verdict,
            causes: causes.names.clone(),
            proof: None,
        }
    }

    /// The same beside a look: the run that its ledger names is read where a kernel log told of something.
    pub(super) async fn beside_look(
        mut self,
        past: &Past<'_>,
        (node, look): (&NodeId, &Report),
    ) -> Result<Self, IngestError> {
        if is_told_by_kernel(&self.causes) {
            self.proof = past.last_proof(node, look).await?;
        }
        Ok(self)
    }
}

/// What a proof of health leaves of a report with this verdict.
pub(super) fn by_proof(site: &Site, told: &Told, proof: &Report) -> Left {
    let (body, verdict, causes) = (told.body.as_ref(), told.verdict, told.causes.as_slice());
    let policy = policy_for(site, body);
    if verdict != Verdict::Degraded {
        let open = leaves_open(body, proof).or_else(|| unread_logs(causes, body, proof));
        return open.map_or_else(|| beside(body, proof, &policy), Left::All);
    }
    let is_warned = verdict_of(site, body, verdict) == Verdict::Degraded;
    unproven(proof)
        .or_else(|| leaves_states_open(body, proof))
        .or_else(|| unread_logs(causes, body, proof))
        .or_else(|| leaves_warning_open(body, proof, &policy).filter(|_| is_warned))
        .map_or(Left::Nothing, Left::All)
}

/// What a look leaves of it.
pub(super) fn by_look(site: &Site, told: &Told, look: &Report) -> Left {
    let (body, causes) = (told.body.as_ref(), told.causes.as_slice());
    let policy = policy_for(site, body);
    let verdict = verdict_of(site, body, told.verdict);
    let told = (verdict, causes, told.proof.as_deref());
    let open = leaves_alarm_open(body, told, look, &policy);
    match open.or_else(|| unread_logs(causes, body, look)) {
        Some(why) => Left::All(why),
        None if verdict <= Verdict::Degraded => Left::Nothing,
        None => beside(body, look, &policy),
    }
}

fn beside(body: &Report, later: &Report, policy: &Policy) -> Left {
    if Warned::of(body, policy).is_empty() {
        return Left::Nothing;
    }
    leaves_warning_open(body, later, policy).map_or(Left::Nothing, Left::Warning)
}

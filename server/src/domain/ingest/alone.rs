//! What a report tells by itself, by one policy. Verdict and findings are made together, so that they are of the same rules: when the
//! report comes, when other rules count, and when it is asked what a policy would have said.

use kb_core::health::report_by;
use kb_core::policy::Policy;
use kb_core::report::Report;
use kb_core::text::Json;
use kb_core::verdict::{Verdict, contradiction_by};
use time::OffsetDateTime;

use super::weight::{CONVERTED, weigh};
use super::{causes, claim, logged};
use crate::domain::correlate::Correlator;
use crate::feed::Generation;
use crate::store::{Causes, NewFinding, Weight};

/// What a report is worth before it is held against the node's others.
#[derive(Debug, Clone)]
pub(in crate::domain) struct Alone {
    pub(in crate::domain) verdict: Verdict,
    pub(in crate::domain) reason: String,
    pub(in crate::domain) weight: Weight,
    pub(in crate::domain) findings: Vec<NewFinding>,
    /// Names of the causes that its logs told.
    pub(in crate::domain) names: Vec<String>,
}

impl Alone {
    /// All that it tells against its node, by names, as they are kept where it is open.
    pub(in crate::domain) fn causes(&self, report: &Report, policy: &Policy) -> Causes {
        let mut names = causes::names(report, (self.weight, self.verdict), &self.findings, policy);
        names.extend(self.names.iter().cloned());
        Causes {
            names,
            ..Causes::default()
        }
    }
}

/// Judges a report by a policy. `body` is its JSON as sent; `at`: when it came. The report is then as an agent with this policy would have
/// written it.
///
/// This computes; call it off the async threads.
pub(in crate::domain) fn judge_alone(
    generation: &Generation,
    correlator: &Correlator,
    (report, body): (&mut Report, &Json),
    (policy, at): (&Policy, OffsetDateTime),
) -> Alone {
    report_by(policy, report, at);
    let report = &*report;
    let contradiction = contradiction_by(report, policy);
    let judged = (policy, contradiction.as_ref());
    let findings = correlator.correlate_judged(generation, (report, body), judged);
    let claim = claim::told_beside(report, contradiction);
    let mut weight = weigh(report, &claim);
    let (mut verdict, mut reason) = (claim.verdict, claim.reason);
    let may_be_logged = verdict < Verdict::Unknown && !report.host.contains_key(CONVERTED);
    let fault = may_be_logged.then(|| logged::fault(generation, report, policy));
    let fault = fault.flatten();
    let names = logged::told(generation, (report, policy), &findings, fault);
    if let Some(fault) = fault {
        let (claimed, id) = (verdict.phrase(), fault.id());
        reason = format!("the report says {claimed}, and its kernel log tells of {id} during the run");
        verdict = Verdict::Unknown;
        weight = Weight::Alarm;
    }
    if let Some((worst, id)) = logged::worst(report, &findings).filter(|(worst, _)| *worst > verdict) {
        let said = report.conclusion.verdict.phrase();
        reason = format!("the report says {said}, and a log in it tells of {id}");
        // A run that was good but for a warning is a proof of what it tried.
        if worst > Verdict::Degraded || weight == Weight::Look {
            weight = Weight::Alarm;
        }
        verdict = worst;
    }
    Alone {
        verdict,
        reason,
        weight,
        findings,
        names,
    }
}

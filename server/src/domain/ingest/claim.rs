//! What a report may be taken to say: its own verdict, unless its content does not bear that out.

use kb_core::policy::Policy;
use kb_core::report::Report;
use kb_core::verdict::{Verdict, contradiction_by, unproven, unread_states};

use crate::domain::policy::said_of_run;

pub(super) struct Claim {
    /// The verdict that the server gives the report.
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    /// Whether the report's content speaks against its own verdict.
    pub(super) is_contradicted: bool,
    /// Whether its checks were found to show that all of its GPUs work with each other; else that was not asked, or is not so.
    pub(super) is_proven: bool,
}

/// Content that contradicts the report's own verdict decides; a report that says healthy without the checks that show it is unknown.
pub(super) fn told(report: &Report, policy: &Policy) -> Claim {
    told_beside(report, contradiction_by(report, policy))
}

/// The same where it is known what in the report speaks against its verdict.
pub(super) fn told_beside(report: &Report, contradiction: Option<(Verdict, String)>) -> Claim {
    let conclusion = &report.conclusion;
    let claimed = conclusion.verdict.phrase();
    if let Some((verdict, why)) = contradiction {
        return Claim {
            verdict,
            reason: format!("the report says {claimed}, and shows otherwise: {why}"),
            is_contradicted: true,
            is_proven: false,
        };
    }
    let why = match conclusion.verdict {
        Verdict::Healthy => unproven(report),
        Verdict::NoFaultSeen => unseen(report),
        _ => None,
    };
    let is_proven = conclusion.verdict == Verdict::Healthy && why.is_none();
    let (verdict, reason) = if let Some(why) = why {
        let reason = format!("the report says {claimed}, and does not show it: {why}");
        (Verdict::Unknown, reason)
    } else {
        let milder = said_of_run(report).map_or_else(String::new, |told| format!("{told}; "));
        (conclusion.verdict, format!("{milder}{}", conclusion.reason))
    };
    Claim {
        verdict,
        reason,
        is_contradicted: false,
        is_proven,
    }
}

fn unseen(report: &Report) -> Option<String> {
    if report.gpus.is_empty() {
        return Some("it lists no GPU".to_owned());
    }
    if let Some(failure) = report.failures.first() {
        return Some(format!("{}: {}", failure.step, failure.message));
    }
    unread_states(report)
}

#[cfg(test)]
mod tests;

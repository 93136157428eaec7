//! What was done after a node would have been drained, and what that showed.

use kb_core::verdict::{ExitCode, Verdict};
use serde::Serialize;
use time::OffsetDateTime;

use super::history::Told;
use crate::store::Weight;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Outcome {
    /// A proof or an admission failed later, or a GPU was exchanged.
    Confirmed { why: String },
    /// The node was admitted without a GPU having been exchanged or the node booted anew.
    Contradicted { why: String },
    /// Nothing was done that would tell.
    Untold,
}

/// Of a drain by the report at this place. What came first counts.
pub(super) fn of(told: &[Told], drained: usize, exchanged: &[OffsetDateTime]) -> Outcome {
    let Some(drain) = told.get(drained) else {
        return Outcome::Untold;
    };
    let confirmed = |why: &str| Outcome::Confirmed { why: why.to_owned() };
    // What the run itself proved needs no other.
    if is_failed_proof(drain) {
        return confirmed("the proof itself failed");
    }
    let exchange = exchanged.iter().copied().filter(|at| *at >= drain.at).min();
    for later in told.iter().skip(drained + 1) {
        if exchange.is_some_and(|at| at <= later.at) {
            return confirmed("a GPU of the node was exchanged");
        }
        if is_failed_proof(later) {
            return confirmed("a later proof failed");
        }
        match &later.admission {
            Some(Err(why)) if later.by_records.verdict > Verdict::Unknown => {
                return Outcome::Confirmed {
                    why: format!("an admission found something: {why}"),
                };
            }
            Some(Ok(())) if later.boot == drain.boot && drain.boot.is_some() => {
                return Outcome::Contradicted {
                    why: "the node was admitted in the same boot, with the same GPUs".to_owned(),
                };
            }
            _ => {}
        }
    }
    if exchange.is_some() {
        return confirmed("a GPU of the node was exchanged");
    }
    Outcome::Untold
}

fn is_failed_proof(told: &Told) -> bool {
    told.weight == Weight::Proof && ExitCode::of(told.by_records.verdict) == ExitCode::Fault
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::super::Judged;
    use super::*;
    use crate::store::Causes;

    fn told(
        minute: i64,
        weight: Weight,
        verdict: Verdict,
        admission: Option<Result<(), &str>>,
        boot: &str,
    ) -> Told {
        let judged = Judged {
            verdict,
            action: None,
        };
        Told {
            at: OffsetDateTime::UNIX_EPOCH + Duration::minutes(minute),
            weight,
            judged: [judged, judged],
            causes: [Causes::default(), Causes::default()],
            by_records: judged,
            admission: admission.map(|admitted| admitted.map_err(str::to_owned)),
            boot: Some(boot.to_owned()),
        }
    }

    #[test]
    fn what_was_done_first_tells() {
        let drain = || told(0, Weight::Alarm, Verdict::Broken, None, "a");
        let look = || told(1, Weight::Look, Verdict::NoFaultSeen, None, "a");
        let failed = || told(2, Weight::Proof, Verdict::Broken, None, "a");
        let passed = |boot| told(3, Weight::Proof, Verdict::Healthy, Some(Ok(())), boot);
        let found = || {
            told(
                4,
                Weight::Look,
                Verdict::Broken,
                Some(Err("wrong_arithmetic: x")),
                "b",
            )
        };
        let is = |told: &[Told], exchanged: &[i64]| {
            let exchanged: Vec<OffsetDateTime> = exchanged
                .iter()
                .map(|at| OffsetDateTime::UNIX_EPOCH + Duration::minutes(*at))
                .collect();
            match of(told, 0, &exchanged) {
                Outcome::Confirmed { .. } => "confirmed",
                Outcome::Contradicted { .. } => "contradicted",
                Outcome::Untold => "untold",
            }
        };
        assert_eq!(is(&[drain()], &[]), "untold");
        assert_eq!(is(&[drain(), look()], &[]), "untold");
        assert_eq!(is(&[failed()], &[]), "confirmed");
        assert_eq!(is(&[drain(), failed(), passed("a")], &[]), "confirmed");
        assert_eq!(is(&[drain(), passed("a"), failed()], &[]), "contradicted");
        // Whether the reboot or the admission helped is not known.
        assert_eq!(is(&[drain(), passed("b")], &[]), "untold");
        assert_eq!(is(&[drain(), found()], &[]), "confirmed");
        assert_eq!(is(&[drain(), look()], &[5]), "confirmed");
        assert_eq!(
            is(&[drain(), passed("a")], &[2]),
            "confirmed",
            "exchanged before it was admitted"
        );
        assert_eq!(is(&[drain(), look()], &[-1]), "untold", "before the drain");
    }
}

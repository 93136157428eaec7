//! From the pairs of a run to its one line and its exit code.

use super::Verdict;
use crate::report::{Conclusion, Failure, Gpu, Pair};

/// What a run fails of for the caller; all else is mapped to 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    /// Only a fault (2).
    Fault,
    /// A warning or a fault (1, 2).
    Warning,
    /// A run that could not tell, too (1, 2, 3).
    Unknown,
}

impl FailOn {
    /// The exit code that the caller gets: of the worst verdict of the run and of its pairs that the caller minds.
    /// A pair that could not be told does not hide a warning about another.
    pub fn exit_code(self, conclusion: &Conclusion, pairs: &[Pair]) -> u8 {
        let verdicts = pairs.iter().map(|pair| pair.verdict.verdict);
        let minded = verdicts
            .chain([conclusion.verdict])
            .filter(|verdict| self.minds(*verdict));
        minded.max().map_or(0, Verdict::exit_code)
    }

    fn minds(self, verdict: Verdict) -> bool {
        match self {
            Self::Fault => verdict.exit_code() == 2,
            Self::Warning => matches!(verdict.exit_code(), 1 | 2),
            Self::Unknown => verdict.exit_code() != 0,
        }
    }
}

/// The worst verdict of the run, its exit code and one sentence.
///
/// A failure of the run as a whole makes it at least [`Verdict::Unknown`], and so does having no pair to prove.
pub fn judge_run(gpus: &[Gpu], pairs: &[Pair], failures: &[Failure]) -> Conclusion {
    let worst = pairs.iter().max_by_key(|pair| pair.verdict.verdict);
    let worst_verdict = worst.map_or(Verdict::Unknown, |pair| pair.verdict.verdict);
    let failure = failures.first();
    let verdict = match failure {
        Some(_) => worst_verdict.max(Verdict::Unknown),
        None => worst_verdict,
    };
    let failure_leads = worst_verdict < Verdict::Unknown || pairs.is_empty();
    let reason = match (failure, worst) {
        (Some(failure), _) if failure_leads => format!("{}: {}", failure.step, failure.message),
        (_, Some(pair)) => pairs_reason(pair, pairs),
        (_, None) => match gpus {
            [] => "the driver lists no GPU".to_owned(),
            [_] => "one GPU, so there is no pair to prove".to_owned(),
            _ => "no pair was looked at".to_owned(),
        },
    };
    Conclusion {
        verdict,
        exit_code: verdict.exit_code(),
        reason,
    }
}

fn pairs_reason(worst: &Pair, pairs: &[Pair]) -> String {
    let verdict = worst.verdict.verdict;
    let alike = pairs
        .iter()
        .filter(|pair| pair.verdict.verdict == verdict)
        .count();
    let total = pairs.len();
    let noun = if total == 1 { "pair" } else { "pairs" };
    if verdict == Verdict::Healthy {
        let rungs: Vec<String> = proven_by_all(pairs).iter().map(u8::to_string).collect();
        return format!(
            "{total} {noun} proven in both directions by rungs {}",
            rungs.join(", ")
        );
    }
    let first = pairs
        .iter()
        .find(|pair| pair.verdict.verdict == verdict)
        .unwrap_or(worst);
    let cause = first.verdict.cause.as_deref().unwrap_or("no cause named");
    format!(
        "{alike} of {total} {noun} {}; GPU {} and GPU {}: {cause}: {}",
        verdict.word(),
        first.a,
        first.b,
        first.verdict.reason
    )
}

fn proven_by_all(pairs: &[Pair]) -> Vec<u8> {
    let by_all = |rung: &u8| pairs.iter().all(|pair| pair.verdict.proven_rungs.contains(rung));
    (1..=7).filter(by_all).collect()
}

//! What a report's own content says against the verdict that stands in it, by the rules that agents judge by.

use super::by_policy::{bad_states, of_cause as bearing_of_cause, verdict_of};
use super::consistency::{lost_gpu, one_gpu_twice, passed_with_error};
use super::exit::claimed_by;
use super::expect::Expect;
use super::logged::{logged, untested};
use super::remapped::remapped;
use super::run::judge_by;
use super::{Verdict, table};
use crate::observation::{Look, canonical, cause, open_entry};
use crate::policy::Policy;
use crate::report::{Bearing, Pair, Report, Shape, fact_name};

/// What the report shows that is worse than its verdict, with the reason; `None` where nothing in it speaks against that.
/// What is only not proven is a matter of [`super::unproven`].
pub fn contradiction(report: &Report) -> Option<(Verdict, String)> {
    contradiction_by(report, &Policy::default())
}

/// The same by the site's policy, which the report's ledger has been judged by.
pub fn contradiction_by(report: &Report, policy: &Policy) -> Option<(Verdict, String)> {
    let claimed = report.conclusion.verdict;
    if claimed > Verdict::Unknown {
        return None;
    }
    // A look tries no pair, and what would be refused is no fault of it.
    let is_run = claimed != Verdict::NoFaultSeen || report.was_tried();
    let found = [
        wrong_data(report),
        lost_gpu(report),
        one_gpu_twice(report),
        passed_with_error(report),
        open_beside(report),
        unnamed_fault(report),
        logged(report, policy),
        untested(report),
        bad_state(report, policy),
        remapped(report, policy),
        unreadable(report),
        of_checks(report, policy).filter(|_| is_run),
        worst_pair(report).filter(|(verdict, _)| is_run || *verdict == Verdict::Broken),
        expectation(report),
        of_exit_code(report),
    ];
    // The first of the worst.
    let found = found.into_iter().flatten().rev();
    found
        .filter(|(verdict, _)| *verdict > claimed.max(Verdict::NoFaultSeen))
        .max_by_key(|(verdict, _)| *verdict)
}

/// A fault, or else a warning, that the node's ledger holds open beside what was tried.
fn open_beside(report: &Report) -> Option<(Verdict, String)> {
    let (verdict, entry) = open_entry(report)?;
    let told = format!("{} is open on {}: {}", entry.cause, entry.device, entry.text);
    Some((verdict, told))
}

/// A fault that the report's section on health claims and does not name. One that it names may be of other GPUs.
fn unnamed_fault(report: &Report) -> Option<(Verdict, String)> {
    let health = report.health.as_ref()?;
    let names_fault = health.open.iter().any(|entry| entry.bearing == Bearing::Fault);
    let is_unnamed = health.verdict == Verdict::Broken && !names_fault;
    is_unnamed.then(|| (Verdict::Broken, "its section on health says broken".to_owned()))
}

fn bad_state(report: &Report, policy: &Policy) -> Option<(Verdict, String)> {
    let look = Look::of(report);
    let bad = bad_states(report, &look, policy);
    let of = |wanted: Bearing| bad.iter().find(|(_, bearing, _)| *bearing == wanted);
    if let Some((cause, _, text)) = of(Bearing::Fault) {
        return Some((Verdict::Broken, format!("{cause}: {text}")));
    }
    // What a warning means for a run is judged with its pairs.
    let warning = of(Bearing::Warning).filter(|_| report.conclusion.verdict == Verdict::NoFaultSeen);
    if let Some((cause, _, text)) = warning {
        return Some((Verdict::Degraded, format!("{cause}: {text}")));
    }
    let risen = fact_name::during(fact_name::ECC_VOLATILE_UNCORRECTED);
    let since_boot = fact_name::ECC_VOLATILE_UNCORRECTED.to_owned();
    // Errors before the run are the ledger's: it knows which were cleared. Where none was kept, they count.
    let counted = match report.health {
        Some(_) => vec![(risen, "during the run")],
        None => vec![(risen, "during the run"), (since_boot, "since its boot")],
    };
    let mut gpus = report.gpus.iter().enumerate();
    gpus.find_map(|(index, gpu)| {
        counted.iter().find_map(|(name, when)| {
            let errors = gpu.facts.get(name)?.value.as_ref()?.as_u64()?;
            let told = format!("GPU {index} had {errors} uncorrected memory errors {when}");
            let device = gpu
                .pci_address
                .value
                .as_deref()
                .map(canonical)
                .unwrap_or_default();
            let counted = (cause::ECC_UNCORRECTED, device.as_str());
            let verdict = verdict_of(bearing_of_cause(report, policy, counted, Bearing::Fault))?;
            (errors > 0).then_some((verdict, told))
        })
    })
}

/// A fact of a GPU's health whose value is not of the fact's type: what it would say is not known.
fn unreadable(report: &Report) -> Option<(Verdict, String)> {
    report.gpus.iter().enumerate().find_map(|(index, gpu)| {
        let mut facts = gpu.facts.iter();
        facts.find_map(|(name, fact)| {
            let (value, shape) = (fact.value.as_ref()?, Shape::of(name)?);
            let told = || {
                let should_be = shape.words();
                format!("{name} of GPU {index} is not {should_be}, so that nothing is known of it")
            };
            (!shape.fits(value)).then(|| (Verdict::Unknown, told()))
        })
    })
}

fn of_checks(report: &Report, policy: &Policy) -> Option<(Verdict, String)> {
    // That a refusal is expected is for what is expected to say, and not for the pair.
    let has_excuse = report.pairs.iter().any(|pair| pair.verdict.information);
    if !report.was_tried() && !has_excuse {
        return None;
    }
    let judged = judged(report, policy);
    let verdict = judged.conclusion.verdict;
    // What is not proven by today's rules may have been enough for the agent that wrote it.
    (verdict != Verdict::Unknown).then_some((verdict, judged.conclusion.reason))
}

/// The report as the rules of today and the policy judge it, whatever its sender concluded.
pub fn judged(report: &Report, policy: &Policy) -> Report {
    let mut judged = report.clone();
    judge_by(&mut judged, expect(report).unwrap_or_default(), policy);
    judged
}

/// Data that differed, whatever the check calls it: wrong once is wrong.
fn wrong_data(report: &Report) -> Option<(Verdict, String)> {
    report.pairs.iter().find_map(|pair| {
        let mut checks = pair.directions.iter().flat_map(|direction| &direction.checks);
        let (check, mismatch) = checks.find_map(|check| {
            let mismatch = check.mismatch.as_ref().filter(|mismatch| mismatch.words > 0)?;
            Some((check, mismatch))
        })?;
        let told = format!(
            "GPU {} and GPU {}: {} wrong words in {}",
            pair.a, pair.b, mismatch.words, check.name
        );
        Some((Verdict::Broken, told))
    })
}

fn worst_pair(report: &Report) -> Option<(Verdict, String)> {
    // What is not told of a pair is a matter of what is proven.
    let told = |pair: &&Pair| {
        let is_told = pair.verdict.verdict != Verdict::Unknown || of_cause(pair) > Verdict::Unknown;
        !pair.verdict.information && is_told
    };
    let counting = report.pairs.iter().filter(told);
    let worst = counting.max_by_key(|pair| pair.verdict.verdict.max(of_cause(pair)))?;
    let verdict = worst.verdict.verdict.max(of_cause(worst));
    let cause = worst.verdict.cause.as_deref();
    let told = format!(
        "GPU {} and GPU {}: {}: {}",
        worst.a,
        worst.b,
        cause
            .filter(|_| verdict != worst.verdict.verdict)
            .unwrap_or(verdict.word()),
        worst.verdict.reason
    );
    Some((verdict, told))
}

/// The fault that the cause of a pair is the name of; healthy where it is none.
fn of_cause(pair: &Pair) -> Verdict {
    let cause = pair.verdict.cause.as_deref();
    let named = cause.and_then(|cause| table().find(|named| named.cause == cause));
    let verdict = named.map(|named| named.verdict);
    verdict
        .filter(|verdict| *verdict > Verdict::Unknown)
        .unwrap_or(Verdict::Healthy)
}

/// What was expected: more GPUs than there are, or what nobody can read.
fn expectation(report: &Report) -> Option<(Verdict, String)> {
    let has = report.gpus.len();
    if let Some(expected) = report
        .host
        .get(fact_name::EXPECTED_GPUS)
        .and_then(|fact| fact.value.as_ref())
    {
        match expected.as_u64().map(usize::try_from) {
            Some(Ok(number)) if number <= has => {}
            Some(_) => {
                let told = format!("it shows {has} GPUs of {expected} expected");
                return Some((Verdict::Broken, told));
            }
            None => {
                let told = format!("{expected} is no number of GPUs that can be read");
                return Some((Verdict::Unknown, told));
            }
        }
    }
    let expected = report.conclusion.expect.as_deref()?;
    let mut unread = None;
    for part in expected.split(',') {
        match part.trim().split_once('=') {
            Some(("p2p", word)) if Expect::ALL.into_iter().any(|(_, known)| known == word) => {}
            Some(("gpus", number)) if number.parse::<usize>().is_ok_and(|number| number <= has) => {}
            Some(("gpus", number)) if number.parse::<usize>().is_ok() => {
                let told = format!("it shows {has} GPUs of {number} expected");
                return Some((Verdict::Broken, told));
            }
            _ => unread = Some(format!("{expected:?} is no expectation that can be read")),
        }
    }
    unread.map(|told| (Verdict::Unknown, told))
}

fn expect(report: &Report) -> Option<Expect> {
    Expect::of_words(report.conclusion.expect.as_deref()?)
}

fn of_exit_code(report: &Report) -> Option<(Verdict, String)> {
    let code = report.conclusion.exit_code;
    Some((claimed_by(code)?, format!("its exit code is {code}")))
}

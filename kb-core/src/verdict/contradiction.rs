//! What a report's own content says against the verdict that stands in it, by the rules that agents judge by.

use super::expect::Expect;
use super::run::judge;
use super::{ExitCode, Verdict, table};
use crate::observation::{
    LineEvent, Look, Recovery, What, bearing_of_unknown, canonical, known, open_faults, read_message,
};
use crate::report::{Bearing, Entry, Family, NODE, Pair, Report, Shape, When, fact_name};

/// What the report shows that is worse than its verdict, with the reason; `None` where nothing in it speaks against that.
/// What is only not proven is a matter of [`super::unproven`].
pub fn contradiction(report: &Report) -> Option<(Verdict, String)> {
    let claimed = report.conclusion.verdict;
    if claimed > Verdict::Unknown {
        return None;
    }
    // A look tries no pair, and what would be refused is no fault of it.
    let is_run = claimed != Verdict::NoFaultSeen || report.was_tried();
    let found = [
        wrong_data(report),
        open_fault(report),
        unnamed_fault(report),
        logged(report),
        bad_state(report),
        unreadable(report),
        of_checks(report).filter(|_| is_run),
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

fn open_fault(report: &Report) -> Option<(Verdict, String)> {
    let of = |entry: &Entry| format!("{} is open on {}: {}", entry.cause, entry.device, entry.text);
    open_faults(report)
        .next()
        .map(|entry| (Verdict::Broken, of(entry)))
}

/// A fault that the report's section on health claims and does not name. One that it names may be of other GPUs.
fn unnamed_fault(report: &Report) -> Option<(Verdict, String)> {
    let health = report.health.as_ref()?;
    let names_fault = health.open.iter().any(|entry| entry.bearing == Bearing::Fault);
    let is_unnamed = health.verdict == Verdict::Broken && !names_fault;
    is_unnamed.then(|| (Verdict::Broken, "its section on health says broken".to_owned()))
}

/// An event that the kernel log tells of the run, or of a time that cannot be read, on a GPU of it, on a switch or on no device that is named.
fn logged(report: &Report) -> Option<(Verdict, String)> {
    let look = Look::of(report);
    let gpus = report.gpus.iter();
    let gpus: Vec<String> = gpus
        .filter_map(|gpu| gpu.pci_address.value.as_deref())
        .map(canonical)
        .collect();
    let during = report.logs.iter().filter(|log| log.when != When::Before);
    let events = during
        .flat_map(|log| log.text.lines())
        .filter_map(|line| read_message(line.trim()));
    let events: Vec<LineEvent> = events.collect();
    let is_of_run = |event: &&LineEvent| {
        let is_switch = matches!(
            event.what,
            What::Numbered {
                family: Family::Sxid,
                ..
            }
        );
        // A port of the bus, when a GPU of the run hangs on it.
        let is_above = || matches!(event.what, What::Bus(_)) && !look.gpus_at(&event.device).is_empty();
        is_switch || event.device == NODE || gpus.contains(&event.device) || is_above()
    };
    let of_run: Vec<&LineEvent> = events.iter().filter(is_of_run).collect();
    let told = |event: &LineEvent| format!("the kernel log says during the run: {}", event.text);
    let fault = of_run.iter().find(|event| bearing(&event.what) == Bearing::Fault);
    if let Some(fault) = fault {
        return Some((Verdict::Broken, told(fault)));
    }
    // Where the way to a GPU is not known, any port may be on it.
    let has_unknown_way = report.gpus.iter().any(|gpu| {
        let way = gpu.facts.get(fact_name::PCI_PATH);
        way.is_none_or(|way| way.value.is_none())
    });
    // One that tells of another device names that.
    let is_of_port = |event: &&LineEvent| {
        let begins = event.text.split([' ', ',']).nth(1);
        let begins = begins.map(|address| canonical(address.trim_end_matches(':')));
        matches!(event.what, What::Bus(_)) && begins.as_deref() == Some(event.device.as_str())
    };
    let of_some_port = events.iter().find(is_of_port);
    if let Some(port) = of_some_port.filter(|_| has_unknown_way) {
        let told = told(port);
        let reason = format!("{told}, and it is not known whether a GPU is behind that port");
        return Some((Verdict::Unknown, reason));
    }
    let unexplained = of_run.iter().find(|event| is_unexplained(&event.what))?;
    Some((
        Verdict::Unknown,
        format!("{}, which no record explains", told(unexplained)),
    ))
}

fn is_unexplained(what: &What) -> bool {
    matches!(what, What::Numbered { family, number, .. } if known(*family, *number).is_none())
}

fn bearing(what: &What) -> Bearing {
    match what {
        What::Numbered {
            family,
            number,
            fatal,
        } => {
            known(*family, *number).map_or_else(|| bearing_of_unknown(*fatal), |known| known.bearing(*fatal))
        }
        What::RecoveryAction(Recovery::None) => Bearing::Event,
        What::RecoveryAction(_) | What::Message(_) | What::Bus(_) => Bearing::Fault,
    }
}

fn bad_state(report: &Report) -> Option<(Verdict, String)> {
    let look = Look::of(report);
    let of = |wanted: Bearing| look.bad().find(|(_, bearing, _)| *bearing == wanted);
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
            (errors > 0).then_some((Verdict::Broken, told))
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

fn of_checks(report: &Report) -> Option<(Verdict, String)> {
    if !report.was_tried() {
        return None;
    }
    let mut judged = report.clone();
    judge(&mut judged, expect(report).unwrap_or_default());
    let verdict = judged.conclusion.verdict;
    // What is not proven by today's rules may have been enough for the agent that wrote it.
    (verdict != Verdict::Unknown).then_some((verdict, judged.conclusion.reason))
}

/// Data that differed, whatever the check calls it: wrong once is wrong.
fn wrong_data(report: &Report) -> Option<(Verdict, String)> {
    report.pairs.iter().find_map(|pair| {
        let mut checks = pair.directions.iter().flat_map(|direction| &direction.checks);
        let wrong = checks.find_map(|check| Some((check, check.mismatch.as_ref()?)));
        let (check, mismatch) = wrong.filter(|(_, mismatch)| mismatch.words > 0)?;
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
    let expected = report.conclusion.expect.as_deref()?;
    let word = expected
        .split(',')
        .find_map(|part| part.trim().strip_prefix("p2p="))?;
    let mut known = Expect::ALL.into_iter();
    known.find(|(_, known)| *known == word).map(|(expect, _)| expect)
}

fn of_exit_code(report: &Report) -> Option<(Verdict, String)> {
    let code = report.conclusion.exit_code;
    let code = ExitCode::ALL.into_iter().find(|known| known.number() == code)?;
    let verdict = match code {
        ExitCode::Healthy => return None,
        ExitCode::Warning => Verdict::Degraded,
        ExitCode::Fault => Verdict::Broken,
        ExitCode::Unknown | ExitCode::Usage => Verdict::Unknown,
    };
    Some((verdict, format!("its exit code is {}", code.number())))
}

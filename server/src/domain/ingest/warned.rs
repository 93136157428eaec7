//! What a report warns of: pairs, states of GPUs, what a load showed.

use std::collections::BTreeSet;

use kb_core::observation::{Look, cause};
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Pair, Report};
use kb_core::verdict::{Verdict, judged, table};

use super::of_ledger;

/// The warnings of one report.
pub(super) struct Warned {
    /// Cause and the two GPUs of each pair that is degraded.
    pub(super) pairs: BTreeSet<(String, u32, u32)>,
    /// Pointers into the report that tell of them.
    pub(super) evidence: BTreeSet<String>,
    /// Cause and PCI address of each state.
    pub(super) states: Vec<(String, String)>,
    /// Causes that a load showed.
    pub(super) loads: BTreeSet<String>,
    /// Whether the ledger warns of an event, which ends by the ledger.
    has_event: bool,
    /// Whether the run warns of something by itself.
    is_of_run: bool,
}

impl Warned {
    /// By what the sender says, and by what the rules of today make of its figures and facts.
    pub(super) fn of(report: &Report, policy: &Policy) -> Self {
        let by_rules = judged(report, policy);
        let was_tried = report.was_tried();
        let is_degraded = |pair: &&Pair| pair.verdict.verdict == Verdict::Degraded;
        let said = report.pairs.iter();
        let found = by_rules.pairs.iter().filter(|_| was_tried);
        let mut pairs = BTreeSet::new();
        let mut evidence = BTreeSet::new();
        for pair in said.chain(found).filter(is_degraded) {
            let cause = pair.verdict.cause.clone().unwrap_or_default();
            pairs.insert((cause, pair.a, pair.b));
            evidence.extend(pair.verdict.evidence.iter().cloned());
        }
        // What was seen beside a worse cause. A look tries no pair, and reads the same as states.
        let pairs_of_run = report.pairs.iter().filter(|_| was_tried);
        for pair in pairs_of_run.filter(|pair| pair.verdict.verdict > Verdict::Degraded) {
            let beside = pair.verdict.beside.iter().filter(|cause| is_warning(cause));
            let before = pairs.len();
            pairs.extend(beside.map(|cause| (cause.clone(), pair.a, pair.b)));
            if pairs.len() > before {
                evidence.extend(pair.verdict.evidence.iter().cloned());
            }
        }
        let look = Look::of(report);
        // A run judges the states of its GPUs with their pairs; a GPU without a driver is in none.
        let concluded = report.conclusion.verdict;
        let is_by_pair = was_tried && !report.pairs.is_empty() && concluded <= Verdict::Degraded;
        let states = look.warnings();
        let states = states.filter(|(cause, _)| !is_by_pair || *cause == cause::GPU_WITHOUT_DRIVER);
        let loads = by_rules.load.iter().flat_map(|load| &load.findings);
        let loads = loads.filter(|found| found.verdict == Verdict::Degraded);
        let states = states.map(|(cause, device)| (cause.to_owned(), device.to_owned()));
        let of_ledger = of_ledger::states(report).filter(|state| state.bearing == Bearing::Warning);
        let of_ledger = of_ledger.map(|state| (state.cause.clone(), state.device.clone()));
        let states: BTreeSet<(String, String)> = states.chain(of_ledger).collect();
        Self {
            pairs,
            evidence,
            states: states.into_iter().collect(),
            loads: loads.map(|found| found.cause.clone()).collect(),
            has_event: of_ledger::events(report, Bearing::Warning).next().is_some(),
            is_of_run: was_tried && concluded == Verdict::Degraded,
        }
    }

    /// Each by a name.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let pairs = self
            .pairs
            .iter()
            .map(|(cause, a, b)| format!("slow:{cause}@{a}-{b}"));
        let states = self
            .states
            .iter()
            .map(|(cause, device)| format!("state:{cause}@{device}"));
        let loads = self.loads.iter().map(|cause| format!("load:{cause}"));
        pairs.chain(states).chain(loads)
    }

    /// Whether nothing in the report names what it warns of.
    pub(super) fn is_unnamed(&self) -> bool {
        let is_of_ledger = self.has_event && !self.is_of_run;
        self.evidence.is_empty() && self.states.is_empty() && self.loads.is_empty() && !is_of_ledger
    }

    /// Whether nothing in the report names a warning.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.states.is_empty() && self.loads.is_empty() && !self.has_event
    }
}

fn is_warning(cause: &str) -> bool {
    table().any(|named| named.cause == cause && named.verdict == Verdict::Degraded)
}

//! What a report warns of: pairs, states of GPUs, what a load showed.

use std::collections::BTreeSet;

use kb_core::observation::{Look, cause};
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Nature, Pair, Report};
use kb_core::verdict::{Verdict, judged};

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
    /// Whether a look warns of an event of the ledger, which ends by the ledger.
    has_event: bool,
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
        let look = Look::of(report);
        // A run judges the states of its GPUs with their pairs; a GPU without a driver is in none.
        let is_by_pair = was_tried && !report.pairs.is_empty();
        let states = look.warnings();
        let states = states.filter(|(cause, _)| !is_by_pair || *cause == cause::GPU_WITHOUT_DRIVER);
        let loads = by_rules.load.iter().flat_map(|load| &load.findings);
        let loads = loads.filter(|found| found.verdict == Verdict::Degraded);
        let mut open = report.health.iter().flat_map(|health| &health.open);
        let has_event = open.any(|entry| entry.nature == Nature::Event && entry.bearing >= Bearing::Warning);
        Self {
            pairs,
            evidence,
            states: states
                .map(|(cause, device)| (cause.to_owned(), device.to_owned()))
                .collect(),
            loads: loads.map(|found| found.cause.clone()).collect(),
            has_event: has_event && !was_tried,
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
        self.evidence.is_empty() && self.states.is_empty() && self.loads.is_empty() && !self.has_event
    }
}

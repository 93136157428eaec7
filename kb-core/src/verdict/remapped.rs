//! Rows of a GPU's memory that could not be remapped, or began to wait for that, while a run went on.

use super::Verdict;
use super::by_policy::{of_cause, verdict_of};
use crate::observation::{bearing_of, canonical, cause};
use crate::policy::Policy;
use crate::report::{GpuIndex, Report, fact_name};

/// A state that became bad during the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remapped {
    /// The state, as a look calls it.
    pub cause: &'static str,
    /// The GPU, by its place in the report.
    pub gpu: GpuIndex,
    /// Its PCI address; empty where that is not known.
    pub device: String,
}

/// What the counts say that agents keep during a run: they tell of a state also where the state itself was not read after the run.
pub fn remapped_during(report: &Report) -> Vec<Remapped> {
    let states = [
        (
            fact_name::during(fact_name::REMAPPED_ROWS_FAILURE),
            cause::REMAP_FAILED,
        ),
        (
            fact_name::during(fact_name::REMAPPED_ROWS_PENDING),
            cause::REMAP_PENDING,
        ),
    ];
    let mut found = Vec::new();
    for (index, gpu) in (0..).zip(&report.gpus) {
        for (name, cause) in &states {
            let cause = *cause;
            let fact = gpu.facts.get(name).and_then(|fact| fact.value.as_ref());
            if fact
                .and_then(serde_json::Value::as_u64)
                .is_some_and(|rise| rise > 0)
            {
                let address = gpu.pci_address.value.as_deref();
                found.push(Remapped {
                    cause,
                    gpu: index,
                    device: address.map(canonical).unwrap_or_default(),
                });
            }
        }
    }
    found
}

/// The worst that these states come to.
pub(super) fn remapped(report: &Report, policy: &Policy) -> Option<(Verdict, String)> {
    let states = remapped_during(report).into_iter().rev();
    let weighed = states.filter_map(|state| {
        let Remapped { cause, gpu, device } = state;
        let bearing = of_cause(report, policy, (cause, &device), bearing_of(cause));
        let told = format!("{cause}: GPU {gpu} came to that during the run");
        Some((verdict_of(bearing)?, told))
    });
    // The first of the worst.
    weighed.max_by_key(|(verdict, _)| *verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::rule;
    use crate::report::Meaning;
    use crate::verdict::tests::{gpu_fact, healthy};
    use crate::verdict::{Expect, contradiction_by, judge};

    #[test]
    fn a_row_that_was_not_remapped_during_the_run_speaks_against_health() {
        let milder = Policy::of(vec![rule("remap_pending", Meaning::Warning)]);
        for (name, rise, policy, expected) in [
            ("failure", 1, Policy::default(), Some(Verdict::Broken)),
            ("pending", 1, Policy::default(), Some(Verdict::Broken)),
            ("pending", 1, milder.clone(), Some(Verdict::Degraded)),
            ("failure", 1, milder, Some(Verdict::Broken)),
            ("failure", 0, Policy::default(), None),
        ] {
            let mut report = healthy(2);
            judge(&mut report, Expect::Auto);
            gpu_fact(&mut report, 1, &format!("during.remapped_rows.{name}"), rise);
            let told = contradiction_by(&report, &policy);
            assert_eq!(
                told.as_ref().map(|(verdict, _)| *verdict),
                expected,
                "{name} {told:?}"
            );
        }
    }
}

//! What changed on the GPUs while the run lasted: two readings become one set of facts. The parent's side.

use std::collections::BTreeMap;

use kb_core::report::{Fact, Gap, GapKind, Gpu, fact_name};
use serde_json::Value;

/// Facts that only ever rise; of yes-or-no ones, yes counts as one.
const COUNTERS: [&str; 10] = [
    fact_name::NVLINK_CRC_ERRORS,
    fact_name::NVLINK_REPLAY_ERRORS,
    fact_name::NVLINK_RECOVERY_ERRORS,
    fact_name::ECC_VOLATILE_CORRECTED,
    fact_name::ECC_VOLATILE_UNCORRECTED,
    fact_name::REMAPPED_ROWS_CORRECTED,
    fact_name::REMAPPED_ROWS_UNCORRECTED,
    fact_name::REMAPPED_ROWS_PENDING,
    fact_name::REMAPPED_ROWS_FAILURE,
    fact_name::PCIE_REPLAYS,
];
/// What depends on load and is read the second time only.
const LOAD: [&str; 7] = [
    fact_name::CLOCK_SM_MHZ,
    fact_name::CLOCK_MEMORY_MHZ,
    fact_name::TEMPERATURE_GPU_C,
    fact_name::POWER_DRAW_W,
    fact_name::THROTTLE_REASONS,
    fact_name::PCIE_LINK_GENERATION,
    fact_name::PCIE_LINK_WIDTH,
];
/// States that may turn bad while the run lasts, which is when a weak GPU gives in: the newer reading is the one that holds.
const STATES: [&str; 7] = [
    fact_name::RECOVERY_ACTION,
    fact_name::REMAPPED_ROWS_PENDING,
    fact_name::REMAPPED_ROWS_FAILURE,
    fact_name::ECC_SRAM_THRESHOLD_EXCEEDED,
    fact_name::FABRIC_STATE,
    fact_name::FABRIC_STATUS,
    fact_name::FABRIC_HEALTH,
];
/// Whether the load facts were read with the GPU busy, or stayed those of a GPU at rest.
const UNDER_LOAD: &str = "load.read_after_copies";
const SECOND: &str = "second reading, after the checks";

/// A second reading, GPU by GPU, or why there is none.
pub(crate) type Reading = Result<Vec<BTreeMap<String, Fact>>, String>;

/// Adds what the second reading shows. `copied` says of each GPU whether the ladder has moved data with it: one that
/// was left alone idles, and its lowered clocks and PCIe link are no finding.
pub(crate) fn close(gpus: &mut [Gpu], reading: &Reading, copied: impl Fn(usize) -> bool) {
    for (place, gpu) in gpus.iter_mut().enumerate() {
        let copied = copied(place);
        gpu.facts
            .insert(UNDER_LOAD.to_owned(), Fact::read(copied.into(), "the ladder"));
        let later = |name: &str| match reading {
            Ok(gpus) => gpus.get(place).and_then(|facts| facts.get(name)).cloned(),
            Err(reason) => Some(Fact::missing(GapKind::Failed, reason, SECOND)),
        };
        for name in COUNTERS {
            let difference = difference(gpu.facts.get(name), later(name));
            gpu.facts.insert(fact_name::during(name), difference);
        }
        for name in STATES {
            let failed = |fact: &Fact| fact.gap.as_ref().is_some_and(|gap| gap.kind == GapKind::Failed);
            if let Some(fact) = later(name).filter(|fact| fact.value.is_some() || failed(fact)) {
                gpu.facts.insert(name.to_owned(), fact);
            }
        }
        for name in LOAD {
            if let Some(fact) = later(name) {
                gpu.facts.insert(name.to_owned(), under_load(fact, copied));
            }
        }
        if let Some(processes) = later(fact_name::PROCESSES_COUNT) {
            raise(&mut gpu.facts, processes);
        }
    }
}

/// By how much each counter rose between two readings of one GPU.
pub(crate) fn rises(
    before: Result<&BTreeMap<String, Fact>, &str>,
    after: Result<&BTreeMap<String, Fact>, &str>,
) -> BTreeMap<String, Fact> {
    let of = |reading: Result<&BTreeMap<String, Fact>, &str>, name: &str| match reading {
        Ok(facts) => facts.get(name).cloned(),
        Err(reason) => Some(Fact::missing(GapKind::Failed, reason, SECOND)),
    };
    let rise = |name: &str| {
        (
            name.to_owned(),
            difference(of(before, name).as_ref(), of(after, name)),
        )
    };
    COUNTERS.into_iter().map(rise).collect()
}

/// The source says when it was read.
fn under_load(mut fact: Fact, copied: bool) -> Fact {
    if fact.value.is_some() {
        fact.source.push_str(if copied {
            ", right after copies"
        } else {
            ", at rest"
        });
    }
    fact
}

fn difference(before: Option<&Fact>, after: Option<Fact>) -> Fact {
    let missing = || Fact::missing(GapKind::Failed, "it was not read", SECOND);
    let after = after.unwrap_or_else(missing);
    let gap = |fact: &Fact, when: &str| {
        let gap = fact
            .gap
            .clone()
            .unwrap_or(Gap::new(GapKind::Failed, "it is no number".to_owned()));
        let reason = format!("{when} the run: {}", gap.reason);
        Fact::without(Gap { reason, ..gap }, fact.source.clone())
    };
    let missing = missing();
    let before = before.unwrap_or(&missing);
    match (count(before), count(&after)) {
        (None, _) => gap(before, "before"),
        (_, None) => gap(&after, "after"),
        (Some(first), Some(last)) => match last.checked_sub(first) {
            Some(rise) => Fact::read(rise.into(), after.source),
            None => Fact::missing(
                GapKind::Failed,
                format!(
                    "the counter went backwards, from {first} to {last}: the driver was reset in between"
                ),
                after.source,
            ),
        },
    }
}

fn count(fact: &Fact) -> Option<u64> {
    match fact.value.as_ref()? {
        Value::Bool(yes) => Some((*yes).into()),
        value => value.as_u64(),
    }
}

/// Other people's processes: keeps the larger of two readings.
fn raise(facts: &mut BTreeMap<String, Fact>, later: Fact) {
    let before = facts.get(fact_name::PROCESSES_COUNT).and_then(count);
    if count(&later).is_some_and(|now| before.is_none_or(|before| now > before)) {
        facts.insert(fact_name::PROCESSES_COUNT.to_owned(), later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: impl Into<Value>) -> Fact {
        Fact::read(value.into(), "call")
    }

    #[test]
    fn a_counter_that_rises_gives_its_rise_and_one_that_falls_a_gap() {
        assert_eq!(difference(Some(&read(3)), Some(read(7))).value, Some(4.into()));
        assert_eq!(
            difference(Some(&read(false)), Some(read(true))).value,
            Some(1.into())
        );
        let back = difference(Some(&read(7)), Some(read(0)));
        assert_eq!(back.value, None);
        assert!(back.gap.unwrap().reason.contains("backwards, from 7 to 0"));
    }

    #[test]
    fn a_gap_says_which_reading_it_is_of() {
        let lost = || Fact::missing(GapKind::Failed, "the GPU is lost", "call");
        let after = difference(Some(&read(1)), Some(lost())).gap.unwrap();
        assert_eq!(after.reason, "after the run: the GPU is lost");
        let before = difference(Some(&lost()), Some(read(1))).gap.unwrap();
        assert_eq!(before.reason, "before the run: the GPU is lost");
        assert!(difference(None, Some(read(1))).value.is_none());
        assert!(difference(Some(&read(1)), None).value.is_none());
    }

    #[test]
    fn the_larger_number_of_processes_stays() {
        let mut facts = BTreeMap::from([(fact_name::PROCESSES_COUNT.to_owned(), read(2))]);
        raise(&mut facts, read(0));
        raise(&mut facts, Fact::missing(GapKind::Failed, "lost", "call"));
        assert_eq!(facts[fact_name::PROCESSES_COUNT].value, Some(2.into()));
        raise(&mut facts, read(3));
        assert_eq!(facts[fact_name::PROCESSES_COUNT].value, Some(3.into()));
    }
}

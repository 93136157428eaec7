//! Who else uses the GPUs: memory is taken on a large scale only where that disturbs nobody.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::report::{Fact, Gpu, fact_name};

/// Utilisation up to this is what the look itself and a display cause, in percent.
const IDLE_PERCENT: u64 = 5;

/// Memory in use up to this, or up to a fiftieth of all where that is more, is what driver and display keep.
const IDLE_BYTES: u64 = 2 << 30;

/// GPUs without other people's compute processes and memory and with nothing to do, by NVML's word. Where it does not
/// say, they count as busy. Memory tells of processes that NVML does not list: in a container it lists its own.
pub(super) fn idle_gpus(gpus: &[Gpu]) -> BTreeSet<u32> {
    (0..)
        .zip(gpus)
        .filter(|(_, gpu)| is_idle(&gpu.facts, gpu.memory_bytes.value))
        .map(|(index, _)| index)
        .collect()
}

fn is_idle(facts: &BTreeMap<String, Fact>, memory_bytes: Option<u64>) -> bool {
    let number = |name: &str| facts.get(name).and_then(|fact| fact.value.as_ref()?.as_u64());
    let unnoticed = memory_bytes.map_or(IDLE_BYTES, |all| IDLE_BYTES.max(all / 50));
    number(fact_name::PROCESSES_COUNT) == Some(0)
        && number(fact_name::UTILIZATION_GPU_PERCENT).is_none_or(|percent| percent <= IDLE_PERCENT)
        && number(fact_name::MEMORY_USED_BYTES).is_none_or(|used| used <= unnoticed)
}

/// Says of each GPU whether somebody else used it, at the beginning or at the end: what could not be proven there may
/// be for that reason, and what was timed there may be slow for it.
pub(super) fn mark_shared(gpus: &mut [Gpu], idle: &BTreeSet<u32>) {
    for (index, gpu) in (0..).zip(gpus) {
        let processes = gpu.facts.get(fact_name::PROCESSES_COUNT).cloned();
        let shared = match processes {
            Some(Fact {
                value: Some(count),
                source,
                ..
            }) => {
                let shared = !idle.contains(&index) || count.as_u64() != Some(0);
                Fact::read(shared.into(), source)
            }
            Some(unknown) => unknown,
            None => continue,
        };
        gpu.facts.insert(fact_name::SHARED.to_owned(), shared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a container, where NVML lists no process of others.
    fn idle_with(used_bytes: u64, memory_bytes: Option<u64>) -> bool {
        let read = |value: u64| Fact::read(value.into(), "nvml");
        let facts = BTreeMap::from([
            (fact_name::PROCESSES_COUNT.to_owned(), read(0)),
            ("memory.used_bytes".to_owned(), read(used_bytes)),
        ]);
        is_idle(&facts, memory_bytes)
    }

    #[test]
    fn memory_of_processes_that_are_not_listed_makes_a_gpu_busy() {
        let large = Some(200 << 30);
        assert!(idle_with(4 << 30, large));
        assert!(!idle_with((4 << 30) + 1, large));
        for memory in [Some(24 << 30), None] {
            assert!(idle_with(2 << 30, memory));
            assert!(!idle_with((2 << 30) + 1, memory));
        }
    }
}

//! Who else uses the GPUs: memory is taken on a large scale only where that disturbs nobody.

use std::collections::BTreeSet;

use kb_core::report::{Fact, Gpu};

/// Utilisation up to this is what the look itself and a display cause, in percent.
const IDLE_PERCENT: u64 = 5;

/// Other people's compute processes.
const PROCESSES: &str = "processes.count";

/// GPUs without other people's compute processes and with nothing to do, by NVML's word. Where it does not say, they
/// count as busy.
pub(super) fn idle_gpus(gpus: &[Gpu]) -> BTreeSet<u32> {
    (0..)
        .zip(gpus)
        .filter(|(_, gpu)| is_idle(gpu))
        .map(|(index, _)| index)
        .collect()
}

fn is_idle(gpu: &Gpu) -> bool {
    let number = |name: &str| gpu.facts.get(name).and_then(|fact| fact.value.as_ref()?.as_u64());
    number(PROCESSES) == Some(0)
        && number("utilization.gpu_percent").is_none_or(|percent| percent <= IDLE_PERCENT)
}

/// Says of each GPU whether somebody else used it, at the beginning or at the end: what could not be proven there may
/// be for that reason, and what was timed there may be slow for it.
pub(super) fn mark_shared(gpus: &mut [Gpu], idle: &BTreeSet<u32>) {
    for (index, gpu) in (0..).zip(gpus) {
        let processes = gpu.facts.get(PROCESSES).cloned();
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
        gpu.facts.insert("shared".to_owned(), shared);
    }
}

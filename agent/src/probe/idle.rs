//! Who else uses the GPUs: memory is taken on a large scale only where that disturbs nobody.

use std::collections::BTreeSet;

use kb_core::report::Gpu;

/// Utilisation up to this is what the look itself and a display cause, in percent.
const IDLE_PERCENT: u64 = 5;

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
    number("processes.count") == Some(0)
        && number("utilization.gpu_percent").is_none_or(|percent| percent <= IDLE_PERCENT)
}

//! The GPUs when NCCL has ended: whoever came to use them meanwhile may be why it was slow.

use std::collections::BTreeMap;

use kb_core::report::{Fact, GapKind, Gpu, GpuIndex, fact_name};
use serde_json::Value;

use crate::probe::Found;
use crate::probe::failure::failure_from;
use crate::probe::session::Session;
use crate::probe::setup::Setup;

/// Other people's compute processes as they are kept.
const AFTER: &str = "nccl.processes_after";

pub(super) fn look(found: &mut Found, setup: &Setup, gpus: &[GpuIndex]) -> Option<String> {
    let addresses = found
        .gpus
        .iter()
        .map(|gpu| gpu.pci_address.value.clone())
        .collect();
    let mut session = Session::new(setup, None);
    let reading = session.read_again(addresses);
    session.end();
    found.failures.extend(session.failures());
    let reading = match reading {
        Ok(reading) => reading,
        Err(trouble) => {
            let why = failure_from(&trouble).message;
            return Some(format!(
                "who used the GPUs when it had ended could not be read: {why}"
            ));
        }
    };
    keep(&mut found.gpus, reading, gpus)
}

fn keep(all: &mut [Gpu], reading: Vec<BTreeMap<String, Fact>>, gpus: &[GpuIndex]) -> Option<String> {
    let mut used = Vec::new();
    for (index, (gpu, mut facts)) in (0..).zip(all.iter_mut().zip(reading)) {
        let missing = || Fact::missing(GapKind::Failed, "it was not read", "nvml");
        let now = facts.remove(fact_name::PROCESSES_COUNT).unwrap_or_else(missing);
        if gpus.contains(&index) && now.value.as_ref().and_then(Value::as_u64) > Some(0) {
            used.push(index.to_string());
        }
        gpu.facts.insert(AFTER.to_owned(), now);
    }
    (!used.is_empty()).then(|| {
        format!(
            "somebody else used GPU {} when it had ended, so that its figures may be too low",
            used.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_came_meanwhile_is_told() {
        let gap = || Fact::missing(GapKind::Failed, "test", "test");
        let gpu = || Gpu {
            cuda_ordinal: 0,
            nvml_index: Fact::missing(GapKind::Failed, "test", "test"),
            uuid: Fact::missing(GapKind::Failed, "test", "test"),
            pci_address: Fact::missing(GapKind::Failed, "test", "test"),
            name: Fact::missing(GapKind::Failed, "test", "test"),
            memory_bytes: Fact::missing(GapKind::Failed, "test", "test"),
            compute_capability: Fact::missing(GapKind::Failed, "test", "test"),
            facts: BTreeMap::new(),
        };
        let counted = |count: u64| {
            BTreeMap::from([(
                fact_name::PROCESSES_COUNT.to_owned(),
                Fact::read(count.into(), "test"),
            )])
        };
        let mut all = [gpu(), gpu(), gpu()];
        let reading = vec![
            counted(0),
            counted(2),
            BTreeMap::from([(fact_name::PROCESSES_COUNT.to_owned(), gap())]),
        ];
        let told = keep(&mut all, reading.clone(), &[0, 1, 2]).unwrap();
        assert!(told.starts_with("somebody else used GPU 1 when"), "{told}");
        assert_eq!(all[1].facts[AFTER].value, Some(2.into()));
        assert!(all[2].facts[AFTER].gap.is_some());
        assert_eq!(
            keep(&mut all, reading, &[0, 2]),
            None,
            "NCCL did not use that one"
        );
    }
}

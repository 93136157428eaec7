//! Which GPUs of an earlier report a later one has, and how many there should be.

use kb_core::observation::canonical;
use kb_core::report::{Fact, Gpu, Report, fact_name};
use kb_core::verdict::not_admitted;

use super::machine::{is_of_all, is_on_purpose};
use super::number::{self, gpus_of_node};
use super::weight::CONVERTED;

pub(super) fn expected_gpus(report: &Report) -> Option<usize> {
    let fact = report.host.get(fact_name::EXPECTED_GPUS)?;
    usize::try_from(fact.value.as_ref()?.as_u64()?).ok()
}

/// How many GPUs the operator says that the node has now. A number smaller than the GPUs that are there is left out.
pub(super) fn expected_now(report: &Report) -> Option<usize> {
    expected_gpus(report).filter(|should| *should >= report.gpus.len())
}

/// Whether it shows just as many GPUs as the operator says that there should be: then none is gone.
pub(super) fn is_as_many_as_expected(report: &Report) -> bool {
    expected_gpus(report) == Some(report.gpus.len())
}

/// Why the later report does not show all GPUs that the fault is about.
pub(super) fn leaves_gpus_open(fault: &Report, proof: &Report) -> Option<String> {
    if is_as_many_as_expected(proof) {
        return None;
    }
    if let Some(gpu) = fault.gpus.iter().find(|gpu| !covers(proof, gpu, fault)) {
        return Some(format!("{} is not among its GPUs", name(gpu)));
    }
    let is_back = |address: &String| {
        let mut gpus = proof.gpus.iter();
        gpus.any(|gpu| gpu.pci_address.value.as_ref() == Some(address))
    };
    if let Some(gpu) = number::gone(fault).find(|gpu| gpu.pci_address.as_ref().is_some_and(|at| !is_back(at)))
    {
        return Some(format!("{} is still not among its GPUs", gpu.name()));
    }
    let (had, has) = (gpus_of_node(fault), proof.gpus.len());
    // An admission has asked the node's ledger which GPUs there were, and says how many there are from then on.
    let knows_earlier = proof.health.is_some() && not_admitted(proof).is_none();
    if has < had && !knows_earlier {
        return Some(format!("it shows {has} GPUs, and there were {had}"));
    }
    // Who says another number now has changed what the node should have.
    if let (Some(should), None) = (expected_gpus(fault), expected_now(proof))
        && has < should
    {
        return Some(format!("it shows {has} GPUs, and there should be {should}"));
    }
    None
}

/// A GPU that an earlier report of the same boot has and this one has not: in a running node GPUs are not taken out.
pub(super) fn gone_within_boot(earlier: &Report, later: &Report) -> Option<String> {
    let when = match (&earlier.node.boot_id, &later.node.boot_id) {
        (Some(then), Some(now)) => (then == now).then_some("in this boot")?,
        // A report without a boot id may be of the same boot.
        (_, None) | (None, Some(_)) => "before, perhaps in this boot",
    };
    gone(earlier, later, when)
}

/// A GPU that the node had before something was wrong, in whatever boot: one that died does not come back.
pub(super) fn gone_since_alarm(earlier: &Report, later: &Report) -> Option<String> {
    gone(earlier, later, "before an alarm")
}

/// A GPU that the earlier report has and the later one has not, nor says what has it now (another driver, MIG). Who took it out says how
/// many there should be.
fn gone(earlier: &Report, later: &Report, when: &str) -> Option<String> {
    if earlier.host.contains_key(CONVERTED) {
        // Another tool lists GPUs of other nodes, too.
        return None;
    }
    let at = |address: &Option<String>| address.as_deref().map(canonical);
    let is_told = |gpu: &Gpu| {
        let mut absent = later.absent.iter().filter(|absent| is_on_purpose(absent));
        absent.any(|absent| {
            absent.pci_address.is_some() && at(&absent.pci_address) == at(&gpu.pci_address.value)
        })
    };
    let mut gpus = earlier.gpus.iter();
    let gone = name(gpus.find(|gpu| !covers(later, gpu, earlier) && !is_told(gpu))?);
    let has = later.gpus.len();
    Some(format!(
        "{gone}, which the node had {when}, is not among its GPUs (if it was taken out, say so: --expect gpus={has})"
    ))
}

/// Whether the proof is about this GPU: by UUID; without one by address; without either by its place in the list. What the
/// proof could not read shows nothing. After a new boot, another GPU at the same address was put in its place.
pub(super) fn covers(proof: &Report, gpu: &Gpu, fault: &Report) -> bool {
    proof.gpus.iter().any(|other| is_same(gpu, other, fault, proof))
}

pub(super) fn is_same(gpu: &Gpu, other: &Gpu, fault: &Report, proof: &Report) -> bool {
    let is_at_address = same(&gpu.pci_address, &other.pci_address);
    match same(&gpu.uuid, &other.uuid) {
        Some(true) => true,
        // Where all of them are others, it may be another machine.
        Some(false) => {
            is_at_address == Some(true)
                && other.uuid.value.is_some()
                && has_rebooted(fault, proof)
                && share_a_gpu(fault, proof)
        }
        None => is_at_address.unwrap_or(gpu.cuda_ordinal == other.cuda_ordinal),
    }
}

/// Whether every GPU of the earlier report was exchanged for another: after a new boot, a report that shows all GPUs of the node, and no
/// fewer than there were, has none of them. Fewer are lost, whatever is left.
pub(super) fn all_exchanged(earlier: &Report, later: &Report) -> bool {
    let has_uuids =
        |report: &Report| !report.gpus.is_empty() && report.gpus.iter().all(|gpu| gpu.uuid.value.is_some());
    // An agent that sees all says nothing of a view; others see as much as before where the view is the same.
    let view = |report: &Report| {
        let fact = report.host.get(fact_name::GPUS_VIEW);
        fact.and_then(|fact| fact.value.clone())
    };
    let sees_all = |later: &Report| {
        let now = view(later);
        is_of_all(later) && (now.is_none() || now == view(earlier))
    };
    has_rebooted(earlier, later)
        && has_uuids(earlier)
        && has_uuids(later)
        && later.gpus.len() >= gpus_of_node(earlier)
        && !share_a_gpu(earlier, later)
        && sees_all(later)
}

/// Whether both are known to be of different boots.
pub(super) fn has_rebooted(earlier: &Report, later: &Report) -> bool {
    matches!((&earlier.node.boot_id, &later.node.boot_id), (Some(then), Some(now)) if then != now)
}

fn share_a_gpu(fault: &Report, proof: &Report) -> bool {
    let mut gpus = fault.gpus.iter();
    gpus.any(|gpu| {
        let mut others = proof.gpus.iter();
        others.any(|other| same(&gpu.uuid, &other.uuid) == Some(true))
    })
}

/// Whether the proof's fact says what the fault's says; `None` where the fault's says nothing.
fn same(fault: &Fact<String>, proof: &Fact<String>) -> Option<bool> {
    let said = fault.value.as_ref()?;
    Some(proof.value.as_ref() == Some(said))
}

pub(super) fn name(gpu: &Gpu) -> String {
    let known = gpu.uuid.value.as_ref().or(gpu.pci_address.value.as_ref());
    known.map_or_else(
        || format!("GPU {}", gpu.cuda_ordinal),
        |known| format!("GPU {known}"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;

    #[test]
    fn a_gpu_does_not_leave_a_node_that_runs() {
        let read = |report: Value| serde_json::from_value::<Report>(report).unwrap();
        let booted = |gpus: u32, boot: &str| {
            let mut report = report(gpus, &[]);
            report["node"]["boot_id"] = json!(boot);
            read(report)
        };
        let gone = gone_within_boot(&booted(4, "a"), &booted(3, "a")).unwrap();
        assert!(gone.starts_with("GPU GPU-3, which the node had"), "{gone}");
        assert_eq!(gone_within_boot(&booted(4, "a"), &booted(3, "b")), None);
        assert_eq!(gone_within_boot(&booted(3, "a"), &booted(4, "a")), None);
        let perhaps = gone_within_boot(&booted(4, "a"), &read(report(3, &[]))).unwrap();
        assert!(perhaps.contains("had before, perhaps in this boot"), "{perhaps}");
        let mut given = report(3, &[]);
        given["node"]["boot_id"] = json!("a");
        let address = booted(4, "a").gpus[3].pci_address.value.clone();
        given["absent"] = json!([{ "absence": "other_driver", "pci_address": address, "reason": "vfio-pci", "source": "test" }]);
        assert_eq!(
            gone_within_boot(&booted(4, "a"), &read(given)),
            None,
            "a VM has it"
        );
        let mut converted = booted(4, "a");
        let tool = Fact::read(json!("simpleP2P"), "the text");
        converted.host.insert(CONVERTED.to_owned(), tool);
        assert_eq!(gone_within_boot(&converted, &booted(3, "a")), None);
        let perhaps = gone_within_boot(&read(report(4, &[])), &read(report(3, &[]))).unwrap();
        assert!(perhaps.contains("had before, perhaps in this boot"), "{perhaps}");
    }
}

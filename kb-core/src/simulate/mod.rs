//! Reports of machines that are made up, for whoever wants to see what is said without a GPU. Facts, checks and lines of the
//! kernel log are like those of real runs; the verdict comes from the same table as theirs.
//!
//! Each such report says that it is simulated: in `simulated`, in its conclusion, and by the fact [`fact_name::SIMULATED_MACHINE`], by which it
//! is told from the run of a real agent with a stand-in for the driver.

mod ladder;
mod machine;

use serde_json::Value;

use crate::ids::{IdError, NodeId, ReportId};
use crate::report::{Conclusion, Fact, GpuIndex, MAJOR, MINOR, Node, Report, SchemaVersion, fact_name};
use crate::verdict::{Expect, add_nominal, judge};

pub use machine::Machine;

pub(crate) const SOURCE: &str = "simulated";
const DRIVER: &str = "580.95.05";
/// Whether the kernel log could be read.
const KERNEL_LOG: &str = "kernel_log.readable";

/// Of whom and when a report tells.
#[derive(Debug, Clone)]
pub struct About {
    /// Id of the run.
    pub report_id: ReportId,
    /// Its node; `simulated-lost`, say, where none is given.
    pub node: Option<NodeId>,
    /// Version of the agent.
    pub agent_version: String,
    /// Start and end, RFC 3339.
    pub started_at: String,
    /// End.
    pub finished_at: String,
    /// GPUs of the node, 1 to 8; one alone has no pair to prove.
    pub gpus: u32,
}

/// What an agent would have reported of this machine.
pub fn report(machine: Machine, about: About) -> Result<Report, IdError> {
    let node = match about.node {
        Some(node) => node,
        None => format!("simulated-{}", machine.word()).parse()?,
    };
    let count = about.gpus.clamp(1, 8);
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    let mut report = Report {
        schema: SchemaVersion {
            major: MAJOR,
            minor: MINOR,
        },
        report_id: about.report_id,
        node: Node {
            hostname: Some(node.as_str().to_owned()),
            id: node,
            boot_id: None,
        },
        agent_version: about.agent_version,
        started_at: about.started_at,
        finished_at: about.finished_at,
        simulated: true,
        host: [
            (fact_name::SIMULATED_MACHINE, Value::from(machine.word())),
            (fact_name::DRIVER_VERSION, Value::from(DRIVER)),
            (fact_name::NVML_DRIVER_VERSION, Value::from(DRIVER)),
            (fact_name::IOMMU_MODE, Value::from("off")),
            (KERNEL_LOG, Value::from(true)),
        ]
        .map(|(name, value)| (name.to_owned(), Fact::read(value, SOURCE)))
        .into(),
        gpus: (0..count).map(|index| machine.gpu(index)).collect(),
        absent: Vec::new(),
        pairs: pairs.map(|(a, b)| ladder::pair(machine, a, b)).collect(),
        measurements: vec![ladder::copies(count, |from, to| machine.rate(from, to))],
        nccl: None,
        load: None,
        parts: Vec::new(),
        logs: Vec::new(),
        failures: Vec::new(),
        notes: Vec::new(),
        health: None,
        conclusion: Conclusion::undecided(),
    };
    machine.spoil(&mut report);
    add_nominal(&mut report);
    judge(&mut report, Expect::Auto);
    report.conclusion.reason = format!("simulated: {}", report.conclusion.reason);
    Ok(report)
}

/// The GPU with which something is wrong.
const BAD: GpuIndex = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Verdict, contradiction, unproven};

    fn of(machine: Machine, gpus: u32) -> Report {
        let about = About {
            report_id: "00000000-0000-4000-8000-000000000000".parse().unwrap(),
            node: None,
            agent_version: "0.1.0".to_owned(),
            started_at: "2026-11-29T10:00:00Z".to_owned(),
            finished_at: "2026-11-29T10:00:04Z".to_owned(),
            gpus,
        };
        report(machine, about).unwrap()
    }

    #[test]
    fn each_machine_has_the_verdict_that_its_name_promises() {
        for (machine, verdict, causes) in [
            (Machine::Healthy, Verdict::Healthy, &[][..]),
            (Machine::Refused, Verdict::Refused, &["refused_by_chipset"]),
            (Machine::Lost, Verdict::Broken, &["gpu_lost"]),
            // With more GPUs there are pairs to compare it with.
            (
                Machine::Slow,
                Verdict::Degraded,
                &["pcie_link_degraded", "slow_pair"],
            ),
            (Machine::Hang, Verdict::Broken, &["hang"]),
            (Machine::Ecc, Verdict::Broken, &["ecc_error"]),
        ] {
            for gpus in [2, 8] {
                let report = of(machine, gpus);
                let conclusion = &report.conclusion;
                assert_eq!(conclusion.verdict, verdict, "{machine:?}: {conclusion:?}");
                let pair = &report.pairs[0].verdict;
                let cause = pair.cause.as_deref();
                assert!(
                    causes.is_empty() == cause.is_none() && cause.is_none_or(|cause| causes.contains(&cause)),
                    "{machine:?}: {pair:?}"
                );
                assert!(conclusion.reason.starts_with("simulated: "), "{conclusion:?}");
                assert!(report.simulated);
                assert_eq!(report.simulated_machine(), Some(machine.word()));
                assert_eq!(contradiction(&report), None, "{machine:?}");
                let json = serde_json::to_value(&report).unwrap();
                for pointer in report.pairs.iter().flat_map(|pair| &pair.verdict.evidence) {
                    assert!(json.pointer(pointer).is_some(), "{pointer} leads nowhere");
                }
            }
        }
        assert_eq!(unproven(&of(Machine::Healthy, 8)), None);
        assert_eq!(of(Machine::Healthy, 1).conclusion.verdict, Verdict::NoFaultSeen);
    }

    #[test]
    fn words_and_machines_belong_together() {
        for machine in Machine::ALL {
            assert_eq!(Machine::from_word(machine.word()), Some(machine));
        }
        assert_eq!(Machine::from_word("other"), None);
    }
}

//! The machines, and what is wrong with each.

use serde_json::json;

use super::{BAD, SOURCE};
use crate::report::{Check, Fact, Gpu, GpuIndex, LogExcerpt, Outcome, P2pStatus, Report, When, fact_name};

/// A machine that is made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// H200 on NVSwitch, all of it proven.
    Healthy,
    /// A40 on a chipset for which the driver refuses peer access.
    Refused,
    /// H200, of which one falls off the bus during the run (Xid 79).
    Lost,
    /// A40, of which one has a quarter of its PCIe lanes.
    Slow,
    /// H200, of which one does not end a copy.
    Hang,
    /// H200, of which one has an uncorrectable error in its memory (Xid 94).
    Ecc,
}

/// Model, memory in GiB, capability, NVLinks, PCIe generation.
type Model = (&'static str, u64, &'static str, u32, u32);
const H200: Model = ("NVIDIA H200", 141, "9.0", 18, 5);
const A40: Model = ("NVIDIA A40", 45, "8.6", 0, 4);

/// Lanes of the card that has too few, and of all others.
const FEW_LANES: u32 = 4;
const LANES: u32 = 16;

impl Machine {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Healthy,
        Self::Refused,
        Self::Lost,
        Self::Slow,
        Self::Hang,
        Self::Ecc,
    ];

    /// Its name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Refused => "refused",
            Self::Lost => "lost",
            Self::Slow => "slow",
            Self::Hang => "hang",
            Self::Ecc => "ecc",
        }
    }

    /// By its name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|machine| machine.word() == word)
    }

    fn model(self) -> Model {
        match self {
            Self::Refused | Self::Slow => A40,
            _ => H200,
        }
    }

    pub(super) fn links(self) -> u32 {
        self.model().3
    }

    /// What NVML says of all pairs.
    pub(super) fn status(self) -> P2pStatus {
        if self == Self::Refused {
            P2pStatus::Cns
        } else {
            P2pStatus::Ok
        }
    }

    /// GB/s of a copy, as measured on such machines.
    pub(super) fn rate(self, from: GpuIndex, to: GpuIndex) -> f64 {
        match self {
            Self::Slow if from == BAD || to == BAD => 6.4,
            Self::Slow => 25.1,
            Self::Refused => 17.3,
            _ => 391.0,
        }
    }

    pub(super) fn gpu(self, index: GpuIndex) -> Gpu {
        let (name, memory, capability, links, generation) = self.model();
        let lanes = if self == Self::Slow && index == BAD {
            FEW_LANES
        } else {
            LANES
        };
        let address = address(index);
        let path = json!([{
            "address": address, "link_width": lanes, "link_width_max": LANES,
            "link_generation": generation, "link_generation_max": generation,
        }]);
        let facts = [
            (fact_name::PCI_PATH, path),
            (fact_name::PCIE_LINK_WIDTH, lanes.into()),
            (fact_name::PCIE_LINK_WIDTH_MAX, LANES.into()),
            (fact_name::PCIE_LINK_GENERATION, generation.into()),
            (fact_name::PCIE_LINK_GENERATION_MAX, generation.into()),
            (fact_name::ECC_VOLATILE_UNCORRECTED, 0.into()),
            (fact_name::NVLINK_LINKS, links.into()),
            (fact_name::NVLINK_LINKS_ACTIVE, links.into()),
            (fact_name::NVLINK_LINKS_EXPECTED, links.into()),
            (fact_name::NVLINK_LINKS_TO_SWITCH, links.into()),
            (fact_name::NVLINK_SPEED_MB_S, 26_562.into()),
        ];
        // Those of NVLinks only where there are any.
        let told = if links > 0 { facts.len() } else { 6 };
        Gpu {
            cuda_ordinal: index,
            nvml_index: Fact::read(index, SOURCE),
            uuid: Fact::read(format!("GPU-00000000-0000-0000-0000-{index:012}"), SOURCE),
            pci_address: Fact::read(address, SOURCE),
            name: Fact::read(name.to_owned(), SOURCE),
            memory_bytes: Fact::read(memory << 30, SOURCE),
            compute_capability: Fact::read(capability.to_owned(), SOURCE),
            facts: facts
                .into_iter()
                .take(told)
                .map(|(name, value)| (name.to_owned(), Fact::read(value, SOURCE)))
                .collect(),
        }
    }

    /// Lets happen what the machine is there for.
    pub(super) fn spoil(self, report: &mut Report) {
        let at = address(BAD);
        let slot = at.trim_end_matches(".0");
        match self {
            Self::Healthy | Self::Slow => {}
            Self::Refused => {
                report.measurements.clear();
                ends(
                    report,
                    |_| true,
                    2,
                    Outcome::Fail,
                    Some((217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED")),
                );
            }
            Self::Lost => {
                report.measurements.clear();
                ends(
                    report,
                    |gpu| gpu == BAD,
                    3,
                    Outcome::Fail,
                    Some((999, "CUDA_ERROR_UNKNOWN")),
                );
                let line = format!(
                    "NVRM: Xid (PCI:{slot}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
                );
                log(report, line);
            }
            Self::Hang => {
                report.measurements.clear();
                ends(report, |gpu| gpu == BAD, 3, Outcome::Hang, None);
            }
            Self::Ecc => {
                ends(
                    report,
                    |gpu| gpu == BAD,
                    4,
                    Outcome::Fail,
                    Some((214, "CUDA_ERROR_ECC_UNCORRECTABLE")),
                );
                let line = format!(
                    "NVRM: Xid (PCI:{slot}): 94, pid=4711, name=peerless-agent, Contained: SM (0x1). RST: No, D-RST: No"
                );
                log(report, line);
                if let Some(gpu) = report.gpus.get_mut(BAD as usize) {
                    for name in [
                        fact_name::ECC_VOLATILE_UNCORRECTED.to_owned(),
                        fact_name::during(fact_name::ECC_VOLATILE_UNCORRECTED),
                    ] {
                        gpu.facts.insert(name, Fact::read(1.into(), SOURCE));
                    }
                }
            }
        }
    }
}

fn address(index: GpuIndex) -> String {
    format!("0000:{:02x}:00.0", 0x1b + 0x10 * index)
}

fn log(report: &mut Report, line: String) {
    report.logs.push(LogExcerpt {
        source: "kmsg".to_owned(),
        when: When::During,
        text: line,
    });
}

/// On the directions of these GPUs the first check of this rung ends so, and what stands behind it is left out.
fn ends(
    report: &mut Report,
    concerns: impl Fn(GpuIndex) -> bool,
    rung: u8,
    outcome: Outcome,
    code: Option<(i32, &str)>,
) {
    let directions = report.pairs.iter_mut().flat_map(|pair| &mut pair.directions);
    for direction in directions.filter(|direction| concerns(direction.initiator) || concerns(direction.owner))
    {
        let mut behind = direction.checks.iter_mut().skip_while(|check| check.rung < rung);
        let Some(first) = behind.next() else { continue };
        first.outcome = outcome;
        first.code = code.map(|(number, _)| number);
        first.code_name = code.map(|(_, name)| name.to_owned());
        first.reason = Some(match code {
            Some((_, name)) => format!("{} returned {name}", first.name),
            None => format!("{} did not end within 10 s", first.name),
        });
        let reason = format!("{} did not pass", first.name);
        behind.for_each(|check| leave_out(check, &reason));
    }
}

fn leave_out(check: &mut Check, reason: &str) {
    check.outcome = Outcome::Skipped;
    check.reason = Some(reason.to_owned());
}

//! GPUs that should have been looked at and are not there: asked for, on the bus, or such as the node should have.

use std::collections::BTreeSet;

use kb_core::report::{Absence, AbsentGpu, Gpu};

use crate::host::{self, BusGpu, Visibility};
use crate::process::VISIBLE_GPUS;
use crate::worker::protocol::{ManagedGpu, NoList, Unanswered, Why};

use super::Options;
use super::selection::names_gpus;
use super::session::Session;

/// The kernel driver whose GPUs NVML lists.
const NVIDIA: &str = "nvidia";
/// Slurm counts MIG devices in its own way (`gres_common.c`).
const NUMBER_WITH_MIG: &str =
    "with MIG a number may be one that a scheduler gave a MIG device, and not NVML's";
/// Why CUDA lists fewer GPUs than NVML on a machine with MIG.
const MIG: &str = "CUDA lists one MIG device at most, and no other GPU beside it";

pub(super) fn of_run(options: &Options, session: &mut Session<'_>, opened: Option<&[Gpu]>) -> Vec<AbsentGpu> {
    let root = &options.host_root;
    let visible = std::env::var("NVIDIA_VISIBLE_DEVICES").ok();
    let cuda_visible = std::env::var(VISIBLE_GPUS).ok();
    let visibility = host::visibility(root, visible.as_deref());
    let asked = options
        .devices
        .as_deref()
        .or(cuda_visible.as_deref().filter(|list| names_gpus(list)));
    let roll = Roll {
        asked,
        expected: options.expected_gpus,
        before: &options.before,
        earlier: listed_earlier(&options.earlier, &visibility, view(root).as_deref()),
        opened,
        managed: session.list_managed(),
        bus: host::bus_gpus(root),
        visibility,
        is_masked: options.devices.is_none() && std::env::var_os(VISIBLE_GPUS).is_some(),
        is_by_bus: std::env::var("CUDA_DEVICE_ORDER").is_ok_and(|order| order == "PCI_BUS_ID"),
    };
    roll.absent()
}

struct Roll<'a> {
    /// `--devices`, else `CUDA_VISIBLE_DEVICES`, in their order.
    asked: Option<&'a str>,
    expected: Option<u32>,
    before: &'a [GpusBefore],
    /// Addresses that were listed earlier in this boot, by a process to which as much was granted as to this one.
    earlier: BTreeSet<String>,
    /// What CUDA lists; nothing where it could not be opened.
    opened: Option<&'a [Gpu]>,
    managed: Result<Vec<ManagedGpu>, NoList>,
    /// What the bus shows; `None` where it cannot be read.
    bus: Option<Vec<BusGpu>>,
    visibility: Visibility,
    /// True where CUDA was confined by somebody else (`CUDA_VISIBLE_DEVICES`).
    is_masked: bool,
    /// True where CUDA counts as NVML does (`CUDA_DEVICE_ORDER`).
    is_by_bus: bool,
}

impl Roll<'_> {
    fn absent(&self) -> Vec<AbsentGpu> {
        let mut absent = match self.asked {
            // A run that asked for certain GPUs reports on those alone.
            Some(asked) => {
                let asked: Vec<&str> = asked.split(',').map(str::trim).collect();
                [self.not_there(&asked), self.others(&asked)].concat()
            }
            None => [self.not_listed(), self.not_opened(), self.without_a_list()].concat(),
        };
        absent.extend(self.too_few());
        absent.extend(self.fewer_than_before(&absent));
        absent
    }

    fn opened(&self) -> &[Gpu] {
        self.opened.unwrap_or_default()
    }

    fn is_opened(&self, address: &str) -> bool {
        let mut addresses = self
            .opened()
            .iter()
            .filter_map(|gpu| gpu.pci_address.value.as_deref());
        addresses.any(|opened| opened == address)
    }

    /// CUDA lists one MIG device at most, and no other GPU beside it.
    fn has_mig(&self) -> bool {
        self.managed
            .as_ref()
            .is_ok_and(|gpus| gpus.iter().any(|gpu| gpu.is_mig))
    }

    /// CUDA takes the list in its order and ends at the first that it does not have.
    fn not_there(&self, asked: &[&str]) -> Vec<AbsentGpu> {
        let there = self.opened().len();
        if there == 0 && self.managed.is_err() {
            // Nobody tells which GPUs there are, and a failure of the run says so.
            return Vec::new();
        }
        let left = asked.iter().enumerate().skip(there);
        left.filter_map(|(position, name)| {
            let (absence, reason, address) = self.why_not_there(name, position == there)?;
            Some(AbsentGpu {
                asked_as: Some((*name).to_owned()),
                pci_address: address,
                ..AbsentGpu::new(absence, reason)
            })
        })
        .collect()
    }

    /// What says that numbers do not name the GPUs that were meant.
    fn others(&self, asked: &[&str]) -> Vec<AbsentGpu> {
        let numbers: Vec<Option<usize>> = asked.iter().map(|name| name.parse().ok()).collect();
        if self.has_mig() || numbers.iter().all(Option::is_none) {
            return Vec::new();
        }
        let unlike = asked.iter().zip(numbers).zip(self.opened());
        let unlike = unlike.filter_map(|((name, number), gpu)| self.unlike(name, number?, gpu));
        unlike.chain(self.lost_before()).collect()
    }

    /// CUDA leaves out what does not start, and counts on.
    fn unlike(&self, name: &str, number: usize, gpu: &Gpu) -> Option<AbsentGpu> {
        let opened = gpu.pci_address.value.as_deref().filter(|_| self.is_by_bus)?;
        let (absence, reason, address) = match &self.managed.as_ref().ok()?.get(number)?.address {
            Ok(address) if address == opened => return None,
            Ok(address) => (
                Absence::Missing,
                format!("it is the GPU at {address} by NVML, and CUDA has the one at {opened} in its place"),
                Some(address.clone()),
            ),
            Err(Unanswered {
                why: Why::Lost,
                message,
            }) => (Absence::Lost, message.clone(), None),
            Err(_) => return None,
        };
        Some(AbsentGpu {
            asked_as: Some(name.to_owned()),
            pci_address: address,
            ..AbsentGpu::new(absence, reason)
        })
    }

    /// A GPU that left NVML's list leaves its number to the next one, and a scheduler may know it by its number of before.
    fn lost_before(&self) -> Vec<AbsentGpu> {
        let shifts = |address: &str| host::shifts_numbers(address, self.opened());
        let mut lost = self.not_listed();
        lost.extend(self.gone(&lost));
        lost.retain(|gpu| gpu.absence == Absence::Lost && gpu.pci_address.as_deref().is_some_and(shifts));
        for gpu in &mut lost {
            gpu.reason
                .push_str(", so that the numbers behind it are those of other GPUs than before");
        }
        lost
    }

    /// Nothing where CUDA could not be opened and NVML lists the GPU: a failure of the run says what is wrong.
    fn why_not_there(&self, name: &str, is_first: bool) -> Option<(Absence, String, Option<String>)> {
        const ENDS: &str = "CUDA's list ends at the first GPU that is missing, so that it was not looked at";
        let Ok(managed) = &self.managed else {
            let (absence, reason) = if is_first {
                (Absence::Missing, "it was asked for, and CUDA does not list it")
            } else {
                (Absence::NotLookedAt, ENDS)
            };
            return Some((absence, reason.to_owned(), None));
        };
        let Some(found) = find(managed, name) else {
            if self.has_mig() && name.bytes().all(|byte| byte.is_ascii_digit()) {
                return Some((Absence::NotLookedAt, NUMBER_WITH_MIG.to_owned(), None));
            }
            let reason = format!(
                "it was asked for, and it is not among the {} that NVML lists",
                managed.len()
            );
            return Some((Absence::Missing, reason, None));
        };
        match &found.address {
            Err(unanswered) => {
                let absence = match unanswered.why {
                    Why::Lost => Absence::Lost,
                    Why::NoPermission | Why::Failed => Absence::Missing,
                };
                Some((absence, unanswered.message.clone(), None))
            }
            Ok(address) => {
                self.opened?;
                let (absence, reason) = if self.has_mig() {
                    (Absence::Mig, MIG)
                } else if is_first {
                    (
                        Absence::Missing,
                        "it was asked for, and NVML lists it but CUDA does not",
                    )
                } else {
                    (Absence::NotLookedAt, ENDS)
                };
                Some((absence, reason.to_owned(), Some(address.clone())))
            }
        }
    }

    /// On the bus and not in NVML's list, or in its list without an answer.
    fn not_listed(&self) -> Vec<AbsentGpu> {
        let Some(bus) = &self.bus else {
            let mut unknown = self.unanswered(0);
            // An agent that sees only some GPUs says nothing of the others anyway.
            if self.visibility == Visibility::All {
                let reason =
                    "the PCI bus cannot be read: whether it has GPUs that NVML does not list is not known";
                unknown.push(AbsentGpu::new(Absence::NotLookedAt, reason));
            }
            return unknown;
        };
        if !bus.iter().any(|gpu| gpu.driver.as_deref() == Some(NVIDIA)) {
            // The driver is not loaded, or the machine shows its GPUs otherwise: nothing can be compared.
            return self.unanswered(0);
        }
        let unlisted = bus.iter().filter(|gpu| !self.is_known(&gpu.address));
        let mut absent: Vec<AbsentGpu> = unlisted.filter_map(|gpu| self.why_unlisted(gpu)).collect();
        if self.hides_as_many(&absent) {
            absent.retain(|gpu| gpu.absence != Absence::Lost);
        }
        let lost = absent.iter().filter(|gpu| gpu.absence == Absence::Lost).count();
        absent.extend(self.unanswered(lost));
        absent
    }

    /// True where NVML lists as many GPUs without saying where they are as seem to be lost: each of these may be one of them.
    fn hides_as_many(&self, absent: &[AbsentGpu]) -> bool {
        let lost = absent.iter().filter(|gpu| gpu.absence == Absence::Lost).count();
        let listed = self.managed.as_deref().unwrap_or_default();
        let hides = |gpu: &&ManagedGpu| {
            gpu.address
                .as_ref()
                .is_err_and(|unanswered| unanswered.why != Why::Lost)
        };
        lost > 0 && listed.iter().filter(hides).count() >= lost
    }

    fn is_known(&self, address: &str) -> bool {
        let listed = self.managed.as_deref().unwrap_or_default();
        let mut listed = listed.iter().filter_map(|gpu| gpu.address.as_deref().ok());
        self.is_opened(address) || listed.any(|listed| listed == address)
    }

    fn why_unlisted(&self, gpu: &BusGpu) -> Option<AbsentGpu> {
        let (absence, reason) = match (gpu.driver.as_deref(), &self.visibility, &self.managed) {
            _ if gpu.excluded => (
                Absence::Excluded,
                "the driver was told to leave it alone (NVreg_ExcludedGpus)".to_owned(),
            ),
            (Some(driver), _, _) if driver != NVIDIA => {
                (Absence::OtherDriver, format!("the driver {driver} has it"))
            }
            (Some(_), Visibility::Confined(_), Ok(_)) if self.earlier.contains(&gpu.address) => (
                Absence::Lost,
                "it was listed earlier in this boot with the same grants, it is on the bus and the NVIDIA driver has it, but NVML \
                 does not list it any more"
                    .to_owned(),
            ),
            (_, Visibility::Confined(why), _) => (
                Absence::NotGranted,
                format!("it is on the bus and NVML does not list it here; {why}"),
            ),
            (_, Visibility::Unknown(why), _) => (
                Absence::NotLookedAt,
                format!("it is on the bus and NVML does not list it; {why}"),
            ),
            (None, Visibility::All, _) => (
                Absence::WithoutDriver,
                "it is on the bus, and no driver has it while the NVIDIA driver has others".to_owned(),
            ),
            (Some(_), Visibility::All, Ok(_)) => (
                Absence::Lost,
                "it is on the bus and the NVIDIA driver has it, but NVML does not list it".to_owned(),
            ),
            (Some(_), Visibility::All, Err(_)) if self.opened.is_none() || self.is_masked => return None,
            (Some(_), Visibility::All, Err(why)) => (
                Absence::NotLookedAt,
                format!(
                    "the NVIDIA driver has it, CUDA does not list it, and NVML cannot be asked: {}",
                    why.message()
                ),
            ),
        };
        Some(AbsentGpu {
            pci_address: Some(gpu.address.clone()),
            ..AbsentGpu::new(absence, reason)
        })
    }

    /// Entries of NVML's list that do not even say where they are. If the bus showed N lost GPUs already, N of these entries are the same GPUs.
    fn unanswered(&self, told: usize) -> Vec<AbsentGpu> {
        let managed = self.managed.as_deref().unwrap_or_default();
        let unanswered = (0..).zip(managed).filter_map(|(index, gpu): (usize, _)| {
            let Unanswered { why, message } = gpu.address.as_ref().err()?;
            let absence = match why {
                Why::Lost => Absence::Lost,
                Why::NoPermission if matches!(self.visibility, Visibility::Confined(_)) => {
                    Absence::NotGranted
                }
                Why::NoPermission | Why::Failed => Absence::NotLookedAt,
            };
            Some(AbsentGpu::new(
                absence,
                format!("number {index} of NVML's list: {message}"),
            ))
        });
        let mut told = told;
        unanswered
            .filter(|gpu| {
                let is_told = gpu.absence == Absence::Lost && told > 0;
                told -= usize::from(is_told);
                !is_told
            })
            .collect()
    }

    /// NVML answers and has no list: whether CUDA shows all GPUs is not known.
    fn without_a_list(&self) -> Vec<AbsentGpu> {
        let (Some(_), Err(NoList::Unanswered(unanswered))) = (self.opened, &self.managed) else {
            // A failure of the run says why CUDA shows nothing.
            return Vec::new();
        };
        let absence = match unanswered.why {
            Why::Lost => Absence::Lost,
            Why::NoPermission | Why::Failed => Absence::NotLookedAt,
        };
        let reason = format!("NVML does not list its GPUs: {}", unanswered.message);
        vec![AbsentGpu::new(absence, reason)]
    }

    /// In NVML's list and not in CUDA's, which nobody has confined.
    fn not_opened(&self) -> Vec<AbsentGpu> {
        let (Some(_), Ok(managed), false) = (self.opened, &self.managed, self.is_masked) else {
            return Vec::new();
        };
        let (absence, reason) = if self.has_mig() {
            (Absence::Mig, MIG)
        } else {
            (Absence::Missing, "NVML lists it, and CUDA does not")
        };
        let addresses = managed.iter().filter_map(|gpu| gpu.address.as_deref().ok());
        let left = addresses.filter(|address| !self.is_opened(address));
        left.map(|address| AbsentGpu {
            pci_address: Some(address.to_owned()),
            ..AbsentGpu::new(absence, reason)
        })
        .collect()
    }

    fn too_few(&self) -> Option<AbsentGpu> {
        let expected = usize::try_from(self.expected?).ok()?;
        let there = match (&self.managed, self.opened) {
            (Ok(managed), _) => managed.iter().filter(|gpu| gpu.address.is_ok()).count(),
            (Err(_), Some(opened)) => opened.len(),
            // Nobody tells which GPUs there are, and a failure of the run says so.
            (Err(_), None) => return None,
        };
        let reason =
            format!("the node should have {expected} GPUs (--expect gpus={expected}), and {there} answer");
        (there < expected).then(|| AbsentGpu::new(Absence::Missing, reason))
    }
}

/// By nvidia-smi's number or by the beginning of its UUID.
fn find<'a>(managed: &'a [ManagedGpu], name: &str) -> Option<&'a ManagedGpu> {
    if let Ok(index) = name.parse::<usize>() {
        return managed.get(index);
    }
    let begins = |uuid: &str| {
        uuid.get(..name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let mut managed = managed.iter();
    managed.find(|gpu| gpu.uuid.as_deref().is_some_and(begins))
}

mod before;
mod earlier;
pub(crate) use before::{Before, GpusBefore};
use earlier::listed_earlier;
pub(super) use earlier::view;

#[cfg(test)]
mod tests;

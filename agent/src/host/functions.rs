//! GPUs as the bus shows them, whoever drives them, and whether this process sees all of them.

use kb_core::report::Fact;
use sha2::{Digest, Sha256};

use super::pci::{driver_of, gpu_addresses, is_virtual_function};
use super::{HostRoot, place};

/// Hexadecimal digits that tell the views of one node apart.
const VIEW_DIGITS: usize = 20;

/// A GPU of NVIDIA on the bus. Functions that SR-IOV makes for guests (vGPU) are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BusGpu {
    /// `0000:3b:00.0`.
    pub(crate) address: String,
    /// Kernel driver that has it: `nvidia`, `vfio-pci`; `None`: none has.
    pub(crate) driver: Option<String>,
    /// The NVIDIA driver was told to leave it alone.
    pub(crate) excluded: bool,
}

/// All GPUs of NVIDIA on the bus; `None` where it cannot be read.
pub(crate) fn bus_gpus(root: &HostRoot) -> Option<Vec<BusGpu>> {
    root.names("sys/bus/pci/devices").value?;
    let addresses = gpu_addresses(root).into_iter();
    let gpus = addresses
        .filter(|address| !is_virtual_function(root, address))
        .map(|address| BusGpu {
            driver: driver_of(root, &address),
            excluded: is_excluded(root, &address),
            address,
        })
        .collect();
    Some(gpus)
}

/// `GPU Excluded:  No`, in the driver's own folder of the GPU.
fn is_excluded(root: &HostRoot, address: &str) -> bool {
    let text = root.text(&format!("proc/driver/nvidia/gpus/{address}/information"));
    let text = text.value.unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("GPU Excluded:"));
    line.is_some_and(|word| word.trim() == "Yes")
}

/// Whether this process sees all GPUs of the machine. Only then is one that it does not see lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Visibility {
    All,
    /// It may not see all, with why.
    Confined(String),
    /// Whether it may could not be read, with why.
    Unknown(String),
}

pub(crate) fn visibility(root: &HostRoot, visible_devices: Option<&str>) -> Visibility {
    if !matches!(visible_devices, None | Some("" | "all")) {
        return Visibility::Confined("NVIDIA_VISIBLE_DEVICES names some".to_owned());
    }
    let Fact { value, .. } = place::container(root);
    match value.as_deref() {
        Some("none seen") => {}
        Some(container) => {
            return Visibility::Confined(format!("this process runs in a container or a job ({container})"));
        }
        None => {
            return Visibility::Unknown("whether this process runs in a container cannot be read".to_owned());
        }
    }
    match effective_user(root) {
        Some(0) => Visibility::All,
        Some(_) => Visibility::Confined("this process does not run as root".to_owned()),
        None => Visibility::Unknown("whose process this is cannot be read".to_owned()),
    }
}

/// Tells apart what is granted to processes that may not see all GPUs, as a hash: another user, container, job or
/// `NVIDIA_VISIBLE_DEVICES`, another view. Nothing where the process sees all. A container that is made anew is another one, unless the
/// variable says what every one like it is given.
pub(crate) fn view(root: &HostRoot, visible_devices: Option<&str>) -> Option<String> {
    if visibility(root, visible_devices) == Visibility::All {
        return None;
    }
    let read = |path: &str| root.text(path).value.unwrap_or_default();
    let user = effective_user(root).map_or_else(String::new, |user| user.to_string());
    let groups = [read("proc/1/cgroup"), read("proc/self/cgroup")];
    let visible = visible_devices.unwrap_or_default();
    let is_job = groups.iter().any(|groups| place::is_slurm_job(groups));
    let groups = if !is_job && says_grant(root, visible) {
        Default::default()
    } else {
        groups
    };
    let digest = Sha256::digest(format!("{user}\n{visible}\n{}\n{}", groups[0], groups[1]));
    Some(format!("{digest:x}").chars().take(VIEW_DIGITS).collect())
}

/// Whether `NVIDIA_VISIBLE_DEVICES` alone says which GPUs a container is given: a list does. `all` stands in many images, and is true
/// of a container that may do everything; any other may have been given some in another way.
fn says_grant(root: &HostRoot, visible: &str) -> bool {
    match visible {
        "" | "void" | "none" => false,
        "all" => is_privileged(root),
        _ => true,
    }
}

/// `CapEff:` of proc(5). Where there is no such line, nothing was taken from the process.
fn is_privileged(root: &HostRoot) -> bool {
    const SYS_ADMIN: u32 = 21;
    let status = root.text("proc/self/status").value.unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    mask.is_none_or(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> SYS_ADMIN & 1 == 1))
}

/// `Uid: real effective saved filesystem` of proc(5).
fn effective_user(root: &HostRoot) -> Option<u32> {
    let status = root.text("proc/self/status").value?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

//! The NVLinks of a GPU: how many, which are up, what is at their other end, how fast.

use std::ops::Add;

use kb_core::report::{Fact, GapKind, fact_name};
use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};

use super::super::driver::PciAddress;
use super::fields::{self, Question};
use super::raw::found;
use super::{Managed, Sheet};

/// More links than any GPU has; the loop ends at the first number that NVML does not know.
const MOST_LINKS: u32 = 64;
/// `NVML_NVLINK_STATE_INACTIVE`; 1 is active, 2 asleep.
const INACTIVE: u32 = 0;
/// `nvmlIntNvLinkDeviceType_t`: the other end is a GPU.
const REMOTE_GPU: u32 = 0;
/// `nvmlIntNvLinkDeviceType_t`: the other end is an NVSwitch.
const REMOTE_SWITCH: u32 = 2;
/// `NVML_NVLINK_CAP_VALID`: the board has the link, up or not.
const VALID: u32 = 5;
/// `NVML_FI_DEV_NVLINK_GET_SPEED`, MB/s of one link before coding.
const SPEED: u32 = 164;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinkSummary {
    /// Numbers of the links that NVML knows, active or not.
    pub(super) numbers: Vec<u32>,
    active: Vec<u32>,
    /// Down links that the board still has, by their capability "valid". `None` where none is down or one does not answer.
    pub(crate) valid_of_down: Option<u32>,
    pub(crate) to_switch: u32,
    /// Active links that end at the GPU with this address.
    to_gpus: Vec<(PciAddress, u32)>,
    /// Active links whose other end NVML does not name.
    pub(crate) to_unknown: u32,
}

impl LinkSummary {
    pub(crate) fn total(&self) -> u32 {
        count(&self.numbers)
    }

    pub(crate) fn active(&self) -> u32 {
        count(&self.active)
    }

    pub(crate) fn to_gpu(&self, address: &PciAddress) -> u32 {
        let found = self.to_gpus.iter().find(|(remote, _)| remote == address);
        found.map_or(0, |(_, count)| *count)
    }
}

fn count(numbers: &[u32]) -> u32 {
    u32::try_from(numbers.len()).unwrap_or(u32::MAX)
}

impl Managed {
    /// The GPU's NVLinks, read once. A GPU on which no link is supported has none: that is a value, not a gap.
    pub(crate) fn links(&self) -> &Fact<LinkSummary> {
        self.links
            .get_or_init(|| self.ask("nvmlDeviceGetNvLinkState", survey))
    }
}

pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    let links = gpu.links();
    sheet.put_part(fact_name::NVLINK_LINKS, links, LinkSummary::total);
    sheet.put_part(fact_name::NVLINK_LINKS_ACTIVE, links, LinkSummary::active);
    sheet.put_part(fact_name::NVLINK_LINKS_TO_SWITCH, links, |links| links.to_switch);
    sheet.put(
        "nvlink.version",
        of_active(gpu, "nvmlDeviceGetNvLinkVersion", version),
    );
    sheet.put(
        fact_name::NVLINK_SPEED_MB_S,
        of_active(gpu, "nvmlDeviceGetFieldValues", slowest),
    );
}

fn survey(device: &Device<'static>) -> Result<LinkSummary, NvmlError> {
    let mut summary = LinkSummary::default();
    let mut down = Vec::new();
    for number in 0..MOST_LINKS {
        let up = match state(device, number) {
            // Asleep, a link is up and saves power.
            Ok(state) => state != INACTIVE,
            // Beyond the last link, or no link at all; a number between others that is not there is passed over.
            Err(NvmlError::InvalidArg) => break,
            Err(NvmlError::NotSupported) if number == 0 => break,
            Err(NvmlError::NotSupported) => continue,
            Err(error) => return Err(error),
        };
        summary.numbers.push(number);
        if up {
            summary.active.push(number);
            note_other_end(device, number, &mut summary);
        } else {
            down.push(number);
        }
    }
    // Asked of links that are down only: a link that is up is there, and each question costs 0.3 ms on an H200.
    let valid = down.iter().map(|number| capability(device, *number, VALID));
    let valid: Result<Vec<u32>, NvmlError> = valid.collect();
    summary.valid_of_down = match valid {
        Ok(valid) if !valid.is_empty() => valid
            .iter()
            .copied()
            .map(|has| u32::from(has != 0))
            .reduce(Add::add),
        _ => None,
    };
    Ok(summary)
}

fn note_other_end(device: &Device<'_>, number: u32, summary: &mut LinkSummary) {
    match remote_type(device, number) {
        Ok(REMOTE_SWITCH) => summary.to_switch += 1,
        Ok(REMOTE_GPU) => {
            let link = device.link_wrapper_for(number);
            let Ok(remote) = link.remote_pci_info() else {
                summary.to_unknown += 1;
                return;
            };
            let address = PciAddress::from_driver(&remote.bus_id);
            match summary.to_gpus.iter_mut().find(|(known, _)| *known == address) {
                Some((_, count)) => *count += 1,
                None => summary.to_gpus.push((address, 1)),
            }
        }
        _ => summary.to_unknown += 1,
    }
}

/// Straight from the table: the wrapper's own method (0.13.0) hands the call a temporary and always answers "unknown".
fn remote_type(device: &Device<'_>, number: u32) -> Result<u32, NvmlError> {
    let function = found(&device.nvml().lib().nvmlDeviceGetNvLinkRemoteDeviceType)?;
    let mut kind = u32::MAX;
    // SAFETY: a live device handle and a place for one enum value, which is an unsigned int.
    nvml_try(unsafe { function(device.handle(), number, &raw mut kind) })?;
    Ok(kind)
}

/// A number, because the wrapper knows only two of the three states.
fn state(device: &Device<'_>, number: u32) -> Result<u32, NvmlError> {
    let function = found(&device.nvml().lib().nvmlDeviceGetNvLinkState)?;
    let mut state = INACTIVE;
    // SAFETY: a live device handle and a place for one enum value, which is an unsigned int.
    nvml_try(unsafe { function(device.handle(), number, &raw mut state) })?;
    Ok(state)
}

fn capability(device: &Device<'_>, number: u32, capability: u32) -> Result<u32, NvmlError> {
    let function = found(&device.nvml().lib().nvmlDeviceGetNvLinkCapability)?;
    let mut has = 0;
    // SAFETY: a live device handle and a place for one unsigned int.
    nvml_try(unsafe { function(device.handle(), number, capability, &raw mut has) })?;
    Ok(has)
}

/// A question about the active links, of which there may be none.
fn of_active<T>(
    gpu: &Managed,
    call: &'static str,
    question: impl FnOnce(&Device<'static>, &[u32]) -> Result<T, NvmlError>,
) -> Fact<T> {
    let links = gpu.links();
    match &links.value {
        Some(links) if links.active.is_empty() => {
            Fact::missing(GapKind::NotSupported, "no NVLink of this GPU is active", call)
        }
        Some(links) => gpu.ask(call, |device| question(device, &links.active)),
        None => Fact {
            value: None,
            source: call.to_owned(),
            gap: links.gap.clone(),
        },
    }
}

/// `nvmlNvlinkVersion_t` of the first active link: all links of a GPU are of one kind.
fn version(device: &Device<'static>, active: &[u32]) -> Result<String, NvmlError> {
    let first = active.first().ok_or(NvmlError::NotSupported)?;
    let version = device.link_wrapper_for(*first).version()?;
    Ok(version_word(version))
}

fn version_word(version: u32) -> String {
    let words = ["invalid", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0"];
    super::raw::word(version, &words)
}

/// The speed of the slowest active link: links of one GPU are alike, so a lower one stands out.
fn slowest(device: &Device<'static>, active: &[u32]) -> Result<u64, NvmlError> {
    let questions: Vec<Question> = active
        .iter()
        .map(|link| Question::of_link(SPEED, *link))
        .collect();
    let answers: Result<Vec<u64>, NvmlError> = fields::all(device, &questions)?.into_iter().collect();
    answers?.into_iter().min().ok_or(NvmlError::NotSupported)
}

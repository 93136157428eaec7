//! Error counters of the NVLinks, summed over the links of a GPU.

use kb_core::report::{Fact, Gap, GapKind, fact_name};
use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};

use super::fields::{self, Question};
use super::managed::or_older;
use super::raw::found;
use super::{Managed, Sheet};

/// A counter: its fact, its field (`NVML_FI_DEV_NVLINK_ERROR_DL_…`), the older call's number of it
/// (`nvmlNvLinkErrorCounter_t`), and the field that has taken its place with NVLink 5, where there is one.
struct Counter {
    name: &'static str,
    field: u32,
    older: u32,
    fifth: Option<u32>,
}

const COUNTERS: [Counter; 3] = [
    Counter {
        name: fact_name::NVLINK_CRC_ERRORS,
        field: 163,
        older: 2,
        fifth: None,
    },
    Counter {
        name: fact_name::NVLINK_REPLAY_ERRORS,
        field: 161,
        older: 0,
        fifth: None,
    },
    Counter {
        name: fact_name::NVLINK_RECOVERY_ERRORS,
        field: 162,
        older: 1,
        // NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS
        fifth: Some(215),
    },
];
const FIELDS_CALL: &str = "nvmlDeviceGetFieldValues";
const OLDER_CALL: &str = "nvmlDeviceGetNvLinkErrorCounter";

/// Link by link, in the way of driver 525 and later, the older one or that of NVLink 5. Never with the scope of all
/// links together, which the header has for other fields and driver 580.159.04 seems to answer here: it then corrupts
/// the caller's heap (seen on H200, every time), for all that it would take 3 ms in place of 44.
pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    let known = gpu.links();
    let links = match &known.value {
        Some(links) if !links.numbers.is_empty() => links.numbers.as_slice(),
        _ => return untold(sheet, known.gap.as_ref()),
    };
    for counter in &COUNTERS {
        let newer = gpu.ask(FIELDS_CALL, |device| by_field(device, counter.field, links));
        let older = || gpu.ask(OLDER_CALL, |device| by_older_call(device, counter.older, links));
        let fifth = || match counter.fifth {
            Some(field) => gpu.ask(FIELDS_CALL, |device| by_field(device, field, links)),
            None => Fact::missing(GapKind::NotSupported, "", FIELDS_CALL),
        };
        sheet.put(counter.name, or_older(or_older(newer, older), fifth));
    }
}

/// There is no link to ask about, or it is not known which there are.
fn untold(sheet: &mut Sheet, unknown: Option<&Gap>) {
    let none = || Gap::new(GapKind::NotSupported, "the GPU has no NVLink");
    let gap = unknown.cloned().unwrap_or_else(none);
    for counter in &COUNTERS {
        let fact: Fact<u64> = Fact::without(gap.clone(), FIELDS_CALL);
        sheet.put(counter.name, fact);
    }
}

fn by_field(device: &Device<'_>, field: u32, links: &[u32]) -> Result<u64, NvmlError> {
    let questions: Vec<Question> = links.iter().map(|link| Question::of_link(field, *link)).collect();
    sum(fields::all(device, &questions)?)
}

fn by_older_call(device: &Device<'_>, counter: u32, links: &[u32]) -> Result<u64, NvmlError> {
    let function = found(&device.nvml().lib().nvmlDeviceGetNvLinkErrorCounter)?;
    let of = |link: &u32| {
        let mut count = 0;
        // SAFETY: a live handle and a place for one count.
        nvml_try(unsafe { function(device.handle(), *link, counter, &raw mut count) })?;
        Ok(count)
    };
    sum(links.iter().map(of).collect())
}

/// Links that do not count (a link that is down may answer so) add nothing, unless none counts.
fn sum(answers: Vec<Result<u64, NvmlError>>) -> Result<u64, NvmlError> {
    let mut total: Option<u64> = None;
    let mut silent = None;
    for answer in answers {
        match answer {
            Ok(count) => total = Some(total.unwrap_or(0).saturating_add(count)),
            Err(error @ (NvmlError::NotSupported | NvmlError::InvalidArg)) => silent = Some(error),
            Err(error) => return Err(error),
        }
    }
    total.ok_or(silent.unwrap_or(NvmlError::NoData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_do_not_count_add_nothing_unless_none_counts() {
        let silent = || Err(NvmlError::NotSupported);
        assert_eq!(sum(vec![Ok(2), silent(), Ok(3)]).unwrap(), 5);
        assert!(matches!(
            sum(vec![silent(), silent()]),
            Err(NvmlError::NotSupported)
        ));
        assert!(matches!(
            sum(vec![Ok(2), Err(NvmlError::GpuLost)]),
            Err(NvmlError::GpuLost)
        ));
    }
}

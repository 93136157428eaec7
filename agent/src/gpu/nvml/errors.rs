//! Error counters of the NVLinks, summed over the links of a GPU.

use kb_core::report::{Fact, Gap, GapKind};
use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};

use super::fields::{self, Question};
use super::managed::{answer, or_older};
use super::raw::found;
use super::{Managed, Sheet};

/// A counter: its fact, its field (`NVML_FI_DEV_NVLINK_ERROR_DL_…`), and the older call's number of it
/// (`nvmlNvLinkErrorCounter_t`).
struct Counter {
    name: &'static str,
    field: u32,
    older: u32,
}

const COUNTERS: [Counter; 3] = [
    Counter {
        name: "nvlink.crc_errors",
        field: 163,
        older: 2,
    },
    Counter {
        name: "nvlink.replay_errors",
        field: 161,
        older: 0,
    },
    Counter {
        name: "nvlink.recovery_errors",
        field: 162,
        older: 1,
    },
];
const FIELDS_CALL: &str = "nvmlDeviceGetFieldValues";
const OLDER_CALL: &str = "nvmlDeviceGetNvLinkErrorCounter";

/// One call for all counters of all links; the older one, a call for each, where that does not know them.
pub(super) fn read(gpu: &Managed, sheet: &mut Sheet) {
    let known = gpu.links();
    let links = match &known.value {
        Some(links) if !links.numbers.is_empty() => links.numbers.as_slice(),
        _ => return untold(sheet, known.gap.as_ref()),
    };
    let mut answers = gpu.ask(FIELDS_CALL, |device| fields::all(device, &questions(links)));
    for counter in COUNTERS.iter().rev() {
        let own = split(&mut answers, links.len());
        let older = || gpu.ask(OLDER_CALL, |device| by_older_call(device, counter.older, links));
        sheet.put(counter.name, or_older(own, older));
    }
}

/// There is no link to ask about, or it is not known which there are.
fn untold(sheet: &mut Sheet, unknown: Option<&Gap>) {
    let (kind, reason) = match unknown {
        Some(gap) => (gap.kind, gap.reason.as_str()),
        None => (GapKind::NotSupported, "the GPU has no NVLink"),
    };
    for counter in &COUNTERS {
        let fact: Fact<u64> = Fact::missing(kind, reason, FIELDS_CALL);
        sheet.put(counter.name, fact);
    }
}

/// Counter by counter, link by link.
fn questions(links: &[u32]) -> Vec<Question> {
    let of = |counter: &'static Counter| links.iter().map(|link| Question::of_link(counter.field, *link));
    COUNTERS.iter().flat_map(of).collect()
}

type Answers = Vec<Result<u64, NvmlError>>;

/// The sum of the last counter's answers, which are taken off.
fn split(answers: &mut Fact<Answers>, links: usize) -> Fact<u64> {
    match &mut answers.value {
        Some(all) => answer(FIELDS_CALL, sum(all.split_off(all.len().saturating_sub(links)))),
        None => Fact {
            value: None,
            source: answers.source.clone(),
            gap: answers.gap.clone(),
        },
    }
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
fn sum(answers: Answers) -> Result<u64, NvmlError> {
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

    #[test]
    fn answers_belong_to_counters_in_the_order_of_the_questions() {
        let mut answers = Fact::read(vec![Ok(1), Ok(2), Ok(30), Ok(40)], FIELDS_CALL);
        assert_eq!(split(&mut answers, 2).value, Some(70));
        assert_eq!(split(&mut answers, 2).value, Some(3));
    }
}

//! What a report says of its machine: which GPUs are in it, and which driver runs it.

use std::collections::BTreeSet;

use kb_core::terminal::harmless;

use super::weight::CONVERTED;
use crate::store::{Hardware, Machine, MachineClock};
use kb_core::report::{Absence, AbsentGpu, Report, fact_name};

/// What NVIDIA's container toolkit takes for all GPUs.
const ALL: &str = "all";
/// Longest UUID that is kept: `GPU-` and 36 characters, with room.
const MAX_UUID_BYTES: usize = 64;

pub(super) fn of(report: &Report, clock: MachineClock) -> Option<Machine> {
    if report.host.contains_key(CONVERTED) {
        return None;
    }
    let gpus = if report.simulated {
        // A stand-in gives the same UUIDs on every machine.
        Vec::new()
    } else {
        let uuids = report.gpus.iter().filter_map(|gpu| gpu.uuid.value.as_deref());
        uuids.filter(|uuid| is_uuid(uuid)).map(str::to_owned).collect()
    };
    Some(Machine {
        gpus,
        shows_all: shows_all(report),
        clock,
    })
}

/// Model and driver, as far as the report says.
pub fn hardware(report: &Report) -> Hardware {
    let models = report.gpus.iter().filter_map(|gpu| gpu.name.value.as_deref());
    let models: BTreeSet<&str> = models.map(str::trim).filter(|name| !name.is_empty()).collect();
    let models: Vec<&str> = models.into_iter().collect();
    let driver = [fact_name::DRIVER_VERSION, fact_name::NVML_DRIVER_VERSION].into_iter();
    let mut driver = driver.filter_map(|name| report.host.get(name)?.value.as_ref()?.as_str());
    let readable = |text: &str| Some(harmless(text)).filter(|text| !text.is_empty());
    Hardware {
        model: readable(&models.join(" + ")),
        driver: driver.next().and_then(|version| readable(version.trim())),
    }
}

/// Whether the run was about all GPUs, and none of them is missing: one that is lost is a fault, and not gone elsewhere.
pub(super) fn shows_all(report: &Report) -> bool {
    is_unrestricted(report) && report.absent.is_empty()
}

/// Whether it is about all GPUs that the node may use: the environment left none out, and each that is absent is so on purpose.
pub(super) fn is_of_all(report: &Report) -> bool {
    is_whole(report, is_on_purpose)
}

/// The same, where GPUs without a driver may be absent, too: each report warns of them.
pub(super) fn is_of_working(report: &Report) -> bool {
    is_whole(report, |gpu| {
        is_on_purpose(gpu) || gpu.absence == Absence::WithoutDriver
    })
}

fn is_whole(report: &Report, may_be_absent: impl Fn(&AbsentGpu) -> bool) -> bool {
    !report.host.contains_key(CONVERTED) && is_unrestricted(report) && report.absent.iter().all(may_be_absent)
}

pub(super) fn is_on_purpose(gpu: &AbsentGpu) -> bool {
    matches!(
        gpu.absence,
        Absence::OtherDriver | Absence::Excluded | Absence::Mig
    )
}

fn is_unrestricted(report: &Report) -> bool {
    let variable = |name: &str| {
        let fact = report.host.get(&format!("environment.{name}"));
        fact.and_then(|fact| fact.value.as_ref())
    };
    variable("cuda_visible_devices").is_none()
        && variable("nvidia_visible_devices").is_none_or(|value| value == ALL)
}

fn is_uuid(text: &str) -> bool {
    text.len() <= MAX_UUID_BYTES
        && text.starts_with("GPU-")
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples;

    fn machine(change: impl Fn(&mut Value)) -> Option<Machine> {
        let mut report = samples::report(2, &[]);
        change(&mut report);
        of(&serde_json::from_value(report).unwrap(), MachineClock::Right)
    }

    #[test]
    fn a_run_on_some_gpus_tells_of_no_other() {
        let of = |change: &dyn Fn(&mut Value)| machine(change).unwrap();
        let whole = of(&|_| {});
        assert_eq!(
            (whole.gpus.as_slice(), whole.shows_all),
            (&["GPU-0".to_owned(), "GPU-1".to_owned()][..], true)
        );
        let visible = |name: &str, value: &str| {
            let (name, value) = (format!("environment.{name}"), value.to_owned());
            of(&move |report| report["host"] = json!({ name.clone(): { "value": value, "source": "test" } }))
                .shows_all
        };
        assert!(!visible("cuda_visible_devices", "0"));
        assert!(!visible("nvidia_visible_devices", "0,1"));
        assert!(visible("nvidia_visible_devices", "all"));
        let lost = of(&|report| {
            report["absent"] = json!([{ "absence": "lost", "pci_address": "0000:00:07.0", "reason": "gone", "source": "test" }]);
        });
        assert!(!lost.shows_all);
        assert!(of(&|report| report["simulated"] = true.into()).gpus.is_empty());
    }

    #[test]
    fn another_tools_output_tells_nothing_of_the_machine() {
        let converted = |report: &mut Value| {
            report["host"] = json!({ CONVERTED: { "value": "nvbandwidth", "source": "the text" } });
        };
        assert_eq!(machine(converted), None);
    }
}

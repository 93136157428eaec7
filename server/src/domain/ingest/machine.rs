//! What a report says of its machine: which GPUs are in it, and whether its clock is right.

use kb_core::report::Report;
use time::{Duration, OffsetDateTime};

use super::weight::CONVERTED;
use crate::store::Machine;

/// Further ahead than this a clock is wrong; less may be the way, or a clock that is about to be set.
const MOST_AHEAD: Duration = Duration::minutes(5);
/// What NVIDIA's container toolkit takes for all GPUs.
const ALL: &str = "all";
/// Longest UUID that is kept: `GPU-` and 36 characters, with room.
const MAX_UUID_BYTES: usize = 64;

/// What the report says. A clock that is behind cannot be told from a report that waited in a spool, one that is ahead can:
/// no run ends after its report came.
pub(super) fn of(
    report: &Report,
    finished_at: OffsetDateTime,
    received_at: OffsetDateTime,
) -> Option<Machine> {
    if report.host.contains_key(CONVERTED) {
        return None;
    }
    let ahead = finished_at - received_at;
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
        ahead_seconds: if ahead > MOST_AHEAD {
            ahead.whole_seconds()
        } else {
            0
        },
    })
}

/// Whether the run was about all GPUs, and none of them is missing: one that is lost is a fault, and not gone elsewhere.
pub(super) fn shows_all(report: &Report) -> bool {
    let variable = |name: &str| {
        let fact = report.host.get(&format!("environment.{name}"));
        fact.and_then(|fact| fact.value.as_ref())
    };
    variable("cuda_visible_devices").is_none()
        && variable("nvidia_visible_devices").is_none_or(|value| value == ALL)
        && report.absent.is_empty()
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
    use time::macros::datetime;

    use super::*;
    use crate::domain::correlate::samples;

    const ENDED: OffsetDateTime = datetime!(2026-11-21 07:00:10 UTC);

    fn machine(change: impl Fn(&mut Value), received_at: OffsetDateTime) -> Option<Machine> {
        let mut report = samples::report(2, &[]);
        change(&mut report);
        of(&serde_json::from_value(report).unwrap(), ENDED, received_at)
    }

    #[test]
    fn a_run_on_some_gpus_tells_of_no_other() {
        let of = |change: &dyn Fn(&mut Value)| machine(change, ENDED).unwrap();
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
    fn only_a_clock_that_is_ahead_is_known() {
        let ahead = |received_at| machine(|_| {}, received_at).unwrap().ahead_seconds;
        assert_eq!(ahead(ENDED - Duration::minutes(5)), 0);
        assert_eq!(ahead(ENDED - Duration::minutes(6)), 360);
        assert_eq!(ahead(ENDED + Duration::days(30)), 0, "it waited in a spool");
    }

    #[test]
    fn another_tools_output_tells_nothing_of_the_machine() {
        let converted = |report: &mut Value| {
            report["host"] = json!({ CONVERTED: { "value": "nvbandwidth", "source": "the text" } });
        };
        assert_eq!(machine(converted, ENDED), None);
    }
}

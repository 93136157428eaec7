//! Whether a later report has read again what the logs of an earlier one told: who cannot read a log knows nothing of what stands in it.

use std::collections::BTreeSet;

use kb_core::observation::{What, known, known_xids, read_line};
use kb_core::policy::Policy;
use kb_core::report::{Family, Report};
use kb_core::severity::Blame;
use kb_core::verdict::{Verdict, not_admitted, unproven};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::gone::{has_rebooted, leaves_gpus_open};
use super::{claim, machine};
use crate::domain::correlate::number_of;

/// What names of causes begin with that a log told.
const OF_LOG: &str = "log:";
/// The same of the kernel log.
pub(super) const OF_KERNEL: &str = "log:kernel:";
/// The same of what NCCL printed in the run.
const OF_NCCL: &str = "log:nccl:";
/// The source of that.
const NCCL: &str = "nccl";
const READABLE: &str = "kernel_log.readable";
const LINES_LEFT_OUT: &str = "kernel_log.lines_left_out";

/// The name of a cause that a log of this source told: by the record, or else the rule, that says so.
pub(super) fn name_of(source: Option<&str>, told: &str) -> String {
    let of = if source == Some(NCCL) { OF_NCCL } else { OF_KERNEL };
    format!("{of}{told}")
}

/// Why the later report has not read again the logs that told of these causes of the earlier one.
pub(super) fn unread_logs(causes: &[String], earlier: &Report, later: &Report) -> Option<String> {
    let has = |of: &str| causes.iter().any(|name| name.starts_with(of));
    if has(OF_NCCL) && later.nccl.is_none() {
        return Some("NCCL, which told of it, was not run".to_owned());
    }
    let mut of_kernel = causes.iter().filter_map(|name| name.strip_prefix(OF_KERNEL));
    if !has(OF_KERNEL) || of_kernel.all(|told| is_cleared(told, earlier, later)) {
        return None;
    }
    let mut told = causes.iter().filter_map(|name| name.strip_prefix(OF_KERNEL));
    if let Some(told) = told.find(|told| is_told_again(told, later)) {
        return Some(format!("{told} is in its kernel log, too"));
    }
    unread_kernel_log(earlier, later)
}

/// Whether the kernel log of a report without a ledger still has a line of a record, whatever its policy makes of it. With a ledger each
/// line is told once.
fn is_told_again(told: &str, later: &Report) -> bool {
    let kernel = later.logs.iter().filter(|log| log.source != NCCL);
    let mut lines = kernel.flat_map(|log| log.text.lines());
    later.health.is_none()
        && lines.any(|line| match read_line(line).map(|event| event.what) {
            Some(What::Numbered { family, number, .. }) => is_about(told, family, number),
            Some(What::Message(record)) => record == Some(told),
            Some(What::RecoveryAction(_) | What::Bus(_)) | None => false,
        })
}

fn is_about(told: &str, family: Family, number: u32) -> bool {
    match number_of(told) {
        Some(numbered) => numbered == (family, number),
        None => known(family, number).is_some_and(|known| known.record.as_str() == told),
    }
}

/// The same of one log of the earlier report, by its place.
pub(super) fn unread_log(log: usize, earlier: &Report, later: &Report) -> Option<String> {
    let source = earlier.logs.get(log).map(|log| log.source.as_str());
    unread_logs(&[name_of(source, "")], earlier, later)
}

/// Whether a log told of any of these causes.
pub(super) fn is_told_by_log(causes: &[String]) -> bool {
    causes.iter().any(|name| name.starts_with(OF_LOG))
}

/// Whether the kernel log told of any of these causes.
pub(super) fn is_told_by_kernel(causes: &[String]) -> bool {
    causes.iter().any(|name| name.starts_with(OF_KERNEL))
}

/// Why an event that the kernel log of a look with this verdict told is not over. As one that a ledger holds, it ends by a clear, or by a
/// good run in a later boot, which has to admit the node where it may be a fault of the hardware. That the later look does not see the line
/// any more ends nothing. `proof`: the run that the later look's ledger names as its last proof.
pub(super) fn unended_event(
    causes: &[String],
    (earlier, verdict): (&Report, Verdict),
    later: &Report,
    proof: Option<&Report>,
) -> Option<String> {
    let mut told = causes.iter().filter_map(|name| name.strip_prefix(OF_KERNEL));
    let may_be_of_hardware = |told: &str| verdict > Verdict::Unknown && !is_of_application(told);
    let is_proven = |told: &str| {
        proof.is_some_and(|proof| {
            let admits = !may_be_of_hardware(told) || not_admitted(proof).is_none();
            admits && is_proven_since(earlier, proof)
        })
    };
    let left = told.find(|&told| !is_cleared(told, earlier, later) && !is_proven(told))?;
    let by = if may_be_of_hardware(left) {
        "an admission"
    } else {
        "a run"
    };
    // What no record is about has no name, and no clear is about it.
    Some(if left.is_empty() {
        format!("something of the kernel log was not ended by {by} in a later boot")
    } else {
        format!("{left} of the kernel log was not ended by {by} in a later boot or a person")
    })
}

/// Whether a record that a kernel log told is about errors of applications alone.
fn is_of_application(told: &str) -> bool {
    let mut about = known_xids()
        .iter()
        .filter(|xid| xid.record.as_str() == told)
        .peekable();
    about.peek().is_some() && about.all(|xid| xid.at_fault == Blame::Application)
}

/// Whether a run of another boot, after the earlier report, was good over all GPUs that this had.
fn is_proven_since(earlier: &Report, proof: &Report) -> bool {
    let read = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    let boots = proof.node.boot_id.as_ref().zip(earlier.node.boot_id.as_ref());
    let times = read(&proof.finished_at).zip(read(&earlier.finished_at));
    boots.is_some_and(|(of_proof, then)| of_proof != then)
        && times.is_some_and(|(at, then)| at > then)
        && claim::told(proof, &Policy::default()).verdict <= Verdict::Degraded
        && unproven(proof).is_none()
        && machine::is_of_all(proof)
        && leaves_gpus_open(earlier, proof).is_none()
}

fn unread_kernel_log(earlier: &Report, later: &Report) -> Option<String> {
    let readable = later.host.get(READABLE);
    if readable.is_none_or(|fact| fact.value != Some(true.into())) {
        let gap = readable.and_then(|fact| fact.gap.as_ref());
        let why = gap.map_or_else(String::new, |gap| format!(": {}", gap.reason));
        return Some(format!("the kernel log, which told of it, was not read{why}"));
    }
    // With a ledger each line was read when it was new. Without one, the oldest lines of the boot may have told of it.
    if later.health.is_some() {
        return None;
    }
    let left_out = later.host.get(LINES_LEFT_OUT);
    let left_out = left_out.and_then(|fact| fact.value.as_ref()?.get("before")?.as_u64());
    let left_out = left_out.filter(|lines| *lines > 0 && !has_rebooted(earlier, later))?;
    Some(format!(
        "the kernel log, which told of it, has {left_out} earlier lines of this boot that are not in the report"
    ))
}

/// Whether the later report's ledger tells that a person has ended it since, under each number and on each device with which the
/// earlier report's logs tell it. A line whose device is not known is ended by no clear.
fn is_cleared(told: &str, earlier: &Report, later: &Report) -> bool {
    let read = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    let Some(health) = &later.health else { return false };
    let lines = earlier.logs.iter().flat_map(|log| log.text.lines());
    let entries: BTreeSet<String> = lines
        .filter_map(|line| {
            let event = read_line(line)?;
            let What::Numbered { family, number, .. } = event.what else {
                return None;
            };
            let word = family.word().to_lowercase();
            is_about(told, family, number).then(|| format!("{word}-{number}@{}", event.device))
        })
        .collect();
    let clears = health.clears.iter();
    let since: BTreeSet<&String> = clears
        .filter(|clear| read(&clear.at) > read(&earlier.finished_at))
        .flat_map(|clear| &clear.entries)
        .collect();
    let is_over = |id: &String| since.contains(id) && !health.open.iter().any(|entry| entry.id == *id);
    !entries.is_empty() && entries.iter().all(is_over)
}

#[cfg(test)]
mod tests {
    use kb_core::observation::{KnownXid, known_xids};
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::{proven, report};

    const XID_79: &str = "log:kernel:xid/79-gpu-has-fallen-off-the-bus";

    fn in_boot(boot: &str, host: &Value) -> Report {
        let mut report = report(2, &[]);
        report["node"]["boot_id"] = json!(boot);
        report["host"] = host.clone();
        serde_json::from_value(report).unwrap()
    }

    fn why(causes: &[&str], later: &Report) -> Option<String> {
        let causes: Vec<String> = causes.iter().map(|name| (*name).to_owned()).collect();
        unread_logs(&causes, &in_boot("a", &json!({})), later)
    }

    #[test]
    fn a_log_that_was_not_read_ends_nothing_that_it_told() {
        let fact = |value: Value| json!({ "kernel_log.readable": { "value": value, "source": "kmsg" } });
        let gap = json!({ "kernel_log.readable": { "source": "kmsg", "gap": { "kind": "not_visible", "reason": "Permission denied" } } });
        for boot in ["a", "b"] {
            assert_eq!(why(&[XID_79], &in_boot(boot, &fact(json!(true)))), None);
            for unread in [fact(json!(false)), json!({})] {
                assert!(why(&[XID_79], &in_boot(boot, &unread)).is_some(), "{unread}");
            }
            let told = why(&[XID_79], &in_boot(boot, &gap)).unwrap();
            assert!(told.ends_with("was not read: Permission denied"), "{told}");
            assert_eq!(why(&["event:xid-79@node", "run"], &in_boot(boot, &gap)), None);
        }
    }

    #[test]
    fn lines_that_are_not_in_the_report_may_be_those_of_the_same_boot() {
        let host = json!({
            "kernel_log.readable": { "value": true, "source": "kmsg" },
            "kernel_log.lines_left_out": { "value": { "before": 7, "during": 0 }, "source": "kmsg" },
        });
        assert!(
            why(&[XID_79], &in_boot("a", &host))
                .unwrap()
                .contains("7 earlier lines")
        );
        assert_eq!(why(&[XID_79], &in_boot("b", &host)), None);
    }

    #[test]
    fn a_clear_on_each_device_that_was_told_ends_it_without_the_log() {
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        let line = |number: u32, bus: u32| format!("[  9.0] NVRM: Xid (PCI:0000:{bus}:00): {number}, x");
        let why = |told: &str, lines: &[String], cleared: &[&str], at: &str| {
            let mut earlier = report(2, &[]);
            earlier["logs"] = json!([{ "source": "kmsg", "when": "before", "text": lines.join("\n") }]);
            let mut later = report(2, &[]);
            later["health"] = json!({ "verdict": "no_fault_seen", "open": [],
                "clears": [{ "at": at, "by": "ops", "reason": "new GPU", "entries": cleared }] });
            unread_logs(&[told.to_owned()], &read(&earlier), &read(&later))
        };
        let since = "2026-11-21T08:00:00Z";
        let one = [line(79, 31)];
        assert_eq!(why(XID_79, &one, &["xid-79@0000:31:00.0"], since), None);
        assert!(why(XID_79, &one, &["xid-79@0000:31:00.0"], "2026-11-21T07:00:00Z").is_some());
        assert!(
            why(XID_79, &one, &["xid-79@0000:32:00.0"], since).is_some(),
            "another device"
        );
        assert!(why("log:kernel:site/other", &one, &["xid-79@0000:31:00.0"], since).is_some());
        let two = [line(79, 31), line(79, 32)];
        assert!(
            why(XID_79, &two, &["xid-79@0000:31:00.0"], since).is_some(),
            "one of two"
        );
        let both = ["xid-79@0000:31:00.0", "xid-79@0000:32:00.0"];
        assert_eq!(why(XID_79, &two, &both, since), None);
        assert!(why(XID_79, &[], &both, since).is_some(), "no line says where");
        // A record of several numbers.
        let decoder = "log:kernel:xid/68-nvdec-exception";
        let number = |xid: &&KnownXid| xid.record.as_str() == "xid/68-nvdec-exception";
        let last = known_xids().iter().rfind(number).unwrap().number;
        assert_ne!(last, 68);
        let id = format!("xid-{last}@0000:31:00.0");
        assert!(why(decoder, &[line(last, 31)], &["xid-68@0000:31:00.0"], since).is_some());
        assert_eq!(why(decoder, &[line(last, 31)], &[&id], since), None);
        // One that no record is about has its number in its rule.
        let unknown = "log:kernel:xid/unknown-180";
        assert_eq!(
            why(unknown, &[line(180, 31)], &["xid-180@0000:31:00.0"], since),
            None
        );
        assert!(why(unknown, &[line(181, 31)], &["xid-180@0000:31:00.0"], since).is_some());
    }

    #[test]
    fn an_event_of_the_log_is_over_with_a_good_run_in_a_later_boot() {
        let second = "0000:00:07.0";
        let mut alarm = in_boot("a", &json!({}));
        alarm.gpus[1].pci_address.value = Some(second.to_owned());
        let later = in_boot("b", &json!({}));
        let proof = |boot: &str, at: &str, gpus: u32| {
            let pairs: Vec<Value> = (0..gpus)
                .flat_map(|b| (0..b).map(move |a| proven(a, b)))
                .collect();
            let mut proof = report(gpus, &pairs);
            proof["node"]["boot_id"] = json!(boot);
            proof["finished_at"] = json!(at);
            proof["gpus"][1]["pci_address"]["value"] = json!(second);
            proof
        };
        let why = |verdict: Verdict, proof: Option<&Value>| {
            let proof = proof.map(|proof| serde_json::from_value::<Report>(proof.clone()).unwrap());
            unended_event(&[XID_79.to_owned()], (&alarm, verdict), &later, proof.as_ref())
        };
        let (since, before) = ("2026-11-22T08:00:00Z", "2026-11-20T08:00:00Z");
        let good = proof("b", since, 2);
        assert_eq!(why(Verdict::Degraded, Some(&good)), None);
        let told = why(Verdict::Broken, Some(&good)).unwrap();
        assert!(told.contains("an admission"), "{told}");
        let mut looked = good.clone();
        looked["pairs"] = json!([]);
        let mut other = good.clone();
        other["gpus"][1]["uuid"]["value"] = json!("GPU-other");
        other["gpus"][1]["pci_address"]["value"] = json!("0000:99:00.0");
        for less in [proof("a", since, 2), proof("b", before, 2), looked, other] {
            let told = why(Verdict::Degraded, Some(&less)).unwrap();
            assert!(told.contains("xid/79"), "{told}");
        }
        assert!(why(Verdict::Degraded, None).is_some(), "it is not kept");
        let gap = json!({ "source": "test", "gap": { "kind": "skipped", "reason": "test" } });
        let loaded: Vec<Value> = (0..2)
            .map(|gpu| {
                json!({
                    "gpu": gpu, "launches": 9, "copies": 9, "checks": 9, "wrong_checksums": 0, "wrong_copies": 0,
                    "samples": 9, "throttled": {}, "counters": {}, "figures": {},
                })
            })
            .collect();
        let mut admission = good;
        admission["host"] = json!({ "kernel_log.readable": { "value": true, "source": "test" } });
        admission["load"] = json!({ "asked_seconds": 60.0, "seconds": 60.0, "steps": 9, "earlier": gap, "findings": [],
            "gpus": loaded });
        assert_eq!(why(Verdict::Broken, Some(&admission)), None);
        admission["load"]["seconds"] = json!(1.0);
        assert!(why(Verdict::Broken, Some(&admission)).is_some());
        let nameless = [OF_KERNEL.to_owned()];
        let told = unended_event(&nameless, (&alarm, Verdict::Unknown), &later, None).unwrap();
        assert!(
            told.starts_with("something of the kernel log") && told.ends_with("by a run in a later boot"),
            "{told}"
        );
        let none = unended_event(&["run".to_owned()], (&alarm, Verdict::Broken), &later, None);
        assert_eq!(none, None);
    }

    #[test]
    fn what_nccl_printed_is_read_where_nccl_runs() {
        let host = json!({ "kernel_log.readable": { "value": true, "source": "kmsg" } });
        let name = name_of(Some(NCCL), "nccl/x");
        assert!(why(&[&name], &in_boot("a", &host)).is_some());
    }
}

//! Whether a later report has read again what the logs of an earlier one told: who cannot read a log knows nothing of what stands in it.

use kb_core::observation::known_xids;
use kb_core::report::Report;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::gone::has_rebooted;
use crate::domain::correlate::number_of;

/// What names of causes begin with that the kernel log told.
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

/// Why the later report leaves open what logs of the earlier one told, by the names of its causes.
pub(super) fn leaves_log_open(causes: &[String], earlier: &Report, later: &Report) -> Option<String> {
    let has = |of: &str| causes.iter().any(|name| name.starts_with(of));
    if has(OF_NCCL) && later.nccl.is_none() {
        return Some("NCCL, which told of it, was not run".to_owned());
    }
    let mut of_kernel = causes.iter().filter_map(|name| name.strip_prefix(OF_KERNEL));
    if !has(OF_KERNEL) || of_kernel.all(|told| is_cleared(told, earlier, later)) {
        return None;
    }
    leaves_kernel_log_unread(earlier, later)
}

/// The same of one log, by its place in the earlier report.
pub(super) fn leaves_unread(log: usize, earlier: &Report, later: &Report) -> Option<String> {
    let source = earlier.logs.get(log).map(|log| log.source.as_str());
    leaves_log_open(&[name_of(source, "")], earlier, later)
}

fn leaves_kernel_log_unread(earlier: &Report, later: &Report) -> Option<String> {
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

/// Whether the later report's ledger tells that a person has ended it since, on every device.
fn is_cleared(told: &str, earlier: &Report, later: &Report) -> bool {
    let read = |text: &str| OffsetDateTime::parse(text, &Rfc3339).ok();
    let Some(health) = &later.health else { return false };
    let known = known_xids().iter().find(|known| known.record.as_str() == told);
    let numbered = known.map(|known| (known.family, known.number));
    let Some((family, number)) = numbered.or_else(|| number_of(told)) else {
        return false;
    };
    let begins = format!("{}-{number}@", family.word().to_lowercase());
    let is_of_it = |id: &str| id.starts_with(&begins);
    let is_since = |at: &str| read(at) > read(&earlier.finished_at);
    let mut clears = health.clears.iter().filter(|clear| is_since(&clear.at));
    clears.any(|clear| clear.entries.iter().any(|id| is_of_it(id)))
        && !health.open.iter().any(|entry| is_of_it(&entry.id))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;

    const XID_79: &str = "log:kernel:xid/79-gpu-has-fallen-off-the-bus";

    fn in_boot(boot: &str, host: &Value) -> Report {
        let mut report = report(2, &[]);
        report["node"]["boot_id"] = json!(boot);
        report["host"] = host.clone();
        serde_json::from_value(report).unwrap()
    }

    fn why(causes: &[&str], later: &Report) -> Option<String> {
        let causes: Vec<String> = causes.iter().map(|name| (*name).to_owned()).collect();
        leaves_log_open(&causes, &in_boot("a", &json!({})), later)
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
    fn a_clear_on_every_device_ends_it_without_the_log() {
        let mut later = report(2, &[]);
        later["health"] = json!({ "verdict": "no_fault_seen", "open": [], "clears": [{ "at": "2026-11-21T08:00:00Z",
            "by": "ops", "reason": "new GPU", "entries": ["xid-79@0000:3b:00.0"] }] });
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        assert_eq!(why(&[XID_79], &read(&later)), None);
        assert!(why(&[XID_79, "log:kernel:site/other"], &read(&later)).is_some());
        // One that no record is about has its number in its rule.
        let mut unknown = later.clone();
        unknown["health"]["clears"][0]["entries"] = json!(["xid-180@0000:3b:00.0"]);
        assert_eq!(why(&["log:kernel:xid/unknown-180"], &read(&unknown)), None);
        assert!(why(&["log:kernel:xid/unknown-181"], &read(&unknown)).is_some());
        let mut before = later.clone();
        before["health"]["clears"][0]["at"] = json!("2026-11-21T07:00:00Z");
        assert!(why(&[XID_79], &read(&before)).is_some());
    }

    #[test]
    fn what_nccl_printed_is_read_where_nccl_runs() {
        let host = json!({ "kernel_log.readable": { "value": true, "source": "kmsg" } });
        let name = name_of(Some(NCCL), "nccl/x");
        assert!(why(&[&name], &in_boot("a", &host)).is_some());
    }
}

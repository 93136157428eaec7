//! What the kernel log of a report says against its verdict: faults of GPUs, and failures of the host that they are in.

use std::collections::BTreeSet;

use super::Verdict;
use super::bus_errors::bus_errors;
use super::by_policy::{of_event, ruled_event};
use super::counted::{Counted, named};
use crate::observation::{
    HEARTBEAT, LineEvent, Look, NEVER_BEAT, NO_ANSWER, What, canonical, is_host_failure, known, read_message,
    without_stamp,
};
use crate::policy::Policy;
use crate::report::{Bearing, Family, NODE, Report, When, fact_name};

/// Longest text of a line of the kernel log in a reason, in characters.
const LONGEST_LINE: usize = 300;

/// An event that the kernel log tells of the run, or of a time that cannot be read, on a GPU of it, on a switch or on no device that is named.
pub(super) fn logged(report: &Report, policy: &Policy) -> Option<(Verdict, String)> {
    let look = Look::of(report);
    let gpus = report.gpus.iter();
    let gpus: Vec<String> = gpus
        .filter_map(|gpu| gpu.pci_address.value.as_deref())
        .map(canonical)
        .collect();
    let during = report.logs.iter().filter(|log| log.when != When::Before);
    let events = during
        .flat_map(|log| log.text.lines())
        .filter_map(|line| read_message(line.trim()));
    let events: Vec<LineEvent> = events.collect();
    let is_of_run = |event: &&LineEvent| {
        let is_switch = matches!(
            event.what,
            What::Numbered {
                family: Family::Sxid,
                ..
            }
        );
        // A port of the bus, when a GPU of the run hangs on it.
        let is_above = || {
            let mut devices = event.devices();
            matches!(event.what, What::Bus(_)) && devices.any(|device| !look.gpus_at(device).is_empty())
        };
        is_switch || event.device == NODE || gpus.contains(&event.device) || is_above()
    };
    let of_run: Vec<&LineEvent> = events.iter().filter(is_of_run).collect();
    let told = |event: &LineEvent| format!("the kernel log says during the run: {}", event.text);
    let counted = Counted::of(report, policy);
    // A log may tell of one event thousands of times: each is judged once.
    let mut asked = BTreeSet::new();
    let fault = of_run
        .iter()
        .filter(|event| asked.insert((named(event), event.device.as_str(), event.what.bearing())))
        .find(|event| of_event(report, policy, event, &counted) == Bearing::Fault);
    if let Some(fault) = fault {
        return Some((Verdict::Broken, told(fault)));
    }
    // Where the way to a GPU is not known, any port may be on it.
    let has_unknown_way = report.gpus.iter().any(|gpu| {
        let way = gpu.facts.get(fact_name::PCI_PATH);
        way.is_none_or(|way| way.value.is_none())
    });
    // One that tells of another device names that.
    let is_of_port = |event: &&LineEvent| {
        let begins = event.text.split([' ', ',']).nth(1);
        let begins = begins.map(|address| canonical(address.trim_end_matches(':')));
        // A device that does not answer says nothing of what is behind it.
        let is_port = matches!(event.what, What::Bus(record) if record != NO_ANSWER);
        is_port && begins.as_deref() == Some(event.device.as_str())
    };
    let of_some_port = events.iter().find(is_of_port);
    if let Some(port) = of_some_port.filter(|_| has_unknown_way) {
        let told = told(port);
        let reason = format!("{told}, and it is not known whether a GPU is behind that port");
        return Some((Verdict::Unknown, reason));
    }
    let mut asked = BTreeSet::new();
    let mut unexplained = of_run
        .iter()
        .filter(|event| is_unexplained(&event.what))
        .filter(|event| asked.insert((named(event), event.device.as_str(), event.what.bearing())));
    // What the site has a rule for is explained.
    let unexplained = unexplained.find(|event| ruled_event(report, policy, event, &counted).is_none())?;
    Some((
        Verdict::Unknown,
        format!("{}, which no record explains", told(unexplained)),
    ))
}

/// Whether the kernel log tells, during the run, what speaks against its node. What the report's ledger holds of it is the ledger's.
pub fn is_told_by_log(report: &Report, policy: &Policy) -> bool {
    untested(report).is_some() || (report.health.is_none() && logged(report, policy).is_some())
}

/// The worst of the kernel log during the run that no check of GPUs shows: host failures, bus errors, silent firmware.
pub(crate) fn untested(report: &Report) -> Option<(Verdict, String)> {
    let found = [host_failure(report), bus_errors(report), silent_firmware(report)];
    found.into_iter().flatten().max_by_key(|(verdict, _)| *verdict)
}

/// What the kernel log tells of the host itself during the run: no check of GPUs shows that it is over.
fn host_failure(report: &Report) -> Option<(Verdict, String)> {
    let during = report.logs.iter().filter(|log| log.when != When::Before);
    let mut lines = during.flat_map(|log| log.text.lines()).map(str::trim);
    let line = lines.find(|line| is_host_failure(line))?;
    let reason = format!(
        "the kernel log says of the host during the run: {}",
        shortened(line)
    );
    Some((Verdict::Unknown, reason))
}

/// The GPU's own processor has not written its time stamp for too long. Some laptops never have one, and print zero for it from their
/// start on (record driver/gsp-heartbeat-timed-out): what that means is not known.
fn silent_firmware(report: &Report) -> Option<(Verdict, String)> {
    let silent = || {
        let during = report.logs.iter().filter(|log| log.when != When::Before);
        let lines = during.flat_map(|log| log.text.lines()).map(str::trim);
        lines.filter(|line| without_stamp(line).starts_with("NVRM: ") && line.contains(HEARTBEAT))
    };
    let told = |line: &str| format!("the kernel log says during the run: {}", shortened(line));
    if let Some(line) = silent().find(|line| !line.contains(NEVER_BEAT)) {
        return Some((Verdict::Broken, told(line)));
    }
    silent().next().map(|line| (Verdict::Unknown, told(line)))
}

fn shortened(line: &str) -> String {
    without_stamp(line).chars().take(LONGEST_LINE).collect()
}

fn is_unexplained(what: &What) -> bool {
    matches!(what, What::Numbered { family, number, .. } if known(*family, *number).is_none())
}

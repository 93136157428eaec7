//! What a report's own logs say against its verdict, by the records.

use std::collections::BTreeSet;

use kb_core::ids::RecordId;
use kb_core::observation::bearing;
use kb_core::policy::Policy;
use kb_core::record::Record;
use kb_core::report::{Bearing, Report, When};
use kb_core::scanner::ScanOptions;
use kb_core::verdict::{Verdict, is_told_by_log};

use super::log_read::{OF_KERNEL, name_of};
use super::weight::CONVERTED;
use crate::domain::correlate::{Counted, log_of, ruled};
use crate::domain::policy::names::{find, known_as};
use crate::feed::{Generation, PublishedRecord};
use crate::store::NewFinding;

/// The worst that the logs of a report without a ledger come to by its findings, and what names that: a finding that is open against
/// a node is no health of it. Where there is a ledger, that knows what is open of what was logged. Of another tool's logs nobody knows
/// which machine wrote them.
pub(super) fn worst(report: &Report, findings: &[NewFinding]) -> Option<(Verdict, String)> {
    if report.health.is_some() || report.host.contains_key(CONVERTED) {
        return None;
    }
    let worst = against(findings)
        .map(|(finding, _)| finding)
        .max_by_key(|finding| finding.gravity.bearing)?;
    let verdict = match worst.gravity.bearing {
        Bearing::Fault => Verdict::Broken,
        Bearing::Unknown => Verdict::Unknown,
        Bearing::Warning => Verdict::Degraded,
        Bearing::Event => return None,
    };
    let name = worst.record.as_ref().map(|(id, _)| id.to_string());
    Some((verdict, name.unwrap_or_else(|| worst.rule.clone())))
}

/// Findings of logs that speak against the node, each with the place of its log.
fn against(findings: &[NewFinding]) -> impl Iterator<Item = (&NewFinding, usize)> {
    let against = findings
        .iter()
        .filter(|finding| finding.gravity.bearing >= Bearing::Warning);
    against.filter_map(|finding| Some((finding, log_of(finding)?)))
}

/// What logs of the report tell against its node, by names: a later report has to read them again to end it. What the report's ledger
/// holds ends by the ledger. `fault`: the record of a fault that the log tells of during the run, where that decides.
pub(super) fn told(
    generation: &Generation,
    (report, policy): (&Report, &Policy),
    findings: &[NewFinding],
    fault: Option<&Record>,
) -> Vec<String> {
    if report.host.contains_key(CONVERTED) {
        return Vec::new();
    }
    let known = |id: &RecordId| {
        let published = find(generation, id.as_str());
        published
            .map_or(id, |published| known_as(generation, published))
            .to_string()
    };
    let mut names = BTreeSet::new();
    if report.health.is_none() {
        names.extend(against(findings).map(|(finding, log)| {
            let source = report.logs.get(log).map(|log| log.source.as_str());
            let told = finding.record.as_ref().map(|(id, _)| known(id));
            name_of(source, &told.unwrap_or_else(|| finding.rule.clone()))
        }));
    }
    names.extend(fault.map(|record| name_of(None, &known(record.id()))));
    if is_told_by_log(report, policy) {
        names.insert(OF_KERNEL.to_owned());
    }
    names.into_iter().collect()
}

/// The first record whose fault the kernel log tells of during the run, on lines about GPUs; `None` where there is none.
pub(super) fn fault<'g>(generation: &'g Generation, report: &Report, policy: &Policy) -> Option<&'g Record> {
    let addresses: Vec<String> = report
        .gpus
        .iter()
        .filter_map(|gpu| gpu.pci_address.value.as_deref())
        .map(|address| format!(":{}", bus_and_device(address).to_lowercase()))
        .collect();
    let is_about_gpu = |line: &&str| {
        let line = line.to_lowercase();
        let is_of_driver = ["nvrm", "nvidia"].iter().any(|name| line.contains(name));
        is_of_driver || addresses.iter().any(|address| names(&line, address))
    };
    let options = ScanOptions {
        keep_text: false,
        ..ScanOptions::default()
    };
    let mut scanner = generation.matcher.scanner(options);
    let during = report.logs.iter().filter(|log| log.when != When::Before);
    for line in during.flat_map(|log| log.text.lines()).filter(is_about_gpu) {
        scanner.feed(line.as_bytes());
        scanner.feed(b"\n");
    }
    let found = scanner.finish().matches.into_iter();
    let errors = found.filter(|found| !found.harmless);
    let mut records = errors.filter_map(|found| generation.record(&found.id));
    let models: Vec<Option<&str>> = report.gpus.iter().map(|gpu| gpu.name.value.as_deref()).collect();
    let counted = Counted::of(generation, report);
    let of_report = (report, &counted);
    let fault = records.find(|published| is_fault(generation, of_report, published, (policy, &models)))?;
    Some(&fault.record)
}

/// `3b:00` of `00000000:3B:00.0`: the driver and the kernel write the domain with different lengths.
fn bus_and_device(address: &str) -> &str {
    let without_function = address.split('.').next().unwrap_or(address);
    let domain = without_function.find(':').map_or(0, |colon| colon + 1);
    without_function.get(domain..).unwrap_or(without_function)
}

/// Whether a line names a device: `:3b:00` between a domain and a function, and not in a time.
fn names(line: &str, bus_and_device: &str) -> bool {
    const DOMAIN_DIGITS: usize = 4;
    line.match_indices(bus_and_device).any(|(at, found)| {
        let before = line.as_bytes().get(..at).unwrap_or_default();
        let behind = line.as_bytes().get(at + found.len());
        let digits = before
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        digits >= DOMAIN_DIGITS && !behind.is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == b':')
    })
}

fn is_fault(
    generation: &Generation,
    of_report: (&Report, &Counted<'_>),
    published: &PublishedRecord,
    by: (&Policy, &[Option<&str>]),
) -> bool {
    let annex = &published.record.annex;
    let at_fault = annex.at_fault.as_ref().map(|at_fault| at_fault.who);
    let was = bearing(annex.severity, annex.action, at_fault);
    let ruled = ruled(generation, of_report, (published, was), by);
    let is = ruled.map_or(was, |ruled| ruled.is.bearing());
    is == Bearing::Fault
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_by_bus_and_device() {
        assert_eq!(bus_and_device("00000000:3B:00.0"), "3B:00");
        assert_eq!(bus_and_device("0000:3b:00"), "3b:00");
    }

    #[test]
    fn a_time_is_no_address() {
        for (line, is_named) in [
            ("pcieport 0000:03:00.0: dpc", true),
            ("gpu at pci:00000000:03:00 is", true),
            ("nov 21 10:03:00 gpu-17 kernel: usb", false),
            ("eth0: 00:1b:03:00:5e:01", false),
        ] {
            assert_eq!(names(line, ":03:00"), is_named, "{line}");
        }
    }
}

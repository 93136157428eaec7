//! Faults of GPUs that a report's own kernel log tells of during the run, by the records.

use kb_core::annex::{Action, Blame, Severity};
use kb_core::record::Record;
use kb_core::report::{Report, When};
use kb_core::scanner::ScanOptions;

use crate::feed::Generation;

/// The first record whose fault the log tells of on lines about GPUs; `None` where there is none.
pub(super) fn fault<'g>(generation: &'g Generation, report: &Report) -> Option<&'g Record> {
    let addresses: Vec<String> = report
        .gpus
        .iter()
        .filter_map(|gpu| gpu.pci_address.value.as_deref())
        .map(|address| bus_and_device(address).to_lowercase())
        .collect();
    let is_about_gpu = |line: &&str| {
        let line = line.to_lowercase();
        let is_of_driver = ["nvrm", "nvidia"].iter().any(|name| line.contains(name));
        is_of_driver || addresses.iter().any(|address| line.contains(address))
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
    let fault = records.find(|published| is_fault(&published.record))?;
    Some(&fault.record)
}

/// `3b:00` of `00000000:3B:00.0`: the driver and the kernel write the domain with different lengths.
fn bus_and_device(address: &str) -> &str {
    let without_function = address.split('.').next().unwrap_or(address);
    let domain = without_function.find(':').map_or(0, |colon| colon + 1);
    without_function.get(domain..).unwrap_or(without_function)
}

/// Whether the record's error is one of the machine and asks for work on it.
fn is_fault(record: &Record) -> bool {
    let annex = &record.annex;
    let is_bad = matches!(annex.severity, Some(Severity::Error | Severity::Fatal));
    let asks_for_work = matches!(
        annex.action,
        Some(
            Action::ResetGpu
                | Action::RebootNode
                | Action::CheckHardware
                | Action::ReplaceHardware
                | Action::ContactSupport
        )
    );
    let is_of_job = annex
        .at_fault
        .as_ref()
        .is_some_and(|at_fault| at_fault.who == Blame::Application);
    is_bad && asks_for_work && !is_of_job
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_by_bus_and_device() {
        assert_eq!(bus_and_device("00000000:3B:00.0"), "3B:00");
        assert_eq!(bus_and_device("0000:3b:00"), "3b:00");
    }
}

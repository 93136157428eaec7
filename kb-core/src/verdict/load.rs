//! What minutes of load show, and whether a report admits its node.

use super::load_rates::{earlier, falls, sisters};
use super::rows::Named;
use super::rows::load as rows;
use crate::observation::{Look, THROTTLING, What, canonical, read_message};
use crate::report::{
    Bearing, Failure, GapKind, Gpu, GpuIndex, Load, LoadFinding, LoadOfGpu, ReasonCode, Report, When,
    fact_name,
};

/// Samples with a throttle reason that count: one alone may have met the moment at which the load began.
const THROTTLED_SAMPLES: u64 = 2;
/// Corrected NVLink checksum errors and PCIe packets sent again that are daily business: as for a pair (docs/AGENT.md).
const MOST_CORRECTED: f64 = 100.0;
/// Seconds of load in which so many are daily business; a longer load may have more. One wrong bit in 1e12, which the specification of
/// PCIe allows, makes about as many replays in this time on a link that moves 50 GB/s.
const CORRECTED_SECONDS: f64 = 300.0;
const KERNEL_LOG: &str = "kernel_log.readable";
const LINES_LEFT_OUT: &str = "kernel_log.lines_left_out";

/// A finding before it is written into the report.
pub(super) struct Found {
    pub(super) named: &'static Named,
    pub(super) gpu: Option<GpuIndex>,
    pub(super) reason: String,
    pub(super) evidence: Vec<String>,
}

/// What speaks against the node, worst first; empty where the report has no load.
pub(crate) fn findings(report: &Report) -> Vec<LoadFinding> {
    let Some(load) = &report.load else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (place, of) in load.gpus.iter().enumerate() {
        found.extend(of_gpu(place, of, most_corrected(load)));
    }
    found.extend(load.ended.as_ref().map(ended));
    found.extend(logged(report));
    found.extend(unseen(report, load));
    found.extend(falls(load));
    found.extend(sisters(report, load));
    found.extend(earlier(load));
    // Stable: of equal weight the causes stay in their order.
    found.sort_by_key(|found| std::cmp::Reverse(found.named.verdict));
    found.into_iter().map(Found::into_finding).collect()
}

impl Found {
    pub(super) fn of_gpu(
        named: &'static Named,
        gpu: GpuIndex,
        reason: impl Into<String>,
        evidence: Vec<String>,
    ) -> Self {
        Self {
            named,
            gpu: Some(gpu),
            reason: reason.into(),
            evidence,
        }
    }

    fn of_node(named: &'static Named, reason: impl Into<String>, evidence: Vec<String>) -> Self {
        Self {
            named,
            gpu: None,
            reason: reason.into(),
            evidence,
        }
    }

    fn into_finding(self) -> LoadFinding {
        let gpu = self.gpu.map_or_else(String::new, |gpu| format!("GPU {gpu}: "));
        LoadFinding {
            gpu: self.gpu,
            cause: self.named.cause.to_owned(),
            verdict: self.named.verdict,
            reason: format!("{gpu}{}", self.reason),
            evidence: self.evidence,
            record: self.named.record.and_then(|id| id.parse().ok()),
            fix: self.named.fix.to_owned(),
        }
    }
}

pub(super) fn pointer(place: usize, below: &str) -> String {
    format!("/load/gpus/{place}/{below}")
}

/// Corrected errors of a link that are no finding: more for a load that lasted longer than usual.
fn most_corrected(load: &Load) -> f64 {
    MOST_CORRECTED * (load.seconds / CORRECTED_SECONDS).max(1.0)
}

fn of_gpu(place: usize, of: &LoadOfGpu, most_corrected: f64) -> Vec<Found> {
    let mut found = Vec::new();
    let mut add = |named, reason: String, below: &str| {
        found.push(Found::of_gpu(named, of.gpu, reason, vec![pointer(place, below)]));
    };
    let first = of.first_wrong.as_ref();
    let first = first.map_or_else(String::new, |first| format!(": {first}"));
    if of.wrong_checksums > 0 {
        let (wrong, checks) = (of.wrong_checksums, of.checks);
        let told = format!(
            "{wrong} checksums of the compute kernel are wrong, of {checks} comparisons in all{first}"
        );
        add(&rows::WRONG_ARITHMETIC, told, "wrong_checksums");
    }
    if of.wrong_copies > 0 {
        let told = format!("{} comparisons of copied data failed{first}", of.wrong_copies);
        add(&rows::DATA_MISMATCH, told, "wrong_copies");
    }
    let lost = of.counters.iter().find(|(_, fact)| {
        let gap = fact.gap.as_ref();
        gap.is_some_and(|gap| gap.reason_code == Some(ReasonCode::GpuLost))
    });
    if let Some((name, fact)) = lost {
        let reason = fact.gap.as_ref().map_or("", |gap| gap.reason.as_str());
        add(&rows::GPU_LOST, reason.to_owned(), &format!("counters/{name}"));
    }
    if let Some(errors) = risen(of, fact_name::ECC_VOLATILE_UNCORRECTED) {
        let told = format!("{errors} errors of its memory under load that ECC could not correct");
        let below = format!("counters/{}", fact_name::ECC_VOLATILE_UNCORRECTED);
        add(&rows::ECC_ERROR, told, &below);
    }
    for name in [
        fact_name::REMAPPED_ROWS_UNCORRECTED,
        fact_name::REMAPPED_ROWS_CORRECTED,
    ] {
        if let Some(rows) = risen(of, name) {
            let told = format!("{rows} rows of its memory were remapped under load ({name})");
            add(&rows::ROWS_REMAPPED, told, &format!("counters/{name}"));
        }
    }
    for name in [fact_name::REMAPPED_ROWS_FAILURE, fact_name::REMAPPED_ROWS_PENDING] {
        if risen(of, name).is_some() {
            let told = format!("remapping of rows of its memory became so under load: {name}");
            add(&rows::ROWS_REMAPPED, told, &format!("counters/{name}"));
        }
    }
    for (name, most) in [
        (fact_name::NVLINK_REPLAY_ERRORS, 0.0),
        (fact_name::NVLINK_RECOVERY_ERRORS, 0.0),
        (fact_name::NVLINK_CRC_ERRORS, most_corrected),
        (fact_name::PCIE_REPLAYS, most_corrected),
    ] {
        if let Some(errors) = risen(of, name).filter(|errors| as_float(*errors) > most) {
            let told = format!("{name} rose by {errors} under load");
            add(&rows::LINK_ERRORS, told, &format!("counters/{name}"));
        }
    }
    for reason in THROTTLING {
        let seen = of.throttled.get(reason).copied().unwrap_or_default();
        if seen >= THROTTLED_SAMPLES {
            let told = format!("{reason} in {seen} of {} samples", of.samples);
            add(&rows::THROTTLED, told, &format!("throttled/{reason}"));
        }
    }
    found.extend(unread(place, of));
    found
}

/// A GPU about which too little was read to say that nothing was wrong.
fn unread(place: usize, of: &LoadOfGpu) -> Option<Found> {
    let incomplete = |reason: String, below: &str| {
        let evidence = vec![pointer(place, below)];
        Found::of_gpu(&rows::LOAD_INCOMPLETE, of.gpu, reason, evidence)
    };
    if of.launches == 0 || of.checks == 0 {
        return Some(incomplete(
            "nothing of its work was compared".to_owned(),
            "checks",
        ));
    }
    if of.samples == 0 {
        let told = "NVML told nothing of it while it was loaded".to_owned();
        return Some(incomplete(told, "samples"));
    }
    let read = |name: &str| {
        let fact = of.counters.get(name)?;
        let gap = fact.gap.as_ref()?;
        // What a GPU does not have is no gap of the run.
        let has_none = gap.kind == GapKind::NotSupported;
        (!has_none).then(|| incomplete(format!("{name}: {}", gap.reason), &format!("counters/{name}")))
    };
    [
        fact_name::ECC_VOLATILE_UNCORRECTED,
        fact_name::NVLINK_REPLAY_ERRORS,
        fact_name::NVLINK_RECOVERY_ERRORS,
    ]
    .into_iter()
    .find_map(read)
}

#[allow(clippy::cast_precision_loss, reason = "2^53 errors are more than any bound")]
fn as_float(errors: u64) -> f64 {
    errors as f64
}

/// By how much a counter rose, where it did.
fn risen(of: &LoadOfGpu, name: &str) -> Option<u64> {
    let rise = of.counters.get(name)?.value.as_ref()?.as_u64()?;
    (rise > 0).then_some(rise)
}

fn ended(failure: &Failure) -> Found {
    let cause = failure.cause.as_deref();
    let named = match failure.code {
        Some(214) => &rows::ECC_ERROR,
        Some(220 | 226) => &rows::NVLINK_ERROR,
        // Memory that is full, and a GPU that somebody else has taken.
        Some(2 | 46) => &rows::LOAD_INCOMPLETE,
        Some(_) => &rows::LOAD_FAILS,
        None if cause == Some(super::cause::HANG) => &rows::HANG,
        None if cause == Some(super::cause::PROCESS_DIES) => &rows::PROCESS_DIES,
        None => &rows::LOAD_INCOMPLETE,
    };
    let told = format!("{}: {}", failure.step, failure.message);
    Found::of_node(named, told, vec!["/load/ended".to_owned()])
}

/// What the driver wrote about the node's GPUs and switches during the run, as the ledger weighs it.
fn logged(report: &Report) -> Vec<Found> {
    let look = Look::of(report);
    let addresses: Vec<Option<String>> = report
        .gpus
        .iter()
        .map(|gpu| gpu.pci_address.value.as_deref().map(canonical))
        .collect();
    let index_of = |device: &str| -> Option<GpuIndex> {
        let place = addresses
            .iter()
            .position(|known| known.as_deref() == Some(device))?;
        GpuIndex::try_from(place).ok()
    };
    let mut found = Vec::new();
    let during = report.logs.iter().enumerate();
    for (number, log) in during.filter(|(_, log)| log.when == When::During) {
        for event in log.text.lines().filter_map(read_message) {
            let at = || event.devices().flat_map(|device| look.gpus_at(device));
            let is_elsewhere = matches!(event.what, What::Bus(_)) && at().next().is_none();
            if is_elsewhere {
                continue;
            }
            let named = match event.what.bearing() {
                Bearing::Fault => &rows::XID_FAULT,
                Bearing::Warning | Bearing::Unknown => &rows::XID_WARNING,
                Bearing::Event => continue,
            };
            found.push(Found {
                named,
                gpu: at().find_map(|device| index_of(&device)),
                reason: event.text.clone(),
                evidence: vec![format!("/logs/{number}/text")],
            });
        }
    }
    found
}

/// What of the load was not made or not seen.
fn unseen(report: &Report, load: &Load) -> Vec<Found> {
    let mut found = Vec::new();
    let mut add = |reason: String, evidence: &str| {
        let evidence = vec![evidence.to_owned()];
        found.push(Found::of_node(&rows::LOAD_INCOMPLETE, reason, evidence));
    };
    for (index, _) in (0..).zip(&report.gpus) {
        if load.of_gpu(index).is_none() {
            add(format!("GPU {index} was not loaded"), "/load/gpus");
        }
    }
    for (index, gpu) in report.gpus.iter().enumerate() {
        if let Some(fact) = used_by_others(gpu) {
            let told = format!("GPU {index} was used by others during the run");
            add(told, &format!("/gpus/{index}/facts/{fact}"));
        }
    }
    if load.ended.is_none() && load.seconds < load.asked_seconds {
        let (lasted, asked) = (load.seconds, load.asked_seconds);
        add(format!("it lasted {lasted:.0} s of {asked:.0}"), "/load/seconds");
    }
    for unread in Look::unread_states(report) {
        add(
            format!("{} could not be read: {}", unread.what, unread.why),
            "/gpus",
        );
    }
    let earlier = load.earlier.gap.as_ref();
    if let Some(gap) = earlier.filter(|gap| gap.kind == GapKind::Failed) {
        let (file, why) = (&load.earlier.source, &gap.reason);
        add(
            format!(
                "whether the node has as many GPUs as at its last admission, and is as fast, is not known: {file}: {why}"
            ),
            "/load/earlier",
        );
    }
    let host = |name: &str| report.host.get(name);
    let is_readable = host(KERNEL_LOG).is_some_and(|fact| fact.value == Some(true.into()));
    if !is_readable {
        let gap = host(KERNEL_LOG).and_then(|fact| fact.gap.as_ref());
        let why = gap.map_or("it was not asked for", |gap| gap.reason.as_str());
        let told = format!("the kernel log, where Xids stand, could not be read: {why}");
        add(told, &format!("/host/{KERNEL_LOG}"));
    }
    let left_out = host(LINES_LEFT_OUT).and_then(|fact| fact.value.as_ref()?.get("during")?.as_u64());
    if let Some(lines) = left_out.filter(|lines| *lines > 0) {
        let told =
            format!("the kernel log had so many lines during the run that {lines} are not in the report");
        add(told, &format!("/host/{LINES_LEFT_OUT}"));
    }
    found
}

/// The fact that says so. Whose work it was that went well, or slowly, nobody knows then.
fn used_by_others(gpu: &Gpu) -> Option<&'static str> {
    let value = |name: &str| gpu.facts.get(name).and_then(|fact| fact.value.as_ref());
    if value(fact_name::SHARED).and_then(serde_json::Value::as_bool) == Some(true) {
        return Some(fact_name::SHARED);
    }
    let others = value(fact_name::PROCESSES_COUNT).and_then(serde_json::Value::as_u64);
    others
        .is_some_and(|others| others > 0)
        .then_some(fact_name::PROCESSES_COUNT)
}

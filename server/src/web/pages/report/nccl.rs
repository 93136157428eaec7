//! NCCL: whether its collectives work with peer access and without, and what they carry, collective by collective.

use std::collections::BTreeSet;

use kb_core::report::{Cell, Engine, Measurement, Nccl, NcclArm, NcclVerdict, Report};

use super::facts::{code, shown};
use super::matrix::{ValueCell, ValueRow};
use crate::web::pages::words::{Mark, Row, Tone, count, gap_kind, memory, outcome, seconds};

const BUS: &str = "_bus_bandwidth";

/// What the report has of NCCL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NcclView {
    /// The functional arms, where they were asked for.
    pub works: Option<WorksView>,
    /// What the collectives carry, where it was measured.
    pub bandwidths: Option<BandwidthsView>,
}

/// Whether it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorksView {
    /// What the arms come to.
    pub verdict: Mark,
    /// One sentence of the agent.
    pub reason: String,
    /// What it means for those who run programs here, where it is not plain.
    pub meaning: Option<&'static str>,
    /// Which library, with which switches.
    pub rows: Vec<Row>,
    /// The arms.
    pub arms: Vec<ArmView>,
}

/// Collectives in processes of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmView {
    /// With peer access or without.
    pub name: &'static str,
    /// Who took part.
    pub gpus: String,
    /// What came of it.
    pub outcome: Mark,
    /// Why, call and code.
    pub why: Vec<String>,
    /// How long it took.
    pub time: String,
}

/// Bus bandwidths: a row a collective, a column a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BandwidthsView {
    /// Sizes.
    pub columns: Vec<String>,
    /// Collectives.
    pub rows: Vec<ValueRow>,
}

/// True for figures of all GPUs together, which [`section`] shows and no matrix of pairs can.
pub(super) fn is_collective(item: &Measurement) -> bool {
    let of_all = |cell: &Cell| cell.source.is_some() && cell.source == cell.destination;
    item.engine == Engine::Nccl && item.cells.iter().all(of_all)
}

/// NCCL's part of the page; none where the report says nothing of it.
pub(super) fn section(report: &Report) -> Option<NcclView> {
    let works = report.nccl.as_ref().map(works);
    let bandwidths = bandwidths(report);
    (works.is_some() || bandwidths.is_some()).then_some(NcclView { works, bandwidths })
}

fn works(nccl: &Nccl) -> WorksView {
    let (verdict, meaning) = verdict(nccl.verdict);
    let nvls = if nccl.nvls { "left to NCCL" } else { "switched off" };
    WorksView {
        verdict,
        reason: nccl.reason.clone(),
        meaning,
        rows: vec![
            Row::new("Version", shown(&nccl.version, Clone::clone)),
            Row::new("Library", shown(&nccl.library, Clone::clone)),
            Row::new("NVLink SHARP and multicast", nvls),
        ],
        arms: nccl.arms.iter().map(arm).collect(),
    }
}

fn verdict(verdict: NcclVerdict) -> (Mark, Option<&'static str>) {
    let (tone, sign, label, meaning) = match verdict {
        NcclVerdict::Ok => (Tone::Good, "✓", "Works with peer access and without", None),
        NcclVerdict::PeerAccessFails => (
            Tone::Bad,
            "✗",
            "Fails with peer access",
            Some(
                "The way from GPU to GPU is at fault: programs run with `NCCL_P2P_DISABLE=1` meanwhile, and slower.",
            ),
        ),
        NcclVerdict::StagingFails => (
            Tone::Warn,
            "△",
            "Fails without peer access",
            Some(
                "The way through host memory is at fault. Programs whose GPUs all have peer access do not notice; \
                 those that must share memory of the host (`/dev/shm`, locked memory, namespaces of a container) fail.",
            ),
        ),
        NcclVerdict::Inconclusive => (
            Tone::Unknown,
            "?",
            "Could not be told",
            Some("Nothing is shown about peer access."),
        ),
        NcclVerdict::NotRun => (Tone::Unknown, "–", "Not run", None),
        NcclVerdict::Unrecognised => (Tone::Unknown, "?", "A verdict of a newer agent", None),
    };
    (Mark { tone, sign, label }, meaning)
}

fn arm(arm: &NcclArm) -> ArmView {
    let gpus: Vec<String> = arm.gpus.iter().map(ToString::to_string).collect();
    let mut why: Vec<String> = arm.reason.iter().cloned().collect();
    let code = code(arm.code_name.as_deref(), arm.code);
    match (&arm.call, code.is_empty()) {
        (Some(call), true) => why.push(call.clone()),
        (Some(call), false) => why.push(format!("{call}: {code}")),
        (None, false) => why.push(code),
        (None, true) => {}
    }
    ArmView {
        name: if arm.peer_access {
            "With peer access"
        } else {
            "Without (NCCL_P2P_DISABLE=1)"
        },
        gpus: gpus.join(", "),
        outcome: outcome(arm.outcome),
        why,
        time: seconds(arm.seconds),
    }
}

fn bandwidths(report: &Report) -> Option<BandwidthsView> {
    let measured: Vec<(String, &Measurement)> = report
        .measurements
        .iter()
        .filter(|item| is_collective(item))
        .filter_map(|item| Some((collective(item)?, item)))
        .collect();
    let sizes: BTreeSet<u64> = measured.iter().map(|(_, item)| item.bytes).collect();
    let mut rows: Vec<ValueRow> = Vec::new();
    for (name, _) in &measured {
        if rows.iter().any(|row| row.label == *name) {
            continue;
        }
        let of_size = |size: &u64| {
            let found = measured
                .iter()
                .find(|(other, item)| other == name && item.bytes == *size);
            found.map_or_else(ValueCell::nothing, |(_, item)| value(report, item))
        };
        rows.push(ValueRow {
            label: name.clone(),
            cells: sizes.iter().map(of_size).collect(),
        });
    }
    (!rows.is_empty()).then(|| BandwidthsView {
        columns: sizes.iter().copied().map(memory).collect(),
        rows,
    })
}

/// `nccl_all_reduce_bus_bandwidth_in_place` -> `all reduce, in place`; none for what is no bus bandwidth.
fn collective(item: &Measurement) -> Option<String> {
    let (name, variant) = item.metric.strip_prefix("nccl_")?.split_once(BUS)?;
    let mut words = name.replace('_', " ");
    let variant = variant.trim_matches('_').replace('_', " ");
    if !variant.is_empty() {
        words = format!("{words}, {variant}");
    }
    if item.peer_access == Some(false) {
        words.push_str(", without peer access");
    }
    Some(words)
}

fn value(report: &Report, item: &Measurement) -> ValueCell {
    let Some(cell) = item.cells.first() else {
        return ValueCell::nothing();
    };
    if let Some(median) = cell.median() {
        let mut title = count(cell.samples.len() as u64, "sample", "samples");
        if let Some(algorithm) = algorithm(report, item) {
            title = format!("{title}, algorithm bandwidth {algorithm:.1} {}", item.unit);
        }
        return ValueCell {
            class: "",
            text: format!("{median:.1}"),
            title,
        };
    }
    let gap = cell.gap.as_ref();
    ValueCell {
        class: "cell-unknown",
        text: gap.map_or("none", |gap| gap_kind(gap.kind)).to_owned(),
        title: gap.map(|gap| gap.reason.clone()).unwrap_or_default(),
    }
}

/// The algorithm bandwidth beside a bus bandwidth.
fn algorithm(report: &Report, bus: &Measurement) -> Option<f64> {
    let metric = bus.metric.replace(BUS, "_algorithm_bandwidth");
    let same = |item: &&Measurement| {
        item.metric == metric && item.bytes == bus.bytes && item.peer_access == bus.peer_access
    };
    report.measurements.iter().find(same)?.cells.first()?.median()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn real() -> Report {
        let bytes = include_bytes!("../../../../../kb-core/tests/data/reports/h200-x2-nccl.json");
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn a_real_report_has_a_row_for_each_collective() {
        let report = real();
        let view = section(&report).unwrap();
        let works = view.works.unwrap();
        assert_eq!(works.verdict.tone, Tone::Good);
        assert_eq!(works.rows.first().unwrap().value, "2.28.3");
        assert_eq!(works.arms.len(), 2);
        let table = view.bandwidths.unwrap();
        assert_eq!(table.columns.first().unwrap(), "4 KiB");
        assert_eq!(table.columns.last().unwrap(), "512 MiB");
        let last = |name: &str| {
            let row = table.rows.iter().find(|row| row.label == name).unwrap();
            row.cells.last().unwrap().clone()
        };
        assert_eq!(last("all reduce").text, "313.8");
        assert_eq!(last("alltoall").text, "296.5");
        assert_eq!(
            last("alltoall").title,
            "3 samples, algorithm bandwidth 592.9 GB/s"
        );
    }

    #[test]
    fn staging_that_fails_is_told() {
        let mut report = real();
        let nccl = report.nccl.as_mut().unwrap();
        nccl.verdict = NcclVerdict::StagingFails;
        let arm = nccl.arms.last_mut().unwrap();
        arm.outcome = kb_core::report::Outcome::Fail;
        arm.call = Some("ncclAllReduce".to_owned());
        (arm.code, arm.code_name) = (Some(2), Some("ncclSystemError".to_owned()));
        let works = section(&report).unwrap().works.unwrap();
        assert_eq!(works.verdict.label, "Fails without peer access");
        assert!(works.meaning.unwrap().contains("/dev/shm"));
        let arm = works.arms.last().unwrap();
        assert_eq!(arm.why, ["ncclAllReduce: ncclSystemError (2)"]);
        assert_eq!(arm.outcome.tone, Tone::Bad);
    }

    #[test]
    fn without_nccl_there_is_no_section() {
        let mut report = real();
        report.nccl = None;
        assert_eq!(section(&report).unwrap().works, None, "figures alone");
        report.measurements.retain(|item| !is_collective(item));
        assert_eq!(section(&report), None);
        assert!(!report.measurements.is_empty(), "those of pairs stay");
    }
}

//! NCCL: whether its collectives work with peer access and without, and what they carry, collective by collective.

use std::collections::BTreeSet;

use kb_core::report::{Cell, Engine, Measurement, Nccl, NcclArm, NcclVerdict, Report};

use super::facts::{code, shown};
use super::matrix::{ValueCell, ValueRow};
use crate::render::advice::Text;
use crate::render::i18n::{Language, report::Words, terms};
use crate::render::words::{Mark, Row, Tone, memory, outcome, seconds};

const BUS: &str = "_bus_bandwidth";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NcclView {
    /// The functional arms, where they were asked for.
    pub works: Option<WorksView>,
    /// What the collectives carry, where it was measured.
    pub bandwidths: Option<BandwidthsView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorksView {
    pub verdict: Mark,
    pub reason: String,
    /// What it means for those who run programs here, where it is not plain.
    pub meaning: Option<&'static str>,
    pub rows: Vec<Row>,
    pub arms: Vec<ArmView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmView {
    /// With peer access or without.
    pub name: &'static str,
    pub gpus: String,
    pub outcome: Mark,
    pub why: Vec<Text>,
    pub time: String,
}

/// Bus bandwidths: a row a collective, a column a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BandwidthsView {
    pub columns: Vec<String>,
    pub rows: Vec<ValueRow>,
}

/// True for figures of all GPUs together, which [`section`] shows and no matrix of pairs can.
pub(super) fn is_collective(item: &Measurement) -> bool {
    let of_all = |cell: &Cell| cell.source.is_some() && cell.source == cell.destination;
    item.engine == Engine::Nccl && item.cells.iter().all(of_all)
}

/// NCCL's part of the page; none where the report says nothing of it.
pub(super) fn section(report: &Report, language: Language) -> Option<NcclView> {
    let works = report.nccl.as_ref().map(|nccl| works(nccl, language));
    let bandwidths = bandwidths(report, language);
    (works.is_some() || bandwidths.is_some()).then_some(NcclView { works, bandwidths })
}

fn works(nccl: &Nccl, language: Language) -> WorksView {
    let words = Words::of(language);
    let (verdict, meaning) = verdict(nccl.verdict, language);
    let nvls = if nccl.nvls {
        words.left_to_nccl
    } else {
        words.switched_off
    };
    WorksView {
        verdict,
        reason: nccl.reason.clone(),
        meaning,
        rows: vec![
            Row::new(words.version, shown(&nccl.version, language, Clone::clone)),
            Row::new(words.library, shown(&nccl.library, language, Clone::clone)),
            Row::new(words.nvls, nvls),
        ],
        arms: nccl.arms.iter().map(|of_nccl| arm(of_nccl, language)).collect(),
    }
}

fn verdict(verdict: NcclVerdict, language: Language) -> (Mark, Option<&'static str>) {
    let words = Words::of(language);
    let (tone, sign, label, meaning) = match verdict {
        NcclVerdict::Ok => (Tone::Good, "✓", words.nccl_works, None),
        NcclVerdict::PeerAccessFails => (
            Tone::Bad,
            "✗",
            words.nccl_peer_fails,
            Some(words.nccl_peer_fails_means),
        ),
        NcclVerdict::StagingFails => (
            Tone::Warn,
            "△",
            words.nccl_staging_fails,
            Some(words.nccl_staging_fails_means),
        ),
        NcclVerdict::Inconclusive => (
            Tone::Unknown,
            "?",
            terms::Words::of(language).unknown,
            Some(words.nccl_nothing_shown),
        ),
        NcclVerdict::NotRun => (Tone::Unknown, "–", words.not_run, None),
        NcclVerdict::Unrecognised => (Tone::Unknown, "?", words.newer_verdict, None),
    };
    (Mark { tone, sign, label }, meaning)
}

fn arm(arm: &NcclArm, language: Language) -> ArmView {
    let words = Words::of(language);
    let gpus: Vec<String> = arm.gpus.iter().map(ToString::to_string).collect();
    let mut why: Vec<String> = arm.reason.iter().cloned().collect();
    let code = code(arm.code_name.as_deref(), arm.code, language);
    match (&arm.call, code.is_empty()) {
        (Some(call), true) => why.push(call.clone()),
        (Some(call), false) => why.push(format!("{call}: {code}")),
        (None, false) => why.push(code),
        (None, true) => {}
    }
    ArmView {
        name: if arm.peer_access {
            words.with_peer
        } else {
            words.without_peer
        },
        gpus: gpus.join(", "),
        outcome: outcome(arm.outcome, language),
        why: why.into_iter().map(Text::new).collect(),
        time: seconds(arm.seconds),
    }
}

fn bandwidths(report: &Report, language: Language) -> Option<BandwidthsView> {
    let measured: Vec<(String, &Measurement)> = report
        .measurements
        .iter()
        .filter(|item| is_collective(item))
        .filter_map(|item| Some((collective(item, language)?, item)))
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
            found.map_or_else(ValueCell::nothing, |(_, item)| value(report, item, language))
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
fn collective(item: &Measurement, language: Language) -> Option<String> {
    let (name, variant) = item.metric.strip_prefix("nccl_")?.split_once(BUS)?;
    let mut words = name.replace('_', " ");
    let variant = variant.trim_matches('_').replace('_', " ");
    if !variant.is_empty() {
        words = format!("{words}, {variant}");
    }
    if item.peer_access == Some(false) {
        words = Words::of(language).without_peer_access(&words);
    }
    Some(words)
}

fn value(report: &Report, item: &Measurement, language: Language) -> ValueCell {
    let words = Words::of(language);
    let Some(cell) = item.cells.first() else {
        return ValueCell::nothing();
    };
    if let Some(median) = cell.median() {
        let mut title = words.samples(cell.samples.len() as u64);
        if let Some(algorithm) = algorithm(report, item) {
            title = words.algorithm(&title, &format!("{algorithm:.1}"), &item.unit);
        }
        return ValueCell {
            class: "",
            text: format!("{median:.1}"),
            title,
        };
    }
    ValueCell::missing(cell.gap.as_ref(), language)
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
        let view = section(&report, Language::English).unwrap();
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
        let works = section(&report, Language::English).unwrap().works.unwrap();
        assert_eq!(works.verdict.label, "Fails without peer access");
        assert!(works.meaning.unwrap().contains("/dev/shm"));
        let arm = works.arms.last().unwrap();
        assert_eq!(arm.why, [Text::new("ncclAllReduce: ncclSystemError (2)")]);
        assert_eq!(arm.outcome.tone, Tone::Bad);
    }

    #[test]
    fn without_nccl_there_is_no_section() {
        let mut report = real();
        report.nccl = None;
        assert_eq!(
            section(&report, Language::English).unwrap().works,
            None,
            "figures alone"
        );
        report.measurements.retain(|item| !is_collective(item));
        assert_eq!(section(&report, Language::English), None);
        assert!(!report.measurements.is_empty(), "those of pairs stay");
    }
}

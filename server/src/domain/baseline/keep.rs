//! What of a good run others are held against.

use std::collections::BTreeMap;

use kb_core::baseline::{Cohort, Summary, figures};
use kb_core::report::{Report, fact_name};
use time::OffsetDateTime;

use crate::store::{KeptSeries, MOST_SERIES, ToldBaseline};

/// Sums up what a run measured; `None` where it measured nothing, or where nobody can be held against it. Figures of GPUs
/// that others used during the run are left out.
pub fn kept(report: &Report, ended: OffsetDateTime) -> Option<ToldBaseline> {
    let cohort = Cohort::of(report).ok()?;
    // Another tool's figures are of who knows when.
    if report.host.contains_key(fact_name::CONVERT_TOOLS) {
        return None;
    }
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for figure in figures(report).into_iter().filter(|figure| !figure.disturbed) {
        values.entry(figure.series.key()).or_default().push(figure.value);
    }
    let kept = values.into_iter().filter_map(|(key, values)| {
        Some(KeptSeries {
            key,
            at: ended.unix_timestamp(),
            report: report.report_id.to_string(),
            summary: Summary::of(values)?,
        })
    });
    let series: Vec<KeptSeries> = kept.take(MOST_SERIES).collect();
    (!series.is_empty()).then_some(ToldBaseline { cohort, series })
}

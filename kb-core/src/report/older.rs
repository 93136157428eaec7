//! Reports of agents before version 1.6 have no reason codes. Their sentences are read here, and nowhere else: those of
//! these agents do not change any more.

use super::{Check, Fact, Failure, Gap, Outcome, ReasonCode, Report};

/// The first minor version with reason codes.
const WITH_CODES: u32 = 6;

/// Fills in the reason codes of a report that is older than they are. Newer ones stay as they are.
pub fn add_reason_codes(report: &mut Report) {
    if report.schema.minor >= WITH_CODES {
        return;
    }
    let directions = report.pairs.iter_mut().flat_map(|pair| &mut pair.directions);
    for check in directions.flat_map(|direction| &mut direction.checks) {
        of_check(check);
    }
    let facts = report.host.values_mut();
    let of_gpus = report.gpus.iter_mut().flat_map(|gpu| gpu.facts.values_mut());
    for gap in facts.chain(of_gpus).filter_map(gap) {
        gap.reason_code = gap.reason_code.or_else(|| of_gap(&gap.reason));
    }
    for failure in &mut report.failures {
        failure.reason_code = failure.reason_code.or_else(|| of_failure(failure));
    }
}

fn gap(fact: &mut Fact) -> Option<&mut Gap> {
    fact.gap.as_mut()
}

fn of_check(check: &mut Check) {
    let Some(reason) = check
        .reason
        .as_deref()
        .filter(|_| check.outcome == Outcome::Skipped)
    else {
        return;
    };
    if reason.starts_with("not supported: ") {
        check.reason_code = Some(ReasonCode::NotSupported);
    } else if let Some(code) = quoted_code(reason) {
        check.reason_code = Some(ReasonCode::EarlierCall);
        check.earlier_code = Some(code);
    }
}

/// `… returned 221 (…)`.
fn quoted_code(reason: &str) -> Option<i32> {
    let mut quoted = reason.split("returned ").skip(1);
    quoted.find_map(|rest| rest.split_once(" (")?.0.parse().ok())
}

fn of_gap(reason: &str) -> Option<ReasonCode> {
    let says = |words: &str| reason.contains(words);
    if says("GPU_IS_LOST") || says("GPU is lost") || says("fallen off the bus") {
        Some(ReasonCode::GpuLost)
    } else if says("ersion mismatch") {
        Some(ReasonCode::VersionMismatch)
    } else if says("libnvidia-ml") {
        Some(ReasonCode::LibraryNotFound)
    } else {
        None
    }
}

fn of_failure(failure: &Failure) -> Option<ReasonCode> {
    let is_missing = failure.message.contains("cannot open shared object file");
    is_missing.then_some(ReasonCode::LibraryNotFound)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::report::GapKind;

    fn report(minor: u32) -> Report {
        let bytes = include_str!("../../tests/data/reports/h200-x2-healthy.json");
        let mut report: Report = serde_json::from_str(bytes).unwrap();
        report.schema.minor = minor;
        let gap = |reason| Fact::missing(GapKind::Failed, reason, "nvml");
        report.host.insert(
            "a".to_owned(),
            gap("NVML cannot be used: driver/library version mismatch"),
        );
        report
            .host
            .insert("b".to_owned(), gap("NVML cannot be used: libnvidia-ml.so.1: no"));
        report.gpus[0]
            .facts
            .insert("a".to_owned(), gap("nvmlX: the GPU is lost (NVML error 15)"));
        report.gpus[0].facts.insert("b".to_owned(), gap("nvmlX: timeout"));
        let missing =
            "dlopen failed: libcuda.so.1: cannot open shared object file: No such file or directory";
        report.failures = vec![
            Failure::new("load libcuda.so.1", missing),
            Failure::new("cuInit", "x"),
        ];
        let checks = &mut report.pairs[0].directions[0].checks;
        for (check, reason) in checks.iter_mut().zip([
            "not supported: the driver has no such handles",
            "no kernel can run, so only copy engines were used: cuModuleLoadData returned 221 (CUDA_ERROR_X)",
            "copy_push did not pass",
        ]) {
            check.outcome = Outcome::Skipped;
            check.reason = Some(reason.to_owned());
        }
        report
    }

    #[test]
    fn sentences_of_older_agents_get_their_codes() {
        let mut old = report(5);
        add_reason_codes(&mut old);
        let of = |fact: &Fact| fact.gap.as_ref().unwrap().reason_code;
        assert_eq!(of(&old.host["a"]), Some(ReasonCode::VersionMismatch));
        assert_eq!(of(&old.host["b"]), Some(ReasonCode::LibraryNotFound));
        assert_eq!(of(&old.gpus[0].facts["a"]), Some(ReasonCode::GpuLost));
        assert_eq!(of(&old.gpus[0].facts["b"]), None);
        assert_eq!(old.failures[0].reason_code, Some(ReasonCode::LibraryNotFound));
        assert_eq!(old.failures[1].reason_code, None);
        let checks = &old.pairs[0].directions[0].checks;
        let codes: Vec<_> = checks
            .iter()
            .take(3)
            .map(|check| (check.reason_code, check.earlier_code))
            .collect();
        assert_eq!(
            codes,
            [
                (Some(ReasonCode::NotSupported), None),
                (Some(ReasonCode::EarlierCall), Some(221)),
                (None, None),
            ]
        );
    }

    #[test]
    fn the_words_of_a_newer_agent_say_nothing() {
        let mut new = report(WITH_CODES);
        let before = new.clone();
        add_reason_codes(&mut new);
        assert_eq!(new, before);
    }
}

//! The reference table: what it says, and that it warns of no good machine.

use std::collections::BTreeSet;

use kb_core::baseline::{Cohort, Compared, Figure, LinkClass, Series, Standing, figures, outliers};
use kb_core::report::Report;

use crate::domain::correlate::samples::{pair, report};

use super::reference::{self, Reference, references, sources};

fn figure(reference: &Reference, value: f64) -> Figure {
    Figure {
        measurement: 0,
        cell: 0,
        source: Some(0),
        destination: Some(1),
        value,
        samples: 1,
        series: Series {
            link: LinkClass::Unknown,
            test: reference.test.clone(),
            bytes: reference.bytes,
            gpus: reference.gpus,
            unit: reference.unit.clone(),
        },
        disturbed: false,
    }
}

#[test]
fn the_table_fits_its_schema_and_names_its_sources() {
    let table: serde_json::Value = serde_json::from_str(include_str!("reference.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(include_str!("reference.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(&table)
        .map(|fault| fault.to_string())
        .collect();
    assert_eq!(faults, [] as [String; 0]);
    assert!(references().len() > 100);
    let named: BTreeSet<&str> = references()
        .iter()
        .flat_map(|one| &one.sources)
        .map(String::as_str)
        .collect();
    let known: BTreeSet<&str> = sources().keys().map(String::as_str).collect();
    assert_eq!(named, known);
    for one in references() {
        assert!(one.lowest <= one.median && one.median <= one.highest, "{one:?}");
    }
}

#[test]
fn no_figure_that_the_table_is_made_of_is_warned_of() {
    for one in references() {
        let worst = if one.unit == "GB/s" {
            one.lowest
        } else {
            one.highest
        };
        let compared = Compared::with_reference(&figure(one, worst), one.group());
        assert_eq!(compared.standing(), Standing::Normal, "{one:?}");
    }
}

#[test]
fn real_reports_get_their_reference_and_no_warning() {
    let mut found = 0;
    for bytes in [
        include_bytes!("../../../../kb-core/tests/data/reports/h200-x2-bench.json").as_slice(),
        include_bytes!("../../../../kb-core/tests/data/reports/h200-x4-bench.json").as_slice(),
        include_bytes!("../../../../kb-core/tests/data/reports/h200-x2-nccl.json").as_slice(),
        include_bytes!("../../../../kb-core/tests/data/reports/h200-x2-ladder.json").as_slice(),
        include_bytes!("../../../../kb-core/tests/data/reports/h100-x2-bench.json").as_slice(),
    ] {
        let report: Report = serde_json::from_slice(bytes).unwrap();
        let cohort = Cohort::of(&report).unwrap();
        let reviewed = kb_core::baseline::review(&report, figures(&report), |figure| {
            let known = reference::of(&cohort, figure);
            let known = known.map_or(Compared::None, |one| {
                Compared::with_reference(figure, one.group())
            });
            (Compared::None, Compared::None, known)
        });
        found += reviewed
            .iter()
            .filter(|item| item.reference != Compared::None)
            .count();
        assert_eq!(outliers(&reviewed), []);
        let warned: Vec<_> = reviewed
            .iter()
            .filter(|item| item.standing() >= Standing::Watch)
            .collect();
        assert!(warned.is_empty(), "{warned:#?}");
    }
    assert!(found > 300, "{found}");
}

#[test]
fn the_driver_of_a_reference_may_differ_and_a_closer_one_is_taken() {
    let one = references()
        .iter()
        .find(|one| one.board == "NVIDIA RTX A6000")
        .unwrap();
    let cohort = |branch, model: &str| Cohort {
        model: model.to_owned(),
        driver_branch: branch,
        simulated: false,
    };
    let asked = figure(one, one.median);
    assert_eq!(reference::of(&cohort(580, "NVIDIA RTX A6000"), &asked), Some(one));
    assert_eq!(reference::of(&cohort(550, "NVIDIA RTX A6000"), &asked), Some(one));
    assert_eq!(reference::of(&cohort(580, "NVIDIA RTX A5000"), &asked), None);
    let slow = Compared::with_reference(&figure(one, one.median / 2.0), one.group());
    assert_eq!(slow.standing(), Standing::Watch, "of one machine nothing is low");
}

/// A refusal that is meant is none to wonder at; as product policy it is, where the operator said nothing.
#[test]
fn a_refusal_that_the_operator_or_a_mode_wants_is_not_unlike_others() {
    let is_refused = |expect: Option<&str>, information: bool, cause: &str| {
        let mut pair = pair(0, 1, "GNS", 0);
        pair["verdict"]["information"] = information.into();
        pair["verdict"]["cause"] = cause.into();
        let mut body = report(2, &[pair]);
        body["conclusion"]["expect"] = expect.into();
        let report: Report = serde_json::from_value(body).unwrap();
        super::apart::is_refused(&report)
    };
    assert!(is_refused(None, false, "refused_not_supported"));
    assert!(is_refused(Some("p2p=auto,gpus=2"), true, "refused_by_policy"));
    assert!(is_refused(None, true, "refused_by_policy"));
    assert!(!is_refused(Some("p2p=none"), true, "refused_not_supported"));
    assert!(!is_refused(Some("p2p=nvlink"), true, "refused_not_supported"));
    assert!(!is_refused(None, false, "mig_enabled"));
    assert!(!is_refused(None, false, "confidential_computing"));
}

//! What the agent knows of Xids without a server is what kb-seed says. `WRITE_XIDS=1` writes the table.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

mod kb_seed;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kb_core::annex::Blame;
use kb_core::health::{Bearing, Family, WATCHED, What, known, known_xids, read_line};
use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::{Record, signature_set};
use kb_core::scanner::{ScanOptions, scan};
use serde::Serialize;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of the table, by family and number.
fn rows(records: &[Record]) -> BTreeMap<(String, u32), String> {
    let mut rows = BTreeMap::new();
    for record in records {
        for code in record.codes() {
            let Some((family, number)) = code.split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u32>() else {
                continue;
            };
            if !matches!(family, "Xid" | "SXid") {
                continue;
            }
            let annex = &record.annex;
            let at_fault = annex
                .at_fault
                .as_ref()
                .map_or(Blame::Unclear, |at_fault| at_fault.who);
            let row = format!(
                "{family}\t{number}\t{}\t{}\t{}\t{}",
                record.id(),
                annex.severity.map(word).unwrap_or_default(),
                annex.action.map(word).unwrap_or_default(),
                word(at_fault)
            );
            let other = rows.insert((family.to_owned(), number), row);
            assert_eq!(other, None, "{code} belongs to two records");
        }
    }
    rows
}

fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn the_table_of_xids_says_what_the_records_say() {
    let rows = rows(&kb_seed::records());
    let mut text = "family\tnumber\trecord\tseverity\taction\tat_fault\n".to_owned();
    for row in rows.values() {
        writeln!(text, "{row}").unwrap();
    }
    let path = repository().join("kb-core/data/xids.tsv");
    if std::env::var_os("WRITE_XIDS").is_some() {
        fs::write(&path, &text).unwrap();
        return;
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap_or_default(),
        text,
        "WRITE_XIDS=1 cargo nextest run -p kb-core --test xids"
    );
    assert_eq!(known_xids().len(), rows.len(), "every row is read");
}

#[test]
fn what_an_application_did_is_an_event_and_what_asks_for_a_reset_is_a_fault() {
    for (number, expected) in [
        (13, Bearing::Event),
        (31, Bearing::Event),
        (43, Bearing::Event),
        (45, Bearing::Event),
        (48, Bearing::Fault),
        (63, Bearing::Warning),
        (64, Bearing::Fault),
        (74, Bearing::Fault),
        (79, Bearing::Fault),
        (94, Bearing::Warning),
        (95, Bearing::Fault),
        (119, Bearing::Fault),
        (120, Bearing::Fault),
        (145, Bearing::Fault),
        (149, Bearing::Fault),
    ] {
        let xid = known(Family::Xid, number).unwrap_or_else(|| panic!("Xid {number}"));
        assert_eq!(xid.bearing(None), expected, "Xid {number}");
    }
    let link = known(Family::Xid, 149).unwrap();
    assert_eq!(link.bearing(Some(false)), Bearing::Warning);
    let timeout = known(Family::Sxid, 10_002).unwrap();
    assert_eq!(timeout.bearing(None), Bearing::Event);
    assert_eq!(timeout.bearing(Some(true)), Bearing::Fault);
    assert!(known(Family::Xid, 61).is_none());
}

#[test]
fn every_record_that_a_look_names_is_in_kb_seed() {
    for row in WATCHED {
        let Some(record) = row.record else { continue };
        let path = repository().join(format!("kb-seed/{record}.json"));
        assert!(path.is_file(), "{}: {record}", row.cause);
    }
}

/// What a look says of a line is what the line's record is about.
#[test]
fn the_own_line_of_a_fatal_record_is_read_as_that_record() {
    let mut read: Vec<String> = Vec::new();
    for record in kb_seed::records() {
        let named = match read_line(&record.document.signature).map(|event| event.what) {
            Some(What::Message(named)) => named,
            Some(What::Bus(named)) => Some(named),
            _ => continue,
        };
        let id = record.id().to_string();
        if named == Some(id.as_str()) {
            read.push(id);
        }
    }
    for id in [
        "driver/bar2-self-test-failed",
        "driver/device-unreachable-after-error",
        "driver/fsp-fuse-check-failed",
        "driver/gpu-boot-not-complete",
        "driver/gsp-crash-report",
        "driver/gsp-firmware-not-started",
        "driver/gsp-lockdown-not-released",
        "driver/gsp-wpr2-already-up",
        "driver/pci-device-not-enabled",
        "driver/uvm-channel-error",
        "pcie/aer-uncorrected",
        "pcie/downstream-port-containment",
    ] {
        assert!(read.iter().any(|read| read == id), "{id}");
    }
}

#[test]
fn fabric_manager_s_line_of_an_sxid_finds_the_record_of_its_number() {
    let records = kb_seed::records();
    let (matcher, _) = Matcher::build(signature_set(records.iter().map(|record| (record, Revision(1)))));
    let matcher = Arc::new(matcher);
    let known = known_xids().iter().filter(|known| known.family == Family::Sxid);
    let mut wrong = Vec::new();
    for known in known {
        let line = format!(
            "detected NVSwitch fatal error {} on fid 0 on NVSwitch pci bus id 00000000:83:00.0 physical id 0 port 42\n",
            known.number
        );
        let answer = scan(&matcher, line.as_bytes(), ScanOptions::default());
        let is_told = answer
            .matches
            .iter()
            .any(|found| found.id == known.record && !found.harmless);
        if !is_told || !answer.notes.is_empty() {
            wrong.push((known.number, answer.notes));
        }
    }
    assert_eq!(wrong, []);
}

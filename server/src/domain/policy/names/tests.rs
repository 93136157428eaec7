//! Rules for records that were renamed.

use kb_core::policy::Policy;
use serde_json::{Value, json};

use super::*;
use crate::domain::policy::file::{self, FileError};
use crate::feed::samples::{generation_of, renamed};

const XID_79: (&str, &str) = (
    include_str!("../../../../../kb-seed/xid/79-gpu-has-fallen-off-the-bus.json"),
    include_str!("../../../../../kb-seed/xid/79-gpu-has-fallen-off-the-bus.ext.json"),
);
const XID_63: (&str, &str) = (
    include_str!("../../../../../kb-seed/xid/63-row-remapping-event.json"),
    include_str!("../../../../../kb-seed/xid/63-row-remapping-event.ext.json"),
);
const OLD: &str = "xid/63-row-remapping-event";
const NEW: &str = "xid/63-renamed";

fn text(rules: &[(&str, &str)]) -> String {
    let rule =
        |(code, is): &(&str, &str)| format!("[[rule]]\ncode = \"{code}\"\nis = \"{is}\"\nreason = \"x\"\n");
    rules.iter().map(rule).collect()
}

/// Code and number of each rule.
fn rules(policy: &Policy) -> Vec<(String, u32)> {
    let rules = policy.rules.iter();
    rules.map(|rule| (rule.code.to_string(), rule.number)).collect()
}

#[test]
fn a_rule_stands_for_all_ids_of_its_record() {
    let generation = generation_of(&[renamed(XID_63, NEW)]);
    let read = |rules: &[(&str, &str)]| file::read_by(&text(rules), &Names::of(&generation)).unwrap();
    for (code, other) in [(OLD, NEW), (NEW, OLD)] {
        let policy = read(&[(code, "fault"), ("xid 94", "event")]);
        let wide = by_all_names(policy.clone(), &generation);
        let expected = [(code, 1), (other, 1), ("xid 94", 2)].map(|(code, number)| (code.to_owned(), number));
        assert_eq!(
            (rules(&wide), &wide.version),
            (expected.to_vec(), &policy.version)
        );
    }
    // Each has a rule of its own.
    let policy = read(&[(OLD, "event"), (NEW, "fault")]);
    assert_eq!(by_all_names(policy.clone(), &generation), policy);
}

#[test]
fn an_id_that_leads_elsewhere_or_nowhere_is_told() {
    let generation = generation_of(&[renamed(XID_63, NEW)]);
    let policy = text(&[
        (OLD, "fault"),
        (NEW, "event"),
        ("xid/94-contained-memory-error", "event"),
    ]);
    let policy = file::read(&policy, &[OLD, NEW, "xid/94-contained-memory-error"]).unwrap();
    let told: Vec<(u32, What)> = notes(&policy, &generation)
        .into_iter()
        .map(|note| (note.rule, note.what))
        .collect();
    assert_eq!(
        told,
        [(1, What::IsNow(NEW.parse().unwrap())), (3, What::OfNoRecord)]
    );
}

#[test]
fn a_lost_gpu_is_one_whatever_its_record_is_called() {
    let new = "xid/79-renamed";
    let mut own: Value = serde_json::from_str(XID_79.0).unwrap();
    own["id"] = json!(new);
    for record in [renamed(XID_79, new), (own.to_string(), XID_79.1.to_owned())] {
        let generation = generation_of(&[record]);
        let text = text(&[(new, "ignore")]);
        let FileError(faults) = file::read_by(&text, &Names::of(&generation)).unwrap_err();
        assert!(faults[0].told.contains("a GPU that is lost"), "{faults:?}");
        // A server that has taken it starts, and says that it does not count.
        let policy = file::read_by(&text, &Names::of(&generation).at_start()).unwrap();
        assert_eq!(notes(&policy, &generation)[0].what, What::OfLoss);
        let fault = file::read_by(&text.replace("ignore", "fault"), &Names::of(&generation));
        assert!(fault.is_ok());
    }
}

//! Which rule decides, and what it may not decide.

mod refused;

use std::collections::BTreeMap;

use super::decide::fits_pattern;
use super::times::add_time;
use super::*;
use crate::report::{Bearing, Entry, Fact, Gpu, Meaning};

pub(crate) fn rule(code: &str, is: Meaning) -> Rule {
    Rule {
        number: 0,
        code: Code::read(code),
        is,
        count: None,
        window_seconds: None,
        model: None,
        label: BTreeMap::new(),
        reason: "known here".to_owned(),
    }
}

fn counted(code: &str, count: u32, window_seconds: u64) -> Rule {
    Rule {
        count: Some(count),
        window_seconds: Some(window_seconds),
        ..rule(code, Meaning::Fault)
    }
}

fn entry(cause: &str, number: Option<u32>, record: Option<&str>, bearing: Bearing) -> Entry {
    serde_json::from_value(serde_json::json!({
        "id": format!("{cause}@0000:3b:00.0"), "cause": cause, "nature": "event", "bearing": bearing,
        "device": "0000:3b:00.0", "number": number, "record": record, "count": 1,
        "first_at": "2026-11-24T10:00:00Z", "last_at": "2026-11-24T10:00:00Z", "text": "x",
    }))
    .unwrap()
}

fn judged(rules: Vec<Rule>, mut entry: Entry) -> (Bearing, Option<u32>) {
    Policy::of(rules).judge_entry(&mut entry, &[]);
    (entry.bearing, entry.by_policy.map(|ruled| ruled.rule))
}

#[test]
fn the_first_rule_that_fits_decides_and_another_policy_takes_it_back() {
    let xid = || {
        entry(
            "xid",
            Some(63),
            Some("xid/63-row-remapping-event"),
            Bearing::Fault,
        )
    };
    let rules = || {
        vec![
            rule("xid 94", Meaning::Ignore),
            rule("xid 63", Meaning::Warning),
            rule("xid/63-row-remapping-event", Meaning::Ignore),
        ]
    };
    assert_eq!(judged(rules(), xid()), (Bearing::Warning, Some(2)));
    let mut twice = xid();
    Policy::of(rules()).judge_entry(&mut twice, &[]);
    Policy::default().judge_entry(&mut twice, &[]);
    assert_eq!(twice, xid());
    // The state that the same record explains is not the code.
    let state = || {
        entry(
            "remap_pending",
            None,
            Some("xid/63-row-remapping-event"),
            Bearing::Fault,
        )
    };
    assert_eq!(
        judged(vec![rule("xid 63", Meaning::Ignore)], state()),
        (Bearing::Fault, None)
    );
    assert_eq!(
        judged(vec![rule("xid/63-row-remapping-event", Meaning::Ignore)], state()).0,
        Bearing::Event
    );
    // What a server finds by the record alone is.
    let models = [];
    let found = Subject {
        record: Some("xid/63-row-remapping-event"),
        models: &models,
        ..Subject::default()
    };
    assert!(
        Policy::of(vec![rule("xid 63", Meaning::Ignore)])
            .judge(found, Bearing::Fault)
            .is_some()
    );
}

#[test]
fn a_policy_raises_what_the_records_call_an_event() {
    let xid = entry(
        "xid",
        Some(31),
        Some("xid/31-gpu-memory-page-fault"),
        Bearing::Event,
    );
    assert_eq!(
        judged(vec![rule("xid 31", Meaning::Fault)], xid),
        (Bearing::Fault, Some(1))
    );
}

/// Also where a policy was never checked, as one of another server.
#[test]
fn nothing_makes_a_lost_gpu_or_what_is_not_known_sound() {
    for (cause, number, record, was) in [
        ("gpu_lost", None, Some("nvml/gpu-is-lost"), Bearing::Fault),
        (
            "xid",
            Some(79),
            Some("xid/79-gpu-has-fallen-off-the-bus"),
            Bearing::Fault,
        ),
        (
            "kernel_message",
            None,
            Some("driver/gpu-lost-at-probe"),
            Bearing::Fault,
        ),
        ("load_fault", None, None, Bearing::Fault),
        ("ledger_damaged", None, None, Bearing::Unknown),
    ] {
        for is in [Meaning::Ignore, Meaning::Event, Meaning::Warning] {
            let mut rules = vec![rule(cause, is)];
            rules.extend(record.map(|record| rule(record, is)));
            rules.extend(number.map(|number| rule(&format!("xid {number}"), is)));
            assert_eq!(
                judged(rules, entry(cause, number, record, was)),
                (was, None),
                "{cause} {is:?}"
            );
        }
    }
}

#[test]
fn a_count_asks_for_as_many_within_its_window_and_no_time_ends_it() {
    let seen = |times: &[&str]| {
        let mut entry = entry("xid", Some(63), None, Bearing::Event);
        entry.count = times.len() as u64;
        entry.times = times.iter().map(|time| format!("2026-11-{time}:00Z")).collect();
        judged(vec![counted("xid 63", 3, 86_400)], entry).0
    };
    assert_eq!(seen(&["01T10:00"]), Bearing::Event);
    assert_eq!(seen(&["01T10:00", "01T11:00"]), Bearing::Event);
    assert_eq!(seen(&["01T10:00", "01T11:00", "02T09:59"]), Bearing::Fault);
    assert_eq!(seen(&["01T10:00", "01T11:00", "02T10:01"]), Bearing::Event);
    // It was reached once, long ago.
    assert_eq!(
        seen(&["01T10:00", "01T11:00", "01T12:00", "20T10:00"]),
        Bearing::Fault
    );
    // An older agent's ledger has no times: what is not known is no reason to pass it over.
    let mut old = entry("xid", Some(63), None, Bearing::Event);
    old.count = 3;
    assert_eq!(
        judged(vec![counted("xid 63", 3, 86_400)], old.clone()).0,
        Bearing::Fault
    );
    old.count = 2;
    assert_eq!(judged(vec![counted("xid 63", 3, 86_400)], old).0, Bearing::Event);
}

#[test]
fn a_count_that_was_reached_stays_reached_whatever_comes_later() {
    let mut xid = entry("xid", Some(63), None, Bearing::Event);
    let mut see = |time: String| {
        xid.count += 1;
        add_time(&mut xid, &time);
        let mut judged = xid.clone();
        Policy::of(vec![counted("xid 63", 3, 86_400)]).judge_entry(&mut judged, &[]);
        (judged.bearing, judged.times.len())
    };
    assert_eq!(see("2026-01-01T00:00:00Z".to_owned()).0, Bearing::Event);
    see("2026-01-01T01:00:00Z".to_owned());
    assert_eq!(see("2026-01-01T02:00:00Z".to_owned()).0, Bearing::Fault);
    for month in 2..=7 {
        for day in (1..=27).step_by(2) {
            for second in 0..2 {
                let (is, kept) = see(format!("2026-{month:02}-{day:02}T00:00:0{second}Z"));
                assert!(is == Bearing::Fault && kept <= MOST_TIMES, "{month} {day}");
            }
        }
    }
    assert_eq!(xid.spans.len(), MOST_TIMES - 1);
    // Pairs alone never reach it.
    assert_eq!((xid.spans[0], xid.spans[1]), (1, 7_200));
}

/// A rule for a model may be about a GPU whose name cannot be read: a milder one behind it must not count in its place.
#[test]
fn where_a_model_is_not_known_the_worst_of_the_rules_that_may_fit_counts() {
    let of_h100 = |is| Rule {
        model: Some("*H100*".to_owned()),
        ..rule("xid 94", is)
    };
    let policy = Policy::of(vec![of_h100(Meaning::Fault), rule("xid 94", Meaning::Ignore)]);
    let is = |policy: &Policy, models: &[Option<&str>], was: Bearing| {
        let subject = Subject {
            numbered: Some((crate::report::Family::Xid, 94)),
            models,
            ..Subject::default()
        };
        policy.judge(subject, was).map(|ruled| (ruled.is, ruled.rule))
    };
    let (h100, l4) = (Some("NVIDIA H100 NVL"), Some("NVIDIA L4"));
    let was = Bearing::Warning;
    assert_eq!(is(&policy, &[h100], was), Some((Meaning::Fault, 1)));
    assert_eq!(is(&policy, &[l4], was), Some((Meaning::Ignore, 2)));
    for models in [&[None][..], &[], &[h100, l4], &[l4, None]] {
        assert_eq!(is(&policy, models, was), Some((Meaning::Fault, 1)), "{models:?}");
    }
    // The records are one of the things that may be right, where no rule fits for certain.
    let mild = Policy::of(vec![of_h100(Meaning::Ignore)]);
    assert_eq!(is(&mild, &[None], Bearing::Fault), None);
    assert_eq!(is(&mild, &[h100], Bearing::Fault), Some((Meaning::Ignore, 1)));
    let strict = Policy::of(vec![of_h100(Meaning::Fault)]);
    assert_eq!(is(&strict, &[], was), Some((Meaning::Fault, 1)));
    assert_eq!(is(&strict, &[l4], was), None);
}

#[test]
fn a_rule_with_a_key_that_is_not_known_is_refused() {
    let rule = serde_json::json!({ "number": 1, "code": "xid 63", "is": "ignore", "reason": "x", "only_driver": "580" });
    let error = serde_json::from_value::<Rule>(rule).unwrap_err().to_string();
    assert!(error.contains("only_driver"), "{error}");
}

#[test]
fn a_model_is_that_of_the_gpu_or_of_all_of_them() {
    assert!(fits_pattern("NVIDIA H200*", "NVIDIA H200 NVL"));
    assert!(fits_pattern("*h200*", "NVIDIA H200 NVL") && fits_pattern("*", "x"));
    assert!(
        !fits_pattern("NVIDIA H200", "NVIDIA H200 NVL") && !fits_pattern("*A100", "NVIDIA A100 80GB PCIe")
    );
    let gpu = |address: &str, name: &str| {
        let mut gpu: Gpu = crate::verdict::tests::healthy(1).gpus.remove(0);
        gpu.pci_address = Fact::read(address.to_owned(), "test");
        gpu.name = Fact::read(name.to_owned(), "test");
        gpu
    };
    let gpus = [
        gpu("0000:3b:00.0", "NVIDIA H200"),
        gpu("0000:5e:00.0", "NVIDIA L4"),
    ];
    let policy = Policy::of(vec![Rule {
        model: Some("NVIDIA H200".to_owned()),
        ..rule("xid 63", Meaning::Ignore)
    }]);
    let of = |device: &str, gpus: &[Gpu]| {
        let mut xid = Entry {
            device: device.to_owned(),
            ..entry("xid", Some(63), None, Bearing::Fault)
        };
        policy.judge_entry(&mut xid, gpus);
        xid.bearing
    };
    assert_eq!(of("0000:3b:00.0", &gpus), Bearing::Event);
    assert_eq!(of("0000:5e:00.0", &gpus), Bearing::Fault);
    assert_eq!(of("node", &gpus), Bearing::Fault, "not all are of the model");
    assert_eq!(of("node", &gpus[..1]), Bearing::Event);
    assert_eq!(of("node", &[]), Bearing::Fault, "no model is known");
}

#[test]
fn labels_are_resolved_with_the_numbers_and_the_version_of_the_whole() {
    let label = BTreeMap::from([("pool".to_owned(), "test".to_owned())]);
    let policy = Policy::of(vec![
        Rule {
            label: label.clone(),
            ..rule("xid 63", Meaning::Ignore)
        },
        rule("xid 94", Meaning::Ignore),
    ]);
    let of_all = policy.for_node(&BTreeMap::new());
    assert_eq!(
        of_all.rules.iter().map(|rule| rule.number).collect::<Vec<_>>(),
        [2]
    );
    assert_eq!(of_all.version, policy.version);
    assert_eq!(policy.for_node(&label), policy);
    let other = Policy::of(vec![rule("xid 94", Meaning::Event)]);
    assert_ne!(other.version, policy.version);
    assert_eq!(Policy::of(Vec::new()), Policy::default());
    let json = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&json).unwrap(), policy);
}

#[test]
fn warnings_of_pairs_are_those_of_the_table() {
    use crate::verdict::{Verdict, table};
    for name in PAIR_WARNINGS {
        let row = table().find(|named| named.cause == *name).unwrap();
        assert_eq!(row.verdict, Verdict::Degraded, "{name}");
    }
    // The table begins with what a pair may have, which ends with the first cause of a GPU that is not there.
    let of_pairs = table().take_while(|named| named.cause != "device_missing");
    for row in of_pairs.filter(|named| named.verdict == Verdict::Degraded) {
        assert!(PAIR_WARNINGS.contains(&row.cause), "{}", row.cause);
    }
}

#[test]
fn each_known_xid_is_explained() {
    let policy = Policy::of(vec![counted("xid 63", 3, 86_400), rule("xid 31", Meaning::Fault)]);
    let rows = policy.explain_xids(None);
    assert!(rows.len() > 100, "{}", rows.len());
    let text = table(&rows);
    assert_eq!(text.lines().count(), rows.len() + 1);
    let of = |code: &str| policy.explain(&Code::read(code), None, None);
    assert_eq!(of("xid 31").here(), Bearing::Fault);
    let told = of("xid 63").to_string();
    assert!(
        told.contains("fault from 3 in 1d on; below that an event (rule 1: known here)"),
        "{told}"
    );
    assert!(told.contains("drains the node, within its breaker"), "{told}");
    assert_eq!(of("xid 79").here(), Bearing::Fault);
    assert!(of("slow_pair").to_string().contains("no rule is about it"));
}

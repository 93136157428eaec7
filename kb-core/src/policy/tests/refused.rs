//! Rules and codes that are refused.

use super::*;
use crate::report::Family;

#[test]
fn rules_that_make_no_sense_are_refused() {
    let faults = |rules: Vec<Rule>| {
        let faults = check(&Policy::of(rules), KNOWN_MODELS);
        faults
            .into_iter()
            .map(|fault| format!("{} {} {}", fault.rule, fault.key, fault.told))
            .collect::<Vec<_>>()
    };
    let model = |pattern: &str| Rule {
        model: Some(pattern.to_owned()),
        ..rule("xid 63", Meaning::Ignore)
    };
    assert_eq!(
        faults(vec![counted("xid 63", 3, 86_400), model("NVIDIA H200*")]).len(),
        1,
        "the second never applies"
    );
    for (rules, told) in [
        (
            vec![rule("xid 79", Meaning::Event)],
            "1 is xid 79 tells of a GPU that is lost",
        ),
        (vec![counted("xid 79", 2, 60)], "1 is xid 79"),
        (vec![rule("gpu_lost", Meaning::Warning)], "a GPU that is lost"),
        (vec![rule("load_fault", Meaning::Ignore)], "a proof that failed"),
        (vec![rule("ledger_damaged", Meaning::Ignore)], "could not be read"),
        (vec![counted("remap_pending", 3, 60)], "only events are counted"),
        (vec![counted("slow_pair", 3, 60)], "only events are counted"),
        (
            vec![Rule {
                is: Meaning::Ignore,
                ..counted("xid 63", 3, 60)
            }],
            "not with \"ignore\"",
        ),
        (
            vec![Rule {
                window_seconds: None,
                ..counted("xid 63", 3, 60)
            }],
            "needs a window",
        ),
        (
            vec![Rule {
                count: None,
                ..counted("xid 63", 3, 60)
            }],
            "needs a count",
        ),
        (vec![counted("xid 63", 1, 60)], "give 2 to 32"),
        (vec![counted("xid 63", 3, 0)], "at most 365d"),
        (vec![model("NVIDIA H20O")], "did you mean \"NVIDIA H20\"?"),
        (vec![model(" ")], "give the name of a model"),
        (
            vec![Rule {
                reason: " ".to_owned(),
                ..rule("xid 63", Meaning::Ignore)
            }],
            "why the site decides so",
        ),
        (
            vec![rule("xid 63", Meaning::Ignore), rule("xid 63", Meaning::Fault)],
            "2 code it never applies: rule 1",
        ),
        (
            vec![
                rule("xid/63-row-remapping-event", Meaning::Ignore),
                model("NVIDIA H200"),
            ],
            "2 code it never applies",
        ),
    ] {
        let found = faults(rules);
        assert!(
            found.iter().any(|fault| fault.contains(told)),
            "{told}: {found:?}"
        );
    }
    assert_eq!(
        faults(vec![model("NVIDIA H200"), rule("xid 63", Meaning::Warning)]),
        Vec::<String>::new()
    );
    assert_eq!(faults(vec![rule("xid 79", Meaning::Fault)]), Vec::<String>::new());
}

#[test]
fn a_code_that_nobody_knows_is_refused_with_the_nearest() {
    for (text, told) in [
        ("xid 630", "did you mean \"xid"),
        (
            "xid/63-row-remaping-event",
            "did you mean \"xid/63-row-remapping-event\"?",
        ),
        ("remap_pendin", "did you mean \"remap_pending\"?"),
        ("slow_pairs", "did you mean \"slow_pair\"?"),
        ("xid", "takes in every code"),
        ("kernel_message", "takes in every code"),
        ("data_mismatch", "that a policy decides about"),
        ("gpu_needs_service", "that a policy decides about"),
        ("", "that a policy decides about"),
    ] {
        let error = Code::parse(text, &[]).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
    for good in [
        "xid 63",
        "Xid 63",
        "xid-63",
        "sxid 12028",
        "remap_pending",
        "slow_pair",
        "driver/gsp-heartbeat-timed-out",
    ] {
        assert!(Code::parse(good, &[]).is_ok(), "{good}");
    }
    assert!(Code::parse("site/own", &["site/own"]).is_ok());
    assert_eq!(Code::read("SXid 12028"), Code::Numbered(Family::Sxid, 12_028));
}

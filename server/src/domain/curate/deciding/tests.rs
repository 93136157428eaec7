//! Which changes of a record decide.

use serde_json::{Value, json};

use super::*;

fn record(annex: &Value, signature: &str) -> Record {
    let document = json!({
        "id": "cuda/a", "signature": signature, "domain": "cuda", "category": "x", "root_cause": "y", "regex": "one\\s+two",
    });
    let mut whole = json!({"schema_version": 1});
    for (key, value) in annex.as_object().unwrap() {
        whole[key] = value.clone();
    }
    Record::from_texts(document.to_string(), whole.to_string()).unwrap()
}

#[test]
fn each_of_what_judges_decides_and_nothing_else() {
    let plain = record(&json!({}), "s");
    for (annex, expected) in [
        (json!({"severity": "info"}), vec!["severity"]),
        (json!({"action": "none"}), vec!["action"]),
        (
            json!({"at_fault": {"who": "gpu", "source": "https://example.org/"}}),
            vec!["at_fault"],
        ),
        (json!({"harmless": {"unless": "it repeats"}}), vec!["harmless"]),
        (
            json!({"probe": [{"id": "a", "scope": "report", "when": "true"}]}),
            vec!["probe"],
        ),
        (json!({"relations": {"cancels": ["cuda/b"]}}), vec!["relations"]),
        (json!({"title": "Another title"}), vec![]),
    ] {
        let after = record(&annex, "s");
        assert_eq!(deciding(Some(&plain), &after), expected, "{annex}");
        assert_eq!(deciding(None, &after), expected, "{annex}");
    }
}

#[test]
fn what_a_notice_recognises_decides_in_both_directions() {
    let notice = |codes: Value| {
        record(
            &json!({"harmless": {"unless": "it repeats"}, "codes": codes}),
            "s",
        )
    };
    let (few, many) = (notice(json!(["Xid 43"])), notice(json!(["Xid 43", "Xid 79"])));
    assert_eq!(deciding(Some(&few), &many), ["codes"]);
    assert_eq!(deciding(Some(&many), &few), ["codes"]);
    // Also where it becomes a notice, or was one, with the same revision.
    let plain = record(&json!({"severity": "info", "codes": ["Xid 43"]}), "s");
    assert_eq!(deciding(Some(&plain), &many), ["severity", "harmless", "codes"]);
    assert_eq!(deciding(Some(&many), &plain), ["severity", "harmless", "codes"]);
    assert_eq!(deciding(Some(&few), &few), Vec::<&str>::new());
    let mut regex = few.clone();
    regex.document.regex = None;
    assert_eq!(deciding(Some(&regex), &few), ["regex"]);
}

/// The gate lets it take lines of what it cancels, so that a second person looks at which.
#[test]
fn what_finds_a_record_that_cancels_others_decides_in_both_directions() {
    for severity in [None, Some("error")] {
        let with = |key: &str, value: Value| {
            let mut annex = json!({"relations": {"cancels": ["cuda/b"]}, "patterns": [{"id": "a", "regex": "fallen off"}]});
            if let Some(severity) = severity {
                annex["severity"] = severity.into();
            }
            annex[key] = value;
            annex
        };
        let before = record(&with("codes", json!(["Xid 79"])), "s");
        let another = json!([{"id": "a", "regex": "fallen off"}, {"id": "b", "regex": "slipped off"}]);
        let mut more = with("codes", json!(["Xid 79"]));
        more["patterns"] = another;
        assert_eq!(deciding(Some(&before), &record(&more, "s")), ["patterns"]);
        let codes = record(&with("codes", json!(["Xid 79", "Xid 1079"])), "s");
        assert_eq!(deciding(Some(&before), &codes), ["codes"]);
        let signed = record(&with("codes", json!(["Xid 79"])), "another");
        assert_eq!(deciding(Some(&before), &signed), ["signature"]);
        assert_eq!(deciding(Some(&before), &before), Vec::<&str>::new());
        let titled = record(
            &{
                let mut annex = with("codes", json!(["Xid 79"]));
                annex["title"] = "Another title".into();
                annex
            },
            "s",
        );
        assert_eq!(deciding(Some(&before), &titled), Vec::<&str>::new());
    }
}

#[test]
fn going_back_takes_no_alarm_away() {
    let with = |annex: Value| record(&annex, "s");
    let rule = |when: &str| json!([{"id": "a", "scope": "report", "when": when}]);
    let blames = |who: &str| json!({"at_fault": {"who": who, "source": "https://example.org/"}});
    for (before, after, expected) in [
        (
            json!({"severity": "fatal"}),
            json!({"severity": "info"}),
            vec!["severity"],
        ),
        (json!({"severity": "fatal"}), json!({}), vec!["severity"]),
        (json!({"severity": "info"}), json!({"severity": "fatal"}), vec![]),
        (
            json!({"action": "reboot_node"}),
            json!({"action": "none"}),
            vec![],
        ),
        (blames("gpu"), blames("application"), vec!["at_fault"]),
        (blames("gpu"), json!({}), vec!["at_fault"]),
        (blames("application"), blames("gpu"), vec![]),
        (
            json!({}),
            json!({"harmless": {"unless": "it repeats"}}),
            vec!["harmless"],
        ),
        (json!({"harmless": {"unless": "it repeats"}}), json!({}), vec![]),
        (
            json!({"probe": rule("true")}),
            json!({"probe": rule("false")}),
            vec!["probe"],
        ),
        (json!({"probe": rule("true")}), json!({}), vec![]),
        (
            json!({"severity": "info", "codes": ["Xid 79"]}),
            json!({"severity": "info"}),
            vec!["codes"],
        ),
        (
            json!({}),
            json!({"relations": {"cancels": ["cuda/b"]}}),
            vec!["relations"],
        ),
    ] {
        let away = takes_alarms_away(Some(&with(before.clone())), &with(after.clone()));
        assert_eq!(away, expected, "{before} to {after}");
    }
    // Of what is withdrawn there is no alarm to take away.
    let full = with(json!({"severity": "info", "probe": rule("true")}));
    assert_eq!(takes_alarms_away(None, &full), Vec::<&str>::new());
}

#[test]
fn examples_that_are_gone_decide() {
    let with = |severity: &str, examples: &[&str]| {
        let examples: Vec<Value> = examples.iter().map(|text| json!({"text": text})).collect();
        record(&json!({"severity": severity, "examples": examples}), "s")
    };
    for (severity, before, after, decides) in [
        ("fatal", vec!["a", "b"], vec!["a"], true),
        ("fatal", vec!["a"], vec![], true),
        ("fatal", vec!["a"], vec!["a", "b"], false),
        ("error", vec!["a", "b"], vec!["a"], false),
        ("error", vec!["a"], vec![], true),
        // An example that replaces another one does not keep it.
        ("error", vec!["a"], vec!["b"], true),
        ("error", vec![], vec![], false),
    ] {
        let (before, after) = (with(severity, &before), with(severity, &after));
        let keys = deciding(Some(&before), &after);
        assert_eq!(keys == ["examples"], decides, "{keys:?}");
        assert_eq!(takes_alarms_away(Some(&before), &after) == ["examples"], decides);
    }
    let reboots = |examples: Value| {
        record(
            &json!({"severity": "error", "action": "reboot_node", "examples": examples}),
            "s",
        )
    };
    let (two, one) = (
        reboots(json!([{"text": "a"}, {"text": "b"}])),
        reboots(json!([{"text": "a"}])),
    );
    assert_eq!(deciding(Some(&two), &one), ["examples"], "its action stops work");
    let plain = |examples: Value| record(&json!({ "examples": examples }), "s");
    let (some, none) = (plain(json!([{"text": "a"}])), plain(json!([])));
    assert_eq!(deciding(Some(&some), &none), Vec::<&str>::new());
}

#[test]
fn what_a_deciding_record_recognises_decides_where_it_becomes_less() {
    let full = json!({
        "severity": "fatal",
        "codes": ["Xid 79"],
        "patterns": [{"id": "a", "regex": "fallen off"}],
    });
    let with = |key: &str, value: Value| {
        let mut annex = full.clone();
        annex[key] = value;
        annex
    };
    let before = record(&full, "s");
    for (annex, signature, expected) in [
        (with("codes", json!([])), "s", vec!["codes"]),
        (with("patterns", json!([])), "s", vec!["patterns"]),
        (
            with("patterns", json!([{"id": "a", "regex": "fallen off a cliff"}])),
            "s",
            vec!["patterns"],
        ),
        (
            with(
                "applies_to",
                json!([{"component": "driver", "introduced": "999"}]),
            ),
            "s",
            vec!["applies_to"],
        ),
        (
            with("relations", json!({"only_alone": true})),
            "s",
            vec!["relations"],
        ),
        (full.clone(), "another", vec!["signature"]),
        (with("codes", json!(["Xid 79", "Xid 1079"])), "s", vec![]),
    ] {
        let after = record(&annex, signature);
        assert_eq!(deciding(Some(&before), &after), expected, "{annex}");
    }
    // Where nothing is decided, nothing of it is.
    let plain = record(&json!({"codes": ["Xid 79"]}), "s");
    assert_eq!(
        deciding(Some(&plain), &record(&json!({}), "s")),
        Vec::<&str>::new()
    );
}

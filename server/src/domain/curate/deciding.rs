//! What of a record decides how a node or a text is judged: severity, first action, what is at fault, whether the message is
//! harmless, and rules over reports; of a record that says one of these, also what it recognises; of a record of a fatal error, also what
//! it is called and what is done about it. Such a change needs a second person.

use kb_core::annex::{Annex, Blame, Example};
use kb_core::record::Record;
use kb_core::severity::Severity;

use super::advised::advises_otherwise;

/// Keys that differ and decide. Of a record that decides, what it recognises decides as well: with a pattern less it says nothing of a
/// node. More patterns are for the gate, unless the record is a notice: it then calls harmless what was none.
pub(super) fn deciding(before: Option<&Record>, after: &Record) -> Vec<&'static str> {
    let annex = &after.annex;
    let old = before.map(|record| &record.annex);
    let mut differ = vec![
        ("severity", old.and_then(|old| old.severity) != annex.severity),
        ("action", old.and_then(|old| old.action) != annex.action),
        (
            "at_fault",
            old.and_then(|old| old.at_fault.as_ref()) != annex.at_fault.as_ref(),
        ),
        (
            "harmless",
            old.and_then(|old| old.harmless.as_ref()) != annex.harmless.as_ref(),
        ),
        (
            "probe",
            old.map(|old| old.probe.as_slice()).unwrap_or_default() != annex.probe,
        ),
    ];
    let is_notice = |record: &Record| record.annex.harmless.is_some();
    match before {
        Some(before) if is_notice(before) || is_notice(after) => {
            differ.extend(recognises(before, after, How::Otherwise));
        }
        Some(before) if !decides(before).is_empty() => differ.extend(recognises(before, after, How::Less)),
        _ => differ.push(("relations", takes_more(before, after))),
    }
    let lacks = before.is_some_and(|before| !decides(before).is_empty() && lacks_examples(before, after));
    differ.push(("examples", lacks));
    if let Some(before) = before.filter(|before| before.annex.severity == Some(Severity::Fatal)) {
        let titles = |record: &Record| [record.annex.title.clone(), record.annex.title_zh.clone()];
        differ.push(("title", titles(before) != titles(after)));
        differ.push(("workarounds", advises_otherwise(before, after)));
    }
    differ
        .into_iter()
        .filter(|(_, differs)| *differs)
        .map(|(key, _)| key)
        .collect()
}

/// Keys by which a record decides; without them nothing that it recognises is a verdict.
pub(super) fn decides(record: &Record) -> Vec<&'static str> {
    let annex = &record.annex;
    [
        ("severity", annex.severity.is_some()),
        ("action", annex.action.is_some()),
        ("at_fault", annex.at_fault.is_some()),
        ("harmless", annex.harmless.is_some()),
        ("probe", !annex.probe.is_empty()),
    ]
    .into_iter()
    .filter(|(_, is_there)| *is_there)
    .map(|(key, _)| key)
    .collect()
}

/// Of [`deciding`], what takes an alarm away. Going back to an older revision takes a rule that drains nodes away, or a step that is
/// too hard, and no more than that: one person may do so at once.
pub(super) fn takes_alarms_away(before: Option<&Record>, after: &Record) -> Vec<&'static str> {
    let old = before.map(|before| &before.annex);
    let new = &after.annex;
    let mut keys = deciding(before, after);
    keys.retain(|key| match *key {
        "severity" => old.is_some_and(|old| new.severity < old.severity),
        // Readers saw the older ones, too.
        "action" | "title" | "workarounds" => false,
        "at_fault" => old.is_some_and(|old| blame(new) < blame(old)),
        "harmless" => new.harmless.is_some(),
        // A rule that is another one may be true of less.
        "probe" => old.is_some_and(|old| {
            let mut rules = old.probe.iter();
            rules.any(|rule| new.probe.iter().any(|other| other.id == rule.id && other != rule))
        }),
        _ => true,
    });
    keys
}

/// How much of an error is a fault of the node: nothing of what a program did, everything of what a part of the node did.
fn blame(annex: &Annex) -> u8 {
    match annex.at_fault.as_ref().map(|at_fault| at_fault.who) {
        Some(Blame::Application) => 0,
        Some(Blame::Driver | Blame::Unclear) | None => 1,
        Some(Blame::Gpu | Blame::Link | Blame::Host | Blame::Fabric) => 2,
    }
}

/// Which difference of what a record recognises is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Something is gone or narrower.
    Less,
    /// Any: a notice that recognises more calls more lines harmless.
    Otherwise,
}

fn recognises(before: &Record, after: &Record, how: How) -> [(&'static str, bool); 7] {
    let (old, new) = (&before.annex, &after.annex);
    let (regex, other) = (&before.document.regex, &after.document.regex);
    let relations = |record: &Record| {
        let mut relations = record.annex.relations.clone();
        relations.cancels.clear();
        relations
    };
    let cancels = (&old.relations.cancels, &new.relations.cancels);
    [
        ("signature", before.document.signature != after.document.signature),
        (
            "regex",
            (regex.is_some() || how == How::Otherwise) && regex != other,
        ),
        ("codes", how.differ(&before.codes(), &after.codes())),
        ("patterns", how.differ(&old.patterns, &new.patterns)),
        ("phrases", how.differ(&old.phrases, &new.phrases)),
        ("applies_to", how.differ(&new.applies_to, &old.applies_to)),
        (
            "relations",
            how.differ(cancels.1, cancels.0) || relations(before) != relations(after),
        ),
    ]
}

impl How {
    fn differ<T: PartialEq>(self, before: &[T], after: &[T]) -> bool {
        is_less(before, after) || (self == Self::Otherwise && is_less(after, before))
    }
}

/// Whether examples are gone that the gate holds for the record against others: without them another record may take its lines. Of a
/// record of a fatal error each counts, of others the last.
fn lacks_examples(before: &Record, after: &Record) -> bool {
    let (old, new) = (&before.annex.examples, &after.annex.examples);
    let is_gone = |example: &Example| new.iter().all(|other| other.text != example.text);
    let is_fatal = before.annex.severity == Some(Severity::Fatal);
    let mut examples = old.iter();
    if is_fatal {
        examples.any(is_gone)
    } else {
        !old.is_empty() && examples.all(is_gone)
    }
}

fn takes_more(before: Option<&Record>, after: &Record) -> bool {
    let taken = before.map(|before| before.annex.relations.cancels.as_slice());
    is_less(&after.annex.relations.cancels, taken.unwrap_or_default())
}

fn is_less<T: PartialEq>(before: &[T], after: &[T]) -> bool {
    before.iter().any(|item| !after.contains(item))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
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
}

//! What a record says of its error and advises, held against what it said before.

use kb_core::annex::WorkaroundNote;
use kb_core::record::{Record, Workaround};

/// Whether the cause is another one, in either language.
pub(super) fn explains_otherwise(before: &Record, after: &Record) -> bool {
    let (old, new) = (&before.document, &after.document);
    old.root_cause != new.root_cause || old.root_cause_zh != new.root_cause_zh
}

/// Whether readers are warned of other dead ends, in either language. Where it is said of one may change.
pub(super) fn warns_otherwise(before: &Record, after: &Record) -> bool {
    let shown = |record: &Record| {
        let mut all = record.document.dead_ends.clone();
        for dead_end in &mut all {
            dead_end.sources.clear();
        }
        all
    };
    shown(before) != shown(after) || before.annex.dead_ends_zh != after.annex.dead_ends_zh
}

/// Whether something else is to be done first, or a step is not advised any more. More steps behind the first are for a reader to judge.
pub(super) fn advises_otherwise(before: &Record, after: &Record) -> bool {
    let (old, new) = (advised(before), advised(after));
    let first = |steps: &[Step<'_>], record: &Record| steps.first().map(|step| step.whole(record));
    let is_gone = |step: &Step<'_>| new.iter().all(|other| other.item.action != step.item.action);
    first(&old, before) != first(&new, after) || old.iter().any(is_gone)
}

/// The steps that nobody disputes, in the order in which they are shown.
fn advised(record: &Record) -> Vec<Step<'_>> {
    let all = record.workarounds().into_iter();
    all.filter(|step| step.dispute.is_none())
        .map(|step| Step {
            position: step.position,
            item: step.item,
        })
        .collect()
}

struct Step<'r> {
    position: usize,
    item: &'r Workaround,
}

impl Step<'_> {
    /// All that a reader may be told of it, in both languages, with what it costs and what is stopped before it.
    fn whole(&self, record: &Record) -> ([Option<String>; 6], Option<WorkaroundNote>) {
        let chinese = record.annex.workarounds_zh.get(self.position);
        let texts = [
            Some(self.item.action.clone()),
            self.item.how.clone(),
            self.item.condition.clone(),
            record.document.workarounds_zh.get(self.position).cloned(),
            chinese.and_then(|chinese| chinese.action.clone()),
            chinese.and_then(|chinese| chinese.how.clone()),
        ];
        (texts, record.workaround_note(self.position).cloned())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use kb_core::annex::{WorkaroundKind, WorkaroundScope};
    use kb_core::record::DeadEnd;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::curate::deciding::{deciding, takes_alarms_away};

    type Change<'c> = (&'c str, &'c [&'static str], &'c dyn Fn(&mut Record));

    fn made(annex: &Value, change: &dyn Fn(&mut Record)) -> Record {
        let document = json!({
            "id": "cuda/a", "signature": "s", "domain": "cuda", "category": "x", "root_cause": "y", "regex": "one",
        });
        let mut whole = json!({ "schema_version": 1, "title": "GPU lost" });
        for (key, value) in annex.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let mut record = Record::from_texts(document.to_string(), whole.to_string()).unwrap();
        let step = |action: &str| json!({ "action": action });
        let steps = [
            step("Drain the node"),
            step("Reset the GPU"),
            step("Replace the GPU"),
        ];
        record.document.workarounds = serde_json::from_value(json!(steps)).unwrap();
        record.document.workarounds_zh = vec!["排空节点".to_owned()];
        let dead_ends = json!([{ "action": "Going on without a reboot" }]);
        record.document.dead_ends = serde_json::from_value(dead_ends).unwrap();
        let note = |stop: &str| json!({ "kind": "repairs", "scope": "node", "stop_first": stop });
        let notes = [note("all jobs"), note("jobs on the GPU")];
        record.annex.workaround_notes = serde_json::from_value(json!(notes)).unwrap();
        change(&mut record);
        record
    }

    fn dispute(pointer: &str) -> kb_core::annex::Dispute {
        let dispute = json!({ "pointer": pointer, "why": "no", "source": "https://example.org/" });
        serde_json::from_value(dispute).unwrap()
    }

    /// Each change of the record of an error that stops work decides by these keys, and by none where it does not.
    fn check(changes: &[Change<'_>]) {
        let keep = |_: &mut Record| {};
        for (name, keys, change) in changes {
            for annex in [
                json!({ "severity": "fatal" }),
                json!({ "severity": "error", "action": "reset_gpu" }),
                json!({ "action": "replace_hardware" }),
            ] {
                let (before, after) = (made(&annex, &keep), made(&annex, change));
                assert_eq!(deciding(Some(&before), &after), *keys, "{name}");
                assert_eq!(
                    takes_alarms_away(Some(&before), &after),
                    Vec::<&str>::new(),
                    "{name}"
                );
            }
            for annex in [
                json!({ "severity": "error" }),
                json!({ "severity": "error", "action": "fix_application" }),
            ] {
                let (before, after) = (made(&annex, &keep), made(&annex, change));
                assert_eq!(deciding(Some(&before), &after), Vec::<&str>::new(), "{name}");
            }
        }
    }

    #[test]
    fn of_an_error_that_stops_work_what_it_says_decides() {
        check(&[
            ("cause", &["root_cause"], &|record| {
                record.document.root_cause = "This message is harmless and needs no step.".to_owned();
            }),
            ("Chinese cause", &["root_cause"], &|record| {
                record.document.root_cause_zh = Some("此消息无害".to_owned());
            }),
            ("dead end", &["dead_ends"], &|record| {
                let more = json!([{ "action": "Draining the node", "why_fails": "it is harmless" }]);
                let more: Vec<DeadEnd> = serde_json::from_value(more).unwrap();
                record.document.dead_ends.extend(more);
            }),
            ("dead end removed", &["dead_ends"], &|record| {
                record.document.dead_ends.clear();
            }),
            ("Chinese dead end", &["dead_ends"], &|record| {
                let chinese = json!([{ "action": "排空节点" }]);
                record.annex.dead_ends_zh = serde_json::from_value(chinese).unwrap();
            }),
            ("source of a dead end", &[], &|record| {
                record.document.dead_ends[0].sources = vec!["https://example.org/".to_owned()];
            }),
            ("disputed cause", &["disputes"], &|record| {
                record.annex.disputes = vec![dispute("/root_cause")];
            }),
            ("subcategory", &[], &|record| {
                record.document.subcategory = Some("another".to_owned());
            }),
            ("title", &["title"], &|record| {
                record.annex.title = Some("All is well".to_owned());
            }),
            ("Chinese title", &["title"], &|record| {
                record.annex.title_zh = Some("一切正常".to_owned());
            }),
        ]);
    }

    #[test]
    fn of_an_error_that_stops_work_what_it_advises_decides() {
        check(&[
            ("order", &["workarounds"], &|record| {
                record.document.workarounds.swap(0, 1);
            }),
            ("first", &["workarounds"], &|record| {
                record.document.workarounds[0].how = Some("ignore it".to_owned());
            }),
            ("Chinese of the first", &["workarounds"], &|record| {
                record.document.workarounds_zh = vec!["无需处理".to_owned()];
            }),
            ("stopped before the first", &["workarounds"], &|record| {
                record.annex.workaround_notes[0].stop_first = None;
            }),
            ("scope of the first", &["workarounds"], &|record| {
                record.annex.workaround_notes[0].scope = WorkaroundScope::Job;
            }),
            ("kind of the first", &["workarounds"], &|record| {
                record.annex.workaround_notes[0].kind = WorkaroundKind::Avoids;
            }),
            ("removed", &["workarounds"], &|record| {
                record.document.workarounds.remove(2);
            }),
            ("disputed", &["workarounds", "disputes"], &|record| {
                record.annex.disputes = vec![dispute("/workarounds/1")];
            }),
            ("another step", &[], &|record| {
                let last = record.document.workarounds[2].clone();
                record.document.workarounds.push(last);
            }),
            ("stopped before the second", &[], &|record| {
                record.annex.workaround_notes[1].stop_first = None;
            }),
            ("text behind the first", &[], &|record| {
                record.document.workarounds[1].how = Some("nvidia-smi -r".to_owned());
            }),
        ]);
    }
}

//! What a record advises, held against what it advised before.

use kb_core::annex::WorkaroundNote;
use kb_core::record::{Record, Workaround};

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
    use serde_json::json;

    use super::*;
    use crate::domain::curate::deciding::{deciding, takes_alarms_away};

    type Change<'c> = (&'c str, Option<&'static str>, &'c dyn Fn(&mut Record));

    #[test]
    fn of_a_fatal_error_title_and_what_is_done_first_decide() {
        let with = |severity: &str, change: &dyn Fn(&mut Record)| {
            let document = json!({
                "id": "cuda/a", "signature": "s", "domain": "cuda", "category": "x", "root_cause": "y", "regex": "one",
            });
            let annex = json!({ "schema_version": 1, "severity": severity, "title": "GPU lost" });
            let mut record = Record::from_texts(document.to_string(), annex.to_string()).unwrap();
            let step = |action: &str| json!({ "action": action });
            let steps = [
                step("Drain the node"),
                step("Reset the GPU"),
                step("Replace the GPU"),
            ];
            record.document.workarounds = serde_json::from_value(json!(steps)).unwrap();
            record.document.workarounds_zh = vec!["排空节点".to_owned()];
            let note = |stop: &str| json!({ "kind": "repairs", "scope": "node", "stop_first": stop });
            let notes = [note("all jobs"), note("jobs on the GPU")];
            record.annex.workaround_notes = serde_json::from_value(json!(notes)).unwrap();
            change(&mut record);
            record
        };
        let dispute = |pointer: &str| {
            let dispute = json!({ "pointer": pointer, "why": "no", "source": "https://example.org/" });
            serde_json::from_value(dispute)
        };
        let keep = |_: &mut Record| {};
        let changes: [Change<'_>; 13] = [
            ("title", Some("title"), &|record| {
                record.annex.title = Some("All is well".to_owned());
            }),
            ("Chinese title", Some("title"), &|record| {
                record.annex.title_zh = Some("一切正常".to_owned());
            }),
            ("order", Some("workarounds"), &|record| {
                record.document.workarounds.swap(0, 1);
            }),
            ("first", Some("workarounds"), &|record| {
                record.document.workarounds[0].how = Some("ignore it".to_owned());
            }),
            ("Chinese of the first", Some("workarounds"), &|record| {
                record.document.workarounds_zh = vec!["无需处理".to_owned()];
            }),
            ("stopped before the first", Some("workarounds"), &|record| {
                record.annex.workaround_notes[0].stop_first = None;
            }),
            ("scope of the first", Some("workarounds"), &|record| {
                record.annex.workaround_notes[0].scope = WorkaroundScope::Job;
            }),
            ("kind of the first", Some("workarounds"), &|record| {
                record.annex.workaround_notes[0].kind = WorkaroundKind::Avoids;
            }),
            ("removed", Some("workarounds"), &|record| {
                record.document.workarounds.remove(2);
            }),
            ("disputed", Some("workarounds"), &|record| {
                record.annex.disputes = vec![dispute("/workarounds/1").unwrap()];
            }),
            ("another step", None, &|record| {
                let last = record.document.workarounds[2].clone();
                record.document.workarounds.push(last);
            }),
            ("stopped before the second", None, &|record| {
                record.annex.workaround_notes[1].stop_first = None;
            }),
            ("text behind the first", None, &|record| {
                record.document.workarounds[1].how = Some("nvidia-smi -r".to_owned());
            }),
        ];
        for (name, key, change) in changes {
            let (before, after) = (with("fatal", &keep), with("fatal", change));
            assert_eq!(deciding(Some(&before), &after), Vec::from_iter(key), "{name}");
            assert_eq!(
                takes_alarms_away(Some(&before), &after),
                Vec::<&str>::new(),
                "{name}"
            );
            let (before, after) = (with("error", &keep), with("error", change));
            assert_eq!(deciding(Some(&before), &after), Vec::<&str>::new(), "{name}");
        }
    }
}

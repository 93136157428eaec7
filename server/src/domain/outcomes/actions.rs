//! What a record says to do, or not to do, and where it says so.

use kb_core::record::Record;

use crate::store::ActionKind;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Action {
    pub(super) kind: ActionKind,
    /// Its place in the document's list, from 0.
    pub(super) position: usize,
    /// By this text votes find it.
    pub(super) text: String,
    /// Share of cases in which the record says that it helps.
    pub(super) claim: Option<f64>,
}

impl Action {
    pub(super) fn pointer(&self) -> String {
        let list = match self.kind {
            ActionKind::Workaround => "workarounds",
            ActionKind::DeadEnd => "dead_ends",
        };
        format!("/{list}/{}", self.position)
    }
}

/// All that a record advises, in order: what only hides the error stands behind what repairs it, whatever votes say.
pub(super) fn actions(record: &Record) -> Vec<Action> {
    let workarounds = record.workarounds().into_iter().map(|advised| Action {
        kind: ActionKind::Workaround,
        position: advised.position,
        text: said(&advised.item.action, advised.item.how.as_deref()),
        claim: advised.item.success_rate,
    });
    let dead_ends = record.dead_ends().into_iter().map(|advised| Action {
        kind: ActionKind::DeadEnd,
        position: advised.position,
        text: said(&advised.item.action, advised.item.why_fails.as_deref()),
        claim: advised.item.fail_rate.map(|rate| 1.0 - rate),
    });
    workarounds.chain(dead_ends).collect()
}

/// The first text that says something: the seeds leave `action` empty where the reason says it all.
pub(crate) fn said(action: &str, more: Option<&str>) -> String {
    if action.trim().is_empty() {
        more.unwrap_or_default().to_owned()
    } else {
        action.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::samples::PEER_ACCESS;

    #[test]
    fn what_hides_stands_behind_what_repairs() {
        let (document, _) = PEER_ACCESS;
        let workarounds =
            r#"[{"action": "hide it", "success_rate": 1.0}, {"action": "mend it", "success_rate": 0.1}]"#;
        let document = kb_core::text::replace_value(document, "/workarounds", workarounds).unwrap();
        let annex = r#"{"schema_version": 1, "workaround_notes": [{"kind": "hides", "scope": "job"},
            {"kind": "repairs", "scope": "node"}]}"#;
        let record = Record::parse(&document, annex).unwrap();
        let shown: Vec<(String, String)> = actions(&record)
            .into_iter()
            .take(2)
            .map(|action| (action.pointer(), action.text))
            .collect();
        let line = |pointer: &str, text: &str| (pointer.to_owned(), text.to_owned());
        assert_eq!(
            shown,
            [
                line("/workarounds/1", "mend it"),
                line("/workarounds/0", "hide it")
            ]
        );
    }
}

//! What of a record decides how a node or a text is judged: severity, first action, what is at fault, whether the message is
//! harmless, and rules over reports; of a record that says one of these, also what it recognises; of a record of an error that stops
//! work on a node, also what it is called, what is said of its cause and what is done about it. Such a change needs a second person.

use kb_core::annex::{Action, Annex, Blame, Example};
use kb_core::record::Record;
use kb_core::severity::Severity;

use super::advised::{advises_otherwise, explains_otherwise, warns_otherwise};

/// Keys that differ and decide. Of a record that decides, what it recognises decides as well: with a pattern less it says nothing of a
/// node. More patterns are for the gate, unless the record is a notice, which then calls harmless what was none, or stands in the place
/// of others (`relations.cancels`): the gate lets it take their lines.
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
    let cancels = !annex.relations.cancels.is_empty();
    match before {
        Some(before) if is_notice(before) || is_notice(after) => {
            differ.extend(finds(before, after, How::Otherwise));
            differ.extend(holds_for(before, after, How::Otherwise));
        }
        Some(before) if !decides(before).is_empty() => {
            let how = if cancels { How::Otherwise } else { How::Less };
            differ.extend(finds(before, after, how));
            differ.extend(holds_for(before, after, How::Less));
        }
        _ => {
            if let Some(before) = before.filter(|_| cancels) {
                differ.extend(finds(before, after, How::Otherwise));
            }
            differ.push(("relations", takes_more(before, after)));
        }
    }
    let lacks = before.is_some_and(|before| !decides(before).is_empty() && lacks_examples(before, after));
    differ.push(("examples", lacks));
    if let Some(before) = before.filter(|before| stops_work(before)) {
        let titles = |record: &Record| [record.annex.title.clone(), record.annex.title_zh.clone()];
        differ.push(("title", titles(before) != titles(after)));
        differ.push(("root_cause", explains_otherwise(before, after)));
        differ.push(("workarounds", advises_otherwise(before, after)));
        differ.push(("dead_ends", warns_otherwise(before, after)));
        differ.push(("disputes", before.annex.disputes != after.annex.disputes));
    }
    differ
        .into_iter()
        .filter(|(_, differs)| *differs)
        .map(|(key, _)| key)
        .collect()
}

/// Whether the error, or what is done first about it, takes a GPU or the node out of work.
fn stops_work(record: &Record) -> bool {
    let stops = matches!(
        record.annex.action,
        Some(Action::ResetGpu | Action::RebootNode | Action::CheckHardware | Action::ReplaceHardware)
    );
    stops || record.annex.severity == Some(Severity::Fatal)
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
        "action" | "title" | "root_cause" | "workarounds" | "dead_ends" | "disputes" => false,
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
    /// Any: a notice that recognises more calls more lines harmless, and a record that cancels others takes more of theirs.
    Otherwise,
}

/// By what it is found.
fn finds(before: &Record, after: &Record, how: How) -> [(&'static str, bool); 5] {
    let (old, new) = (&before.annex, &after.annex);
    let (regex, other) = (&before.document.regex, &after.document.regex);
    [
        ("signature", before.document.signature != after.document.signature),
        (
            "regex",
            (regex.is_some() || how == How::Otherwise) && regex != other,
        ),
        ("codes", how.differ(&before.codes(), &after.codes())),
        ("patterns", how.differ(&old.patterns, &new.patterns)),
        ("phrases", how.differ(&old.phrases, &new.phrases)),
    ]
}

/// Where it counts once it is found.
fn holds_for(before: &Record, after: &Record, how: How) -> [(&'static str, bool); 2] {
    let (old, new) = (&before.annex, &after.annex);
    let relations = |record: &Record| {
        let mut relations = record.annex.relations.clone();
        relations.cancels.clear();
        relations
    };
    let cancels = (&old.relations.cancels, &new.relations.cancels);
    [
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

/// Whether examples are gone that the gate holds for the record against others: without them another record may take its lines. Of an
/// error that stops work each counts, of others the last.
fn lacks_examples(before: &Record, after: &Record) -> bool {
    let (old, new) = (&before.annex.examples, &after.annex.examples);
    let is_gone = |example: &Example| new.iter().all(|other| other.text != example.text);
    let mut examples = old.iter();
    if stops_work(before) {
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
mod tests;

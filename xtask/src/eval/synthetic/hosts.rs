//! Two hosts in one log, whose clocks differ: a fault on one leads to another on the other. Lines stand in the order
//! in which they arrived, which is the truth; their times say otherwise.

use kb_core::ids::RecordId;
use serde_json::json;

use super::examples;
use crate::eval::ask::ask;
use crate::eval::knowledge::Knowledge;
use crate::eval::report::Report;
use crate::eval::score::share;

/// How far the second host's clock is off, in seconds.
const SKEWS: [i64; 5] = [-3_600, -90, 0, 90, 3_600];
const MOST_EDGES: usize = 60;
/// Healthy lines before, between and after the faults.
const BETWEEN: usize = 12;

pub(crate) fn judge(knowledge: &Knowledge, report: &mut Report) {
    let generation = &knowledge.generation;
    let plain = |id: &RecordId| {
        let mut own = examples(generation).filter(|example| example.record == id);
        own.find(|example| {
            let alone = ask(generation, example.text.as_bytes());
            has_no_time(example.text) && alone.matches == std::slice::from_ref(id)
        })
        .map(|example| example.text)
    };
    let mut pairs = Vec::new();
    for published in generation.records() {
        for edge in &published.record.document.transition_graph.leads_to {
            let Ok(target) = edge.error_id.parse::<RecordId>() else {
                continue;
            };
            if let (Some(cause), Some(effect)) = (plain(published.record.id()), plain(&target)) {
                pairs.push((published.record.id().clone(), cause, target, effect));
            }
        }
    }
    let step = pairs.len().div_ceil(MOST_EDGES).max(1);
    let mut table = "| skew | logs | first cause right |\n| --: | --: | --: |\n".to_owned();
    let (mut logs, mut right, mut rows) = (0, 0, Vec::new());
    for skew in SKEWS {
        let (mut tried, mut named) = (0, 0);
        for (id, cause, target, effect) in pairs.iter().step_by(step) {
            let text = log(cause, effect, skew);
            let answer = ask(generation, text.as_bytes());
            tried += 1;
            let is_right = answer.first_cause.as_ref() == Some(id);
            named += usize::from(is_right);
            if !is_right {
                let came = answer.first_cause.map(|id| id.to_string());
                report.miss(format!(
                    "two hosts, skew {skew} s: {id} leads to {target}, came {came:?}"
                ));
            }
        }
        table.push_str(&format!("| {skew} s | {tried} | {named} |\n"));
        rows.push(json!({ "skew_seconds": skew, "logs": tried, "right": named }));
        logs += tried;
        right += named;
    }
    report.bar(
        format!("two hosts with clock skew, {logs} logs"),
        "first cause 0.9",
        format!("{:.3}", share(right, logs)),
        share(right, logs) >= 0.9,
    );
    report.table("hosts", "Two hosts, clocks apart", &table, rows.into());
}

/// An example with a time of its own would not follow its host's clock.
fn has_no_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_time = |window: &[u8]| match window {
        [a, b, b':', c, d, b':', ..] => [a, b, c, d].into_iter().all(u8::is_ascii_digit),
        _ => false,
    };
    !text.contains('\n') && !bytes.windows(6).any(is_time)
}

fn log(cause: &str, effect: &str, skew: i64) -> String {
    let mut text = String::new();
    let mut second = 12 * 3_600;
    let quiet = |text: &mut String, second: &mut i64| {
        for number in 0..BETWEEN {
            *second += 1;
            let (host, pid, skew) = if number % 2 == 0 {
                ("node-a", 411, 0)
            } else {
                ("node-b", 977, skew)
            };
            let stamp = stamp(*second + skew);
            text.push_str(&format!(
                "{stamp} {host} train[{pid}]: step {second} of 90000, loss 2.{number}\n"
            ));
        }
    };
    quiet(&mut text, &mut second);
    text.push_str(&format!("{} node-a train[411]: {cause}\n", stamp(second)));
    quiet(&mut text, &mut second);
    text.push_str(&format!("{} node-b train[977]: {effect}\n", stamp(second + skew)));
    quiet(&mut text, &mut second);
    text
}

fn stamp(second: i64) -> String {
    let (hour, minute, second) = (second / 3_600 % 24, second / 60 % 60, second % 60);
    format!("Nov 21 {hour:02}:{minute:02}:{second:02}")
}

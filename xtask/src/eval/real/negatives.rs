//! Texts that are no error of ours: does anything match?

use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::eval::ask::{ask, first_few};
use crate::eval::data;
use crate::eval::knowledge::Knowledge;
use crate::eval::report::{Report, shortened};

pub(crate) fn judge(knowledge: &Knowledge, folder: &Path, report: &mut Report) -> Result<()> {
    let negatives = data::negatives(folder)?;
    let (mut alarms, mut suggestions) = (0, 0);
    for negative in &negatives {
        let answer = ask(&knowledge.generation, negative.text.as_bytes());
        alarms += usize::from(!answer.matches.is_empty());
        suggestions += usize::from(!answer.shown.is_empty());
        if !answer.matches.is_empty() {
            report.miss(format!(
                "negative {} {}: came {}; {}",
                negative.id,
                shortened(&negative.text),
                first_few(&answer.matches),
                negative.note
            ));
        }
    }
    let count = negatives.len();
    report.bar(
        format!("negatives, {count}"),
        "no false alarm",
        format!("{alarms}"),
        alarms == 0,
    );
    report.table(
        "negatives",
        "Negatives",
        &format!(
            "| items | with a match | with a match or a candidate |\n| --: | --: | --: |\n| {count} | {alarms} | {suggestions} |\n"
        ),
        json!({ "items": count, "matches": alarms, "shown": suggestions }),
    );
    Ok(())
}

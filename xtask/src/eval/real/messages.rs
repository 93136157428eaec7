//! Messages that people met: is the right record first?

use std::path::Path;

use anyhow::Result;

use crate::eval::ask::{ask, first_few, rank};
use crate::eval::data;
use crate::eval::knowledge::Knowledge;
use crate::eval::report::{Report, shortened};
use crate::eval::score::Groups;

/// Least share of messages with the right record first, among the matches.
const BAR: f64 = 0.95;

pub(crate) fn judge(knowledge: &Knowledge, folder: &Path, report: &mut Report) -> Result<()> {
    let mut groups = Groups::new(&["match", "answer"]);
    for message in data::messages(folder)? {
        let right = knowledge.meant(&message.expect);
        let answer = ask(&knowledge.generation, message.text.as_bytes());
        let ranks = [rank(&answer.matches, &right), rank(&answer.shown, &right)];
        groups.add(&message.domain, !right.is_empty(), &ranks);
        if ranks != [Some(0), Some(0)] {
            report.miss(format!(
                "message {} {}: wanted {}{}, came {} (candidates included: {}); {}",
                message.id,
                shortened(&message.text),
                message.expect.join(" or "),
                if right.is_empty() { " (no record yet)" } else { "" },
                first_few(&answer.matches),
                first_few(&answer.shown),
                message.note
            ));
        }
    }
    let (items, covered) = groups.counts();
    report.bar(
        format!("messages, {covered} covered of {items}"),
        "P@1 0.95 among the matches",
        format!("{:.3}", groups.total(0).p1()),
        groups.total(0).p1() >= BAR,
    );
    report.table("messages", "Messages", &groups.table("domain"), groups.json());
    Ok(())
}

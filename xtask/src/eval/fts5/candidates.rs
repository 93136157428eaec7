//! Candidates over as many records as there are made: does the threshold, which is a share of rarity, still hold?

use std::path::Path;

use anyhow::Result;
use peerless_search::SearchIndex;
use serde_json::json;

use crate::eval::data;
use crate::eval::knowledge::Knowledge;
use crate::eval::report::Report;

const SHOWN: usize = 3;

#[derive(Debug, Clone, Copy)]
struct Counts {
    /// Texts that are no error of ours and have a candidate nevertheless.
    suggested: usize,
    negatives: usize,
    /// Messages with a right record among the candidates.
    right: usize,
    messages: usize,
}

/// The same texts over the records alone and over all.
pub(super) fn judge(
    knowledge: &Knowledge,
    folder: &Path,
    alone: &SearchIndex,
    grown: &SearchIndex,
    report: &mut Report,
) -> Result<()> {
    let mut lines =
        "| records | negatives with a candidate | messages with the right one |\n| --: | --: | --: |\n"
            .to_owned();
    let mut values = Vec::new();
    for index in [alone, grown] {
        let counts = count(knowledge, folder, index)?;
        lines.push_str(&format!(
            "| {} | {} of {} | {} of {} |\n",
            index.len(),
            counts.suggested,
            counts.negatives,
            counts.right,
            counts.messages
        ));
        values.push(json!({ "records": index.len(), "suggested": counts.suggested, "right": counts.right }));
    }
    report.table("candidates", "Candidates", &lines, values.into());
    Ok(())
}

fn count(knowledge: &Knowledge, folder: &Path, index: &SearchIndex) -> Result<Counts> {
    let mut counts = Counts {
        suggested: 0,
        negatives: 0,
        right: 0,
        messages: 0,
    };
    for negative in data::negatives(folder)? {
        counts.negatives += 1;
        counts.suggested += usize::from(!index.candidates(&negative.text, SHOWN)?.is_empty());
    }
    for message in data::messages(folder)? {
        let right = knowledge.meant(&message.expect);
        if right.is_empty() {
            continue;
        }
        counts.messages += 1;
        let found = index.candidates(&message.text, SHOWN)?;
        counts.right += usize::from(found.iter().any(|candidate| right.contains(&candidate.id)));
    }
    Ok(counts)
}

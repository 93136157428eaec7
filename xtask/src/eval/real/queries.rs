//! What people type into the search box: is the right record among the first three?

use std::path::Path;

use anyhow::Result;
use kb_core::ids::RecordId;
use peerless::domain::search::search;
use peerless::feed::Generation;
use peerless_search::SearchRequest;

use crate::eval::ask::{first_few, rank};
use crate::eval::data;
use crate::eval::knowledge::Knowledge;
use crate::eval::report::{Report, shortened};
use crate::eval::score::Groups;

/// Least share of queries with the right record among the first three.
const BAR: f64 = 0.95;

pub(crate) const HITS: usize = 20;

pub(crate) fn judge(knowledge: &Knowledge, folder: &Path, report: &mut Report) -> Result<()> {
    let mut groups = Groups::new(&["search"]);
    for query in data::queries(folder)? {
        let right = knowledge.meant(&query.expect);
        let hits = hits(&knowledge.generation, &query.text)?;
        let found = rank(&hits, &right);
        groups.add(query.kind.name(), !right.is_empty(), &[found]);
        if found.is_none_or(|place| place > 0) {
            report.miss(format!(
                "query {} {}: wanted {}{} at {}, came {}; {}",
                query.id,
                shortened(&query.text),
                query.expect.join(" or "),
                if right.is_empty() { " (no record yet)" } else { "" },
                found.map_or_else(|| "no place".to_owned(), |place| format!("place {}", place + 1)),
                first_few(&hits),
                query.note
            ));
        }
    }
    let (items, covered) = groups.counts();
    report.bar(
        format!("queries, {covered} covered of {items}"),
        "P@3 0.95",
        format!("{:.3}", groups.total(0).p3()),
        groups.total(0).p3() >= BAR,
    );
    report.table("queries", "Queries", &groups.table("kind"), groups.json());
    Ok(())
}

pub(crate) fn hits(generation: &Generation, text: &str) -> Result<Vec<RecordId>> {
    let request = SearchRequest {
        text: text.to_owned(),
        limit: Some(HITS),
        ..SearchRequest::default()
    };
    let answer = search(generation, &request)?;
    Ok(answer.hits.into_iter().map(|hit| hit.id).collect())
}

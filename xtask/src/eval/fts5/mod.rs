//! The same queries, over the same fields, by our search and by SQLite's FTS5 in one run: the better of its
//! tokenizers, column weights tuned on these very queries, prepared statements.

mod candidates;
mod grow;
mod table;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use kb_core::ids::RecordId;
use peerless_search::{Indexer, SearchDoc, SearchIndex, SearchRequest};
use serde_json::json;

use super::Options;
use super::ask::rank;
use super::data;
use super::knowledge::Knowledge;
use super::real::queries::HITS;
use super::report::Report;
use super::score::Ranks;
use table::{Table, Tokenizer};

/// Times that each query is timed, and where there are records beyond the real ones.
const ROUNDS: usize = 20;
const ROUNDS_GROWN: usize = 3;

pub(crate) struct Task {
    text: String,
    right: BTreeSet<RecordId>,
}

pub(crate) fn compare(knowledge: &Knowledge, options: &Options, report: &mut Report) -> Result<()> {
    let tasks: Vec<Task> = data::queries(&options.data)?
        .into_iter()
        .map(|query| Task {
            right: knowledge.meant(&query.expect),
            text: query.text,
        })
        .filter(|task| !task.right.is_empty())
        .collect();
    let mut documents: Vec<SearchDoc> = knowledge
        .generation
        .records()
        .map(|published| published.search_doc().clone())
        .collect();
    let originals = documents.clone();
    let mut rounds = ROUNDS;
    if let Some(count) = options.grown {
        rounds = ROUNDS_GROWN;
        grow::grow(&mut documents, count);
    }
    let began = Instant::now();
    let index = index_of(&documents)?;
    let indexed_in = began.elapsed();
    if options.grown.is_some() {
        eprintln!("note: {} records indexed in {indexed_in:.1?}", documents.len());
        candidates::judge(knowledge, &options.data, &index_of(&originals)?, &index, report)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut lines = "| search | MRR | p50 | p99 |\n| --- | --: | --: | --: |\n".to_owned();
    let mut values = serde_json::Map::new();
    let mut note = |name: &str, ranks: Option<Ranks>, times: &Times| {
        let mrr = ranks.map_or_else(|| "-".to_owned(), |ranks| format!("{:.3}", ranks.mrr()));
        lines.push_str(&format!(
            "| {name} | {mrr} | {} us | {} us |\n",
            times.p50, times.p99
        ));
        let value =
            json!({ "mrr": ranks.map(|ranks| ranks.mrr()), "p50_us": times.p50, "p99_us": times.p99 });
        values.insert(name.to_owned(), value);
    };

    let ours = ranks_of_ours(&index, &tasks)?;
    let our_times = time(&tasks, rounds, |task| our_hits(&index, &task.text).map(|_| ()))?;
    note("ours", Some(ours), &our_times);

    let tables = runtime.block_on(tuned(&tasks, &originals, &documents))?;
    let mut best: Option<(Ranks, Times)> = None;
    for (tokenizer, mut table, weights) in tables {
        let ranks = runtime.block_on(table.ranks(&tasks))?;
        let times = time(&tasks, rounds, |task| {
            runtime.block_on(table.hits(&task.text)).map(|_| ())
        })?;
        note(
            &format!("FTS5 {}, weights {weights}", tokenizer.name()),
            Some(ranks),
            &times,
        );
        if best.as_ref().is_none_or(|(known, _)| ranks.mrr() > known.mrr()) {
            best = Some((ranks, times));
        }
        if tokenizer == Tokenizer::Words {
            let nothing = time(&tasks, rounds, |_| runtime.block_on(table.nothing()))?;
            note(
                "(a statement that does nothing, by the same driver)",
                None,
                &nothing,
            );
        }
    }
    let (theirs, their_times) = best.context("no tokenizer was tried")?;
    report.bar(
        format!(
            "against FTS5, {} queries over {} records",
            tasks.len(),
            documents.len()
        ),
        "higher MRR, not slower",
        format!(
            "MRR {:.3} to {:.3}, p50 {} to {} us, p99 {} to {} us",
            ours.mrr(),
            theirs.mrr(),
            our_times.p50,
            their_times.p50,
            our_times.p99,
            their_times.p99
        ),
        ours.mrr() > theirs.mrr() && our_times.p50 <= their_times.p50 && our_times.p99 <= their_times.p99,
    );
    report.table(
        "fts5",
        &format!("Search over {} records beside FTS5", documents.len()),
        &lines,
        values.into(),
    );
    Ok(())
}

/// FTS5's tables over all records, with the weights that suit the tasks best over the real ones: made records only slow the
/// tuning down, for the queries ask for real ones.
async fn tuned(
    tasks: &[Task],
    originals: &[SearchDoc],
    documents: &[SearchDoc],
) -> Result<Vec<(Tokenizer, Table, String)>> {
    let mut tables = Vec::new();
    for tokenizer in Tokenizer::ALL {
        let mut table = Table::new(tokenizer, originals).await?;
        let weights = table.tune(tasks).await?;
        let mrr = table.ranks(tasks).await?.mrr();
        tables.push((mrr, tokenizer, table, weights));
    }
    if documents.len() > originals.len() {
        // The others take minutes to fill, and answer no better.
        tables.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
        tables.truncate(1);
        for (_, tokenizer, table, _) in &mut tables {
            let mut grown = Table::new(*tokenizer, documents).await?;
            grown.weigh_as(table).await?;
            *table = grown;
        }
    }
    let tables = tables.into_iter();
    Ok(tables
        .map(|(_, tokenizer, table, weights)| (tokenizer, table, weights))
        .collect())
}

fn index_of(documents: &[SearchDoc]) -> Result<SearchIndex> {
    let mut indexer = Indexer::new()?;
    for (slot, document) in (1..).zip(documents) {
        indexer.add(slot, std::sync::Arc::new(document.clone()))?;
    }
    Ok(indexer.commit(|_| 1.0)?)
}

fn our_hits(index: &SearchIndex, text: &str) -> Result<Vec<RecordId>> {
    let request = SearchRequest {
        text: text.to_owned(),
        limit: Some(HITS),
        ..SearchRequest::default()
    };
    let answer = index.search(&request, kb_core::ids::Seq(1))?;
    Ok(answer.hits.into_iter().map(|hit| hit.id).collect())
}

fn ranks_of_ours(index: &SearchIndex, tasks: &[Task]) -> Result<Ranks> {
    let mut ranks = Ranks::default();
    for task in tasks {
        ranks.add(rank(&our_hits(index, &task.text)?, &task.right));
    }
    Ok(ranks)
}

/// Times of single queries, in whole microseconds.
struct Times {
    p50: u128,
    p99: u128,
}

fn time(tasks: &[Task], rounds: usize, mut run: impl FnMut(&Task) -> Result<()>) -> Result<Times> {
    let mut taken: Vec<Duration> = Vec::with_capacity(tasks.len() * rounds);
    for _ in 0..rounds {
        for task in tasks {
            let started = Instant::now();
            run(task)?;
            taken.push(started.elapsed());
        }
    }
    taken.sort_unstable();
    let at = |share: usize| {
        let place = taken.len().saturating_sub(1) * share / 100;
        taken.get(place).map_or(0, Duration::as_micros)
    };
    Ok(Times {
        p50: at(50),
        p99: at(99),
    })
}

//! The gate of an import: what it refuses becomes a draft with its findings, and the rest goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::record::Record;
use kb_core::text::Violation;
use time::OffsetDateTime;

use super::say;
use crate::domain::curate::refused;
use crate::feed::Generation;
use crate::store::{By, Expected, NewRevision, RecordStore, Saved, SeedRecord, SeedSource, StoreError};

const NOTE_CHARACTERS: usize = 500;

/// A record that the gate refuses, and why.
pub(super) struct Refused {
    seed: SeedRecord,
    findings: Vec<Violation>,
}

/// Those that may be published, and those that the gate refuses beside what is published. What is published
/// with the same texts stays as it is.
pub(super) async fn divide(
    generation: Arc<Generation>,
    seeds: Vec<SeedRecord>,
) -> anyhow::Result<(Vec<SeedRecord>, Vec<Refused>)> {
    let mut new = Vec::new();
    // What cannot be read cannot be asked about, and is not published either.
    let mut findings: BTreeMap<RecordId, Vec<Violation>> = BTreeMap::new();
    for seed in seeds.iter().filter(|seed| !is_published(&generation, seed)) {
        match Record::parse(&seed.document, &seed.annex) {
            Ok(record) => new.push(record),
            Err(violations) => {
                findings.insert(seed.id.clone(), violations);
            }
        }
    }
    findings.extend(tokio::task::spawn_blocking(move || refused(&new, &generation)).await??);
    let mut refused = Vec::new();
    let mut accepted = Vec::new();
    for seed in seeds {
        match findings.remove(&seed.id) {
            Some(findings) => refused.push(Refused { seed, findings }),
            None => accepted.push(seed),
        }
    }
    Ok((accepted, refused))
}

fn is_published(generation: &Generation, seed: &SeedRecord) -> bool {
    generation.record(&seed.id).is_some_and(|published| {
        published.record.document_text == seed.document && published.record.annex_text == seed.annex
    })
}

/// Keeps what was refused as drafts for editors and says why. What readers see stays as it is. Returns how many were refused.
pub(super) async fn keep_as_drafts(
    store: &dyn RecordStore,
    refused: Vec<Refused>,
    at: OffsetDateTime,
) -> anyhow::Result<usize> {
    let (mut kept, mut left) = (0, 0);
    for Refused { seed, findings } in refused {
        for finding in &findings {
            say(format_args!(
                "not published: {}: {}: {}",
                seed.id, finding.rule, finding.reason
            ))?;
        }
        let reasons: Vec<String> = findings.iter().map(|finding| finding.reason.clone()).collect();
        let note: String = reasons.join("; ").chars().take(NOTE_CHARACTERS).collect();
        let expected = match store.status(&seed.id).await? {
            None => Expected::Absent,
            // On top of what readers see; a draft of an editor stays the head.
            Some(status) if status.published == Some(status.head) => Expected::Head(status.head),
            Some(_) => {
                left += 1;
                continue;
            }
        };
        let saved = store
            .save_head(NewRevision {
                id: seed.id,
                document: seed.document,
                annex: seed.annex,
                expected,
                by: By::system(SeedSource::Import.actor()),
                note: Some(note),
                at,
            })
            .await;
        match saved {
            Ok(Saved::Saved(_) | Saved::Unchanged(_)) => kept += 1,
            Ok(Saved::Stale(_)) => left += 1,
            // One record that cannot be kept does not end the import.
            Err(StoreError::AliasTaken { alias, holder }) => {
                say(format_args!("not kept: {alias} is a former id of {holder}"))?;
                left += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    if kept + left > 0 {
        say(format_args!(
            "{kept} kept as drafts because the gate refuses them, {left} left out because their ids are taken here"
        ))?;
    }
    Ok(kept + left)
}

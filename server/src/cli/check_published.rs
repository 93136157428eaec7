//! `peerless check --published`: what readers see and the gate would refuse today, because it was published before the gate was
//! there, by force, or before the records that it now takes examples from. It stays published until somebody changes it.

use std::process::ExitCode;

use anyhow::Context as _;
use kb_core::record::Record;

use super::{open_existing, say};
use crate::config::DataArgs;
use crate::domain::curate::refused;
use crate::feed;

pub(super) async fn run(data: &DataArgs, json: bool) -> anyhow::Result<ExitCode> {
    let store = open_existing(data).await?;
    let generation = feed::load(store).await?.knowledge().current();
    let records: Vec<Record> = generation
        .records()
        .map(|published| published.record.clone())
        .collect();
    let count = records.len();
    let found = tokio::task::spawn_blocking(move || refused(&records, &generation))
        .await
        .context("the gate could not be asked")??;
    for (record, findings) in &found {
        for finding in findings {
            if json {
                let line = serde_json::json!({ "record": record, "violation": finding });
                say(format_args!("{line}"))?;
            } else {
                say(format_args!("{record}: {}: {}", finding.rule, finding.reason))?;
            }
        }
    }
    eprintln!(
        "{count} published records, the gate would refuse {} of them today",
        found.len()
    );
    Ok(if found.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

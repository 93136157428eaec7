//! What is told of a bundle that is taken in, and the exit code that it comes to.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use kb_core::ids::RecordId;

use super::super::conflict_text::{Beside, tell_conflict};
use crate::bundle::Signed;
use crate::cli::say;
use crate::domain::round_trip::{Done, Folder, Plan, Planned, refused};
use crate::feed;
use crate::store::Store;

pub(super) struct Taking<'a> {
    call: String,
    folder: &'a Folder,
    counts: BTreeMap<&'static str, usize>,
    /// Records that somebody must look at.
    open: usize,
}

impl<'a> Taking<'a> {
    /// `call` is how the command is called again.
    pub(super) fn new(call: String, folder: &'a Folder) -> Self {
        Self {
            call,
            folder,
            counts: BTreeMap::new(),
            open: 0,
        }
    }

    pub(super) async fn dry(mut self, store: &Arc<dyn Store>, plan: &Plan) -> anyhow::Result<ExitCode> {
        let generation = feed::load(store.clone()).await?.knowledge().current();
        let refused = refused(plan, generation).await?;
        for (id, planned) in plan {
            let would = match planned {
                Planned::Publish { merged: true, .. } => "merge",
                Planned::Publish { .. } if self.folder.base.contains_key(id) => "update",
                Planned::Publish { .. } => "add",
                Planned::Withdraw(_) => "withdraw",
                Planned::Rename { .. } => "rename",
                _ => {
                    self.tell(id, planned, None)?;
                    continue;
                }
            };
            match refused.get(id) {
                Some(findings) => {
                    self.open += 1;
                    for finding in findings {
                        say(format_args!(
                            "not published: {id}: {}: {}",
                            finding.rule, finding.reason
                        ))?;
                    }
                }
                None => say(format_args!("would {would}: {id}"))?,
            }
        }
        say("nothing was done")?;
        Ok(self.code())
    }

    pub(super) fn tell(
        &mut self,
        id: &RecordId,
        planned: &Planned,
        done: Option<&Done>,
    ) -> anyhow::Result<()> {
        let word = match (planned, done) {
            (
                Planned::Conflict {
                    why,
                    fields,
                    database,
                },
                _,
            ) => {
                self.open += 1;
                let texts = (self.folder.files.get(id), database.as_ref());
                tell_conflict((&self.call, Beside::Bundle), id, *why, (fields, texts))?;
                "conflicts"
            }
            (Planned::Publish { merged: true, .. }, Some(Done::Published { .. })) => "merged",
            (_, Some(Done::Published { added: true, .. })) => "added",
            (_, Some(Done::Published { .. })) => "updated",
            (_, Some(Done::Withdrawn)) => "withdrawn",
            (_, Some(Done::Renamed(_))) => "renamed",
            (_, Some(Done::Refused { findings, .. } | Done::NotRenamed(findings))) => {
                self.open += 1;
                for finding in findings {
                    say(format_args!(
                        "not published: {id}: {}: {}",
                        finding.rule, finding.reason
                    ))?;
                }
                "refused by the gate"
            }
            (_, Some(Done::Failed(why))) => {
                self.open += 1;
                say(format_args!("failed: {id}: {why}"))?;
                "failed"
            }
            (Planned::Changed | Planned::Gone, None) => "changed here alone",
            _ => return Ok(()),
        };
        *self.counts.entry(word).or_default() += 1;
        Ok(())
    }

    pub(super) fn sum(&self, signed: &Signed) -> anyhow::Result<ExitCode> {
        let told: Vec<String> = self
            .counts
            .iter()
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        let told = if told.is_empty() {
            "the database has all of it".to_owned()
        } else {
            told.join(", ")
        };
        let from = signed.head.from.as_deref().map(|from| format!(" by {from}"));
        say(format_args!(
            "bundle of {}{}, {} records, key {}: {told}",
            signed.head.made_at.date(),
            from.unwrap_or_default(),
            signed.head.records,
            signed.key_id
        ))?;
        Ok(self.code())
    }

    fn code(&self) -> ExitCode {
        if self.open == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

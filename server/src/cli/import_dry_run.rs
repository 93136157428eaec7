//! `peerless import DIR --dry-run`: what would be done.

use std::path::Path;
use std::process::ExitCode;

use kb_core::ids::RecordId;
use kb_core::text::Violation;

use super::import_folder::RoundTrip;
use super::say;
use crate::bundle::Manifest;
use crate::domain::round_trip::{Folder, Plan, Planned, refused};
use crate::feed::Follower;

/// Says what an import would do, with what the gate would refuse, and does nothing.
pub(super) async fn dry_run(
    follower: &Follower,
    (path, call): (&Path, &str),
    (folder, plan): (&Folder, &Plan),
) -> anyhow::Result<ExitCode> {
    let refused = refused(plan, follower.knowledge().current()).await?;
    let mut round_trip = RoundTrip::new(path, call, Manifest::default());
    for (id, planned) in plan {
        round_trip.tell(id, planned, folder)?;
        let would = match planned {
            Planned::Publish { merged: true, .. } => "merge",
            Planned::Publish { .. } if folder.base.contains_key(id) => "update",
            Planned::Publish { .. } => "add",
            Planned::Withdraw(_) => "withdraw",
            Planned::Rename { .. } => "rename",
            Planned::Write(..) => "write the files of",
            Planned::Remove => "remove the files of",
            _ => continue,
        };
        match refused.get(id) {
            Some(findings) => {
                round_trip.open += 1;
                for finding in findings {
                    say(told(id, finding))?;
                }
                match planned {
                    Planned::Rename { from, .. } => say(not_renamed(from))?,
                    _ => say(format_args!("would keep as a draft: {id}"))?,
                }
            }
            None => match planned {
                Planned::Rename { from, .. } => say(format_args!("would rename: {from} to {id}"))?,
                _ => say(format_args!("would {would}: {id}"))?,
            },
        }
    }
    say("nothing was done")?;
    Ok(round_trip.code())
}

pub(super) fn not_renamed(from: &RecordId) -> String {
    format!("not renamed, readers see it as before: {from}")
}

pub(super) fn told(id: &RecordId, finding: &Violation) -> String {
    format!("not published: {id}: {}: {}", finding.rule, finding.reason)
}

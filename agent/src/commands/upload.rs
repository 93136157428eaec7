//! `peerless-agent upload` and `bundle`: reports that wait, sent now or carried elsewhere.

use std::time::Duration;

use anyhow::Context as _;
use kb_core::verdict::ExitCode;

use crate::cli::{BundleArgs, UploadArgs};
use crate::process::say;
use crate::upload::{self, Body, Patience, Spool, Uploader};

use super::{InputError, print};

pub(crate) fn upload(arguments: &UploadArgs) -> anyhow::Result<u8> {
    let uploader = arguments
        .access
        .uploader(&arguments.server, &arguments.state.folder())?;
    let patience = patience(arguments.retry_for);
    if arguments.files.is_empty() {
        return empty(&arguments.spool.spool(), &uploader, &patience);
    }
    let mut bodies: Vec<Body> = Vec::new();
    let mut failed = 0;
    for file in &arguments.files {
        let found = upload::unpack(file)?;
        bodies.extend(found.bodies);
        failed += found.damaged.len();
        for why in found.damaged {
            say(&format!("{}: {why}", file.display()));
        }
    }
    let total = bodies.len();
    for (number, body) in bodies.iter().enumerate() {
        match upload::send(&uploader, body, &patience) {
            Ok(receipt) => print(&format!("{receipt}\n"))?,
            Err(error) => {
                failed += 1;
                say(&format!(
                    "report {} of {total} was not uploaded: {error}",
                    number + 1
                ));
            }
        }
    }
    Ok(exit_code(failed))
}

/// Rounds until nothing is left that the server could take, or a round brings nothing.
fn empty(spool: &Spool, uploader: &Uploader, patience: &Patience<'_>) -> anyhow::Result<u8> {
    loop {
        let before = spool.kept();
        if before.is_empty() {
            return Ok(exit_code(tell_rejected(spool)));
        }
        // The first one that can be read waits for the server; behind it the others go as they can. What another
        // process has sent is gone, and what cannot be read is named below.
        let first = before
            .iter()
            .find_map(|path| Some((path, upload::read_kept(path).ok()??)));
        if let Some((path, body)) = first
            && let Err(error) = upload::send(uploader, &body, patience)
            && !error.is_for_good()
        {
            say(&format!("{} is still kept: {error}", path.display()));
        }
        for line in spool.drain(uploader).said {
            say(&line);
        }
        let left = spool.kept().len();
        if left == before.len() {
            return Ok(exit_code(left + tell_rejected(spool)));
        }
    }
}

/// Names what lies in the spool and will not go by itself, and counts it.
fn tell_rejected(spool: &Spool) -> usize {
    let rejected = spool.rejected();
    for path in &rejected {
        let path = path.display();
        say(&format!(
            "{path} was refused for good: `zstd -dc {path}` shows it; remove it once that is settled"
        ));
    }
    rejected.len()
}

pub(crate) fn bundle(arguments: &BundleArgs) -> anyhow::Result<u8> {
    let there = arguments
        .out
        .try_exists()
        .with_context(|| format!("look at {}", arguments.out.display()))?;
    if there {
        return Err(InputError(format!(
            "{} is there already; name a new file, or remove it",
            arguments.out.display()
        ))
        .into());
    }
    let packed = upload::pack(&arguments.spool.spool(), &arguments.out, arguments.remove)
        .with_context(|| format!("write {}", arguments.out.display()))?;
    for why in &packed.left {
        say(&format!("{why}; it stays in the spool"));
    }
    print(&format!(
        "{} reports in {}\n",
        packed.count,
        arguments.out.display()
    ))?;
    Ok(exit_code(packed.left.len()))
}

pub(crate) fn patience(limit: Duration) -> Patience<'static> {
    Patience {
        limit,
        // Without random numbers all wait alike, which is no reason not to wait.
        chance: &|| getrandom::u64().unwrap_or_default(),
        sleep: &std::thread::sleep,
        say: &say,
    }
}

fn exit_code(failed: usize) -> u8 {
    if failed == 0 {
        0
    } else {
        ExitCode::Warning.number()
    }
}

//! `peerless-agent upload` and `bundle`: reports that wait, sent now or carried elsewhere.

use std::time::Duration;

use anyhow::Context as _;
use kb_core::verdict::ExitCode;

use crate::cli::{BundleArgs, UploadArgs};
use crate::process::say;
use crate::upload::{self, Body, Patience, Spool, Uploader};

use super::{InputError, print};

/// Sends files, or empties the spool.
pub(crate) fn upload(arguments: &UploadArgs) -> anyhow::Result<u8> {
    let uploader = arguments.access.uploader(&arguments.server)?;
    let patience = patience(arguments.retry_for);
    if arguments.files.is_empty() {
        return empty(&arguments.spool.spool(), &uploader, &patience);
    }
    let mut bodies: Vec<Body> = Vec::new();
    for file in &arguments.files {
        bodies.extend(upload::unpack(file)?);
    }
    let total = bodies.len();
    let mut failed = 0;
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
        let Some(first) = before.first() else {
            return Ok(0);
        };
        // The first one waits for the server; behind it the others go as they can.
        let body = upload::read_kept(first).with_context(|| format!("read {}", first.display()))?;
        let Some(body) = body else {
            // Another process empties the spool, too.
            continue;
        };
        if let Err(error) = upload::send(uploader, &body, patience)
            && !error.is_for_good()
        {
            say(&format!("{} is still kept: {error}", first.display()));
        }
        for line in spool.drain(uploader).said {
            say(&line);
        }
        let left = spool.kept().len();
        if left == before.len() {
            return Ok(exit_code(left));
        }
    }
}

/// Writes a bundle.
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
    let count = upload::pack(&arguments.spool.spool(), &arguments.out, arguments.remove)
        .with_context(|| format!("write {}", arguments.out.display()))?;
    print(&format!("{count} reports in {}\n", arguments.out.display()))?;
    Ok(0)
}

/// Waits by the thread's clock, with the system's random numbers.
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

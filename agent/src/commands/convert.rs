//! `peerless-agent convert`: a file in, a report out; the GPUs are not touched.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context as _;
use kb_core::convert::{Options, convert as convert_output};
use kb_core::report::Node;

use crate::cli::ConvertArgs;
use crate::clock::{Clock, SystemClock, timestamp};
use crate::host::{self, HostRoot};
use crate::output;
use crate::process::say;

use super::{InputError, print};

/// Largest output that is read, in bytes; of NCCL logs that are larger the lines of NCCL are enough.
const MOST_BYTES: u64 = 256 << 20;

pub(crate) fn convert(arguments: &ConvertArgs) -> anyhow::Result<u8> {
    let here = host::node(&HostRoot::new(&arguments.host_root)).context("name this node")?;
    let (bytes, written_at) = read(&arguments.file)?;
    let taken_at = arguments
        .taken_at
        .or(written_at)
        .unwrap_or_else(|| SystemClock.now());
    let options = Options {
        format: arguments.format,
        node: Node {
            id: arguments.node.clone().unwrap_or_else(|| here.id.clone()),
            hostname: arguments.node.is_none().then(|| here.hostname.clone()).flatten(),
            // The output may be of an earlier boot.
            boot_id: None,
        },
        taken_at: timestamp(taken_at),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: arguments.engine.map(Into::into),
        bytes: arguments.bytes,
        capabilities: arguments.p2p.clone(),
        collective: arguments.collective.clone(),
        host: arguments.host.clone(),
    };
    let file = arguments.file.display();
    let report = convert_output(&bytes, &options).map_err(|error| InputError(format!("{file}: {error}")))?;
    if arguments.node.is_none() && report.node.hostname != here.hostname {
        let of = report.node.hostname.as_deref().unwrap_or_default();
        let here = here.hostname.as_deref().unwrap_or("another host");
        return Err(InputError(format!(
            "{file}: this is of host {of}, and here is {here}; say which node it is of with --node-id ID"
        ))
        .into());
    }
    let json = output::json(&report)?;
    match &arguments.output {
        Some(path) => std::fs::write(path, json).with_context(|| format!("write {}", path.display()))?,
        None => print(&json)?,
    }
    for note in &report.notes {
        say(&format!("{}: {}", note.step, note.message));
    }
    for failure in &report.failures {
        say(&format!("{}: {}", failure.step, failure.message));
    }
    Ok(0)
}

fn read(path: &Path) -> Result<(Vec<u8>, Option<time::OffsetDateTime>), InputError> {
    let wrong = |error: io::Error| InputError(format!("{}: {error}", path.display()));
    if path == Path::new("-") {
        return Ok((read_limited(io::stdin().lock()).map_err(wrong)?, None));
    }
    let file = File::open(path).map_err(wrong)?;
    let written_at = file
        .metadata()
        .and_then(|metadata| metadata.modified())
        .map_err(wrong)?;
    Ok((read_limited(file).map_err(wrong)?, Some(written_at.into())))
}

fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!(
            "larger than {MOST_BYTES} bytes; of a log the lines with NCCL are enough"
        )));
    }
    Ok(bytes)
}

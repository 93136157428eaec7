//! How long a fresh process takes to find the line of the last of many records.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::client::Connection;
use super::server;
use crate::shell;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Records, each with a pattern of its own.
    #[arg(long, default_value_t = 1_000)]
    records: usize,
    /// Fresh processes started.
    #[arg(long, default_value_t = 15)]
    runs: usize,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let program = server::build()?;
    let scratch = std::env::temp_dir().join(format!("peerless-bench-{}", std::process::id()));
    let data = scratch.join("data");
    let records = scratch.join("records");
    write_records(&records, options.records)?;
    let mut import = shell::command(&program.to_string_lossy(), &["import", "--data-dir"]);
    shell::run(import.arg(&data).arg(&records))?;

    let mut times = Vec::new();
    for _ in 0..options.runs {
        times.push(one_run(&program, &data, options.records)?);
    }
    times.sort_unstable();
    fs::remove_dir_all(&scratch).ok();
    let milliseconds = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
    println!(
        "| records | processes | min ms | median ms | max ms | bar |\n| --- | --- | --- | --- | --- | --- |"
    );
    println!(
        "| {} | {} | {:.0} | {:.0} | {:.0} | under 250 |",
        options.records,
        options.runs,
        milliseconds(times.first()),
        milliseconds(times.get(times.len() / 2)),
        milliseconds(times.last()),
    );
    Ok(())
}

/// Start to the first 200 that names the last record, asking again until it comes.
fn one_run(program: &Path, data: &Path, records: usize) -> Result<Duration> {
    let address = server::free_address()?;
    let line = line_of(records);
    let wanted = format!("\"{}\"", id_of(records));
    let started = Instant::now();
    let _server = server::Server::start(program, address, data)?;
    while started.elapsed() < Duration::from_secs(20) {
        match ask(address, &line) {
            Ok((200, body)) if body.contains(&wanted) => return Ok(started.elapsed()),
            Ok((200, body)) => bail!("the line was not recognised: {body}"),
            // Not listening or not ready yet.
            Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    bail!("no answer within 20 s")
}

/// Status and body of the answer to a line.
fn ask(address: SocketAddr, line: &str) -> Result<(u16, String)> {
    let mut connection = Connection::open(address)?;
    let answer = connection.post_text("/api/v1/match", line)?;
    Ok((answer.status, String::from_utf8_lossy(answer.body).into_owned()))
}

fn id_of(number: usize) -> String {
    format!("bench/fault-{number}")
}

fn line_of(number: usize) -> String {
    format!(
        "2026-11-21T03:00:00Z node1 CUDA error: {} lost after 17 retries on device 3",
        part_of(number)
    )
}

/// A word of its own for each record, so that each has a literal of its own.
fn part_of(number: usize) -> String {
    format!(
        "frobnicator-{:08x}",
        (number as u64).wrapping_mul(0x9e37_79b9) & 0xffff_ffff
    )
}

/// Writes `count` records in the shape of a seed, which is read for the keys that do not matter here.
fn write_records(folder: &Path, count: usize) -> Result<()> {
    let folder = folder.join("bench");
    fs::create_dir_all(&folder)?;
    let seed = shell::root().join("kb-seed/cuda/peer-access-unsupported-by-hardware.json");
    let text = fs::read_to_string(&seed).with_context(|| format!("could not read {}", seed.display()))?;
    let mut document: Value = serde_json::from_str(&text)?;
    for number in 1..=count {
        let part = part_of(number);
        let keys = document.as_object_mut().context("a seed is an object")?;
        keys.insert("id".into(), json!(id_of(number)));
        keys.insert("domain".into(), json!("bench"));
        keys.insert(
            "signature".into(),
            json!(format!("CUDA error: {part} lost after 3 retries on device 0")),
        );
        keys.insert(
            "regex".into(),
            json!(format!(
                "CUDA error: {part} lost after \\d+ retries on device \\d+"
            )),
        );
        keys.insert("error_code".into(), Value::Null);
        fs::write(
            folder.join(format!("fault-{number}.json")),
            serde_json::to_string_pretty(&document)?,
        )?;
        fs::write(
            folder.join(format!("fault-{number}.ext.json")),
            "{\"schema_version\": 1}",
        )?;
    }
    Ok(())
}

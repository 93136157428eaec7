//! Whether reports are lost or counted twice when agent, server or network are killed at any moment: real processes, a
//! service manager's restarts, and at the end a count of what the server has.

mod relay;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::server::{self, Server};
use crate::shell;
use relay::{Random, Relay};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Reports, each with kills at random moments until its agent has ended by itself.
    #[arg(long, default_value_t = 1_000)]
    trials: u64,
    /// Seed of the moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Built programs (peerless, peerless-agent) to take in place of building release ones.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
}

/// What was done to the three.
#[derive(Default)]
struct Kills {
    agent: u64,
    server: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let programs = if let Some(programs) = &options.programs {
        programs.clone()
    } else {
        shell::run(&mut shell::cargo(&[
            "build",
            "--release",
            "--locked",
            "--package",
            "peerless-agent",
        ]))?;
        let server = server::build()?;
        server.parent().context("the folder of the programs")?.to_owned()
    };
    let folder = std::env::temp_dir().join(format!("peerless-upload-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let result = trials(options, &programs, &folder);
    // Kept where something is wrong: it holds the evidence.
    if result.is_ok() {
        std::fs::remove_dir_all(&folder)?;
    } else {
        eprintln!("spool and database are kept in {}", folder.display());
    }
    result
}

fn trials(options: &Options, programs: &Path, folder: &Path) -> Result<()> {
    let (peerless, agent) = (programs.join("peerless"), programs.join("peerless-agent"));
    let data = folder.join("data");
    let token = folder.join("token");
    let made = Command::new(&peerless)
        .args([
            "token",
            "create",
            "--name",
            "trials",
            "--scope",
            "report",
            "--scope",
            "fleet",
            "--data-dir",
        ])
        .arg(&data)
        .output()?;
    ensure!(
        made.status.success(),
        "no token: {}",
        String::from_utf8_lossy(&made.stderr)
    );
    std::fs::write(&token, &made.stdout)?;
    let template = Command::new(&agent).args(["report", "--print"]).output()?;
    let mut report: Value = serde_json::from_slice(&template.stdout).context("the agent's report")?;
    let address = server::free_address()?;
    let mut running = Some(started(&peerless, address, &data)?);
    let relay = Relay::start(address, options.seed)?;
    let upload = |verb: &str| {
        let mut command = Command::new(&agent);
        command
            .args([verb, "--server", &relay.address])
            .arg("--token-file")
            .arg(&token);
        command.arg("--spool").arg(folder.join("spool"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut random = Random::new(options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut kills = Kills::default();
    let began = Instant::now();
    for trial in 0..options.trials {
        *report.get_mut("report_id").context("report_id")? = id_of(trial).into();
        let file = folder.join("report.json");
        std::fs::write(&file, serde_json::to_vec(&report)?)?;
        // As a service manager: what was killed is started again with what it was given.
        loop {
            let mut child = upload("report").arg("--from").arg(&file).spawn()?;
            std::thread::sleep(Duration::from_micros(random.below(40_000)));
            if random.below(8) == 0 {
                // The server dies without a word, and comes back.
                drop(running.take());
                kills.server += 1;
                running = Some(started(&peerless, address, &data)?);
            }
            if random.below(2) == 0 {
                child.kill()?;
            }
            if child.wait()?.code().is_some() {
                break;
            }
            kills.agent += 1;
        }
    }
    relay.calm();
    let status = upload("upload").status()?;
    ensure!(status.success(), "the spool is not empty at the end: {status}");
    let counts = counted(address, std::fs::read_to_string(&token)?.trim())?;
    let lost = (0..options.trials)
        .filter(|trial| !counts.contains_key(&id_of(*trial)))
        .count();
    let twice = counts.values().filter(|count| **count > 1).count();
    println!(
        "| trials | agent killed | server killed | connections broken | lost | counted twice | seconds |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    println!(
        "| {} | {} | {} | {} | {lost} | {twice} | {:.0} |",
        options.trials,
        kills.agent,
        kills.server,
        relay.broken(),
        began.elapsed().as_secs_f64()
    );
    drop(running);
    ensure!(lost == 0 && twice == 0, "{lost} lost, {twice} counted twice");
    ensure!(
        counts.len() as u64 == options.trials,
        "the server has {} reports",
        counts.len()
    );
    Ok(())
}

fn id_of(trial: u64) -> String {
    format!("{trial:08x}-0000-4000-8000-000000000000")
}

/// A server that answers.
fn started(program: &Path, address: SocketAddr, data: &Path) -> Result<Server> {
    let server = Server::start(program, address, data)?;
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        ensure!(
            began.elapsed() < Duration::from_mins(1),
            "the server does not come back"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(server)
}

/// How often each report stands in the server's list.
fn counted(address: SocketAddr, token: &str) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let page = get(address, &format!("/api/v1/reports?limit=200{cursor}"), token)?;
        for report in page
            .get("reports")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let id = report
                .get("report_id")
                .or_else(|| report.get("id"))
                .and_then(Value::as_str);
            *counts
                .entry(id.context("a report without an id")?.to_owned())
                .or_default() += 1;
        }
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(counts),
        }
    }
}

fn get(address: SocketAddr, path: &str, token: &str) -> Result<Value> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("{path}: {}", head.lines().next().unwrap_or_default());
    }
    Ok(serde_json::from_str(body)?)
}

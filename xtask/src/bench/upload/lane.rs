//! One server, one network, one spool: report after report, each under kills at random moments.

use std::io::{Read, Write};
use std::iter::StepBy;
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::count::Counts;
use super::relay::{Random, Relay};
use super::{Outcome, Programs};
use crate::bench::server::{self, Server};

/// One in so many tries of an agent sees its server killed.
const SERVER_KILLS: u64 = 8;
/// What an upload takes that nobody disturbs, before the first one is timed.
const FIRST_SPAN: Duration = Duration::from_millis(40);

/// Between two looks at an agent that may have ended.
const PAUSE: Duration = Duration::from_micros(200);

/// An agent; ended with its lane, also where the lane fails.
struct Agent(Child);

impl Agent {
    fn start(command: &mut Command) -> Result<Self> {
        Ok(Self(command.spawn()?))
    }

    /// True when it has ended by itself.
    fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    fn end(mut self) -> Result<ExitStatus> {
        Ok(self.0.wait()?)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Both do nothing to one that was waited for.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A lane that was not started yet.
pub(super) struct Lane<'a> {
    pub(super) programs: &'a Programs,
    pub(super) folder: PathBuf,
    pub(super) seed: u64,
    pub(super) trials: StepBy<Range<u64>>,
}

impl Lane<'_> {
    /// Kills and starts again until all its reports were given to an agent, and counts what the server has.
    pub(super) fn run(self) -> Result<Outcome> {
        std::fs::create_dir(&self.folder)?;
        let data = self.folder.join("data");
        let token = self.token(&data)?;
        let mut template = Command::new(&self.programs.agent);
        let template = template.args(["report", "--print"]).output()?;
        let mut report: Value = serde_json::from_slice(&template.stdout).context("the agent's report")?;
        let address = server::free_address()?;
        let mut running = Some(started(&self.programs.server, address, &data)?);
        let relay = Relay::start(address, self.seed)?;
        let mut random = Random::new(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut outcome = Outcome::default();
        let file = self.folder.join("report.json");
        // How long an upload takes, so that kills come at all of its moments on a slow machine, too.
        let mut span = FIRST_SPAN;
        for trial in self.trials.clone() {
            *report.get_mut("report_id").context("report_id")? = id_of(trial).into();
            std::fs::write(&file, serde_json::to_vec(&report)?)?;
            outcome.trials += 1;
            // As a service manager: what was killed is started again with what it was given.
            loop {
                let began = Instant::now();
                let mut agent = Agent::start(self.upload("report", &relay, &token).arg("--from").arg(&file))?;
                let most = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
                let moment = Duration::from_micros(random.below(most + most / 4));
                while began.elapsed() < moment && !agent.has_ended()? {
                    std::thread::sleep(PAUSE);
                }
                let server_dies = random.below(SERVER_KILLS) == 0;
                if server_dies {
                    // It dies without a word, and comes back.
                    drop(running.take());
                    outcome.server_killed += 1;
                    running = Some(started(&self.programs.server, address, &data)?);
                }
                if random.below(2) == 0 {
                    agent.0.kill()?;
                }
                if agent.end()?.code().is_none() {
                    outcome.agent_killed += 1;
                    continue;
                }
                if !server_dies {
                    // By a step each, towards the median: one slow upload must not send all kills behind the end.
                    let step = span / 8;
                    span = if began.elapsed() > span {
                        span + step
                    } else {
                        span.saturating_sub(step)
                    };
                }
                break;
            }
        }
        relay.calm();
        self.empty_spool(&relay, &token)?;
        outcome.connections_broken = relay.broken();
        let counts = counted(address, std::fs::read_to_string(&token)?.trim())?;
        drop(running);
        let sent = self.trials.clone().map(id_of).collect();
        (outcome.lost, outcome.twice, outcome.unknown) = counts.against(&sent);
        Ok(outcome)
    }

    /// The file of a token that may upload and count.
    fn token(&self, data: &Path) -> Result<PathBuf> {
        let made = Command::new(&self.programs.server)
            .args([
                "token", "create", "--init", "--name", "trials", "--scope", "report",
            ])
            .args(["--scope", "fleet", "--data-dir"])
            .arg(data)
            .output()?;
        let said = String::from_utf8_lossy(&made.stderr);
        ensure!(made.status.success(), "no token: {said}");
        let token = self.folder.join("token");
        std::fs::write(&token, &made.stdout)?;
        Ok(token)
    }

    /// An agent that sends through the network, with the lane's spool.
    fn upload(&self, verb: &str, relay: &Relay, token: &Path) -> Command {
        let mut command = Command::new(&self.programs.agent);
        command.args([verb, "--server", &relay.address]);
        command.arg("--token-file").arg(token);
        command.arg("--spool").arg(self.folder.join("spool"));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// What still waits goes now that nothing breaks.
    fn empty_spool(&self, relay: &Relay, token: &Path) -> Result<()> {
        let status = self.upload("upload", relay, token).status()?;
        ensure!(status.success(), "the spool is not empty at the end: {status}");
        Ok(())
    }
}

fn id_of(trial: u64) -> String {
    format!("{trial:08x}-0000-4000-8000-000000000000")
}

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

/// What the server tells those who look: its list of reports, and the number of reports that stands beside each node.
fn counted(address: SocketAddr, token: &str) -> Result<Counts> {
    let mut counts = Counts::default();
    pages(address, "/api/v1/reports", "reports", token, |report| {
        counts.list(report)
    })?;
    pages(address, "/api/v1/nodes", "nodes", token, |node| counts.node(node))?;
    Ok(counts)
}

/// Every entry of a list that comes in pages.
fn pages(
    address: SocketAddr,
    path: &str,
    list: &str,
    token: &str,
    mut entry: impl FnMut(&Value) -> Result<()>,
) -> Result<()> {
    let mut cursor = String::new();
    loop {
        let page = get(address, &format!("{path}?limit=200{cursor}"), token)?;
        for item in page.get(list).and_then(Value::as_array).into_iter().flatten() {
            entry(item)?;
        }
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(()),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn an_agent_does_not_outlive_its_lane() {
        let agent = Agent::start(Command::new("sleep").arg("600")).unwrap();
        let place = PathBuf::from(format!("/proc/{}", agent.0.id()));
        assert!(place.try_exists().unwrap());
        drop(agent);
        assert!(!place.try_exists().unwrap());
    }
}

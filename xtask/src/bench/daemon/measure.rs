//! The daemon as it is shipped, watched for some minutes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fake_gpu::Scenario;

use super::{Options, cost};
use crate::shell;

/// How often memory is looked at: a worker lives for a fraction of a second.
const PAUSE: Duration = Duration::from_millis(20);
/// How often the processor time is read: in between, the daemon's own is told for each of these stretches.
const STRETCH: Duration = Duration::from_mins(1);
const MOST_PERCENT: f64 = 0.1;
/// Of the daemon itself, in bytes.
const MOST_MEMORY: u64 = 20_000_000;

/// The daemon; ended when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

struct Cost {
    lasted: Duration,
    looks: u32,
    /// The daemon's own, stretch by stretch; the first holds its start.
    stretches: Vec<Duration>,
    /// Of its workers, in steps of 10 ms.
    workers: Duration,
    at_rest: u64,
    most: u64,
    most_with_workers: u64,
}

pub(super) fn run(options: &Options) -> Result<()> {
    let agent = match &options.agent {
        Some(agent) => agent.clone(),
        None => build()?,
    };
    let folder = std::env::temp_dir().join(format!("peerless-daemon-{}", std::process::id()));
    let libraries = folder.join("libraries");
    std::fs::create_dir_all(&libraries)?;
    let watched = watch(options, &agent, &folder, &libraries);
    std::fs::remove_dir_all(&folder)?;
    let cost = watched?;
    let own: Duration = cost.stretches.iter().sum();
    let percent = (own + cost.workers).as_secs_f64() / cost.lasted.as_secs_f64() * 100.0;
    let mut sorted = cost.stretches.clone();
    sorted.sort_unstable();
    let shown = |time: Option<&Duration>| milliseconds(time.copied().unwrap_or_default());
    println!(
        "| minutes | looks | daemon | workers | of a core | a minute: least | median | most | resident at rest | most \
         | most with its workers |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    println!(
        "| {:.1} | {} | {} | {} | {percent:.4} % | {} | {} | {} | {} | {} | {} |",
        cost.lasted.as_secs_f64() / 60.0,
        cost.looks,
        milliseconds(own),
        milliseconds(cost.workers),
        shown(sorted.first()),
        shown(sorted.get(sorted.len() / 2)),
        shown(sorted.last()),
        megabytes(cost.at_rest),
        megabytes(cost.most),
        megabytes(cost.most_with_workers)
    );
    ensure!(
        percent < MOST_PERCENT,
        "{percent:.3} % of a core, the bar is {MOST_PERCENT}"
    );
    ensure!(
        cost.most < MOST_MEMORY,
        "{} resident, the bar is {}",
        megabytes(cost.most),
        megabytes(MOST_MEMORY)
    );
    Ok(())
}

/// The agent as it is released, but for the glibc.
fn build() -> Result<PathBuf> {
    let arguments = [
        "build",
        "--profile",
        "agent",
        "--locked",
        "--package",
        "peerless-agent",
    ];
    shell::run(&mut shell::cargo(&arguments))?;
    Ok(shell::target().join("agent").join("peerless-agent"))
}

fn watch(options: &Options, agent: &Path, folder: &Path, libraries: &Path) -> Result<Cost> {
    let installed = fake_gpu::install(libraries, &Scenario::healthy(2))?;
    let state = folder.join("state");
    // Nothing but what the unit gives it: the settings are those that it is shipped with.
    let child = Command::new(agent)
        .arg("daemon")
        .arg("--state")
        .arg(&state)
        .arg("--spool")
        .arg(folder.join("spool"))
        .envs(installed.environment())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = child.id();
    let mut running = Running(child);
    let (began, result) = (Instant::now(), state.join("last-passive.json"));
    let (mut looks, mut written, mut most_with_workers) = (0, None, 0);
    let mut spent = Spent::default();
    while began.elapsed() < Duration::from_mins(options.minutes) {
        let now = std::fs::metadata(&result).and_then(|file| file.modified()).ok();
        if now.is_some() && now != written {
            (looks, written) = (looks + 1, now);
        }
        most_with_workers = most_with_workers.max(cost::memory_of_all(pid));
        let stretches = u32::try_from(spent.stretches.len())? + 1;
        if began.elapsed() >= STRETCH * stretches {
            spent.add(&cost::threads(pid)?);
        }
        std::thread::sleep(PAUSE);
    }
    // A whole stretch has ended with the loop, but for one that was cut off by it.
    let last = spent.behind(&cost::threads(pid)?);
    if spent.stretches.len() < usize::try_from(options.minutes)? {
        spent.stretches.push(last);
    } else if let Some(stretch) = spent.stretches.last_mut() {
        *stretch += last;
    }
    ensure!(running.0.try_wait()?.is_none(), "the daemon ended by itself");
    ensure!(looks > 0, "the daemon looked at nothing");
    Ok(Cost {
        lasted: began.elapsed(),
        looks,
        stretches: spent.stretches,
        workers: cost::of_children(pid)?,
        at_rest: cost::memory(pid, "VmRSS").unwrap_or_default(),
        most: cost::memory(pid, "VmHWM").unwrap_or_default(),
        most_with_workers,
    })
}

/// Processor time of the daemon's threads so far, those that have ended since included.
#[derive(Default)]
struct Spent {
    threads: BTreeMap<u32, Duration>,
    stretches: Vec<Duration>,
}

impl Spent {
    /// What was spent since the last call.
    fn behind(&mut self, threads: &BTreeMap<u32, Duration>) -> Duration {
        let before: Duration = self.threads.values().sum();
        self.threads.extend(threads);
        self.threads.values().sum::<Duration>().saturating_sub(before)
    }

    fn add(&mut self, threads: &BTreeMap<u32, Duration>) {
        let stretch = self.behind(threads);
        self.stretches.push(stretch);
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

//! The contract: what the CUDA driver and NVML answer, in lines that depend neither on machine nor on time. It runs
//! on real GPUs and on the stand-in alike; the transcript of the real ones is committed, and a test holds the
//! stand-in to it.
//!
//! `contract` runs all sections, each in a process of its own, so that a spoiled context ends with it; `contract NAME`
//! runs one here. It needs two GPUs that may reach each other, takes some megabytes, changes no setting, and waits
//! for nothing longer than [`DEADLINE`].
#![allow(unsafe_code, reason = "calls C functions by hand")]
#![allow(
    non_snake_case,
    clippy::too_many_arguments,
    reason = "C functions have the names and as many arguments as they have"
)]

mod api;
mod contexts;
mod devices;
mod kernels;
mod management;
mod mapped;
mod memory;
mod modules;
mod node;
mod peers;
mod processes;
mod shipped;
mod streams;
mod texts;

use node::Node;
use std::{
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitCode, ExitStatus},
    thread,
    time::{Duration, Instant},
};

/// The longest that a section may take.
const DEADLINE: Duration = Duration::from_mins(1);

/// What a section does; its error is why it cannot go on.
type Section = fn(&Node) -> Result<(), String>;

/// All of them, in the order of the transcript.
const SECTIONS: &[&[(&str, Section)]] = &[
    texts::SECTIONS,
    devices::SECTIONS,
    contexts::SECTIONS,
    peers::SECTIONS,
    memory::SECTIONS,
    streams::SECTIONS,
    modules::SECTIONS,
    kernels::SECTIONS,
    shipped::SECTIONS,
    processes::SECTIONS,
    mapped::SECTIONS,
    management::SECTIONS,
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next() {
        Some(name) => {
            let rest: Vec<String> = arguments.collect();
            here(&name, &rest)
        }
        None => all(),
    }
}

fn here(name: &str, rest: &[String]) -> ExitCode {
    let node = match Node::open() {
        Ok(node) => node,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let sections = SECTIONS.iter().copied().flatten();
    let mut named = sections.filter(|(known, _)| *known == name);
    let outcome = match (named.next(), name) {
        (Some((_, section)), _) => section(&node),
        (None, processes::PARTNER) => processes::partner(&node, rest),
        (None, mapped::PARTNER) => mapped::partner(&node),
        (None, _) => Err(format!("no section '{name}'")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("cannot go on: {why}");
            ExitCode::FAILURE
        }
    }
}

fn all() -> ExitCode {
    let mut good = true;
    for (name, _) in SECTIONS.iter().copied().flatten() {
        println!("## {name}");
        match run(&[name]) {
            Ok(None) => {}
            Ok(Some(trouble)) => println!("ended: {trouble}"),
            Err(why) => {
                eprintln!("{name}: {why}");
                good = false;
            }
        }
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs this program with other arguments, within the deadline. Gives how it ended, if not well.
fn run(arguments: &[&str]) -> Result<Option<String>, std::io::Error> {
    let child = Command::new(std::env::current_exe()?).args(arguments).spawn()?;
    finish(child)
}

/// Waits for a process, within the deadline.
fn finish(mut child: Child) -> Result<Option<String>, std::io::Error> {
    let end = Instant::now() + DEADLINE;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(trouble(status));
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    child.wait()?;
    Ok(Some("not in time".into()))
}

fn trouble(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit {code}")),
        (None, signal) => Some(format!("signal {}", signal.unwrap_or(0))),
    }
}

//! The worker's side: reads commands, does them, answers. Runs in its own process, on one thread.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::stdio::{dup2_stdout, stderr, stdout};

use crate::gpu::{Driver, LIBRARY_NAME, Management, Trace};
use crate::process::forbid_core_files;

use super::check;
use super::inventory::{Inventory, describe_library, read_again};
use super::place::{Place, failure};
use super::protocol::{Answer, CallFailure, CheckKind, Command, VERSION};

/// How the parent starts it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WorkerArgs {
    /// Inherited descriptor for breadcrumbs.
    #[arg(long)]
    pub(crate) trace_fd: i32,
    /// Process that must still be there.
    #[arg(long)]
    pub(crate) parent: i32,
}

/// Serves until the parent says so, closes the pipe or is gone.
pub(crate) fn run(args: &WorkerArgs) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died between starting this process and the line above.
    if getppid() != Pid::from_raw(args.parent) {
        return Ok(());
    }
    forbid_core_files();
    let pipe = PathBuf::from(format!("/proc/self/fd/{}", args.trace_fd));
    let trace = File::options().write(true).open(pipe).map(Trace::into_pipe)?;
    let mut output = take_standard_output()?;
    let mut worker = Worker {
        trace,
        driver: None,
        nvml: None,
        inventory: None,
        places: BTreeMap::new(),
    };
    send(&mut output, &Answer::Ready { version: VERSION })?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let answer = match serde_json::from_str(&line) {
            Ok(Command::Close) => break,
            Ok(command) => worker.obey(&command),
            Err(error) => refuse(
                "read a command",
                format!("not a command of version {VERSION}: {error}"),
            ),
        };
        send(&mut output, &answer)?;
    }
    Ok(())
}

/// Keeps standard output for the answers alone: what a library prints there goes to standard error from now on.
fn take_standard_output() -> io::Result<File> {
    let answers = fcntl_dupfd_cloexec(stdout(), 3)?;
    dup2_stdout(stderr())?;
    Ok(File::from(answers))
}

fn send(output: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

struct Worker {
    trace: Trace,
    driver: Option<Driver>,
    nvml: Option<Rc<Management>>,
    inventory: Option<Inventory>,
    /// Prepared GPUs by position.
    places: BTreeMap<u32, Place>,
}

impl Worker {
    fn obey(&mut self, command: &Command) -> Answer {
        match *command {
            Command::Load => self.load(),
            Command::Open => self.open(),
            Command::ReadAgain { ref addresses } => Answer::ReadAgain {
                gpus: read_again(&self.management(), addresses),
            },
            Command::PairFacts { a, b } => self.pair_facts(a, b),
            Command::Prepare { gpu, bytes, limit_ms } => {
                self.prepare(gpu, bytes, Duration::from_millis(limit_ms))
            }
            Command::Check {
                initiator,
                owner,
                kind,
                seed,
                limit_ms,
            } => self.check(kind, initiator, owner, seed, Duration::from_millis(limit_ms)),
            Command::Close => refuse("close", "handled before".to_owned()),
        }
    }

    fn load(&mut self) -> Answer {
        match Driver::load(self.trace.clone()) {
            Ok(driver) => {
                let loaded = describe_library(&driver);
                self.driver = Some(driver);
                Answer::Loaded(loaded)
            }
            Err(reason) => refuse(&format!("load {LIBRARY_NAME}"), reason),
        }
    }

    fn open(&mut self) -> Answer {
        let Some(driver) = self.driver.clone() else {
            return refuse("open the driver", "its library is not loaded".to_owned());
        };
        let opened = driver.init().and_then(|()| {
            let nvml = self.management();
            Inventory::take(driver, nvml)
        });
        match opened {
            Ok(inventory) => {
                let opened = inventory.describe();
                self.inventory = Some(inventory);
                Answer::Opened(Box::new(opened))
            }
            Err(error) => Answer::Failed(failure(&error)),
        }
    }

    /// NVML, opened when it is first needed.
    fn management(&mut self) -> Rc<Management> {
        let open = || Rc::new(Management::open(self.trace.clone()));
        Rc::clone(self.nvml.get_or_insert_with(open))
    }

    fn pair_facts(&self, a: u32, b: u32) -> Answer {
        let facts = self.inventory.as_ref().and_then(|inventory| inventory.pair(a, b));
        match facts {
            Some(facts) => Answer::PairFacts(Box::new(facts)),
            None => refuse("describe a pair", format!("there is no pair {a}, {b}")),
        }
    }

    fn prepare(&mut self, gpu: u32, bytes: u64, limit: Duration) -> Answer {
        if !self.places.contains_key(&gpu) {
            let Some(inventory) = &self.inventory else {
                return refuse("prepare a GPU", "the driver is not open".to_owned());
            };
            let (Some(known), Ok(bytes)) = (inventory.gpu(gpu), usize::try_from(bytes)) else {
                return refuse("prepare a GPU", format!("there is no GPU {gpu}"));
            };
            match Place::prepare(&inventory.driver, known.device, bytes, limit) {
                Ok(place) => self.places.insert(gpu, place),
                Err(error) => return Answer::Failed(failure(&error)),
            };
        }
        Answer::Prepared
    }

    fn check(&self, kind: CheckKind, initiator: u32, owner: u32, seed: u64, limit: Duration) -> Answer {
        let (Some(from), Some(to)) = (self.places.get(&initiator), self.places.get(&owner)) else {
            return refuse(
                "make a check",
                format!("GPU {initiator} and GPU {owner} are not both prepared"),
            );
        };
        Answer::Checked(check::run(kind, from, to, seed, limit))
    }
}

/// A command that no driver call failed in.
fn refuse(step: &str, message: String) -> Answer {
    Answer::Failed(CallFailure {
        call: step.to_owned(),
        code: None,
        code_name: None,
        message,
        poisoned: false,
    })
}

//! How a run over the GPUs is made: what all verbs that make one take.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kb_core::health::{ListedEarlier, Scope};
use kb_core::ids::NodeId;
use kb_core::report::Report;
use kb_core::verdict::FailOn;

use super::expect::{self, Expectation};
use crate::host::HostRoot;
use crate::probe::{Depth, Options, names_gpus};
use crate::process::VISIBLE_GPUS;
use crate::worker::lock;

/// How a run is made.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Print nothing on standard output
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// GPUs to look at, by nvidia-smi's numbers or by UUID, comma-separated [default: all that are visible]
    #[arg(long, value_name = "LIST", value_parser = devices)]
    pub(crate) devices: Option<String>,
    /// Say what would be taken, where and for how long, and take nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Folder that stands for / where /proc, /sys and /etc are read. Another than / has to be the root of a running Linux host
    #[arg(long, value_name = "DIR", default_value = "/", env = "PEERLESS_HOST_ROOT")]
    host_root: PathBuf,
    /// Id of this node in reports [default: made from machine id and board, the same after every boot]
    #[arg(long, alias = "node", value_name = "ID", env = "PEERLESS_NODE_ID")]
    pub(crate) node_id: Option<NodeId>,
    /// Longest the whole run may take, in seconds; what is left then is skipped. Before it, at most as long is spent
    /// waiting for another agent's run
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    timeout: Duration,
    /// Longest one step of a check may take before it counts as a hang, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    step_timeout: Duration,
    /// Data of each check, in KiB
    #[arg(long, value_name = "KIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(4..=1_048_576))]
    buffer_kib: u64,
    /// Lock that keeps a second agent off the GPUs [default: /run/peerless-agent/lock, or one of the user's own]
    #[arg(long, value_name = "FILE", env = "PEERLESS_LOCK_FILE")]
    lock_file: Option<PathBuf>,
    /// What makes the exit code other than 0: fault (2), unknown (3, could not tell), warning (1). One word takes in what
    /// is worse: warning also a fault, unknown all three; of several, each counts by itself
    #[arg(long, value_name = "WHAT", default_value_t = FailOn::default())]
    fail_on: FailOn,
    /// What the node should have. gpus=N: so many GPUs that answer; fewer are a fault. p2p=WHICH: pairs that must have peer
    /// access: all but those whose model has it off by policy (auto), all, those joined by NVLink (nvlink), or none. A
    /// refusal of others is shown and no fault; what is granted is proven in any case
    #[arg(long, value_name = "gpus=N|p2p=WHICH", default_value = "p2p=auto", value_delimiter = ',', value_parser = expect::expectation)]
    pub(super) expect: Vec<Expectation>,
}

impl RunArgs {
    /// As the probe takes them. Fails where the agent cannot find its own binary.
    pub(crate) fn options(&self, depth: Depth) -> std::io::Result<Options> {
        Ok(Options {
            host_root: HostRoot::new(&self.host_root),
            timeout: self.timeout,
            step_timeout: self.step_timeout,
            bytes: self.buffer_kib * 1024,
            lock_file: self.lock_file.clone().unwrap_or_else(lock::default_path),
            program: std::env::current_exe()?,
            expect: expect::p2p(&self.expect),
            expected_gpus: expect::gpus(&self.expect),
            devices: self.devices.clone(),
            depth,
            earlier: ListedEarlier::default(),
            before: Vec::new(),
            bench: None,
            nccl: None,
            load: None,
        })
    }

    pub(crate) fn buffer_kib(&self) -> u64 {
        self.buffer_kib
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn step_timeout(&self) -> Duration {
        self.step_timeout
    }

    pub(crate) fn host_root(&self) -> HostRoot {
        HostRoot::new(&self.host_root)
    }

    pub(crate) fn scope(&self) -> Scope {
        if self.devices.is_none() && std::env::var_os(VISIBLE_GPUS).is_none() {
            Scope::All
        } else {
            Scope::Part
        }
    }

    /// True where GPUs are asked for by numbers, which another one has when a GPU in front of it is gone.
    pub(crate) fn names_by_number(&self) -> bool {
        let in_environment = || std::env::var(VISIBLE_GPUS).ok();
        let asked = self.devices.clone().or_else(in_environment);
        asked.is_some_and(|asked| {
            names_gpus(&asked) && asked.starts_with(|letter: char| letter.is_ascii_digit())
        })
    }

    pub(crate) fn exit_code(&self, report: &Report) -> u8 {
        self.fail_on.exit_code(report)
    }
}

/// `0,2` or `GPU-592ae3c5,GPU-645b7e67`, as `CUDA_VISIBLE_DEVICES` takes it.
pub(crate) fn devices(text: &str) -> Result<String, String> {
    if names_gpus(text) && !text.contains(' ') {
        let names = text.split(',');
        let mut once = std::collections::BTreeSet::new();
        // CUDA lists no GPU at all where one is named twice.
        return match names.into_iter().find(|name| !once.insert(*name)) {
            None => Ok(text.to_owned()),
            Some(twice) => Err(format!("{twice} is named twice in {text:?}")),
        };
    }
    Err(format!(
        "{text:?} is no list such as 0,2 or GPU-592ae3c5-d0e9-aa09-ab69-25fb91b6a20a"
    ))
}

/// A positive number of seconds, fractions allowed, of at most a day.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a number of seconds between 0.1 and 86400");
    let number: f64 = text.parse().map_err(|_| wrong())?;
    if !(0.1..=86_400.0).contains(&number) {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(number).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kb_core::verdict::Expect;

    use super::*;
    use crate::cli::{Cli, ProbeArgs, Verb};

    #[test]
    fn without_options_faults_and_doubts_fail_and_policy_is_no_fault() {
        let cli = Cli::try_parse_from(["peerless-agent", "probe"]).unwrap();
        let Verb::Probe(ProbeArgs { run, .. }) = cli.verb else {
            panic!("another verb");
        };
        assert_eq!(run.fail_on, FailOn::FAULT_AND_UNKNOWN);
        assert_eq!(
            (expect::p2p(&run.expect), expect::gpus(&run.expect)),
            (Expect::Auto, None)
        );
    }

    #[test]
    fn devices_are_numbers_or_uuids() {
        for good in ["0", "0,12", "GPU-592ae3c5,GPU-645b7e67-5884"] {
            assert_eq!(devices(good).as_deref(), Ok(good));
        }
        for bad in ["", "0,", "a", "-1", "0,GPU-1", "GPU-", "0;ls", "0,1,0"] {
            assert!(devices(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn seconds_are_bounded() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for bad in ["", "0", "-1", "x", "inf", "NaN", "1e9"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}

//! What `admit` takes.

use std::time::Duration;

use clap::Args;

use crate::probe::BenchOptions;

use super::{RunArgs, StateArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "For a node that comes back from a repair, with GPUs that nothing else uses. 0: the node is admitted, and faults of \
    its hardware that the ledger holds open have ended. 1: it works, with something to look at. 2: a fault. 3: could not tell, as \
    where the kernel log cannot be read, or the run cannot be kept. Whatever --fail-on says, only an admitted node gives 0."
)]
pub(crate) struct AdmitArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// How long all GPUs compute and copy at once, in seconds; what --timeout bounds comes on top
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(30..=3600))]
    load_seconds: u64,
    /// So many short steps in place of the time, against a stand-in for the driver
    #[arg(long, value_name = "STEPS", hide = true, value_parser = clap::value_parser!(u64).range(1..=1000))]
    load_steps: Option<u64>,
    /// Bytes of the largest copies, in KiB [default: 262144]
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(4..=4_194_304))]
    copy_kib: Option<u64>,
    /// Print the report as JSON, and nothing else, on standard output
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
}

impl AdmitArgs {
    pub(crate) fn bench(&self) -> BenchOptions {
        BenchOptions {
            full: false,
            bytes: self.copy_kib.map(|kib| kib * 1024),
        }
    }

    pub(crate) fn load_seconds(&self) -> Duration {
        Duration::from_secs(self.load_seconds)
    }

    pub(crate) fn load_steps(&self) -> Option<u64> {
        self.load_steps
    }
}

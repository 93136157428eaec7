//! What `bench` takes about NCCL.

use clap::Args;

use crate::probe::{BenchOptions, NcclOptions};

#[derive(Debug, Args)]
pub(super) struct NcclArgs {
    /// Run NCCL too: does it work in a process for each GPU, with peer access and without, and how fast are its collectives
    #[arg(long)]
    nccl: bool,
    /// Library to take in place of the libnccl.so.2 that the loader finds; it is loaded as it is
    #[arg(long, value_name = "FILE", requires = "nccl")]
    nccl_library: Option<String>,
    /// Leave NVLink SHARP and multicast to NCCL, which are switched off otherwise
    #[arg(long, requires = "nccl")]
    nvls: bool,
}

impl NcclArgs {
    pub(super) fn chosen(&self, bench: BenchOptions) -> Option<NcclOptions> {
        self.nccl.then(|| NcclOptions {
            library: self.nccl_library.clone(),
            nvls: self.nvls,
            full: bench.full,
            bytes: bench.bytes,
        })
    }
}

//! Faults of kernels: what only shows when a GPU computes.

use serde::{Deserialize, Serialize};

/// What becomes of a kernel on one GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelFault {
    /// Its name in the PTX text.
    pub kernel: String,
    pub gpu: usize,
    /// How many of its launches there, by one process, go well first.
    #[serde(default)]
    pub after: u64,
    /// How many are hit then; all that follow when `None`.
    #[serde(default)]
    pub times: Option<u64>,
    /// What happens.
    pub effect: KernelEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelEffect {
    /// The first `fma` of its first thread has this bit of its result wrong.
    WrongBit(u32),
    /// It takes so many times as long.
    Slower(f64),
    NeverEnds,
}

impl KernelFault {
    pub(super) fn check(&self, gpus: usize) -> Result<(), String> {
        let Self {
            kernel, gpu, effect, ..
        } = self;
        if *gpu >= gpus {
            return Err(format!("a fault of kernel {kernel} names GPU {gpu} of {gpus}"));
        }
        match effect {
            KernelEffect::WrongBit(bit) if *bit > 31 => Err(format!("a number of 32 bits has no bit {bit}")),
            KernelEffect::Slower(by) if !by.is_finite() || *by <= 0.0 => {
                Err(format!("a kernel cannot take {by} times as long"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn hits(&self, kernel: &str, gpu: usize, launch: u64) -> bool {
        let hit = launch.checked_sub(self.after);
        self.kernel == kernel
            && self.gpu == gpu
            && hit.is_some_and(|hit| self.times.is_none_or(|times| hit < times))
    }
}

//! Faults: one primitive decides the fate of a memory access, another that of a call.

use super::Gpu;
use crate::calls::NAMES;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What becomes of accesses that fit. A list that is empty fits everything; a GPU that is not named means "any other
/// GPU", so only a fault that names the same GPU twice touches a GPU's own memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryFault {
    /// The GPU that issues the access.
    #[serde(default)]
    pub initiator: Option<usize>,
    /// The GPU whose memory it is.
    #[serde(default)]
    pub owner: Option<usize>,
    /// By what it is issued.
    #[serde(default)]
    pub routes: Vec<Route>,
    /// What it does.
    #[serde(default)]
    pub accesses: Vec<Access>,
    /// First byte and the byte after the last one, counted in the owner's physical memory.
    #[serde(default)]
    pub range: Option<(u64, u64)>,
    /// What becomes of it.
    pub fate: Fate,
}

/// By what an access is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// A copy engine: copies and fills.
    CopyEngine,
    /// A kernel.
    Sm,
    /// Either of them, through memory of another process (an IPC handle).
    Ipc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes in one step.
    Atomic,
}

/// What becomes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// As it should be.
    Through,
    /// Stores and atomics of a kernel reach the owner when the kernel ends; the kernel itself sees them at once.
    /// A copy engine has no kernel to end: its stores go through.
    AtKernelEnd,
    /// The initiator works on memory of its own, zero at first, that the owner never sees (NCCL issue 2335).
    PrivateMirror,
    /// Stores vanish, loads and atomics give zeros, and every call succeeds (ACS redirect under an IOMMU).
    Dropped,
    /// Every `every`th byte of the owner's memory, beginning with byte `at`, is changed by exclusive or on its way.
    Corrupted {
        /// The bits that flip.
        xor: u8,
        /// Distance of the bytes it happens to; 0 counts as 1.
        every: u64,
        /// The first of them.
        at: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFault {
    /// The exported name, such as `cuCtxEnablePeerAccess`; with a `*` at its end all that begin so.
    pub call: String,
    /// How many calls go well first.
    #[serde(default)]
    pub after: u64,
    /// How many are hit then; all that follow when `None`.
    #[serde(default)]
    pub times: Option<u64>,
    #[serde(default)]
    pub counted: Counted,
    /// What happens.
    pub effect: CallEffect,
}

/// Whose calls a [`CallFault`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Those of the calling process: a fresh worker meets the fault again.
    #[default]
    Process,
    /// Those of all processes: with `times` the fault passes, and a fresh worker succeeds.
    Machine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEffect {
    /// It does nothing and returns this code, known or not.
    Return(i32),
    /// The same, where the current context is one of this GPU; from then on the context gives no other code, as after
    /// an uncorrectable error. Calls with another context go well.
    Spoil {
        /// Whose context.
        gpu: usize,
        /// The code.
        code: i32,
    },
    /// It never returns.
    Hang,
    /// The process dies in it.
    Abort,
    /// It prints a line on standard output, as debugging libraries do, and then works.
    Print,
}

/// A line that a file gets once, as the kernel log gets one when something has happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogLine {
    /// When this function, of either library…
    pub after_call: String,
    /// …is called for this time, counted from 1, by all processes together.
    pub times: u64,
    /// The file, which need not be there yet.
    pub file: PathBuf,
    /// The line without its end. `{us}` becomes the microseconds since the boot, as in `/dev/kmsg`.
    pub text: String,
}

impl LogLine {
    /// An Xid of a GPU as the driver writes it to `/dev/kmsg`: when peer access is first enabled.
    pub fn xid(file: &Path, gpu: &Gpu, xid: u32, message: &str) -> Self {
        let address = gpu
            .pci
            .rsplit_once('.')
            .map_or(gpu.pci.as_str(), |(front, _)| front);
        let address = address.get(address.len().saturating_sub(10)..).unwrap_or(address);
        Self {
            after_call: "cuCtxEnablePeerAccess".into(),
            times: 1,
            file: file.to_path_buf(),
            text: format!("3,4242,{{us}},-;NVRM: Xid (PCI:{address}): {xid}, {message}"),
        }
    }
}

impl CallFault {
    /// Always, from the first call on.
    pub fn always(call: &str, effect: CallEffect) -> Self {
        Self {
            call: call.into(),
            after: 0,
            times: None,
            counted: Counted::Process,
            effect,
        }
    }

    pub(crate) fn names(&self, function: &str) -> bool {
        match self.call.strip_suffix('*') {
            Some(beginning) => function.starts_with(beginning),
            None => function == self.call,
        }
    }

    pub(super) fn check(&self, gpus: usize) -> Result<(), String> {
        if !NAMES.iter().any(|function| self.names(function)) {
            return Err(format!("'{}' is no function of the stand-in", self.call));
        }
        match self.effect {
            CallEffect::Spoil { gpu, .. } if gpu >= gpus => {
                Err(format!("a fault of {} names GPU {gpu} of {gpus}", self.call))
            }
            _ => Ok(()),
        }
    }
}

impl MemoryFault {
    /// Whether the fault is about this kind of access at all, wherever it goes.
    pub(crate) fn fits(&self, initiator: usize, owner: usize, routes: &[Route], access: Access) -> bool {
        let named_itself = self.initiator == Some(owner) && self.owner == Some(owner);
        if initiator == owner && !named_itself {
            return false;
        }
        self.initiator.is_none_or(|gpu| gpu == initiator)
            && self.owner.is_none_or(|gpu| gpu == owner)
            && (self.routes.is_empty() || self.routes.iter().any(|route| routes.contains(route)))
            && (self.accesses.is_empty() || self.accesses.contains(&access))
    }

    pub(crate) fn covers(&self, place: u64) -> bool {
        self.range.is_none_or(|(from, to)| (from..to).contains(&place))
    }

    pub(super) fn check(&self, gpus: usize) -> Result<(), String> {
        let named = self.initiator.iter().chain(&self.owner);
        if let Some(gpu) = named.copied().find(|gpu| *gpu >= gpus) {
            return Err(format!("a memory fault names GPU {gpu} of {gpus}"));
        }
        match self.range {
            Some((from, to)) if from >= to => Err(format!("range {from}..{to} of a memory fault is empty")),
            _ => Ok(()),
        }
    }
}

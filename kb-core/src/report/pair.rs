//! What was found between two GPUs, in each direction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::fact::Fact;
use super::gpu::GpuIndex;
use super::reason_code::ReasonCode;
use super::ruled::Ruled;
use crate::ids::RecordId;

/// An unordered pair of GPUs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The GPU with the lower index.
    pub a: GpuIndex,
    /// The GPU with the higher index.
    pub b: GpuIndex,
    /// Active NVLinks that join the two, directly or through NVSwitch.
    pub nvlinks: Fact<u32>,
    /// True when the links end at an NVSwitch.
    pub nvswitch: Fact<bool>,
    /// Nearest common ancestor in the PCIe tree, in NVML's words (`PIX`, `PXB`, `PHB`, `NODE`, `SYS`).
    pub common_ancestor: Fact<String>,
    /// Everything else by dotted name (`pcie.same_switch`, `acs.redirecting_bridges`). Since 1.1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Fact>,
    /// `a` as initiator towards `b`, then `b` towards `a`.
    pub directions: Vec<Direction>,
    /// What it comes to.
    pub verdict: PairVerdict,
}

/// One initiator looking at one peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Direction {
    /// The GPU whose context or kernel accesses the other's memory.
    pub initiator: GpuIndex,
    /// The GPU that owns the memory.
    pub owner: GpuIndex,
    /// `cuDeviceCanAccessPeer(initiator, owner)`.
    pub can_access_peer: Fact<bool>,
    /// NVML's P2P status by capability.
    pub nvml: NvmlP2p,
    /// CUDA's P2P attributes by name (`performance_rank`, `access_supported`, …).
    #[serde(default)]
    pub cuda_attributes: BTreeMap<String, Fact<i32>>,
    /// The checks, in the order they were made.
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// `nvmlDeviceGetP2PStatus` by capability index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NvmlP2p {
    /// Index 0, read.
    pub read: Fact<P2pStatus>,
    /// Index 1, write.
    pub write: Fact<P2pStatus>,
    /// Index 2, NVLink.
    pub nvlink: Fact<P2pStatus>,
    /// Index 3, atomics.
    pub atomics: Fact<P2pStatus>,
    /// Index 4, PCIe (the header's name is `PROP` or `PCI`).
    pub pci: Fact<P2pStatus>,
}

/// Values of `nvmlGpuP2PStatus_t`, named as `nvidia-smi topo -p2p` prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum P2pStatus {
    /// 0: granted, not proven.
    Ok,
    /// 1: chipset not supported.
    Cns,
    /// 2: GPU not supported.
    Gns,
    /// 3: topology not supported.
    Tns,
    /// 4: disabled by registry key.
    Dr,
    /// 5: not supported.
    Ns,
    /// 6: unknown to the driver.
    U,
    /// A value that this build does not know.
    #[serde(other)]
    Unrecognised,
}

/// One check of one rung of the functional ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Rung 0 to 7.
    pub rung: u8,
    /// What was done: `enable_peer_access`, `copy_push`, `copy_pull`, `sm_store`, …
    pub name: String,
    /// What moved the bytes.
    pub engine: Engine,
    /// What came of it.
    pub outcome: Outcome,
    /// Why, unless it passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The same for programs. Since 1.6.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason_code: Option<ReasonCode>,
    /// With `earlier_call`: the result code of the call that failed before this check. Since 1.6.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub earlier_code: Option<i32>,
    /// The driver call that failed or hung.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<String>,
    /// Its result code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i32>,
    /// Name of the code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code_name: Option<String>,
    /// Who compared the data: `owner_kernel` or `owner_copy` (host copy in its context), where owner is the GPU
    /// whose memory received it; `initiator_kernel` where a kernel loads from the peer; `none`.
    pub checked_by: String,
    /// Bytes written and compared.
    pub bytes: u64,
    /// Windows of the owner's memory that were written and compared; 0 where that does not apply. Since 1.1.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub windows: u32,
    /// Bytes from the first byte of the first window to the last byte of the last one: faults of static BAR1 mappings
    /// depend on the address. Since 1.1.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub spread_bytes: u64,
    /// First wrong offset and number of wrong 32-bit words, where data was wrong.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mismatch: Option<Mismatch>,
    /// Seconds, by the agent's monotonic clock.
    pub seconds: f64,
    /// True when the check was repeated alone in a fresh worker and this is that result.
    #[serde(default)]
    pub rerun: bool,
}

/// For fields that are left out where they do not apply.
fn is_zero<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Where data differed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// Byte offset of the first wrong word, from the start of the zone it lies in.
    pub first_offset: u64,
    /// How many 32-bit words were wrong.
    pub words: u64,
    /// True when the wrong words lie in a guard zone beside the data.
    #[serde(default)]
    pub in_guard: bool,
    /// True when every word still held what the owner had put there before: nothing arrived.
    #[serde(default)]
    pub untouched: bool,
    /// Whether the writer, reading the same addresses back, finds its own data there. With an owner that does not,
    /// the mapping is a private mirror. Absent where it was not tried.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub writer_sees_it: Option<bool>,
}

/// What moved the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// A driver call that moves none.
    Api,
    /// Copy engine.
    Ce,
    /// Streaming multiprocessors (a kernel).
    Sm,
    /// Through an inter-process handle.
    Ipc,
    /// NCCL.
    Nccl,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}

/// Outcome of a check; never a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Ran, and the owner found the right data.
    Pass,
    /// Ran, and data or code was wrong.
    Fail,
    /// Did not end before its deadline.
    Hang,
    /// Left out; `reason` says why.
    Skipped,
    /// Cannot be seen from here.
    NotVisible,
    /// Ran, and shows neither.
    Inconclusive,
    /// Failed in the run over all pairs, and passed when repeated alone in a fresh process.
    PassAlone,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}

/// The verdict of a pair, with what led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// One named cause, see [`crate::verdict::cause`]; absent when healthy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
    /// One sentence.
    pub reason: String,
    /// JSON pointers into the report that led to it.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The rungs that ran and passed both ways: what "healthy" is proven by.
    #[serde(default)]
    pub proven_rungs: Vec<u8>,
    /// The record that explains the cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub record: Option<RecordId>,
    /// What to do, in one or two sentences. Since 1.1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fix: Option<String>,
    /// True when the refusal is as expected (`--expect`): shown, and left out of the run's verdict. Since 1.1.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub information: bool,
    /// Causes that were seen beside it and have effects of their own. Since 1.1.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub beside: Vec<String>,
    /// Warnings of which the site's policy made something else.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub by_policy: Vec<Ruled>,
}

impl PairVerdict {
    /// Stands in a pair until it is judged.
    pub fn undecided() -> Self {
        Self {
            verdict: Verdict::Unknown,
            cause: None,
            reason: "not judged".to_owned(),
            evidence: Vec::new(),
            proven_rungs: Vec::new(),
            record: None,
            fix: None,
            information: false,
            beside: Vec::new(),
            by_policy: Vec::new(),
        }
    }
}

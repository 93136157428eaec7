//! What a GPU that was checked by itself came to: the causes of pairs, as far as one GPU can have them.

use super::super::cause;
use super::super::hardware::{ECC_CODES, NVLINK_CODES};
use super::RunRow;
use crate::report::Failure;
use crate::verdict::Verdict;

/// The check ended with this cause, as the agent has seen it.
fn came_to(failure: &Failure, cause: &str) -> bool {
    failure.step == Failure::OWN_MEMORY && failure.cause.as_deref() == Some(cause)
}

fn returned(failure: &Failure, codes: &[i32]) -> bool {
    failure.step == Failure::OWN_MEMORY && failure.code.is_some_and(|code| codes.contains(&code))
}

/// Any call on a GPU, not only one of the check.
fn broke(failure: &Failure, codes: &[i32]) -> bool {
    let is_of_gpu = [Failure::OWN_MEMORY, Failure::USE_GPU].contains(&failure.step.as_str());
    is_of_gpu && failure.code.is_some_and(|code| codes.contains(&code))
}

/// The first that applies names the cause, before those of runs.
pub(in crate::verdict) const ALONE: &[RunRow] = &[
    RunRow::of(
        (cause::ECC_ERROR, Verdict::Broken),
        Some("cuda/uncorrectable-ecc-error"),
        "A GPU that was checked by itself, or is of no pair, had an error of its memory that ECC could not correct (214).",
        "Stop what runs on the GPU and reset it (`nvidia-smi --gpu-reset -i INDEX`), then read \
         `nvidia-smi -q -d ECC,ROW_REMAPPER`: a failed row remapping means that the GPU has to be replaced.",
        |failure| broke(failure, ECC_CODES),
    ),
    RunRow::of(
        (cause::NVLINK_ERROR, Verdict::Broken),
        Some("cuda/uncorrectable-nvlink-error"),
        "A GPU that was checked by itself, or is of no pair, had an error of an NVLink (220 or 226).",
        "Read `nvidia-smi nvlink -e` and the kernel log, and reset the GPU. Errors that come back mean service for \
         bridge, baseboard or GPU.",
        |failure| broke(failure, NVLINK_CODES),
    ),
    RunRow::of(
        (cause::DATA_MISMATCH, Verdict::Broken),
        None,
        "A kernel filled a GPU's own memory, and copies of it are not what the kernel wrote.",
        "Take the GPU out of use, reset it and run the probe again. If it stays, have the GPU replaced.",
        |failure| came_to(failure, cause::DATA_MISMATCH),
    ),
    RunRow::of(
        (cause::HANG, Verdict::Broken),
        Some("driver/call-does-not-return"),
        "A call or a kernel on a GPU that was checked by itself does not end, also in a fresh process.",
        "Read the kernel log for Xid and NVRM messages and reset the GPU (`nvidia-smi --gpu-reset`) or reboot. A call \
         that keeps hanging is for the vendor, with `nvidia-bug-report.sh`.",
        |failure| came_to(failure, cause::HANG),
    ),
    RunRow::of(
        (cause::PROCESS_DIES, Verdict::Broken),
        Some("driver/process-dies-in-call"),
        "The process that checks a GPU by itself is killed or crashes, also fresh.",
        "See which libcuda is loaded (`--json`, cuda.library) and whether it is the kernel driver's own version; then \
         reinstall the driver. Out-of-memory kills stand in the kernel log.",
        |failure| came_to(failure, cause::PROCESS_DIES),
    ),
    RunRow::of(
        (cause::ACCESS_FAILS, Verdict::Broken),
        None,
        "A kernel or a copy in a GPU's own memory returns an error, also in a fresh process.",
        "Look the code up by its name in this report, read the kernel log for an Xid of the same time, and reset the \
         GPU.",
        |failure| came_to(failure, cause::ACCESS_FAILS),
    ),
    RunRow::of(
        (cause::JIT_MISSING, Verdict::Unknown),
        Some("cuda/ptx-jit-compiler-not-found"),
        "The driver's compiler is missing (221) or switched off (223), so no kernel could be run on a GPU by itself.",
        "Install libnvidia-ptxjitcompiler.so.1 of the driver's version; in a container give the image the `compute` \
         and `utility` capabilities. With 223 take `CUDA_DISABLE_PTX_JIT` out of the environment.",
        |failure| returned(failure, &[221, 223]),
    ),
    RunRow::of(
        (cause::PTX_TOO_NEW, Verdict::Unknown),
        Some("cuda/unsupported-ptx-version"),
        "The driver does not take the agent's kernels (218 or 222), so none could be run on a GPU by itself.",
        "Update the driver: the agent's kernels need one that knows their PTX version.",
        |failure| returned(failure, &[218, 222]),
    ),
];

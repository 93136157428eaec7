//! What stops a run before any pair is looked at, by the step that failed and its code; and what is only worth a note.

use super::super::cause;
use super::Named;
use crate::report::{Failure, ReasonCode};
use crate::verdict::Verdict;

pub(in crate::verdict) struct RunRow {
    pub(in crate::verdict) named: Named,
    pub(in crate::verdict) applies: fn(&Failure) -> bool,
}

impl RunRow {
    pub(super) const fn of(
        (cause, verdict): (&'static str, Verdict),
        record: Option<&'static str>,
        means: &'static str,
        fix: &'static str,
        applies: fn(&Failure) -> bool,
    ) -> Self {
        Self {
            named: Named {
                cause,
                verdict,
                record,
                means,
                fix,
            },
            applies,
        }
    }
}

/// Without a run nothing can be told.
const fn row(
    cause: &'static str,
    record: &'static str,
    means: &'static str,
    fix: &'static str,
    applies: fn(&Failure) -> bool,
) -> RunRow {
    RunRow::of((cause, Verdict::Unknown), Some(record), means, fix, applies)
}

/// The first that applies names the cause.
pub(in crate::verdict) const RUN: &[RunRow] = &[
    row(
        cause::LIBRARY_MISSING,
        "driver/libcuda-not-found",
        "libcuda.so.1 is not found: no driver is installed here, or the container was not given one.",
        "Install the NVIDIA driver; in a container start it with `--gpus all` (NVIDIA Container Toolkit). Where the \
         library lies elsewhere, name its folder in LD_LIBRARY_PATH.",
        |failure| {
            failure.step == Failure::LOAD_CUDA && failure.reason_code == Some(ReasonCode::LibraryNotFound)
        },
    ),
    row(
        cause::STUB_LIBRARY,
        "cuda/stub-library-loaded",
        "The library found is the toolkit's stub for linking, not the driver (34).",
        "Take the toolkit's `stubs` folder out of LD_LIBRARY_PATH and /etc/ld.so.conf.d; the driver's own \
         libcuda.so.1 is then found.",
        |failure| failure.code == Some(34),
    ),
    row(
        cause::NO_DEVICE,
        "cuda/no-device",
        "The driver finds no GPU (100).",
        "See `nvidia-smi -L` and `lspci -d 10de:`; check CUDA_VISIBLE_DEVICES, and in a container that it was given \
         GPUs (`--gpus all`).",
        |failure| failure.code == Some(100),
    ),
    row(
        cause::SYSTEM_NOT_READY,
        "cuda/system-not-yet-initialized",
        "The driver says that the system is not ready (802): on NVSwitch boards the fabric is not up.",
        "Start the fabric manager of the driver's own version (`systemctl enable --now nvidia-fabricmanager`), wait \
         for it, and try again.",
        |failure| failure.code == Some(802),
    ),
    row(
        cause::SYSTEM_DRIVER_MISMATCH,
        "cuda/system-driver-mismatch",
        "libcuda and the kernel's driver are of different versions (803).",
        "Reboot after a driver update, or load the new module; in a container let the toolkit give the host's own \
         libcuda and take a compat library out of the way.",
        |failure| failure.code == Some(803),
    ),
    row(
        cause::COMPATIBILITY_NOT_SUPPORTED,
        "cuda/forward-compatibility-unsupported",
        "A forward-compatible libcuda (cuda-compat) was loaded on a GPU that does not support it (804).",
        "Take cuda-compat out of LD_LIBRARY_PATH so that the driver's own libcuda.so.1 is used, or update the driver.",
        |failure| failure.code == Some(804),
    ),
    row(
        cause::DRIVER_TOO_OLD,
        "cuda/insufficient-driver",
        "The driver is older than what was asked of it (35 or 36).",
        "Update the NVIDIA driver of the host.",
        |failure| matches!(failure.code, Some(35 | 36)),
    ),
    row(
        cause::MEMORY_FULL,
        "cuda/out-of-memory-at-context-creation",
        "A GPU has no memory left (2).",
        "Run the probe when the GPUs are free; `nvidia-smi` lists who holds memory.",
        |failure| failure.code == Some(2),
    ),
    row(
        cause::GPU_BUSY,
        "driver/gpu-is-busy",
        "A GPU is in use or unavailable (46).",
        "Run the probe when nothing else uses the GPUs, and look at the compute mode (`nvidia-smi -q -d COMPUTE`).",
        |failure| failure.code == Some(46),
    ),
    row(
        cause::INITIALIZATION_FAILS,
        "cuda/initialization-error",
        "The driver does not start up (3, 101, 999 or a code that nobody knows).",
        "See that the kernel module is loaded and its devices exist (`lsmod`, `ls -l /dev/nvidia*`), that \
         nvidia-uvm is among them, and what the kernel log says; then load the driver again or reboot.",
        |failure| failure.step == "cuInit" && failure.code.is_some(),
    ),
    RunRow {
        named: Named {
            cause: cause::DRIVER_UNRESPONSIVE,
            verdict: Verdict::Broken,
            record: Some("driver/call-does-not-return"),
            means: "A call of CUDA or NVML did not return within 30 s, twice, in two fresh processes.",
            fix: "Read the kernel log for Xid and NVRM messages, take the node out of use and reboot it; a call that \
                  keeps hanging is for the vendor, with `nvidia-bug-report.sh`.",
        },
        applies: |failure| failure.cause.as_deref() == Some(cause::DRIVER_UNRESPONSIVE),
    },
    row(
        cause::HANG,
        "driver/call-does-not-return",
        "A driver call does not end, and no pair could be looked at.",
        "Read the kernel log for Xid and NVRM messages, and reboot; a call that keeps hanging is for the vendor, with \
         `nvidia-bug-report.sh`.",
        |failure| failure.cause.as_deref() == Some(cause::HANG),
    ),
    row(
        cause::PROCESS_DIES,
        "driver/process-dies-in-call",
        "The process that opens the driver is killed or crashes, twice, and no pair could be looked at.",
        "See which libcuda is loaded (`--json`, cuda.library) and whether it is the kernel driver's own version; then \
         reinstall the driver.",
        |failure| failure.cause.as_deref() == Some(cause::PROCESS_DIES),
    ),
];

pub(in crate::verdict) const NOTES: &[RunRow] = &[
    row(
        cause::NVML_MISMATCH,
        "nvml/driver-library-version-mismatch",
        "NVML does not work: library and kernel module are of different versions (18). Its facts are missing.",
        "Reboot after a driver update, or load the new module (`rmmod`, `modprobe nvidia`).",
        |failure| failure.reason_code == Some(ReasonCode::VersionMismatch),
    ),
    row(
        cause::NVML_MISSING,
        "nvml/library-not-found",
        "NVML (libnvidia-ml.so.1) is not found. Its facts are missing; the checks need none of them.",
        "Install the driver's NVML; in a container add the `utility` capability (`NVIDIA_DRIVER_CAPABILITIES=compute,utility`).",
        |failure| {
            matches!(
                failure.reason_code,
                Some(ReasonCode::LibraryNotFound | ReasonCode::LibraryNotLoaded)
            )
        },
    ),
];

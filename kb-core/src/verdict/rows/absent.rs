//! GPUs that should have been looked at and are not there.

use super::super::cause;
use super::{Named, broken};
use crate::report::Absence;
use crate::verdict::Verdict;

/// What an absence means. `None`: it is information.
pub(in crate::verdict) fn of_absence(absence: Absence) -> Option<&'static Named> {
    match absence {
        Absence::Missing => Some(&DEVICE_MISSING),
        Absence::Lost => Some(&broken::GPU_LOST),
        Absence::WithoutDriver => Some(&WITHOUT_DRIVER),
        Absence::NotLookedAt | Absence::Unrecognised => Some(&NOT_LOOKED_AT),
        Absence::NotGranted | Absence::OtherDriver | Absence::Excluded | Absence::Mig => None,
    }
}

/// The rows that no pair has, worst first.
pub(super) const ROWS: &[&Named] = &[&DEVICE_MISSING, &NOT_LOOKED_AT, &WITHOUT_DRIVER];

const DEVICE_MISSING: Named = Named {
    cause: cause::DEVICE_MISSING,
    verdict: Verdict::Broken,
    record: Some("cuda/invalid-device-ordinal"),
    means: "A GPU that was asked for (`--devices`), or one of those that the node should have (`--expect gpus=N`), is not there.",
    fix: "Compare `nvidia-smi -L` with `lspci -d 10de:` and look for Xid 79 in the kernel log: a GPU that left the bus \
          needs a power cycle. Programs that get this list in CUDA_VISIBLE_DEVICES see the GPUs before the missing one alone.",
};

const NOT_LOOKED_AT: Named = Named {
    cause: cause::GPU_NOT_LOOKED_AT,
    verdict: Verdict::Unknown,
    record: None,
    means: "The driver has a GPU that could not be looked at.",
    fix: "Look at it by itself (`--devices` with its number); where NVML is missing, install it, so that all GPUs of \
          the node are listed.",
};

const WITHOUT_DRIVER: Named = Named {
    cause: cause::GPU_WITHOUT_DRIVER,
    verdict: Verdict::Degraded,
    record: Some("driver/gpu-lost-at-probe"),
    means: "A GPU is on the bus and no driver has it: it failed when the driver started it, or this driver does not support its model.",
    fix: "Read what the kernel log says of its address when the driver was loaded (`dmesg | grep -i nvrm`); `--expect \
          gpus=N` makes a fault of it where the node must have N GPUs.",
};

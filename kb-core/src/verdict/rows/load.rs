//! What minutes of load can show: the causes of [`crate::report::Load::findings`], worst first.

use super::super::cause;
use super::Named;
use crate::verdict::Verdict;

const fn broken(
    cause: &'static str,
    record: Option<&'static str>,
    means: &'static str,
    fix: &'static str,
) -> Named {
    Named {
        cause,
        verdict: Verdict::Broken,
        record,
        means,
        fix,
    }
}

const fn degraded(
    cause: &'static str,
    record: Option<&'static str>,
    means: &'static str,
    fix: &'static str,
) -> Named {
    Named {
        verdict: Verdict::Degraded,
        ..broken(cause, record, means, fix)
    }
}

pub(in crate::verdict) const GPU_LOST: Named = broken(
    cause::GPU_LOST,
    Some("xid/79-gpu-has-fallen-off-the-bus"),
    "A GPU stopped answering on the bus while it was loaded.",
    "Look for Xid 79 in the kernel log, at the power cables and the seat of the board; it comes back with a power cycle at best. \
     One that falls off under load again is for the vendor.",
);

pub(in crate::verdict) const WRONG_ARITHMETIC: Named = broken(
    cause::WRONG_ARITHMETIC,
    None,
    "A compute kernel without any memory to read came to a checksum that is not the one that the host computed.",
    "Take the GPU out of use and have it replaced: its arithmetic is wrong, and jobs on it get wrong results without an error. \
     Note the report for the vendor.",
);

pub(in crate::verdict) const DATA_MISMATCH: Named = broken(
    cause::DATA_MISMATCH,
    Some("p2p/peer-data-corrupted"),
    "What a GPU got under load, from host memory or from another GPU, is not what was sent.",
    "Take the GPU out of use, read `nvidia-smi nvlink -e` (data from another GPU) and `nvidia-smi -q -d ECC,PCIE`, reset it and admit \
     the node again. If it stays, have bridge, cable or GPU replaced. Where the data came from host memory, test that memory, too.",
);

pub(in crate::verdict) const ECC_ERROR: Named = broken(
    cause::ECC_ERROR,
    Some("cuda/uncorrectable-ecc-error"),
    "A GPU's memory had an error under load that ECC could not correct (code 214, or the counter rose).",
    "Reset the GPU (`nvidia-smi --gpu-reset -i INDEX`), read `nvidia-smi -q -d ECC,ROW_REMAPPER` and admit the node again: \
     errors that come back, or a failed row remapping, mean that the GPU has to be replaced.",
);

pub(in crate::verdict) const NVLINK_ERROR: Named = broken(
    cause::NVLINK_ERROR,
    Some("cuda/uncorrectable-nvlink-error"),
    "Using a GPU under load returned an error of an NVLink (220 or 226).",
    "Read `nvidia-smi nvlink -e` and the kernel log, and reset the GPU. Errors that come back mean service for bridge, \
     baseboard or GPU.",
);

pub(in crate::verdict) const XID_FAULT: Named = broken(
    cause::XID_FAULT,
    None,
    "The driver wrote an Xid, an SXid or a fatal line about a GPU during the run, and its record makes it a fault of the node.",
    "Do what the record of the number says, and admit the node again.",
);

pub(in crate::verdict) const HANG: Named = broken(
    cause::HANG,
    Some("driver/call-does-not-return"),
    "Work or a driver call under load did not end in its time.",
    "Read the kernel log for Xid and NVRM messages, reset the GPU or reboot, and admit the node again. A hang that comes back \
     is for the vendor, with `nvidia-bug-report.sh`.",
);

pub(in crate::verdict) const PROCESS_DIES: Named = broken(
    cause::PROCESS_DIES,
    Some("driver/process-dies-in-call"),
    "The process that loads the GPUs was killed or crashed.",
    "Out-of-memory kills stand in the kernel log; else see which libcuda is loaded (`--json`, cuda.library), reinstall the \
     driver and admit the node again.",
);

pub(in crate::verdict) const LOAD_FAILS: Named = broken(
    cause::LOAD_FAILS,
    None,
    "A kernel or a copy under load returned an error.",
    "Look the code up by its name in this report, read the kernel log for an Xid of the same time, reset the GPU and admit the \
     node again.",
);

pub(in crate::verdict) const LOAD_INCOMPLETE: Named = Named {
    cause: cause::LOAD_INCOMPLETE,
    verdict: Verdict::Unknown,
    record: None,
    means: "The load could not be made on every GPU for all of its time, or what it should show could not be read.",
    fix: "Stop what else uses the GPUs, run it as root where the kernel log can be read (in a container, give it /dev/kmsg), with \
          enough time (--timeout), and see the reason.",
};

pub(in crate::verdict) const XID_WARNING: Named = degraded(
    cause::XID_WARNING,
    None,
    "The driver wrote an Xid or an SXid during the run that its record makes a warning, or that has no record.",
    "Read the line in the report's logs, do what its record says, and admit the node again.",
);

pub(in crate::verdict) const ROWS_REMAPPED: Named = degraded(
    cause::ROWS_REMAPPED,
    Some("xid/63-row-remapping-event"),
    "Rows of a GPU's memory were remapped under load.",
    "Reset the GPU, so that the remapping takes effect, and admit the node again. More rows each time mean that the memory is \
     failing.",
);

pub(in crate::verdict) const LINK_ERRORS: Named = degraded(
    cause::LINK_ERRORS,
    Some("nvlink/pair-slower-than-its-peers"),
    "Links of a GPU sent again or recovered under load (NVLink, PCIe), and all data arrived.",
    "Reseat the board, the bridge or the cable, and admit the node again. Counters that rise again mean service.",
);

pub(in crate::verdict) const THROTTLED: Named = degraded(
    cause::THROTTLED,
    None,
    "Heat or the power supply held a GPU's clocks down under load. A power limit (`sw_power_cap`) does not count.",
    "Look at fans, airflow, inlet temperature, heat sink and power cables of the GPU, and admit the node again.",
);

pub(in crate::verdict) const SLOWS_DOWN: Named = degraded(
    cause::SLOWS_DOWN,
    None,
    "A GPU's rate at the end of the load was clearly lower than at its begin.",
    "Compare temperature, power and clocks at the begin and at the end in the report: heat, a power supply that gives less, or a link \
     that was trained anew.",
);

pub(in crate::verdict) const SLOWER_THAN_SISTERS: Named = degraded(
    cause::SLOWER_THAN_SISTERS,
    None,
    "A GPU computes clearly more slowly under load than the GPUs of the same model beside it.",
    "Compare its clocks, temperature and power limit (`nvidia-smi -q -d CLOCK,POWER`) with theirs; if settings are alike, have \
     the GPU looked at.",
);

pub(in crate::verdict) const SLOWER_THAN_BEFORE: Named = degraded(
    cause::SLOWER_THAN_BEFORE,
    None,
    "A GPU reaches clearly less under load than in an earlier good run of the node.",
    "Look at what has changed since: driver, power limit, cooling, slot and links of the GPU. Where the change is wanted, remove \
     `last-admit.json` from the state folder and admit the node again.",
);

/// All of them, worst first.
pub(in crate::verdict) const ROWS: &[&Named] = &[
    &GPU_LOST,
    &WRONG_ARITHMETIC,
    &DATA_MISMATCH,
    &ECC_ERROR,
    &NVLINK_ERROR,
    &XID_FAULT,
    &HANG,
    &PROCESS_DIES,
    &LOAD_FAILS,
    &LOAD_INCOMPLETE,
    &XID_WARNING,
    &ROWS_REMAPPED,
    &LINK_ERRORS,
    &THROTTLED,
    &SLOWS_DOWN,
    &SLOWER_THAN_SISTERS,
    &SLOWER_THAN_BEFORE,
];

//! Lines of the kernel about the host itself: processors, memory, the bus as a whole. They are about no GPU, and nothing that ran
//! meanwhile shows that the node is sound.

use super::line::{is_of_process, without_stamp};

/// Where a line begins in front of these words, if not at once: the kernel's parts name themselves.
const PARTS: [&str; 5] = ["watchdog: ", "NMI watchdog: ", "mce: ", "rcu: ", "INFO: "];
/// How the lines begin.
const STARTS: [&str; 5] = [
    "BUG: soft lockup - CPU#",
    "Watchdog detected hard LOCKUP on cpu",
    "Kernel panic - not syncing: ",
    "NMI: PCI system error (SERR)",
    "NMI: IOCK error",
];
/// Bit of a bank's status that says that the error was not corrected (Intel SDM volume 3, `IA32_MCi_STATUS.UC`).
const NOT_CORRECTED: u64 = 1 << 61;

/// Whether a message of the kernel, with its time at most in front of it, tells of a failure of the host.
pub fn is_host_failure(message: &str) -> bool {
    let message = without_stamp(message);
    if is_of_process(message) {
        return false;
    }
    let mut rest = message;
    while let Some(behind) = PARTS.iter().find_map(|part| rest.strip_prefix(part)) {
        rest = behind;
    }
    STARTS.iter().any(|start| rest.starts_with(start))
        || is_machine_check(rest)
        || is_memory_error(rest)
        || is_reported_memory_error(rest)
        || is_stall(rest)
}

/// `[Hardware Error]: CPU 3: Machine Check: 0 Bank 4: be00000000800400`.
fn is_machine_check(message: &str) -> bool {
    let Some(error) = message.strip_prefix("[Hardware Error]: CPU ") else {
        return false;
    };
    let status = error
        .split_once(": Machine Check")
        .and_then(|(_, rest)| rest.split_once(" Bank "))
        .and_then(|(_, rest)| rest.split_once(": "));
    status.is_some_and(|(_, status)| {
        let digits = status.split(' ').next().unwrap_or_default();
        // What cannot be read may be one.
        u64::from_str_radix(digits, 16).map_or(true, |status| status & NOT_CORRECTED != 0)
    })
}

/// `EDAC MC0: 1 UE memory read error on …`.
fn is_memory_error(message: &str) -> bool {
    let error = message
        .strip_prefix("EDAC MC")
        .and_then(|rest| rest.split_once(": "));
    error.is_some_and(|(_, error)| {
        error
            .split_once(' ')
            .is_some_and(|(count, error)| count.parse::<u32>().is_ok() && error.starts_with("UE "))
    })
}

/// `{2}[Hardware Error]:   error_type: 3, multi-bit ECC`, as the kernel prints what the firmware reports.
fn is_reported_memory_error(message: &str) -> bool {
    const NOT_CORRECTED: [&str; 3] = [
        "3, multi-bit ECC",
        "5, multi-symbol chipkill ECC",
        "14, scrub uncorrected error",
    ];
    let error = message
        .split_once("[Hardware Error]: ")
        .and_then(|(_, rest)| rest.trim_start().strip_prefix("error_type: "));
    error.is_some_and(|kind| NOT_CORRECTED.contains(&kind.trim_end()))
}

/// `rcu_sched self-detected stall on CPU`, `rcu_preempt detected stalls on CPUs/tasks:`.
fn is_stall(message: &str) -> bool {
    let stall = message.strip_prefix("rcu_").and_then(|rest| rest.split_once(' '));
    stall.is_some_and(|(_, stall)| {
        stall.starts_with("self-detected stall on CPU")
            || stall.starts_with("detected stalls on ")
            || stall.starts_with("detected expedited stalls on ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_failing_host_are_told_from_those_of_every_boot() {
        for line in [
            "[  812.501] mce: [Hardware Error]: CPU 3: Machine Check Exception: 5 Bank 4: be00000000800400",
            "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: fe00000000800400 ",
            "[  812.501] EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0)",
            "[  812.501] {2}[Hardware Error]:   error_type: 3, multi-bit ECC",
            "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [nvidia-smi:4711]",
            "NMI watchdog: Watchdog detected hard LOCKUP on cpu 3",
            "rcu: INFO: rcu_sched self-detected stall on CPU",
            "INFO: rcu_preempt detected stalls on CPUs/tasks:",
            "Kernel panic - not syncing: Fatal machine check",
            "NMI: PCI system error (SERR) for reason a1 on CPU 0.",
        ] {
            assert!(is_host_failure(line), "{line}");
        }
        for line in [
            "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: 8c00004000010093",
            "mce: [Hardware Error]: Machine check events logged",
            "{2}[Hardware Error]:   error_type: 2, single-bit ECC",
            "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
            "EDAC MC: Ver: 3.0.0",
            "rcu: Hierarchical RCU implementation.",
            "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
            "Kernel panic[4711]: segfault at 0 ip 0",
            "Kernel command line: panic=10 quiet",
            "",
        ] {
            assert!(!is_host_failure(line), "{line}");
        }
    }
}

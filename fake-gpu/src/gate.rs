//! What every call from outside passes: it is counted, faults of calls happen here, and no panic gets out.

use crate::{
    calls,
    driver::Code,
    machine::{self, Machine},
    nvml,
    scenario::{CallEffect, Counted},
};
use rustix::time::{ClockId, clock_gettime};
use std::{
    fs::OpenOptions,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

/// Calls of this process, by place in [`calls::NAMES`].
static OWN_CALLS: [AtomicU64; calls::NAMES.len()] = [const { AtomicU64::new(0) }; calls::NAMES.len()];

/// Runs a driver function: gives its `CUresult`.
pub(crate) fn driver(name: &'static str, body: impl FnOnce(&'static Machine) -> Result<(), Code>) -> i32 {
    pass(name, Code::UNKNOWN.0, |machine| match body(machine) {
        Ok(()) => Code::SUCCESS.0,
        Err(code) => code.0,
    })
}

/// Runs a driver function that needs `cuInit` before it.
pub(crate) fn after_init(name: &'static str, body: impl FnOnce(&'static Machine) -> Result<(), Code>) -> i32 {
    driver(name, |machine| {
        if !machine.cuda_ready.load(Ordering::Acquire) {
            return Err(Code::NOT_INITIALIZED);
        }
        body(machine)
    })
}

/// Runs an NVML function: gives its `nvmlReturn_t`.
pub(crate) fn nvml(name: &'static str, body: impl FnOnce(&'static Machine) -> Result<(), nvml::Code>) -> i32 {
    pass(name, nvml::Code::UNKNOWN.0, |machine| match body(machine) {
        Ok(()) => nvml::Code::SUCCESS.0,
        Err(code) => code.0,
    })
}

/// Runs an NCCL function: gives its `ncclResult_t`.
pub(crate) fn nccl(name: &'static str, body: impl FnOnce(&'static Machine) -> i32) -> i32 {
    /// `ncclInternalError`
    const INTERNAL_ERROR: i32 = 3;
    pass(name, INTERNAL_ERROR, body)
}

/// Runs an NVML function that needs `nvmlInit` before it.
pub(crate) fn nvml_after_init(
    name: &'static str,
    body: impl FnOnce(&'static Machine) -> Result<(), nvml::Code>,
) -> i32 {
    nvml(name, |machine| {
        if machine.nvml_users.load(Ordering::Acquire) == 0 {
            return Err(nvml::Code::UNINITIALIZED);
        }
        body(machine)
    })
}

fn pass(name: &'static str, unknown: i32, body: impl FnOnce(&'static Machine) -> i32) -> i32 {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let Some(machine) = machine::get() else {
            return unknown;
        };
        machine.time.call(name, &machine.scenario.speed);
        match due_fault(machine, name) {
            Some(CallEffect::Return(code)) => code,
            Some(CallEffect::Spoil { code, .. }) => {
                machine.spoil_current(Code(code));
                code
            }
            Some(CallEffect::Hang) => loop {
                std::thread::park();
            },
            Some(CallEffect::Abort) => std::process::abort(),
            Some(CallEffect::Print) => {
                println!("fake-gpu: {name}");
                body(machine)
            }
            None => body(machine),
        }
    }));
    outcome.unwrap_or_else(|_| {
        eprintln!("fake-gpu: {name} panicked; this is a defect of the stand-in");
        unknown
    })
}

/// Counts a launch where launches of the kernel are counted, and says which fault it meets.
pub(crate) fn launched(machine: &Machine, kernel: &str) -> Result<(), Code> {
    let effect = calls::kernel(kernel).and_then(|name| due_fault(machine, name));
    match effect {
        Some(CallEffect::Return(code)) => Err(Code(code)),
        Some(CallEffect::Spoil { code, .. }) => {
            machine.spoil_current(Code(code));
            Err(Code(code))
        }
        Some(CallEffect::Hang) => loop {
            std::thread::park();
        },
        Some(CallEffect::Abort) => std::process::abort(),
        Some(CallEffect::Print) | None => Ok(()),
    }
}

/// Counts the call and says which fault it meets.
fn due_fault(machine: &Machine, name: &'static str) -> Option<CallEffect> {
    let place = calls::place(name)?;
    let own = OWN_CALLS.get(place)?.fetch_add(1, Ordering::Relaxed);
    let all = machine.calls.add_one(place * size_of::<u64>());
    append_lines(machine, name, all + 1);
    let due = machine.scenario.call_faults.iter().find(|fault| {
        let before = match fault.counted {
            Counted::Process => own,
            Counted::Machine => all,
        };
        let hit = before.checked_sub(fault.after);
        fault.names(name)
            && hit.is_some_and(|hit| fault.times.is_none_or(|times| hit < times))
            && concerns(machine, fault.effect)
    });
    due.map(|fault| fault.effect)
}

fn concerns(machine: &Machine, effect: CallEffect) -> bool {
    match effect {
        CallEffect::Spoil { gpu, .. } => machine.current_gpu() == Some(gpu),
        _ => true,
    }
}

/// Writes the lines that are due with this call of a function, the how-manieth it may be.
fn append_lines(machine: &Machine, name: &str, call: u64) {
    let due = machine.scenario.log.iter();
    for line in due.filter(|line| line.after_call == name && line.times == call) {
        let now = clock_gettime(ClockId::Monotonic);
        let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
        let text = line.text.replace("{us}", &microseconds.to_string());
        let file = OpenOptions::new().append(true).create(true).open(&line.file);
        if let Err(why) = file.and_then(|mut file| writeln!(file, "{text}")) {
            eprintln!("fake-gpu: {}: {why}", line.file.display());
        }
    }
}

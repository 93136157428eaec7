//! Nodes of which only load shows how they are: healthy ones with the noise of real ones, and faulty ones. Everything of a
//! node follows from its seed.

use super::{
    CallEffect, CallFault, Change, Condition, Counted, Gpu, KernelEffect, KernelFault, LinkErrors, LogLine,
    Scenario, Speed,
};
use std::path::Path;

/// The kernel with which the load begins.
const KERNEL: &str = "burn";
/// The same among the calls that scenarios count.
const LAUNCH: &str = "kernel burn";
/// Multiprocessors of a GPU: few, so that a launch is quick.
const MULTIPROCESSORS: u32 = 1;

/// A fault that only load shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnderLoad {
    /// One multiply-add of one launch is wrong.
    WrongArithmetic,
    /// Clocks fall, with a reason that comes from heat.
    Heat,
    PowerBrake,
    /// An error of memory that ECC cannot correct.
    Ecc,
    /// The driver calls it that in the log alone.
    Xid,
    /// A call returns an error, and the context is spoiled.
    Spoiled,
    /// NVLink sends again.
    Links,
    /// The kernel takes longer after a while.
    Slows,
    /// The kernel takes longer than on the GPU beside it from the start.
    Slow,
    /// Rows of memory are remapped.
    Rows,
}

impl UnderLoad {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::WrongArithmetic,
        Self::Heat,
        Self::PowerBrake,
        Self::Ecc,
        Self::Xid,
        Self::Spoiled,
        Self::Links,
        Self::Slows,
        Self::Slow,
        Self::Rows,
    ];
}

/// `SplitMix64`: a sequence of numbers from a seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `from..to`.
    fn between(&mut self, from: u32, to: u32) -> u32 {
        let span = u64::from(to.saturating_sub(from).max(1));
        from + (self.next() % span) as u32
    }

    /// One of some.
    fn pick<T: Copy, const N: usize>(&mut self, from: [T; N]) -> Option<T> {
        let place = self.next() % (N as u64).max(1);
        from.into_iter().nth(place as usize)
    }
}

impl Scenario {
    /// Two healthy H200, whose kernels differ by a few per cent, that get warm under load and meet their power cap, with
    /// corrected errors and an Xid of an application.
    pub fn healthy_under_load(seed: u64, log: &Path) -> Self {
        let mut dice = Dice(seed);
        let mut scenario = Self::healthy(2);
        scenario.name = format!("healthy-under-load-{seed}");
        // So that the bandwidths show in small copies, too, also in those of a kernel with few threads.
        scenario.speed = Speed {
            copy_ns: 100,
            kernel_ns: 400,
            local_load_ns: 1,
            peer_load_ns: 1,
            ..Speed::default()
        };
        for (place, gpu) in scenario.gpus.iter_mut().enumerate() {
            gpu.multiprocessors = MULTIPROCESSORS;
            let longer = 1.0 + f64::from(dice.between(0, 40)) / 1000.0;
            scenario.kernel_faults.push(slower(place, 0, longer));
            let mut loaded = gpu.condition.clone();
            loaded.clocks.sm_mhz -= dice.between(0, 120);
            loaded.power.draw_mw = 700_000 - dice.between(0, 40_000);
            // The power cap, which holds clocks down as it should.
            loaded.clocks.event_reasons = u64::from(dice.between(0, 2)) << 2;
            loaded.ecc.volatile_corrected += u64::from(dice.between(0, 3));
            loaded.pcie.replays += dice.between(0, 5);
            loaded.link_errors = vec![LinkErrors {
                link: dice.between(0, 18),
                crc: u64::from(dice.between(0, 20)),
                ..LinkErrors::default()
            }];
            gpu.changes.push(after(dice.between(1, 8), loaded));
        }
        let tired = dice.between(0, 2) as usize;
        // A GPU that warms up leaks more and computes a little more slowly.
        scenario.kernel_faults.push(slower(tired, 10, 1.03));
        if dice.between(0, 4) == 0 {
            let gpu = scenario.gpus.first().cloned();
            scenario
                .log
                .extend(gpu.map(|gpu| xid(log, &gpu, 43, "pid=7, name=python3, Ch 00000008")));
        }
        scenario
    }

    /// The same with one fault.
    pub fn faulty_under_load(seed: u64, fault: UnderLoad, log: &Path) -> Self {
        let mut scenario = Self::healthy_under_load(seed, log);
        scenario.name = format!("{fault:?}-under-load-{seed}");
        let mut dice = Dice(!seed);
        let place = dice.between(0, 2) as usize;
        let launch = dice.between(4, 10);
        let number = u64::from(launch);
        let mut change = |change: &dyn Fn(&mut Condition, &mut Dice)| {
            let Some(gpu) = scenario.gpus.get_mut(place) else {
                return;
            };
            let last = gpu.changes.last().map_or(&gpu.condition, |last| &last.condition);
            let mut worse = last.clone();
            change(&mut worse, &mut dice);
            gpu.changes.push(after(launch + 8, worse));
        };
        match fault {
            UnderLoad::WrongArithmetic => {
                let bit = dice.between(0, 32);
                scenario.kernel_faults.push(KernelFault {
                    times: Some(1),
                    effect: KernelEffect::WrongBit(bit),
                    ..slower(place, number, 1.0)
                });
            }
            UnderLoad::Heat => change(&|worse, dice| {
                worse.clocks.sm_mhz = dice.between(300, 1300);
                // Software or hardware slowdown for heat.
                worse.clocks.event_reasons |= 1 << dice.pick([5, 6]).unwrap_or(5);
            }),
            UnderLoad::PowerBrake => change(&|worse, _| {
                worse.clocks.sm_mhz = 900;
                worse.clocks.event_reasons |= 1 << 7 | 1 << 3;
            }),
            UnderLoad::Ecc => change(&|worse, dice| {
                worse.ecc.volatile_uncorrected += u64::from(dice.between(1, 4));
            }),
            UnderLoad::Links => change(&|worse, dice| {
                let link = dice.between(0, 18);
                let (replay, recovery) = dice.pick([(3, 0), (0, 1)]).unwrap_or((1, 0));
                worse.link_errors.push(LinkErrors {
                    link,
                    crc: 0,
                    replay,
                    recovery,
                });
            }),
            UnderLoad::Rows => change(&|worse, dice| {
                worse.remapped_rows.corrected += dice.between(1, 3);
            }),
            UnderLoad::Xid => {
                let said = [
                    (79, "pid=<unknown>, name=<unknown>, GPU has fallen off the bus."),
                    (
                        48,
                        "pid=<unknown>, An uncorrectable double bit error (DBE) has been detected",
                    ),
                    (74, "pid=<unknown>, NVLink: fatal error detected on link 3"),
                    (
                        119,
                        "pid=<unknown>, Timeout after 6s of waiting for RPC response from GPU0 GSP!",
                    ),
                ];
                let gpu = scenario.gpus.get(place).cloned();
                let line = gpu.zip(dice.pick(said)).map(|(gpu, (number, text))| LogLine {
                    times: u64::from(launch),
                    ..xid(log, &gpu, number, text)
                });
                scenario.log.extend(line);
            }
            UnderLoad::Spoiled => {
                let code = dice.pick([214, 719, 220, 700]).unwrap_or(719);
                scenario.call_faults.push(CallFault {
                    call: LAUNCH.into(),
                    after: number,
                    times: None,
                    counted: Counted::Machine,
                    effect: CallEffect::Spoil { gpu: place, code },
                });
            }
            UnderLoad::Slows => {
                let by = 1.3 + f64::from(dice.between(0, 100)) / 100.0;
                scenario.kernel_faults.push(slower(place, number + 4, by));
            }
            UnderLoad::Slow => {
                let by = 1.2 + f64::from(dice.between(0, 100)) / 100.0;
                scenario.kernel_faults.push(slower(place, 0, by));
            }
        }
        scenario
    }
}

fn slower(gpu: usize, after: u64, by: f64) -> KernelFault {
    KernelFault {
        kernel: KERNEL.into(),
        gpu,
        after,
        times: None,
        effect: KernelEffect::Slower(by),
    }
}

fn after(launches: u32, condition: Condition) -> Change {
    Change {
        after_call: LAUNCH.into(),
        times: u64::from(launches),
        condition,
    }
}

fn xid(log: &Path, gpu: &Gpu, number: u32, message: &str) -> LogLine {
    LogLine {
        after_call: LAUNCH.into(),
        times: 3,
        ..LogLine::xid(log, gpu, number, message)
    }
}

//! What healthy nodes show now and then, and what says nothing against them.

use kb_core::report::{Fact, Report, fact_name};
use serde_json::{Value, json};

use super::plan::DAYS;
use super::symptoms::Moment;
use crate::random::Random;

/// One in so many nodes has each of them; guesses of what a fleet of some age shows, and not measured.
const APPLICATION_XID: usize = 30;
const CORRECTED_ERRORS: usize = 20;
const PCIE_REPLAYS: usize = 40;
const REMAPPED_ONCE: usize = 60;
const POWER_CAP: usize = 30;
const LINK_DOWN_ONCE: usize = 200;
const MISSES_A_DAY: usize = 50;

/// What a job's program does to itself.
const XIDS: [&str; 3] = [
    "13, pid=41777, name=python3, Graphics SM Warp Exception on (GPC 4, TPC 2, SM 1): Out Of Range Address",
    "31, pid=41777, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_8 faulted @ 0x7f2c_1c000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    "43, pid=41777, name=python3, Ch 00000008",
];

/// Those of one node.
pub(super) struct Quirks {
    xid: Option<(usize, &'static str)>,
    corrected: u64,
    replays: u64,
    remapped: bool,
    power_cap: bool,
    link_down: Option<usize>,
    silent: Option<usize>,
    /// Degrees of the room and of its place in the rack.
    warmer: i64,
}

impl Quirks {
    pub(super) fn drawn(random: &mut Random) -> Self {
        let mut one_in = |many: usize| random.below(many) == 0;
        let has_xid = one_in(APPLICATION_XID);
        let (has_corrected, has_replays) = (one_in(CORRECTED_ERRORS), one_in(PCIE_REPLAYS));
        let (remapped, power_cap) = (one_in(REMAPPED_ONCE), one_in(POWER_CAP));
        let (has_link_down, is_silent) = (one_in(LINK_DOWN_ONCE), one_in(MISSES_A_DAY));
        let mut below = |bound: usize| u64::try_from(random.below(bound)).unwrap_or_default();
        let (corrected, replays) = (1 + below(6), 1 + below(20));
        let warmer = i64::try_from(below(12)).unwrap_or_default();
        let xid = XIDS.get(random.below(XIDS.len())).copied();
        let mut day = || random.below(DAYS);
        Self {
            xid: xid.filter(|_| has_xid).map(|xid| (day(), xid)),
            corrected: if has_corrected { corrected } else { 0 },
            replays: if has_replays { replays } else { 0 },
            remapped,
            power_cap,
            link_down: has_link_down.then(&mut day),
            silent: is_silent.then(&mut day),
            warmer,
        }
    }

    /// Whether the node sends nothing on that day: it was switched off, or had no network.
    pub(super) fn is_silent_on(&self, day: usize) -> bool {
        self.silent == Some(day)
    }

    /// Changes the report of a healthy moment; lines of the kernel log that are new.
    pub(super) fn apply(&self, report: &mut Report, moment: Moment) -> Vec<String> {
        let is_idle = moment.is_look;
        for gpu in &mut report.gpus {
            let mut change = |name: &str, change: &dyn Fn(&Value) -> Value| {
                if let Some(Fact {
                    value: Some(value), ..
                }) = gpu.facts.get_mut(name)
                {
                    *value = change(value);
                }
            };
            change(fact_name::TEMPERATURE_GPU_C, &|value| {
                let cooler = if is_idle { 8 } else { 0 };
                json!(value.as_i64().unwrap_or(40) + self.warmer - cooler)
            });
            if is_idle {
                change(fact_name::POWER_DRAW_W, &|_| json!(76.4));
            }
        }
        if let Some(gpu) = report.gpus.first_mut() {
            let mut set = |name: &str, value: Value| {
                if let Some(fact) = gpu.facts.get_mut(name) {
                    fact.value = Some(value);
                }
            };
            set(fact_name::ECC_VOLATILE_CORRECTED, json!(self.corrected));
            set(fact_name::PCIE_REPLAYS, json!(self.replays));
            if self.remapped {
                set(fact_name::REMAPPED_ROWS_CORRECTED, json!(1));
            }
            if self.power_cap && !is_idle {
                set(fact_name::THROTTLE_REASONS, json!(["sw_power_cap"]));
            }
        }
        let mut lines = Vec::new();
        if let Some((_, xid)) = self.xid.filter(|(day, _)| *day == moment.day && is_idle) {
            let address = report
                .gpus
                .first()
                .and_then(|gpu| gpu.pci_address.value.as_deref());
            let slot = address.unwrap_or("0000:19:00.0").trim_end_matches(".0");
            lines.push(format!("NVRM: Xid (PCI:{slot}): {xid}"));
        }
        if self.link_down == Some(moment.day) && is_idle {
            // A switch was updated.
            lines.push("mlx5_core 0000:5e:00.0 ens1f0np0: Link down".to_owned());
            lines.push("mlx5_core 0000:5e:00.0 ens1f0np0: Link up".to_owned());
        }
        lines
    }
}

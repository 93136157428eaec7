//! The reports of one node, one after the other, as its agent would send them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use kb_core::health::{Ledger, Look, Occurrence, read_message, tell_by};
use kb_core::policy::Policy;
use kb_core::report::{Fact, GpuIndex, LogExcerpt, Node as Named, Report, When, fact_name};
use kb_core::verdict::{Expect, judge};
use serde_json::json;
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::boards::Board;
use super::noise::{Machine, Noise};
use super::plan::{self, Node};
use super::quirks::Quirks;
use super::symptoms::{self, Moment};
use crate::random::Random;

/// What all nodes of a board share.
pub(super) struct Kind {
    template: Report,
    noise: Noise,
}

/// The boards, each with its template.
pub(super) fn kinds() -> Result<BTreeMap<Board, Kind>> {
    let read = |board: Board| {
        let template = board.template()?;
        let noise = Noise::of(board, &template);
        Ok((board, Kind { template, noise }))
    };
    Board::ALL.into_iter().map(read).collect()
}

/// A node as time goes on: its machine, what its kernel has written in this boot, its ledger.
pub(super) struct Life<'f> {
    at: usize,
    node: &'f Node,
    kind: &'f Kind,
    machine: Machine,
    quirks: Quirks,
    random: Random,
    ledger: Ledger,
    boot: usize,
    log: Vec<String>,
    seconds: u64,
}

impl<'f> Life<'f> {
    /// The same seed makes the same reports, whatever other nodes do.
    pub(super) fn new(
        at: usize,
        node: &'f Node,
        kinds: &'f BTreeMap<Board, Kind>,
        seed: u64,
    ) -> Result<Self> {
        let own = seed
            .wrapping_mul(0x0001_0000_0001)
            .wrapping_add(at as u64)
            .wrapping_add(1);
        let mut random = Random::new(own);
        let kind = kinds.get(&node.board).context("a board without a report")?;
        Ok(Self {
            at,
            node,
            kind,
            machine: Machine::drawn(&mut random),
            quirks: Quirks::drawn(&mut random),
            random,
            ledger: Ledger::default(),
            boot: 0,
            log: lines_of_boot(&kind.template),
            seconds: 60,
        })
    }

    /// The next report; nothing where the node is silent. `began` is the begin of the first day.
    pub(super) fn report(&mut self, moment: Moment, began: OffsetDateTime) -> Result<Option<Report>> {
        self.boot_if_updated(moment.day);
        let day = i64::try_from(moment.day).unwrap_or_default();
        // Nodes begin at different minutes; looks come half a day after runs.
        let minute = i64::try_from(self.at * 7 % 600).unwrap_or_default();
        let hours = if moment.is_look { 12 } else { 0 };
        let start = began + Duration::days(day) + Duration::hours(hours) + Duration::minutes(minute);
        let end = start + Duration::seconds(if moment.is_look { 2 } else { 20 });

        let mut report = self.kind.template.clone();
        self.identify(&mut report, moment, (start, end))?;
        if !moment.is_look {
            self.kind
                .noise
                .measure(&mut report, &self.machine, &mut self.random);
        }
        let mut lines = self.quirks.apply(&mut report, moment);
        if let Some(fault) = self.node.fault_on(moment.day) {
            lines.extend(symptoms::apply(
                fault,
                self.node.board,
                &mut report,
                moment,
                &mut self.random,
            ));
        }
        let events = self.write(&lines, end)?;
        report.logs = vec![LogExcerpt {
            source: "kmsg".to_owned(),
            when: When::Before,
            text: self.log.join("\n"),
        }];
        if moment.is_look {
            only_looked(&mut report);
        }
        judge(&mut report, Expect::Auto);
        self.tell(&mut report, events, end);
        let is_silent = self.quirks.is_silent_on(moment.day) && self.node.fault.is_none();
        Ok((!is_silent).then_some(report))
    }

    fn boot_if_updated(&mut self, day: usize) {
        let boot = self.node.boot_on(day);
        if boot != self.boot {
            self.boot = boot;
            self.log = lines_of_boot(&self.kind.template);
            self.seconds = 60;
        }
    }

    fn identify(
        &self,
        report: &mut Report,
        moment: Moment,
        (start, end): (OffsetDateTime, OffsetDateTime),
    ) -> Result<()> {
        let name = plan::name(self.at);
        let run = 2 * moment.day + usize::from(moment.is_look);
        report.report_id = format!("5eed0000-0000-4000-8000-{:08x}{run:04x}", self.at).parse()?;
        let boot = format!("b0070000-0000-4000-8000-{:08x}{:04x}", self.at, self.boot);
        report.node = Named {
            id: name.parse()?,
            hostname: Some(name.clone()),
            boot_id: Some(boot.clone()),
        };
        report.started_at = start.format(&Rfc3339)?;
        report.finished_at = end.format(&Rfc3339)?;
        let driver = self.node.driver_on(moment.day);
        for (fact, value, source) in [
            ("host.name", json!(name), "/proc/sys/kernel/hostname"),
            ("boot.id", json!(boot), "/proc/sys/kernel/random/boot_id"),
            (
                fact_name::DRIVER_VERSION,
                json!(driver),
                "/proc/driver/nvidia/version",
            ),
            (
                fact_name::NVML_DRIVER_VERSION,
                json!(driver),
                "nvmlSystemGetDriverVersion",
            ),
            (
                fact_name::BIOS_VERSION,
                json!(self.node.bios_on(moment.day)),
                "/sys/class/dmi/id/bios_version",
            ),
            ("infiniband.ports", network(), "/sys/class/infiniband"),
        ] {
            report.host.insert(fact.to_owned(), Fact::read(value, source));
        }
        for (index, gpu) in report.gpus.iter_mut().enumerate() {
            let uuid = format!("GPU-{:08x}-0000-4000-8000-{index:012x}", self.at);
            gpu.uuid = Fact::read(uuid.clone(), "cuDeviceGetUuid");
            for (fact, value) in [("nvml.uuid", json!(uuid)), ("gsp.version", json!(driver))] {
                gpu.facts.insert(fact.to_owned(), Fact::read(value, "nvml"));
            }
        }
        Ok(())
    }

    /// Puts new lines into the kernel log and reads what the ledger makes of them.
    fn write(&mut self, lines: &[String], at: OffsetDateTime) -> Result<Vec<Occurrence>> {
        let at = at.format(&Rfc3339)?;
        let mut events = Vec::new();
        for line in lines {
            self.seconds += 1 + u64::try_from(self.random.below(900)).unwrap_or_default();
            self.log.push(format!(
                "[{:5}.{:06}] {line}",
                self.seconds,
                self.random.below(1_000_000)
            ));
            events.extend(read_message(line).map(|event| Occurrence {
                event,
                at: at.clone(),
                boot_id: Some(format!(
                    "b0070000-0000-4000-8000-{:08x}{:04x}",
                    self.at, self.boot
                )),
                is_in_doubt: false,
            }));
        }
        Ok(events)
    }

    /// What the agent's daemon keeps from look to look.
    fn tell(&mut self, report: &mut Report, events: Vec<Occurrence>, now: OffsetDateTime) {
        let mut look = Look::of_all(report);
        look.events = events;
        self.ledger.look(&look);
        let policy = Policy::default();
        self.ledger.proof(report, &policy);
        let health = self.ledger.health(look.unread).about(true);
        tell_by(&policy, report, health, now);
    }
}

/// What the kernel of the real machine wrote before the run.
fn lines_of_boot(template: &Report) -> Vec<String> {
    let logs = template.logs.iter().filter(|log| log.when == When::Before);
    logs.flat_map(|log| log.text.lines()).map(str::to_owned).collect()
}

/// Two adapters, each with its port.
fn network() -> serde_json::Value {
    let port = |adapter: &str, address: &str| {
        json!({
            "adapter": adapter, "port": 1, "pci_address": address, "firmware": "28.43.1014", "state": "ACTIVE",
            "physical_state": "LinkUp", "rate": "400 Gb/sec (4X NDR)", "link_layer": "Ethernet",
        })
    };
    json!([port("mlx5_0", "0000:5e:00.0"), port("mlx5_1", "0000:9e:00.0")])
}

/// A look takes nothing of a GPU: no checks, and nothing measured.
fn only_looked(report: &mut Report) {
    report.measurements.clear();
    report.parts.clear();
    for direction in report.pairs.iter_mut().flat_map(|pair| &mut pair.directions) {
        direction.checks.clear();
    }
    for gpu in &mut report.gpus {
        gpu.facts
            .retain(|name, _| !name.starts_with("during.") && !name.starts_with("load."));
        if let Some(fact) = gpu.facts.get_mut(fact_name::THROTTLE_REASONS) {
            // What NVML says of a GPU that does nothing.
            fact.value = Some(json!(["gpu_idle"]));
        }
    }
}

/// Takes a GPU out of the report, with its pairs and its figures; those behind it move up.
pub(super) fn leave_out(report: &mut Report, gone: GpuIndex) {
    let moved = |gpu: GpuIndex| if gpu > gone { gpu - 1 } else { gpu };
    let at = usize::try_from(gone).unwrap_or_default();
    if at < report.gpus.len() {
        report.gpus.remove(at);
    }
    for gpu in report.gpus.iter_mut().skip(at) {
        gpu.cuda_ordinal = moved(gpu.cuda_ordinal);
        gpu.nvml_index = gpu.nvml_index.clone().map(moved);
    }
    report.pairs.retain(|pair| pair.a != gone && pair.b != gone);
    for pair in &mut report.pairs {
        (pair.a, pair.b) = (moved(pair.a), moved(pair.b));
        for direction in &mut pair.directions {
            (direction.initiator, direction.owner) = (moved(direction.initiator), moved(direction.owner));
        }
    }
    for measurement in &mut report.measurements {
        measurement
            .cells
            .retain(|cell| cell.source != Some(gone) && cell.destination != Some(gone));
        for cell in &mut measurement.cells {
            cell.source = cell.source.map(moved);
            cell.destination = cell.destination.map(moved);
        }
    }
    report
        .measurements
        .retain(|measurement| !measurement.cells.is_empty());
}

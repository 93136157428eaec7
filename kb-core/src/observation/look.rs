//! What a report's facts say of each GPU: every state as good, bad or not read, and the counts that only ever rise.

use serde_json::Value;

use super::bus::Bus;
use super::line::canonical;
use super::states::{JUDGED, bearing_of, number, nvml_fails, tells_nothing};
use super::{LineEvent, cause};
use crate::report::{
    Absence, AbsentGpu, Bearing, Fact, GapKind, Gpu, NODE, ReasonCode, Report, Unread, fact_name,
};

/// One look at a node.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// When, RFC 3339, UTC.
    pub at: String,
    /// The boot that the node is in.
    pub boot_id: Option<String>,
    /// PCI addresses of the GPUs that the driver lists, and of those that are lost.
    pub gpus: Vec<String>,
    /// PCI addresses of GPUs that are not listed for a known reason, such as another driver, or that nothing is known of.
    pub explained: Vec<String>,
    /// What the agent may see of the GPUs, where that may not be all: another value, another grant.
    pub view: Option<String>,
    /// Whether all GPUs of the node were looked at.
    pub scope: Scope,
    /// True where nothing confines the agent to some of the node's GPUs, as far as is known.
    pub sees_all: bool,
    /// What was written into the kernel log since the look before, in its order.
    pub events: Vec<Occurrence>,
    /// Lines of the kernel log that were gone before they were read.
    pub missed: Missed,
    /// What should have been read and could not.
    pub unread: Vec<Unread>,
    pub(crate) states: Vec<Reading>,
    pub(crate) counts: Vec<Count>,
    pub(crate) links: Vec<(String, u64)>,
    /// How many GPUs the node should have, where the operator said so.
    pub(crate) expected_gpus: Option<u64>,
    /// GPUs that do not say where they are.
    pub(crate) without_place: usize,
    /// Where the GPUs and other devices lie.
    pub bus: Bus,
}

/// Which GPUs a look was at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Those that were asked for (`--devices`, `CUDA_VISIBLE_DEVICES`), or it is not known which.
    #[default]
    Part,
    /// All that the agent can see.
    All,
}

/// Lines of the kernel log that nobody read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Missed {
    /// None that is known of.
    #[default]
    Nothing,
    /// The log was full before the first look of all: the agent came to a node that had been up for long.
    BeforeFirstLook,
    /// After an earlier look, in this boot or one before.
    BetweenLooks,
    /// An agent that read an earlier boot may have passed over some. That boot, where it is known.
    InEarlierBoot(Option<String>),
}

/// An event of the kernel log, with what the log knows of it.
#[derive(Debug, Clone)]
pub struct Occurrence {
    /// What happened.
    pub event: LineEvent,
    /// When, RFC 3339, UTC, as far as the log tells; else when it was read.
    pub at: String,
    /// The boot that it happened in.
    pub boot_id: Option<String>,
    /// It may have happened in an earlier boot, before anything was done about it.
    pub is_in_doubt: bool,
}

/// A state of a device as it was read. What could not be read is in [`Look::unread`], or is nothing that the GPU has.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) cause: &'static str,
    pub(crate) device: String,
    pub(crate) bad: Option<String>,
}

/// Uncorrected errors of a GPU's memory.
#[derive(Debug, Clone)]
pub(crate) struct Count {
    pub(crate) device: String,
    /// Since the driver was loaded.
    pub(crate) errors: u64,
    /// Whose life it is: another GPU may lie at the address later.
    pub(crate) uuid: Option<String>,
    /// In the GPU's life, where that could be read.
    pub(crate) lifetime: Option<u64>,
}

impl Look {
    /// What the facts of a report say. The events of the kernel log are added by whoever reads it.
    pub fn of(report: &Report) -> Self {
        let mut look = Self {
            at: report.finished_at.clone(),
            boot_id: report.node.boot_id.clone(),
            ..Self::default()
        };
        let view = report.host.get(fact_name::GPUS_VIEW);
        look.view = view.and_then(|view| Some(view.value.as_ref()?.as_str()?.to_owned()));
        let expected = report.host.get(fact_name::EXPECTED_GPUS);
        look.expected_gpus = expected.and_then(|expected| expected.value.as_ref()?.as_u64());
        let nvml = report.host.get(fact_name::NVML_DRIVER_VERSION);
        if let Some(gap) = nvml.and_then(|fact| fact.gap.as_ref()) {
            look.unread("nvml", &gap.reason);
        }
        if report.gpus.is_empty() {
            look.unread("gpus", "the driver lists no GPU that could be looked at");
        }
        for (index, gpu) in report.gpus.iter().enumerate() {
            look.gpu(index, gpu);
        }
        for gpu in &report.absent {
            look.absent(gpu);
        }
        look
    }

    /// What of the states of a report's GPUs should have been read and could not. Nothing where NVML was not asked, is not installed or
    /// is of another version than the driver: a note of the report tells that.
    pub(crate) fn unread_states(report: &Report) -> Vec<Unread> {
        let Some(version) = report.host.get(fact_name::NVML_DRIVER_VERSION) else {
            return Vec::new();
        };
        let mut look = Self::default();
        if version.value.is_none() {
            if let Some(gap) = version.gap.as_ref().filter(|gap| nvml_fails(gap)) {
                look.unread("nvml", &gap.reason);
            }
            return look.unread;
        }
        for (index, gpu) in report.gpus.iter().enumerate() {
            look.gpu(index, gpu);
        }
        look.unread
    }

    /// As [`Look::of`], of a report about all GPUs of the node: a lost GPU without an address is there again when NVML lists none.
    pub fn of_all(report: &Report) -> Self {
        let mut look = Self::of(report);
        look.scope = Scope::All;
        let is_lost = |state: &Reading| state.cause == cause::GPU_LOST && state.device == NODE;
        if look.unread.is_empty() && !look.states.iter().any(is_lost) {
            look.state(cause::GPU_LOST, NODE, None);
        }
        look
    }

    /// Whether a state was read as bad, or errors were counted.
    pub fn has_bad(&self) -> bool {
        self.bad().next().is_some() || self.counts.iter().any(|count| count.errors > 0)
    }

    pub(crate) fn bad(&self) -> impl Iterator<Item = (&'static str, Bearing, &str)> {
        self.bad_at()
            .map(|(cause, _, bearing, text)| (cause, bearing, text))
    }

    /// States that were read as bad: cause, device, what that means for the node, what is bad.
    pub(crate) fn bad_at(&self) -> impl Iterator<Item = (&'static str, &str, Bearing, &str)> {
        self.states.iter().filter_map(|state| {
            let bad = state.bad.as_deref()?;
            Some((state.cause, state.device.as_str(), bearing_of(state.cause), bad))
        })
    }

    /// Cause and device of each fault of this look that a later one did not read, good or bad. `now` is where a device is in the
    /// later look. What is said of no device cannot be read again.
    pub fn not_read_again<'l>(
        &'l self,
        later: &'l Self,
        now: impl Fn(&str) -> String + 'l,
    ) -> impl Iterator<Item = (&'static str, &'l str)> {
        let states = self.bad_devices(Bearing::Fault);
        let counts = self.counts.iter().filter(|count| count.errors > 0);
        let faults = states.chain(counts.map(|count| (cause::ECC_UNCORRECTED, count.device.as_str())));
        faults.filter(move |(cause, device)| {
            let device = now(device);
            let mut counts = later.counts.iter();
            let is_counted = *cause == cause::ECC_UNCORRECTED && counts.any(|count| count.device == device);
            !is_counted && !later.has_read(cause, &device)
        })
    }

    /// Cause and device of each warning of this look.
    pub fn warnings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.bad_devices(Bearing::Warning)
    }

    /// Cause and device of each state that was read, good or bad.
    pub fn read(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let states = self.states.iter().filter(|state| state.device != NODE);
        states.map(|state| (state.cause, state.device.as_str()))
    }

    /// Whether this state of the device was read, good or bad.
    pub fn has_read(&self, cause: &str, device: &str) -> bool {
        let mut states = self.states.iter();
        states.any(|state| state.cause == cause && state.device == device)
    }

    fn bad_devices(&self, bearing: Bearing) -> impl Iterator<Item = (&'static str, &str)> {
        let states = self.states.iter().filter(move |state| {
            state.device != NODE && state.bad.is_some() && bearing_of(state.cause) == bearing
        });
        states.map(|state| (state.cause, state.device.as_str()))
    }

    /// Adds something that should have been read and could not.
    pub fn unread(&mut self, what: &str, why: &str) {
        self.unread.push(Unread {
            what: what.to_owned(),
            why: why.to_owned(),
        });
    }

    /// The GPUs that an error of a device of the bus is about: itself, or those below it. None is of no GPU.
    pub(crate) fn gpus_at(&self, device: &str) -> Vec<String> {
        let itself = self.gpus.iter().filter(|gpu| *gpu == device);
        itself.chain(self.bus.below(device)).cloned().collect()
    }

    fn gpu(&mut self, index: usize, gpu: &Gpu) {
        let Some(device) = gpu.pci_address.value.as_deref().map(canonical) else {
            return self.unread(&format!("gpu {index}"), "its PCI address is not known");
        };
        let lost = gpu.facts.values().find_map(lost);
        self.gpus.push(device.clone());
        let path = gpu
            .facts
            .get(fact_name::PCI_PATH)
            .and_then(|path| path.value.as_ref());
        for step in path.and_then(Value::as_array).into_iter().flatten() {
            let address = step.get("address").and_then(Value::as_str).map(canonical);
            if let Some(bridge) = address.filter(|address| *address != device) {
                self.bus.add_bridge(bridge, device.clone());
            }
        }
        // NVML alone says that a GPU is lost: where it cannot be asked, nothing says that it is not.
        if lost.is_some() || !self.is_without_nvml() {
            self.state(cause::GPU_LOST, &device, lost.map(str::to_owned));
        }
        self.state(cause::GPU_WITHOUT_DRIVER, &device, None);
        if lost.is_some() {
            // Whatever else is not read of it, this is why.
            return;
        }
        for (name, partner, judge) in JUDGED {
            let fact = gpu.facts.get(*name);
            match fact.and_then(|fact| fact.value.as_ref()) {
                Some(value) if tells_nothing(name, value) => {}
                Some(value) => {
                    if let Some((cause, bad)) = judge(gpu, value) {
                        self.state(cause, &device, bad);
                    } else {
                        self.unjudged(gpu, &device, (name, *partner));
                    }
                }
                None => self.gap(name, &device, fact),
            }
        }
        if !self.is_without_nvml() && is_silent(gpu) {
            self.unread(&format!("gpu@{device}"), "NVML tells nothing of its state");
        }
        // With MIG the driver may switch the links off.
        let is_mig = gpu.facts.get(fact_name::MIG_MODE);
        let is_mig = is_mig.is_some_and(|mode| mode.value == Some("enabled".into()));
        if let Some(up) = number(gpu, fact_name::NVLINK_LINKS_ACTIVE).filter(|_| !is_mig) {
            self.links.push((device.clone(), up));
        }
        match gpu.facts.get(fact_name::ECC_VOLATILE_UNCORRECTED) {
            Some(Fact {
                value: Some(value), ..
            }) => {
                if let Some(errors) = value.as_u64() {
                    self.counts.push(Count {
                        device,
                        errors,
                        uuid: gpu.uuid.value.clone(),
                        lifetime: number(gpu, ECC_AGGREGATE_UNCORRECTED),
                    });
                } else {
                    self.unread(
                        &format!("{}@{device}", fact_name::ECC_VOLATILE_UNCORRECTED),
                        UNREADABLE,
                    );
                }
            }
            fact => self.gap(fact_name::ECC_VOLATILE_UNCORRECTED, &device, fact),
        }
    }

    /// One that was only expected, or that nobody can name, has no device: it is told by the report's conclusion.
    fn absent(&mut self, gpu: &AbsentGpu) {
        let device = gpu.pci_address.as_deref().map(canonical);
        self.without_place += usize::from(device.is_none() && gpu.absence != Absence::Missing);
        match (gpu.absence, device) {
            (Absence::Lost, Some(device)) => {
                self.state(cause::GPU_LOST, &device, Some(gpu.reason.clone()));
                self.gpus.push(device);
            }
            (Absence::Lost, None) => self.state(cause::GPU_LOST, NODE, Some(gpu.reason.clone())),
            (Absence::WithoutDriver, Some(device)) => {
                self.state(cause::GPU_WITHOUT_DRIVER, &device, Some(gpu.reason.clone()));
                self.is_not_lost(device);
            }
            (Absence::OtherDriver | Absence::Excluded | Absence::Mig | Absence::Missing, Some(device)) => {
                self.is_not_lost(device);
            }
            (Absence::NotGranted, Some(device)) => self.explained.push(device),
            (Absence::NotLookedAt | Absence::Unrecognised, device) => {
                self.unread(&gpu.name(), &gpu.reason);
                self.explained.extend(device);
            }
            (
                Absence::OtherDriver
                | Absence::Excluded
                | Absence::Mig
                | Absence::Missing
                | Absence::NotGranted
                | Absence::WithoutDriver,
                None,
            ) => {}
        }
    }

    fn is_not_lost(&mut self, device: String) {
        self.state(cause::GPU_LOST, &device, None);
        self.explained.push(device);
    }

    /// A value that is there and tells nothing: it cannot be read, or the fact that it is held against is missing.
    fn unjudged(&mut self, gpu: &Gpu, device: &str, (name, partner): (&str, Option<&str>)) {
        let partner = partner.map(|partner| (partner, gpu.facts.get(partner)));
        match partner {
            Some((partner, Some(fact))) if fact.value.is_none() => self.gap(partner, device, Some(fact)),
            Some((_, None)) => {}
            _ => self.unread(&format!("{name}@{device}"), UNREADABLE),
        }
    }

    fn state(&mut self, cause: &'static str, device: &str, bad: Option<String>) {
        self.states.push(Reading {
            cause,
            device: device.to_owned(),
            bad,
        });
    }

    /// What a GPU or driver does not have is nothing that could be read; all else should have been.
    fn gap(&mut self, name: &str, device: &str, fact: Option<&Fact>) {
        let Some(gap) = fact.and_then(|fact| fact.gap.as_ref()) else {
            return;
        };
        let absent = matches!(
            gap.kind,
            GapKind::NotSupported | GapKind::NotVisible | GapKind::Skipped
        );
        if !absent && !self.is_without_nvml() {
            self.unread(&format!("{name}@{device}"), &gap.reason);
        }
    }

    /// NVML that is missing is told once, and not for each fact.
    fn is_without_nvml(&self) -> bool {
        self.unread.iter().any(|unread| unread.what == "nvml")
    }
}

const ECC_AGGREGATE_UNCORRECTED: &str = "ecc.aggregate_uncorrected";
const UNREADABLE: &str = "its value cannot be read";

/// True where not one state of the GPU is told, and not because GPU or driver have none of them.
fn is_silent(gpu: &Gpu) -> bool {
    let facts = JUDGED.iter().map(|(name, ..)| gpu.facts.get(*name));
    let is_told_or_not_there = |fact: &Fact| {
        let gap = fact.gap.as_ref().map(|gap| gap.kind);
        fact.value.is_some() || gap == Some(GapKind::NotSupported)
    };
    !facts.flatten().any(is_told_or_not_there)
}

fn lost(fact: &Fact) -> Option<&str> {
    let gap = fact.gap.as_ref()?;
    (gap.reason_code == Some(ReasonCode::GpuLost)).then_some(gap.reason.as_str())
}

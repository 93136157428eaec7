//! The simulated machine as one process sees it: memory, contexts, streams, events and modules behind handles.

pub(crate) mod access;
pub(crate) mod context;
pub(crate) mod event;
pub(crate) mod kernel_memory;
pub(crate) mod ledger;
pub(crate) mod mapping;
pub(crate) mod memory;
pub(crate) mod modules;
pub(crate) mod stream;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod traffic;
pub(crate) mod virtual_memory;

use crate::{
    calls, install,
    nccl::Communicator,
    scenario::{Condition, Gpu, Scenario},
};
use context::Contexts;
use event::Event;
use ledger::Ledger;
use mapping::Mapping;
use memory::AddressSpace;
use modules::Modules;
use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use stream::Stream;
use table::Table;
use time::Time;
use virtual_memory::VirtualMemory;

pub(crate) struct Machine {
    pub(crate) scenario: Scenario,
    /// Counters of [`calls::NAMES`].
    pub(crate) calls: Mapping,
    /// CUDA ordinal -> place in `scenario.gpus`, after `CUDA_VISIBLE_DEVICES`.
    pub(crate) devices: Vec<usize>,
    pub(crate) cuda_ready: AtomicBool,
    /// `nvmlInit` calls less `nvmlShutdown` calls.
    pub(crate) nvml_users: AtomicUsize,
    pub(crate) ledger: Ledger,
    pub(crate) time: Time,
    pub(crate) memory: AddressSpace,
    pub(crate) contexts: Contexts,
    pub(crate) streams: Table<Arc<Stream>>,
    pub(crate) events: Table<Arc<Event>>,
    pub(crate) modules: Modules,
    pub(crate) virtual_memory: VirtualMemory,
    pub(crate) communicators: Table<Arc<Communicator>>,
}

static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();

/// The machine of this process, made at the first call; `None` (said once on stderr) if its scenario is unreadable.
pub(crate) fn get() -> Option<&'static Machine> {
    let machine = MACHINE.get_or_init(|| {
        Machine::from_environment()
            .map_err(|why| eprintln!("fake-gpu: no simulated machine: {why}"))
            .ok()
    });
    machine.as_ref()
}

impl Machine {
    fn from_environment() -> Result<Self, String> {
        let variable = |name: &str| std::env::var_os(name).ok_or(format!("{name} is not set"));
        let file = PathBuf::from(variable(install::SCENARIO_VARIABLE)?);
        let state = PathBuf::from(variable(install::STATE_VARIABLE)?);
        let text = std::fs::read(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        let scenario: Scenario =
            serde_json::from_slice(&text).map_err(|why| format!("{}: {why}", file.display()))?;
        scenario
            .check()
            .map_err(|why| format!("{}: {why}", file.display()))?;
        let calls = Mapping::of_file(&calls::file(&state), calls::file_bytes())
            .map_err(|why| format!("counters in {}: {why}", state.display()))?;
        let visible = std::env::var("CUDA_VISIBLE_DEVICES").ok();
        let devices = visible_devices(&scenario, visible.as_deref());
        Ok(Self {
            contexts: Contexts::new(devices.len()),
            ledger: Ledger::new(&state),
            time: Time::default(),
            memory: AddressSpace::default(),
            streams: Table::default(),
            events: Table::default(),
            modules: Modules::default(),
            virtual_memory: VirtualMemory::default(),
            communicators: Table::default(),
            cuda_ready: AtomicBool::new(false),
            nvml_users: AtomicUsize::new(0),
            calls,
            devices,
            scenario,
        })
    }

    /// Whether the driver is new enough for a function.
    pub(crate) fn exports(&self, name: &str) -> bool {
        let absent = &self.scenario.absent.symbols;
        absent.iter().all(|symbol| symbol != name)
    }

    pub(crate) fn gpu(&self, place: usize) -> Option<&Gpu> {
        self.scenario.gpus.get(place)
    }

    /// What NVML says of a GPU now: the last change that is due, else the condition at first.
    pub(crate) fn condition(&self, place: usize) -> Option<&Condition> {
        let gpu = self.gpu(place)?;
        let due = gpu.changes.iter().rev().find(|change| {
            let calls =
                calls::place(&change.after_call).and_then(|call| self.calls.u64_at(call * size_of::<u64>()));
            calls.is_some_and(|calls| calls.load(Ordering::Acquire) >= change.times)
        });
        Some(due.map_or(&gpu.condition, |change| &change.condition))
    }
}

/// CUDA's rules for `CUDA_VISIBLE_DEVICES`: numbers or beginnings of UUIDs, in the order wanted; the first that names
/// no GPU, or one named before, ends the list (CUDA programming guide, environment variables).
fn visible_devices(scenario: &Scenario, variable: Option<&str>) -> Vec<usize> {
    let places = scenario.cuda_places();
    let Some(variable) = variable else { return places };
    let mut chosen = Vec::new();
    for word in variable.split(',').map(str::trim) {
        let place = match word.parse::<usize>() {
            Ok(ordinal) => places.get(ordinal).copied(),
            Err(_) => by_uuid(scenario, word),
        };
        match place {
            Some(place) if !chosen.contains(&place) => chosen.push(place),
            _ => break,
        }
    }
    chosen
}

fn by_uuid(scenario: &Scenario, beginning: &str) -> Option<usize> {
    let mut fitting = (0..scenario.gpus.len()).filter(|place| {
        scenario
            .gpus
            .get(*place)
            .is_some_and(|gpu| gpu.uuid.starts_with(beginning))
    });
    let only = fitting.next().filter(|_| beginning.starts_with("GPU-"))?;
    fitting.next().is_none().then_some(only)
}

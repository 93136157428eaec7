//! What a worker does at each command.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use kb_core::report::{Failure, ReasonCode};

use crate::gpu::{CallError, Device, Driver, End, Management, Trace};

use super::bench::Bench;
use super::check;
use super::inventory::{Inventory, describe_library, list_managed, read_again};
use super::nccl::Ranks;
use super::outcome::failure;
use super::place::Place;
use super::protocol::{Answer, CallFailure, CheckKind, Checked, Command, NcclCommand, Offered, Way};
use super::sharing::{Reached, Sharing};
use super::zones::Layout;

/// Longest a step of rung 6 is waited for before anything was prepared, which says it.
const NO_LIMIT: Duration = Duration::ZERO;

pub(super) struct Worker {
    trace: Trace,
    driver: Option<Driver>,
    /// The GPUs in CUDA order, once the driver is initialised.
    devices: Vec<Device>,
    nvml: Option<Rc<Management>>,
    inventory: Option<Inventory>,
    /// Memory of another process, with the GPU that opened it. Closed before its context goes.
    reached: Option<(u32, Reached)>,
    bench: Bench,
    nccl: Ranks,
    places: BTreeMap<u32, Place>,
    sharing: Sharing,
}

pub(super) struct Reply {
    pub(super) answer: Answer,
    pub(super) descriptor: Option<OwnedFd>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
            descriptor: None,
        }
    }
}

impl Worker {
    pub(super) fn new(trace: Trace) -> Self {
        Self {
            trace,
            driver: None,
            devices: Vec::new(),
            nvml: None,
            inventory: None,
            reached: None,
            bench: Bench::default(),
            nccl: Ranks::default(),
            places: BTreeMap::new(),
            sharing: Sharing {
                layout: Layout::packed(0),
                limit: NO_LIMIT,
            },
        }
    }

    pub(super) fn obey(&mut self, command: &Command, descriptor: Option<OwnedFd>) -> Reply {
        let answer = match *command {
            Command::Load => self.load(),
            Command::Open => self.open(),
            Command::Attach => self.attach(),
            Command::ReadAgain { ref addresses } => Answer::ReadAgain {
                gpus: read_again(&self.management(), addresses),
            },
            Command::ListManaged => Answer::Managed {
                gpus: list_managed(&self.management()),
            },
            Command::PairFacts { a, b } => self.pair_facts(a, b),
            Command::Prepare {
                gpu,
                bytes,
                spread,
                limit_ms,
            } => self.prepare(gpu, bytes, spread, Duration::from_millis(limit_ms)),
            Command::Check {
                initiator,
                owner,
                kind,
                seed,
                limit_ms,
            } => self.check(kind, initiator, owner, seed, Duration::from_millis(limit_ms)),
            Command::Time {
                source,
                destination,
                bytes,
                samples,
                limit_ms,
            } => self.time(
                source,
                destination,
                (bytes, samples),
                Duration::from_millis(limit_ms),
            ),
            Command::PrepareBench {
                gpu,
                bytes,
                pinned_bytes,
                pageable_bytes,
                ref cpus,
                limit_ms,
            } => match self.places.get(&gpu) {
                Some(place) => {
                    let sizes = [bytes, pinned_bytes, pageable_bytes];
                    self.bench
                        .prepare(gpu, place, (sizes, cpus), Duration::from_millis(limit_ms))
                }
                None => unprepared(gpu),
            },
            Command::LoadStep(ref step) => self.bench.load_step(step, &self.places, self.inventory.as_ref()),
            Command::Measure(ref measure) => {
                self.bench.measure(measure, &self.places, self.inventory.as_ref())
            }
            Command::Nccl(ref step) => {
                let timed = matches!(step, NcclCommand::Run(run) if run.times > 0);
                let nvml = timed.then(|| self.management());
                let driver = (self.driver.as_ref(), self.devices.as_slice());
                self.nccl.obey(step, &self.trace, driver, nvml.as_deref())
            }
            Command::Offer { owner, way, seed } => return self.offer(owner, way, seed),
            Command::Reach {
                initiator,
                way,
                ref offered,
                seed,
            } => self.reach(initiator, way, offered, descriptor, seed),
            Command::Verify {
                owner,
                way,
                seed,
                next_seed,
            } => match self.places.get(&owner) {
                Some(place) => Answer::Checked(self.sharing.verify(place, way, seed, next_seed)),
                None => unprepared(owner),
            },
            Command::Fetch { initiator, seed } => self.fetch(initiator, seed),
            Command::Close => refuse("close", "handled before".to_owned()),
        };
        answer.into()
    }

    fn load(&mut self) -> Answer {
        match Driver::load(self.trace.clone()) {
            Ok(driver) => {
                let loaded = describe_library(&driver);
                self.driver = Some(driver);
                Answer::Loaded(loaded)
            }
            Err(error) => refuse_for(Failure::LOAD_CUDA, error.message, Some(error.code)),
        }
    }

    fn open(&mut self) -> Answer {
        let Some(driver) = self.driver.clone() else {
            return refuse("open the driver", "its library is not loaded".to_owned());
        };
        let opened = driver.init().and_then(|()| {
            self.devices = driver.devices()?;
            let nvml = self.management();
            Inventory::take(driver, nvml)
        });
        match opened {
            Ok(inventory) => {
                let opened = inventory.describe();
                self.inventory = Some(inventory);
                Answer::Opened(Box::new(opened))
            }
            Err(error) => Answer::Failed(failure(&error)),
        }
    }

    /// NVML, opened when it is first needed.
    fn management(&mut self) -> Rc<Management> {
        let open = || Rc::new(Management::open(self.trace.clone()));
        Rc::clone(self.nvml.get_or_insert_with(open))
    }

    fn attach(&mut self) -> Answer {
        let Some(driver) = self.driver.clone() else {
            return refuse("open the driver", "its library is not loaded".to_owned());
        };
        match driver.init().and_then(|()| driver.devices()) {
            Ok(devices) => {
                let uuids = devices.iter().map(|device| driver.uuid(*device).ok()).collect();
                self.devices = devices;
                Answer::Attached { uuids }
            }
            Err(error) => Answer::Failed(failure(&error)),
        }
    }

    fn pair_facts(&self, a: u32, b: u32) -> Answer {
        let facts = self.inventory.as_ref().and_then(|inventory| inventory.pair(a, b));
        match facts {
            Some(facts) => Answer::PairFacts(Box::new(facts)),
            None => refuse("describe a pair", format!("there is no pair {a}, {b}")),
        }
    }

    fn prepare(&mut self, gpu: u32, bytes: u64, spread: bool, limit: Duration) -> Answer {
        if !self.places.contains_key(&gpu) {
            let device = usize::try_from(gpu).ok().and_then(|gpu| self.devices.get(gpu));
            let (Some(driver), Some(device), Ok(bytes)) = (&self.driver, device, usize::try_from(bytes))
            else {
                return refuse("prepare a GPU", format!("there is no GPU {gpu}"));
            };
            match Place::prepare(driver, *device, bytes, spread, limit) {
                Ok(place) => self.places.insert(gpu, place),
                Err(error) => return Answer::Failed(failure(&error)),
            };
            self.sharing = Sharing {
                layout: Layout::packed(bytes),
                limit,
            };
        }
        Answer::Prepared
    }

    fn check(&self, kind: CheckKind, initiator: u32, owner: u32, seed: u64, limit: Duration) -> Answer {
        let (Some(from), Some(to)) = (self.places.get(&initiator), self.places.get(&owner)) else {
            return unprepared(initiator);
        };
        Answer::Checked(check::run(kind, from, to, seed, limit))
    }

    fn time(
        &mut self,
        source: u32,
        destination: u32,
        (bytes, samples): (u64, u32),
        limit: Duration,
    ) -> Answer {
        let (Ok(bytes), Ok(samples)) = (usize::try_from(bytes), usize::try_from(samples)) else {
            return refuse("time copies", "they are too large".to_owned());
        };
        let taken = [source, destination].into_iter().try_for_each(|gpu| {
            let place = self.places.get_mut(&gpu);
            place.map_or(Ok(()), |place| place.take_timed(bytes))
        });
        if let Err(error) = taken {
            return Answer::Failed(failure(&error));
        }
        let (Some(from), Some(to)) = (self.places.get(&source), self.places.get(&destination)) else {
            return unprepared(source);
        };
        match time_between(from, to, bytes, samples, limit) {
            Ok(seconds) => Answer::Timed { seconds },
            Err(error) => Answer::Failed(failure(&error)),
        }
    }

    fn offer(&mut self, owner: u32, way: Way, seed: u64) -> Reply {
        let Some(place) = self.places.get_mut(&owner) else {
            return unprepared(owner).into();
        };
        match self.sharing.offer(place, way, seed) {
            Ok((offered, descriptor)) => Reply {
                answer: Answer::Offered(offered),
                descriptor,
            },
            Err(result) => Answer::Checked(Checked::plain(result)).into(),
        }
    }

    fn reach(
        &mut self,
        initiator: u32,
        way: Way,
        offered: &Offered,
        descriptor: Option<OwnedFd>,
        seed: u64,
    ) -> Answer {
        self.reached = None;
        let Some(place) = self.places.get(&initiator) else {
            return unprepared(initiator);
        };
        match Sharing::open(place, way, offered, descriptor) {
            Ok(reached) => {
                let checked = self.sharing.store(place, &reached, seed);
                self.reached = Some((initiator, reached));
                Answer::Checked(checked)
            }
            Err(result) => Answer::Checked(Checked::plain(result)),
        }
    }

    fn fetch(&mut self, initiator: u32, seed: u64) -> Answer {
        let reached = self.reached.take().filter(|(gpu, _)| *gpu == initiator);
        match (self.places.get(&initiator), reached) {
            (Some(place), Some((_, reached))) => Answer::Checked(self.sharing.load(place, &reached, seed)),
            _ => refuse("load from another process", "its memory is not open".to_owned()),
        }
    }
}

fn time_between(
    from: &Place,
    to: &Place,
    bytes: usize,
    samples: usize,
    limit: Duration,
) -> Result<Vec<f64>, CallError> {
    let (destination, source) = (end_of(to, bytes)?, end_of(from, bytes)?);
    from.stream.time_copies(destination, source, samples, limit)
}

fn end_of(place: &Place, bytes: usize) -> Result<End<'_>, CallError> {
    let window = place.timed(bytes).ok_or(CallError::Refused {
        call: "cuMemcpyPeerAsync",
        why: "there is no memory for timed copies of this size",
    })?;
    Ok(End {
        context: &place.context,
        window,
    })
}

fn unprepared(gpu: u32) -> Answer {
    refuse("make a check", format!("GPU {gpu} or its peer is not prepared"))
}

pub(super) fn refuse(step: &str, message: String) -> Answer {
    refuse_for(step, message, None)
}

fn refuse_for(step: &str, message: String, reason_code: Option<ReasonCode>) -> Answer {
    Answer::Failed(CallFailure {
        call: step.to_owned(),
        code: None,
        code_name: None,
        message,
        reason_code,
        poisoned: false,
    })
}

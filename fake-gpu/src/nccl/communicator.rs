//! Communicators: how ranks find each other, and what lies between them.

use super::{Result, debug, messages::Messages};
use crate::{
    machine::{Machine, context::Context},
    scenario::{Access, Fate, NcclEffect, Route, Transport},
};
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering},
};

pub(crate) struct Communicator {
    pub(super) rank: usize,
    pub(super) ranks: usize,
    pub(super) context: Arc<Context>,
    pub(super) messages: Messages,
    members: OnceLock<Vec<Member>>,
    begun: AtomicU64,
    /// Messages to, and from, each rank.
    sent: Mutex<Vec<u64>>,
    received: Mutex<Vec<u64>>,
}

/// Another rank, or this one.
#[derive(Clone, Copy, Debug)]
struct Member {
    pid: u32,
    gpu: usize,
}

pub(super) enum Arrival {
    Whole,
    /// A byte of the first number is changed by exclusive or.
    Changed(u8),
    Never,
}

impl Communicator {
    /// A rank that knows nobody yet.
    pub(super) fn new(
        machine: &Machine,
        name: &str,
        ranks: usize,
        rank: usize,
    ) -> std::result::Result<Self, Result> {
        if ranks == 0 || rank >= ranks {
            return Err(Result::INVALID_ARGUMENT);
        }
        Ok(Self {
            rank,
            ranks,
            context: machine.current()?,
            messages: Messages::new(machine.ledger.messages(name), rank),
            members: OnceLock::new(),
            begun: AtomicU64::new(0),
            sent: Mutex::new(vec![0; ranks]),
            received: Mutex::new(vec![0; ranks]),
        })
    }

    pub(super) fn announce(&self) -> std::result::Result<(), Result> {
        let text = format!("{} {}", std::process::id(), self.context.gpu);
        let left = self
            .messages
            .leave(&format!("member-{}", self.rank), text.as_bytes());
        left.map_err(|_| Result::SYSTEM_ERROR)
    }

    /// Waits for all others, and looks at the ways between them.
    pub(super) fn join(&self, machine: &Machine) -> std::result::Result<(), Result> {
        let mut members = Vec::new();
        for rank in 0..self.ranks {
            let text = self.messages.find(&format!("member-{rank}"));
            let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
            let (pid, gpu) = text.split_once(' ').ok_or(Result::SYSTEM_ERROR)?;
            members.push(Member {
                pid: pid.parse().map_err(|_| Result::SYSTEM_ERROR)?,
                gpu: gpu.parse().map_err(|_| Result::SYSTEM_ERROR)?,
            });
        }
        let gpu = self.context.gpu;
        if members.iter().filter(|member| member.gpu == gpu).count() > 1 {
            debug::warn(gpu, &format!("Duplicate GPU detected : rank {}", self.rank));
            return Err(Result::INVALID_USAGE);
        }
        // Only this call sets it.
        let _ = self.members.set(members);
        let Some(fault) = machine.scenario.nccl.fault(self.transport(machine)) else {
            return Ok(());
        };
        if let Some(warning) = &fault.warning {
            debug::warn(gpu, warning);
        }
        match fault.effect {
            NcclEffect::InitFails(code) => Err(Result(code)),
            NcclEffect::Hang | NcclEffect::WrongData => Ok(()),
        }
    }

    fn members(&self) -> &[Member] {
        self.members.get().map_or(&[], Vec::as_slice)
    }

    /// Peer access where all of them may use it and nobody has switched it off.
    pub(super) fn transport(&self, machine: &Machine) -> Transport {
        let switched_off = std::env::var("NCCL_P2P_DISABLE").is_ok_and(|value| value == "1");
        let granted = self.members().iter().all(|from| {
            let mut others = self.members().iter().filter(|to| to.gpu != from.gpu);
            others.all(|to| machine.scenario.pairs.can_access(from.gpu, to.gpu))
        });
        if granted && !switched_off {
            Transport::P2p
        } else {
            Transport::Shm
        }
    }

    pub(super) fn arrival(&self, machine: &Machine, from: usize) -> Arrival {
        if from == self.rank {
            return Arrival::Whole;
        }
        let transport = self.transport(machine);
        match machine.scenario.nccl.fault(transport).map(|fault| fault.effect) {
            Some(NcclEffect::Hang) => return Arrival::Never,
            Some(NcclEffect::WrongData) => return Arrival::Changed(1),
            Some(NcclEffect::InitFails(_)) | None => {}
        }
        let Some(member) = self.members().get(from).filter(|_| transport == Transport::P2p) else {
            return Arrival::Whole;
        };
        let second = if member.pid == std::process::id() {
            Route::Sm
        } else {
            Route::Ipc
        };
        let mut faults = machine.scenario.memory_faults.iter();
        let its = faults
            .find(|fault| fault.fits(member.gpu, self.context.gpu, &[Route::Sm, second], Access::Store));
        match its.map(|fault| fault.fate) {
            None | Some(Fate::Through) => Arrival::Whole,
            Some(Fate::Corrupted { xor, .. }) => Arrival::Changed(xor),
            // Neither data nor the flags behind it are ever seen.
            Some(Fate::AtKernelEnd | Fate::PrivateMirror | Fate::Dropped) => Arrival::Never,
        }
    }

    /// GB/s of the bus, which are bytes a nanosecond.
    pub(super) fn bus(&self, machine: &Machine, may_use_nvls: bool) -> f64 {
        let nccl = &machine.scenario.nccl;
        let off = std::env::var("NCCL_NVLS_ENABLE").is_ok_and(|value| value == "0");
        let nvls = nccl.bus_nvls.filter(|_| may_use_nvls && !off);
        match self.transport(machine) {
            Transport::P2p => nvls.unwrap_or(nccl.bus),
            Transport::Shm => nccl.bus_staged,
        }
    }

    /// The number of a collective, the same on every rank.
    pub(super) fn next_collective(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel)
    }

    pub(super) fn next_sent(&self, to: usize) -> Option<u64> {
        next(&self.sent, to)
    }

    pub(super) fn next_received(&self, from: usize) -> Option<u64> {
        next(&self.received, from)
    }
}

fn next(numbers: &Mutex<Vec<u64>>, rank: usize) -> Option<u64> {
    let mut numbers = numbers.lock().unwrap_or_else(PoisonError::into_inner);
    let number = numbers.get_mut(rank)?;
    *number += 1;
    Some(*number)
}

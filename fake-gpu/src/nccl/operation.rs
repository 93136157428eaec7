//! What a rank does in its stream: leaves what it gives, waits for what it gets, and writes the result.

use super::{Result, arithmetic, communicator::Arrival, communicator::Communicator};
use crate::{
    driver::Code,
    machine::{Machine, access::Engine},
};
use std::{ffi::c_int, sync::Arc, thread};

#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Collective(Collective),
    Send { peer: usize, from: u64, bytes: u64 },
    Receive { peer: usize, to: u64, bytes: u64 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Collective {
    pub(super) what: What,
    pub(super) from: u64,
    pub(super) to: u64,
    /// Bytes of the count that the caller gave.
    pub(super) bytes: u64,
    /// `ncclDataType_t`.
    pub(super) kind: c_int,
    /// `ncclRedOp_t`; nothing where bytes are only moved.
    pub(super) reduction: c_int,
    pub(super) root: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    Reduce,
}

/// An operation with its number, the same at both ends.
pub(super) struct Numbered {
    operation: Operation,
    number: u64,
}

impl Collective {
    /// Bytes that a rank gives, and bytes that it gets.
    fn given_and_got(&self, communicator: &Communicator) -> (u64, u64) {
        let (ranks, is_root) = (communicator.ranks as u64, communicator.rank == self.root);
        match self.what {
            What::AllReduce => (self.bytes, self.bytes),
            What::AllGather => (self.bytes, self.bytes * ranks),
            What::ReduceScatter => (self.bytes * ranks, self.bytes),
            What::Broadcast => (if is_root { self.bytes } else { 0 }, self.bytes),
            What::Reduce => (self.bytes, if is_root { self.bytes } else { 0 }),
        }
    }

    /// Bytes that the bus carries, as nccl-tests counts them (its doc/PERFORMANCE.md).
    fn on_the_bus(&self, ranks: u64) -> u64 {
        match self.what {
            What::AllReduce => 2 * self.bytes * (ranks - 1) / ranks,
            What::AllGather | What::ReduceScatter => self.bytes * (ranks - 1),
            What::Broadcast | What::Reduce => self.bytes,
        }
    }

    fn result(&self, rank: usize, given: Vec<Vec<u8>>) -> Vec<u8> {
        let part = self.bytes as usize * rank;
        let mut given = given.into_iter();
        let sum = |given: std::vec::IntoIter<Vec<u8>>, from: usize| {
            let mut parts = given.map(|bytes| bytes.get(from..).unwrap_or_default().to_vec());
            let mut into = parts.next().unwrap_or_default();
            for other in parts {
                arithmetic::reduce(self.kind, self.reduction, &mut into, &other);
            }
            into.truncate(self.bytes as usize);
            into
        };
        match self.what {
            What::AllReduce | What::Reduce => sum(given, 0),
            What::ReduceScatter => sum(given, part),
            What::AllGather => given.flatten().collect(),
            What::Broadcast => given.nth(self.root).unwrap_or_default(),
        }
    }
}

impl Communicator {
    /// Refuses what cannot be, and gives the operation its number.
    pub(super) fn number(
        &self,
        machine: &Machine,
        operation: Operation,
    ) -> std::result::Result<Numbered, Result> {
        let areas = match operation {
            Operation::Collective(collective) => {
                let (given, got) = collective.given_and_got(self);
                [(collective.from, given), (collective.to, got)]
            }
            Operation::Send { from, bytes, .. } => [(from, bytes), (0, 0)],
            Operation::Receive { to, bytes, .. } => [(0, 0), (to, bytes)],
        };
        let is_there =
            |(address, bytes): &(u64, u64)| *bytes == 0 || machine.memory.find(*address, *bytes).is_some();
        if !areas.iter().all(is_there) {
            return Err(Result::INVALID_ARGUMENT);
        }
        let number = match operation {
            Operation::Collective(Collective { root, .. }) if root >= self.ranks => None,
            Operation::Collective(_) => Some(self.next_collective()),
            Operation::Send { peer, .. } => self.next_sent(peer),
            Operation::Receive { peer, .. } => self.next_received(peer),
        };
        let number = number.ok_or(Result::INVALID_ARGUMENT)?;
        Ok(Numbered { operation, number })
    }

    /// All operations of a group, of which none waits for another: gives when they have ended.
    pub(super) fn run(
        &self,
        machine: &Machine,
        group: &[Numbered],
        begin: u64,
    ) -> std::result::Result<u64, Code> {
        for numbered in group {
            self.give(machine, numbered, begin)?;
        }
        let mut start = begin;
        for numbered in group {
            start = start.max(self.get(machine, numbered)?);
        }
        Ok(start + self.duration(machine, group))
    }

    fn give(&self, machine: &Machine, numbered: &Numbered, begin: u64) -> std::result::Result<(), Code> {
        let (name, from, bytes) = match numbered.operation {
            Operation::Collective(collective) => {
                let name = of_all(numbered.number, self.rank);
                (name, collective.from, collective.given_and_got(self).0)
            }
            Operation::Send { peer, from, bytes } => (between(self.rank, peer, numbered.number), from, bytes),
            Operation::Receive { .. } => return Ok(()),
        };
        let mut message = u64::from(std::process::id()).to_le_bytes().to_vec();
        message.extend(begin.to_le_bytes());
        message.extend(self.load(machine, from, bytes)?);
        self.messages.leave(&name, &message).map_err(|_| Code::UNKNOWN)
    }

    /// Gives when the other ranks began, as far as that is told by the same clock.
    fn get(&self, machine: &Machine, numbered: &Numbered) -> std::result::Result<u64, Code> {
        let mut start = 0;
        match numbered.operation {
            Operation::Send { .. } => {}
            Operation::Receive { peer, to, bytes } => {
                let name = between(peer, self.rank, numbered.number);
                let (begun, mut data) = self.message_of(machine, peer, &name);
                self.messages.forget(&name);
                data.resize(bytes as usize, 0);
                self.store(machine, to, data)?;
                start = begun;
            }
            Operation::Collective(collective) => {
                let mut given = Vec::new();
                for rank in 0..self.ranks {
                    let (begun, data) = self.message_of(machine, rank, &of_all(numbered.number, rank));
                    start = start.max(begun);
                    given.push(data);
                }
                // Whoever has left a message of this collective has read those of the one before.
                if let Some(before) = numbered.number.checked_sub(1) {
                    self.messages.forget(&of_all(before, self.rank));
                }
                if collective.given_and_got(self).1 > 0 {
                    self.store(machine, collective.to, collective.result(self.rank, given))?;
                }
            }
        }
        Ok(start)
    }

    /// When a rank left a message, 0 by another clock, and its data as it arrives; waits for ever for what never does.
    fn message_of(&self, machine: &Machine, from: usize, name: &str) -> (u64, Vec<u8>) {
        let arrival = self.arrival(machine, from);
        if matches!(arrival, Arrival::Never) {
            loop {
                thread::park();
            }
        }
        let message = self.messages.find(name).unwrap_or_default();
        let word = |at: usize| {
            let bytes = message.get(at..).and_then(|rest| rest.first_chunk::<8>());
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let begun = if word(0) == u64::from(std::process::id()) {
            word(8)
        } else {
            0
        };
        let mut data = message.get(16..).unwrap_or_default().to_vec();
        // Not the last bits of a float, which a sum may round away.
        if let (Arrival::Changed(xor), Some(byte)) = (arrival, data.get_mut(2)) {
            *byte ^= xor;
        }
        (begun, data)
    }

    fn load(&self, machine: &Machine, from: u64, bytes: u64) -> std::result::Result<Vec<u8>, Code> {
        let mut data = vec![0; bytes as usize];
        if bytes > 0 {
            let reach = machine.reach(&self.context, Engine::Sm, from, bytes)?;
            machine.read(&reach, &mut data)?;
        }
        Ok(data)
    }

    fn store(&self, machine: &Machine, to: u64, mut data: Vec<u8>) -> std::result::Result<(), Code> {
        if data.is_empty() {
            return Ok(());
        }
        let reach = machine.reach(&self.context, Engine::Sm, to, data.len() as u64)?;
        machine.write(&reach, &mut data)
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 bytes are more than any operation has"
    )]
    fn duration(&self, machine: &Machine, group: &[Numbered]) -> u64 {
        let (mut sent, mut received, mut collective, mut may_use_nvls) = (0, 0, 0, false);
        for Numbered { operation, .. } in group {
            match operation {
                Operation::Collective(of) => {
                    may_use_nvls |= of.what == What::AllReduce;
                    collective += of.on_the_bus(self.ranks as u64);
                }
                Operation::Send { peer, bytes, .. } if *peer != self.rank => sent += bytes,
                Operation::Receive { peer, bytes, .. } if *peer != self.rank => received += bytes,
                Operation::Send { .. } | Operation::Receive { .. } => {}
            }
        }
        let bytes: u64 = collective + u64::max(sent, received);
        let flowing = bytes as f64 / self.bus(machine, may_use_nvls);
        (flowing.round() as u64).max(machine.scenario.nccl.least_ns)
    }
}

/// Queues the operations of one rank on its stream.
pub(super) fn submit(
    machine: &'static Machine,
    communicator: &Arc<Communicator>,
    stream: usize,
    group: Vec<Numbered>,
) -> std::result::Result<(), Result> {
    let stream = machine.stream(&communicator.context, stream)?;
    let communicator = Arc::clone(communicator);
    let work = move |begin| communicator.run(machine, &group, begin);
    machine.submit(&stream, Vec::new(), Box::new(work));
    Ok(())
}

fn of_all(number: u64, rank: usize) -> String {
    format!("collective-{number}-{rank}")
}

fn between(from: usize, to: usize, number: u64) -> String {
    format!("message-{from}-{to}-{number}")
}

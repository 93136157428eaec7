//! A block: its threads and their registers.

use super::{
    Memory, Shared,
    thread::{State, Thread, Turn},
};
use crate::ptx::Trap;

pub(super) struct Block {
    position: [u32; 3],
    threads: Vec<Thread>,
    /// The registers of all threads, thread by thread.
    registers: Vec<u64>,
    /// The number of its first thread among the resident ones.
    first: usize,
    /// Threads that have not ended.
    pub(super) left: usize,
}

impl Block {
    /// A block of which no thread runs yet: [`Block::begin`] starts them.
    pub(super) fn new(shared: &Shared<'_>, first: usize) -> Self {
        let threads: Vec<Thread> = super::positions(shared.launch.block).map(Thread::new).collect();
        Self {
            position: [0; 3],
            registers: Vec::new(),
            threads,
            first,
            left: 0,
        }
    }

    pub(super) fn begin(&mut self, shared: &Shared<'_>, position: [u32; 3], memory: &mut impl Memory) {
        self.position = position;
        self.registers.clear();
        self.left = self.threads.len();
        for (number, thread) in (self.first..).zip(&mut self.threads) {
            *thread = Thread::new(thread.place);
            self.registers.extend_from_slice(&shared.kernel.registers);
            memory.begin(number);
        }
    }

    /// Gives each thread a turn. True where all of them wait.
    pub(super) fn turn(&mut self, shared: &Shared<'_>, memory: &mut impl Memory) -> Result<bool, Trap> {
        let mut all_wait = true;
        let each = shared.kernel.registers.len();
        for (place, thread) in self.threads.iter_mut().enumerate() {
            if thread.state != State::Runs {
                continue;
            }
            let registers = self.registers.get_mut(place * each..(place + 1) * each);
            memory.turn_of(self.first + place);
            let mut turn = Turn {
                shared,
                block: self.position,
                thread,
                registers: registers.unwrap_or_default(),
            };
            all_wait &= turn.run(memory)?;
            self.left -= usize::from(thread.state == State::Ended);
        }
        self.leave_barrier();
        Ok(all_wait)
    }

    /// Lets the threads go on once all that are left have come to the same barrier.
    fn leave_barrier(&mut self) {
        let left = |thread: &&mut Thread| thread.state != State::Ended;
        let first = self.threads.iter_mut().find(left).map(|thread| thread.state);
        let Some(at @ State::At(_)) = first else {
            return;
        };
        if self
            .threads
            .iter_mut()
            .filter(left)
            .all(|thread| thread.state == at)
        {
            for thread in self.threads.iter_mut().filter(left) {
                thread.state = State::Runs;
            }
        }
    }
}

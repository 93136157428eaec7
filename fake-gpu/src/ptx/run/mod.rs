//! Executing a grid. All threads of a launch run on the calling thread, in turns of some instructions, so that one
//! that waits for another does not stop it. Blocks are let in until enough threads are resident and follow as
//! others leave, in order, as on a real machine: a grid whose blocks wait for blocks that are not in yet hangs.

mod clock;
mod thread;

use super::{Kernel, Trap};
use clock::Clock;
use thread::{State, Thread};

/// Threads that are resident at a time, unless one block alone has more.
const RESIDENT: usize = 2048;
/// Instructions of a turn.
const TURN: usize = 2000;

/// Global memory as a kernel sees it. Sizes are 1, 2, 4 or 8 bytes, addresses multiples of them.
pub trait Memory {
    /// What follows is done by the thread of this number.
    fn turn_of(&mut self, thread: u64) {
        let _ = thread;
    }
    /// Reads a number.
    fn load(&mut self, address: u64, size: usize) -> Result<u64, Trap>;
    /// Writes a number.
    fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), Trap>;
    /// Replaces a number of 4 or 8 bytes in one step; gives what was there.
    fn atomic(&mut self, address: u64, size: usize, change: &dyn Fn(u64) -> u64) -> Result<u64, Trap>;
}

#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    pub parameters: Vec<u8>,
    /// A bit that the first `fma` of the first thread gets wrong.
    pub wrong_bit: Option<u32>,
}

struct Shared<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    clock: Clock,
}

impl Kernel {
    /// Runs a grid to its end, or to the first trap of any of its threads.
    pub fn run(&self, launch: &Launch, memory: &mut dyn Memory) -> Result<(), Trap> {
        let shared = Shared {
            kernel: self,
            launch,
            clock: Clock::start(self.clock_khz),
        };
        let mut waiting = positions(launch.grid);
        let mut resident: Vec<Vec<Thread>> = Vec::new();
        loop {
            let mut threads: usize = resident.iter().map(Vec::len).sum();
            while threads < RESIDENT
                && let Some(block) = waiting.next()
            {
                let block: Vec<Thread> = positions(launch.block)
                    .map(|thread| Thread::new(self.registers, block, thread))
                    .collect();
                threads += block.len();
                resident.push(block);
            }
            if resident.is_empty() {
                return Ok(());
            }
            for block in &mut resident {
                turn(&shared, block, memory)?;
            }
            let before = resident.len();
            resident.retain(|block| !block.is_empty());
            if resident.len() == before {
                // Nobody has left: perhaps all wait for a kernel on another stream.
                std::thread::yield_now();
            }
        }
    }
}

/// Gives each thread of a block a turn; those that end leave it.
fn turn(shared: &Shared<'_>, block: &mut Vec<Thread>, memory: &mut dyn Memory) -> Result<(), Trap> {
    for thread in block.iter_mut() {
        memory.turn_of(thread.number(shared.launch));
        thread.turn(shared, TURN, memory)?;
    }
    block.retain(|thread| thread.state != State::Ended);
    let Some(first) = block.first().map(|thread| thread.state) else {
        return Ok(());
    };
    let all_there = matches!(first, State::At(_)) && block.iter().all(|thread| thread.state == first);
    if all_there {
        for thread in block {
            thread.state = State::Runs;
        }
    }
    Ok(())
}

/// All positions of a box, x fastest.
fn positions(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [width, height, depth] = size;
    (0..depth).flat_map(move |z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])))
}

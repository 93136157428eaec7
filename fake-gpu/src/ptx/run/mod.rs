//! Executing a grid. All threads of a launch run on the calling thread, in turns of some instructions, so that one
//! that waits for another does not stop it. Blocks are let in until enough threads are resident and follow as
//! others leave, in order, as on a real machine: a grid whose blocks wait for blocks that are not in yet hangs.

mod block;
mod clock;
mod thread;

use super::{Kernel, Trap};
use block::Block;
use clock::Clock;
use std::time::Duration;

/// Threads that are resident at a time, unless one block alone has more.
const RESIDENT: usize = 2048;
/// How long a kernel sleeps at first, and at last, while all its threads wait.
const SHORTEST_SLEEP: Duration = Duration::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// Global memory as a kernel sees it. Sizes are 1, 2, 4 or 8 bytes, addresses multiples of them. Resident threads have
/// numbers from 0; one that has ended leaves its number to another.
pub trait Memory {
    /// A new thread has this number.
    fn begin(&mut self, thread: usize) {
        let _ = thread;
    }
    /// What follows is done by the thread of this number.
    fn turn_of(&mut self, thread: usize) {
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
    pub fn run(&self, launch: &Launch, memory: &mut impl Memory) -> Result<(), Trap> {
        let shared = Shared {
            kernel: self,
            launch,
            clock: Clock::start(self.clock_khz),
        };
        let mut waiting = positions(launch.grid);
        let mut resident: Vec<Block> = Vec::new();
        let mut ended: Vec<Block> = Vec::new();
        let mut sleep = SHORTEST_SLEEP;
        let block_threads: usize = launch.block.iter().map(|size| *size as usize).product();
        loop {
            let mut threads: usize = resident.iter().map(|block| block.left).sum();
            while threads < RESIDENT
                && let Some(position) = waiting.next()
            {
                let first = resident.len() * block_threads;
                let mut block = ended.pop().unwrap_or_else(|| Block::new(&shared, first));
                block.begin(&shared, position, memory);
                threads += block.left;
                resident.push(block);
            }
            if resident.is_empty() {
                return Ok(());
            }
            let mut all_wait = true;
            for block in &mut resident {
                all_wait &= block.turn(&shared, memory)?;
            }
            let before = resident.len();
            ended.extend(resident.extract_if(.., |block| block.left == 0));
            if resident.len() < before {
                continue;
            }
            // Nobody has left: perhaps all wait for a kernel on another stream, or for the host.
            if all_wait {
                std::thread::sleep(sleep);
                sleep = LONGEST_SLEEP.min(sleep * 2);
            } else {
                std::thread::yield_now();
                sleep = SHORTEST_SLEEP;
            }
        }
    }
}

/// All positions of a box, x fastest.
fn positions(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [width, height, depth] = size;
    (0..depth).flat_map(move |z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])))
}

//! Executing a grid.

use super::Trap;

/// Global memory as a kernel sees it. Sizes are 1, 2, 4 or 8 bytes, addresses multiples of them.
pub trait Memory {
    /// Reads a number.
    fn load(&mut self, address: u64, size: usize) -> Result<u64, Trap>;
    /// Writes a number.
    fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), Trap>;
    /// Replaces a number of 4 or 8 bytes in one step; gives what was there.
    fn atomic(&mut self, address: u64, size: usize, change: &dyn Fn(u64) -> u64) -> Result<u64, Trap>;
}

/// One launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// The block of parameters.
    pub parameters: Vec<u8>,
}

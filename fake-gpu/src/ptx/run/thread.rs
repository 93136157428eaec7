//! One thread, and what each instruction does to its registers.

use super::{Clock, Memory, Shared};
use crate::ptx::{
    Trap, arithmetic,
    code::{Address, Operation, Register, Special, Type},
};

const WARP: u32 = 32;
/// Instructions of a turn.
const TURN: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Runs,
    /// At the barrier of this number.
    At(u64),
    Ended,
}

pub(super) struct Thread {
    pub(super) place: [u32; 3],
    /// Of the next instruction.
    next: usize,
    pub(super) state: State,
    /// Whether it has made its first `fma`.
    multiplied: bool,
}

/// A thread that has its turn.
pub(super) struct Turn<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) block: [u32; 3],
    pub(super) thread: &'a mut Thread,
    pub(super) registers: &'a mut [u64],
}

enum Then {
    Next,
    /// As `Next`, after the instruction wrote to memory.
    Wrote,
    Jump(usize),
    /// The turn is over.
    Pause,
    Stop(State),
}

impl Thread {
    pub(super) fn new(place: [u32; 3]) -> Self {
        Self {
            place,
            next: 0,
            state: State::Runs,
            multiplied: false,
        }
    }
}

impl Turn<'_> {
    /// Executes some instructions. True where the thread waits: it has changed nothing, and sleeps or has looked at a
    /// clock, as one does that waits for no longer than some time.
    pub(super) fn run(&mut self, memory: &mut impl Memory) -> Result<bool, Trap> {
        let code = &self.shared.kernel.code;
        let mut wrote = false;
        for _ in 0..TURN {
            let Some(instruction) = code.get(self.thread.next) else {
                self.thread.state = State::Ended;
                return Ok(false);
            };
            self.thread.next += 1;
            if let Some((predicate, forbidden)) = instruction.unless
                && self.register(predicate) == u64::from(forbidden)
            {
                continue;
            }
            match self.step(&instruction.operation, memory)? {
                Then::Next => {}
                Then::Wrote => wrote = true,
                Then::Jump(to) => self.thread.next = to,
                Then::Pause => return Ok(!wrote),
                Then::Stop(state) => {
                    self.thread.state = state;
                    return Ok(false);
                }
            }
        }
        Ok(false)
    }

    fn step(&mut self, operation: &Operation, memory: &mut impl Memory) -> Result<Then, Trap> {
        match operation {
            Operation::Move { to, from } => self.set(*to, self.register(*from)),
            Operation::Binary { kind, ty, to, a, b } => {
                self.set(
                    *to,
                    arithmetic::binary(*kind, *ty, self.register(*a), self.register(*b)),
                );
            }
            Operation::Compare { kind, ty, to, a, b } => {
                let holds = arithmetic::compare(*kind, *ty, self.register(*a), self.register(*b));
                self.set(*to, u64::from(holds));
            }
            Operation::Branch { to } => return Ok(Then::Jump(*to)),
            Operation::Convert {
                to,
                to_type,
                to_bits,
                from,
                from_type,
            } => {
                let value = to_type.cut(from_type.extended(self.register(*from)));
                self.set(*to, to_type.widened(value, *to_bits));
            }
            Operation::Unary { kind, ty, to, a } => {
                self.set(*to, arithmetic::unary(*kind, *ty, self.register(*a)));
            }
            Operation::MultiplyAdd { ty, to, a, b, c } => {
                let product = self.register(*a).wrapping_mul(self.register(*b));
                self.set(*to, ty.cut(product.wrapping_add(self.register(*c))));
            }
            Operation::FusedMultiplyAdd { to, a, b, c } => self.fused(*to, [*a, *b, *c]),
            Operation::MultiplyWide { ty, to, a, b, c } => {
                self.set(
                    *to,
                    arithmetic::wide(*ty, self.register(*a), self.register(*b), self.register(*c)),
                );
            }
            Operation::Select { to, a, b, by } => {
                let chosen = if self.register(*by) == 1 { a } else { b };
                self.set(*to, self.register(*chosen));
            }
            Operation::ReadSpecial { to, from } => {
                self.set(*to, self.special(*from));
                if from.is_clock() {
                    return Ok(Then::Pause);
                }
            }
            Operation::LoadParameter {
                to,
                ty,
                to_bits,
                offset,
            } => {
                let value = parameter(&self.shared.launch.parameters, *offset, ty.bytes());
                self.set(*to, ty.widened(value, *to_bits));
            }
            Operation::Load {
                to,
                ty,
                to_bits,
                address,
            } => {
                let at = self.place_of(*address, ty.bytes() * to.len())?;
                self.load(to, *ty, *to_bits, at, memory)?;
            }
            Operation::Store { from, ty, address } => {
                let start = self.place_of(*address, ty.bytes() * from.len())?;
                for (place, source) in (start..).step_by(ty.bytes()).zip(from) {
                    memory.store(place, ty.bytes(), ty.cut(self.register(*source)))?;
                }
                return Ok(Then::Wrote);
            }
            Operation::Atomic {
                to,
                kind,
                ty,
                address,
                b,
                c,
            } => {
                let place = self.place_of(*address, ty.bytes())?;
                let (b, c) = (self.register(*b), self.register(*c));
                let change = |before| arithmetic::atomic(*kind, *ty, before, b, c);
                let before = memory.atomic(place, ty.bytes(), &change)?;
                if let Some(to) = to {
                    self.set(*to, ty.cut(before));
                }
                return Ok(Then::Wrote);
            }
            Operation::Fence => std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst),
            Operation::Sleep => return Ok(Then::Pause),
            Operation::Barrier { number } => return Ok(Then::Stop(State::At(*number))),
            Operation::Return => return Ok(Then::Stop(State::Ended)),
            Operation::Trap => return Err(Trap::Instruction),
        }
        Ok(Then::Next)
    }

    /// Loads the numbers of a vector that begins at `at`, or a single one.
    fn load(
        &mut self,
        to: &[Register],
        ty: Type,
        to_bits: u32,
        at: u64,
        memory: &mut impl Memory,
    ) -> Result<(), Trap> {
        for (place, register) in (at..).step_by(ty.bytes()).zip(to) {
            let value = memory.load(place, ty.bytes())?;
            self.set(*register, ty.widened(value, to_bits));
        }
        Ok(())
    }

    fn fused(&mut self, to: Register, sources: [Register; 3]) {
        let [a, b, c] = sources.map(|source| self.register(source));
        let mut result = arithmetic::fused(a, b, c);
        if let Some(bit) = self.shared.launch.wrong_bit
            && !self.thread.multiplied
            && [self.block, self.thread.place] == [[0; 3]; 2]
        {
            result ^= 1 << bit;
        }
        self.thread.multiplied = true;
        self.set(to, result);
    }

    fn register(&self, register: Register) -> u64 {
        self.registers.get(usize::from(register.0)).copied().unwrap_or(0)
    }

    fn set(&mut self, register: Register, value: u64) {
        if let Some(slot) = self.registers.get_mut(usize::from(register.0)) {
            *slot = value;
        }
    }

    /// The address, which must be a multiple of the access's size.
    fn place_of(&self, address: Address, size: usize) -> Result<u64, Trap> {
        let place = self.register(address.base).wrapping_add_signed(address.offset);
        // Sizes are powers of two.
        if place & (size as u64 - 1) == 0 {
            Ok(place)
        } else {
            Err(Trap::Misaligned(place))
        }
    }

    fn special(&self, special: Special) -> u64 {
        let axis = |sizes: [u32; 3], axis: usize| u64::from(sizes.get(axis).copied().unwrap_or(0));
        let Shared { launch, clock, .. } = self.shared;
        let number = || {
            let ([x, y, z], [width, height, _]) = (self.thread.place, launch.block);
            x + width * (y + height * z)
        };
        match special {
            Special::Thread(a) => axis(self.thread.place, a),
            Special::Threads(a) => axis(launch.block, a),
            Special::Block(a) => axis(self.block, a),
            Special::Blocks(a) => axis(launch.grid, a),
            Special::Lane => u64::from(number() % WARP),
            Special::Warp => u64::from(number() / WARP),
            Special::Clock64 => clock.ticks(),
            Special::Clock => clock.ticks() & u64::from(u32::MAX),
            Special::GlobalTimer => Clock::nanoseconds(),
        }
    }
}

/// Some bytes of the parameters as a number.
fn parameter(block: &[u8], offset: usize, bytes: usize) -> u64 {
    let bytes = block.get(offset..offset + bytes).unwrap_or_default();
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

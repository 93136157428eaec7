//! One thread: its registers, and what each instruction does to them.

use super::{Clock, Launch, Memory, Shared};
use crate::ptx::{
    Trap, arithmetic,
    code::{Address, Instruction, Operation, Register, Source, Special, Type},
};

const WARP: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Runs,
    /// At the barrier of this number.
    At(u64),
    Ended,
}

pub(super) struct Thread {
    registers: Vec<u64>,
    /// Of the next instruction.
    next: usize,
    block: [u32; 3],
    place: [u32; 3],
    pub(super) state: State,
    /// Whether it has made its first `fma`.
    multiplied: bool,
}

enum Then {
    Next,
    Jump(usize),
    /// The turn is over.
    Pause,
    Stop(State),
}

impl Thread {
    pub(super) fn new(registers: usize, block: [u32; 3], place: [u32; 3]) -> Self {
        Self {
            registers: vec![0; registers],
            next: 0,
            block,
            place,
            state: State::Runs,
            multiplied: false,
        }
    }

    pub(super) fn number(&self, launch: &Launch) -> u64 {
        let number = |[x, y, z]: [u32; 3], [width, height, _]: [u32; 3]| {
            u64::from(x) + u64::from(width) * (u64::from(y) + u64::from(height) * u64::from(z))
        };
        let threads: u64 = launch.block.iter().map(|size| u64::from(*size)).product();
        number(self.block, launch.grid) * threads + number(self.place, launch.block)
    }

    /// Executes some instructions, unless it waits.
    pub(super) fn turn(
        &mut self,
        shared: &Shared<'_>,
        count: usize,
        memory: &mut dyn Memory,
    ) -> Result<(), Trap> {
        if self.state != State::Runs {
            return Ok(());
        }
        for _ in 0..count {
            let Some(instruction) = shared.kernel.code.get(self.next) else {
                self.state = State::Ended;
                return Ok(());
            };
            self.next += 1;
            match self.step(shared, instruction, memory)? {
                Then::Next => {}
                Then::Jump(to) => self.next = to,
                Then::Pause => return Ok(()),
                Then::Stop(state) => {
                    self.state = state;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        shared: &Shared<'_>,
        instruction: &Instruction,
        memory: &mut dyn Memory,
    ) -> Result<Then, Trap> {
        if let Some((predicate, forbidden)) = instruction.unless
            && self.register(predicate) == forbidden
        {
            return Ok(Then::Next);
        }
        match &instruction.operation {
            Operation::Move { to, from } => self.set(*to, self.value(*from)),
            Operation::Binary { kind, ty, to, a, b } => {
                self.set(
                    *to,
                    arithmetic::binary(*kind, *ty, self.value(*a), self.value(*b)),
                );
            }
            Operation::Compare { kind, ty, to, a, b } => {
                let holds = arithmetic::compare(*kind, *ty, self.value(*a), self.value(*b));
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
                let value = to_type.cut(from_type.number(self.value(*from)) as u64);
                self.set(*to, to_type.widened(value, *to_bits));
            }
            Operation::Unary { kind, ty, to, a } => {
                self.set(*to, arithmetic::unary(*kind, *ty, self.value(*a)));
            }
            Operation::MultiplyAdd { ty, to, a, b, c } => {
                let product = self.value(*a).wrapping_mul(self.value(*b));
                self.set(*to, ty.cut(product.wrapping_add(self.value(*c))));
            }
            Operation::FusedMultiplyAdd { to, a, b, c } => self.fused(shared.launch, *to, [*a, *b, *c]),
            Operation::MultiplyWide { ty, to, a, b, c } => {
                self.set(
                    *to,
                    arithmetic::wide(*ty, self.value(*a), self.value(*b), self.value(*c)),
                );
            }
            Operation::Select { to, a, b, by } => {
                let chosen = if self.value(*by) == 1 { a } else { b };
                self.set(*to, self.value(*chosen));
            }
            Operation::ReadSpecial { to, from } => self.set(*to, self.special(shared, *from)),
            Operation::LoadParameter {
                to,
                ty,
                to_bits,
                offset,
            } => {
                let value = parameter(&shared.launch.parameters, *offset, ty.bytes());
                self.set(*to, ty.widened(value, *to_bits));
            }
            Operation::Load {
                to,
                ty,
                to_bits,
                address,
            } => {
                let start = self.place_of(*address, ty.bytes() * to.len())?;
                for (place, register) in (start..).step_by(ty.bytes()).zip(to) {
                    let value = memory.load(place, ty.bytes())?;
                    self.set(*register, ty.widened(value, *to_bits));
                }
            }
            Operation::Store { from, ty, address } => {
                let start = self.place_of(*address, ty.bytes() * from.len())?;
                for (place, source) in (start..).step_by(ty.bytes()).zip(from) {
                    memory.store(place, ty.bytes(), ty.cut(self.value(*source)))?;
                }
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
                let (b, c): (u64, u64) = (self.value(*b), self.value(*c));
                let before = memory.atomic(place, ty.bytes(), &|before| {
                    arithmetic::atomic(*kind, *ty, before, b, c)
                })?;
                if let Some(to) = to {
                    self.set(*to, Type::cut(*ty, before));
                }
            }
            Operation::Fence => std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst),
            Operation::Sleep => return Ok(Then::Pause),
            Operation::Barrier { number } => return Ok(Then::Stop(State::At(*number))),
            Operation::Return => return Ok(Then::Stop(State::Ended)),
            Operation::Trap => return Err(Trap::Instruction),
        }
        Ok(Then::Next)
    }

    fn fused(&mut self, launch: &Launch, to: Register, sources: [Source; 3]) {
        let [a, b, c] = sources.map(|source| self.value(source));
        let mut result = arithmetic::fused(a, b, c);
        if let Some(bit) = launch.wrong_bit
            && !self.multiplied
            && self.number(launch) == 0
        {
            result ^= 1 << bit;
        }
        self.multiplied = true;
        self.set(to, result);
    }

    fn register(&self, register: Register) -> u64 {
        self.registers.get(register.0).copied().unwrap_or(0)
    }

    fn set(&mut self, register: Register, value: u64) {
        if let Some(slot) = self.registers.get_mut(register.0) {
            *slot = value;
        }
    }

    fn value(&self, source: Source) -> u64 {
        match source {
            Source::Register(register) => self.register(register),
            Source::Value(value) => value,
        }
    }

    /// The address, which must be a multiple of the access's size.
    fn place_of(&self, address: Address, size: usize) -> Result<u64, Trap> {
        let place = self.register(address.base).wrapping_add_signed(address.offset);
        if place.is_multiple_of(size as u64) {
            Ok(place)
        } else {
            Err(Trap::Misaligned(place))
        }
    }

    fn special(&self, shared: &Shared<'_>, special: Special) -> u64 {
        let axis = |sizes: [u32; 3], axis: usize| u64::from(sizes.get(axis).copied().unwrap_or(0));
        let launch = shared.launch;
        let number = || {
            let ([x, y, z], [width, height, _]) = (self.place, launch.block);
            x + width * (y + height * z)
        };
        match special {
            Special::Thread(a) => axis(self.place, a),
            Special::Threads(a) => axis(launch.block, a),
            Special::Block(a) => axis(self.block, a),
            Special::Blocks(a) => axis(launch.grid, a),
            Special::Lane => u64::from(number() % WARP),
            Special::Warp => u64::from(number() / WARP),
            Special::Clock64 => shared.clock.ticks(),
            Special::Clock => shared.clock.ticks() & u64::from(u32::MAX),
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

//! Texts in, memory out. `arithmetic` holds each operation against Rust's own, `memory` and `flow` the rest, and
//! `refusals` what is not taken.

mod arithmetic;
mod flow;
mod memory;
mod refusals;

use super::{Launch, LoadError, Memory, Module, Target, Trap};

pub(super) const TARGET: Target = Target {
    compute_capability: (9, 0),
    max_version: (9, 0),
    clock_khz: 1_000_000,
};

/// Address of the test memory.
pub(super) const BASE: u64 = 0x10_0000;

/// Some bytes at [`BASE`].
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    fn place(&self, address: u64, size: usize) -> Result<usize, Trap> {
        let at = address
            .checked_sub(BASE)
            .map(|at| at as usize)
            .filter(|at| at + size <= self.0.len());
        at.ok_or(Trap::IllegalAddress(address))
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(self.0[index * 8..][..8].try_into().unwrap())
    }
}

impl Memory for Bytes {
    fn load(&mut self, address: u64, size: usize) -> Result<u64, Trap> {
        let at = self.place(address, size)?;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.0[at..at + size]);
        Ok(u64::from_le_bytes(bytes))
    }

    fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), Trap> {
        let at = self.place(address, size)?;
        self.0[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(())
    }

    fn atomic(&mut self, address: u64, size: usize, change: &dyn Fn(u64) -> u64) -> Result<u64, Trap> {
        let before = self.load(address, size)?;
        self.store(address, size, change(before))?;
        Ok(before)
    }
}

/// A kernel `k` with parameters `out`, `a`, `b` and `c` of 64 bits, loaded into `%out`, `%a64` and so on, and cut
/// into `%a32`, `%a16` … ; results go to `%r64`, `%r32`, `%r16` or `%p`.
pub(super) fn text(body: &str) -> String {
    format!(
        ".version 6.5\n.target sm_70\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{{\n\
         .reg .pred %p, %q;\n.reg .b16 %r16, %a16, %b16, %c16;\n.reg .b32 %r32, %a32, %b32, %c32;\n\
         .reg .b64 %r64, %a64, %b64, %c64, %out, %unused<3>;\n\
         ld.param.u64 %out, [out];\ncvta.to.global.u64 %out, %out;\n\
         ld.param.u64 %a64, [a];\nld.param.u64 %b64, [b];\nld.param.u64 %c64, [c];\n\
         cvt.u32.u64 %a32, %a64;\ncvt.u32.u64 %b32, %b64;\ncvt.u32.u64 %c32, %c64;\n\
         cvt.u16.u64 %a16, %a64;\ncvt.u16.u64 %b16, %b64;\ncvt.u16.u64 %c16, %c64;\n{body}\nret;\n}}\n"
    )
}

pub(super) fn load(text: &str) -> Result<Module, LoadError> {
    Module::load(text.as_bytes(), TARGET)
}

/// Runs `k` of a text with `out` at [`BASE`].
pub(super) fn run(
    text: &str,
    grid: u32,
    block: u32,
    [a, b, c]: [u64; 3],
    memory: &mut Bytes,
) -> Result<(), Trap> {
    let module = load(text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let parameters = [BASE, a, b, c]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let launch = Launch {
        wrong_bit: None,
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        parameters,
    };
    module.kernel("k").unwrap().run(&launch, memory)
}

/// What one thread leaves in the first word, after the body has set the register `result`.
pub(super) fn result(body: &str, result: &str, arguments: [u64; 3]) -> u64 {
    let store = match result {
        "%p" => "selp.u32 %r32, 1, 0, %p;\nst.global.u32 [%out], %r32;".to_owned(),
        "%r16" => "st.global.u16 [%out], %r16;".to_owned(),
        "%r32" => "st.global.u32 [%out], %r32;".to_owned(),
        other => format!("st.global.u64 [%out], {other};"),
    };
    let mut memory = Bytes(vec![0; 8]);
    run(&text(&format!("{body}\n{store}")), 1, 1, arguments, &mut memory).unwrap();
    memory.word(0)
}

/// The wrong line and what is said about it.
pub(super) fn refusal(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

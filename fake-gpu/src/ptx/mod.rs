//! PTX: the text that a driver is given, parsed into kernels and executed.
//!
//! The subset is that of hand-written integer kernels; anything else is an error of the load, never a wrong result.
//! A register holds its bits with zeros above. `parse` reads text into statements, `compile` checks them and makes
//! instructions, `run` executes a
//! grid.

mod arithmetic;
mod ast;
mod code;
mod compile;
mod error;
mod lex;
mod parse;
mod run;
#[cfg(test)]
mod tests;

pub use error::{LoadError, Trap};
pub use run::{Launch, Memory};

use std::{collections::BTreeMap, sync::Arc};

/// What a module is loaded for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Of the GPU; text for a newer one is refused.
    pub compute_capability: (u32, u32),
    /// The newest `.version` the driver translates.
    pub max_version: (u32, u32),
    /// Rate of `%clock64`, in kHz.
    pub clock_khz: u32,
}

/// Kernels by name.
#[derive(Debug, Default)]
pub struct Module {
    kernels: BTreeMap<String, Arc<Kernel>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// First byte in the block of parameters.
    pub offset: usize,
    /// Size.
    pub bytes: usize,
}

/// A kernel, ready to run.
#[derive(Debug)]
pub struct Kernel {
    name: String,
    /// In their order.
    parameters: Vec<Parameter>,
    code: Vec<code::Instruction>,
    /// What the registers of each thread hold at first.
    registers: Vec<u64>,
    clock_khz: u32,
}

impl Module {
    /// Reads a module from its text. Fails on everything outside the subset, and on text for a newer driver or GPU.
    pub fn load(text: &[u8], target: Target) -> Result<Self, LoadError> {
        let text = std::str::from_utf8(text).map_err(|_| lex::error(1, "the text is not UTF-8"))?;
        Ok(Self {
            kernels: compile::compile(&parse::parse(text)?, target)?,
        })
    }

    pub fn kernel(&self, name: &str) -> Option<Arc<Kernel>> {
        self.kernels.get(name).cloned()
    }
}

impl Kernel {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    pub fn parameter_bytes(&self) -> usize {
        self.parameters.last().map_or(0, |last| last.offset + last.bytes)
    }
}

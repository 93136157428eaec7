//! The management library: what it says about the machine. Read-only; one file for each group of functions.

mod code;
mod device;
mod links;
mod processes;
mod system;

pub(crate) use code::Code;

//! The management library: what it says about the machine. Read-only; one file for each group of functions.

mod about;
mod code;
mod device;
mod ecc;
mod fabric;
mod fields;
mod links;
mod memory;
mod modes;
mod pairs;
mod pcie;
mod power;
mod processes;
mod system;

pub(crate) use code::Code;

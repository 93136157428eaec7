//! What can be wrong with a text, and with what a kernel does.

use std::fmt;

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// What is given does not begin as PTX does, with `.version` (error 200).
    NoPtx,
    /// The text is wrong, or uses what the interpreter does not know (error 218).
    Text {
        /// 1-based.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// The text is of a newer PTX than the driver translates (error 222).
    Version {
        /// That of the text.
        found: (u32, u32),
        /// The newest that is taken.
        newest: (u32, u32),
    },
    /// The text is for a newer GPU (error 218).
    Target {
        /// That of the text, such as 70.
        found: u32,
        /// That of the GPU.
        gpu: u32,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPtx => f.write_str("no PTX: it does not begin with .version"),
            Self::Text { line, message } => write!(f, "ptx line {line}: {message}"),
            Self::Version { found, newest } => {
                write!(
                    f,
                    "ptx version {}.{} is newer than {}.{}",
                    found.0, found.1, newest.0, newest.1
                )
            }
            Self::Target { found, gpu } => write!(f, "ptx is for sm_{found}, the device is sm_{gpu}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// What stops a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// Nothing there that it may reach (error 700).
    IllegalAddress(u64),
    /// No multiple of the size (error 716).
    Misaligned(u64),
    /// The instruction `trap` (error 719).
    Instruction,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IllegalAddress(address) => write!(f, "illegal address {address:#x}"),
            Self::Misaligned(address) => write!(f, "misaligned address {address:#x}"),
            Self::Instruction => f.write_str("trap"),
        }
    }
}

impl std::error::Error for Trap {}

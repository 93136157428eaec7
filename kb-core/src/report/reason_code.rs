//! Why something is not there or did not work, for programs. The sentence beside it is for people; nothing depends on its words.

use serde::{Deserialize, Serialize};

/// A reason that something is decided by. Most reasons have no code: then the kind of the gap, the outcome of the check or
/// the code of the call says enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// The driver, the system or the hardware has no such thing. A check that was left out for that takes nothing from
    /// what the other checks of its rung show.
    NotSupported,
    /// An earlier call failed, and without it this cannot be done; `earlier_code` is what that call returned.
    EarlierCall,
    /// The library's file was not found.
    LibraryNotFound,
    /// The library's file was found and not loaded.
    LibraryNotLoaded,
    /// The library and the kernel module are of different versions.
    VersionMismatch,
    /// The GPU does not answer any more.
    GpuLost,
    /// The time of the run was spent.
    TimeSpent,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}

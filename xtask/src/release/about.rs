//! What both packages say of themselves.

pub(super) const NAME: &str = "peerless-agent";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(super) const SUMMARY: &str = "Proves whether the GPUs of a node can reach each other's memory";
pub(super) const DESCRIPTION: &str =
    "Proves whether the GPUs of a node can reach each other's memory, and names the cause where they cannot.";
pub(super) const MAINTAINER: &str = "The Peerless maintainers";
/// The oldest that the program starts with; `cargo xtask release` holds it to that.
pub(super) const GLIBC: &str = "2.17";

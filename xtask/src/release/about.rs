//! What both packages say of themselves.

/// Name of the package.
pub(super) const NAME: &str = "peerless-agent";
/// The workspace's.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// One line.
pub(super) const SUMMARY: &str = "Proves whether the GPUs of a node can reach each other's memory";
/// A paragraph.
pub(super) const DESCRIPTION: &str =
    "Proves whether the GPUs of a node can reach each other's memory, and names the cause where they cannot.";
/// Who makes it.
pub(super) const MAINTAINER: &str = "The Peerless maintainers";
/// The oldest that the program starts with; `cargo xtask release` holds it to that.
pub(super) const GLIBC: &str = "2.17";

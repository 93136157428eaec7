//! The node's name: stable across reboots, and telling nothing about the machine.

use kb_core::ids::{IdError, NodeId};
use sha2::{Digest, Sha256};

use super::HostRoot;

/// Keeps our hash of the machine id apart from everybody else's, as machine-id(5) asks for.
const PURPOSE: &str = "peerless node v1";
/// Hexadecimal digits of the hash that are kept: 80 bits, plenty for a fleet.
const DIGITS: usize = 20;

/// Files that hold a machine's own identifier, best first. The first two are readable to all.
const SOURCES: [&str; 3] = [
    "etc/machine-id",
    "var/lib/dbus/machine-id",
    "sys/class/dmi/id/product_uuid",
];

/// What systemd writes while a machine has no id of its own yet (machine-id(5)): the same on every one.
const UNINITIALIZED: &str = "uninitialized";

/// The node's id, from the machine id, else from the host name, else `unnamed`.
pub(super) fn node_id(root: &HostRoot, hostname: Option<&str>) -> Result<NodeId, IdError> {
    let mut ids = SOURCES.iter().filter_map(|path| root.line(path).value);
    let machine = ids.find(|id| id != UNINITIALIZED);
    let text = match (machine, hostname) {
        (Some(machine), _) => format!("node-{}", hashed("machine", &machine)),
        (None, Some(hostname)) => format!("host-{}", hashed("hostname", hostname)),
        (None, None) => "unnamed".to_owned(),
    };
    text.parse()
}

fn hashed(kind: &str, secret: &str) -> String {
    let digest = Sha256::digest(format!("{PURPOSE}\n{kind}\n{secret}"));
    let hex = format!("{digest:x}");
    hex.chars().take(DIGITS).collect()
}

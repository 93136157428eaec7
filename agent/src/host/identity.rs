//! The node's name: stable across reboots, and telling nothing about the machine.

use kb_core::ids::{IdError, NodeId};
use sha2::{Digest, Sha256};

use super::HostRoot;

/// Keeps our hash of the machine id apart from everybody else's, as machine-id(5) asks for.
const PURPOSE: &str = "peerless node v1";
/// Hexadecimal digits of the hash that are kept: 80 bits, plenty for a fleet.
const DIGITS: usize = 20;

/// Files that hold a machine's own identifier, best first. The first two are readable to all.
const SOURCES: [&str; 3] = ["etc/machine-id", "var/lib/dbus/machine-id", BOARD];

/// The board's own identifier (DMI), which the copy of a disk image does not bring along. Root alone can read it.
const BOARD: &str = "sys/class/dmi/id/product_uuid";

/// What systemd writes while a machine has no id of its own yet (machine-id(5)): the same on every one.
const UNINITIALIZED: &str = "uninitialized";

/// The node's id, from the machine id and, as root, the board's: nodes that were cloned from one image share the first
/// where nobody made it anew. Else from the host name, else `unnamed`.
pub(super) fn node_id(root: &HostRoot, hostname: Option<&str>) -> Result<NodeId, IdError> {
    let mut ids = SOURCES.iter().filter_map(|path| root.line(path).value);
    let machine = ids.find(|id| id != UNINITIALIZED);
    let text = match (machine, hostname) {
        (Some(machine), _) => {
            let board = root.line(BOARD).value.filter(|board| *board != machine);
            let both = board.map_or_else(|| machine.clone(), |board| format!("{machine}\n{board}"));
            format!("node-{}", hashed("machine", &both))
        }
        (None, Some(hostname)) => format!("host-{}", hashed("hostname", hostname)),
        (None, None) => "unnamed".to_owned(),
    };
    text.parse()
}

/// What tells this machine from others, as a hash: all that it says of itself, or its host name. It stays when the system
/// is installed anew only as far as the board names itself. `None` where it says nothing.
pub(super) fn machine(root: &HostRoot, hostname: Option<&str>) -> Option<String> {
    let ids = [BOARD, "etc/machine-id", "var/lib/dbus/machine-id"];
    let mut ids = ids.iter().filter_map(|path| root.line(path).value);
    let id = ids.find(|id| id != UNINITIALIZED);
    let id = id.as_deref().or(hostname)?;
    Some(hashed("enrolment", id))
}

fn hashed(kind: &str, secret: &str) -> String {
    let digest = Sha256::digest(format!("{PURPOSE}\n{kind}\n{secret}"));
    let hex = format!("{digest:x}");
    hex.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        node_id(&HostRoot::new(folder.path()), Some("gpu-17"))
            .unwrap()
            .to_string()
    }

    #[test]
    fn nodes_of_one_image_are_told_apart_by_their_boards() {
        let image = ("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        let one = id_of(&[image, (BOARD, "4c4c4544-0001\n")]);
        let other = id_of(&[image, (BOARD, "4c4c4544-0002\n")]);
        assert_ne!(one, other);
        assert_eq!(
            one,
            id_of(&[image, (BOARD, "4c4c4544-0001\n")]),
            "after a boot, in another pod"
        );
        assert_ne!(
            id_of(&[(BOARD, "4c4c4544-0001\n")]),
            id_of(&[]),
            "the board alone does where there is no more"
        );
    }
}

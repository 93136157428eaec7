//! What programs on several GPUs run out of: shared memory, locked memory; and the processors' NUMA nodes.

use std::collections::BTreeMap;

use kb_core::report::{Fact, GapKind};
use rustix::process::{Resource, getrlimit};
use serde_json::Value;

use super::{HostRoot, absent, root::unread};

const SHARED_MEMORY: &str = "dev/shm";
const NODES: &str = "sys/devices/system/node/online";

/// The facts under `shm.`, `limits.` and `host.numa_nodes`.
pub(super) fn facts(root: &HostRoot) -> BTreeMap<String, Fact> {
    let shared = shared_memory(root);
    BTreeMap::from([
        (
            "shm.total_bytes".to_owned(),
            shared.clone().map(|(total, _)| total.into()),
        ),
        ("shm.free_bytes".to_owned(), shared.map(|(_, free)| free.into())),
        ("limits.memlock_bytes".to_owned(), locked_memory()),
        (
            "host.numa_nodes".to_owned(),
            root.find(NODES, "it is no list of numbers", count)
                .map(Into::into),
        ),
    ])
}

/// Total and free bytes.
fn shared_memory(root: &HostRoot) -> Fact<(u64, u64)> {
    let stat = root
        .path(SHARED_MEMORY)
        .and_then(|path| rustix::fs::statvfs(&path).map_err(Into::into));
    match stat {
        Ok(stat) => {
            let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
            Fact::read(
                (bytes(stat.f_blocks), bytes(stat.f_bavail)),
                format!("/{SHARED_MEMORY}"),
            )
        }
        Err(error) => unread(SHARED_MEMORY, &error),
    }
}

/// The agent's own limit, which programs started beside it share; `unlimited` where there is none.
fn locked_memory() -> Fact {
    let limit = getrlimit(Resource::Memlock).current;
    let value = limit.map_or_else(|| Value::from("unlimited"), Value::from);
    Fact::read(value, "getrlimit(RLIMIT_MEMLOCK)")
}

/// `0-1,4` is three.
fn count(text: &str) -> Option<u64> {
    let part = |part: &str| -> Option<u64> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    let mut counts = text.trim().split(',').map(part);
    counts.try_fold(0_u64, |sum, count| sum.checked_add(count?))
}

/// Whether the service that sets up the NVSwitch fabric runs: `running`, `installed, not running`, `not installed`.
/// systemd keeps one control group a service while it runs; without systemd in sight nothing is said.
pub(super) fn fabric_manager(root: &HostRoot) -> Fact<String> {
    const SERVICE: &str = "nvidia-fabricmanager.service";
    const GROUPS: [&str; 2] = ["sys/fs/cgroup/system.slice", "sys/fs/cgroup/systemd/system.slice"];
    const UNITS: [&str; 3] = [
        "etc/systemd/system",
        "usr/lib/systemd/system",
        "lib/systemd/system",
    ];
    let services = GROUPS.iter().find(|path| root.has(path) == Some(true));
    let Some(services) = services else {
        let reason = "not visible from here: systemd's control groups are not shown";
        return absent(GapKind::NotVisible, GROUPS[0], reason);
    };
    let has_unit = |folder: &&str| root.has(&format!("{folder}/{SERVICE}")) == Some(true);
    let (state, source) = if has_unit(services) {
        ("running", services)
    } else if let Some(folder) = UNITS.iter().find(|folder| has_unit(folder)) {
        ("installed, not running", folder)
    } else {
        ("not installed", services)
    };
    Fact::read(state.to_owned(), format!("/{source}/{SERVICE}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::tree::tree;

    #[test]
    fn lists_of_nodes_are_counted() {
        for (list, expected) in [
            ("0\n", Some(1)),
            ("0-1", Some(2)),
            ("0-1,4,6-7", Some(5)),
            ("", None),
            ("3-1", None),
            ("0-18446744073709551615", None),
        ] {
            assert_eq!(count(list), expected, "{list}");
        }
    }

    #[test]
    fn shared_memory_is_that_below_the_root() {
        let root = tree(&[("dev/shm/x", ""), (NODES, "0-1\n")]);
        let facts = facts(&HostRoot::new(root.path()));
        let bytes = |name: &str| facts[name].value.as_ref().unwrap().as_u64().unwrap();
        assert!(bytes("shm.total_bytes") >= bytes("shm.free_bytes"));
        assert!(bytes("shm.total_bytes") > 0);
        assert_eq!(bytes("host.numa_nodes"), 2);
        assert!(facts["limits.memlock_bytes"].value.is_some());
        let nothing = super::facts(&HostRoot::new(root.path().join("nothing")));
        assert!(nothing["shm.total_bytes"].gap.is_some());
    }

    #[test]
    fn the_fabric_manager_runs_is_installed_or_neither() {
        let state = |files: &[(&str, &str)]| fabric_manager(&HostRoot::new(tree(files).path())).value;
        let some = ("sys/fs/cgroup/system.slice/cron.service/cgroup.procs", "1");
        let unit = ("usr/lib/systemd/system/nvidia-fabricmanager.service", "");
        let group = (
            "sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.procs",
            "9",
        );
        assert_eq!(state(&[some, unit, group]).as_deref(), Some("running"));
        assert_eq!(state(&[some, unit]).as_deref(), Some("installed, not running"));
        assert_eq!(state(&[some]).as_deref(), Some("not installed"));
        assert_eq!(state(&[unit]), None);
    }
}

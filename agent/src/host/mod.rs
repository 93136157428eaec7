//! Facts of the host: what the kernel's files say, each with its source or the reason why it is not there.
//!
//! Everything is read below one root, so that tests use a tree of their own and an agent in a container can be
//! shown the host's.

mod driver;
mod environment;
mod functions;
mod identity;
mod iommu;
mod kernel_log;
mod libraries;
mod near;
mod network;
mod pci;
mod place;
mod resources;
mod root;
mod watch;

pub(crate) use driver::{gpu_model, version as driver_version};
pub(crate) use functions::{BusGpu, Visibility, bus_gpus, view, visibility};
pub(crate) use kernel_log::{Follower, LogEvents, events, events_of_run};
pub(crate) use libraries::{NotLoaded, file_to_open, found_file};
pub(crate) use near::{Near, near};
pub(crate) use pci::shifts_numbers;
pub(crate) use root::HostRoot;
pub(crate) use watch::Watch;

use std::collections::BTreeMap;

use kb_core::health::LogPlace;
use kb_core::ids::IdError;
use kb_core::report::{Fact, GapKind, Node, fact_name};
use serde_json::{Value, json};
use time::OffsetDateTime;

pub(crate) struct Host {
    pub(crate) node: Node,
    pub(crate) facts: BTreeMap<String, Fact>,
}

pub(crate) fn node(root: &HostRoot) -> Result<Node, IdError> {
    let hostname = root.line("proc/sys/kernel/hostname").value;
    Ok(Node {
        id: identity::node_id(root, hostname.as_deref())?,
        hostname,
        boot_id: root.line("proc/sys/kernel/random/boot_id").value,
    })
}

/// What tells this machine from others, as a hash; `None` where it says nothing of itself.
pub(crate) fn machine(root: &HostRoot) -> Option<String> {
    let hostname = root.line("proc/sys/kernel/hostname").value;
    identity::machine(root, hostname.as_deref())
}

/// Reads everything. What is not there is a gap; only a node that cannot be named is an error.
pub(crate) fn read(root: &HostRoot, watch: &Watch) -> Result<Host, IdError> {
    let hostname = root.line("proc/sys/kernel/hostname");
    let boot_id = root.line("proc/sys/kernel/random/boot_id");
    let node = node(root)?;
    let mut facts = BTreeMap::from([
        ("host.name".to_owned(), text(hostname)),
        ("boot.id".to_owned(), text(boot_id)),
        (
            "kernel.release".to_owned(),
            text(root.line("proc/sys/kernel/osrelease")),
        ),
        (
            "kernel.command_line".to_owned(),
            text(kernel_options(root, |name| {
                name.contains("iommu") || name.starts_with("pci") || name.starts_with("nvidia")
            })),
        ),
        ("os.name".to_owned(), text(os_name(root))),
        (
            fact_name::BIOS_VERSION.to_owned(),
            text(root.line("sys/class/dmi/id/bios_version")),
        ),
        ("host.container".to_owned(), text(place::container(root))),
        (
            "host.virtual_machine".to_owned(),
            text(place::virtual_machine(root)),
        ),
        (
            fact_name::FABRIC_MANAGER_SERVICE.to_owned(),
            text(resources::fabric_manager(root)),
        ),
    ]);
    facts.extend(driver::facts(root));
    facts.extend(iommu::facts(root, watch.log.about_iommu()));
    facts.extend(network::facts(root));
    facts.extend(resources::facts(root));
    let surroundings = libraries::Surroundings::of_this_process();
    facts.extend(libraries::facts(root, &surroundings));
    let home = surroundings.home.as_deref();
    facts.extend(environment::facts(root, home, std::env::vars_os()));
    Ok(Host { node, facts })
}

pub(crate) fn gpu_facts(root: &HostRoot, pci_address: &str) -> BTreeMap<String, Fact> {
    pci::gpu_facts(root, pci_address)
}

/// The GPUs of the machine by their addresses, each with those of the bridges above it.
pub(crate) fn gpus_on_bus(root: &HostRoot) -> Vec<(String, Vec<String>)> {
    pci::gpus_with_bridges(root)
}

/// Addresses of devices that are no GPU. A bridge with nothing below it is left out: what was there is not known.
pub(crate) fn others_on_bus(root: &HostRoot) -> Vec<String> {
    pci::others(root)
}

pub(crate) fn pair_facts(root: &HostRoot, a: &str, b: &str) -> BTreeMap<String, Fact> {
    pci::pair_facts(root, a, b)
}

/// Why a look that goes on from this place would not have all of the kernel log.
pub(crate) fn unread_log(
    root: &HostRoot,
    boot_id: Option<&str>,
    from: Option<&LogPlace>,
    now: OffsetDateTime,
) -> Option<Fact> {
    let why = events_of_run(root, boot_id, from, now).unread?;
    Some(Fact::missing(GapKind::Failed, why, "kernel log"))
}

fn text(fact: Fact<String>) -> Fact {
    fact.map(Into::into)
}

/// Options of the kernel's command line by their names; the rest of it is nobody's business.
fn kernel_options(root: &HostRoot, wanted: impl Fn(&str) -> bool) -> Fact<String> {
    root.find("proc/cmdline", "it cannot be read as text", |content| {
        let is_wanted = |word: &&str| wanted(word.split('=').next().unwrap_or_default());
        let words: Vec<&str> = content.split_whitespace().filter(is_wanted).collect();
        Some(words.join(" "))
    })
}

fn os_name(root: &HostRoot) -> Fact<String> {
    root.find("etc/os-release", "it has no PRETTY_NAME", |content| {
        let value = content
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(value.trim_matches('"').to_owned())
    })
}

/// A file that is not there says nothing about the host in general, but that of the NVIDIA kernel module does.
fn absent<T>(kind: GapKind, source: &str, reason: impl Into<String>) -> Fact<T> {
    Fact::missing(kind, reason, format!("/{source}"))
}

/// A fact inside another one: its value, or `{"gap": {"kind", "reason"}}`.
fn embedded<T: Into<Value>>(fact: Fact<T>) -> Value {
    match (fact.value, fact.gap) {
        (Some(value), _) => value.into(),
        (None, gap) => json!({ "gap": gap }),
    }
}

#[cfg(test)]
mod tests;

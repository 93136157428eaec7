//! Facts of the host: what the kernel's files say, each with its source or the reason why it is not there.
//!
//! Everything is read below one root, so that tests use a tree of their own and an agent in a container can be
//! shown the host's.

mod identity;
mod place;
mod root;

pub(crate) use root::HostRoot;

use std::collections::BTreeMap;

use kb_core::ids::IdError;
use kb_core::report::{Fact, GapKind, Node};

/// Variables that are recorded where they are set: they change what the driver shows or does. Nothing else of the
/// environment is ever read.
const RECORDED_VARIABLES: [&str; 6] = [
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_INJECTION64_PATH",
    "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
    "CUDA_DISABLE_PTX_JIT",
    "CUDA_DEVICE_ORDER",
];

/// What the host says about itself.
pub(crate) struct Host {
    pub(crate) node: Node,
    /// By dotted name.
    pub(crate) facts: BTreeMap<String, Fact>,
}

/// Reads everything. What is not there is a gap; only a node that cannot be named is an error.
pub(crate) fn read(root: &HostRoot) -> Result<Host, IdError> {
    let hostname = root.line("proc/sys/kernel/hostname");
    let boot_id = root.line("proc/sys/kernel/random/boot_id");
    let node = Node {
        id: identity::node_id(root, hostname.value.as_deref())?,
        hostname: hostname.value.clone(),
        boot_id: boot_id.value.clone(),
    };
    let mut facts = BTreeMap::from([
        ("host.name".to_owned(), text(hostname)),
        ("boot.id".to_owned(), text(boot_id)),
        (
            "kernel.release".to_owned(),
            text(root.line("proc/sys/kernel/osrelease")),
        ),
        ("kernel.command_line".to_owned(), text(kernel_options(root))),
        ("os.name".to_owned(), text(os_name(root))),
        ("driver.version".to_owned(), text(driver_version(root))),
        ("driver.flavour".to_owned(), text(driver_flavour(root))),
        ("host.container".to_owned(), text(place::container(root))),
        (
            "host.virtual_machine".to_owned(),
            text(place::virtual_machine(root)),
        ),
    ]);
    for variable in RECORDED_VARIABLES {
        if let Some(value) = std::env::var_os(variable) {
            let value = value.to_string_lossy().into_owned();
            let name = format!("environment.{}", variable.to_ascii_lowercase());
            facts.insert(name, text(Fact::read(value, "environment of the agent")));
        }
    }
    Ok(Host { node, facts })
}

fn text(fact: Fact<String>) -> Fact {
    fact.map(Into::into)
}

/// `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build …`
const DRIVER_FILE: &str = "proc/driver/nvidia/version";

fn driver_version(root: &HostRoot) -> Fact<String> {
    root.find(DRIVER_FILE, "it names no version", |content| {
        let line = content.lines().find(|line| line.starts_with("NVRM version:"))?;
        let mut words = line.split_whitespace();
        words.find(|word| is_version(word)).map(str::to_owned)
    })
}

/// Three or two numbers, as in `580.159.04`.
fn is_version(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (2..=3).contains(&parts.len()) && parts.iter().all(is_number)
}

fn driver_flavour(root: &HostRoot) -> Fact<String> {
    root.find(DRIVER_FILE, "it has no version line", |content| {
        let line = content.lines().find(|line| line.starts_with("NVRM version:"))?;
        let flavour = if line.contains("Open Kernel Module") {
            "open"
        } else {
            "proprietary"
        };
        Some(flavour.to_owned())
    })
}

/// The options that decide how DMA is translated; the rest of the command line is nobody's business.
fn kernel_options(root: &HostRoot) -> Fact<String> {
    let wanted = |word: &&str| {
        let name = word.split('=').next().unwrap_or_default();
        name.contains("iommu") || name.starts_with("pci") || name.starts_with("nvidia")
    };
    root.find("proc/cmdline", "it cannot be read as text", |content| {
        let words: Vec<&str> = content.split_whitespace().filter(wanted).collect();
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
pub(super) fn absent(kind: GapKind, source: &str, reason: impl Into<String>) -> Fact<String> {
    Fact::missing(kind, reason, format!("/{source}"))
}

#[cfg(test)]
mod tests;

//! Whether this is a container or a virtual machine: then much of the host is not visible from here.

use kb_core::report::{Fact, GapKind};

use super::HostRoot;

/// What container this is by the marks that runtimes leave; `none seen` where there is no mark.
pub(super) fn container(root: &HostRoot) -> Fact<String> {
    for (mark, runtime) in [(".dockerenv", "docker"), ("run/.containerenv", "podman")] {
        if root.has(mark) == Some(true) {
            return Fact::read(runtime.to_owned(), format!("/{mark}"));
        }
    }
    let groups = root.text("proc/1/cgroup");
    let Some(content) = groups.value else {
        return groups;
    };
    let known = ["kubepods", "docker", "containerd", "libpod", "lxc", "garden"];
    let found = known.into_iter().find(|name| content.contains(name));
    Fact::read(found.unwrap_or("none seen").to_owned(), groups.source)
}

/// Enough of /proc/cpuinfo for the first processor. The whole of it takes milliseconds where there are hundreds.
const FIRST_PROCESSOR_BYTES: u64 = 8 * 1024;

/// Whether the first processor says that a hypervisor stands behind it; false where that cannot be seen.
pub(super) fn is_virtual_machine(root: &HostRoot) -> bool {
    let cpu = root.text_up_to("proc/cpuinfo", FIRST_PROCESSOR_BYTES);
    let flags = cpu.value.as_deref().and_then(flags);
    flags.is_some_and(has_hypervisor)
}

fn flags(cpuinfo: &str) -> Option<&str> {
    cpuinfo.lines().find(|line| line.starts_with("flags"))
}

fn has_hypervisor(flags: &str) -> bool {
    flags.split_whitespace().any(|flag| flag == "hypervisor")
}

/// What hypervisor this runs under, as the firmware and the CPU say; `none seen` where neither does.
pub(super) fn virtual_machine(root: &HostRoot) -> Fact<String> {
    let cpu = root.text_up_to("proc/cpuinfo", FIRST_PROCESSOR_BYTES);
    let Some(content) = &cpu.value else { return cpu };
    let Some(flags) = flags(content) else {
        return super::absent(GapKind::NotSupported, "proc/cpuinfo", "this CPU lists no flags");
    };
    if !has_hypervisor(flags) {
        return Fact::read("none seen".to_owned(), cpu.source);
    }
    let vendor = root.line("sys/class/dmi/id/sys_vendor");
    let product = root.line("sys/class/dmi/id/product_name");
    match (vendor.value, product.value) {
        (Some(vendor), Some(name)) => Fact::read(format!("{vendor} {name}"), product.source),
        _ => Fact::read("hypervisor, of unknown make".to_owned(), cpu.source),
    }
}

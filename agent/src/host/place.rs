//! Whether this is a container or a virtual machine: then much of the host is not visible from here.

use kb_core::report::{Fact, GapKind};

use super::HostRoot;

/// What container this is by the marks that runtimes leave, the one that decides most first; `slurm job` where
/// nothing but a job's control group is around; `none seen` where there is no mark.
pub(super) fn container(root: &HostRoot) -> Fact<String> {
    let groups = root.text("proc/1/cgroup");
    let own = root.text("proc/self/cgroup");
    let marked = by_kernel(root).or_else(|| by_file(root));
    if let Some(found) = marked {
        return found;
    }
    let mounts = root
        .text("proc/self/mountinfo")
        .map(|mounts| mounts_of_a_root(&mounts));
    let texts = [&groups, &own, &mounts];
    for (word, runtime) in WORDS {
        let told = texts
            .iter()
            .find(|text| text.value.as_deref().is_some_and(|text| text.contains(word)));
        if let Some(text) = told {
            return Fact::read(runtime.to_owned(), text.source.clone());
        }
    }
    for text in [&groups, &own] {
        if text.value.as_deref().is_some_and(is_slurm_job) {
            return Fact::read("slurm job".to_owned(), text.source.clone());
        }
    }
    match groups.value {
        Some(_) => Fact::read("none seen".to_owned(), groups.source),
        None => groups,
    }
}

/// Words in control groups and in the mounts of a process. A folder of a runtime's store is its container's root.
const WORDS: [(&str, &str); 10] = [
    ("kubepods", "kubernetes"),
    ("/docker-", "docker"),
    ("/docker/", "docker"),
    ("/libpod-", "podman"),
    ("containers/storage/overlay", "podman"),
    ("cri-containerd", "containerd"),
    ("io.containerd.snapshotter", "containerd"),
    ("/containerd", "containerd"),
    ("/lxc", "lxc"),
    ("/garden", "garden"),
];

/// What a runtime mounts for its container. The host sees the roots of all its containers, each in its own place.
fn mounts_of_a_root(mounts: &str) -> String {
    const PLACES: [&str; 4] = ["/", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"];
    let of_root = |line: &&str| {
        line.split(' ')
            .nth(4)
            .is_some_and(|place| PLACES.contains(&place))
    };
    mounts.lines().filter(of_root).collect::<Vec<_>>().join("\n")
}

/// Whether the control group is that of a job (`…/slurmstepd.scope/job_42/step_0/user`, `/slurm/uid_1000/job_42`); those of
/// slurmd, prolog and epilog are not.
pub(super) fn is_slurm_job(groups: &str) -> bool {
    let is_job = |part: &str| {
        let number = part.strip_prefix("job_").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut groups = groups.lines().filter(|line| line.contains("slurm"));
    groups.any(|line| line.split('/').any(is_job))
}

/// gVisor is a kernel of its own, which says when Linux 4.4 would have been built (its `linux64.go`).
fn by_kernel(root: &HostRoot) -> Option<Fact<String>> {
    let version = root.text("proc/version");
    let text = version.value?;
    let is_gvisor = text.contains("gvisor") || text.contains("Sun Jan 10 15:06:54 PST 2016");
    is_gvisor.then(|| Fact::read("gvisor".to_owned(), version.source))
}

/// Files that a runtime puts into its containers.
const MARKS: [(&str, &str); 4] = [
    ("var/run/secrets/kubernetes.io", "kubernetes"),
    ("run/secrets/kubernetes.io", "kubernetes"),
    (".dockerenv", "docker"),
    ("run/.containerenv", "podman"),
];
/// Files that hold a name (systemd's container interface).
const NAMED_MARKS: [&str; 2] = ["run/systemd/container", "run/host/container-manager"];

/// The file system of a diskless node may be made from an image of a container, and still hold its marks. They count for
/// nothing where the process is in the host's own namespaces.
fn by_file(root: &HostRoot) -> Option<Fact<String>> {
    // Apptainer stays in the host's namespaces.
    if let Some(found) = by_variable(
        root,
        "proc/self/environ",
        &["APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"],
    ) {
        return Some(found.map(|_| "apptainer".to_owned()));
    }
    if is_in_first_namespaces(root) {
        return None;
    }
    let is_there = |(mark, _): &&(&str, &str)| root.has(mark) == Some(true);
    if let Some((mark, runtime)) = MARKS.iter().find(is_there) {
        return Some(Fact::read((*runtime).to_owned(), format!("/{mark}")));
    }
    let mut named = NAMED_MARKS.iter().map(|mark| root.line(mark));
    // `container=lxc`, which a container's first process gets (systemd's container interface).
    let variable = || by_variable(root, "proc/1/environ", &["container"]);
    named.find(|name| name.value.is_some()).or_else(variable)
}

fn by_variable(root: &HostRoot, path: &str, names: &[&str]) -> Option<Fact<String>> {
    let variables = root.text(path);
    let text = variables.value?;
    let mut variables_of = text.split('\0').filter_map(|variable| variable.split_once('='));
    let (_, value) = variables_of.find(|(name, value)| names.contains(name) && !value.is_empty())?;
    Some(Fact::read(value.to_owned(), variables.source))
}

/// The kernel's first namespaces have fixed numbers (`PROC_PID_INIT_INO`, `PROC_CGROUP_INIT_INO` in `include/linux/proc_ns.h`).
fn is_in_first_namespaces(root: &HostRoot) -> bool {
    [("pid", 0xEFFF_FFFC_u32), ("cgroup", 0xEFFF_FFFB)]
        .iter()
        .all(|(kind, number)| {
            let link = root.link(&format!("proc/self/ns/{kind}")).value;
            link.is_some_and(|link| link.ends_with(&format!("{kind}:[{number}]")))
        })
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

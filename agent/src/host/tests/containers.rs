//! Containers and virtual machines by the marks that they leave.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::tree::tree;
use super::*;

fn container(files: &[(&str, &str)]) -> Fact<String> {
    place::container(&HostRoot::new(tree(files).path()))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn containers_are_told_by_their_marks() {
    let group = "0::/\n";
    for (expected, mark) in [
        ("docker", (".dockerenv", "")),
        ("podman", ("run/.containerenv", "engine=\"podman-5\"")),
        (
            "kubernetes",
            ("var/run/secrets/kubernetes.io/serviceaccount/namespace", "x"),
        ),
        (
            "kubernetes",
            (
                "proc/self/cgroup",
                "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1.scope\n",
            ),
        ),
        ("docker", ("proc/self/cgroup", "12:pids:/docker/0123456789ab\n")),
        (
            "podman",
            ("proc/self/cgroup", "0::/user.slice/libpod-0123.scope\n"),
        ),
        (
            "containerd",
            (
                "proc/self/mountinfo",
                "1 2 0:3 / / rw - overlay overlay rw,lowerdir=/var/lib/x/io.containerd.snapshotter.v1.overlayfs/1/fs\n",
            ),
        ),
        ("lxc", ("run/systemd/container", "lxc\n")),
        (
            "systemd-nspawn",
            ("run/host/container-manager", "systemd-nspawn\n"),
        ),
        ("lxc", ("proc/1/environ", "TERM=linux\0container=lxc\0")),
        (
            "apptainer",
            (
                "proc/self/environ",
                "HOME=/root\0APPTAINER_CONTAINER=/images/a.sif\0",
            ),
        ),
        (
            "slurm job",
            (
                "proc/self/cgroup",
                "0::/system.slice/slurmstepd.scope/job_42/step_0\n",
            ),
        ),
        (
            "slurm job",
            ("proc/self/cgroup", "4:devices:/slurm/uid_1000/job_42/step_0\n"),
        ),
        // Prolog and epilog, which see all.
        (
            "none seen",
            ("proc/self/cgroup", "0::/system.slice/slurmd.service\n"),
        ),
        (
            "none seen",
            ("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/system\n"),
        ),
        // A host sees what it mounts for others.
        (
            "none seen",
            (
                "proc/self/mountinfo",
                "1 2 8:1 / / rw - ext4 /dev/sda1 rw\n\
                 2 1 0:3 / /opt/slurm rw - nfs4 server:/opt/slurm rw\n\
                 3 1 0:4 / /run/containerd/io.containerd.runtime.v2.task/k8s.io/1/rootfs rw - overlay overlay \
                 rw,lowerdir=/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/1/fs\n\
                 4 1 0:5 / /var/lib/docker/overlay2/1/merged rw - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A\n",
            ),
        ),
        (
            "docker",
            (
                "proc/self/mountinfo",
                "1 2 8:1 /var/lib/docker/containers/1/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n",
            ),
        ),
        (
            "gvisor",
            (
                "proc/version",
                "Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
            ),
        ),
        (
            "gvisor",
            (
                "proc/version",
                "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
            ),
        ),
        (
            "none seen",
            ("proc/version", "Linux version 6.8.0-60-generic (buildd@lcy02)\n"),
        ),
        (
            "none seen",
            ("proc/self/mountinfo", "1 2 8:1 / / rw - ext4 /dev/sda1 rw\n"),
        ),
    ] {
        let found = container(&[("proc/1/cgroup", group), mark]);
        assert_eq!(found.value.as_deref(), Some(expected), "{mark:?}");
    }
    assert!(container(&[]).gap.is_some());
}

/// A diskless node whose file system was made from an image of a container.
#[test]
fn marks_of_an_image_count_for_nothing_in_the_namespaces_of_the_host() {
    let left_over = [
        (".dockerenv", ""),
        ("run/.containerenv", ""),
        ("proc/1/cgroup", "0::/init.scope\n"),
    ];
    for (pid, cgroup, expected) in [
        ("4026531836", "4026531835", "none seen"),
        ("4026532001", "4026531835", "docker"),
        ("4026531836", "4026532002", "docker"),
    ] {
        let root = tree(&left_over);
        let folder = root.path().join("proc/self/ns");
        fs::create_dir_all(&folder).unwrap();
        symlink(format!("pid:[{pid}]"), folder.join("pid")).unwrap();
        symlink(format!("cgroup:[{cgroup}]"), folder.join("cgroup")).unwrap();
        let found = place::container(&HostRoot::new(root.path()));
        assert_eq!(found.value.as_deref(), Some(expected), "{pid} {cgroup}");
    }
}

#[test]
fn a_masked_container_leaves_gaps_and_never_values() {
    // As container runtimes mask: empty folders and empty files where something was.
    let root = tree(&[
        (".dockerenv", ""),
        ("proc/1/cgroup", "0::/\n"),
        ("proc/cmdline", ""),
        ("proc/driver/nvidia/params", ""),
    ]);
    for folder in [
        "sys/kernel/iommu_groups",
        "sys/module",
        "sys/bus/pci/devices",
        "sys/class",
    ] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    let host = read_at(root.path());
    assert_eq!(value(&host, "host.container"), Some("docker"));
    for name in [
        "iommu.mode",
        "iommu.units",
        "driver.version",
        "driver.parameters",
        "driver.registry_dwords",
        "peermem.module",
        "gdrcopy.module",
        "dma_buf.support",
        "infiniband.ports",
        "fabric_manager.service",
        "shm.total_bytes",
        "host.numa_nodes",
    ] {
        let fact = &host.facts[name];
        assert!(fact.value.is_none() && fact.gap.is_some(), "{name}: {fact:?}");
    }
    assert_eq!(host.facts["libraries.cuda"].value, Some(json!([])));
}

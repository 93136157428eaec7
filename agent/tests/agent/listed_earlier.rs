//! GPUs that were listed earlier in this boot and are listed no more.

use std::os::unix::fs::symlink;

use fake_gpu::Scenario;

use crate::node::{Node, Run};
use crate::tree::{device, write};

/// Where the GPUs of the scenario are.
const SECOND: &str = "0000:00:07.0";

/// Four GPUs that a look has seen.
fn looked_at() -> Node {
    let node = Node::with(&Scenario::healthy(4));
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    assert_eq!(look(&node).code, 0);
    node
}

fn look(node: &Node) -> Run {
    with_state(node, "daemon", &["--once"])
}

fn with_state(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let state = node.path("state");
    node.run(verb, &[arguments, &["--state", state.to_str().unwrap()]].concat())
}

/// NVML and CUDA list the others, as behind a removal.
pub(crate) fn without(gpus: usize, lost: usize) -> Scenario {
    let mut scenario = Scenario::healthy(gpus - 1);
    let mut left = Scenario::healthy(gpus).gpus;
    left.remove(lost);
    scenario.gpus = left;
    scenario
}

/// Only the ledger knows of it until the daemon looks again.
#[test]
fn a_run_by_number_behind_it_is_of_other_gpus_than_meant() {
    for asked in ["1,2", "2"] {
        let node = looked_at();
        node.becomes(&without(4, 1));
        let run = with_state(&node, "probe", &["--devices", asked]);
        assert_eq!(run.code, 2, "{asked}: {}", run.stderr);
        assert!(run.stderr.contains("gpu_lost"), "{asked}: {}", run.stderr);
        assert!(run.stderr.contains(SECOND), "{asked}: {}", run.stderr);
        // The health check and the next job go by it.
        let ledger = std::fs::read_to_string(node.path("state/ledger.json")).unwrap();
        assert!(ledger.contains(&format!("gpu_lost@{SECOND}")), "{ledger}");
    }
    let node = looked_at();
    node.becomes(&without(4, 1));
    let mut command = node.command("probe");
    command.arg("--state").arg(node.path("state"));
    let run = Run::of(&command.env("CUDA_VISIBLE_DEVICES", "1,2").output().unwrap());
    assert_eq!(run.code, 2, "{}", run.stderr);
}

#[test]
fn numbers_in_front_of_it_and_names_are_what_they_were() {
    let node = looked_at();
    node.becomes(&without(4, 1));
    let names: Vec<String> = node
        .probe(&[])
        .0
        .gpus
        .iter()
        .map(|gpu| gpu.uuid.value.clone().unwrap())
        .collect();
    for asked in ["0", &names[1..].join(",")] {
        let run = with_state(&node, "probe", &["--devices", asked]);
        assert_eq!(run.code, 0, "{asked}: {}", run.stderr);
    }
}

/// GPUs may be taken out between two boots.
#[test]
fn in_a_new_boot_numbers_begin_anew() {
    let node = looked_at();
    node.becomes(&without(4, 1));
    let boot = "9f1b2c3d-0000-4000-8000-000000000002\n";
    write(&node.path("host"), "proc/sys/kernel/random/boot_id", boot);
    let run = with_state(&node, "probe", &["--devices", "1,2"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

const GPUS: [&str; 3] = ["0000:00:06.0", "0000:00:07.0", "0000:00:08.0"];

/// Three GPUs that the bus shows with the NVIDIA driver, in a process that may not see all.
fn confined(prepare: impl FnOnce(&Node)) -> Node {
    let node = Node::with(&Scenario::healthy(3));
    let host = node.path("host");
    for address in GPUS {
        device(&host, &["0000:00:01.0", address]);
        let driver = host.join("sys/bus/pci/devices").join(address).join("driver");
        symlink("../../../bus/pci/drivers/nvidia", driver).unwrap();
    }
    write(&host, "dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    write(&host, "proc/1/cgroup", "0::/init.scope\n");
    write(&host, "proc/self/status", "Uid:\t0\t0\t0\t0\n");
    prepare(&node);
    node
}

fn look_granted(node: &Node, visible: Option<&str>) -> Run {
    let mut command = node.command("daemon");
    command.args(["--once", "--state"]).arg(node.path("state"));
    command.envs(visible.map(|visible| ("NVIDIA_VISIBLE_DEVICES", visible)));
    Run::of(&command.output().unwrap())
}

/// It was granted then, so that nobody else may have been given it.
#[test]
fn a_confined_look_tells_of_what_the_same_grants_showed_before() {
    type Prepare = fn(&Node);
    let in_pod: Prepare = |node| write(&node.path("host"), "proc/1/cgroup", "0::/kubepods.slice/pod1\n");
    let as_user: Prepare = |node| {
        write(
            &node.path("host"),
            "proc/self/status",
            "Uid:\t1000\t1000\t1000\t1000\n",
        );
    };
    for (what, prepare, visible) in [
        ("a pod", in_pod, None),
        ("a user", as_user, None),
        ("a list", (|_: &Node| ()) as Prepare, Some("0,1,2")),
    ] {
        let node = confined(prepare);
        assert_eq!(look_granted(&node, visible).code, 0, "{what}");
        node.becomes(&without(3, 2));
        let run = look_granted(&node, visible);
        assert_eq!(run.code, 2, "{what}: {}", run.stderr);
        let told = format!("gpu_lost@{}", GPUS[2]);
        assert!(run.stderr.contains(&told), "{what}: {}", run.stderr);
        // Which stays so at the next look, and ends when it is back.
        assert_eq!(look_granted(&node, visible).code, 2, "{what}");
        node.becomes(&Scenario::healthy(3));
        let run = look_granted(&node, visible);
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
    }
}

#[test]
fn what_other_grants_showed_before_is_not_granted_and_no_fault() {
    let node = confined(|_| ());
    assert_eq!(look_granted(&node, Some("0,1,2")).code, 0);
    node.becomes(&without(3, 2));
    let run = look_granted(&node, Some("0,1"));
    assert_eq!(run.code, 0, "{}", run.stderr);

    let pod = |number: u32| format!("0::/kubepods.slice/pod{number}\n");
    let node = confined(|node| write(&node.path("host"), "proc/1/cgroup", pod(1)));
    assert_eq!(look_granted(&node, None).code, 0);
    node.becomes(&without(3, 2));
    write(&node.path("host"), "proc/1/cgroup", pod(2));
    let run = look_granted(&node, None);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

/// A rollout or the liveness probe makes a container anew: another control group, and the same grant.
#[test]
fn a_container_that_is_made_anew_goes_on_where_its_grant_is_said() {
    type Group<'a> = &'a dyn Fn(&str) -> String;
    const PRIVILEGED: &str = "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n";
    const ORDINARY: &str = "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n";
    let pod = |id: &str| format!("0::/kubepods.slice/kubepods-pod{id}.slice/cri-containerd-{id}.scope\n");
    let job = |id: &str| format!("0::/system.slice/slurmstepd.scope/job_{id}/step_0/user\n");
    for (group, status, visible, code) in [
        (&pod as Group<'_>, PRIVILEGED, Some("all"), 2),
        (&pod, ORDINARY, Some("0,1,2"), 2),
        // In these each may have been given others.
        (&pod, ORDINARY, Some("all"), 0),
        (&pod, PRIVILEGED, None, 0),
        (&job, PRIVILEGED, Some("all"), 0),
    ] {
        let node = confined(|node| write(&node.path("host"), "proc/self/status", status));
        let is_in = |id: &str| write(&node.path("host"), "proc/self/cgroup", group(id));
        is_in("71");
        assert_eq!(look_granted(&node, visible).code, 0, "{visible:?}");
        node.becomes(&without(3, 2));
        is_in("72");
        let run = look_granted(&node, visible);
        assert_eq!(run.code, code, "{} {visible:?}: {}", group("72"), run.stderr);
    }
}

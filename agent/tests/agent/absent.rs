//! GPUs that are not there: asked for, expected, or shown by the bus and not by the driver.

use std::os::unix::fs::symlink;

use fake_gpu::Scenario;
use kb_core::report::{Absence, Report};
use kb_core::verdict::{Verdict, cause};

use crate::node::{Node, Run};
use crate::tree::{device, write};

/// Where the two GPUs of the scenario are.
const GPUS: [&str; 2] = ["0000:00:06.0", "0000:00:07.0"];
const THIRD: &str = "0000:00:08.0";

/// A machine with three GPUs on the bus, of which driver and NVML list two, and a process of this user in it.
fn three_on_the_bus(driver: &str, user: u32) -> Node {
    with_third(THIRD, driver, user)
}

fn with_third(third: &str, driver: &str, user: u32) -> Node {
    let node = Node::with(&Scenario::healthy(2));
    let host = node.path("host");
    for (address, driver) in [(GPUS[0], "nvidia"), (GPUS[1], "nvidia"), (third, driver)] {
        device(&host, &["0000:00:01.0", address]);
        let folder = host.join("sys/bus/pci/devices").join(address);
        symlink(
            format!("../../../bus/pci/drivers/{driver}"),
            folder.join("driver"),
        )
        .unwrap();
    }
    write(&host, "proc/1/cgroup", "0::/init.scope\n");
    write(
        &host,
        "proc/self/status",
        format!("Name:\tpeerless-agent\nUid:\t{user}\t{user}\t{user}\t{user}\n"),
    );
    node
}

/// Verdict, exit code and absences.
fn told(report: &Report, run: &Run) -> (Verdict, i32, Vec<Absence>) {
    let absences = report.absent.iter().map(|gpu| gpu.absence).collect();
    (report.conclusion.verdict, run.code, absences)
}

#[test]
fn a_gpu_that_was_asked_for_and_is_not_there_is_a_fault() {
    let node = Node::with(&Scenario::healthy(2));
    for asked in ["0,1,2,3", "2", "GPU-00000000-dead"] {
        // Without `--fail-on`, as a prolog or a script has it.
        let mut command = node.bare("probe");
        command.args(["--json", "--buffer-kib", "4", "--devices", asked]);
        command.arg("--host-root").arg(node.path("host"));
        command.arg("--lock-file").arg(node.path("lock"));
        let run = Run::of(&command.output().unwrap());
        let report = run.report();
        assert_eq!(
            (report.conclusion.verdict, run.code),
            (Verdict::Broken, 2),
            "{asked}"
        );
        let missing = &report.absent[0];
        assert_eq!(missing.absence, Absence::Missing, "{asked}");
        assert_eq!(missing.cause.as_deref(), Some(cause::DEVICE_MISSING));
        assert!(
            report.conclusion.reason.starts_with("device_missing: "),
            "{asked}"
        );
    }
    let (report, run) = node.probe(&["--devices", "0,1"]);
    assert_eq!(told(&report, &run), (Verdict::Healthy, 0, vec![]));
}

#[test]
fn a_gpu_of_the_bus_that_the_driver_does_not_list_is_lost() {
    let (report, run) = three_on_the_bus("nvidia", 0).probe(&[]);
    assert_eq!(told(&report, &run), (Verdict::Broken, 2, vec![Absence::Lost]));
    let lost = &report.absent[0];
    assert_eq!(lost.pci_address.as_deref(), Some(THIRD));
    assert_eq!(
        lost.record.as_ref().map(kb_core::ids::RecordId::as_str),
        Some("xid/79-gpu-has-fallen-off-the-bus")
    );
    let shown = three_on_the_bus("nvidia", 0).run("probe", &[]);
    assert!(shown.stdout.contains(THIRD), "{}", shown.stdout);
}

#[test]
fn a_gpu_that_this_process_may_not_see_is_not_granted() {
    let (report, run) = three_on_the_bus("nvidia", 1000).probe(&[]);
    assert_eq!(
        told(&report, &run),
        (Verdict::Healthy, 0, vec![Absence::NotGranted])
    );
    let job = three_on_the_bus("nvidia", 0);
    write(&job.path("host"), "proc/1/cgroup", "0::/kubepods.slice/pod1\n");
    let (report, run) = job.probe(&[]);
    assert_eq!(
        told(&report, &run),
        (Verdict::Healthy, 0, vec![Absence::NotGranted])
    );
    let subset = three_on_the_bus("nvidia", 0);
    let mut command = subset.command("probe");
    let run = Run::of(
        &command
            .args(["--json"])
            .env("NVIDIA_VISIBLE_DEVICES", "0,1")
            .output()
            .unwrap(),
    );
    assert_eq!(
        told(&run.report(), &run),
        (Verdict::Healthy, 0, vec![Absence::NotGranted])
    );
}

#[test]
fn a_gpu_of_another_driver_and_one_that_was_excluded_are_no_faults() {
    let (report, run) = three_on_the_bus("vfio-pci", 0).probe(&[]);
    assert_eq!(
        told(&report, &run),
        (Verdict::Healthy, 0, vec![Absence::OtherDriver])
    );
    let excluded = three_on_the_bus("nvidia", 0);
    let file = format!("proc/driver/nvidia/gpus/{THIRD}/information");
    write(
        &excluded.path("host"),
        &file,
        "Model: \t\t NVIDIA H200\nGPU Excluded:\t Yes\n",
    );
    let (report, run) = excluded.probe(&[]);
    assert_eq!(
        told(&report, &run),
        (Verdict::Healthy, 0, vec![Absence::Excluded])
    );
    let guest = three_on_the_bus("nvidia", 0);
    let folder = guest.path("host").join("sys/bus/pci/devices").join(THIRD);
    symlink("../0000:00:06.0", folder.join("physfn")).unwrap();
    let (report, run) = guest.probe(&[]);
    assert_eq!(told(&report, &run), (Verdict::Healthy, 0, vec![]));
}

#[test]
fn the_number_of_gpus_that_a_node_should_have_is_a_setting() {
    let node = Node::with(&Scenario::healthy(2));
    let (report, run) = node.probe(&["--expect", "gpus=2"]);
    assert_eq!(told(&report, &run), (Verdict::Healthy, 0, vec![]));
    let file = node.path("agent.toml");
    std::fs::write(&file, "expect = \"gpus=8\"\n").unwrap();
    let (report, run) = node.probe(&["--config", file.to_str().unwrap(), "--expect", "p2p=all"]);
    assert_eq!(told(&report, &run), (Verdict::Broken, 2, vec![Absence::Missing]));
    let reason = &report.conclusion.reason;
    assert!(
        reason.contains("should have 8 GPUs (--expect gpus=8), and 2 answer"),
        "{reason}"
    );
}

/// As the service file sets it. The command line counts before it, kind by kind.
#[test]
fn the_environment_says_how_many_gpus_a_node_should_have() {
    let node = Node::with(&Scenario::healthy(2));
    write(&node.path(""), "host/dev/kmsg", "5,1,0,-;Linux version 6.8.0\n");
    let state = node.path("state");
    let once = ["--once", "--state", state.to_str().unwrap()];
    for (verb, arguments, expected) in [
        ("probe", &[][..], 2),
        ("probe", &["--expect", "p2p=all"], 2),
        ("probe", &["--expect", "gpus=2"], 0),
        ("daemon", &once, 2),
    ] {
        let mut command = node.command(verb);
        command.args(arguments).env("PEERLESS_EXPECT", "gpus=8");
        let run = Run::of(&command.output().unwrap());
        assert_eq!(run.code, expected, "{verb} {arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("is not read"), "{}", run.stderr);
    }
    let mut command = node.command("probe");
    let run = Run::of(&command.env("PEERLESS_EXPECT", "gpus=eight").output().unwrap());
    assert_eq!(run.code, 64);
    assert!(run.stderr.contains("PEERLESS_EXPECT"), "{}", run.stderr);
}

/// The daemon takes nothing of a GPU and says so as well; a GPU that then leaves the bus is no GPU that came back.
#[test]
fn a_look_without_checks_keeps_a_lost_gpu_open() {
    let node = three_on_the_bus("nvidia", 0);
    write(&node.path(""), "host/dev/kmsg", "5,1,0,-;Linux version 6.8.0\n");
    let state = node.path("state");
    let look = || node.run("daemon", &["--once", "--state", state.to_str().unwrap()]);
    assert_eq!(look().code, 2);
    let mut status = node.bare("status");
    status.args(["--passive", "--state"]).arg(&state);
    let told = Run::of(&status.output().unwrap());
    assert_eq!(told.code, 2);
    assert!(told.stdout.contains("gpu_lost@0000:00:08.0"), "{}", told.stdout);
    std::fs::remove_file(node.path("host").join("sys/bus/pci/devices").join(THIRD)).unwrap();
    assert_eq!(look().code, 2);
}

/// A scheduler's list asks as `--devices` does; a value that hides GPUs asks for none.
#[test]
fn a_list_in_the_environment_asks_for_gpus() {
    let node = Node::with(&Scenario::healthy(2));
    for (list, expected) in [("0,1", 0), ("0,1,2,3", 2), ("1,0", 0)] {
        let mut command = node.command("probe");
        let run = command
            .args(["--json", "--buffer-kib", "4"])
            .env("CUDA_VISIBLE_DEVICES", list);
        let run = Run::of(&run.output().unwrap());
        assert_eq!(run.code, expected, "{list}: {}", run.stderr);
    }
}

/// A scheduler counts a lost GPU still, and NVML gives its number to the next one.
#[test]
fn numbers_behind_a_lost_gpu_name_nobody_for_sure() {
    const FIRST: &str = "0000:00:05.0";
    let node = with_third(FIRST, "nvidia", 0);
    for asked in ["0,1", "1", "1,0"] {
        let (report, run) = node.probe(&["--devices", asked]);
        assert_eq!(
            told(&report, &run),
            (Verdict::Broken, 2, vec![Absence::Lost]),
            "{asked}"
        );
        assert_eq!(report.absent[0].pci_address.as_deref(), Some(FIRST));
        assert!(
            report.absent[0].reason.contains("the numbers behind it"),
            "{asked}"
        );
    }
    // One that lies behind those that were asked for changes no number, and a name is no number.
    let behind = three_on_the_bus("nvidia", 0);
    let (report, run) = behind.probe(&["--devices", "0,1"]);
    assert_eq!(told(&report, &run), (Verdict::Healthy, 0, vec![]));
    let by_name = report.gpus.iter().map(|gpu| gpu.uuid.value.clone().unwrap());
    let by_name = by_name.collect::<Vec<String>>().join(",");
    let (report, run) = node.probe(&["--devices", &by_name]);
    assert_eq!(told(&report, &run), (Verdict::Healthy, 0, vec![]));

    // Once it has left the bus as well, the ledger alone knows of it.
    write(&node.path(""), "host/dev/kmsg", "5,1,0,-;Linux version 6.8.0\n");
    let state = node.path("state");
    let state = state.to_str().unwrap();
    assert_eq!(node.run("daemon", &["--once", "--state", state]).code, 2);
    std::fs::remove_file(node.path("host/sys/bus/pci/devices").join(FIRST)).unwrap();
    let run = node.run("probe", &["--devices", "0,1", "--state", state]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    for words in ["gpu_lost", FIRST] {
        assert!(run.stdout.contains(words), "{}", run.stdout);
    }
    let run = node.run("probe", &["--devices", &by_name, "--state", state]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

//! What is done with a fault, with doubt, and with what Slurm and people say.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault, Condition};
use kb_core::report::Report;

use super::{AGENT, ARMED, Cluster, FRESH, seconds};
use crate::node::Run;

#[test]
fn a_fault_in_front_of_a_job_drains_the_node_and_refuses_the_job() {
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    let run = cluster.run("slurm/prolog.sh");
    assert_eq!(run.code, 1, "{}", run.stderr);
    let own = cluster.own();
    assert!(
        own.starts_with("NodeName=gpu-17 State=IDLE+DRAIN Reason=peerless: broken: "),
        "{own}"
    );
    let told = cluster.logged().unwrap();
    assert!(
        told.starts_with("<28>peerless-agent: gate prolog: drain gpu-17: broken: "),
        "{told}"
    );
    // The next job that gets here finds a drained node, and Slurm's record of it stays.
    let calls = cluster.calls();
    assert_eq!(cluster.run("slurm/prolog.sh").code, 1);
    assert_eq!(cluster.calls(), format!("{calls}--all --oneliner show nodes\n"));
}

/// Such as a job whose GPUs were given to it by other means than Slurm's own.
#[test]
fn a_job_without_gpus_of_slurm_is_told_of() {
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    for script in ["slurm/prolog.sh", "slurm/epilog.sh"] {
        let mut command = cluster.script(script, "");
        let run = Run::of(
            &command
                .env_remove("SLURM_JOB_GPUS")
                .env("CUDA_VISIBLE_DEVICES", "0,1")
                .output()
                .unwrap(),
        );
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stderr.contains("SLURM_JOB_GPUS"), "{script}: {}", run.stderr);
    }
}

/// Slurm's node is then named by what is left of the variable, or by the host.
#[test]
fn a_node_name_with_a_line_end_is_that_name() {
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    let mut command = cluster.script("slurm/prolog.sh", "0,1");
    let run = Run::of(&command.env("SLURMD_NODENAME", "gpu-17\n").output().unwrap());
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(cluster.own().contains("DRAIN"), "{}", cluster.own());
}

/// Slurm gives the job GPUs that are no longer there: CUDA's list ends at the first of them.
#[test]
fn a_gpu_of_the_job_that_is_not_there_drains_the_node() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    let run = Run::of(&cluster.script("slurm/prolog.sh", "0,1,2,3").output().unwrap());
    assert_eq!(run.code, 1, "{}", run.stderr);
    let own = cluster.own();
    let drained = "NodeName=gpu-17 State=IDLE+DRAIN Reason=peerless: broken: device_missing: ";
    assert!(own.starts_with(drained), "{own}");
}

/// Slurm names MIG devices otherwise. What the daemon's last look told of the node counts all the same.
#[test]
fn gpus_that_cannot_be_probed_are_doubt_beside_which_a_known_fault_counts() {
    for gpus in ["MIG-4f0e8d6c-0000-4000-8000-000000000001", "0,0", "1:0"] {
        let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
        let run = Run::of(&cluster.script("slurm/prolog.sh", gpus).output().unwrap());
        assert_eq!(run.code, 0, "{gpus}: {}", run.stderr);
        assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE", "{gpus}");
        let told = cluster.logged().unwrap();
        assert!(told.contains("the job's GPUs are not proven"), "{told}");
        cluster.looked(&Scenario::writes_dropped(), FRESH);
        let run = Run::of(&cluster.script("slurm/prolog.sh", gpus).output().unwrap());
        assert_eq!(run.code, 1, "{gpus}: {}", run.stderr);
        let own = cluster.own();
        assert!(own.contains("Reason=peerless: broken: "), "{gpus}: {own}");
    }
}

/// A job of one GPU has no pair to prove; the GPU may still have a fault.
#[test]
fn the_one_gpu_of_a_job_drains_the_node_where_it_has_a_fault() {
    let with = |change: fn(&mut Condition)| {
        let mut scenario = Scenario::healthy(2);
        change(&mut scenario.gpus[0].condition);
        scenario
    };
    for (scenario, cause) in [
        (with(|condition| condition.recovery_action = 2), "recovery_action"),
        (with(|condition| condition.lost = true), "gpu_lost"),
        (
            with(|condition| condition.remapped_rows.failure = true),
            "remap_failed",
        ),
    ] {
        let cluster = Cluster::with(&scenario, ARMED);
        // That is the other one.
        let other = Run::of(&cluster.script("slurm/prolog.sh", "1").output().unwrap());
        assert_eq!(
            (other.code, cluster.calls().as_str()),
            (0, ""),
            "{cause}: {}",
            other.stderr
        );
        let run = Run::of(&cluster.script("slurm/prolog.sh", "0").output().unwrap());
        assert_eq!(run.code, 1, "{cause}: {}", run.stderr);
        let own = cluster.own();
        assert!(own.contains("DRAIN") && own.contains(cause), "{cause}: {own}");
    }
}

/// The fault shows only where a kernel runs.
#[test]
fn the_one_gpu_of_a_job_whose_kernels_fail_drains_the_node() {
    for (code, cause) in [(214, "ecc_error"), (719, "access_fails")] {
        let mut scenario = Scenario::healthy(2);
        let effect = CallEffect::Spoil { gpu: 0, code };
        scenario
            .call_faults
            .push(CallFault::always("cuLaunchKernel", effect));
        let cluster = Cluster::with(&scenario, ARMED);
        let other = Run::of(&cluster.script("slurm/prolog.sh", "1").output().unwrap());
        assert_eq!(other.code, 0, "{}", other.stderr);
        let run = Run::of(&cluster.script("slurm/prolog.sh", "0").output().unwrap());
        assert_eq!(run.code, 1, "{cause}: {}", run.stderr);
        let own = cluster.own();
        assert!(own.contains("DRAIN") && own.contains(cause), "{cause}: {own}");
    }
}

#[test]
fn a_healthy_node_costs_slurm_no_question() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    for gpus in ["0,1", "0", ""] {
        let run = Run::of(&cluster.script("slurm/prolog.sh", gpus).output().unwrap());
        assert_eq!(
            (run.code, cluster.calls().as_str()),
            (0, ""),
            "{gpus}: {}",
            run.stderr
        );
        assert_eq!(
            run.stderr.contains("pass"),
            !gpus.is_empty(),
            "{gpus}: {}",
            run.stderr
        );
    }
    assert_eq!(cluster.logged(), None);
}

#[test]
fn as_shipped_it_says_what_it_would_do_and_does_nothing() {
    let cluster = Cluster::with(&Scenario::writes_dropped(), "");
    cluster.looked(&Scenario::writes_dropped(), FRESH);
    for (script, asker) in [("slurm/prolog.sh", "prolog"), ("slurm/healthcheck.sh", "health")] {
        let run = cluster.run(script);
        let expected = format!("gate {asker} (shadow): would drain gpu-17: broken: ");
        assert!(
            run.code == 0 && run.stderr.contains(&expected),
            "{}: {}",
            run.code,
            run.stderr
        );
    }
    assert_eq!(cluster.calls(), "--all --oneliner show nodes\n".repeat(2));
    // The switch of the settings gives way to the command line.
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    cluster.looked(&Scenario::writes_dropped(), FRESH);
    let mut gate = cluster.script("slurm/healthcheck.sh", "");
    let gate = gate.env("PATH", "/usr/bin:/bin");
    let mut shadow = Command::new(AGENT);
    shadow
        .args(["gate", "health", "--shadow", "--scontrol"])
        .arg(cluster.node.path("bin/scontrol"));
    for (name, value) in gate.get_envs() {
        shadow.env(name, value.unwrap());
    }
    let run = Run::of(&shadow.output().unwrap());
    assert!(run.stderr.contains("(shadow): would drain"), "{}", run.stderr);
    assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE");
}

#[test]
fn what_cannot_be_told_drains_nothing() {
    for (settings, holds) in [("arm = true", false), ("arm = true\nin-doubt = \"hold\"", true)] {
        let cluster = Cluster::with(&Scenario::not_yet_initialized(), settings);
        let run = cluster.run("slurm/prolog.sh");
        assert_eq!(run.code, 0, "{}", run.stderr);
        let expected = if holds { "requeuehold 4711\n" } else { "" };
        assert_eq!(cluster.calls(), expected, "{}", run.stderr);
        let told = cluster.logged().unwrap();
        assert!(
            told.contains(if holds {
                "requeue and hold"
            } else {
                "ALERT: could not tell"
            }),
            "{told}"
        );
    }
}

/// A run that was killed, and settings that the run does not understand.
#[test]
fn a_run_that_dies_drains_nothing() {
    let cluster = Cluster::with(&Scenario::healthy(2), "arm = true\n[probe]\nstep-timeout = -1");
    let run = cluster.run("slurm/prolog.sh");
    assert!(
        run.code == 0
            && run
                .stderr
                .contains("ALERT: could not tell: the agent ended with code 64"),
        "{}",
        run.stderr
    );
    assert_eq!(cluster.calls(), "");
}

/// Another run that does not end within the prolog's time is no fault of the node.
#[test]
fn a_node_that_another_agent_is_probing_stays() {
    let cluster = Cluster::with(&Scenario::healthy(2), "arm = true\ntimeout = 0.2");
    let held = fs::File::create(cluster.node.path("lock")).unwrap();
    held.lock().unwrap();
    let run = cluster.run("slurm/prolog.sh");
    assert!(
        run.code == 0 && run.stderr.contains("ALERT: could not tell"),
        "{}",
        run.stderr
    );
    // A look that takes nothing goes on beside it; one that proves says why it did not.
    let state = cluster.node.path("state");
    let state = ["--state", state.to_str().unwrap()];
    cluster.node.run("daemon", &[&["--once"], &state[..]].concat());
    let look = fs::read(cluster.node.path("state/last-passive.json")).unwrap();
    let look: Report = serde_json::from_slice(&look).unwrap();
    assert_eq!((look.gpus.len(), look.failures.len()), (2, 0));
    let (report, run) = cluster.node.probe(&["--timeout", "0.2"]);
    assert_eq!((report.failures[0].step.as_str(), run.code), ("lock the node", 3));
}

#[test]
fn what_a_person_did_stays() {
    for (state, prolog) in [
        ("State=IDLE+DRAIN Reason=new riser, alice [alice@1795769160]", 1),
        ("State=MIXED+DRAIN Reason=not peerless: bob [bob@1795769160]", 1),
        // Slurm would drain it behind a prolog that fails.
        ("State=DOWN Reason=Not responding [slurm@1795769160]", 0),
    ] {
        let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
        cluster.looked(&Scenario::writes_dropped(), FRESH);
        cluster.set_own(state);
        assert_eq!(cluster.run("slurm/prolog.sh").code, prolog, "{state}");
        assert_eq!(cluster.run("slurm/healthcheck.sh").code, 0);
        assert_eq!(cluster.own(), format!("NodeName=gpu-17 {state}"));
        assert!(!cluster.calls().contains("update"), "{}", cluster.calls());
    }
}

#[test]
fn beyond_the_limit_no_node_is_drained() {
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    cluster.looked(&Scenario::writes_dropped(), FRESH);
    let drained = |number: u32, reason: &str| {
        format!(
            "NodeName=gpu-{number} State=IDLE+DRAIN Reason={reason} [root@{}]",
            seconds() - 7_200
        )
    };
    // One of ten is 2 %, rounded up.
    cluster.set((10..20).map(|number| match number {
        11 => drained(number, "peerless: broken"),
        12 => drained(number, "fans"),
        _ => format!("NodeName=gpu-{number} State=IDLE"),
    }));
    for script in ["slurm/prolog.sh", "slurm/healthcheck.sh"] {
        let run = cluster.run(script);
        assert!(
            run.code == 0
                && run.stderr.contains(
                    "ALERT: a fault, and gpu-17 is not drained: 1 nodes are drained by peerless, of at most 1 (2.00 % of all)"
                ),
            "{}",
            run.stderr
        );
    }
    assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE");
    // With the others' drain alone there is room.
    cluster.set((10..20).map(|number| match number {
        12 => drained(number, "fans"),
        _ => format!("NodeName=gpu-{number} State=IDLE"),
    }));
    assert_eq!(cluster.run("slurm/prolog.sh").code, 1);
}

/// All nodes of a partition that see the same at the same moment count each other as in service.
#[test]
fn a_node_that_drained_with_too_many_others_comes_back() {
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    cluster.looked(&Scenario::writes_dropped(), FRESH);
    // There when it looks again: drained in the same second, and first by name.
    fs::write(
        cluster.node.path("bin/also"),
        format!(
            "NodeName=gpu-09 State=IDLE+DRAIN Reason=peerless: broken [root@{}]\n",
            seconds() - 1
        ),
    )
    .unwrap();
    let run = cluster.run("slurm/prolog.sh");
    assert!(
        run.code == 0 && run.stderr.contains("is not drained"),
        "{}",
        run.stderr
    );
    assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE");
}

#[test]
fn where_slurm_cannot_be_asked_or_told_no_job_is_refused() {
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    let run = Run::of(
        &cluster
            .script("slurm/prolog.sh", "0,1")
            .env("FAIL", "1")
            .output()
            .unwrap(),
    );
    assert!(
        run.code == 0
            && run
                .stderr
                .contains("not done: scontrol: exit status: 1: slurm_update error: Invalid user id"),
        "{}: {}",
        run.code,
        run.stderr
    );
    fs::remove_file(cluster.node.path("bin/scontrol")).unwrap();
    fs::write(cluster.node.path("bin/scontrol"), "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(
        cluster.node.path("bin/scontrol"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let run = cluster.run("slurm/prolog.sh");
    assert!(
        run.code == 0 && run.stderr.contains("Slurm does not say where gpu-17 stands"),
        "{}: {}",
        run.code,
        run.stderr
    );
}

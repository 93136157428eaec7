//! A drain that is one too many, of a node that has changed since it was set.

use std::fs;

use fake_gpu::Scenario;

use super::{ARMED, Cluster, FRESH, seconds};

/// Runs the health check on a node of a fault. Once it is drained, another is there that was drained before it, and Slurm tells `own` of it.
fn drained_then(own: &str) -> (Cluster, i32) {
    let cluster = Cluster::with(&Scenario::writes_dropped(), ARMED);
    cluster.looked(&Scenario::writes_dropped(), FRESH);
    let other = format!(
        "NodeName=gpu-09 State=IDLE+DRAIN Reason=peerless: broken [root@{}]\n",
        seconds() - 1
    );
    fs::write(cluster.node.path("bin/also"), other).unwrap();
    let then = format!("sed -i \"s|^NodeName=$name .*|NodeName=$name {own}|\" \"$here/nodes\"\n");
    fs::write(cluster.node.path("bin/then"), then).unwrap();
    let code = cluster.run("slurm/healthcheck.sh").code;
    (cluster, code)
}

#[test]
fn a_drain_is_not_taken_back_from_a_node_that_has_changed_since() {
    for own in [
        "State=DOWN+DRAIN Reason=$reason [root@$NOW]",
        "State=FAIL+DRAIN Reason=$reason [root@$NOW]",
        "State=IDLE+DRAIN+MAINT Reason=$reason [root@$NOW]",
        "State=IDLE*+DRAIN Reason=$reason [root@$NOW]",
        "State=IDLE+DRAIN Reason=$reason, bad disk: alice [alice@$NOW]",
        "State=IDLE+DRAIN Reason=peerless: alice keeps it [alice@$NOW]",
        "State=IDLE+DRAIN Reason=$reason [root@$((NOW + 1000))]",
        "State=IDLE+DRAIN Reason=bad disk [alice@$NOW]",
    ] {
        let (cluster, code) = drained_then(own);
        assert!(!cluster.calls().contains("RESUME"), "{own}: {}", cluster.calls());
        assert!(cluster.own().contains("DRAIN"), "{own}: {}", cluster.own());
        assert_eq!(code, 0, "{own}");
    }
    for own in [
        "State=MIXED+DRAIN Reason=$reason [root@$NOW]",
        "State=ALLOCATED+COMPLETING+DRAIN Reason=$reason [root@$NOW]",
    ] {
        let (cluster, _) = drained_then(own);
        assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE", "{own}");
    }
}

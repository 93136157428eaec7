//! What the daemon left: how old it may be, how often it drains, and what epilog, condition and readiness make of it.

use std::fs;
use std::time::Duration;

use fake_gpu::Scenario;

use super::{ARMED, Cluster, FRESH};
use crate::node::{Node, Run};

#[test]
fn the_health_check_drains_once_for_each_result() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    let broken = Scenario::writes_dropped();
    cluster.looked(&broken, Duration::from_mins(1));
    assert_eq!(cluster.run("slurm/healthcheck.sh").code, 0);
    let own = cluster.own();
    assert!(
        own.contains("State=IDLE+DRAIN Reason=peerless: broken: "),
        "{own}"
    );
    // A person resumes it: the same result does not take it away again, and is told.
    cluster.set_own("State=IDLE");
    let run = cluster.run("slurm/healthcheck.sh");
    assert!(
        run.stderr.contains("was resumed behind this very result"),
        "{}",
        run.stderr
    );
    assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE");
    // A later one does; and one of the ladder, beside a look that tells nothing.
    cluster.looked(&broken, FRESH);
    cluster.run("slurm/healthcheck.sh");
    assert!(cluster.own().contains("DRAIN"));
    cluster.set_own("State=IDLE");
    fs::remove_file(cluster.node.path("state/last-passive.json")).unwrap();
    let (report, _) = Node::with(&broken).probe(&[]);
    cluster.write("last-active.json", &report, FRESH);
    cluster.run("slurm/healthcheck.sh");
    assert!(cluster.own().contains("DRAIN"), "{}", cluster.own());
}

#[test]
fn a_daemon_that_is_silent_is_no_all_clear() {
    let cluster = Cluster::with(
        &Scenario::healthy(2),
        &format!("{ARMED}\nmetrics-file = {:?}", "METRICS"),
    );
    let metrics = cluster.node.path("gate.prom");
    let settings = fs::read_to_string(cluster.node.path("settings.toml")).unwrap();
    fs::write(
        cluster.node.path("settings.toml"),
        settings.replace("METRICS", metrics.to_str().unwrap()),
    )
    .unwrap();
    let healthy = Scenario::healthy(2);
    let told = || {
        let run = cluster.run("slurm/healthcheck.sh");
        assert_eq!((run.code, cluster.calls().as_str()), (0, ""));
        let text = fs::read_to_string(&metrics).unwrap();
        let line = text.lines().find(|line| line.starts_with("peerless_agent_gate{"));
        (line.unwrap().to_owned(), run.stderr)
    };
    let (line, stderr) = told();
    assert_eq!(
        line,
        "peerless_agent_gate{seen=\"silent\",action=\"could_not_tell\"} 1"
    );
    assert!(stderr.contains("no result"), "{stderr}");
    // Three looks of a quarter of an hour, with what is left to chance.
    cluster.looked(&healthy, Duration::from_mins(47));
    let pass = "peerless_agent_gate{seen=\"no_fault\",action=\"pass\"} 1";
    assert_eq!(told().0, pass);
    cluster.looked(&healthy, Duration::from_mins(51));
    let (line, stderr) = told();
    assert!(line.contains("silent"), "{line}: {stderr}");
    // The daemon writes down how often it looks.
    fs::write(
        cluster.node.path("state/daemon.json"),
        "{\"interval_seconds\":3600}",
    )
    .unwrap();
    assert_eq!(told().0, pass);
    fs::write(
        cluster.node.path("state/daemon.json"),
        "{\"interval_seconds\":60}",
    )
    .unwrap();
    cluster.looked(&healthy, Duration::from_mins(4));
    assert!(told().0.contains("silent"));
    // Also one that tells of a fault: nothing says that it is still so.
    cluster.looked(&Scenario::writes_dropped(), Duration::from_mins(51));
    assert!(told().0.contains("silent"));
}

#[test]
fn condition_and_readiness_tell_doubt_from_fault() {
    let cluster = Cluster::with(&Scenario::healthy(2), "");
    let ask = || {
        ["condition", "ready"].map(|asker| {
            let mut command = cluster.node.bare("gate");
            command
                .arg(asker)
                .arg("--config")
                .arg(cluster.node.path("settings.toml"));
            Run::of(&command.output().unwrap()).code
        })
    };
    assert_eq!(ask(), [2, 1], "no result");
    cluster.looked(&Scenario::healthy(2), FRESH);
    assert_eq!(ask(), [0, 0]);
    cluster.looked(&Scenario::writes_dropped(), FRESH);
    assert_eq!(ask(), [1, 0]);
    cluster.looked(&Scenario::not_yet_initialized(), FRESH);
    assert_eq!(ask(), [2, 1]);
}

#[test]
fn the_epilog_looks_and_never_fails() {
    for scenario in [Scenario::healthy(2), Scenario::library_missing()] {
        let cluster = Cluster::with(&scenario, ARMED);
        let run = cluster.run("slurm/epilog.sh");
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            cluster.node.path("state/last-passive.json").is_file(),
            "{}",
            run.stderr
        );
        assert_eq!(cluster.calls(), "", "{}", run.stderr);
    }
}

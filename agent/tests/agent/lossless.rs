//! Whatever is killed, and whenever: no report is lost, none is counted twice. `cargo xtask bench upload` does the same
//! a thousand times with a real server.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fake_gpu::Scenario;

use crate::node::{Node, Run, files_in};
use crate::stub::{Random, Stub};

/// Trials of the suite.
const TRIALS: u64 = 50;
/// Kills of one report's runs, at most: then a run ends undisturbed, however slow the machine is.
const MOST_KILLS: u32 = 5;

#[test]
fn reports_survive_kills_of_agent_and_server() {
    let node = Node::with(&Scenario::library_missing());
    let template = node.run("report", &["--print"]).stdout;
    let template: serde_json::Value = serde_json::from_str(&template).unwrap();
    let mut random = Random(0x5eed_0000_0000_0001);
    let stub = Stub::start(7);
    stub.faults.store(50, Ordering::SeqCst);
    let mut made = BTreeSet::new();
    for number in 0..TRIALS {
        let mut report = template.clone();
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        report["report_id"] = id.clone().into();
        let file = node.path("report.json");
        fs::write(&file, serde_json::to_vec(&report).unwrap()).unwrap();
        made.insert(id);
        // As a service manager: a run that was killed is started again with what it was given.
        let mut kills = 0;
        loop {
            let mut command = node.command("report");
            command.args(["--server", &stub.address, "--from"]).arg(&file);
            command.arg("--spool").arg(node.path("spool"));
            let mut agent = command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Drawn once a run: whether it is killed, and when.
            let is_victim = kills < MOST_KILLS && random.below(3) > 0;
            let end = Instant::now() + Duration::from_micros(random.below(60_000));
            while is_victim && agent.try_wait().unwrap().is_none() && Instant::now() < end {
                std::thread::yield_now();
            }
            if is_victim {
                agent.kill().unwrap();
            }
            // It may have ended just before.
            if agent.wait().unwrap().code().is_some() {
                break;
            }
            kills += 1;
        }
    }
    stub.faults.store(0, Ordering::SeqCst);
    let mut command = node.bare("upload");
    command
        .args(["--server", &stub.address, "--spool"])
        .arg(node.path("spool"));
    let run = Run::of(&command.output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let left: Vec<_> = files_in(&node.path("spool"));
    assert!(
        left.iter()
            .all(|path| path.file_name().unwrap().to_str().unwrap().starts_with('.')),
        "{left:?}"
    );
    let taken = stub.taken.lock().unwrap();
    assert_eq!(
        taken.keys().cloned().collect::<BTreeSet<_>>(),
        made,
        "each is there, and no other"
    );
    assert!(taken.values().all(|(_, times)| *times == 1));
}

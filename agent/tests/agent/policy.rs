//! The site's policy: fetched by the daemon, kept, and asked wherever the agent judges what it sees.

use std::fs;
use std::io::Write as _;

use fake_gpu::Scenario;
use fake_gpu::scenario::{Condition, RemappedRows};
use kb_core::policy::{Given, Policy, Rule, Stage};
use kb_core::report::{Bearing, Report};
use serde_json::{Value, json};

use crate::node::{Node, Run};
use crate::passive::{GPU, daemon, looked, metrics, node, xid};
use crate::stub::Stub;

/// The id of a node with the machine id that each node of these tests has.
const OWN: &str = "node-985b8e11ecef56931648";

fn log(node: &Node, number: u64, message: &str) {
    let path = node.path("host/dev/kmsg");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    writeln!(file, "3,{number},{number},-;{message}").unwrap();
}

pub(crate) fn rules(rules: &Value) -> Policy {
    let rules: Vec<Rule> = serde_json::from_value(rules.clone()).unwrap();
    Policy::of(rules)
}

fn ignoring(code: &str) -> Policy {
    rules(&json!([{ "number": 1, "code": code, "is": "ignore", "reason": "known to be harmless here" }]))
}

/// Puts a policy where the daemon would have kept it.
pub(crate) fn keep(node: &Node, policy: &Policy) {
    fs::create_dir_all(node.path("state")).unwrap();
    let given = Given {
        stage: Stage::Current,
        rule_set: "0123456789ab".to_owned(),
        policy: policy.clone(),
    };
    let mut kept = serde_json::to_value(given).unwrap();
    kept["server"] = json!("http://localhost/api/v1/reports");
    kept["node"] = json!(OWN);
    kept["etag"] = json!("\"a\"");
    fs::write(node.path("state/policy.json"), kept.to_string()).unwrap();
}

fn give(stub: &Stub, policy: &Policy) {
    let given = Given {
        stage: Stage::Candidate,
        rule_set: "0123456789ab".to_owned(),
        policy: policy.clone(),
    };
    let tag = format!("\"{}\"", policy.version);
    *stub.policy.lock().unwrap() = Some((tag, serde_json::to_string(&given).unwrap()));
}

pub(crate) fn bare(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let state = node.path("state");
    let mut command = node.bare(verb);
    command.args(arguments).args(["--state", state.to_str().unwrap()]);
    if verb == "gate" {
        command.env("PEERLESS_HOST_ROOT", node.path("host"));
        command.env("PEERLESS_ALLOW_SIMULATED", "true");
    }
    Run::of(&command.output().unwrap())
}

pub(crate) fn status(node: &Node) -> Run {
    bare(node, "status", &["--passive"])
}

fn version(report: &Report) -> &str {
    let fact = report.host.get("policy.version").unwrap();
    fact.value.as_ref().and_then(Value::as_str).unwrap()
}

#[test]
fn a_node_whose_only_fault_is_ignored_says_so_everywhere() {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    log(&node, 1, &xid(48, "An uncorrectable double bit error"));
    assert_eq!(daemon(&node, &[]).code, 2, "by the records");
    assert_eq!(version(&looked(&node)), "none");
    keep(&node, &ignoring("xid 48"));
    // The policy counts at once for what is known already.
    let told = status(&node);
    assert_eq!(told.code, 0, "{}", told.stdout);
    let said = "no fault by the site's policy; 1 ignored: xid-48@0000:00:06.0 (ignored by the site's policy, rule 1: known to be harmless here)";
    assert!(told.stdout.contains(said), "{}", told.stdout);
    assert!(told.stdout.contains("judged by policy "), "{}", told.stdout);
    assert_eq!(daemon(&node, &[]).code, 0);
    let report = looked(&node);
    assert!(
        report.conclusion.reason.contains(said),
        "{}",
        report.conclusion.reason
    );
    let entry = &report.health.as_ref().unwrap().open[0];
    let ruled = entry.by_policy.as_ref().unwrap();
    assert_eq!(
        (entry.bearing, ruled.was, ruled.rule),
        (Bearing::Event, Bearing::Fault, 1)
    );
    assert_eq!(version(&report), ignoring("xid 48").version);
    assert!(metrics(&node).contains("bearing=\"event\"") || !metrics(&node).contains("bearing=\"fault\""));
    let ledger = fs::read_to_string(node.path("state/ledger.json")).unwrap();
    assert!(
        ledger.contains("\"fault\"") && !ledger.contains("by_policy"),
        "the ledger keeps what the records say"
    );
    // Without the policy it is a fault again.
    fs::remove_file(node.path("state/policy.json")).unwrap();
    assert_eq!(status(&node).code, 2);
    assert!(!status(&node).stdout.contains("judged by policy"));
}

#[test]
fn a_run_and_the_gates_judge_by_the_policy_as_the_daemon_does() {
    let pending = Condition {
        remapped_rows: RemappedRows {
            pending: true,
            ..RemappedRows::default()
        },
        ..Condition::default()
    };
    let node = node(pending);
    assert_eq!(daemon(&node, &[]).code, 2);
    let probe = || {
        let state = node.path("state");
        let run = node.run("probe", &["--json", "--state", state.to_str().unwrap()]);
        (run.report(), run.code)
    };
    assert_eq!(probe().1, 2);
    keep(&node, &ignoring("remap_pending"));
    assert_eq!(daemon(&node, &[]).code, 0);
    let (report, code) = probe();
    assert_eq!(code, 0, "{}", report.conclusion.reason);
    assert_eq!(
        report.pairs[0].verdict.cause, None,
        "{}",
        report.pairs[0].verdict.reason
    );
    let gate = |asker: &str| bare(&node, "gate", &[asker]);
    let (condition, ready) = (gate("condition"), gate("ready"));
    assert_eq!(
        (condition.code, ready.code),
        (0, 0),
        "{} {}",
        condition.stdout,
        ready.stdout
    );
    assert!(
        condition.stdout.starts_with("no fault: no fault seen"),
        "{}",
        condition.stdout
    );
    assert!(
        condition.stdout.contains("by the site's policy"),
        "{}",
        condition.stdout
    );
    keep(
        &node,
        &rules(
            &json!([{ "number": 1, "code": "remap_pending", "is": "warning", "reason": "reset on Sundays" }]),
        ),
    );
    assert_eq!(daemon(&node, &["--fail-on", "warning"]).code, 1);
    assert_eq!(gate("condition").code, 0);
}

#[test]
fn what_the_records_pass_over_may_be_a_fault_here_and_one_that_is_rare_an_event() {
    let node = node(Condition::default());
    let counted = json!([
        { "number": 1, "code": "xid 31", "is": "fault", "count": 3, "window_seconds": 86400, "reason": "our jobs do not do this" },
    ]);
    keep(&node, &rules(&counted));
    assert_eq!(daemon(&node, &[]).code, 0);
    for number in 1..=2 {
        log(&node, number, &xid(31, "pid=1, name=python, MMU Fault"));
    }
    assert_eq!(daemon(&node, &[]).code, 0, "two are an event");
    log(&node, 3, &xid(31, "pid=1, name=python, MMU Fault"));
    assert_eq!(daemon(&node, &[]).code, 2, "three are a fault");
    assert_eq!(bare(&node, "gate", &["condition"]).code, 1);
    let open = &looked(&node).health.unwrap().open;
    assert_eq!((open[0].count, open[0].times.len()), (3, 3));
    assert_eq!(open[0].by_policy.as_ref().unwrap().was, Bearing::Event);
}

#[test]
fn a_policy_that_was_never_checked_hides_no_lost_gpu_and_no_failed_proof() {
    let lost = Condition {
        lost: true,
        ..Condition::default()
    };
    let node = node(lost);
    let all = json!([
        { "number": 1, "code": "gpu_lost", "is": "ignore", "reason": "x" },
        { "number": 2, "code": "nvml/gpu-is-lost", "is": "ignore", "reason": "x" },
        { "number": 3, "code": "xid 79", "is": "ignore", "reason": "x" },
        { "number": 4, "code": "data_mismatch", "is": "ignore", "reason": "x" },
        { "number": 5, "code": "writes_dropped", "is": "ignore", "reason": "x" },
    ]);
    keep(&node, &rules(&all));
    assert_eq!(daemon(&node, &[]).code, 2);
    let broken = Node::with(&Scenario::writes_dropped());
    keep(&broken, &rules(&all));
    let state = broken.path("state");
    let run = broken.run("probe", &["--json", "--state", state.to_str().unwrap()]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.report().pairs[0].verdict.cause.as_deref(),
        Some("writes_dropped")
    );
}

#[test]
fn the_daemon_fetches_the_policy_asks_cheaply_and_works_on_without_a_server() {
    let node = node(Condition::default());
    log(&node, 1, &xid(48, "An uncorrectable double bit error"));
    let stub = Stub::start(1);
    let (server, state) = (stub.address.clone(), node.path("state"));
    let look = |arguments: &[&str]| {
        let server = ["--server", server.as_str(), "--spool", state.to_str().unwrap()];
        daemon(&node, &[&server[..], arguments].concat())
    };
    // A server of before there were policies.
    let run = look(&[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(!run.stderr.contains("policy"), "{}", run.stderr);
    assert_eq!(version(&looked(&node)), "none");
    give(&stub, &ignoring("xid 48"));
    let run = look(&[]);
    assert_eq!(
        run.code, 0,
        "it counts for the look that fetched it: {}",
        run.stderr
    );
    assert_eq!(version(&looked(&node)), ignoring("xid 48").version);
    assert_eq!(look(&[]).code, 0);
    assert_eq!(*stub.asked.lock().unwrap(), (3, 1));
    let explained = bare(&node, "policy", &["explain", "xid", "48"]);
    assert_eq!(explained.code, 0, "{}", explained.stderr);
    assert!(
        explained
            .stdout
            .contains("(candidate, 1 rules for this node), rule set 0123456789ab"),
        "{}",
        explained.stdout
    );
    // What cannot be read is no reason to forget the one that is here.
    *stub.policy.lock().unwrap() = Some(("\"b\"".to_owned(), "{\"version\": 7}".to_owned()));
    let run = look(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("the policy was not fetched"),
        "{}",
        run.stderr
    );
    drop(stub);
    let run = look(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(version(&looked(&node)), ignoring("xid 48").version);
    // One without rules takes the place of one with some.
    let stub = Stub::start(2);
    give(&stub, &Policy::default());
    let server = [
        "--server",
        stub.address.as_str(),
        "--spool",
        state.to_str().unwrap(),
    ];
    assert_eq!(daemon(&node, &server).code, 2);
}

#[test]
fn each_xid_is_explained_and_what_nobody_knows_is_refused() {
    let node = node(Condition::default());
    keep(&node, &ignoring("xid 63"));
    let one = bare(&node, "policy", &["explain", "xid 63"]);
    assert!(
        one.stdout.contains("ignore (rule 1: known to be harmless here)"),
        "{}",
        one.stdout
    );
    assert!(
        one.stdout.contains("says nothing against the node"),
        "{}",
        one.stdout
    );
    let all = bare(&node, "policy", &["explain"]);
    assert!(all.stdout.lines().count() > 100, "{}", all.stdout);
    let wrong = bare(&node, "policy", &["explain", "xid", "6300"]);
    assert_eq!(wrong.code, 64);
    assert!(wrong.stderr.contains("did you mean"), "{}", wrong.stderr);
    fs::write(node.path("state/policy.json"), "{").unwrap();
    let damaged = bare(&node, "policy", &["explain", "xid 63"]);
    assert_ne!(damaged.code, 0);
    let look = daemon(&node, &[]);
    assert!(
        look.stderr
            .contains("no policy is used, the records alone decide"),
        "{}",
        look.stderr
    );
    assert_eq!(version(&looked(&node)), "unreadable");
    let told = status(&node).stdout;
    assert!(told.contains("judged by policy unreadable"), "{told}");
    assert_eq!(GPU, "0000:00:06.0");
}

#[test]
fn a_policy_of_another_node_decides_nothing_where_none_can_be_fetched() {
    let node = node(Condition::default());
    log(&node, 1, &xid(48, "An uncorrectable double bit error"));
    assert_eq!(daemon(&node, &[]).code, 2, "by the records");
    keep(&node, &ignoring("xid 48"));
    let file = node.path("state/policy.json");
    let mut kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    kept["node"] = json!("the-node-of-the-image");
    fs::write(&file, kept.to_string()).unwrap();
    let spool = node.path("state");
    let away = [
        "--server",
        "http://127.0.0.1:1",
        "--spool",
        spool.to_str().unwrap(),
    ];
    let run = daemon(&node, &away);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(
        run.stderr.contains("of the node the-node-of-the-image"),
        "{}",
        run.stderr
    );
    assert_eq!(version(&looked(&node)), "none");
}

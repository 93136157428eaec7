//! Thirty rule sets, roll-outs and thresholds that call sound nodes faulty: however bad, never more nodes are drained than the breaker
//! lets through, shadow says before what would be done, and drains by others stay as they are.

use kb_core::health::{Entry, Ledger, tell_by};
use kb_core::policy::{Policy, Rule};
use kb_core::report::Report;
use kb_core::verdict::FailOn;
use serde_json::{Value, json};
use time::macros::datetime;

use super::cluster::OURS;
use super::*;
use crate::slurm::{Node, State};

const NODES: usize = 200;
/// Nodes that a person has drained.
const FOREIGN: usize = 3;
const HOUR: i64 = 3_600;
const HOURS: i64 = 12;

/// What is bad.
enum Bad {
    /// Rules, which are judged as a node judges.
    Rules(Value),
    /// An agent that ends so, whatever the node is.
    Agent(i32, &'static str),
}

fn rule(code: &str) -> Bad {
    Bad::Rules(json!([{ "number": 1, "code": code, "is": "fault", "reason": "a slip" }]))
}

fn counted(code: &str, count: u32, window: u64) -> Bad {
    let rule = json!({ "number": 1, "code": code, "is": "fault", "count": count, "window_seconds": window, "reason": "a slip" });
    Bad::Rules(json!([rule]))
}

fn of_model(model: &str) -> Bad {
    Bad::Rules(json!([{ "number": 1, "code": "xid 31", "is": "fault", "model": model, "reason": "a slip" }]))
}

fn all() -> Vec<(&'static str, Bad)> {
    let everything = [
        "xid 13",
        "xid 31",
        "xid 43",
        "xid 45",
        "throttled",
        "links_down",
        "log_missed",
    ];
    let everything: Vec<Value> = (1..)
        .zip(everything)
        .map(|(number, code)| json!({ "number": number, "code": code, "is": "fault", "reason": "a slip" }))
        .collect();
    vec![
        ("a page fault of a program", rule("xid 31")),
        ("its record", rule("xid/31-mmu-fault")),
        ("an exception of a program", rule("xid 13")),
        ("a reset channel", rule("xid 43")),
        ("a preempted job", rule("xid 45")),
        ("a remapping that was noted", rule("xid 63")),
        ("a contained error", rule("xid 94")),
        ("heat", rule("throttled")),
        ("links that are off on purpose", rule("links_down")),
        ("narrow slots", rule("pcie_link_degraded")),
        ("a full log", rule("log_missed")),
        ("the fabric's health", rule("fabric_unhealthy")),
        ("all at once", Bad::Rules(Value::Array(everything))),
        ("one page fault a year", counted("xid 31", 2, 31_536_000)),
        ("two in a second", counted("xid 31", 2, 1)),
        ("two exceptions a week", counted("xid 13", 2, 604_800)),
        ("two remappings a month", counted("xid 63", 2, 2_592_000)),
        ("every model", of_model("*")),
        ("every NVIDIA", of_model("nvidia*")),
        ("the fleet's model", of_model("*H200*")),
        (
            "an agent that calls all broken",
            Bad::Agent(2, "broken: nobody knows why\n"),
        ),
        (
            "one that misreads NVML",
            Bad::Agent(2, "broken: gpu_lost: NVML answered 15\n"),
        ),
        (
            "one that expects a GPU too many",
            Bad::Agent(2, "broken: it shows 8 GPUs of 9 expected\n"),
        ),
        ("one with wrong settings", Bad::Agent(64, "")),
        ("one that is not there", Bad::Agent(127, "")),
        ("one that cannot be run", Bad::Agent(126, "")),
        ("one that crashes", Bad::Agent(139, "")),
        ("one that is killed", Bad::Agent(137, "")),
        ("one that says nothing", Bad::Agent(2, "")),
        ("one that cannot tell", Bad::Agent(3, "unknown: no NVML\n")),
    ]
}

/// A node of today: nothing is wrong by the records, and much has happened.
fn node_of_today() -> (Report, Vec<Entry>) {
    let sample = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
    let mut report: Report = serde_json::from_str(sample).unwrap();
    // A look tries nothing.
    report.pairs.clear();
    let entry = |cause: &str, number: Option<u32>, record: Option<&str>, bearing: &str| -> Entry {
        serde_json::from_value(json!({
            "id": format!("{cause}-{number:?}@node"), "cause": cause, "nature": "event", "bearing": bearing, "device": "node",
            "number": number, "record": record, "count": 2, "first_at": "2026-11-24T10:00:00Z",
            "last_at": "2026-11-24T10:00:00Z", "text": cause,
            "times": ["2026-11-24T10:00:00Z", "2026-11-24T10:00:00Z"],
        }))
        .unwrap()
    };
    let mmu = kb_core::health::known(kb_core::health::Family::Xid, 31).unwrap();
    let open = vec![
        entry("xid", Some(31), Some(mmu.record.as_str()), "event"),
        entry("xid", Some(13), None, "event"),
        entry("xid", Some(43), None, "event"),
        entry("xid", Some(45), None, "event"),
        entry("xid", Some(63), None, "warning"),
        entry("xid", Some(94), None, "warning"),
        entry("throttled", None, None, "warning"),
        entry("links_down", None, None, "warning"),
        entry("pcie_link_degraded", None, None, "warning"),
        entry("fabric_unhealthy", None, None, "warning"),
        entry("log_missed", None, None, "warning"),
    ];
    (report, open)
}

/// What the gate of a node sees.
fn seen(bad: &Bad) -> Seen {
    let (code, line) = match bad {
        Bad::Agent(code, line) => (*code, (*line).to_owned()),
        Bad::Rules(rules) => {
            let mut rules: Vec<Rule> = serde_json::from_value(rules.clone()).unwrap();
            let mmu = kb_core::health::known(kb_core::health::Family::Xid, 31).unwrap();
            for rule in &mut rules {
                if rule.code.to_string() == "xid/31-mmu-fault" {
                    rule.code = kb_core::policy::Code::Record(mmu.record.to_string());
                }
            }
            let policy = Policy::of(rules);
            let now = datetime!(2026-11-24 12:00 UTC);
            let (mut report, open) = node_of_today();
            let mut ledger = Ledger::default();
            ledger.add_open(open);
            tell_by(&policy, &mut report, ledger.health(Vec::new()).about(true), now);
            let code = FailOn::UNKNOWN.exit_code(&report);
            let conclusion = &report.conclusion;
            (
                i32::from(code),
                format!("{}: {}\n", conclusion.verdict.word(), conclusion.reason),
            )
        }
    };
    let ended = Ended {
        code: Some(code),
        signal: None,
        stdout: line,
        stderr: String::new(),
    };
    of_status(&ended).seen
}

fn cluster() -> Vec<Node> {
    let name = |number: usize| format!("n{number:03}");
    (0..NODES)
        .map(|number| {
            let is_foreign = number < FOREIGN;
            Node {
                name: name(number),
                state: State::new(if is_foreign { "IDLE+DRAIN" } else { "IDLE" }),
                reason: if is_foreign { "new cables: alice" } else { "" }.to_owned(),
                since: is_foreign.then_some(0),
            }
        })
        .collect()
}

fn drained(nodes: &[Node]) -> Vec<&Node> {
    nodes
        .iter()
        .filter(|node| node.state.is("DRAIN") && node.reason.starts_with(OURS))
        .collect()
}

/// All nodes ask at the same moment, each before any of the others has drained, once an hour. Gives how many said that they would
/// drain or were kept from it by the breaker.
fn ask_all(nodes: &mut [Node], seen: Seen, limit: &Limit, now: i64, is_armed: bool) -> usize {
    let before = nodes.to_vec();
    let mut said = 0;
    for node in nodes.iter_mut() {
        let action = decide(&Question {
            place: Place::Health,
            seen,
            standing: standing(&before, &node.name, now),
            was_acted_on: false,
            in_doubt: InDoubt::Alert,
            limit,
        });
        said += usize::from(matches!(action, Action::Drain | Action::Alert(Cause::TooMany(_))));
        if action == Action::Drain && is_armed {
            node.state = State::new("IDLE+DRAIN");
            node.reason = format!("{OURS} broken");
            node.since = Some(now);
        }
    }
    // Each looks again behind its drain, and takes it back where it is one too many.
    let settled = nodes.to_vec();
    for node in nodes.iter_mut().filter(|node| node.since == Some(now)) {
        let standing = drained_before(&settled, &node.name, now).unwrap();
        if limit.reached(standing.nodes, standing.others).is_some() {
            node.state = State::new("IDLE");
            node.reason = String::new();
            node.since = None;
        }
    }
    said
}

#[test]
fn no_rule_set_and_no_rollout_drains_more_than_the_breaker() {
    let all = all();
    assert_eq!(all.len(), 30);
    // A share of 2 % of 200 nodes, and three an hour.
    let limit: Limit = "2%,3/h".parse().unwrap();
    let mut faulty = 0;
    for (name, bad) in &all {
        let seen = seen(bad);
        faulty += usize::from(seen == Seen::Fault);
        let mut shadow = cluster();
        let said = ask_all(&mut shadow, seen, &limit, HOUR, false);
        assert_eq!(drained(&shadow).len(), 0, "{name}: shadow drains nothing");
        let in_service = NODES - FOREIGN;
        assert_eq!(
            said,
            if seen == Seen::Fault { in_service } else { 0 },
            "{name}: shadow says it"
        );
        let mut nodes = cluster();
        for hour in 1..=HOURS {
            let before = drained(&nodes).len();
            ask_all(&mut nodes, seen, &limit, hour * HOUR, true);
            let now = drained(&nodes).len();
            assert!(now - before <= 3, "{name}: {} in an hour", now - before);
            assert!(now <= 4, "{name}: {now} drained");
        }
        assert_eq!(!drained(&nodes).is_empty(), seen == Seen::Fault, "{name}");
        for node in &nodes[..FOREIGN] {
            assert_eq!(node.reason, "new cables: alice", "{name}");
        }
    }
    assert!(faulty >= 22, "the rule sets are meant to be bad: {faulty} of 30");
}

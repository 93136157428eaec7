//! What this agent sends is read by a server of an earlier minor version: fields are only added, and of the words that it does
//! not know each stands where that version takes any word.

use std::fs;
use std::path::PathBuf;

use fake_gpu::Scenario;
use jsonschema::Validator;
use kb_core::report;
use serde_json::Value;

use crate::node::{Node, Run};

/// The schema of version 1.4, whose reader takes a word that it does not know for "unrecognised" or "unknown".
fn of_earlier_version() -> Validator {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../kb-core/tests/data/schemas/report-1.4.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// What an earlier reader could not read: everything that does not fit but a new word in a small vocabulary.
fn unreadable(report: &Value, schema: &Validator) -> Vec<String> {
    schema
        .iter_errors(report)
        .filter(|error| !error.instance().is_string() || !error.schema_path().to_string().ends_with("/oneOf"))
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn reports_of_this_agent_are_read_by_an_earlier_server() {
    assert_eq!(report::MAJOR, 1, "a new major version needs another test");
    let schema = of_earlier_version();
    let nodes = [
        ("healthy", Scenario::healthy(2)),
        ("broken", Scenario::writes_dropped()),
        ("refused", Scenario::refused_gns()),
        ("no driver", Scenario::library_missing()),
        ("one GPU", Scenario::healthy(1)),
    ];
    for (name, scenario) in nodes {
        let node = Node::with(&scenario);
        let state = node.path("state");
        let mut look = node.command("daemon");
        look.args(["--once", "--quiet", "--state"]).arg(&state);
        look.output().unwrap();
        let look = fs::read(state.join("last-passive.json")).unwrap();
        // A GPU that is missing is told in a list that the earlier version does not have.
        for (kind, report) in [
            ("probe", node.run("probe", &["--json"]).stdout.into_bytes()),
            (
                "missing",
                node.run("probe", &["--json", "--expect", "gpus=4"])
                    .stdout
                    .into_bytes(),
            ),
            ("look", look),
        ] {
            let report: Value = serde_json::from_slice(&report).unwrap();
            let unreadable = unreadable(&report, &schema);
            assert!(unreadable.is_empty(), "{name}, {kind}: {unreadable:?}");
        }
    }
}

#[test]
fn a_change_that_is_no_addition_is_seen() {
    let schema = of_earlier_version();
    let node = Node::with(&Scenario::healthy(2));
    let report: Value =
        serde_json::from_str(&Run::of(&node.command("probe").arg("--json").output().unwrap()).stdout)
            .unwrap();
    for (pointer, value) in [
        ("/conclusion/verdict", Value::from(1)),
        ("/pairs/0/a", Value::from("0")),
        ("/gpus/0/uuid", Value::Null),
        ("/finished_at", Value::Null),
    ] {
        let mut changed = report.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert!(!unreadable(&changed, &schema).is_empty(), "{pointer}");
    }
    let mut new_word = report;
    new_word["conclusion"]["verdict"] = "of_a_later_version".into();
    assert!(unreadable(&new_word, &schema).is_empty());
}

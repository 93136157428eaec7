//! Rules find the same in the parts of a report that they read as in all of it.

use super::*;
use crate::domain::correlate::facts::Facts;
use crate::domain::correlate::reads::Reads;
use crate::domain::correlate::rules::{Outcome, RuleBook};
use crate::domain::ingest::Parsed;
use kb_core::annex::ProbeRule;

/// Expressions over values of every kind, with what is there and what is not, in its right place and in a wrong one.
const ANYWHERE: [&str; 36] = [
    "report",
    "report.gpus",
    "report.gpus[1]",
    "report.gpus[0].name.value",
    "report.gpus[7].name.value",
    "report.gpus['name']",
    "report.gpus.name",
    "report['gpus'][0]['name']",
    "report[size(report.gpus) > 1 ? 'node' : 'gpus']",
    "(size(report.gpus) > 1 ? report.odd : report.node).map",
    "dyn(report.odd).map.a",
    "has(report.odd) && has(report.odd.map) && !has(report.odd.nothing)",
    "has(report.odd.nothing.more)",
    "has(report.nothing) || report.odd.one == 1",
    "report.odd.map == report.odd.same",
    "report.odd.map != report.odd.list",
    "size(report.odd.map) + size(report.odd.list)",
    "type(report.odd.map) == type(report.odd.list)",
    "'a' in report.odd.map && !('x' in report.odd.map)",
    "'text' in report.odd.list && 2 in report.odd.list",
    "report.odd.one in report.odd.list",
    "report.odd.map.exists(key, key == 'b')",
    "report.odd.map.all(key, has(report.odd.map[key].c) || key != 'b')",
    "report.odd.map.exists(key, report.odd.same[key] == report.odd.map[key])",
    "report.odd.list.filter(item, type(item) == type({}))",
    "report.odd.list.exists(item, item.a == 1)",
    "report.odd.list[3].a.b[0].c",
    "report.odd.list[1.0]",
    "report.odd.one.two",
    "report.gpus.map(gpu, gpu.cuda_ordinal)",
    "report.gpus.filter(gpu, gpu.cuda_ordinal > 0)",
    "report.gpus.exists(report, report.name.value == 'NVIDIA Test')",
    "report.gpus.map(gpu, report.pairs.exists(pair, pair.a == gpu.cuda_ordinal))",
    "report.pairs.map(pair, pair.directions.filter(way, way.can_access_peer.value)[0].initiator)",
    "[report.odd.one, report.odd.list[0]]",
    "{'a': report.odd.map}",
];

const OF_PAIR: [&str; 8] = [
    "pair",
    "pair.verdict.reason",
    "has(pair.facts) && 'x.y' in pair.facts && has(pair.facts['x.y'].value) && pair.facts['x.y'].value == 3",
    "pair.facts",
    "pair.directions.exists(d, d.nvml.read.value in ['GNS', 'NS'])",
    "pair.directions[1].nvml",
    "report.pairs[0].verdict == pair.verdict",
    "size(pair)",
];

const OF_DIRECTION: [&str; 4] = [
    "direction",
    "direction.can_access_peer.value",
    "pair.a == direction.initiator",
    "direction.nvml.read == pair.directions[0].nvml.read",
];

const OF_GPU: [&str; 3] = ["gpu", "gpu.name.value", "report.gpus[0].uuid == gpu.uuid"];

fn parsed() -> Parsed {
    let pairs = [pair(0, 1, "OK", 4), pair(0, 2, "NS", 0), pair(1, 2, "GNS", 0)];
    let mut body = report(3, &pairs);
    body["pairs"][1]["facts"] = json!({ "x.y": { "value": 3, "source": "test" } });
    let map = json!({ "a": 1, "b": { "c": [1, 2] } });
    body["odd"] = json!({
        "one": 1, "map": map, "same": map, "list": [1, "text", 2, { "a": { "b": [{ "c": null }, { "c": 4 }] } }],
    });
    parse(body.to_string().as_bytes()).unwrap()
}

fn asked(parsed: &Parsed, scope: &str, expression: &str) -> [Outcome; 2] {
    let rule = json!({ "id": "rule", "scope": scope, "when": "true", "evidence": [expression] });
    let rule: ProbeRule = serde_json::from_value(rule).unwrap();
    let book = RuleBook::of_one(&rule, "test/rules".parse().unwrap()).unwrap();
    let ask = |reads: &Reads| {
        let facts = Facts::of(&parsed.report, &parsed.body, reads);
        book.apply(&facts, Duration::from_mins(1))
    };
    [ask(&book.reads), ask(&Reads::everything())]
}

#[test]
fn what_no_rule_reads_changes_nothing() {
    let parsed = parsed();
    for (scope, expressions) in [
        ("report", ANYWHERE.as_slice()),
        ("pair", &ANYWHERE),
        ("pair", &OF_PAIR),
        ("direction", &OF_PAIR),
        ("direction", &OF_DIRECTION),
        ("gpu", &ANYWHERE),
        ("gpu", &OF_GPU),
    ] {
        for expression in expressions {
            let [read, whole] = asked(&parsed, scope, expression);
            assert!(!whole.findings.is_empty(), "{scope}: {expression}");
            assert_eq!(read.findings, whole.findings, "{scope}: {expression}");
            assert_eq!(read.failed, whole.failed, "{scope}: {expression}");
        }
    }
}

#[test]
fn what_no_rule_reads_is_left_out() {
    let reads = |expression: &str| {
        let rule = json!({ "id": "rule", "scope": "pair", "when": expression });
        let rule: ProbeRule = serde_json::from_value(rule).unwrap();
        let book = RuleBook::of_one(&rule, "test/rules".parse().unwrap()).unwrap();
        book.reads
    };
    let of_cause = reads("has(pair.verdict.cause) && pair.verdict.cause == 'hang'");
    let pair = of_cause.below("/pairs/0").unwrap();
    assert!(pair.members().unwrap().keys().eq(["directions", "verdict"]));
    assert_eq!(of_cause.below("/pairs/0/facts"), None);
    let verdict = of_cause.below("/pairs/0/verdict").unwrap();
    assert!(verdict.members().unwrap().keys().eq(["cause"]));
    assert!(
        reads("pair.verdict == report.pairs[0].verdict")
            .below("/pairs/0/verdict")
            .unwrap()
            .members()
            .is_none()
    );
}

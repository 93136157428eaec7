//! What a policy leaves of a report and a ledger, and what it never touches.

use serde_json::json;
use time::OffsetDateTime;

use super::super::{Ledger, health_by, report_by, still_open, tell_by};
use super::{GPU_0, admitted, look, looked, proven, set, xid};
use crate::policy::Policy;
use crate::policy::tests::rule;
use crate::report::{Meaning, Pair, Report};
use crate::verdict::{Expect, Verdict, judge, not_admitted};

const NOW: OffsetDateTime = time::macros::datetime!(2026-11-24 10:00:05 UTC);

fn policy(code: &str, is: Meaning) -> Policy {
    Policy::of(vec![rule(code, is)])
}

/// A run on a GPU with this fact, as the records judge it.
fn run_with(boot: &str, name: &str, value: serde_json::Value) -> Report {
    let mut run = admitted(boot);
    set(&mut run, 0, "pcie.link_width_max", json!(16));
    set(&mut run, 0, name, value);
    judge(&mut run, Expect::Auto);
    run
}

#[test]
fn a_fault_that_a_policy_ignores_admits_no_node() {
    let ignoring = policy("remap_failed", Meaning::Ignore);
    let mut ledger = Ledger::default();
    let health = look(&mut ledger, &looked("a"), &[&xid(GPU_0, "48, x")]);
    let mut earlier = looked("a");
    tell_by(&Policy::default(), &mut earlier, health, NOW);
    let mut run = run_with("b", "remapped_rows.failure", json!(true));
    assert_eq!(run.conclusion.verdict, Verdict::Broken);
    ledger.proof(&run, &ignoring);
    let health = ledger.health(Vec::new());
    assert!(health.open.iter().any(|entry| entry.number == Some(48)));
    tell_by(&ignoring, &mut run, health, NOW);
    assert_eq!(
        run.conclusion.verdict,
        Verdict::Healthy,
        "{}",
        run.conclusion.reason
    );
    let why = not_admitted(&run).unwrap();
    assert!(why.contains("by the records"), "{why}");
    run.health.as_mut().unwrap().open.clear();
    assert!(still_open(&earlier, &run).is_some());
    assert_eq!(not_admitted(&admitted("b")), None);
}

#[test]
fn a_proof_is_kept_as_the_records_judge_it_and_told_by_the_policy_of_the_day() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[]);
    let run = run_with("a", "pcie.link_width", json!(8));
    assert_eq!(
        run.conclusion.verdict,
        Verdict::Degraded,
        "{}",
        run.conclusion.reason
    );
    let strict = policy("pcie_link_degraded", Meaning::Fault);
    ledger.proof(&run, &strict);
    let by = |policy: &Policy| health_by(policy, ledger.health(Vec::new()), &run.gpus).verdict;
    assert_eq!(by(&strict), Verdict::Broken);
    // The rule was a mistake, and is withdrawn.
    assert!(by(&Policy::default()) < Verdict::Broken);
    let told = health_by(&strict, ledger.health(Vec::new()), &run.gpus);
    assert!(health_by(&Policy::default(), told, &run.gpus).verdict < Verdict::Broken);

    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[]);
    ledger.proof(
        &run_with("a", "remapped_rows.pending", json!(true)),
        &Policy::default(),
    );
    let by = |policy: &Policy| health_by(policy, ledger.health(Vec::new()), &run.gpus).verdict;
    assert_eq!(by(&Policy::default()), Verdict::Broken);
    assert_eq!(
        by(&policy("remap_pending", Meaning::Ignore)),
        Verdict::NoFaultSeen
    );
    assert_eq!(by(&policy("slow_pair", Meaning::Ignore)), Verdict::Broken);
}

#[test]
fn what_a_policy_ignores_keeps_no_good_run_from_being_the_last_proof() {
    let ignoring = policy("xid 48", Meaning::Ignore);
    for (policy, replaces) in [(&ignoring, true), (&Policy::default(), false)] {
        let mut ledger = Ledger::default();
        look(&mut ledger, &looked("a"), &[]);
        let mut broken = proven("a");
        broken.conclusion.verdict = Verdict::Broken;
        ledger.proof(&broken, policy);
        look(&mut ledger, &looked("a"), &[&xid(GPU_0, "48, x")]);
        ledger.proof(&proven("a"), policy);
        let proof = ledger.health(Vec::new()).last_proof.unwrap();
        assert_eq!(proof.verdict == Verdict::Healthy, replaces);
    }
}

/// Two pairs: one that a newer agent calls broken by a cause that is not known here, and one with a warning.
fn with_unknown_cause() -> Report {
    let mut report = run_with("a", "pcie.link_width", json!(8));
    report.load = None;
    judge(&mut report, Expect::Auto);
    let mut other: Pair = report.pairs[0].clone();
    "of_next_year".clone_into(other.verdict.cause.get_or_insert_default());
    other.verdict.beside.clear();
    other.verdict.verdict = Verdict::Broken;
    report.pairs.push(other);
    report.conclusion.verdict = Verdict::Broken;
    report.conclusion.exit_code = 2;
    report
}

#[test]
fn a_pair_that_an_agent_calls_broken_stays_so_where_no_rule_is_about_that() {
    let ignoring = policy("pcie_link_degraded", Meaning::Ignore);
    let mut report = with_unknown_cause();
    report_by(&ignoring, &mut report, NOW);
    let verdicts: Vec<Verdict> = report.pairs.iter().map(|pair| pair.verdict.verdict).collect();
    assert_eq!(verdicts, [Verdict::Healthy, Verdict::Broken]);
    assert_eq!(
        (report.conclusion.verdict, report.conclusion.exit_code),
        (Verdict::Broken, 2)
    );

    // Of the whole run, too.
    let mut report = with_unknown_cause();
    report.pairs.pop();
    report_by(&ignoring, &mut report, NOW);
    assert_eq!(
        (report.conclusion.verdict, report.conclusion.exit_code),
        (Verdict::Broken, 2)
    );
}

#[test]
fn what_was_expected_and_an_exit_code_without_a_reason_stay() {
    let ignoring = policy("pcie_link_degraded", Meaning::Ignore);
    let mut report = with_unknown_cause();
    report.pairs.pop();
    report.conclusion.verdict = Verdict::Degraded;
    report.conclusion.expect = Some("p2p=of_next_year,gpus=2".to_owned());
    report_by(&ignoring, &mut report, NOW);
    let conclusion = &report.conclusion;
    assert_eq!(conclusion.verdict, Verdict::Healthy);
    assert_eq!(conclusion.expect.as_deref(), Some("p2p=of_next_year,gpus=2"));
    assert_eq!(conclusion.exit_code, 2);
}

#[test]
fn a_pair_is_judged_by_the_servers_policy_and_not_by_the_agents() {
    let mut ledger = Ledger::default();
    let mut run = run_with("a", "remapped_rows.pending", json!(true));
    let health = look(&mut ledger, &run, &[]);
    tell_by(&policy("remap_pending", Meaning::Fault), &mut run, health, NOW);
    assert_eq!(run.pairs[0].verdict.verdict, Verdict::Broken);
    report_by(&policy("remap_pending", Meaning::Ignore), &mut run, NOW);
    assert_eq!(run.pairs[0].verdict.verdict, Verdict::Healthy);
    assert_eq!(run.conclusion.exit_code, 0, "{:?}", run.conclusion);
}

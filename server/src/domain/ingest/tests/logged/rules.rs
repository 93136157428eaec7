//! Other rules count: verdict and findings of what tells of a node change together.

use super::*;
use crate::domain::correlate::{judge_again, recorrelate};
use crate::domain::ingest::tests::looks::as_look;
use crate::domain::ingest::tests::warned::{all, measured};
use crate::store::{Hardware, Origin};

pub(super) const XID_48: (&str, &str) = (
    include_str!("../../../../../../kb-seed/xid/48-double-bit-ecc.json"),
    include_str!("../../../../../../kb-seed/xid/48-double-bit-ecc.ext.json"),
);
pub(super) const DOUBLE: &str =
    "[  9.0] NVRM: Xid (PCI:0000:01:00): 48, pid=12, name=x, DBE (double bit error) detected";
pub(super) const IGNORED: &str = "[[rule]]\ncode = \"xid 48\"\nis = \"ignore\"\nreason = \"a known board\"\n";

/// As a server that is started with this policy.
pub(super) async fn start_with(door: &mut Door, policy: &str) {
    let current = file::read(policy, &[]).unwrap();
    start_by(
        door,
        Stages {
            current,
            candidate: None,
        },
    )
    .await;
}

async fn start_by(door: &mut Door, stages: Stages) {
    door.correlator = Arc::new(Correlator::by(Arc::new(stages)));
    let store = door.store.as_ref();
    judge_again(store, &door.correlator, &door.generation)
        .await
        .unwrap();
    judge_those_due(door).await;
}

/// As the server does, until none is left.
pub(super) async fn judge_those_due(door: &Door) {
    for _ in 0..4 {
        let due = recorrelate(door.store.as_ref(), &door.generation, &door.correlator, 8).await;
        if due.unwrap() == 0 {
            return;
        }
    }
    panic!("reports are judged again for ever");
}

/// As a server that reads these records from a feed.
async fn publish(door: &mut Door, record: &(String, String)) {
    door.generation = generation_of(std::slice::from_ref(record));
    door.correlator = Arc::new(Correlator::new());
    door.store.judge_again(None).await.unwrap();
    judge_those_due(door).await;
}

/// Sends a report that comes so many minutes after the others.
pub(super) async fn send_later(door: &Door, body: &Value, minutes: i64) -> Verdict {
    let arrival = Arrival {
        received_at: AT + time::Duration::minutes(minutes),
        sent_at: None,
    };
    let sent = door.send_at(body.to_string().as_bytes(), arrival).await;
    sent.unwrap().verdict
}

/// The verdict that stands, what is open that counts, and whether the rules of now decided.
pub(super) async fn stands(door: &Door) -> (Verdict, Vec<String>) {
    let nodes = door.store.nodes(&NodeQuery::first(1)).await.unwrap();
    let summary = &nodes[0].summary;
    let [rule_set, _] = door.correlator.rule_sets(&door.generation);
    assert_eq!(summary.rule_set.as_ref(), Some(&rule_set));
    let findings = door.store.node_findings(&nodes[0].id).await.unwrap();
    let open = findings
        .into_iter()
        .filter(|finding| finding.is_open && finding.bearing > kb_core::report::Bearing::Event);
    (summary.verdict, open.map(|finding| finding.name).collect())
}

#[tokio::test]
async fn a_run_is_judged_by_the_rules_that_its_findings_are_made_by() {
    let mut door = door_by(&[owned(XID_48)], IGNORED, &[]).await;
    let told = readable(with_line("told", 10, ("before", DOUBLE)));
    assert_eq!(door.send(&told).await.unwrap().verdict, Verdict::Healthy);
    assert_eq!(stands(&door).await, (Verdict::Healthy, Vec::new()));
    for _ in 0..2 {
        start_with(&mut door, "").await;
        let (verdict, open) = stands(&door).await;
        assert_eq!(verdict, Verdict::Broken);
        assert_eq!(open, ["xid/48-double-bit-ecc"]);
        start_with(&mut door, IGNORED).await;
        assert_eq!(stands(&door).await, (Verdict::Healthy, Vec::new()));
    }
    // Sent again by other rules, before the server came to it.
    door.correlator = Arc::new(Correlator::new());
    assert!(door.send(&told).await.unwrap().is_duplicate);
    assert_eq!(stands(&door).await.0, Verdict::Broken);
}

#[tokio::test]
async fn what_a_record_takes_changes_verdict_and_findings_together() {
    let taking = |regex: &str| {
        let mut document: Value = serde_json::from_str(GSP_MESSAGES.0).unwrap();
        document["regex"] = json!(regex);
        (document.to_string(), GSP_MESSAGES.1.to_owned())
    };
    let (less, more) = (
        taking("flux capacitor hot"),
        taking("flux capacitor (?:hot|cold)"),
    );
    let mut door = door_with(&[(less.0.as_str(), less.1.as_str())]).await;
    let version = door.correlator.rule_sets(&door.generation);
    let line = ("before", "[  9.0] NVRM: flux capacitor cold");
    send_later(&door, &readable(with_line("told", 10, line)), 1).await;
    assert_eq!(stands(&door).await, (Verdict::Healthy, Vec::new()));
    for _ in 0..2 {
        publish(&mut door, &more).await;
        assert_eq!(door.correlator.rule_sets(&door.generation), version);
        let told = vec!["driver/gsp-messages-corrupt".to_owned()];
        assert_eq!(stands(&door).await, (Verdict::Broken, told));
        publish(&mut door, &less).await;
        assert_eq!(stands(&door).await, (Verdict::Healthy, Vec::new()));
    }
}

#[tokio::test]
async fn rules_by_which_a_report_tells_the_same_hold_it_against_no_other() {
    let mut door = door_with(&[XID_48, XID_63]).await;
    let told = readable(with_line("told", 10, ("before", DOUBLE)));
    assert_eq!(send_later(&door, &told, 1).await, Verdict::Broken);
    start_with(&mut door, &IGNORED.replace("48", "63")).await;
    let told = vec!["xid/48-double-bit-ecc".to_owned()];
    assert_eq!(stands(&door).await, (Verdict::Broken, told));
    let node = "node-1".parse().unwrap();
    let known = door.store.proofs(&node, false, 1).await.unwrap();
    assert_eq!(known.judged_anew, 0);
}

/// The run came first, so that it is judged first, while the fault is still open.
#[tokio::test]
async fn a_run_is_a_proof_again_without_the_fault_that_it_left_open() {
    let mut door = door_with(&[XID_48]).await;
    let unread = run("good", 20, &[0, 1], false);
    let told = readable(with_line("told", 10, ("before", DOUBLE)));
    for (body, minutes) in [(&unread, 1), (&told, 2)] {
        let received_at = AT + time::Duration::minutes(minutes);
        let arrival = Arrival {
            received_at,
            sent_at: Some(received_at),
        };
        door.send_at(body.to_string().as_bytes(), arrival).await.unwrap();
    }
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Broken));
    start_with(&mut door, IGNORED).await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("good", Verdict::Healthy));
    start_with(&mut door, "").await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Broken));
}

#[tokio::test]
async fn a_fault_that_a_policy_took_away_comes_back_with_the_rules() {
    let mut door = door_with(&[XID_48]).await;
    let told = as_look(readable(with_line("told", 10, ("before", DOUBLE))));
    assert_eq!(send_later(&door, &told, 1).await, Verdict::Broken);
    start_with(&mut door, IGNORED).await;
    assert!(stands(&door).await.0 < Verdict::Degraded);
    // A look that could not read the log ends nothing.
    send_later(&door, &as_look(run("after", 20, &[0, 1], false)), 2).await;
    start_with(&mut door, "").await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Broken));
    // A run that read it does.
    start_with(&mut door, IGNORED).await;
    send_later(&door, &readable(run("read", 30, &[0, 1], false)), 3).await;
    start_with(&mut door, "").await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("read", Verdict::Healthy));
}

#[tokio::test]
async fn what_a_look_read_in_its_log_ends_with_a_run_in_a_later_boot() {
    let door = door_with(&[XID_48]).await;
    let in_boot = |mut report: Value, boot: &str| {
        report["node"]["boot_id"] = json!(boot);
        report
    };
    let told = as_look(readable(with_line("told", 10, ("before", DOUBLE))));
    door.send(&in_boot(told, "a")).await.unwrap();
    let later = |id: &str, minute: u8, proof_of: Option<&str>| {
        let mut look = in_boot(as_look(readable(run(id, minute, &[0, 1], false))), "b");
        look["health"] = json!({ "verdict": "no_fault_seen", "open": [], "whole_node": true });
        if let Some(boot) = proof_of {
            look["health"]["last_proof"] = json!({ "at": "2026-11-21T07:15:00Z", "verdict": "healthy",
                "reason": "", "report": "proof", "boot_id": boot });
        }
        look
    };
    // The run is not kept, or it was one that does not admit the node.
    for (id, minute, proof_of) in [
        ("new-boot", 20, None),
        ("same-boot", 21, Some("a")),
        ("not-kept", 22, Some("b")),
    ] {
        door.send(&later(id, minute, proof_of)).await.unwrap();
        assert_eq!(standing(&door).await.1, Verdict::Broken, "{id}");
    }
    door.send(&in_boot(run("proof", 15, &[0, 1], false), "b"))
        .await
        .unwrap();
    door.send(&later("kept", 23, Some("b"))).await.unwrap();
    assert_eq!(standing(&door).await.1, Verdict::Broken, "it admits nothing");
    let cleared = |id: &str, minute: u8| {
        let mut look = later(id, minute, None);
        look["health"]["clears"] = json!([{ "at": "2026-11-21T07:15:00Z", "by": "ops", "reason": "new GPU",
            "entries": ["xid-48@0000:01:00.0"] }]);
        look
    };
    door.send(&cleared("cleared", 24)).await.unwrap();
    assert!(standing(&door).await.1 < Verdict::Degraded);
}

#[tokio::test]
async fn a_part_of_a_fault_that_a_policy_took_away_comes_back_with_the_rules() {
    let remapped = "[  9.0] NVRM: Xid (PCI:0000:01:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping";
    let mut door = door_with(&[XID_48, XID_63]).await;
    let both = format!("{DOUBLE}\n{remapped}");
    let told = as_look(readable(with_line("told", 10, ("before", &both))));
    assert_eq!(send_later(&door, &told, 1).await, Verdict::Broken);
    start_with(&mut door, IGNORED).await;
    assert_eq!(standing(&door).await.1, Verdict::Degraded);
    // A look that tells what is left takes its place.
    let left = as_look(readable(with_line("left", 20, ("before", remapped))));
    assert_eq!(send_later(&door, &left, 2).await, Verdict::Degraded);
    start_with(&mut door, "").await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Broken));
}

#[tokio::test]
async fn a_cause_that_other_rules_add_is_not_over_with_the_others() {
    let mut door = door_by(&[owned(XID_48)], IGNORED, &[]).await;
    let mut told = measured("told", 10, &all(), Some((1, 2)));
    told["conclusion"]["verdict"] = json!("broken");
    told["pairs"][0]["verdict"]["verdict"] = json!("broken");
    told["pairs"][0]["directions"][0]["checks"][0]["outcome"] = json!("fail");
    told["logs"] = json!([{ "source": "kmsg", "when": "before", "text": DOUBLE }]);
    assert_eq!(send_later(&door, &told, 1).await, Verdict::Broken);
    // It ends what failed, and not what was slow.
    send_later(&door, &run("passed", 20, &[0, 1, 2, 3], false), 2).await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Degraded));
    start_with(&mut door, "").await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Broken));
}

#[tokio::test]
async fn a_neighbour_that_cannot_be_read_hides_no_fault() {
    let mut door = door_with(&[XID_48]).await;
    let told = readable(with_line("told", 10, ("before", DOUBLE)));
    send_later(&door, &told, 1).await;
    start_with(&mut door, IGNORED).await;
    let damaged = NewReport {
        node: "node-1".parse().unwrap(),
        id: "later".parse().unwrap(),
        hostname: None,
        body_zstd: vec![0],
        body_sha256: String::new(),
        body_bytes: 1,
        finished_at: AT,
        received_at: AT + time::Duration::minutes(2),
        ended_at: None,
        schema: (1, 0),
        simulated: false,
        verdict: Verdict::Healthy,
        weight: Weight::Proof,
        origin: Origin::Run,
        reason: String::new(),
        gpus: 2,
        measurements: Vec::new(),
        machine: None,
        causes: Causes::default(),
        judged: None,
        hardware: Hardware::default(),
        facets: None,
        baseline: None,
        found: None,
    };
    door.store.save_report(damaged).await.unwrap();
    assert_eq!(standing(&door).await.1, Verdict::Healthy);
    start_with(&mut door, "").await;
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("told", Verdict::Broken));
}

#[tokio::test]
async fn a_node_that_leaves_a_trial_is_judged_by_the_others_policy() {
    let mut door = door_with(&[XID_48]).await;
    let told = readable(with_line("told", 10, ("before", DOUBLE)));
    assert_eq!(send_later(&door, &told, 1).await, Verdict::Broken);
    // The node is within a tenth of all, and not within nine hundredths.
    for (share, expected) in [
        ("10", Verdict::Healthy),
        ("9", Verdict::Broken),
        ("10", Verdict::Healthy),
    ] {
        let candidate = file::read(IGNORED, &[]).unwrap();
        let stages = Stages {
            candidate: Some((candidate, share.parse().unwrap())),
            ..Stages::default()
        };
        start_by(&mut door, stages).await;
        assert_eq!(standing(&door).await.1, expected, "{share}");
    }
}

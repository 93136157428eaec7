//! One case for each row of the table, and the run's exit codes.

use super::*;
use crate::report::{
    Check, Direction, Engine, Fact, Failure, GapKind, Mismatch, NvmlP2p, Outcome, P2pStatus, Pair,
    PairVerdict,
};

fn nvml(status: P2pStatus) -> NvmlP2p {
    let fact = || Fact::read(status, "nvmlDeviceGetP2PStatus");
    NvmlP2p {
        read: fact(),
        write: fact(),
        nvlink: fact(),
        atomics: fact(),
        pci: fact(),
    }
}

fn check(rung: u8, outcome: Outcome) -> Check {
    Check {
        rung,
        name: "copy_push".to_owned(),
        engine: Engine::Ce,
        outcome,
        reason: Some("because".to_owned()),
        call: None,
        code: None,
        code_name: None,
        checked_by: "owner_kernel".to_owned(),
        bytes: 4096,
        windows: 0,
        spread_bytes: 0,
        mismatch: None,
        seconds: 0.01,
        rerun: false,
    }
}

fn direction(initiator: u32, owner: u32) -> Direction {
    Direction {
        initiator,
        owner,
        can_access_peer: Fact::read(true, "cuDeviceCanAccessPeer"),
        nvml: nvml(P2pStatus::Ok),
        cuda_attributes: std::collections::BTreeMap::new(),
        checks: vec![
            check(2, Outcome::Pass),
            check(3, Outcome::Pass),
            check(4, Outcome::Pass),
        ],
    }
}

fn healthy() -> Pair {
    let placeholder = PairVerdict {
        verdict: Verdict::Unknown,
        cause: None,
        reason: String::new(),
        evidence: Vec::new(),
        proven_rungs: Vec::new(),
        record: None,
        fix: None,
    };
    Pair {
        a: 0,
        b: 1,
        nvlinks: Fact::read(0, "nvml"),
        nvswitch: Fact::read(false, "nvml"),
        common_ancestor: Fact::read("SYS".to_owned(), "nvml"),
        facts: std::collections::BTreeMap::new(),
        directions: vec![direction(0, 1), direction(1, 0)],
        verdict: placeholder,
    }
}

fn refused(status: P2pStatus) -> Pair {
    let mut pair = healthy();
    for direction in &mut pair.directions {
        direction.can_access_peer = Fact::read(false, "cuDeviceCanAccessPeer");
        direction.nvml = nvml(status);
        let mut enable = check(2, Outcome::Fail);
        enable.code = Some(217);
        direction.checks = vec![enable, check(3, Outcome::Skipped)];
    }
    pair
}

/// A healthy pair whose second direction's copy came to something else.
fn with_copy(change: impl FnOnce(&mut Check)) -> Pair {
    let mut pair = healthy();
    change(&mut pair.directions[1].checks[1]);
    pair
}

fn mismatch(check: &mut Check, untouched: bool, writer_sees_it: Option<bool>) {
    check.outcome = Outcome::Fail;
    check.mismatch = Some(Mismatch {
        first_offset: 0,
        words: 7,
        in_guard: false,
        untouched,
        writer_sees_it,
    });
}

#[track_caller]
fn assert_row(pair: &Pair, verdict: Verdict, cause: &str, evidence: &str) {
    let judged = judge_pair(pair, 4);
    assert_eq!(
        (judged.verdict, judged.cause.as_deref()),
        (verdict, Some(cause)),
        "{judged:?}"
    );
    assert!(
        judged.evidence.iter().any(|pointer| pointer == evidence),
        "{judged:?}"
    );
    assert!(!judged.reason.is_empty());
}

const COPY: &str = "/pairs/4/directions/1/checks/1";
const ACCESS: &str = "/pairs/4/directions/0/can_access_peer";

#[test]
fn healthy_names_the_rungs_that_proved_it() {
    let judged = judge_pair(&healthy(), 0);
    assert_eq!(judged.verdict, Verdict::Healthy);
    assert_eq!(judged.proven_rungs, [1, 2, 3, 4]);
    assert_eq!(judged.cause, None);
    assert!(
        judged
            .evidence
            .contains(&"/pairs/0/directions/0/checks/1".to_owned())
    );
}

#[test]
fn nothing_but_a_pass_of_every_check_is_healthy() {
    for outcome in [Outcome::Skipped, Outcome::NotVisible, Outcome::Unrecognised] {
        for direction in 0..2 {
            for position in 0..3 {
                let mut pair = healthy();
                pair.directions[direction].checks[position].outcome = outcome;
                let judged = judge_pair(&pair, 0);
                assert_eq!(
                    judged.verdict,
                    Verdict::Unknown,
                    "{outcome:?} {direction} {position}"
                );
                let name = format!("rung {}", position + 2);
                assert!(judged.reason.contains(&name), "{}", judged.reason);
            }
        }
    }
}

#[test]
fn a_rung_without_checks_is_not_proven() {
    for (kept, missing) in [(2, "rung 4"), (1, "rung 3")] {
        let mut pair = healthy();
        pair.directions[1].checks.truncate(kept);
        assert_row(&pair, Verdict::Unknown, cause::NOT_PROVEN, "/pairs/4/directions");
        assert!(judge_pair(&pair, 0).reason.contains(missing), "{kept}");
    }
}

#[test]
fn what_was_left_out_counts_more_than_what_passes_only_alone() {
    let mut pair = with_copy(|check| check.outcome = Outcome::PassAlone);
    pair.directions[0].checks[2].outcome = Outcome::Skipped;
    assert_row(
        &pair,
        Verdict::Unknown,
        cause::NOT_PROVEN,
        "/pairs/4/directions/0/checks/2",
    );
}

#[test]
fn overwritten_guards_are_no_private_mirror() {
    let pair = with_copy(|check| {
        mismatch(check, false, Some(true));
        check.mismatch.as_mut().unwrap().in_guard = true;
    });
    assert_row(&pair, Verdict::Broken, cause::DATA_MISMATCH, COPY);
}

#[test]
fn wrong_data_is_broken_and_the_worst_kind_names_the_cause() {
    let mirror = with_copy(|check| mismatch(check, true, Some(true)));
    assert_row(&mirror, Verdict::Broken, cause::PRIVATE_MIRROR, COPY);
    let dropped = with_copy(|check| mismatch(check, true, Some(false)));
    assert_row(&dropped, Verdict::Broken, cause::WRITES_DROPPED, COPY);
    let corrupted = with_copy(|check| mismatch(check, false, None));
    assert_row(&corrupted, Verdict::Broken, cause::DATA_MISMATCH, COPY);
}

#[test]
fn a_hang_and_a_death_are_broken() {
    let hang = with_copy(|check| check.outcome = Outcome::Hang);
    assert_row(&hang, Verdict::Broken, cause::HANG, COPY);
    let death = with_copy(|check| check.outcome = Outcome::Fail);
    assert_row(&death, Verdict::Broken, cause::PROCESS_DIES, COPY);
}

#[test]
fn errors_after_a_grant_are_broken() {
    let mut enable = healthy();
    enable.directions[1].checks[0].outcome = Outcome::Fail;
    enable.directions[1].checks[0].code = Some(711);
    assert_row(
        &enable,
        Verdict::Broken,
        cause::ENABLE_FAILS,
        "/pairs/4/directions/1/checks/0",
    );
    let access = with_copy(|check| {
        check.outcome = Outcome::Fail;
        check.code = Some(700);
    });
    assert_row(&access, Verdict::Broken, cause::ACCESS_FAILS, COPY);
}

#[test]
fn what_could_not_be_seen_is_unknown() {
    let inconclusive = with_copy(|check| check.outcome = Outcome::Inconclusive);
    assert_row(&inconclusive, Verdict::Unknown, cause::INCONCLUSIVE, COPY);
    let mut silent = healthy();
    silent.directions[0].can_access_peer = Fact::missing(GapKind::NotSupported, "no such call", "x");
    assert_row(&silent, Verdict::Unknown, cause::NOT_ASKED, ACCESS);
    let skipped = with_copy(|check| check.outcome = Outcome::Skipped);
    assert_row(&skipped, Verdict::Unknown, cause::NOT_PROVEN, COPY);
    let newer = with_copy(|check| check.outcome = Outcome::Unrecognised);
    assert_row(&newer, Verdict::Unknown, cause::NOT_PROVEN, COPY);
    let mut unchecked = healthy();
    unchecked.directions[1].checks.clear();
    assert_eq!(
        judge_pair(&unchecked, 0).cause.as_deref(),
        Some(cause::NOT_PROVEN)
    );
}

#[test]
fn one_direction_only_is_refused() {
    let mut pair = healthy();
    pair.directions[0] = refused(P2pStatus::Gns).directions[0].clone();
    assert_row(&pair, Verdict::Refused, cause::ONE_DIRECTION_ONLY, ACCESS);
}

#[test]
fn a_refusal_is_explained_by_nvml_where_no_nvlink_joins_the_two() {
    let rows = [
        (P2pStatus::Gns, cause::REFUSED_BY_POLICY),
        (P2pStatus::Cns, cause::REFUSED_BY_CHIPSET),
        (P2pStatus::Tns, cause::REFUSED_BY_TOPOLOGY),
        (P2pStatus::Ns, cause::REFUSED_NOT_SUPPORTED),
    ];
    for (status, cause) in rows {
        let pair = refused(status);
        assert_row(&pair, Verdict::Refused, cause, "/pairs/4/directions/1/nvml/write");
        let record = judge_pair(&pair, 0).record;
        assert_eq!(
            record.as_ref().map(crate::ids::RecordId::as_str),
            Some(HARDWARE_RECORD)
        );
    }
}

#[test]
fn any_other_refusal_has_no_known_cause() {
    let mut linked = refused(P2pStatus::Ns);
    linked.nvlinks = Fact::read(18, "nvml");
    linked.nvswitch = Fact::read(true, "nvml");
    let mut unseen = refused(P2pStatus::Gns);
    unseen.nvlinks = Fact::missing(GapKind::NotSupported, "NVML is missing", "nvml");
    for pair in [
        refused(P2pStatus::Ok),
        refused(P2pStatus::Dr),
        refused(P2pStatus::U),
        linked,
        unseen,
    ] {
        assert_row(&pair, Verdict::Refused, cause::REFUSED_CAUSE_UNKNOWN, ACCESS);
        assert_eq!(judge_pair(&pair, 0).record, None);
    }
}

#[test]
fn passing_only_alone_is_degraded() {
    let pair = with_copy(|check| check.outcome = Outcome::PassAlone);
    assert_row(&pair, Verdict::Degraded, cause::FAILS_ONLY_TOGETHER, COPY);
}

fn judged(mut pair: Pair) -> Pair {
    pair.verdict = judge_pair(&pair, 0);
    pair
}

fn failure() -> Failure {
    Failure {
        step: "load libcuda.so.1".to_owned(),
        code: None,
        code_name: None,
        message: "no such file".to_owned(),
        cause: None,
        record: None,
        fix: None,
    }
}

#[test]
fn the_worst_pair_decides_the_run() {
    let dropped = with_copy(|check| mismatch(check, true, None));
    let unknown = with_copy(|check| check.outcome = Outcome::Inconclusive);
    let alone = with_copy(|check| check.outcome = Outcome::PassAlone);
    let cases = [
        (vec![healthy()], Verdict::Healthy, 0),
        (vec![healthy(), alone.clone()], Verdict::Degraded, 1),
        (
            vec![healthy(), refused(P2pStatus::Gns), alone],
            Verdict::Refused,
            2,
        ),
        (
            vec![refused(P2pStatus::Gns), unknown.clone()],
            Verdict::Refused,
            2,
        ),
        (vec![unknown, dropped, healthy()], Verdict::Broken, 2),
        (vec![], Verdict::Unknown, 3),
    ];
    for (pairs, verdict, exit_code) in cases {
        let pairs: Vec<Pair> = pairs.into_iter().map(judged).collect();
        let conclusion = judge_run(&[], &pairs, &[]);
        assert_eq!(
            (conclusion.verdict, conclusion.exit_code),
            (verdict, exit_code),
            "{conclusion:?}"
        );
    }
}

#[test]
fn a_failure_of_the_run_is_never_healthy_and_says_why() {
    let pairs = [judged(healthy())];
    let conclusion = judge_run(&[], &pairs, &[failure()]);
    assert_eq!((conclusion.verdict, conclusion.exit_code), (Verdict::Unknown, 3));
    assert_eq!(conclusion.reason, "load libcuda.so.1: no such file");
    let broken = [judged(with_copy(|check| check.outcome = Outcome::Hang))];
    assert_eq!(judge_run(&[], &broken, &[failure()]).verdict, Verdict::Broken);
}

#[test]
fn fail_on_keeps_what_the_caller_wants_to_fail_on() {
    let alone = || judged(with_copy(|check| check.outcome = Outcome::PassAlone));
    let unknown = || judged(with_copy(|check| check.outcome = Outcome::Inconclusive));
    let runs = [
        vec![judged(healthy())],
        vec![alone()],
        vec![judged(refused(P2pStatus::Gns))],
        vec![unknown()],
        vec![],
        // What could not be told hides neither a warning nor a fault.
        vec![unknown(), alone()],
        vec![unknown(), judged(refused(P2pStatus::Gns)), alone()],
    ];
    let rows = [
        (FailOn::Fault, [0, 0, 2, 0, 0, 0, 2]),
        (FailOn::Warning, [0, 1, 2, 0, 0, 1, 2]),
        (FailOn::Unknown, [0, 1, 2, 3, 3, 3, 2]),
    ];
    for (fail_on, expected) in rows {
        let codes = runs
            .each_ref()
            .map(|pairs| fail_on.exit_code(&judge_run(&[], pairs, &[]), pairs));
        assert_eq!(codes, expected, "{fail_on:?}");
    }
}

#[test]
fn a_verdict_of_a_newer_version_reads_as_unknown() {
    let read = |word: &str| serde_json::from_value::<Verdict>(word.into()).unwrap();
    assert_eq!(read("suspended"), Verdict::Unknown);
    assert!(Verdict::ALL.is_sorted());
    for verdict in Verdict::ALL {
        assert_eq!(read(verdict.word()), verdict);
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.word());
    }
}

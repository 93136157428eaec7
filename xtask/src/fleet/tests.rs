use kb_core::report::{Report, Verdict};
use time::OffsetDateTime;

use super::boards::Board;
use super::faults::{Fault, Kind};
use super::plan::Node;
use super::reports::{self, Life};
use super::symptoms::Moment;
use crate::random::Random;

fn node(board: Board) -> Node {
    Node {
        board,
        rack: 0,
        driver: "580.159.04",
        bios: "2.4.1",
        new_driver: None,
        new_bios: None,
        fault: None,
    }
}

/// All reports of the node, runs and looks in turns.
fn reports_of(node: &Node) -> Vec<Report> {
    let kinds = reports::kinds().unwrap();
    // No node with this seed is silent on a day.
    let mut life = Life::new(3, node, &kinds, 7).unwrap();
    let moments = (0..super::DAYS).flat_map(|day| [false, true].map(|is_look| Moment { day, is_look }));
    moments
        .filter_map(|moment| life.report(moment, OffsetDateTime::UNIX_EPOCH).unwrap())
        .collect()
}

fn with(kind: Kind, board: Board) -> Vec<Report> {
    let mut fault = Fault::drawn(kind, board, &mut Random::new(1));
    fault.onset = 1;
    let mut node = node(board);
    node.fault = Some(fault);
    reports_of(&node)
}

#[test]
fn healthy_nodes_of_every_board_are_healthy_by_the_agents_own_table() {
    for board in Board::ALL {
        let all = reports_of(&node(board));
        assert_eq!(all.len(), 2 * super::DAYS);
        for (place, report) in all.iter().enumerate() {
            let expected = if place % 2 == 0 {
                Verdict::Healthy
            } else {
                Verdict::NoFaultSeen
            };
            let conclusion = &report.conclusion;
            assert_eq!(conclusion.verdict, expected, "{board:?} {place}: {conclusion:?}");
            assert!(report.simulated);
        }
    }
}

#[test]
fn faults_show_from_their_first_day_on() {
    for (kind, board, verdict) in [
        (Kind::HalfLinks, Board::H200x4, Verdict::Degraded),
        (Kind::DroppedWrites, Board::A40x4, Verdict::Broken),
        (Kind::LostGpu, Board::H200x2, Verdict::Broken),
        (Kind::RemapFailed, Board::H100x2, Verdict::Broken),
    ] {
        let all = with(kind, board);
        assert_eq!(all[0].conclusion.verdict, Verdict::Healthy, "{kind:?}");
        let run = &all[2].conclusion;
        assert_eq!(run.verdict, verdict, "{kind:?}: {run:?}");
    }
}

#[test]
fn heat_is_told_by_runs_and_an_idle_look_does_not_end_it() {
    let all = with(Kind::ThermalDrift, Board::H200x4);
    let open = |report: &Report| -> Vec<String> {
        let health = report.health.iter().flat_map(|health| &health.open);
        health.map(|entry| entry.cause.clone()).collect()
    };
    assert!(open(&all[1]).is_empty());
    assert_eq!(open(&all[2]), ["throttled"]);
    assert_eq!(open(&all[3]), ["throttled"], "the look after it");
}

#[test]
fn a_slow_pair_is_slow_alone() {
    let mut node = node(Board::H200x4);
    let mut fault = Fault::drawn(Kind::SlowPair, Board::H200x4, &mut Random::new(1));
    (fault.gpu, fault.other, fault.share, fault.onset) = (0, 1, 0.9, 0);
    node.fault = Some(fault);
    let all = reports_of(&node);
    let copies = all[0]
        .measurements
        .iter()
        .find(|one| one.metric == "d2d_bandwidth" && one.peer_access == Some(true));
    for cell in &copies.unwrap().cells {
        let is_slow = cell.median().unwrap() < 380.0;
        let of_pair = cell.source.unwrap() < 2 && cell.destination.unwrap() < 2;
        assert_eq!(is_slow, of_pair, "{cell:?}");
    }
}

//! Which refusals are information, and where that shows.

use super::*;

/// A report, and whether its refusal is information by auto, all, nvlink, none.
type Case = (fn() -> Report, [bool; 4]);

fn concluded(mut report: Report, expect: Expect) -> (bool, Verdict, u8, String) {
    judge(&mut report, expect);
    let Conclusion {
        verdict,
        exit_code,
        reason,
        ..
    } = report.conclusion;
    (report.pairs[0].verdict.information, verdict, exit_code, reason)
}

#[test]
fn a_refusal_counts_where_access_is_expected() {
    let policy = || with(|report| refuse(report, P2pStatus::Gns));
    let topology = || with(|report| refuse(report, P2pStatus::Tns));
    let linked = || {
        with(|report| {
            refuse(report, P2pStatus::Ns);
            report.pairs[0].nvlinks = Fact::read(4, "nvml");
        })
    };
    let untold = || {
        with(|report| {
            refuse(report, P2pStatus::Gns);
            let gap = crate::report::GapKind::NotSupported;
            report.pairs[0].nvlinks = Fact::missing(gap, "no NVML", "nvml");
        })
    };
    let rows: [Case; 4] = [
        (policy, [true, false, true, true]),
        (topology, [false, false, true, true]),
        (linked, [false, false, false, true]),
        (untold, [false, false, false, true]),
    ];
    for (number, (report, information)) in rows.into_iter().enumerate() {
        for ((expect, word), expected) in Expect::ALL.into_iter().zip(information) {
            let (is_information, verdict, exit_code, _) = concluded(report(), expect);
            let wanted = if expected {
                (true, Verdict::Healthy, 0)
            } else {
                (false, Verdict::Refused, 2)
            };
            assert_eq!(
                (is_information, verdict, exit_code),
                wanted,
                "row {number}, {word}"
            );
        }
    }
}

#[test]
fn information_is_told_and_hides_nothing() {
    let (.., reason) = concluded(with(|report| refuse(report, P2pStatus::Gns)), Expect::Auto);
    assert_eq!(reason, "1 of 1 pair refused as expected (refused_by_policy)");

    let mut three = healthy(3);
    refuse(&mut three, P2pStatus::Gns);
    let (.., reason) = concluded(three.clone(), Expect::Auto);
    assert_eq!(
        reason,
        "2 pairs proven both ways by copies, kernels, kernels at the same time and a second process; 1 of 3 pairs \
         refused as expected (refused_by_policy)"
    );

    three.pairs[2].directions[0].checks[3].outcome = Outcome::Hang;
    let (_, verdict, ..) = concluded(three, Expect::None);
    assert_eq!(
        verdict,
        Verdict::Broken,
        "what is granted is proven whatever is expected"
    );
}

#[test]
fn access_that_nobody_expects_is_proven_and_no_fault() {
    let (_, verdict, exit_code, _) = concluded(healthy(2), Expect::None);
    assert_eq!((verdict, exit_code), (Verdict::Healthy, 0));
    let mut report = healthy(2);
    judge(&mut report, Expect::Nvlink);
    assert_eq!(report.conclusion.expect.as_deref(), Some("p2p=nvlink"));
}

#[test]
fn one_direction_only_is_no_policy() {
    let report = with(|report| {
        refuse(report, P2pStatus::Gns);
        report.pairs[0].directions[1] = direction(1, 0);
    });
    assert_eq!(concluded(report, Expect::Auto).2, 2);
}

/// Links that are down, or a fabric that is not up, are what `p2p=nvlink` is there to find.
#[test]
fn links_that_should_be_there_are_expected() {
    type Change = fn(&mut Report);
    let cases: [(Change, bool); 5] = [
        (|_| {}, true),
        (
            |report| {
                gpu_fact(report, 1, "nvlink.links_expected", 4);
                gpu_fact(report, 1, "nvlink.links_active", 0);
            },
            false,
        ),
        // All of its links lead to a third GPU.
        (
            |report| {
                gpu_fact(report, 1, "nvlink.links_expected", 4);
                gpu_fact(report, 1, "nvlink.links_active", 4);
            },
            true,
        ),
        (
            |report| {
                report.gpus.push(gpu(2));
                gpu_fact(report, 2, "nvlink.links_to_switch", 18);
            },
            false,
        ),
        (|report| gpu_fact(report, 0, "fabric.state", "in_progress"), false),
    ];
    for (number, (change, information)) in cases.into_iter().enumerate() {
        let report = with(|report| {
            refuse(report, P2pStatus::Ns);
            change(report);
        });
        let (is_information, ..) = concluded(report, Expect::Nvlink);
        assert_eq!(is_information, information, "case {number}");
    }
}

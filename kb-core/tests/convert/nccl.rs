//! Output of nccl-tests, and logs of NCCL.

use kb_core::convert::convert;
use kb_core::verdict::Verdict;

use crate::{NCCL_LOG, NCCL_TESTS, converted, options, refused, samples};

#[test]
fn nccl_tests_keep_each_size_and_no_average() {
    let report = converted(NCCL_TESTS);
    let at = |metric: &str, bytes: u64| {
        let mut all = report.measurements.iter();
        let found = all.find(|found| found.metric == metric && found.bytes == bytes);
        found.map(|found| samples(found, Some(0), Some(0))[0])
    };
    assert_eq!(at("nccl_all_reduce_bus_bandwidth", 536_870_912), Some(312.64));
    assert_eq!(
        at("nccl_all_reduce_bus_bandwidth_in_place", 536_870_912),
        Some(316.54)
    );
    assert_eq!(at("nccl_alltoall_bus_bandwidth", 536_870_912), Some(295.26));
    assert_eq!(at("nccl_alltoall_time", 0), None, "nothing was moved");
    assert!(
        !report
            .measurements
            .iter()
            .any(|found| samples(found, Some(0), Some(0)).contains(&81.5322))
    );
    assert_eq!(report.gpus.len(), 2);
    let wrong = converted(&NCCL_TESTS.replace("316.54  316.54       0", "316.54  316.54      12"));
    assert!(wrong.failures[0].message.contains("12 values are wrong"));
    let out = converted(&NCCL_TESTS.replacen("bounds values : 0 OK", "bounds values : 3 FAILED", 1));
    assert_eq!(out.failures[0].message, "values out of bounds: 3 FAILED");
    for report in [wrong, out] {
        assert_eq!(report.conclusion.verdict, Verdict::Broken, "wrong data is wrong");
        assert_eq!(report.failures[0].cause.as_deref(), Some("data_mismatch"));
    }
}

#[test]
fn a_log_of_nccl_tells_gpus_ways_and_its_own_diagnostics() {
    let report = converted(NCCL_LOG);
    assert_eq!(report.host["nccl.version"].value, Some("2.31.2+cuda13.3".into()));
    assert_eq!(report.gpus[1].pci_address.value.as_deref(), Some("0000:86:00.0"));
    let facts = &report.pairs[0].facts;
    assert_eq!(
        facts["nccl.transport_forth"].value,
        Some("SHM/direct/direct".into())
    );
    assert_eq!(facts["nccl.transport_back"].value, Some("P2P/CUMEM".into()));
    assert!(
        report.failures[0].message.starts_with("1 of 2 peer accesses"),
        "{:?}",
        report.failures
    );
    let kept = &report.logs[0].text;
    assert!(kept.contains("P2P is disabled") && kept.contains("ibv_modify_qp") && kept.contains("NCCL DIAG"));
    assert!(!kept.contains("Bootstrap"));
    let two = NCCL_LOG.replace("node1:4712", "node2:4712");
    assert!(refused(&two).to_string().contains("--host"));
    let mut options = options();
    options.host = Some("node1".to_owned());
    assert_eq!(convert(two.as_bytes(), &options).unwrap().gpus.len(), 1);
}

#[test]
fn ranks_of_several_communicators_are_told_by_their_devices() {
    let line = |rank: u32, cuda: u32| {
        format!(
            "node1:1:2 [{cuda}] NCCL INFO ncclCommInitRank comm 0x1 rank {rank} nranks 2 cudaDev {cuda} nvmlDev \
             {cuda} busId {:x} commId 0x7a1 - Init START\n",
            0x1000 * (cuda + 1)
        )
    };
    let ranks = [line(0, 0), line(1, 1), line(0, 2), line(1, 3)].concat();
    let way = |ends: &str, way: &str| format!("node1:1:2 [0] NCCL INFO Channel 00/0 : {ends} via {way}\n");
    let told = way("0[2] -> 1[3]", "P2P/CUMEM") + &way("0 -> 1", "SHM");
    let report = converted(&(ranks + &told));
    let ways: Vec<_> = report
        .pairs
        .iter()
        .filter_map(|pair| Some((pair.a, pair.b, pair.facts.get("nccl.transport_forth")?)))
        .map(|(a, b, fact)| (a, b, fact.value.clone().unwrap()))
        .collect();
    assert_eq!(ways, [(2, 3, "P2P/CUMEM".into())]);
}

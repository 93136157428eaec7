//! What other tools print, converted: real output, output that is damaged, and any bytes at all.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of #[test] functions"
)]

mod damaged;
mod driver_lines;
mod nccl;

use kb_core::convert::{Capability, ConvertError, Options, convert};
use kb_core::report::{Engine, Measurement, Node, Operation, P2pStatus, Report};
use kb_core::verdict::Verdict;

const NVBANDWIDTH: &str = include_str!("../data/tools/nvbandwidth-x2.txt");
const NVBANDWIDTH_JSON: &str = include_str!("../data/tools/nvbandwidth-x2.json");
const P2P_TEST: &str = include_str!("../data/tools/p2p-bandwidth-latency-x4.txt");
const SIMPLE_P2P: &str = include_str!("../data/tools/simple-p2p-x4.txt");
const NCCL_TESTS: &str = include_str!("../data/tools/nccl-tests-x2.txt");
const TOPO: &str = include_str!("../data/tools/topo-x4.txt");
const NCCL_LOG: &str = include_str!("../data/tools/nccl-log.txt");
const ALL: [&str; 7] = [
    NVBANDWIDTH,
    NVBANDWIDTH_JSON,
    P2P_TEST,
    SIMPLE_P2P,
    NCCL_TESTS,
    TOPO,
    NCCL_LOG,
];

fn options() -> Options {
    Options::new(
        Node {
            id: "node-1".parse().unwrap(),
            hostname: None,
            boot_id: None,
        },
        "2026-11-21T07:21:49Z".to_owned(),
        "0.1.0".to_owned(),
    )
}

fn converted(text: &str) -> Report {
    convert(text.as_bytes(), &options()).unwrap()
}

fn refused(text: &str) -> ConvertError {
    convert(text.as_bytes(), &options()).unwrap_err()
}

fn measurement<'a>(
    report: &'a Report,
    metric: &str,
    engine: Engine,
    operation: Operation,
) -> &'a Measurement {
    let mut found = report.measurements.iter();
    found
        .find(|known| known.metric == metric && known.engine == engine && known.operation == operation)
        .unwrap_or_else(|| panic!("no {metric}"))
}

/// The samples of a cell.
fn samples(measurement: &Measurement, source: Option<u32>, destination: Option<u32>) -> &[f64] {
    let mut cells = measurement.cells.iter();
    let found = cells.find(|cell| cell.source == source && cell.destination == destination);
    &found
        .unwrap_or_else(|| panic!("no cell {source:?} {destination:?}"))
        .samples
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
            "{found} {expected}"
        );
    }
}

#[test]
fn nvbandwidth_reads_fetch_and_writes_send_whatever_the_arrow_says() {
    let report = converted(NVBANDWIDTH);
    assert_eq!(report.gpus.len(), 2);
    assert_eq!(report.gpus[1].pci_address.value.as_deref(), Some("0000:00:07.0"));
    assert_eq!(report.gpus[0].name.value.as_deref(), Some("NVIDIA H200"));
    assert_eq!(report.node.hostname.as_deref(), Some("vm"));
    assert_eq!(report.host["cuda.version"].value, Some("13.0".into()));
    let reads = measurement(&report, "d2d_bandwidth", Engine::Ce, Operation::Pull);
    // Row 0, column 1: GPU 0 fetches from GPU 1.
    assert_near(samples(reads, Some(1), Some(0)), &[393.91]);
    assert_near(samples(reads, Some(0), Some(1)), &[393.62]);
    let writes = measurement(&report, "d2d_bandwidth", Engine::Sm, Operation::Push);
    assert_near(samples(writes, Some(0), Some(1)), &[370.13]);
    let host = measurement(&report, "h2d_bandwidth", Engine::Ce, Operation::Other);
    assert_near(samples(host, None, Some(1)), &[55.53]);
    let host = measurement(&report, "d2h_bandwidth", Engine::Ce, Operation::Other);
    assert_near(samples(host, Some(0), None), &[55.39]);
    let latency = measurement(&report, "load_latency", Engine::Sm, Operation::Pull);
    assert_eq!((latency.unit.as_str(), latency.bytes), ("ns", 8));
    assert_near(samples(latency, Some(1), Some(0)), &[827.68]);
}

#[test]
fn nvbandwidths_three_tables_are_one_direction_the_other_and_both() {
    for text in [NVBANDWIDTH, NVBANDWIDTH_JSON] {
        let report = converted(text);
        let both = measurement(&report, "d2d_bandwidth_both_ways", Engine::Ce, Operation::Pull);
        assert!((samples(both, Some(0), Some(1))[0] - 778.7).abs() < 0.3);
        let one = measurement(
            &report,
            "d2d_bandwidth_beside_opposite",
            Engine::Ce,
            Operation::Pull,
        );
        assert_eq!(samples(one, Some(0), Some(1)).len(), 2);
        assert!(
            samples(one, Some(0), Some(1))
                .iter()
                .all(|rate| (rate - 389.4).abs() < 0.2)
        );
    }
}

#[test]
fn nvbandwidths_sm_reads_of_all_to_one_are_pushes() {
    let report = converted(NVBANDWIDTH_JSON);
    let pushes = measurement(&report, "all_to_one_bandwidth", Engine::Sm, Operation::Push);
    assert_eq!(samples(pushes, None, Some(0)).len(), 2);
    let pulls = measurement(&report, "all_to_one_bandwidth", Engine::Ce, Operation::Pull);
    assert_eq!(samples(pulls, None, Some(0)).len(), 1);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.message.contains("really push"))
    );
}

#[test]
fn both_forms_of_nvbandwidth_give_the_same_measurements() {
    let names = |report: Report| {
        let mut names: Vec<_> = report
            .measurements
            .into_iter()
            .map(|found| {
                (
                    found.metric,
                    format!("{:?} {:?}", found.engine, found.operation),
                    found.cells.len(),
                )
            })
            .collect();
        names.sort();
        names
    };
    let text = names(converted(NVBANDWIDTH));
    assert_eq!(text, names(converted(NVBANDWIDTH_JSON)));
    // 35 tests; four of them have one direction apart, and two more are samples of others.
    assert_eq!(text.len(), 35 + 4 - 2);
}

#[test]
fn the_test_of_pairs_has_both_engines_and_no_doubled_local_copies() {
    let report = converted(P2P_TEST);
    assert_eq!((report.gpus.len(), report.pairs.len()), (4, 6));
    let on = |engine| {
        let mut all = report.measurements.iter();
        all.find(|found| {
            found.metric == "d2d_bandwidth" && found.engine == engine && found.peer_access == Some(true)
        })
        .unwrap()
    };
    assert_near(samples(on(Engine::Ce), Some(0), Some(1)), &[361.85]);
    assert_near(samples(on(Engine::Sm), Some(3), Some(2)), &[366.03]);
    let local = measurement(&report, "local_copy_bandwidth", Engine::Ce, Operation::Other);
    assert_near(samples(local, Some(0), Some(0)), &[3896.21 / 2.0]);
    let latency = measurement(&report, "copy_latency", Engine::Ce, Operation::Push);
    assert_eq!(
        (latency.unit.as_str(), latency.bytes, latency.peer_access),
        ("us", 16, Some(false))
    );
    assert_near(samples(latency, Some(0), Some(1)), &[15.02]);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.message.contains("does not warm up"))
    );
    // One sample is no finding: the cold first cell must not become a slow direction.
    assert_eq!(report.conclusion.verdict, Verdict::Unknown);
    assert!(
        report
            .pairs
            .iter()
            .all(|pair| pair.directions[0].can_access_peer.value == Some(true))
    );
}

#[test]
fn a_refused_pair_is_refused() {
    let text = P2P_TEST.replace(
        "Device=0 CAN Access Peer Device=1",
        "Device=0 CANNOT Access Peer Device=1",
    );
    let text = text.replace(
        "Device=1 CAN Access Peer Device=0",
        "Device=1 CANNOT Access Peer Device=0",
    );
    let report = converted(&text);
    assert_eq!(report.pairs[0].verdict.verdict, Verdict::Refused);
    assert_eq!(report.conclusion.verdict, Verdict::Refused);
}

#[test]
fn simple_p2p_counts_in_1024_and_proves_loads_only() {
    let report = converted(SIMPLE_P2P);
    let found = measurement(
        &report,
        "d2d_bandwidth_there_and_back",
        Engine::Ce,
        Operation::Other,
    );
    assert_near(samples(found, Some(0), Some(1)), &[342.15 * 1.073_741_824]);
    assert_eq!(found.bytes, 64 << 20);
    let check = &report.pairs[0].directions[1].checks[0];
    assert_eq!(
        (check.rung, check.name.as_str(), check.checked_by.as_str()),
        (4, "sm_load", "initiator_kernel")
    );
    assert!(report.pairs[1].directions[0].checks.is_empty());
    assert_eq!(
        report.pairs[0].verdict.verdict,
        Verdict::Unknown,
        "loads alone prove no pair"
    );
    for started_as in ["./simpleP2P", "/opt/cuda/bin/simpleP2P"] {
        let renamed = SIMPLE_P2P.replace("[simpleP2P]", &format!("[{started_as}]"));
        assert_eq!(converted(&renamed).pairs, report.pairs, "{started_as}");
    }
    let failed = converted(&SIMPLE_P2P.replace("Test passed", "Test failed!"));
    assert_eq!(failed.pairs[0].verdict.verdict, Verdict::Broken);
    assert_eq!(failed.pairs[0].verdict.cause.as_deref(), Some("data_mismatch"));
    let told = "Verification error @ element 3: val = nan, ref = 12.000000\n\
                Verification error @ element 4: val = nan, ref = 16.000000\nTest failed!";
    let failed = converted(&SIMPLE_P2P.replace("Test passed", told));
    let verdict = &failed.pairs[0].verdict;
    assert_eq!(verdict.cause.as_deref(), Some("data_mismatch"));
    assert_eq!(
        verdict.record.as_ref().map(kb_core::ids::RecordId::as_str),
        Some("p2p/peer-data-corrupted")
    );
    let wrong = failed.pairs[0].directions[0].checks[0].mismatch.unwrap();
    assert_eq!((wrong.first_offset, wrong.words), (12, 2));
}

#[test]
fn topology_gives_links_and_statuses_when_told_of_what() {
    let unsaid = converted(TOPO);
    assert_eq!(unsaid.gpus.len(), 4);
    assert_eq!(unsaid.pairs[5].nvlinks.value, Some(18));
    assert_eq!(unsaid.gpus[2].facts["cpu.affinity"].value, Some("0-63".into()));
    assert_eq!(
        unsaid.pairs[0].facts["p2p.status_unsaid"].value,
        Some("OK".into())
    );
    assert_eq!(unsaid.pairs[0].directions[0].nvml.read.value, None);
    let mut options = options();
    options.capabilities = vec![Capability::Read, Capability::Write];
    let text = TOPO.replacen("GPU1	OK	X	OK	OK", "GPU1	GNS	X	OK	OK", 1);
    let told = convert(text.as_bytes(), &options).unwrap();
    assert_eq!(told.pairs[0].directions[1].nvml.read.value, Some(P2pStatus::Gns));
    assert_eq!(told.pairs[0].directions[1].nvml.write.value, Some(P2pStatus::Ok));
    let bus = converted(
        "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\tPIX\t0-3\t0\nGPU1\tSYS\t X \tPHB\t4-7\t1\nNIC0\tPIX\tPHB\t X \n",
    );
    assert_eq!(bus.pairs[0].common_ancestor.value.as_deref(), Some("SYS"));
    assert_eq!(bus.pairs[0].nvlinks.value, Some(0));
    assert_eq!(bus.gpus[1].facts["numa.affinity"].value, Some("1".into()));
}

#[test]
fn parts_of_one_node_make_one_report_and_repeats_make_samples() {
    let whole = [NVBANDWIDTH, NCCL_TESTS, NVBANDWIDTH].concat();
    let report = converted(&whole);
    assert_eq!(report.gpus.len(), 2);
    let writes = measurement(&report, "d2d_bandwidth", Engine::Ce, Operation::Push);
    assert_eq!(samples(writes, Some(0), Some(1)).len(), 2);
    let error = refused(&[NVBANDWIDTH, P2P_TEST.replace("H200", "H100").as_str()].concat());
    assert!(error.to_string().contains("different machines"), "{error}");
}

/// The same output is the same report, so that sending it twice counts once; any difference is another.
#[test]
fn the_id_comes_from_what_the_report_says() {
    let id = |text: &str| converted(text).report_id;
    assert_eq!(id(SIMPLE_P2P), id(SIMPLE_P2P));
    assert_ne!(id(SIMPLE_P2P), id(&SIMPLE_P2P.replace("342.15", "342.16")));
    assert_eq!(id(SIMPLE_P2P).as_str().len(), 36);
}

/// Launchers and containers label what a tool prints; the report is the same.
#[test]
fn prefixes_of_launchers_change_nothing() {
    for text in ALL {
        let plain = converted(text);
        for prefix in [
            "[1,0]<stdout>:",
            "0: ",
            "[pod/bench-0/main] ",
            "2026-11-27T10:00:00.123456789Z ",
        ] {
            let lines: Vec<String> = text.lines().map(|line| format!("{prefix}{line}")).collect();
            let labelled = lines.join("\n");
            let report = converted(&labelled);
            assert_eq!(report.measurements, plain.measurements, "{prefix}");
            assert_eq!(report.gpus.len(), plain.gpus.len(), "{prefix}");
            assert_eq!(report.pairs.len(), plain.pairs.len(), "{prefix}");
        }
    }
    let lines = NCCL_TESTS.lines();
    let two: Vec<String> = lines
        .map(|line| format!("0: {line}\n1: another worker says this"))
        .collect();
    let two = two.join("\n");
    assert_eq!(converted(&two).measurements, converted(NCCL_TESTS).measurements);
}

//! The seeds in logs as people paste them, and logs that hold no known error.

use std::collections::BTreeMap;

use super::super::testing::{matcher, matcher_of, pattern, record, scan_text};
use super::super::{Applies, ScanOptions, Summary, scan};
use crate::signature::AppliesTo;

fn ids(summary: &Summary) -> Vec<&str> {
    summary.matches.iter().map(|found| found.id.as_str()).collect()
}

const REFUSED: &str = "cuda/peer-access-unsupported-by-hardware";
const TENSORFLOW: &str = "tensorflow/gpu-peer-access-error";
const FALLEN: &str = "xid/79-gpu-has-fallen-off-the-bus";

/// 200 lines of a training run on eight ranks, with the error of rank 3 on the given line.
fn training_log(error_line: usize, error: &str) -> String {
    let mut log = String::new();
    for number in 1..=200 {
        let (rank, second) = (number % 8, number % 60);
        let line = match number {
            _ if number == error_line => error.to_owned(),
            n if n + 12 > error_line && n < error_line => format!(
                "[rank3]:   File \"/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py\", line {n}, in _call_impl"
            ),
            n if n % 3 == 0 => format!("[rank{rank}]: step {n} loss 2.{n} grad_norm 0.{n} tokens/s 10{n}"),
            n => format!(
                "2026-11-21 07:{:02}:{second:02},123 [INFO] trainer.py:{n}: rank {rank} loaded shard {n} of 200",
                n / 60
            ),
        };
        log.push_str(&line);
        log.push('\n');
    }
    log
}

#[test]
fn one_line_of_a_long_traceback_is_found_with_its_number() {
    let error = "[rank3]: RuntimeError: CUDA error: peer access is not supported between these two devices";
    let log = training_log(187, error);
    let summary = scan_text(&matcher(), &log);
    assert_eq!(ids(&summary), [REFUSED], "{summary:#?}");
    let line = &summary.matches[0].lines[0];
    assert_eq!(line.line, 187);
    let span = usize::try_from(line.start).unwrap()..usize::try_from(line.end).unwrap();
    assert_eq!(
        &log[span],
        "peer access is not supported between these two devices"
    );
    let marked = line.text.as_ref().unwrap();
    assert_eq!(marked.text, error);
    assert_eq!(
        (summary.lines_scanned, summary.bytes_scanned),
        (200, u64::try_from(log.len()).unwrap())
    );
    assert_eq!(summary.matches[0].why, "most of line 187 is this message");
    assert_eq!(summary.notes, Vec::<String>::new());
}

#[test]
fn each_seed_is_found_in_the_forms_that_logs_give_it() {
    for (line, expected) in [
        (
            "RuntimeError: CUDA error: peer access is not supported between these two devices (cudaErrorPeerAccessUnsupported)",
            REFUSED,
        ),
        ("peer access is not supported between these two devices", REFUSED),
        (
            "\u{1b}[31mRuntimeError: CUDA error: \u{1b}[1mpeer access\u{1b}[0m is not supported between these two devices\u{1b}[0m",
            REFUSED,
        ),
        ("CUDA error 217 at ggml-cuda.cu:6292: something new", REFUSED),
        (
            "cuCtxEnablePeerAccess: CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
            REFUSED,
        ),
        (
            "100%|██████████| 10/10\rRuntimeError: CUDA error: peer access is not supported between these two devices",
            REFUSED,
        ),
        (
            "2026-11-21 07:19:10.000001: F tensorflow/core/common_runtime/gpu/gpu_device.cc:123] InternalError: Peer access from GPU:0 to GPU:1 is not supported by the current CUDA driver or device topology",
            TENSORFLOW,
        ),
        (
            "tensorflow.python.framework.errors_impl.InternalError: Peer access from GPU:2 to GPU:7 is not supported by the current CUDA driver or device topology [Op:AddV2]",
            TENSORFLOW,
        ),
        (
            "[ 1234.567890] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
            FALLEN,
        ),
        (
            "Nov 21 07:19:10 gpu-node-7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
            FALLEN,
        ),
        (
            "6,1234,5678901,-;NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>",
            FALLEN,
        ),
        ("node exporter: Xid 79 on GPU 3", FALLEN),
    ] {
        for end in ["", "\n", "\r\n"] {
            let summary = scan_text(&matcher(), format!("{line}{end}"));
            assert_eq!(ids(&summary), [expected], "{line:?}");
            assert_eq!(summary.root_cause.as_ref().unwrap().as_str(), expected);
        }
    }
}

#[test]
fn captured_values_are_named_and_said() {
    let summary = scan_text(
        &matcher(),
        "x\n[ 12.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.\n",
    );
    let found = &summary.matches[0];
    let expected = BTreeMap::from([
        ("pci".to_owned(), "0000:3b:00".to_owned()),
        ("pid".to_owned(), "1234".to_owned()),
    ]);
    assert_eq!(found.lines[0].captures, expected);
    assert!(
        found
            .why
            .ends_with("line 2 has the whole message; it names pci=0000:3b:00, pid=1234"),
        "{}",
        found.why
    );
    // The seed's own pattern speaks for the record; a second pattern adds what it captured.
    let line = "InternalError: Peer access from GPU:0 to GPU:1 is not supported by the current CUDA driver or device topology";
    let captures = &scan_text(&matcher(), line).matches[0].lines[0].captures;
    assert_eq!(captures.get("from").map(String::as_str), Some("0"));
    assert_eq!(captures.get("to").map(String::as_str), Some("1"));
}

#[test]
fn everyday_text_has_no_known_error() {
    let sentences = [
        "The weather is nice today.",
        "Please call 911 or 112 in an emergency.",
        "Error: something went wrong, see line 217 of page 79.",
        "I could not find my keys, access to the house is not supported without them.",
        "HTTP 429 Too Many Requests",
        "The two devices are between the desk and the window.",
        "CPR is given at 100 to 120 compressions a minute.",
        "He supported his peer throughout the exam.",
        "Process finished with exit code 0",
        "CUDA 12.4 is installed, driver 550.54.14, 8 GPUs, peer access enabled between all devices",
        "> Peer access from Tesla K80 (GPU5) -> Tesla K80 (GPU7) : Yes",
        "CUDA error: peer access is already enabled",
        "今天天气很好，显卡工作正常。",
    ];
    let summary = scan_text(&matcher(), sentences.join("\n"));
    assert_eq!(ids(&summary), Vec::<&str>::new(), "{:#?}", summary.matches);
    assert_eq!(
        (
            summary.root_cause,
            summary.root_causes.len(),
            summary.candidates.len()
        ),
        (None, 0, 0)
    );
}

#[test]
fn a_generic_message_is_a_candidate_until_its_domain_is_named() {
    let mut generic = record("cuda/out-of-memory", "out of memory");
    generic.patterns = vec![pattern("0", "out of memory")];
    let matcher = matcher_of(vec![generic]);
    let summary = scan_text(&matcher, "a\nredis: out of memory\nout of memory\n");
    assert_eq!(ids(&summary), Vec::<&str>::new());
    let candidate = &summary.candidates[0];
    assert_eq!((candidate.count, candidate.line.line), (2, 2));
    assert_eq!(
        candidate.why,
        "the wording of this message stands on line 2, but nothing on that line says that it is about cuda"
    );
    let summary = scan_text(
        &matcher,
        "out of memory\nRuntimeError: CUDA error: out of memory\n",
    );
    assert_eq!(
        (ids(&summary), summary.matches[0].count),
        (vec!["cuda/out-of-memory"], 1)
    );
    assert_eq!(summary.candidates.len(), 0, "a match is no candidate besides");
}

#[test]
fn the_record_that_explains_more_of_the_line_comes_first() {
    let mut wrapper = record("pytorch/cuda-error", "RuntimeError: CUDA error");
    wrapper.patterns = vec![pattern("0", "RuntimeError: CUDA error: .*")];
    let mut records = super::super::testing::records();
    records.push(wrapper);
    let summary = scan_text(
        &matcher_of(records),
        "RuntimeError: CUDA error: peer access is not supported between these two devices\n",
    );
    assert_eq!(ids(&summary), [REFUSED, "pytorch/cuda-error"]);
    assert!(summary.matches[0].score > summary.matches[1].score);
    assert_eq!(
        summary.root_causes.len(),
        1,
        "two views of one line are one fault"
    );
    assert_eq!(summary.root_cause.unwrap().as_str(), REFUSED);
}

#[test]
fn a_record_that_does_not_apply_comes_last_and_is_not_dropped() {
    let old_driver = AppliesTo {
        component: "driver".to_owned(),
        introduced: None,
        fixed: Some("550.54".to_owned()),
        last_affected: None,
        any_of: Vec::new(),
    };
    let mut fixed = record("cuda/fixed-since", "CUDA frobnication of the interconnect failed");
    fixed.applies_to = vec![old_driver];
    let vague = record("cuda/vague", "frobnication of the interconnect");
    let matcher = matcher_of(vec![fixed, vague]);
    let text = "CUDA frobnication of the interconnect failed\n";
    let with_driver = |driver: &str| {
        let environment = BTreeMap::from([("driver".to_owned(), driver.to_owned())]);
        let summary = scan(
            &matcher,
            text.as_bytes(),
            ScanOptions {
                environment,
                ..ScanOptions::default()
            },
        );
        summary
            .matches
            .iter()
            .map(|found| (found.id.to_string(), found.applies))
            .collect::<Vec<_>>()
    };
    let (fixed, vague) = ("cuda/fixed-since".to_owned(), "cuda/vague".to_owned());
    assert_eq!(
        with_driver("535.1"),
        [(fixed.clone(), Applies::Yes), (vague.clone(), Applies::Unknown)]
    );
    assert_eq!(
        with_driver("570.1"),
        [(vague, Applies::Unknown), (fixed, Applies::No)]
    );
}

#[test]
fn without_text_there_are_numbers_only() {
    let options = ScanOptions {
        keep_text: false,
        ..ScanOptions::default()
    };
    let summary = scan(
        &matcher(),
        b"hostname-secret: cudaErrorPeerAccessUnsupported\n",
        options,
    );
    let json = serde_json::to_string(&summary).unwrap();
    assert!(
        summary.matches[0].lines[0].text.is_none() && !json.contains("secret"),
        "{json}"
    );
    let read: Summary = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

#[test]
fn the_answer_reads_as_the_interface_says() {
    let log = "[ 12.000001] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n";
    let summary = scan_text(&matcher(), log);
    insta::assert_json_snapshot!(summary);
    let json = serde_json::to_string(&summary).unwrap();
    let read: Summary = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

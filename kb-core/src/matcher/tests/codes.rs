//! Codes, their families and their domains.

use std::sync::Arc;

use super::super::*;
use crate::scanner::testing::{matcher_of, pattern, record, scan_text};

/// Where a record with this domain and code is found on a line: `match`, `candidate` or nothing.
fn verdict(domain: &str, code: &str, line: &str) -> &'static str {
    let mut record = record(&format!("{domain}/x"), "");
    record.codes = vec![code.to_owned()];
    let (matcher, rejected) = Matcher::build(vec![record]);
    assert_eq!(rejected, []);
    let summary = scan_text(&Arc::new(matcher), line);
    match (summary.matches.len(), summary.candidates.len()) {
        (1, 0) => "match",
        (0, 1) => "candidate",
        (0, 0) => "",
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_number_of_a_list_counts_and_a_count_is_none() {
    for (domain, code, line, expected) in [
        ("xid", "Xid 79", "Xid 31,79", "match"),
        ("xid", "Xid 79", "gpu 3 xid errors: 13, 79", "match"),
        ("xid", "Xid 79", "XIDs seen: 31, 79", "match"),
        ("xid", "Xid 79", "xid_errors: [13, 79]", "match"),
        ("xid", "Xid 79", r#"{"gpu":3,"xids":[13,79]}"#, "match"),
        ("xid", "Xid 79", "Xid 31, 79 and 43", "match"),
        ("xid", "Xid 79", "Xid 31, 79 times", ""),
        ("xid", "Xid 79", "Xid 79 errors detected on GPU 3", "match"),
        ("xid", "Xid 13", "gpu 0 xid: 13 errors found", ""),
        ("xid", "SXid 3", "SXids: 3 errors", ""),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:3b:00): 31, 79", ""),
        (
            "cuda",
            "CUDA error 12",
            "cuda_memtest: ERROR: 12 errors found in block 34",
            "",
        ),
    ] {
        assert_eq!(verdict(domain, code, line), expected, "{code} in {line:?}");
    }
}

/// Lines of two GPUs that were written into each other.
#[test]
fn the_number_of_a_mixed_line_is_nobodys() {
    for line in [
        "NVRM: Xid (PCI:0000:3bNVRM: Xid (PCI:0000:4c:00): 31:00): 79, pid",
        "NVRM: Xid (PCI:0000:4c:00): 31:00): 79, pid=7",
    ] {
        for code in ["Xid 31", "Xid 79"] {
            assert_eq!(verdict("xid", code, line), "", "{code} in {line:?}");
        }
    }
    // The inner line is whole.
    let line = "NVRM: Xid (PCI:0000:3bNVRM: Xid (PCI:0000:4c:00): 31, pid=7";
    assert_eq!(verdict("xid", "Xid 31", line), "match");
}

#[test]
fn numbers_need_their_family_and_their_domain() {
    for (domain, code, line, expected) in [
        (
            "xid",
            "Xid 79",
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
            "match",
        ),
        ("xid", "Xid 79", "got Xid 79 on node 3", "match"),
        ("xid", "Xid 79", "XID: 79", "match"),
        ("xid", "Xid 79", "Xids 79", "match"),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:79:00): 31, pid=79", ""),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:3b:00): 790, pid=1", ""),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:3b:00): 79.5", ""),
        ("xid", "Xid 79", "it is 79 degrees", ""),
        ("xid", "Xid 79", "SXid 79", ""),
        // Sentences about a kind of event.
        ("xid", "Xid 79", "all XID 79s are ignored by our health check", ""),
        (
            "xid",
            "Xid 79",
            "XID 79s are ignored, be smarter when handling XID 79",
            "",
        ),
        (
            "xid",
            "Xid 79",
            "XID 31s are ignored, but then came XID 79",
            "match",
        ),
        ("xid", "Xid 79", "seen Xid 79x, Xid 79_1 and Xid 79y", ""),
        // The word of DHCP, of remote calls and of databases.
        ("xid", "Xid 79", "dhclient: port 67 eth0 xid 79", "candidate"),
        (
            "xid",
            "Xid 79",
            "rpcrdma: mlx5_0 sent a reply for xid 79",
            "candidate",
        ),
        ("xid", "Xid 79", "xid=79 db=orders duration: 3 ms", "candidate"),
        ("xid", "Xid 79", "DHCPDISCOVER (xid=0x4f79)", ""),
        ("xid", "Xid 79", "xid 79", "match"),
        ("xid", "Xid 79", " \"xid 79\"? ", "match"),
        ("xid", "Xid 79", "xid 79？", "match"),
        ("xid", "Xid 79", "is it xid 79?", "candidate"),
        ("xid", "Xid 79", "our gpu went away with xid 79", "match"),
        ("xid", "Xid 79", "nvidia-smi hangs after xid=79", "match"),
        ("xid", "Xid 79", "xid (pci:0000:3b:00): 79", "match"),
        (
            "pytorch",
            "Xid 79",
            "kernel: NVRM: Xid (PCI:0000:3b:00): 79",
            "match",
        ),
        ("xid", "Xid 79", "Xids (79)", ""),
        ("xid", "Xid 79", "Xid (79)", "match"),
        ("nvml", "NVML error 1", "NVML errors (1)", ""),
        ("nvml", "NVML error 1", "NVML error (1)", "match"),
        (
            "xid",
            "SXid 12028",
            "nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 12028, Non-fatal",
            "match",
        ),
        (
            "cuda",
            "error 217",
            "CUDA error 217 at ggml-cuda.cu:6292",
            "match",
        ),
        ("cuda", "error 217", "CUDA Driver API: error code 217", "match"),
        (
            "cuda",
            "error 217",
            "cudaMemcpyPeer failed with error: 217.",
            "match",
        ),
        ("cuda", "error 217", "process exited with error 217", "candidate"),
        ("cuda", "error 217", "NCCL error 217", "candidate"),
        ("cuda", "error 217", "CUDA error 2170", ""),
        ("cuda", "error 217", "CUDA error 700 at line 217", ""),
        ("cuda", "CUDA error 217", "CUDA error: 217", "match"),
        ("cuda", "CUDA error 217", "error 217", "candidate"),
        (
            "cuda",
            "error 500",
            "Error: 500 Internal Server Error: runner has ended: CUDA error: out of memory",
            "",
        ),
        ("cuda", "error 500", "CUDA error: 500 not found", "match"),
        (
            "cuda",
            "Cuda failure 217",
            "NCCL WARN Cuda failure 217 'peer access is not supported'",
            "match",
        ),
        ("nccl", "error 2", "NCCL error 2", "match"),
        ("nccl", "error 2", "CUDA error 2", "candidate"),
    ] {
        assert_eq!(verdict(domain, code, line), expected, "{code} in {line:?}");
    }
}

#[test]
fn what_the_driver_prints_counts_on_a_line_of_any_length() {
    let mut lost = record("xid/79-lost", "a signature of its own");
    lost.patterns = vec![pattern("0", r"Xid \((?P<device>[0-9a-zA-Z:]{3,39})\): 79")];
    let matcher = matcher_of(vec![lost]);
    let around = "\"label\": \"value\", ".repeat(40);
    for (line, expected) in [
        (
            format!("{{{around} \"log\": \"NVRM: Xid (PCI:0000:3b:00): 79, gone\"}}"),
            1,
        ),
        (
            format!("{{{around} \"log\": \"NVRM: Xid (PCI:0000:3b:00): 7, gone\"}}"),
            0,
        ),
    ] {
        assert_eq!(scan_text(&matcher, &line).matches.len(), expected, "{line}");
    }
}

#[test]
fn names_stand_as_words_apart_from_case() {
    for (code, line, expected) in [
        (
            "cudaErrorPeerAccessUnsupported",
            "failed (cudaErrorPeerAccessUnsupported)",
            "match",
        ),
        (
            "cudaErrorPeerAccessUnsupported",
            "cudaerrorpeeraccessunsupported=217",
            "match",
        ),
        (
            "cudaErrorPeerAccessUnsupported",
            "xcudaErrorPeerAccessUnsupported",
            "",
        ),
        (
            "cudaErrorPeerAccessUnsupported",
            "cudaErrorPeerAccessUnsupported_v2",
            "",
        ),
        (
            "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
            "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED: x",
            "match",
        ),
        ("ncclSystemError", "ncclSystemError: System call failed", "match"),
        ("ncclSystemError", "ncclSystemErrors ncclSystemError", "match"),
        (
            "unhandled system error",
            "NCCL error: unhandled system error",
            "match",
        ),
        ("unknown error", "unknown error", "candidate"),
        ("unknown error", "CUDA: unknown error", "match"),
    ] {
        assert_eq!(verdict("cuda", code, line), expected, "{code} in {line:?}");
    }
}

#[test]
fn a_domain_means_the_same_in_capitals() {
    let mut record = record("cuda/x", "");
    record.domain = "CUDA".to_owned();
    record.codes = vec!["error 217".to_owned()];
    let (matcher, rejected) = Matcher::build(vec![record]);
    assert_eq!(rejected, []);
    let matcher = Arc::new(matcher);
    assert_eq!(scan_text(&matcher, "CUDA error 217").matches.len(), 1);
    assert_eq!(scan_text(&matcher, "NCCL error 217").matches.len(), 0);
}

#[test]
fn codes_that_prove_nothing_in_text_are_listed() {
    let mut record = record("weather/x", "");
    record.codes = ["79", "GPA", "error 5", "Xid 5"].map(str::to_owned).to_vec();
    let (_, rejected) = Matcher::build(vec![record]);
    let listed: Vec<_> = rejected
        .iter()
        .map(|rejected| rejected.pattern.as_str())
        .collect();
    assert_eq!(listed, ["code:79", "code:GPA", "code:error 5"]);
    assert!(
        rejected[0].reason.contains("bare number"),
        "{}",
        rejected[0].reason
    );
}

#[test]
fn a_number_that_the_line_denies_is_no_report() {
    for (line, expected) in [
        ("no Xid errors since boot; Xid 79 is not present", ""),
        ("Checked for Xid 79: none found", ""),
        ("no Xid 79 found in dmesg", ""),
        ("no Xid 79", ""),
        ("Xid 79 was not seen since boot", ""),
        ("Xid 79: 0", ""),
        ("Xids 31, 79: none found", ""),
        ("没有 Xid 79，一切正常", ""),
        // What another clause denies says nothing of it.
        ("GPU 3: Xid 79, no further errors", "match"),
        ("NVRM: Xid (PCI:0000:3b:00): 79, no further errors", "match"),
        (
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, device not present",
            "match",
        ),
        ("Xid 79 not recoverable on GPU 3", "match"),
        ("Xid 79 not seen before on this GPU, now three times", "match"),
        ("Xid 31 is not present, but GPU 3 has Xid 79", "match"),
        ("no warning before Xid 79 on GPU 3", "match"),
        ("Xid 79: 0000:3b:00.0 GPU lost", "match"),
    ] {
        assert_eq!(verdict("xid", "Xid 79", line), expected, "{line}");
    }
    // Other codes have such words as their own message.
    assert_eq!(
        verdict("nvml", "NVML error 6", "NVML error 6: not found"),
        "match"
    );
}

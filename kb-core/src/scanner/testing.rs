//! Records and helpers of the scanner's tests.

use std::sync::Arc;

use crate::ids::Revision;
use crate::matcher::Matcher;
use crate::scanner::{ScanOptions, Summary, scan};
use crate::signature::{PatternSpec, RecordSignatures};

pub(crate) fn record(id: &str, signature: &str) -> RecordSignatures {
    let id: crate::ids::RecordId = id.parse().unwrap();
    RecordSignatures {
        domain: id.domain().to_owned(),
        signature: signature.to_owned(),
        ..RecordSignatures::empty(id, Revision(1))
    }
}

pub(crate) fn pattern(id: &str, regex: &str) -> PatternSpec {
    PatternSpec {
        id: id.to_owned(),
        regex: regex.to_owned(),
        flags: "i".to_owned(),
        captures: Vec::new(),
    }
}

/// The first two seeds, with what their annexes add, and the Xid that takes a GPU away.
pub(crate) fn records() -> Vec<RecordSignatures> {
    let mut refused = record(
        "cuda/peer-access-unsupported-by-hardware",
        "RuntimeError: CUDA error: peer access is not supported between these two devices \
         (cudaErrorPeerAccessUnsupported)",
    );
    refused.patterns = vec![pattern(
        "0",
        "peer access is not supported between these two devices",
    )];
    refused.codes = [
        "cudaErrorPeerAccessUnsupported",
        "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
        "error 217",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut tensorflow = record(
        "tensorflow/gpu-peer-access-error",
        "InternalError: Peer access from GPU:0 to GPU:1 is not supported by the current CUDA driver or device \
         topology",
    );
    tensorflow.patterns = vec![
        pattern(
            "0",
            r"InternalError: Peer access from GPU:\d+ to GPU:\d+ is not supported by the current CUDA driver or device topology",
        ),
        pattern(
            "pair",
            r"Peer access from GPU:(?<from>\d+) to GPU:(?<to>\d+) is not supported",
        ),
    ];
    let mut fallen = record("xid/79-gpu-has-fallen-off-the-bus", "GPU has fallen off the bus");
    fallen.patterns = vec![pattern(
        "0",
        r"NVRM: Xid \(PCI:(?<pci>[0-9a-f:.]+)\): 79,(?: pid=(?<pid>\d+))?",
    )];
    fallen.codes = vec!["Xid 79".to_owned()];
    vec![refused, tensorflow, fallen]
}

pub(crate) fn lines(count: usize, mut line: impl FnMut(usize) -> String) -> String {
    (0..count).fold(String::new(), |text, number| text + &line(number) + "\n")
}

pub(crate) fn matcher() -> Arc<Matcher> {
    matcher_of(records())
}

pub(crate) fn matcher_of(records: Vec<RecordSignatures>) -> Arc<Matcher> {
    let (matcher, rejected) = Matcher::build(records);
    assert_eq!(rejected, [], "a test record is not usable");
    Arc::new(matcher)
}

pub(crate) fn scan_text(matcher: &Arc<Matcher>, text: impl AsRef<[u8]>) -> Summary {
    scan(matcher, text.as_ref(), ScanOptions::default())
}

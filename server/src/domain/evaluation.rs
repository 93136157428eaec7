//! The small part of `cargo xtask eval` in every test run: shipped records find themselves, texts without error find none.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::lookup::{MatchOptions, look_up};
use super::search::search;
use crate::bundle::embedded;
use crate::feed::{Generation, offline};
use peerless_search::SearchRequest;

pub(crate) fn shipped() -> &'static Arc<Generation> {
    static SHIPPED: OnceLock<Arc<Generation>> = OnceLock::new();
    SHIPPED.get_or_init(|| Arc::new(offline(embedded().unwrap()).unwrap()))
}

fn found(text: &str) -> Vec<String> {
    let answer = look_up(shipped(), text.as_bytes(), MatchOptions::default()).unwrap();
    answer
        .matches
        .into_iter()
        .map(|found| found.id.to_string())
        .collect()
}

#[test]
fn every_record_is_first_for_its_own_signature_and_examples() {
    let mut wrong = Vec::new();
    for published in shipped().records() {
        let signature = &published.record.document.signature;
        let examples = published
            .record
            .annex
            .examples
            .iter()
            .map(|example| &example.text);
        for text in examples.chain([signature]) {
            let first = found(text).into_iter().next();
            if first.as_deref() != Some(published.id().as_str()) {
                wrong.push(format!("{}: {text:?} finds {first:?}", published.id()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn messages_from_the_field_find_their_record_first() {
    let mut wrong = Vec::new();
    for line in include_str!("../../../evaluation/field/messages.jsonl").lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        let first = found(message["text"].as_str().unwrap()).into_iter().next();
        if first.as_deref() != message["expect"][0].as_str() {
            wrong.push(format!("{}: finds {first:?}", message["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_commonest_queries_find_the_general_record_first() {
    let mut wrong = Vec::new();
    for (text, wanted) in [
        ("cuda out of memory", "cuda/out-of-memory"),
        ("nccl timeout", "pytorch/watchdog-collective-timeout"),
        ("nccl hang", "pytorch/watchdog-collective-timeout"),
        (
            "NVRM: API mismatch: the client has the version 550.54.14, but this kernel module has the version 535.129.03",
            "nvml/driver-library-version-mismatch",
        ),
        ("fabric manager not running", "fabric-manager/service-failed"),
        ("显存不足", "cuda/out-of-memory"),
        ("驱动版本不匹配", "nvml/driver-library-version-mismatch"),
        (
            "两张显卡之间不支持 P2P 访问",
            "cuda/peer-access-unsupported-by-hardware",
        ),
        ("训练卡住 nccl", "pytorch/watchdog-collective-timeout"),
        ("nvidia-smi no devices were found", "driver/smi-no-devices"),
        ("oom", "cuda/out-of-memory"),
    ] {
        let request = SearchRequest {
            text: text.to_owned(),
            ..SearchRequest::default()
        };
        let answer = search(shipped(), &request).unwrap();
        let first = answer.hits.first().map(|hit| hit.id.as_str());
        if first != Some(wanted) {
            wrong.push(format!("{text:?} finds {first:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_message_that_the_matcher_recognises_stands_first_in_a_search() {
    let text = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB";
    let request = SearchRequest {
        text: text.to_owned(),
        ..SearchRequest::default()
    };
    let answer = search(shipped(), &request).unwrap();
    assert_eq!(answer.hits[0].id.as_str(), found(text)[0]);
    assert!(!answer.near);
}

#[test]
fn every_record_has_a_title_of_its_own_in_both_languages() {
    let mut known = BTreeSet::new();
    for published in shipped().records() {
        let annex = &published.record.annex;
        for title in [&annex.title, &annex.title_zh] {
            let title = title.as_ref().unwrap_or_else(|| panic!("{}", published.id()));
            assert!(known.insert(title.clone()), "{}: {title}", published.id());
        }
    }
}

#[test]
fn what_is_harmless_or_of_another_device_finds_no_fault() {
    for text in [
        "[rank1]:[W731 10:50:06.313201823 ProcessGroupNCCL.cpp:1496] Warning: WARNING: destroy_process_group() was not called \
         before program exit, which can leak resources. (function operator())",
        "kernel: DMAR: DRHD: handling fault status reg 3\nkernel: DMAR: [DMA Read NO_PASID] Request device [00:1e.3] fault addr \
         0xffffa000 [fault reason 0x06] PTE Read access is not set\nkernel: applespi spi-APP000D:00: Error writing to device: 01 \
         0e 00 00",
        "59:00.0 Non-Volatile memory controller: Kingston Technology Company, Inc. OM8PGP4 NVMe PCIe SSD\n    LnkSta: Speed \
         8GT/s (downgraded), Width x2 (downgraded)\n    DevSta: CorrErr+ NonFatalErr- FatalErr- UnsupReq+ AuxPwr- TransPend-",
        "node01:4242:4242 [0] NCCL INFO Failed to open libibverbs.so[.1]\nnode01:4242:4242 [0] NCCL INFO Using network Socket",
        "slurmstepd: error: pyxis: printing enroot log file:\nslurmstepd: error: pyxis:     [INFO] Querying registry for permission \
         grant\nslurmstepd: error: pyxis:     [INFO] Fetching image manifest\nslurmstepd: pyxis: imported docker image: ubuntu",
    ] {
        let faults: Vec<String> = found(text).into_iter().filter(|id| !is_notice(id)).collect();
        assert_eq!(faults, [""; 0], "{text}");
    }
}

fn is_notice(id: &str) -> bool {
    let published = shipped().record(&id.parse().unwrap());
    published.is_some_and(|published| published.record.is_notice())
}

#[test]
fn of_what_ends_a_container_the_program_s_own_line_is_first() {
    let start = "slurmstepd: error: pyxis: child 3341 failed with error code: 1\nslurmstepd: error: pyxis: failed to import docker \
                 image\nslurmstepd: error: pyxis: printing enroot log file:\nslurmstepd: error: pyxis:     [INFO] Querying registry \
                 for permission grant\n";
    let end = "slurmstepd: error: pyxis:     [ERROR] URL https://registry-1.docker.io/v2/library/x/manifests/latest returned error \
               code: 401 Unauthorized\nslurmstepd: error: pyxis: couldn't start container\n";
    assert_eq!(
        found(&format!("{start}{end}")).first().unwrap(),
        "container/enroot-registry-refused"
    );
}

#[test]
fn a_watchdog_that_reports_a_time_out_died_of_no_cuda_error() {
    let text = "[rank3]:[E1019 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread \
                terminated with exception: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=74, \
                OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.";
    assert_eq!(found(text), ["pytorch/watchdog-collective-timeout"]);
}

#[test]
fn what_is_no_error_finds_no_record() {
    let negatives = include_str!("../../../evaluation/negatives.jsonl");
    let mut alarms = BTreeSet::new();
    for line in negatives.lines() {
        let negative: Value = serde_json::from_str(line).unwrap();
        let (id, text) = (
            negative["id"].as_str().unwrap(),
            negative["text"].as_str().unwrap(),
        );
        let matches = found(text);
        if !matches.is_empty() {
            alarms.insert(format!("{id}: {text:?} finds {matches:?}"));
        }
    }
    assert_eq!(alarms, BTreeSet::new());
}

/// Lines of the gate that must be true of what ships, too.
#[test]
fn progress_of_training_finds_no_record() {
    for line in include_str!("../clean/progress-lines.txt").lines() {
        assert_eq!(found(line), [] as [&str; 0], "{line}");
    }
}

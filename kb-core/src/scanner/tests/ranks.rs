//! Who comes first: the record that is meant, before those that explain as much.

use std::sync::Arc;

use super::super::testing::{matcher_of, pattern, record, scan_text};
use super::super::{Applies, ScanOptions, Summary, scan};
use crate::matcher::Matcher;
use crate::signature::AppliesTo;

#[test]
fn the_record_whose_signature_is_the_message_comes_first() {
    let mut other = record("cloud/lambda-storage", "Lambda /tmp is full");
    other.patterns = vec![pattern(
        "0",
        "frobnicator (?:pipe|queue) broke|no widget left on gadget",
    )];
    let meant = record("docker/no-widget-left", "no widget left on gadget");
    let longer = record("docker/error-no-widget-left", "Error: no widget left on gadget");
    let matcher = matcher_of(vec![other, meant, longer]);
    let first = |text: &str| scan_text(&matcher, text).matches[0].id.to_string();
    assert_eq!(first("no widget left on gadget"), "docker/no-widget-left");
    assert_eq!(
        first("2026-01-01T00:00:00Z Error: no widget left on gadget"),
        "docker/error-no-widget-left"
    );
}

#[test]
fn a_generic_pattern_with_wildcards_must_explain_some_of_the_line() {
    let mut nan = record("pytorch/loss-nan", "");
    nan.patterns = vec![pattern("0", "loss.*nan")];
    let matcher = matcher_of(vec![nan]);
    let long =
        "torch: step 12 loss 1.25 scale 1.0 grad norm 0.5 skipped 0 nan iterations 0, samples 12, rate 3.5";
    assert_eq!(scan_text(&matcher, "torch: loss is nan").matches.len(), 1);
    let summary = scan_text(&matcher, long);
    assert_eq!((summary.matches.len(), summary.candidates.len()), (0, 1));
}

#[test]
fn what_wraps_a_consequence_of_a_later_cause_is_no_cause() {
    let mut symbols = record("driver/symbols", "frobnicator disagrees about its widgets");
    symbols.leads_to = vec!["rdma/refused".parse().unwrap()];
    let mut refused = record("rdma/refused", "could not insert the frobnicator");
    refused.leads_to = vec!["kubernetes/not-ready".parse().unwrap()];
    let not_ready = record(
        "kubernetes/not-ready",
        "the validator saw no frobnicator infarction",
    );
    let matcher = matcher_of(vec![symbols, refused, not_ready]);
    let text = "could not insert the frobnicator\nthe validator saw no frobnicator infarction\n\
        [Tue Sep  8 17:16:02 2026] frobnicator disagrees about its widgets\n";
    let summary = scan_text(&matcher, text);
    let causes: Vec<_> = summary.root_causes.iter().map(|cause| &cause.chain).collect();
    let chain = ["driver/symbols", "rdma/refused", "kubernetes/not-ready"].map(|id| id.parse().unwrap());
    assert_eq!(causes, [&chain.to_vec()]);
}

#[test]
fn backticks_of_a_message_stay_where_a_page_changed_its_blanks() {
    let matcher = matcher_of(vec![record(
        "vllm/heads",
        "`frob_heads` must be divisible by `shards`",
    )]);
    let count = |text: &str| {
        let found = scan_text(&matcher, text).matches;
        found.iter().map(|one| one.count).collect::<Vec<_>>()
    };
    assert_eq!(
        count("ValueError: `frob_heads` must be divisible by `shards`"),
        [1]
    );
    assert_eq!(
        count("ValueError:\u{a0}`frob_heads`\u{a0}must\u{a0}be\u{a0}divisible\u{a0}by\u{a0}`shards`"),
        [1]
    );
    assert_eq!(
        count(
            "`frob_heads`\u{a0}must be divisible by `shards`\n"
                .repeat(3)
                .as_str()
        ),
        [3]
    );
}

#[test]
fn a_message_that_stands_in_source_code_was_not_printed() {
    let mut record = record("driver/too-old", "too old to support gadget checks");
    record.codes = vec!["NVML_ERROR_TOO_OLD".to_owned()];
    let matcher = matcher_of(vec![record]);
    let found = |text: &str| {
        let summary = scan_text(&matcher, text);
        (summary.matches.len(), summary.candidates.len())
    };
    assert_eq!(found("Device GPU-1 is too old to support gadget checks."), (1, 0));
    assert_eq!(
        found("warn(\"Device %v is too old to support gadget checks.\", d)"),
        (0, 1)
    );
    assert_eq!(found("nvmlInit: NVML_ERROR_TOO_OLD"), (1, 0));
    assert_eq!(found("  if (rc != NVML_ERROR_TOO_OLD) {"), (0, 1));
}

/// A record about some drivers, and one about any that explains less of the same line.
fn of_some_drivers() -> Arc<Matcher> {
    let mut new = record("cuda/new-driver", "frobnicator widget infarction of the flange");
    new.applies_to = vec![AppliesTo {
        component: "driver".to_owned(),
        introduced: Some("560".to_owned()),
        fixed: Some("570.10".to_owned()),
        last_affected: None,
        any_of: Vec::new(),
    }];
    let any = record("cuda/any-driver", "frobnicator widget");
    matcher_of(vec![any, new])
}

fn ids(summary: &Summary) -> Vec<&str> {
    summary.matches.iter().map(|found| found.id.as_str()).collect()
}

#[test]
fn the_driver_that_the_log_names_decides_which_record_applies() {
    let error = "CUDA error: frobnicator widget infarction of the flange";
    let smi = "| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4 |";
    let summary = scan_text(&of_some_drivers(), format!("{smi}\n{error}\n"));
    assert_eq!(ids(&summary), ["cuda/any-driver", "cuda/new-driver"]);
    assert_eq!(summary.matches[1].applies, Applies::No);
    assert!(
        summary.matches[1].why.ends_with(
            "; the text matches, but it is about driver 560 and later, before 570.10, and here that is 550.54.14 (line 1)"
        ),
        "{}",
        summary.matches[1].why
    );
    let known: Vec<_> = summary
        .environment
        .iter()
        .map(|known| (known.component.as_str(), known.value.as_str(), known.line))
        .collect();
    assert_eq!(
        known,
        [("cuda", "12.4", Some(1)), ("driver", "550.54.14", Some(1))]
    );

    // The line may come later, and what is given stands before it.
    let text = format!("{error}\n{}\n", smi.replace("550.54.14", "565.57.01"));
    let summary = scan_text(&of_some_drivers(), &text);
    assert_eq!(ids(&summary), ["cuda/new-driver", "cuda/any-driver"]);
    assert_eq!(summary.matches[0].applies, Applies::Yes);
    let options = ScanOptions {
        environment: [("driver".to_owned(), "535.161".to_owned())].into(),
        ..ScanOptions::default()
    };
    let summary = scan(&of_some_drivers(), text.as_bytes(), options);
    assert_eq!(ids(&summary), ["cuda/any-driver", "cuda/new-driver"]);
    assert!(summary.matches[1].why.ends_with("and here that is 535.161"));
}

#[test]
fn where_nothing_or_too_much_is_said_of_the_driver_it_stays_open() {
    let error = "CUDA error: frobnicator widget infarction of the flange\n";
    let summary = scan_text(&of_some_drivers(), error);
    assert_eq!(summary.matches[0].applies, Applies::Unknown);
    assert!(
        summary.matches[0]
            .why
            .ends_with("and which one is here is not known"),
        "{}",
        summary.matches[0].why
    );
    let two = format!("{error}Driver Version: 550.54.14\nDriver Version: 565.57.01\n");
    let summary = scan_text(&of_some_drivers(), two);
    assert_eq!(summary.matches[0].applies, Applies::Unknown);
    assert_eq!(
        summary.notes,
        [
            "the text speaks of driver 550.54.14 and 565.57.01, so none of them is taken for that of the errors"
        ]
    );
}

#[test]
fn what_an_error_wraps_comes_before_it() {
    let wrapper = record(
        "pytorch/nccl-error",
        "DistBackendError: NCCL error in ProcessGroupNCCL",
    );
    let mut cause = record("nccl/refused", "NCCL WARN socket refused by frobnicator");
    cause.leads_to = vec![wrapper.id.clone()];
    let matcher = matcher_of(vec![wrapper, cause]);
    let outer = "[rank0]: torch.distributed.DistBackendError: NCCL error in ProcessGroupNCCL";
    let inner = "[rank0]: NCCL WARN socket refused by frobnicator on port 4711 of some host";
    for text in [format!("{inner}\n{outer}\n"), format!("{outer}\n{inner}\n")] {
        let summary = scan_text(&matcher, &text);
        assert_eq!(ids(&summary), ["nccl/refused", "pytorch/nccl-error"], "{text}");
        let found = &summary.matches[1];
        assert_eq!(
            found.wraps.as_ref().map(crate::ids::RecordId::as_str),
            Some("nccl/refused")
        );
        assert!(
            found.why.contains("; it only wraps nccl/refused"),
            "{}",
            found.why
        );
        assert_eq!(summary.matches[0].wraps, None);
        let roots: Vec<_> = summary.root_causes.iter().map(|root| root.id.as_str()).collect();
        assert_eq!(roots, ["nccl/refused"], "{text}");
    }
    // A clock knows better: the exception came a minute before the refusal.
    let text = format!("2026-11-20T10:00:00Z {outer}\n2026-11-20T10:01:00Z {inner}\n");
    let summary = scan_text(&matcher, &text);
    assert_eq!(summary.root_causes.len(), 2, "{:?}", summary.root_causes);
    // Far apart they are two stories; the chain tells whether one led to the other.
    let far = format!("{inner}\n{}{outer}\n", "step\n".repeat(40));
    assert!(
        scan_text(&matcher, far)
            .matches
            .iter()
            .all(|found| found.wraps.is_none())
    );
}

#[test]
fn among_near_equals_on_a_line_the_deeper_layer_comes_first() {
    let text = "frobnicator flange";
    let matcher = matcher_of(vec![record("pytorch/flange", text), record("xid/flange", text)]);
    let summary = scan_text(&matcher, format!("NVRM: torch: {text} broke\n"));
    assert_eq!(ids(&summary), ["xid/flange", "pytorch/flange"]);
}

#[test]
fn a_framework_around_a_library_around_cuda_around_an_xid_unwraps_to_the_xid() {
    let framework = record("pytorch/launch", "RuntimeError raised by frobnicator");
    let mut library = record("nccl/launch", "NCCL WARN infarction of frobnicator");
    let mut cuda = record("cuda/launch", "CUDA error flange of frobnicator");
    // The device's own words are the shortest: the score alone would put them last.
    let mut xid = record("xid/launch", "Xid flange");
    library.leads_to = vec![framework.id.clone()];
    cuda.leads_to = vec![library.id.clone()];
    xid.leads_to = vec![cuda.id.clone()];
    let text = "NVRM: Xid flange, pid=4711, name=python, Ch 00000008, and so on for a while of this line\n\
                CUDA error flange of frobnicator\nNCCL WARN infarction of frobnicator\n\
                RuntimeError raised by frobnicator\n";
    let matcher = matcher_of(vec![framework, library, cuda, xid]);
    let summary = scan_text(&matcher, text);
    let wraps: Vec<_> = summary.matches.iter().map(|found| found.wraps.as_ref()).collect();
    assert_eq!(
        ids(&summary),
        ["xid/launch", "cuda/launch", "nccl/launch", "pytorch/launch"]
    );
    assert_eq!(wraps[0], None);
    assert!(wraps[1..].iter().all(Option::is_some), "{wraps:?}");
}

#[test]
fn an_xid_that_follows_another_wraps_nothing() {
    let after = record("xid/after", "Xid flange of the channel that was ended afterwards");
    let mut first = record("xid/first", "Xid frobnicator infarction");
    first.leads_to = vec![after.id.clone()];
    let text =
        "NVRM: Xid frobnicator infarction\nNVRM: Xid flange of the channel that was ended afterwards\n";
    let summary = scan_text(&matcher_of(vec![after, first]), text);
    assert!(summary.matches.iter().all(|found| found.wraps.is_none()));
}

#[test]
fn a_result_code_of_a_library_wraps_its_own_warning() {
    let code = record("nccl/system", "ncclSystemError: call to the system failed");
    let mut warning = record("nccl/port", "frobnicator port refused");
    warning.leads_to = vec![code.id.clone()];
    let text = "NCCL ncclSystemError: call to the system failed\nLast error:\n\
                NCCL WARN the frobnicator port refused 4711 of this and that host\n";
    let summary = scan_text(&matcher_of(vec![code, warning]), text);
    assert_eq!(ids(&summary), ["nccl/port", "nccl/system"]);
}

#[test]
fn a_warning_full_of_addresses_still_comes_before_the_code_around_it() {
    let code = record("nccl/remote", "ncclRemoteError: the other side is gone");
    let mut warning = record("nccl/completion", "frobnicator completion flange");
    warning.leads_to = vec![code.id.clone()];
    let addresses = "peer 10.0.0.2<38274> opcode=0 len=0 vendor err 129 (Send) localGid ::ffff:10.0.0.1 remoteGids \
                     ::ffff:10.0.0.2 hca mlx5_0 on rank 17 of communicator 0x7f5512340000 in channel 04 of 32";
    let text = format!(
        "ncclRemoteError: the other side is gone\nLast error:\nfrobnicator completion flange {addresses} {addresses}\n"
    );
    let summary = scan_text(&matcher_of(vec![code, warning]), text);
    assert_eq!(ids(&summary), ["nccl/completion", "nccl/remote"]);
    assert!(summary.matches[0].score * 4.0 < summary.matches[1].score);
}

#[test]
fn two_frameworks_in_a_chain_are_two_faults() {
    let after = record("ray/after", "Ray frobnicator actor flange");
    let mut first = record("slurm/first", "slurmstepd infarction of the step");
    first.leads_to = vec![after.id.clone()];
    let text = "slurmstepd infarction of the step\nRay frobnicator actor flange\n";
    let summary = scan_text(&matcher_of(vec![after, first]), text);
    assert_eq!(summary.matches.len(), 2);
    assert!(summary.matches.iter().all(|found| found.wraps.is_none()));
}

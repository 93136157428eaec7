use kb_core::record::Record;

use super::{render, write_advice, write_weight};
use crate::domain::evaluation::shipped;
use crate::domain::lookup::{MatchOptions, look_up};
use crate::feed::samples::PEER_ACCESS;

#[test]
fn what_weighs_is_told_in_the_words_of_the_record_and_not_invented() {
    let weight = |document: &str, annex: &str| {
        let mut text = String::new();
        write_weight(&mut text, &Record::parse(document, annex).unwrap()).unwrap();
        text
    };
    let (document, _) = PEER_ACCESS;
    let all = r#"{"schema_version": 1, "severity": "error", "action": "change_configuration"}"#;
    assert_eq!(
        weight(document, all),
        "  Severity: error  Action: change_configuration  Tier: ai_generated\n"
    );
    let none = r#"{"schema_version": 1}"#;
    assert_eq!(weight(document, none), "  Tier: ai_generated\n");
    assert_eq!(
        weight(
            &document.replace("\"ai_generated\"", "\"a word of tomorrow\""),
            none
        ),
        ""
    );
}

#[test]
fn the_commands_stand_below_what_they_do() {
    let advice = |action: &str, more: Option<&str>| {
        let mut text = String::new();
        write_advice(&mut text, "Do", action, more).unwrap();
        text
    };
    assert_eq!(
        advice(
            "Make it anew",
            Some("nvidia-ctk cdi generate \\\n  --output=a\n\nnvidia-ctk cdi list\n")
        ),
        "  Do: Make it anew\n      nvidia-ctk cdi generate \\\n        --output=a\n\n      nvidia-ctk cdi list\n"
    );
    assert_eq!(advice("Wait", Some(" \n")), "  Do: Wait\n");
    assert_eq!(advice("Wait", Some("Wait\n")), "  Do: Wait\n");
    assert_eq!(advice("Wait", None), "  Do: Wait\n");
    assert_eq!(advice("", Some("Wait")), "  Do: Wait\n");
}

fn told(text: &str) -> String {
    let generation = shipped();
    let answer = look_up(generation, text.as_bytes(), MatchOptions::default()).unwrap();
    render(&answer, generation, None)
}

#[test]
fn a_line_that_the_driver_calls_fatal_gets_no_advice_for_harmless_ones() {
    for line in [
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, Fatal, Link 12 Minion Link DLREQ interrupt",
        "detected NVSwitch fatal error 22013 on fid 0 on NVSwitch pci bus id 00000000:C1:00.0 physical id 3 port 12",
    ] {
        let text = told(line);
        assert!(text.contains("The driver calls it fatal"), "{text}");
        assert!(text.contains("Severity: fatal"), "{text}");
        for word in [
            "\n  Harmless notice",
            "Action:",
            "  Do: ",
            "  Do not: ",
            "safely ignored",
            "  Why: ",
            "unless",
        ] {
            assert!(!text.contains(word), "{word:?} in\n{text}");
        }
    }
    let text = told(
        "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 12 Minion Link DLREQ interrupt",
    );
    assert!(text.contains("(harmless)") && text.contains("  Why: "), "{text}");
}

#[test]
fn refused_peer_access_leads_to_its_causes_and_to_the_probe() {
    let text = told("RuntimeError: CUDA error: peer access is not supported between these two devices");
    for cause in [
        "p2p/gpu-model-without-peer-access",
        "p2p/chipset-does-not-forward-peer-traffic",
        "p2p/gpus-behind-different-io-hubs",
        "p2p/not-supported-no-path",
        "iommu/translation-breaks-p2p",
        "p2p/cuda-ipc-between-processes-fails",
        "p2p/refused-without-reason",
    ] {
        assert!(text.contains(&format!("\n    {cause}  ")), "{cause}\n{text}");
    }
    for word in ["GNS", "CNS", "TNS", "topology", "IOMMU", "container"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    assert!(
        text.contains("\n  Find out which: peerless-agent probe\n"),
        "{text}"
    );
}

#[test]
fn what_the_agent_cannot_decide_names_no_probe() {
    let text = told("RuntimeError: CUDA error: an illegal memory access was encountered");
    assert!(text.starts_with("cuda/illegal-address"), "{text}");
    assert!(!text.contains("peerless-agent"), "{text}");
}

#[test]
fn what_the_text_proves_is_no_suspect() {
    let refused = "CUDA error: peer access is not supported between these two devices";
    let proven = "GPU 0 and GPU 1: refused_by_policy: NVML says GNS: this GPU model has peer access off";
    let text = told(&format!("{proven}\n{refused}\n"));
    assert!(text.contains("\n    p2p/mixed-gpu-models  "), "{text}");
    assert!(
        !text.contains("\n    p2p/gpu-model-without-peer-access  "),
        "{text}"
    );
}

#[test]
fn no_answer_begins_with_a_disputed_workaround() {
    let text = told("RuntimeError: CUDA error: peer access is not supported between these two devices");
    let first = text.lines().find(|line| line.starts_with("  Do: ")).unwrap();
    assert!(
        first.contains("NCCL_P2P_DISABLE=1") && !first.contains("NCCL_SHM_DISABLE"),
        "{text}"
    );
    let (_, after) = text.split_once("\n  Disputed advice: ").unwrap();
    assert!(!after.contains("\n  Do: "), "{text}");
    assert!(
        after.contains("\n      Disputed: ") && after.contains("/env.html)"),
        "{text}"
    );
    for published in shipped().records() {
        let workarounds = published.record.workarounds();
        let first = workarounds.first();
        let all = workarounds.iter().all(|advised| advised.dispute.is_some());
        assert!(
            all || first.is_some_and(|first| first.dispute.is_none()),
            "{}",
            published.id()
        );
    }
}

const HARMLESS: &str = "[rank0]:[W730 15:32:17.841273251 ProcessGroupNCCL.cpp:1479] Warning: WARNING: \
    destroy_process_group() was not called before program exit, which can leak resources.";

#[test]
fn a_harmless_message_is_told_and_is_no_error() {
    let text = told(HARMLESS);
    assert!(
        text.starts_with("No known error in 1 lines.\n1 known message is harmless.\n"),
        "{text}"
    );
    assert!(text.contains("\n  Harmless, unless: "), "{text}");
    let both = told(
        "RuntimeError: CUDA error: peer access is already enabled\n\
         RuntimeError: CUDA error: an illegal memory access was encountered\n",
    );
    assert!(!both.contains("No known error"), "{both}");
    assert!(both.contains("1 known message is harmless."), "{both}");
}

#[test]
fn a_harmless_message_vouches_for_nothing_else_in_the_text() {
    let generation = shipped();
    let look = |text: &[u8]| look_up(generation, text, MatchOptions::default());
    let mut bytes = HARMLESS.as_bytes().to_vec();
    bytes.push(b'\n');
    bytes.extend((0..20_000_u32).map(|n| (n % 7) as u8 + 1));
    assert!(look(&bytes).is_err(), "most of it is no text");
    let asked = format!("{HARMLESS}\nthe gpu is missing after a reboot and nvidia-smi finds no device\n");
    let answer = look(asked.as_bytes()).unwrap();
    assert!(!answer.has_error() && !answer.candidates.is_empty(), "{answer:?}");
    let known = |id| answer.matches.iter().any(|found| found.id == id);
    assert!(
        !answer
            .candidates
            .iter()
            .any(|candidate| known(candidate.id.clone()))
    );
}

use proptest::prelude::*;

use super::*;
use crate::error_words::{find_error_word, looks_like_error};
use crate::scanner::without_colours;

fn text(tokens: &[String]) -> String {
    tokens.concat().trim().to_owned()
}

fn placed(templates: &mut Templates, line: &str) -> Placed {
    templates.place(tokens(line))
}

#[test]
fn lines_of_one_message_become_one_template() {
    let mut templates = Templates::new(100);
    let first = placed(
        &mut templates,
        "Nov 28 17:17:45 host-1 kernel: zorgblat: link 3 of GPU 0000:3b:00.0 failed with 0x1f after 300 ms",
    );
    assert_eq!(first, Placed::New(0));
    let again = "[   12.500000] zorgblat: link 4 of GPU 0000:af:00.0 failed with 0x20 after 2 ms";
    assert_eq!(placed(&mut templates, again), Placed::Known(0));
    assert_eq!(
        text(templates.get(0)),
        "zorgblat: link <number> of GPU <pci> failed with <address> after <number> ms"
    );
    let other = "zorgblat: port 4 of GPU 0000:af:00.0 failed with 0x20 after 2 ms";
    assert_eq!(placed(&mut templates, other), Placed::Widened(0));
    assert_eq!(
        text(templates.get(0)),
        "zorgblat: <*> <number> of GPU <pci> failed with <address> after <number> ms"
    );
    assert_eq!(placed(&mut templates, again), Placed::Known(0));
}

#[test]
fn other_messages_are_other_templates() {
    let mut templates = Templates::new(100);
    for (number, line) in [
        "zorgblat: cannot open device 3",
        "zorgblat: cannot close the channel of device 3",
        "frobnicator: invalid state of ring 7",
        "CUDA error 700 at kernel.cu:12",
        "CUDA error 217 at kernel.cu:12",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(placed(&mut templates, line), Placed::New(number), "{line}");
    }
}

#[test]
fn there_are_no_more_templates_than_may_be() {
    let mut templates = Templates::new(10);
    let word = |number: u32| char::from_u32('a' as u32 + number).unwrap().to_string().repeat(6);
    for number in 0..20 {
        let found = placed(&mut templates, &format!("{} failed", word(number)));
        assert_eq!(found == Placed::Full, number >= 10, "{number}");
    }
    assert_eq!(templates.len(), 10);
    assert_eq!(placed(&mut templates, "aaaaaa failed"), Placed::Known(0));
}

#[test]
fn kept_templates_take_their_lines_again() {
    let mut templates = Templates::new(10);
    placed(&mut templates, "zorgblat: link 3 failed");
    let mut later = Templates::new(10);
    assert_eq!(later.restore(templates.get(0).to_vec()), Some(0));
    assert_eq!(placed(&mut later, "zorgblat: link 9 failed"), Placed::Known(0));
}

#[test]
fn errors_are_told_from_other_lines() {
    for line in [
        "NVRM: GPU at 0000:3b:00.0 is odd",
        "connection refused",
        "zorgblat timed out",
        "failed to zorgblat",
        "100.0%  proc'd: 10 (1 Gflop/s)   errors: 0  - 1532  (WARNING!)  temps: 50 C",
        "mlx5_core 0000:17:00.0: error=0x5f8, command failed",
        "mlx5 error=0x5f8",
        "FATAL error=0x62",
        "ECC errors: 0 corrected, 3 uncorrectable",
        "Tests run: 12, Failures: 3, Errors: 0",
        "errors: 05",
        "RuntimeError: zorgblat",
        "zorgblat: ERROR 5",
        "cudaErrorUnknown",
        "CUDA_ERROR_UNKNOWN",
        "OOMError at 5",
        "GPU 0000:3b:00.0 failed",
        "GPU 0000:3b:00.0 errors",
        "10 errors",
        "GPU 0 failed",
        "rank 0 failed",
        "gpu: 0 failed to train",
        "ranks failed 0, 1, 2",
        "error: 0 devices found",
        "no errors, 3 failures",
        "panic: send on closed channel",
        "timeout: the server did not answer",
        "TimeoutError: 5",
        "asyncio.TimeoutError(5)",
        "TIMEOUT_ERROR: x",
        "timeouts: 3",
        "2024 INFO [worker] ERROR: x failed",
        "WARN x failed",
        "E0101 12:00:00 x failed",
        "NCCL_DEBUG=INFO x failed",
        "lost GPU 0",
        "error on rank 0",
        "NVRM: Xid (PCI:0000:3b:00): 79",
        "GPU error 0 12:30:01",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
    for line in [
        "epoch 3 loss 0.12",
        "loaded the default configuration",
        "terror of the sea",
        "",
        "error: 0",
        "error = 0",
        "0 failed",
        "errors: 0",
        "SRAM Uncorrectable Parity : 0",
        "abortFlag 0",
        "errors=0",
        r#"{"errors": 0, "x": 1}"#,
        "error_count: 0",
        "0 errors, 0 warnings",
        "done, 0 errors",
        "completed with 0 errors",
        "ECC errors: 0",
        "ERROR SUMMARY: 0 errors",
        "test result: ok. 164 passed; 0 failed; 0 ignored",
        "passed: 3 failed: 0 skipped: 1",
        "0 failed tests",
        "errors: 0 - 0 - 0",
        "0 uncorrectable errors",
        "error(s): 0",
        "Link 9: Replay Errors: 0",
        "DEFAULT",
        "the DEFAULT_VALUE",
        "timeout: 900",
        "TIMEOUT(ms): 600000",
        "variable timeout=<not set>",
        "panic=1",
        "panic=-1 x",
        r#""timeout": 900"#,
        "init_timeout_s=5",
        "timeout: None",
        "timeout: N/A",
        "I0101 12:00:00 x failed",
        "V1122 12:00:00 1 x failed",
        "host:1:1 [0] NCCL INFO x failed",
        "INFO:jax: Unable to x",
        "libfabric:1:core:f():9<info> unsupported x",
        r#"{"level":"info","msg":"x failed"}"#,
        "no error",
        "device 0: no error",
        "[1.1] NVRM: loading NVIDIA UNIX",
        "TLB invalidation policy",
        "libgpg-error0",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

proptest! {
    /// The scanner looks only at lines in which the word is found before their colours are taken out.
    #[test]
    fn no_line_that_looks_like_an_error_is_overlooked(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("\u{1b}[01;31m\u{1b}[K".to_owned()),
                Just("\u{1b}[m".to_owned()),
                Just("\u{1b}[K".to_owned()),
                Just("0".to_owned()),
                "(error|Error|ERROR|DEFAULT|failed|fault|timeout|no )",
                "[ a-zA-Z0-9:=é_,.-]{0,3}",
            ],
            0..8,
        )
    ) {
        let line = parts.concat();
        if looks_like_error(&without_colours(&line)) {
            prop_assert!(find_error_word(line.as_bytes()).is_some(), "{line:?}");
        }
    }
}

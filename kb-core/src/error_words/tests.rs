mod chinese;
mod figures;
mod foreign;
mod letters;
mod links;
mod shapes;
mod timeouts;

use super::phrases::STATES;
use super::*;

/// As logs are read: columns of tables are told by their room.
fn looks_like_error(line: &str) -> bool {
    crate::scanner::looks_like_error(line)
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
        "[ 3630.1] INFO: task python:12345 blocked for more than 120 seconds.",
        "rcu: INFO: rcu_preempt self-detected stall on CPU",
        "reboot: HARDWARE PROTECTION shutdown (Temperature too high)",
        "kernel BUG at mm/slub.c:305!",
        "Oops: 0002 [#1] SMP NOPTI",
        "double fault: 0000 [#1]",
        "divide error: 0000 [#1] SMP",
        "BUG: workqueue lockup - pool cpus=3 stuck for 45s!",
        "mlx5_core 0000:17:00.0 ib0: Link down",
        "module 0, Cable unplugged",
        "mlx5_core 0000:17:00.0: Detected insufficient power on the PCIe slot (27W).",
        "nvme nvme0: controller is down; will reset: CSTS=0x3",
        "EXT4-fs (sda1): Remounting filesystem read-only",
        "Verify installed GPUs.... Unhealthy",
        "CRITICAL - GPU3 missing",
        "State: Down",
        "torch.cuda.is_available(): False",
        "irq 33: nobody cared (try booting with the \"irqpoll\" option)",
        "Uhhuh. NMI received for unknown reason 3d on CPU 0.",
        "WARNING: CPU: 3 PID: 1234 at nvidia/nv.c:12 nv_open+0x1/0x2 [nvidia]",
        "stack segment: 0000 [#1] SMP",
        "GPU 3 disappeared",
        "ssh: connect to host node7 port 22: No route to host",
        "tar: write: Stale file handle",
        "worker 3 died with exit code -11",
    ] {
        assert!(looks_like_error(line), "{line}");
    }
}

#[test]
fn what_says_that_there_is_none_looks_like_no_error() {
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
        "            Route Unhealthy                            : N/A",
        "            SRAM Threshold Exceeded                    : No",
        r#"{"failed": false, "x": 1}"#,
        "io scheduler mq-deadline registered",
        "#Entity   XIDER   TMPTR",
        "INFO: the worker was stalled",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

/// Each with the same line where all is well.
#[test]
fn counts_below_what_was_expected_look_like_errors() {
    for (short, whole) in [
        ("expected 8 GPUs, found 7", "expected 8 GPUs, found 8"),
        ("Expected 8 GPUs but got 7", "Expected 8 GPUs and got 8"),
        (
            "expected at least 4 HCAs, found 2",
            "expected at least 4 HCAs, found 8",
        ),
        ("expected_gpus=8 found_gpus=7", "expected_gpus=8 found_gpus=8"),
        ("GPU count 7 (expected 8)", "GPU count 8 (expected 8)"),
        ("7 nodes joined, 8 expected", "8 nodes joined, 8 expected"),
        ("found 7 GPUs, expected: 8", "found 8 GPUs, expected: 8"),
        (
            "world size 7, expected 8: got 7",
            "world size 8, expected 8: got 8",
        ),
        ("Found 7 of 8 GPUs", "Found 8 of 8 GPUs"),
        (
            "INFO health: 7 out of 8 NVLinks up",
            "INFO health: 8 out of 8 NVLinks up",
        ),
        ("7/8 GPUs", "8/8 GPUs"),
        ("15/16 ranks joined", "16/16 ranks joined"),
        ("3/4 nodes are up", "3/4 nodes requested"),
        ("only 7 GPUs detected", "8 GPUs detected"),
        ("only found 7 GPUs", "found 7 GPUs"),
        ("only 7 of 8 links are active", "all 8 of 8 links are active"),
        ("found 0 GPUs", "found 8 GPUs"),
        ("No GPU/TPU found, falling back to CPU.", "GPU found"),
        ("no GPUs available", "using 4 of 8 GPUs"),
    ] {
        assert!(looks_like_error(short), "{short}");
        assert!(!looks_like_error(whole), "{whole}");
    }
    for line in [
        "rank 3 of 8 ranks",
        "2.0/8.0 GPUs",
        "loaded 4 of 8 shards on 2 GPUs",
        "allocated 4/8 GPUs",
        "expected loss 8, found 7",
        "2026/12/1 nodes",
        "pnp: PnP ACPI: found 2 devices",
        "NET/IB : No device found.",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

/// Each with a line of the same tool where all is well.
fn only_the_first_looks_like_one(pairs: &[(&str, &str)]) {
    for (bad, good) in pairs {
        assert!(looks_like_error(bad), "{bad}");
        assert!(!looks_like_error(good), "{good}");
        assert!(find_error_word(bad.as_bytes()).is_some(), "{bad}");
    }
}

#[test]
fn figures_and_devices_of_programs_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("loss=nan", "loss=0.5"),
        (
            "{'loss': nan, 'grad_norm': 1.0}",
            "{'loss': 0.1, 'grad_norm': 1.0}",
        ),
        (r#"{"loss": NaN}"#, r#"{"loss": 1}"#),
        ("INFO step 100 loss: nan", "INFO step 100 loss: 1.2"),
        ("grad_norm=inf", "grad_norm=info"),
        (r#"{"grad_norm": Infinity}"#, r#"{"grad_norm": 2}"#),
        ("loss is NaN or Inf", "loss is finite"),
        ("NaN detected in gradients", "check_nan=True"),
        ("Loss is nan, stopping training", "no NaN in the gradients"),
        ("nan loss in step 3", "torch.nan_to_num(loss)"),
        (
            "GPU available: False, used: False",
            "GPU available: True (cuda), used: True",
        ),
        (
            "INFO:lightning:GPU available: False",
            "INFO:lightning:TPU available: False",
        ),
        ("cuda available: False", "cuda available: True"),
        (
            "torch.cuda.is_available() False",
            "torch.cuda.is_available() True",
        ),
        (r#""cuda_available": false"#, r#""cuda_available": true"#),
        ("Is CUDA available: False", "Is XPU available: False"),
        (
            "CUDA: not available",
            "Performance Events: PMU not available due to virtualization",
        ),
    ]);
}

#[test]
fn states_of_units_and_nodes_look_like_errors() {
    only_the_first_looks_like_one(&[
        (
            "LnkSta: Speed 2.5GT/s (downgraded), Width x8 (downgraded)",
            "LnkSta: Speed 32GT/s, Width x16",
        ),
        (
            "3b:00.0 3D controller: NVIDIA Corporation GH100 (rev ff) (prog-if ff)",
            "3b:00.0 3D controller: NVIDIA Corporation GH100 (rev a1)",
        ),
        (
            "     Active: inactive (dead)",
            "     Active: active (running) since Mon",
        ),
        (
            "     Active: failed (Result: exit-code)",
            "     Active: active (exited)",
        ),
        (
            "     Active: activating (auto-restart)",
            "     Active: activating (start)",
        ),
        (
            "Process: 812 ExecStart=/x (code=exited, status=203/EXEC)",
            "Process: 812 ExecStart=/x (code=exited, status=0/SUCCESS)",
        ),
        (
            "I0101 12:00:00 1 x.go:1] Marking device unhealthy",
            "I0101 12:00:00 1 x.go:1] Marking device healthy",
        ),
        (
            "INFO device marked as unhealthy: GPU-1",
            "INFO looking for unhealthy devices",
        ),
        (
            "I0101 12:00:00 1 the device will go unhealthy.",
            "I0101 12:00:00 1 unhealthy: 0",
        ),
        (
            "  Ready            False   Mon, 30 Nov 2026   KubeletNotReady   x",
            "  Ready            True    Mon, 30 Nov 2026   KubeletReady   x",
        ),
        (
            "  Ready            Unknown   Mon, 30 Nov 2026   NodeStatusUnknown",
            "  ContainersReady   True",
        ),
        (
            "node7   NotReady   <none>   4d   v1.31.0",
            "node7   Ready   <none>   4d   v1.31.0",
        ),
        (
            "  DiskPressure     True    Mon, 30 Nov 2026",
            "  DiskPressure     False    Mon, 30 Nov 2026",
        ),
        (
            "  NetworkUnavailable   True    Mon",
            "  NetworkUnavailable   False    Mon",
        ),
        (
            "train-0   0/1   ImagePullBackOff   0   5m",
            "train-0   1/1   Running   0   5m",
        ),
    ]);
}

#[test]
fn states_of_devices_ports_and_drives_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("|   3  ERR!  On |", "|   3  [N/A]  On |"),
        ("GPU 3: Unknown Error", "GPU 3: OK"),
        (
            "Unable to determine the device handle: GPU is lost.",
            "Fan Speed : [N/A]",
        ),
        ("No devices were found", "8 devices"),
        (
            "        GPU Reset Required : Yes",
            "        GPU Reset Required : No",
        ),
        (
            "        HW Thermal Slowdown : Active",
            "        HW Thermal Slowdown : Not Active",
        ),
        (
            "        Recovery Action : Drain P2P",
            "        Recovery Action : None",
        ),
        ("        Pending : Yes", "        Pending : No"),
        ("| Overall Health | Warning |", "| Overall Health | Healthy |"),
        ("\t\tState: Down", "\t\tState: Active"),
        ("\t\tPhysical state: Polling", "\t\tPhysical state: LinkUp"),
        ("\t\tPhysical state: Disabled", "\t\tPersistence state: Disabled"),
        ("\tstate:\t\t\tPORT_DOWN (1)", "\tstate:\t\t\tPORT_ACTIVE (4)"),
        ("\tLink detected: no", "\tLink detected: yes"),
        (
            "   State=IDLE+DRAIN ThreadsPerCore=2",
            "   State=IDLE ThreadsPerCore=2",
        ),
        (
            "   State=DOWN* ThreadsPerCore=2",
            "   State=MIXED+CLOUD ThreadsPerCore=2",
        ),
        ("batch up infinite 2 drain node[1-2]", "kubectl drain node1"),
        (
            "batch  up  infinite  1  down*  node3",
            "batch  up  infinite  1  idle  node3",
        ),
        (
            "      1046528 blocks super 1.2 [2/1] [U_]",
            "      1046528 blocks super 1.2 [2/2] [UU]",
        ),
        (
            "Critical Warning:                   0x04",
            "Critical Warning:                   0x00",
        ),
        ("critical_warning : 0x1", "critical_warning : 0"),
        ("percentage_used : 104%", "percentage_used : 3%"),
        (
            "3 packets transmitted, 2 received, 33% packet loss",
            "3 packets transmitted, 3 received, 0% packet loss",
        ),
        ("worker exited with exit code 1", "worker exited with exit code 0"),
        (
            "pod   Exited (137) 3 minutes ago",
            "pod   Exited (0) 3 minutes ago",
        ),
        ("exitcode: -9 (pid: 812)", "exitcode: 0 (pid: 812)"),
    ]);
}

/// A state takes the bytes of its phrase: a word of an error that begins within them would be lost.
#[test]
fn no_state_hides_a_word_of_an_error() {
    for word in ERRORS {
        assert!(find_error_word(word.as_bytes()).is_some(), "{word}");
        for (phrase, _) in STATES {
            let text = format!("{phrase} {word}");
            assert!(looks_like_error(&text) || !looks_like_error(word), "{text}");
            let hides = (1..phrase.len())
                .filter(|at| phrase.is_char_boundary(*at))
                .any(|at| {
                    let end = phrase.get(at..).unwrap_or_default();
                    let begins = !phrase.as_bytes()[at - 1].is_ascii_alphanumeric();
                    begins && word.len() > end.len() && word.starts_with(end)
                });
            assert!(!hides, "{phrase} hides {word}");
        }
    }
}

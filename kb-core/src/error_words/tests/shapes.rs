//! Lines that tell of trouble by their form.

use super::{looks_like_error, only_the_first_looks_like_one};

#[test]
fn forms_of_trouble_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("GPUs healthy: 7/8", "GPUs healthy: 8/8"),
        ("healthy: 7/8", "healthy: 8/8"),
        ("INFO 7/8 healthy", "INFO 8/8 healthy"),
        ("gpu3: removed from bus", "gpu3: added to bus"),
        (
            "gpu3: thermal shutdown",
            "gpu3: thermal shutdown temperature 95 C",
        ),
        ("Thermal Shutdown : Active", "Thermal Shutdown : Not Active"),
        ("gpu3: UE=5", "gpu3: UE=0"),
        ("gpu3: CE=1 UE=2", "gpu3: CE=1 UE=0"),
        ("gpu3: UE: 5", "queue: 5"),
        ("Segmentation (core dumped)", "core count 8"),
        (
            "    33554432       8388608     float     sum      -1    160.2  209.44  392.70     12    159.8  209.98  393.71      0",
            "    33554432       8388608     float     sum      -1    160.2  209.44  392.70      0    159.8  209.98  393.71      0",
        ),
        (
            "    33554432      16777216  bfloat16    none       0    160.2  209.44  392.70      0    159.8  209.98  393.71      7",
            "    33554432      16777216  bfloat16    none       0    160.2  209.44  392.70    N/A    159.8  209.98  393.71    N/A",
        ),
    ]);
}

/// The table of older versions has the largest error there, and others have other columns.
#[test]
fn rows_of_other_tables_look_like_no_error() {
    for line in [
        "    33554432       8388608   float     sum    160.2  209.44  392.70  5e-07    159.8  209.98  393.71  5e-07",
        "1024 256 float weights loaded",
        "layer 12 float sum 3 4 5 6 7",
        "healthy: 7/8/2026",
        "probe healthy after 3/5 s",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn figures_behind_a_blank_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("step 1200 | loss nan | lr 1e-4", "step 1200 | loss 2.1 | lr 1e-4"),
        (
            "step 3 loss nan grad_norm 1.0",
            "step 3 loss nan check enabled, skip 0",
        ),
        ("epoch 1 grad_norm inf", "epoch 1 max_grad_norm inf"),
        ("train_loss inf step 3", "train_loss info step 3"),
        ("loss: nan", "lr: inf"),
        ("grad_norm: inf", "max_grad_norm: inf"),
        ("val_loss: inf", "best_val_loss: inf"),
        ("ppl inf", "norm inf = 0.1"),
        ("lm loss nan", "stop when loss nan"),
        ("[12 min] loss: inf", "[12 s] min_loss: inf"),
        ("grad_clip 1 | loss: inf", "loss 1 | grad_clip/norm: inf"),
        (r#"{"min": 1, "loss": inf}"#, r#"{"best_loss": inf}"#),
        ("loss nan steps/sec 1.2", "loss nan check"),
        ("loss nan skipped 0", "loss nan skipped"),
        ("loss nan | skipped=0", "loss nan count: 0"),
        ("loss nan steps=12", "loss nan threshold: 3"),
    ]);
}

#[test]
fn heads_of_glog_look_like_errors_by_their_level() {
    for head in [
        "F1130 12:00:00.000000 1234 file.cc:12] ",
        "E1130 12:00:00.000000    1 nvml.go:12] ",
        "E20261130 12:00:00.000000 1234 file.cpp:12] ",
        "E0000 00:00:1743742851.490303  583398 client.cc:3072] ",
        "[rank0]:[E1130 12:00:00.123456789 ProcessGroupNCCL.cpp:616] ",
    ] {
        let bad = format!("{head}gpu 3");
        let good = bad.replace("E1130", "I1130").replace("F1130", "W1130");
        let good = good.replace("E2026", "W2026").replace("E0000", "I0000");
        only_the_first_looks_like_one(&[(bad.as_str(), good.as_str())]);
    }
    for line in [
        "0xE1130 12:00:00 1 file.cc:12] gpu 3",
        "E1130 file.cc:12] gpu 3",
        "E1122 12:30:03.607000 576 torch/select_algorithm.py:3541]     choice.precompile()",
        "host:1:1 [0] NCCL INFO init.cc:12 step",
        "I1130 12:00:00.000000 1 file.cc:12] 0 failed",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn counts_and_widths_beside_what_was_wanted_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("GPU count: 7 (want 8)", "GPU count: 8 (want 8)"),
        ("expected 8, got 7", "expected 8, got 8"),
        ("want 8 but got 7 on node3", "want 8 but got 8 on node3"),
        ("expected: 8, found: 7 GPUs", "expected: 8, found: 8 GPUs"),
        ("GPUs: 7 (expected 8)", "GPU 7 (expected 8)"),
        (
            "PCIe link width: x4 (expected x16)",
            "PCIe link width: x16 (expected x16)",
        ),
        (
            "link width expected 16x, got 8x",
            "link width expected 8x, got 16x",
        ),
        ("expected 300, got 200", "latency expected 300, got 200 us"),
    ]);
    for line in [
        "NVLink bandwidth: 400 (expected 370)",
        "tile x4 (expected x16)",
        "I want to train",
    ] {
        assert!(!looks_like_error(line), "{line}");
    }
}

#[test]
fn states_of_ports_and_counts_of_memory_look_like_errors() {
    only_the_first_looks_like_one(&[
        ("mlx5_0 port 1: DOWN", "mlx5_0 port 1: UP"),
        ("ib0 link status: down", "ib0 link status: up"),
        ("NVLink 3: down", "links up: 8, link down: 0"),
        ("port 1: down", "port 1: download done"),
        ("link: down, retrying", "upload link: down 20 Mbit/s"),
        ("link 2: down", "loss scale: down"),
        ("link 3: down 2 times", "link 3: down 0 times"),
        ("port 1: DOWN 2026-11-30", "port 1: down to x8"),
        ("port 1: DOWN 00:12:01", "download link: down 1.5 MB/s, up 2 MB/s"),
        ("Volatile Uncorr. ECC : 3", "Volatile Uncorr. ECC : 0"),
        (
            "    Volatile Uncorr. ECC              : 12",
            "| Bus-Id | Volatile Uncorr. ECC |",
        ),
        ("uncorrected ECC: 1", "uncorrected ECC: N/A"),
    ]);
}

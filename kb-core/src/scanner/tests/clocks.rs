//! Prefixes and times as loggers write them.

use super::super::clock::{StampKind, read_stamp};
use super::super::prefix::read;

#[test]
fn prefixes_are_taken_off_to_the_message() {
    for prefix in [
        "",
        "2026-11-21T07:19:10.123456Z ",
        "2026-11-21 07:19:10,123 [ERROR] ",
        "[2026-11-21 07:19:10] [rank3]: ",
        "2026-11-21T07:19:10+0100 gpu-node-7 kernel: ",
        "Nov 21 07:19:10 gpu-node-7 kernel: ",
        "Nov  1 07:19:10 gpu-node-7 python3[4711]: ",
        "[ 1234.567890] ",
        "[Sat Nov 21 07:19:10 2026] ",
        "Nov 21 07:19:10 gpu-node-7 kernel: [ 1234.567890] ",
        "E0501 12:00:00.123456  1234 torch/csrc/file.cpp:77] ",
        "2026-11-21 07:19:10.000001: F tensorflow/core/device.cc:123] ",
        "[rank0]: ",
        "[default3]:",
        "[1,3]<stderr>: ",
        "3: ",
        "node-1:1234:1240 [0] ",
        "(RayWorkerWrapper pid=1234, ip=10.0.0.1) ",
        "trainer-1  | ",
        "WARNING: ",
        "INFO ",
        "kernel: ",
        "[pod/trainer-0/pytorch] ",
        "[pod/trainer-0/pytorch] [rank3]: ",
        "2026-11-21T07:19:10.123456789Z stderr F ",
        "[ 1234.567890] gpu-node-7 kernel: ",
        "Nov 21 07:19:10 gpu-node-7 nvidia-fabricmanager: ",
        "gpu-07: ",
        "10.0.0.7: ",
        "node12: 3: ",
        "[gpu-07:4711] ",
        "[gpu-07:4711:3] ",
        "[1763709550.123456] [gpu-07:4711 :0] ",
        "(VllmWorker rank=3 pid=77) ",
        "(EngineCore_0 pid=4711) ",
        "ERROR 11-21 07:19:10 [engine.py:77] ",
        "[rank0]:[E1121 07:19:10.123456789 ProcessGroupNCCL.cpp:616] ",
        "[E ProcessGroupNCCL.cpp:821] ",
        "2026-11-21 07:19:10,123 - torch.distributed - ERROR - ",
        "time=\"2026-11-21T07:19:10Z\" level=error msg=\"",
        "node-1:1234:1240 [-1] ",
    ] {
        for message in [
            "RuntimeError: CUDA error: x",
            "NVRM: Xid (PCI:0000:3b:00): 79",
            "CUDA error",
        ] {
            let line = format!("{prefix}{message}");
            let len = read(line.as_bytes()).len;
            assert_eq!(line.get(len..), Some(message), "of {line:?}");
        }
    }
}

#[test]
fn what_is_a_message_stays() {
    for line in [
        "RuntimeError: x",
        "error: linker failed",
        "Errors were found",
        "1234 files",
        "[abc] text",
        "(not a worker) x",
        "May contain nuts",
        "std::bad_alloc",
        "12:30 is the time",
        "E is a letter? Eh.",
        "http://example.org:80/x",
        "mlx5_0: port 1 is down",
        "eth0: link is not ready",
        "cuda:0 is busy",
        "[rank] of nobody",
        "stderr is full",
    ] {
        let taken = read(line.as_bytes()).len;
        let lost = &line[..taken];
        assert!(
            taken == 0 || lost == "error: " || lost == "E ",
            "{lost:?} of {line:?}"
        );
    }
}

#[test]
fn times_are_read_to_the_microsecond() {
    let micros = |text: &str, bracketed| {
        read_stamp(text.as_bytes(), bracketed).map(|(stamp, len)| (stamp.kind, stamp.micros, len))
    };
    assert_eq!(
        micros("1970-01-01T00:00:01.000002Z", false),
        Some((StampKind::Absolute, 1_000_002, 27))
    );
    assert_eq!(
        micros("1970-01-01T01:00:01+01:00 x", false),
        Some((StampKind::Absolute, 1_000_000, 25))
    );
    assert_eq!(
        micros("1970-01-01 00:00:01,5", false),
        Some((StampKind::Local, 1_500_000, 21))
    );
    assert_eq!(
        micros("1234.567890]", true),
        Some((StampKind::Boot, 1_234_567_890, 11))
    );
    assert_eq!(micros("1234.567890", false), None);
    let (_, dec, _) = micros("Dec 31 23:59:59", false).unwrap();
    let (_, jan, len) = micros("Jan  1 00:00:00 host", false).unwrap();
    assert!(jan < dec && len == 15);
    for wrong in [
        "2026-13-01 00:00:00",
        "2026-02-30 00:00:00",
        "2026-01-01 25:00:00",
        "2026-01-01",
        "Foo 1 00:00:00",
        "99999999999.000000]",
    ] {
        assert_eq!(micros(wrong, true), None, "{wrong}");
    }
}

#[test]
fn who_wrote_a_line_is_read_from_it() {
    let who = |line: &str| {
        let prefix = read(line.as_bytes());
        [prefix.unit, prefix.host, prefix.pid, prefix.rank]
            .map(|part| part.map_or("", |part| &line[part]).to_owned())
    };
    for (line, expected) in [
        ("x", ["", "", "", ""]),
        (
            "[pod/trainer-0/pytorch] [rank3]: x",
            ["trainer-0/pytorch", "trainer-0", "", "3"],
        ),
        ("trainer-1  | [rank3]: x", ["trainer-1", "", "", "3"]),
        ("12: x", ["", "", "", "12"]),
        ("[1,3]<stderr>: x", ["", "", "", "1,3"]),
        ("gpu-07:4711:4720 [3] NCCL WARN x", ["", "gpu-07", "4711", ""]),
        ("[gpu-07:4711:3] x", ["", "gpu-07", "4711", "3"]),
        (
            "[2026-11-21 07:19:10] gpu-07:4711:4720 [0] NCCL INFO x",
            ["", "gpu-07", "4711", ""],
        ),
        (
            "(RayWorkerWrapper pid=1234, ip=10.0.0.1) x",
            ["", "10.0.0.1", "1234", ""],
        ),
        (
            "Nov 21 07:19:10 gpu-node-7 python3[77]: x",
            ["", "gpu-node-7", "77", ""],
        ),
        ("Nov 21 07:19:10 gpu-node-7 slurmd: x", ["", "gpu-node-7", "", ""]),
        ("[ 1234.567890] gpu-node-7 kernel: x", ["", "gpu-node-7", "", ""]),
        ("2026-11-21T07:19:10Z stderr F error: x", ["", "", "", ""]),
        ("node-7: 3: x", ["", "node-7", "", "3"]),
    ] {
        assert_eq!(who(line), expected, "{line}");
    }
    let stream = |line: &str| read(line.as_bytes()).stream(line.as_bytes());
    assert_eq!(stream("[rank3]: x"), stream("[rank3]: another"));
    assert_ne!(stream("[rank3]: x"), stream("[rank4]: x"));
    assert_eq!(stream("2026-11-21T07:19:10Z x"), None);
}

#[test]
fn a_host_belongs_to_the_clock() {
    let line = b"Nov 21 07:19:10 gpu-node-7 kernel: x";
    let prefix = read(line);
    assert_eq!(prefix.host.map(|host| &line[host]), Some(&b"gpu-node-7"[..]));
    assert_eq!(read(b"Nov 21 07:19:10 RuntimeError: x").host, None);
}

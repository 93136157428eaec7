//! Who wrote a line, and when.

use crate::scanner::{WrittenBy, written_by};

#[test]
fn a_line_says_when_it_was_written_and_by_whom() {
    for (line, time, host, rank, gpu) in [
        (
            "Nov 21 03:02:14 gpu07 python[4121]: [rank1]: RuntimeError: x",
            Some("Nov 21 03:02:14"),
            Some("gpu07"),
            Some("1"),
            None,
        ),
        (
            "[ 1234.567890] NVRM: Xid (PCI:0000:3b:00): 79, gone",
            Some("1234.567890"),
            None,
            None,
            None,
        ),
        (
            "[rank3]: 2024-05-01 12:00:00,123 ERROR x",
            Some("2024-05-01 12:00:00,123"),
            None,
            Some("3"),
            None,
        ),
        (
            "node-1:120:241 [2] NCCL WARN Cuda failure",
            None,
            Some("node-1"),
            None,
            Some("2"),
        ),
        (
            "time=\"2024-05-01T12:00:00Z\" level=error msg=x",
            Some("2024-05-01T12:00:00Z"),
            None,
            None,
            None,
        ),
        (
            "node-1:120:241 [-1] NCCL WARN x",
            None,
            Some("node-1"),
            None,
            None,
        ),
        ("RuntimeError: 错误", None, None, None, None),
        ("", None, None, None, None),
    ] {
        let expected = WrittenBy {
            time,
            host,
            rank,
            gpu,
        };
        assert_eq!(written_by(line), expected, "{line}");
    }
}

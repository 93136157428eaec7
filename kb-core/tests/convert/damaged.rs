//! Output that is cut or damaged, and any bytes at all.

use kb_core::convert::{Format, convert};
use kb_core::report::Report;
use proptest::prelude::*;

use crate::{ALL, NCCL_TESTS, NVBANDWIDTH, NVBANDWIDTH_JSON, P2P_TEST, SIMPLE_P2P, TOPO, options, refused};

#[test]
fn what_is_cut_or_damaged_is_named_with_its_line_and_what_to_do() {
    let cut = |text: &str, at: &str| text.split_once(at).unwrap().0.to_owned();
    let cases = [
        (
            cut(NVBANDWIDTH, "SUM device_to_device_memcpy_read_ce"),
            "line 41: the output ends within device_to_device_memcpy_read_ce",
        ),
        (NVBANDWIDTH.replace("396.16    ", "39.16    "), "add up to"),
        (
            NVBANDWIDTH.replace(" 1    396.16", " 1    396.1x"),
            "is no figure",
        ),
        (cut(NVBANDWIDTH_JSON, "\"sum\" : 787"), "ends within its JSON"),
        (
            NVBANDWIDTH_JSON.replace("393.745", "39.3745"),
            "testcases/4: the figures of device_to_device_memcpy_read_ce",
        ),
        (cut(P2P_TEST, "P2P=Enabled Latency"), "ends within the tables"),
        (
            P2P_TEST.replacen("38.45  37.67", "38.45", 1),
            "row 0 of Unidirectional P2P=Disabled",
        ),
        (
            cut(SIMPLE_P2P, "Test passed"),
            "line 28: the output ends within simpleP2P",
        ),
        (
            cut(NCCL_TESTS, "# Out of bounds"),
            "ends within the table of nccl-tests",
        ),
        (
            NCCL_TESTS.replacen("1717.21", "171.721", 1),
            "line 26: 536870912 bytes in 171.721 us",
        ),
        (
            cut(TOPO, "GPU3\tNV18"),
            "ends within the table of nvidia-smi topo -m",
        ),
        (
            TOPO.replacen("GPU1\tNV18", "GPU1\tNV12", 1),
            "and the other way by something else",
        ),
        (String::new(), "--format"),
        ("{}".to_owned(), "no \"nvbandwidth\""),
    ];
    for (text, expected) in cases {
        let error = refused(&text).to_string();
        assert!(error.contains(expected), "{expected:?} is not in {error:?}");
        assert!(error.contains("; "), "says what to do: {error}");
    }
}

#[test]
fn a_format_can_be_said_where_the_head_is_missing() {
    let body = NCCL_TESTS.split_once("# Using devices").unwrap().1;
    let body = body.split_once("### alltoall").unwrap().0;
    assert!(refused(body).to_string().contains("--format"));
    let mut options = options();
    options.format = Format::of_name("nccl-tests");
    let error = convert(body.as_bytes(), &options).unwrap_err();
    assert!(error.to_string().contains("--collective"), "{error}");
    options.collective = Some("all_reduce".to_owned());
    let report = convert(body.as_bytes(), &options).unwrap();
    assert_eq!(report.measurements[0].metric, "nccl_all_reduce_bus_bandwidth");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), format in 0_usize..9) {
        let mut options = options();
        options.format = Format::ALL.get(format).copied();
        let _ = convert(&bytes, &options);
    }

    /// Cut anywhere, real output is converted or refused with what to do, and what is converted can be kept.
    #[test]
    fn cut_anywhere_it_is_converted_or_refused(which in 0..ALL.len(), part in 0.0_f64..1.0, drop in 0_usize..40) {
        let text = ALL[which].as_bytes();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place within a short text")]
        let at = (text.len() as f64 * part) as usize;
        let cut = &text[..at];
        let holed = [cut, &text[(at + drop).min(text.len())..]].concat();
        for bytes in [cut, holed.as_slice()] {
            match convert(bytes, &options()) {
                Ok(report) => {
                    let written = serde_json::to_vec(&report).unwrap();
                    prop_assert_eq!(serde_json::from_slice::<Report>(&written).unwrap(), report);
                }
                Err(error) => prop_assert!(!error.advice.is_empty()),
            }
        }
    }
}

//! Proposals for lines of real programs, and what holds for any lines.

use proptest::prelude::*;

use super::*;
use crate::signature::{PatternSpec, check};

fn proposed(lines: &[&str]) -> String {
    propose(lines.iter().copied()).unwrap().regex
}

fn holds(lines: &[&str], proposal: &Proposal) {
    let spec: PatternSpec = pattern::spec(proposal.regex.clone());
    let facts = check(&spec).unwrap();
    let names: Vec<String> = facts.captures.into_iter().map(|capture| capture.name).collect();
    assert_eq!(names, proposal.captures);
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let plain = without_colours(line);
        assert!(
            signature::first_match(&spec, [plain.as_ref()]).is_some(),
            "{} does not take {line:?}",
            proposal.regex
        );
    }
}

#[test]
fn what_varies_is_captured_and_the_prefix_is_left_out() {
    for (line, expected) in [
        (
            "[12345.678] NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus.",
            r"NVRM: Xid \(PCI:(?P<pci>[0-9a-fA-F:.]{1,16})\): 79, pid=(?P<pid>[0-9]{1,12}), GPU has fallen off the bus\.",
        ),
        (
            "2026-11-28T17:17:45Z node7 python[311]: RuntimeError: CUDA error 217 on device 3 at 0x7f00deadbeef",
            r"RuntimeError: CUDA error 217 on device (?P<device>[0-9]{1,12}) at (?P<address>[0-9a-fA-FxX]{1,18})",
        ),
        (
            "failed to open '/var/lib/zorgblat/state.db' for GPU-8f1c2d3e-0000-1111-2222-333344445555",
            r"failed to open '(?P<path>[A-Za-z0-9_.+@%=~:/\\-]{1,120})' for GPU-(?P<uuid>[0-9a-fA-F-]{1,36})",
        ),
        (
            "zorgblat: no route to 10.1.2.3:29500 from host gpu-node-17",
            r"zorgblat: no route to (?P<ip>[0-9a-fA-F:.]{1,45}):(?P<port>[0-9]{1,12}) from host (?P<host>[A-Za-z0-9.-]{1,64})",
        ),
        (
            "the key 'zorgblat_key' has no value after 600000ms",
            r"the key '(?P<key>[^\x22\x27`]{1,120})' has no value after (?P<number>[0-9]{1,12})ms",
        ),
        (
            "allreduce of rank 3 failed at /opt/x/reducer.cpp:512",
            r"allreduce of rank (?P<rank>[0-9]{1,12}) failed at (?P<path>[A-Za-z0-9_.+@%=~:/\\-]{1,120}):(?P<line>[0-9]{1,12})",
        ),
    ] {
        let proposal = propose([line]).unwrap();
        let expected = expected.replace(r"\x22\x27", "\"'");
        assert_eq!(proposal.regex, expected, "{line}");
        holds(&[line], &proposal);
    }
}

#[test]
fn what_differs_between_lines_is_left_open_and_what_is_equal_stays() {
    let lines = [
        "rank0: zorgblat timeout of op ALLREDUCE on GPU 0 after 300 s",
        "rank1: zorgblat timeout of op BROADCAST on GPU 1 after 300 s",
        "rank2: zorgblat timeout of op REDUCE_SCATTER on GPU 2 after 300 s",
    ];
    let proposal = propose(lines).unwrap();
    assert_eq!(
        proposal.regex,
        r"zorgblat timeout of op (?P<op>[A-Za-z0-9_.:/-]{1,64}) on GPU (?P<gpu>[0-9]{1,12}) after 300 s"
    );
    assert_eq!(proposal.captures, ["op", "gpu"]);
    holds(&lines, &proposal);

    let lines = [
        "wheel came off",
        "zorgblat wheel of the third cart came off and rolled away",
    ];
    assert_eq!(proposed(&lines), r"wheel .{0,80}came off");
}

#[test]
fn a_name_in_quotes_stays_where_the_message_would_say_nothing_without_it() {
    assert_eq!(proposed(&["'zorgblat_failed'"]), "'zorgblat_failed'");
    assert_eq!(
        proposed(&["\u{1b}[31mzorgblat failure\u{1b}[0m"]),
        "zorgblat failure"
    );
}

#[test]
fn the_literal_is_the_rarest_text() {
    let proposal = propose(["error 5 in the zorgblat_controller 7 of the device"]).unwrap();
    assert_eq!(proposal.literal, "in the zorgblat_controller");
}

#[test]
fn lines_without_anything_in_common_have_no_proposal() {
    assert_eq!(propose([]), Err(NoProposal::NoLines));
    assert_eq!(propose(["", "  "]), Err(NoProposal::NoLines));
    assert_eq!(propose(["alpha beta", "1234"]), Err(NoProposal::NothingShared));
    assert_eq!(propose(["12"]), Err(NoProposal::NothingShared));
    let many: Vec<String> = (0..=MOST_MESSAGES).map(|n| format!("zorgblat {n}")).collect();
    assert_eq!(propose(many.iter().map(String::as_str)), Err(NoProposal::TooMany));
}

#[test]
fn words_that_share_only_letters_are_found_by_them() {
    assert_eq!(proposed(&["1zorgblat2", "zorgblatter"]), "zorgblat");
}

#[test]
fn a_long_message_is_cut_to_what_may_be_a_signature() {
    let tail: Vec<String> = (0..200).map(|n| format!("word{n}x=\"v{n}\" {n}")).collect();
    let line = format!("the zorgblat_controller has failed {}", tail.join(" "));
    let proposal = propose([line.as_str()]).unwrap();
    assert!(proposal.regex.len() <= 800, "{}", proposal.regex);
    holds(&[&line], &proposal);
}

/// Parts as logs have them, and anything.
fn any_part() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => "[a-z]{1,8}",
        1 => "[0-9]{1,8}",
        1 => "0x[0-9a-f]{1,12}",
        1 => "/[a-z]{1,5}/[a-z.]{1,6}",
        1 => "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
        1 => "\"[a-z ]{0,6}\"",
        1 => "[\\[({:=,;.#'|\\\\^$*+?-]{1,3}",
        1 => "rank[0-9]{1,2}",
        1 => "\\PC{0,6}",
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    let blanks = prop_oneof![6 => Just(" "), 1 => Just(""), 1 => Just("  "), 1 => Just("\t")];
    prop::collection::vec((any_part(), blanks), 0..8).prop_map(|parts| {
        parts
            .into_iter()
            .flat_map(|(part, blank)| [part, blank.to_owned()])
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn lines_that_share_a_literal_are_all_matched(
        texts in prop::collection::vec((any_text(), any_text()), 1..6),
        literal in prop_oneof!["[a-z]{5,12}", "[A-Z][a-z]{3,6} [a-z]{3,8}", "[a-z]{2,4}[0-9]{2}[a-z]{2}"],
    ) {
        let lines: Vec<String> = texts.iter().map(|(before, after)| format!("{before}{literal}{after}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        match propose(lines.iter().copied()) {
            Ok(proposal) => holds(&lines, &proposal),
            Err(error) => prop_assert!(false, "{error} for {lines:?}"),
        }
    }

    #[test]
    fn any_lines_have_a_proposal_that_holds_or_a_reason(lines in prop::collection::vec(prop_oneof![any_text(), any::<String>()], 0..6)) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.contains('\n')).collect();
        match propose(lines.iter().copied()) {
            Ok(proposal) => holds(&lines, &proposal),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

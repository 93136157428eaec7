//! Errors that a program raised and that no record knows: where they are named as the first cause, and where not.

#![allow(clippy::format_collect, reason = "texts of tests are short")]

use super::super::testing::{matcher_of, record, scan_text};
use super::super::{Language, ScanOptions, Summary, UnknownCause, UnknownPart, scan};
use crate::severity::Severity;
use crate::signature::RecordSignatures;

const FRAMES: &str = "  File \"/srv/train.py\", line 7, in <module>\n    main()\n    ^^^^^^\n";
const HEAD: &str = "Traceback (most recent call last):\n";

fn records() -> Vec<RecordSignatures> {
    let mut wrapper = record("pytorch/zorg-agent-failed", "the zorgblat agent failed");
    wrapper.wraps_others = true;
    let mut notice = record("nccl/frobnitz-notice", "the frobnitz wheel is old");
    notice.notice = true;
    notice.severity = Some(Severity::Info);
    vec![
        wrapper,
        record("cuda/quux-axle-broke", "the quuxly axle broke"),
        notice,
    ]
}

fn scanned(text: &str) -> Summary {
    scan_text(&matcher_of(records()), text)
}

fn unknown(text: &str) -> Option<UnknownCause> {
    scanned(text).unknown_cause
}

/// The line of the error, and what is said of it.
fn said(text: &str) -> Option<(u64, String, UnknownPart)> {
    let found = unknown(text)?;
    let message = found.text.unwrap_or_default();
    Some((found.line, format!("{}: {message}", found.name), found.part))
}

fn traceback(error: &str) -> String {
    format!("{HEAD}{FRAMES}{error}\n")
}

fn behind(prefix: &str, text: &str) -> String {
    text.lines().map(|line| format!("{prefix}{line}\n")).collect()
}

#[test]
fn an_error_that_no_record_knows_is_told_with_its_line() {
    let text = format!("start\n{}", traceback("app.errors.BadThing: no such wheel"));
    let expected = (
        6,
        "app.errors.BadThing: no such wheel".to_owned(),
        UnknownPart::Raised,
    );
    assert_eq!(said(&text), Some(expected));
    assert!(scanned(&text).matches.is_empty(), "it is no match");
    assert_eq!(unknown("start\nend\n"), None);
    assert_eq!(
        unknown("ValueError: nobody raised it\n"),
        None,
        "a traceback is asked for"
    );
}

#[test]
fn a_wrapper_says_that_it_ended_a_program() {
    let error = behind(
        "[TRAINING] [rank3]: ",
        &traceback("TypeError: run() got 'elite_count'"),
    );
    let text = format!("{error}nothing\n[TRAINING] the zorgblat agent failed\n");
    let found = scanned(&text);
    let cause = found.unknown_cause.unwrap();
    assert_eq!((cause.line, cause.part), (5, UnknownPart::Ended));
    assert_eq!(cause.writer.rank.as_deref(), Some("3"));
    assert_eq!(
        cause.wrapped_by, found.root_cause,
        "older clients see the wrapper"
    );
    assert_eq!(found.root_causes[0].behind_line, Some(5));
}

#[test]
fn the_report_that_a_wrapper_announces_comes_before_others() {
    let early = traceback("OSError: [Errno 98] Address already in use");
    let own = traceback("RuntimeError: open: Address family not supported");
    let text = format!("{early}[11:31:26 TP13] the zorgblat agent failed: {own}");
    assert_eq!(said(&text).unwrap().0, 10);
    let announced = format!("{early}the zorgblat agent failed\n{own}");
    assert_eq!(said(&announced).unwrap().0, 11);
}

#[test]
fn a_known_error_is_the_cause_and_notices_are_none() {
    let error = traceback("TypeError: no");
    for known in [
        "the quuxly axle broke\n",
        "x: the quuxly axle broke\nthe zorgblat agent failed\n",
    ] {
        assert_eq!(unknown(&format!("{known}{error}")), None, "{known}");
        assert_eq!(unknown(&format!("{error}{known}")), None, "{known}");
    }
    assert_eq!(unknown(&traceback("RuntimeError: the quuxly axle broke")), None);
    assert!(unknown(&format!("the frobnitz wheel is old\n{error}")).is_some());
}

#[test]
fn of_chained_exceptions_the_first_counts() {
    for between in [
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ] {
        let chain = format!(
            "{}\n{between}\n\n{}",
            traceback("KeyError: 'wheel'"),
            traceback("RuntimeError: it failed")
        );
        for prefix in [
            "",
            "(EngineCore pid=208) ERROR 06-17 11:30:47 [core.py:1195] ",
            "[rank0]: ",
        ] {
            let text = behind(prefix, &chain);
            assert_eq!(said(&text).unwrap().1, "KeyError: 'wheel'", "{text}");
        }
    }
}

#[test]
fn ranks_that_write_at_the_same_time_are_told_apart() {
    let one = behind("[rank0]: ", &traceback("ValueError: of rank 0"));
    let two = behind("[rank1]: ", &traceback("TypeError: of rank 1"));
    let text: String = one
        .lines()
        .zip(two.lines())
        .map(|(a, b)| format!("{b}\n{a}\n"))
        .collect();
    let found = unknown(&text).unwrap();
    assert_eq!((found.name.as_str(), found.line), ("TypeError", 9));
    assert_eq!(found.writer.rank.as_deref(), Some("1"));
}

#[test]
fn what_the_program_goes_on_after_is_not_told() {
    let error = traceback("ImportError: libwheel.so.13: cannot open");
    let caught = behind(
        "(EngineCore pid=2) WARNING 06-25 16:32:09 [import_utils.py:408] ",
        &error,
    );
    for text in [
        caught.clone(),
        behind("W0710 22:53:36.829000 33829 api.py:900] ", &error),
        format!("--- Logging error ---\n{error}"),
        format!("Exception ignored in: <function x>\n{error}"),
        format!("Task exception was never retrieved\nfuture: <Task>\n{error}"),
    ] {
        assert_eq!(unknown(&text), None, "{text}");
    }
    let later = format!("--- Logging error ---\n[TP8] Something hit an exception: {error}");
    assert!(unknown(&later).is_some(), "the head is another writer's");
}

#[test]
fn an_interrupt_is_no_fault() {
    for text in [
        traceback("KeyboardInterrupt"),
        format!(
            "{}the zorgblat agent failed\n",
            traceback("KeyboardInterrupt: terminated")
        ),
        format!(
            "{}\nDuring handling of the above exception, another exception occurred:\n\n{}",
            traceback("_queue.Empty"),
            traceback("KeyboardInterrupt")
        ),
    ] {
        assert_eq!(unknown(&text).unwrap().part, UnknownPart::Interrupted, "{text}");
    }
}

#[test]
fn an_error_that_only_tells_of_another_process_comes_last() {
    let own = traceback("IndexError: too far");
    let around = traceback("subprocess.CalledProcessError: Command 'x' returned non-zero exit status 1.");
    assert_eq!(said(&format!("{own}{around}")).unwrap().1, "IndexError: too far");
    assert!(unknown(&around).is_some(), "alone it is all there is");
}

#[test]
fn other_languages_have_forms_of_their_own() {
    for (text, language, told) in [
        (
            "terminate called after throwing an instance of 'std::runtime_error'\n  what():  no wheel\n",
            Language::Cpp,
            "no wheel",
        ),
        (
            "thread 'main' panicked at src/main.rs:3:5:\nno wheel\n",
            Language::Rust,
            "no wheel",
        ),
        (
            "thread 'w' panicked at 'no wheel', src/main.rs:3:5\n",
            Language::Rust,
            "'no wheel', src/main.rs:3:5",
        ),
        (
            "panic: no wheel\n\ngoroutine 1 [running]:\n",
            Language::Go,
            "no wheel",
        ),
    ] {
        let found = unknown(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            (found.language, found.text.as_deref()),
            (language, Some(told)),
            "{text}"
        );
    }
    assert_eq!(unknown("they said: don't panic: it is fine\n"), None);
}

#[test]
fn colours_and_escapes_hide_nothing() {
    let coloured = behind(
        "\u{1b}[1;36m(EngineCore pid=1)\u{1b}[0;0m ",
        &traceback("TypeError: no"),
    );
    assert_eq!(unknown(&coloured).unwrap().line, 5);
    let escaped = format!(
        "{{\"log\":\"{}\"}}\n",
        traceback("TypeError: no").replace('"', "'").replace('\n', "\\n")
    );
    let quoted = escaped.replace("File '", "File \\\"").replace(".py'", ".py\\\"");
    assert_eq!(unknown(&quoted).unwrap().name, "TypeError", "{quoted}");
}

#[test]
fn frames_without_indentation_are_followed_by_their_names() {
    let flat: String = traceback("a.b.SlowError:")
        .lines()
        .map(|line| format!("[T] {}\n", line.trim()))
        .collect();
    assert_eq!(unknown(&flat).unwrap().name, "a.b.SlowError");
}

#[test]
fn a_text_that_was_not_asked_for_is_not_given_out() {
    let options = ScanOptions {
        keep_text: false,
        ..ScanOptions::default()
    };
    let found = scan(
        &matcher_of(records()),
        traceback("TypeError: secret").as_bytes(),
        options,
    );
    assert_eq!(found.unknown_cause.unwrap().text, None);
}

#[test]
fn nothing_depends_on_how_the_bytes_arrive_and_little_is_kept() {
    let text: String = (0..5_000)
        .map(|n| traceback(&format!("ValueError: {n}")))
        .collect();
    let matcher = matcher_of(records());
    let whole = scan_text(&matcher, &text).unknown_cause;
    let mut scanner = matcher.scanner(ScanOptions::default());
    for piece in text.as_bytes().chunks(977) {
        scanner.feed(piece);
    }
    assert!(whole.is_some());
    assert_eq!(scanner.finish().unknown_cause, whole);
    // Heads that nothing follows are given up.
    assert_eq!(unknown(&HEAD.repeat(10_000)), None);
}

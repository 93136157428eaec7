//! Texts that other programs have written down in a way that hides an error.

use super::super::testing::{matcher, scan_text};
use super::super::{LONG_LINE_BYTES, Match, Summary};

const MESSAGE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

/// The only match of a text.
fn only(text: &str) -> Match {
    let summary: Summary = scan_text(&matcher(), text);
    assert_eq!(summary.matches.len(), 1, "{text:.300}");
    summary.matches[0].clone()
}

fn lines_of(found: &Match) -> Vec<u64> {
    found.lines.iter().map(|line| line.line).collect()
}

fn array(text: &str) -> String {
    let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
    format!("[{}]", bytes.join(","))
}

#[test]
fn a_message_as_an_array_of_bytes_is_read() {
    let coloured = array(&format!("\u{1b}[31mERROR\u{1b}[0m\n{MESSAGE}\n"));
    let line = format!("{{\"_HOSTNAME\":\"a\",\"MESSAGE\":{coloured},\"PRIORITY\":\"3\"}}");
    let text = format!("{{\"MESSAGE\":\"hello\"}}\n{line}\n");
    let found = only(&text);
    assert_eq!((found.count, lines_of(&found)), (1, vec![2]));
    let first = &found.lines[0];
    let place = |at: usize| u64::try_from(at).unwrap();
    assert!(place(text.find(&coloured).unwrap()) < first.start, "{first:?}");
    assert!(first.end <= place(text.len()), "{first:?}");
    let long = array(&format!("{}{MESSAGE}", "x ".repeat(LONG_LINE_BYTES)));
    assert_eq!(only(&format!("{{\"MESSAGE\":{long}}}\n")).count, 1);
    let tokens = format!("{{\"tokens\":{}}}", array(MESSAGE));
    assert_eq!(scan_text(&matcher(), tokens).matches, []);
}

#[test]
fn control_characters_as_rsyslog_writes_them_are_read() {
    let text = format!(
        "May  1 10:00:00 host app: step#0121\nMay  1 10:00:00 host app: #033[31m{}#033[0m#015\n",
        MESSAGE
            .replace("CUDA", "#033[1mCUDA#033[0m")
            .replace("access is", "access#033[K is")
    );
    assert_eq!(lines_of(&only(&text)), [2]);
}

fn cri(stream: &str, flag: char, text: &str) -> String {
    format!("2024-05-01T00:00:00.123456789Z {stream} {flag} {text}\n")
}

#[test]
fn partial_lines_of_a_container_are_put_together() {
    let (a, rest) = MESSAGE.split_at(45);
    let (b, c) = rest.split_at(11);
    for (text, lines) in [
        (cri("stderr", 'P', a) + &cri("stderr", 'F', rest), vec![1]),
        (
            cri("stdout", 'F', "step 1")
                + &cri("stderr", 'P', a)
                + &cri("stdout", 'F', "step 2")
                + &cri("stderr", 'P', b)
                + &cri("stdout", 'P', "step")
                + &cri("stderr", 'F', c),
            vec![2],
        ),
        // As containerd cuts, at 16 KiB.
        (
            format!(
                "a line\n{}",
                cri("stderr", 'P', &format!("{}{a}", "x ".repeat(8 << 10)))
            ) + &cri("stderr", 'F', rest),
            vec![2],
        ),
        (
            cri("stderr", 'P', &"x ".repeat(8 << 10)).repeat(9)
                + &cri("stderr", 'P', &format!("{}{a}", "x ".repeat(8 << 10)))
                + &cri("stderr", 'F', rest),
            vec![10],
        ),
    ] {
        let found = only(&text);
        assert_eq!((found.count, lines_of(&found)), (1, lines), "{text:.300}");
    }
    let found = only(&(cri("stderr", 'P', a) + &cri("stdout", 'F', "step") + &cri("stderr", 'F', rest)));
    let parts: Vec<u64> = found.lines[0].parts.iter().map(|part| part.line).collect();
    assert_eq!(parts, [3], "the line behind the cut");
}

#[test]
fn lines_of_another_stream_or_behind_a_whole_one_are_not_put_together() {
    let (a, b) = MESSAGE.split_at(45);
    for text in [
        cri("stderr", 'P', a) + &cri("stdout", 'F', b),
        cri("stderr", 'F', a) + &cri("stderr", 'F', b),
        cri("stderr", 'P', a) + &cri("stderr", 'F', "") + &cri("stderr", 'F', b),
    ] {
        assert_eq!(scan_text(&matcher(), &text).matches, [], "{text}");
    }
    let whole = cri("stderr", 'P', &format!("{MESSAGE} ")) + &cri("stderr", 'F', "and more");
    assert_eq!(only(&whole).count, 1, "found on its line, and not again");
}

/// A line as Docker's json-file driver writes it.
fn docker(stream: &str, text: &str) -> String {
    let log = serde_json::to_string(text).unwrap();
    format!("{{\"log\":{log},\"stream\":\"{stream}\",\"time\":\"2024-05-01T00:00:00.123456789Z\"}}\n")
}

#[test]
fn lines_that_docker_has_cut_are_put_together() {
    let (a, rest) = MESSAGE.split_at(45);
    let long = format!("{}{a}", "x\t".repeat(8 << 10));
    let end = format!("{rest}\n");
    for (text, lines) in [
        (docker("stderr", a) + &docker("stderr", &end), vec![1]),
        (
            docker("stdout", "step 1\n")
                + &docker("stderr", &long)
                + &docker("stdout", "step 2\n")
                + &docker("stderr", &end),
            vec![2],
        ),
        (
            docker("stderr", &"x ".repeat(8 << 10)).repeat(9)
                + &docker("stderr", &long)
                + &docker("stderr", &end),
            vec![10],
        ),
    ] {
        let found = only(&text);
        assert_eq!((found.count, lines_of(&found)), (1, lines), "{text:.300}");
    }
    for text in [
        docker("stderr", a) + &docker("stdout", &end),
        docker("stderr", &format!("{a}\n")) + &docker("stderr", &end),
        docker("stderr", a) + &docker("stderr", "\n") + &docker("stderr", &end),
        // A backslash and a letter are no end of a line.
        docker("stdout", &format!("{a}\\n")) + &docker("stderr", &end),
    ] {
        assert_eq!(scan_text(&matcher(), &text).matches, [], "{text}");
    }
}

//! A policy that is read, and what is refused.

use super::*;

fn faults(text: &str) -> Vec<String> {
    match read(text, &["site/own"]) {
        Ok(_) => Vec::new(),
        Err(FileError(faults)) => faults
            .into_iter()
            .map(|fault| format!("{}: {}", fault.line, fault.told))
            .collect(),
    }
}

#[test]
fn a_policy_is_read_whole() {
    let text = "models = [\"NVIDIA X900\"]\n[[rule]]\ncode = \"xid 63\"\nis = \"fault\"\ncount = 3\nwindow = \"24h\"\n\
                model = \"NVIDIA X900\"\nlabel = { pool = \"test\" }\nreason = \"seen often\"\n\
                [[rule]]\ncode = \"site/own\"\nis = \"ignore\"\nreason = \"ours\"\n";
    let policy = read(text, &["site/own"]).unwrap();
    let first = policy.rules.first().unwrap();
    assert_eq!(
        (first.number, first.count, first.window_seconds),
        (1, Some(3), Some(86_400))
    );
    assert_eq!(first.label.get("pool").map(String::as_str), Some("test"));
    assert_eq!(policy.rules.len(), 2);
    assert_eq!(read("# nothing\n", &[]).unwrap(), Policy::default());
}

#[test]
fn what_is_not_understood_is_refused_with_line_and_nearest_name() {
    let good = "[[rule]]\ncode = \"xid 63\"\nis = \"event\"\nreason = \"x\"\n";
    for (text, told) in [
        ("rule = 1\n".to_owned(), "1: rules are written as [[rule]]"),
        (
            "[[rules]]\ncode = \"xid 63\"\n".to_owned(),
            "1: \"rules\" is no key of the file: did you mean rule?",
        ),
        (
            good.replace("reason", "reasons"),
            "4: \"reasons\" is no key of a rule: did you mean reason?",
        ),
        (good.replace("reason = \"x\"\n", ""), "1: the rule has no reason"),
        (
            good.replace("event", "evnt"),
            "3: is = \"evnt\" says nothing: did you mean event?",
        ),
        (
            good.replace("xid 63", "xid 6300"),
            "2: `xid 6300` is no Xid that a record is about; did you mean",
        ),
        (good.replace("xid 63", "remap_pendin"), "2: `remap_pendin` is no"),
        (
            good.replace("\"x\"", "7"),
            "4: reason is a text in quotation marks",
        ),
        (format!("{good}count = \"3\"\n"), "5: count is a whole number"),
        (
            format!("{good}count = 3\nwindow = \"1 week\"\n"),
            "6: window = \"1 week\" is no time",
        ),
        (
            format!("{good}count = 3\nwindow = \"1h\"\n"),
            "5: rule 1, count: below a count it is an event",
        ),
        (format!("{good}label = []\n"), "5: label names labels"),
        (format!("{good}label = {{ }}\n"), "5: label is empty"),
        (format!("{good}model = \"NVIDIA H20O\"\n"), "5: rule 1, model: "),
        (
            format!("{good}\n{good}"),
            "7: rule 2, code: it never applies: rule 1",
        ),
        (
            good.replace("xid 63", "xid 79"),
            "3: rule 1, is: xid 79 tells of a GPU that is lost",
        ),
        (
            good.replace("xid 63", "load_fault"),
            "3: rule 1, is: load_fault tells of a proof that failed",
        ),
        ("[[rule]]\ncode = \n".to_owned(), "2: this is not TOML"),
        (good.replace("is =", "code ="), "this is not TOML"),
    ] {
        let found = faults(&text);
        assert!(
            found
                .iter()
                .any(|fault| fault.starts_with(told) || fault.contains(told)),
            "{told}: {found:?}"
        );
    }
}

#[test]
fn a_file_without_end_is_refused() {
    let long = "#".repeat(MAX_BYTES + 1);
    assert!(faults(&long).iter().any(|fault| fault.contains("the limit is")));
    let deep = format!("models = {}1{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(!faults(&deep).is_empty());
}

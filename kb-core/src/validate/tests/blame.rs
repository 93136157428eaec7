//! What is at fault, and what is disputed.

use super::*;

fn dispute(pointer: &str) -> String {
    format!(r#"{{"pointer": "{pointer}", "why": "it does harm", "source": "https://example.org/"}}"#)
}

#[test]
fn a_record_of_an_xid_says_what_is_at_fault() {
    for code in ["Xid 79", "SXid 20034", "xid 154"] {
        let coded = put(ANNEX, "/codes", &format!("[\"{code}\"]"));
        let at = "/at_fault".to_owned();
        assert_eq!(
            rules(DOCUMENT, &coded),
            [(at.clone(), "no-blame", Severity::Warning)]
        );
        // In a folder, as kb-seed is one, the record is refused.
        let files = [
            ("cuda/good.json", DOCUMENT),
            ("cuda/good.ext.json", coded.as_str()),
        ];
        let found = check_set(files).into_iter().map(|found| found.violation);
        let of_rule = found.filter(|violation| violation.rule == "no-blame");
        let of_rule: Vec<_> = of_rule
            .map(|violation| (violation.pointer, violation.severity))
            .collect();
        assert_eq!(of_rule, [(at, Severity::Error)]);
        let blamed = put(
            &coded,
            "/at_fault",
            r#"{"who": "gpu", "source": "https://example.org/"}"#,
        );
        assert_eq!(rules(DOCUMENT, &blamed), []);
    }
    for code in ["Xid", "error 79", "Xid many"] {
        let found = rules(DOCUMENT, &put(ANNEX, "/codes", &format!("[\"{code}\"]")));
        assert!(
            found.iter().all(|(_, rule, _)| *rule != "no-blame"),
            "{code}: {found:?}"
        );
    }
    let named = put(DOCUMENT, "/error_code", "\"Xid 79\"");
    assert_eq!(
        rules(&named, ANNEX),
        [("/at_fault".to_owned(), "no-blame", Severity::Warning)]
    );
}

#[test]
fn a_dispute_leads_to_a_statement_that_can_be_struck() {
    let disputing = |disputes: &str| rules(DOCUMENT, &put(ANNEX, "/disputes", &format!("[{disputes}]")));
    for pointer in ["/root_cause", "/dead_ends/0"] {
        assert_eq!(disputing(&dispute(pointer)), [], "{pointer}");
    }
    for (pointer, rule) in [
        ("/workarounds/9", "dispute-of-nothing"),
        ("/signature", "dispute-elsewhere"),
        ("/dead_ends", "dispute-elsewhere"),
        ("/dead_ends/0/action", "dispute-elsewhere"),
        ("dead_ends/0", "pointer"),
    ] {
        let at = ("/disputes/0/pointer".to_owned(), rule, Severity::Error);
        assert_eq!(disputing(&dispute(pointer)), [at], "{pointer}");
    }
    let twice = format!("{0}, {0}", dispute("/root_cause"));
    let at = ("/disputes/1/pointer".to_owned(), "dispute-twice", Severity::Error);
    assert_eq!(disputing(&twice), [at]);
    let no_page = r#"{"pointer": "/root_cause", "why": "no", "source": "a book"}"#;
    assert_eq!(
        disputing(no_page),
        [("/disputes/0/source".to_owned(), "url", Severity::Error)]
    );
    let english = dispute("/root_cause").replace("\"why\"", "\"why_zh\": \"no\", \"why\"");
    assert_eq!(
        disputing(&english),
        [("/disputes/0/why_zh".to_owned(), "not-chinese", Severity::Warning)]
    );
}

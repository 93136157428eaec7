//! What is refused and why, and that required literals stand in everything a pattern matches.

use proptest::prelude::*;
use proptest::string::string_regex;
use regex_automata::Input;

use super::*;

fn spec(regex: &str, flags: &str) -> PatternSpec {
    PatternSpec {
        id: "0".to_owned(),
        regex: regex.to_owned(),
        flags: flags.to_owned(),
        captures: Vec::new(),
    }
}

/// The required literals as text: clauses joined by ` & `, alternatives by `|`.
fn required(regex: &str, flags: &str) -> String {
    let facts = check(&spec(regex, flags)).unwrap();
    let clause = |clause: &Clause| {
        let texts = clause
            .iter()
            .map(|text| String::from_utf8_lossy(text).into_owned());
        texts.collect::<Vec<_>>().join("|")
    };
    facts.required.iter().map(clause).collect::<Vec<_>>().join(" & ")
}

#[test]
fn required_literals_are_read_from_the_pattern() {
    for (regex, flags, expected) in [
        (
            "peer access is not supported",
            "i",
            "peer access is not supported",
        ),
        (
            r"Peer access from GPU:\d+ to GPU:\d+ is not",
            "i",
            "peer access from gpu: &  to gpu: &  is not",
        ),
        ("out of memory|OOM killed", "", "oom killed|out of memory"),
        ("(?:foo|bar)baz", "", "barbaz|foobaz"),
        ("foo.*(?:bar|quux).*baz", "", "foo & bar|quux & baz"),
        ("devices? lost", "", "device lost|devices lost"),
        ("(?:abc){2,}def", "", "abc & def"),
        ("(?:abc)*defg", "", "defg"),
        ("^NVRM: Xid$", "", "nvrm: xid"),
        ("(?i)mask sky", "", "mask sky"),
        ("[Kk]ernel [0-9]+ panic", "", "kernel  &  panic"),
        (
            "long .* alternative one|short two",
            "",
            " alternative one|short two",
        ),
        ("显存不足", "i", "显存不足"),
        // Of two clauses of one branch the longer is kept; a wildcard in the middle keeps both outside alternations.
        ("one\nline|other line", "", "other line"),
        (r"error (?:0x[0-9a-f]+ )?at\b", "", "error  & at"),
    ] {
        assert_eq!(required(regex, flags), expected, "of {regex:?}");
    }
}

#[test]
fn what_cannot_be_a_signature_is_refused_with_its_rule() {
    let nested = format!("{}a{}", "(".repeat(100), ")".repeat(100));
    let long = "a".repeat(5_000);
    for (regex, flags, rule) in [
        ("(", "", "pattern/syntax"),
        ("a(?=b)c", "", "pattern/syntax"),
        (r"(a)\1", "", "pattern/syntax"),
        ("abc", "g", "pattern/flag"),
        (nested.as_str(), "", "pattern/nesting"),
        (long.as_str(), "", "pattern/too-long"),
        (r"abc(?:\w{1000}){1000}", "", "pattern/too-large"),
        ("", "", "pattern/no-literal"),
        (".*", "", "pattern/no-literal"),
        (r"\d+", "", "pattern/no-literal"),
        ("ab", "", "pattern/no-literal"),
        ("(?:error)?", "", "pattern/no-literal"),
        (r"out of memory|\d+", "", "pattern/no-literal"),
        ("out of memory|", "", "pattern/no-literal"),
        ("a.b.c.d.e", "", "pattern/no-literal"),
        ("[a&&b]abc?", "", "pattern/no-literal"),
        (r"(?:first line\nsecond line)", "", "pattern/line-break"),
        (r"first line\nsecond line|one\ntwo", "", "pattern/line-break"),
        (r"only this line\n", "", "pattern/line-break"),
        (r"first line\n\d+", "", "pattern/no-literal"),
        (r"(?<a>foo)(?<b>bar)|(?<c>q)uux", "", ""),
    ] {
        let got = check(&spec(regex, flags)).map_or_else(|error| error.rule, |_| "");
        assert_eq!(got, rule, "of {regex:.40?}");
    }
}

#[test]
fn captures_are_the_named_groups_and_those_that_get_a_name() {
    let names = |regex: &str, given: &[&str]| {
        let mut spec = spec(regex, "");
        spec.captures = given.iter().map(|name| (*name).to_owned()).collect();
        check(&spec).map(|facts| {
            let pairs = facts
                .captures
                .into_iter()
                .map(|capture| (capture.group, capture.name));
            pairs.collect::<Vec<_>>()
        })
    };
    assert_eq!(names(r"gpu (\d+) of (\d+)", &[]).unwrap(), []);
    assert_eq!(
        names(r"gpu (\d+) of (\d+)", &["gpu"]).unwrap(),
        [(1, "gpu".to_owned())]
    );
    assert_eq!(
        names(r"gpu (\d+) (?<bus>\w+) of (\d+)", &["gpu", "count"]).unwrap(),
        [
            (1, "gpu".to_owned()),
            (2, "bus".to_owned()),
            (3, "count".to_owned())
        ]
    );
    for (regex, given) in [
        (r"gpu \d+", &["gpu"][..]),
        (r"gpu (\d+) (\d+)", &["gpu", "gpu"]),
        (r"gpu (?<gpu>\d+) (\d+)", &["gpu"]),
        (r"gpu (\d+)", &["1st"]),
        (r"gpu (\d+)", &[""]),
    ] {
        assert_eq!(
            names(regex, given).unwrap_err().rule,
            "pattern/captures",
            "{regex} {given:?}"
        );
    }
}

#[test]
fn errors_say_what_is_wrong_and_what_to_do() {
    let error = check(&spec("abc(", "")).unwrap_err().to_string();
    assert_eq!(
        error,
        "does not parse at byte 3: unclosed group; write Rust regex syntax; there is no look-around and no back-reference"
    );
    let error = check(&spec("x|abc", "")).unwrap_err().to_string();
    assert!(error.contains("every branch"), "{error}");
}

/// Patterns put together from small parts, so that every way through the tree is taken.
fn any_pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => Just("abc".to_owned()),
        1 => Just("Sk".to_owned()),
        1 => Just("x".to_owned()),
        1 => Just("[0-9]".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("[sk]".to_owned()),
        1 => Just("é".to_owned()),
        1 => Just("[a-z]".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (
                inner.clone(),
                prop_oneof![
                    Just("?"),
                    Just("{0,1}"),
                    Just("*"),
                    Just("+"),
                    Just("{2}"),
                    Just("{0,2}")
                ]
            )
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
            inner.prop_map(|part| format!("({part})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn every_match_holds_a_literal_of_every_clause(
        (regex, text, folded) in any_pattern().prop_flat_map(|regex| {
            let texts = string_regex(&regex).unwrap();
            (Just(regex), texts, any::<bool>())
        })
    ) {
        let spec = spec(&regex, if folded { "i" } else { "" });
        let text = if folded { text.to_uppercase() } else { text };
        if let Ok(facts) = facts(&spec) {
            let lower = text.to_ascii_lowercase();
            for clause in &facts.required {
                let holds = clause.iter().any(|literal| memchr::memmem::find(lower.as_bytes(), literal).is_some());
                prop_assert!(holds, "{text:?} of {regex:?} has none of {clause:?}");
            }
            prop_assert!(compile(&spec, Texts::Any).unwrap().regex.is_match(text.as_bytes()), "{text:?} of {regex:?}");
        }
    }

    #[test]
    fn on_ascii_the_smaller_form_of_a_pattern_matches_the_same(
        (regex, text) in any_pattern().prop_flat_map(|regex| {
            let texts = string_regex(&regex).unwrap();
            (Just(regex), texts)
        }),
        noise in r"[ -~\t]{0,8}",
        looks in prop::sample::select(vec![("", ""), (r"\b", r"\b"), (r"(?u:\w)\W", ""), (r"[^\n]*?", r"[^\n]*"), ("(?<x>.*)", "(?:k|\u{17f})*")]),
        folded in any::<bool>(),
    ) {
        let spec = spec(&format!("{}{regex}{}", looks.0, looks.1), if folded { "i" } else { "" });
        let line = format!("{noise}{text}{noise}").replace(|c: char| !c.is_ascii(), "k");
        let slots = |texts| {
            let compiled = compile(&spec, texts).unwrap();
            let mut slots = vec![None; compiled.regex.group_info().slot_len()];
            compiled.regex.search_slots(&Input::new(&line), &mut slots);
            (compiled.gaps, slots)
        };
        prop_assert_eq!(slots(Texts::Ascii), slots(Texts::Any), "{} on {:?}", spec.regex, line);
    }

    #[test]
    fn literals_are_read_from_the_quick_tree_as_from_the_other(
        parts in prop::collection::vec(
            prop_oneof![
                3 => any_pattern(),
                2 => prop::sample::select(vec![".*", ".+", ".*?", "(?s:.)*", r"\b", "^", "$", r"\s*", r"\w+", r"\d+", "[^\"]+", r"\S", "(?-i:Sk)", r"\.", "(?u:Sk)",
                    "(?i-u:Sk)", "(?u)sk", r"[^\S\r\n]", r"[^\S\r\n]+", r"[^\Wa-zA-Z0-9]", r"[\s&&[^\r\n]]", r"[\d--[0-7]]", r"[^\r\n[^\s]]",
                    r"[\S \t\r\v\f]*", r"(?:foo|[\w&&[^a-zA-Z0-9_]])", r"[^\w]", r"[\w.]+", "[[:space:]]", "[^[:^space:]]"])
                    .prop_map(str::to_owned),
            ],
            1..5,
        ),
        folded in any::<bool>(),
    ) {
        let spec = spec(&parts.concat(), if folded { "i" } else { "" });
        let read = |tree: &regex_syntax::hir::Hir| {
            let read = (required::required(tree), chains::chains(tree), groups::named_groups(tree));
            (format!("{read:?}"), tree.properties().look_set().contains_anchor())
        };
        let quick = quick::parse_for_literals(&spec).unwrap();
        prop_assert_eq!(read(&quick), read(&parse::parse(&spec).unwrap()), "{}", spec.regex);
    }

    #[test]
    fn no_text_makes_the_check_panic(regex in ".{0,60}", flags in "[imsxg]{0,3}") {
        let _ = check(&spec(&regex, &flags));
    }
}

/// What a text made against a pattern costs is counted in ways to go on, whatever the machine.
#[test]
fn a_pattern_that_keeps_many_ways_open_is_refused() {
    for costly in [
        "error.{0,1000}failed.{0,1000}done",
        "(?:error.{0,1000}failed.{0,1000}done|never)",
        "(?:abc|error.{0,1000}failed.{0,1000}done)foo",
        "(?:abc|(?:def|error.{0,1000}failed.{0,1000}done)foo)bar",
        "(?:abc|error.{0,1000})failed.{0,1000}done",
        "(?:error.{0,1000}failed.{0,1000}done)?foo",
        "(?:abc|e.{0,300}failed){1,2}foo",
        "e.{0,300}failed",
        r"[a-z]{1,300}widget",
    ] {
        let refused = check(&spec(costly, "")).unwrap_err();
        assert_eq!(refused.rule, "pattern/too-costly", "{costly}");
        assert!(refused.to_string().contains("ways to go on"), "{refused}");
    }
    for fine in [
        "error.{0,80}failed.{0,80}done",
        "error.*failed.*done",
        r"widget[a-z]{1,40}[0-9]{1,40}x",
        "(?:out of memory|no memory left)",
        "(?:abc|error.{0,80}failed.{0,80}done)?foo",
    ] {
        check(&spec(fine, "")).unwrap();
        check(&spec(fine, "i")).unwrap();
    }
    // Each line of several is asked by itself.
    let lines = check(&spec(r"widget\n[^\n]{0,60}error.{0,1000}failed.{0,1000}done", ""));
    assert_eq!(lines.unwrap_err().rule, "pattern/too-costly");
}

/// Each branch is tried once: twenty choices of two are not a million texts.
#[test]
fn the_branches_of_a_pattern_are_tried_one_by_one() {
    let texts = |regex: &str, most| {
        let tree = parse::parse(&spec(regex, "")).unwrap();
        beginnings::beginnings(&tree, most).map(|texts| texts.len())
    };
    let choices = |count: usize| "(?:alpha|beta)[0-9]".repeat(count);
    // A text ends at each choice after the first, and at the last letter; each other branch changes those after it.
    for count in [1, 2, 4, 20] {
        assert_eq!(
            texts(&choices(count), 1_000),
            Some(count + count * (count + 1) / 2)
        );
    }
    assert_eq!(texts(&choices(20), 100), None);
    assert_eq!(texts("(?:alpha|beta|gamma)", 100), Some(0));
    let copies = "(?:(?:(?:(?:ab|cd){64}[0-9]){64}x){64}y){64}";
    assert!(texts(copies, 1_000).is_some_and(|texts| texts > 0));
    let refused = check(&spec(&format!("{}foo", choices(60)), "")).unwrap_err();
    assert!(refused.to_string().contains("ways"), "{refused}");
}

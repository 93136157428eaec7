//! The files of the two languages have the keys and arguments that Rust asks for, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{english_in, messages, parse};
use crate::render::i18n::bundle::{Bundle, FILES};
use crate::render::i18n::{
    Language, account, answer, baseline, edit, facets, failure, feedback, field, files, fleet, graph,
    history, kept, lookup, moves, reason, record, report, search, shared, site, tab, table::Key, terms,
    unmatched, workbench,
};
use crate::render::words::is_chinese;

fn keys() -> Vec<Key> {
    [
        account::Words::keys(),
        answer::Words::keys(),
        baseline::Words::keys(),
        edit::Words::keys(),
        facets::Words::keys(),
        failure::Words::keys(),
        feedback::Words::keys(),
        field::Words::keys(),
        fleet::Words::keys(),
        graph::Words::keys(),
        history::Words::keys(),
        kept::Words::keys(),
        lookup::Words::keys(),
        moves::Words::keys(),
        reason::Words::keys(),
        record::Words::keys(),
        report::Words::keys(),
        search::Words::keys(),
        shared::Words::keys(),
        site::Words::keys(),
        files::Words::keys(),
        tab::Words::keys(),
        terms::Words::keys(),
        unmatched::Words::keys(),
        workbench::Words::keys(),
    ]
    .concat()
}

#[test]
fn each_key_is_in_both_languages_with_the_same_arguments_and_in_rust() {
    let names = |key: &Key| key.arguments.iter().map(|(name, _)| (*name).to_owned()).collect();
    let in_rust: BTreeSet<(String, BTreeSet<String>)> = keys()
        .into_iter()
        .map(|key| (key.key.clone(), names(&key)))
        .collect();
    for (part, english, chinese) in FILES {
        let of_part = in_rust
            .iter()
            .filter(|(key, _)| key.split('-').next() == Some(part));
        let of_part: BTreeSet<_> = of_part.cloned().collect();
        for (language, file) in [("en", english), ("zh", chinese)] {
            let messages = parse(file).into_iter();
            let in_file: BTreeSet<_> = messages.map(|message| (message.key, message.arguments)).collect();
            let wrong: Vec<_> = in_file.symmetric_difference(&of_part).collect();
            assert!(
                wrong.is_empty(),
                "{language}/{part}.ftl and i18n/{part}.rs differ in {wrong:?}"
            );
        }
    }
    let is_read =
        |(key, _): &&(String, _)| FILES.iter().any(|(part, ..)| key.split('-').next() == Some(part));
    assert_eq!(in_rust.iter().filter(is_read).count(), in_rust.len());
}

#[test]
fn an_argument_that_selects_a_variant_is_a_number() {
    let keys: BTreeMap<String, Key> = keys().into_iter().map(|key| (key.key.clone(), key)).collect();
    for (english, chinese) in messages() {
        for selector in english.selectors.union(&chinese.selectors) {
            let is_number = |(name, kind): &(&str, &str)| name == selector && *kind == "u64";
            let arguments = &keys[&english.key].arguments;
            assert!(arguments.iter().any(is_number), "{} {selector}", english.key);
        }
    }
}

#[test]
fn every_message_is_formatted_without_errors_and_without_isolation_marks() {
    for language in [Language::English, Language::Chinese] {
        for key in keys() {
            let message = Bundle::of(language).message(&key.key);
            for number in [0_u64, 1, 2, 1_200] {
                let values = key.arguments.iter().map(|(name, kind)| match *kind {
                    "u64" => (*name, number.into()),
                    _ => (*name, "`a`".into()),
                });
                let mut errors = Vec::new();
                let text = message.format_and_report(values, &mut errors);
                assert!(errors.is_empty(), "{} {errors:?}", key.key);
                assert!(!text.contains(['\u{2068}', '\u{2069}']), "{} {text}", key.key);
                assert!(!text.contains(['{', '}']), "{} {text}", key.key);
            }
        }
    }
}

#[test]
fn chinese_texts_are_chinese_and_english_ones_are_not() {
    for (english, chinese) in messages() {
        let key = english.key;
        assert!(english.forms != [""] || chinese.forms != [""], "{key}");
        for form in &chinese.forms {
            let left = english_in(form);
            assert!(left.is_empty(), "{key} says {left:?} in Chinese");
        }
        for form in &english.forms {
            assert!(!is_chinese(form), "{key}: {form}");
        }
    }
}

#[test]
fn no_file_is_left_out() {
    let known: BTreeSet<String> = FILES.iter().map(|(part, ..)| format!("{part}.ftl")).collect();
    for folder in ["en", "zh"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("locales").join(folder);
        let names = std::fs::read_dir(folder).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        assert_eq!(names.collect::<BTreeSet<_>>(), known);
    }
}

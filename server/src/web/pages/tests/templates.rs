//! Templates have no words of their own.

use std::path::Path;

use super::texts;
use crate::render::i18n::tests::english_in;

const ENGLISH_ONLY: [&str; 2] = ["api.html", "problems.html"];

#[test]
fn templates_have_no_words_of_their_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates");
    let mut read = 0;
    for folder in ["", "pages", "partials"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.extension().is_none_or(|end| end != "html") || ENGLISH_ONLY.contains(&name.as_str()) {
                continue;
            }
            read += 1;
            let template = without_askama(&std::fs::read_to_string(&path).unwrap());
            for text in texts(&template) {
                let left = english_in(&text);
                assert!(left.is_empty(), "{name} says {left:?}: {text}");
            }
        }
    }
    assert!(read > 10, "{read} templates were found");
}

/// A template without expressions, statements and comments.
fn without_askama(template: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(start) = rest
        .find("{{")
        .into_iter()
        .chain(rest.find("{%"))
        .chain(rest.find("{#"))
        .min()
    {
        let (before, opened) = rest.split_at(start);
        out.push_str(before);
        let end = match &opened[..2] {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        rest = opened.split_once(end).unwrap().1;
    }
    out + rest
}

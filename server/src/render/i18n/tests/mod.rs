//! The files of the two languages fit the keys in Rust and each other.

use std::collections::BTreeSet;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

use super::bundle::FILES;

mod files;

/// Words that are the same in Chinese: names, units, and what stands in files and on screens.
const NAMES: &[&str] = &[
    "AI", "API", "BY", "CC", "CEL", "CNS", "CUDA", "DEBUG", "DISABLE", "DOT", "DR", "English", "GB", "GNS",
    "GPU", "GiB", "GraphML", "ID", "INFO", "IPC", "JSON", "Markdown", "NCCL", "NS", "NVIDIA", "NVLink",
    "NVML", "NVSwitch", "OK", "OpenAPI", "P2P", "PCI", "PCIe", "Peerless", "Rust", "SHARP", "SM", "TNS", "U",
    "UUID", "Xid", "dev", "dmesg", "gz", "ndjson", "s", "shm", "zip", "zst",
];

/// Words that no reader of Chinese would write so.
pub(crate) fn english_in(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.chars().any(|c| c.is_ascii_alphabetic()) && !NAMES.contains(word))
        // `1e9` and the like.
        .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

pub(crate) struct Parsed {
    pub(crate) key: String,
    arguments: BTreeSet<String>,
    selectors: BTreeSet<String>,
    /// Every sentence that it can be, with `{}` for a value.
    pub(crate) forms: Vec<String>,
}

/// The messages of a file, which holds nothing but messages and comments.
fn parse(file: &str) -> Vec<Parsed> {
    let mut all = Vec::new();
    for entry in fluent_syntax::parser::parse(file).unwrap().body {
        match entry {
            Entry::Message(message) => {
                let mut parsed = Parsed {
                    key: message.id.name.to_owned(),
                    arguments: BTreeSet::new(),
                    selectors: BTreeSet::new(),
                    forms: Vec::new(),
                };
                parsed.forms = forms(&message.value.unwrap(), &mut parsed);
                assert!(message.attributes.is_empty(), "{}", parsed.key);
                all.push(parsed);
            }
            Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
            other => panic!("{other:?}"),
        }
    }
    all
}

fn forms(pattern: &Pattern<&str>, parsed: &mut Parsed) -> Vec<String> {
    let mut all = vec![String::new()];
    for element in &pattern.elements {
        let next = match element {
            PatternElement::TextElement { value } => vec![(*value).to_owned()],
            PatternElement::Placeable { expression } => match expression {
                Expression::Inline(InlineExpression::StringLiteral { value }) => vec![(*value).to_owned()],
                Expression::Inline(value) => {
                    parsed.arguments.insert(argument(value));
                    vec!["{}".to_owned()]
                }
                Expression::Select { selector, variants } => {
                    parsed.arguments.insert(argument(selector));
                    parsed.selectors.insert(argument(selector));
                    variants
                        .iter()
                        .flat_map(|variant| forms(&variant.value, parsed))
                        .collect()
                }
            },
        };
        let with = |form: &String| {
            next.iter()
                .map(|next| format!("{form}{next}"))
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

fn argument(value: &InlineExpression<&str>) -> String {
    match value {
        InlineExpression::VariableReference { id } => id.name.to_owned(),
        other => panic!("{other:?}"),
    }
}

/// The messages of all files, English beside Chinese.
pub(crate) fn messages() -> impl Iterator<Item = (Parsed, Parsed)> {
    FILES.iter().flat_map(|(part, english, chinese)| {
        let (english, mut chinese) = (parse(english), parse(chinese));
        let in_both = english.into_iter().map(move |english| {
            let place = chinese.iter().position(|chinese| chinese.key == english.key);
            let place = place.unwrap_or_else(|| panic!("{part}: {} is not in Chinese", english.key));
            (english, chinese.swap_remove(place))
        });
        in_both.collect::<Vec<_>>()
    })
}

//! The files of the two languages fit the keys in Rust and each other, templates have no words of their own, and a Chinese
//! page says nothing in English.

use std::collections::BTreeSet;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};

use super::bundle::FILES;

mod files;
mod pages;
mod templates;

/// Words that are the same in Chinese: names, units, and what stands in files and on screens.
const NAMES: &[&str] = &[
    "AI", "API", "BY", "CC", "CNS", "CUDA", "DEBUG", "DISABLE", "DOT", "DR", "English", "GB", "GNS", "GPU",
    "GiB", "GraphML", "ID", "INFO", "IPC", "JSON", "NCCL", "NS", "NVIDIA", "NVLink", "NVML", "NVSwitch",
    "OK", "OpenAPI", "P2P", "PCI", "PCIe", "Peerless", "SHARP", "SM", "TNS", "U", "UUID", "Xid", "dev",
    "dmesg", "gz", "ndjson", "s", "shm", "zip", "zst",
];

/// Words that no reader of Chinese would write so.
fn english_in(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.chars().any(|c| c.is_ascii_alphabetic()) && !NAMES.contains(word))
        // `1e9` and the like.
        .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

struct Parsed {
    key: String,
    arguments: BTreeSet<String>,
    selectors: BTreeSet<String>,
    /// Every sentence that it can be, with `{}` for a value.
    forms: Vec<String>,
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

fn messages() -> impl Iterator<Item = (Parsed, Parsed)> {
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

/// What a page says to its reader in its own language: its texts and the names of its parts, but for code, drawings,
/// and what is marked as English.
fn texts(html: &str) -> Vec<String> {
    const EMPTY: [&str; 6] = ["br", "input", "link", "meta", "path", "rect"];
    const FOREIGN: [&str; 7] = ["code", "pre", "script", "style", "svg", "textarea", "title"];
    let mut texts = Vec::new();
    // Open elements, and whether each is passed over.
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut rest = html;
    while let Some((text, tail)) = rest.split_once('<') {
        let passed_over = open.iter().any(|(_, passed)| *passed);
        if !passed_over && !text.trim().is_empty() {
            texts.push(text.trim().to_owned());
        }
        let (tag, after) = tail.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let place = open.iter().rposition(|(open, _)| open == name);
            open.truncate(place.unwrap_or(open.len()));
            continue;
        }
        let name = tag.split([' ', '\n', '/']).next().unwrap().to_owned();
        let is_foreign = FOREIGN.contains(&name.as_str())
            || tag.contains("lang=\"en\"")
            || tag.contains("class=\"mono")
            || tag.contains(" mono");
        if !passed_over && !is_foreign {
            for attribute in ["aria-label=\"", "title=\""] {
                let value = tag
                    .split_once(attribute)
                    .and_then(|(_, rest)| rest.split_once('"'));
                texts.extend(value.map(|(value, _)| value.to_owned()));
            }
        }
        if !EMPTY.contains(&name.as_str()) && !tag.ends_with('/') && !tag.starts_with('!') {
            open.push((name, is_foreign));
        }
    }
    texts
}

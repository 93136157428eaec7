//! The forms of the whole graph, read back by parsers that know nothing of how they were written.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::transition::EdgeKind;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Format, pieces};
use crate::feed::samples::{document, generation_of};
use crate::feed::{Between, Generation};

const ANNEX: &str = r#"{"schema_version": 1}"#;

/// A record with a signature that leads to these targets, precedes the second record and is taken for the third.
fn generation(signatures: [&str; 3], targets: &[String], said: &str) -> std::sync::Arc<Generation> {
    let [a, b, c] = ["t/a_b", "t/b", "u/v/c"];
    let mut first = document(a, signatures[0]);
    let leads_to: Vec<Value> = targets
        .iter()
        .map(|target| json!({ "error_id": target, "probability": 0.25, "condition": said, "typical_delay": said }))
        .collect();
    first["transition_graph"] = json!({
        "leads_to": leads_to,
        "preceded_by": [{ "error_id": b }],
        "frequently_confused_with": [{ "error_id": c, "distinction": said }],
    });
    let texts = [first, document(b, signatures[1]), document(c, signatures[2])];
    generation_of(&texts.map(|text| (text.to_string(), ANNEX.to_owned())))
}

fn whole(generation: &std::sync::Arc<Generation>, format: Format, kinds: &[EdgeKind]) -> String {
    let bytes: Vec<u8> = pieces(std::sync::Arc::clone(generation), format, kinds.to_vec())
        .flatten()
        .collect();
    String::from_utf8(bytes).unwrap()
}

/// What a form says: signature (none where unknown) by node, and edges by their ends and kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    nodes: BTreeMap<String, Option<String>>,
    edges: BTreeSet<(String, String, String)>,
}

fn read_json(text: &str) -> Read {
    let whole: Value = serde_json::from_str(text).unwrap();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let mut read = Read::default();
    for node in whole["nodes"].as_array().unwrap() {
        assert_eq!(node["known"] == true, node["signature"].is_string());
        read.nodes
            .insert(word(&node["id"]), node["signature"].as_str().map(str::to_owned));
    }
    for edge in whole["edges"].as_array().unwrap() {
        read.edges
            .insert((word(&edge["from"]), word(&edge["to"]), word(&edge["kind"])));
    }
    read
}

fn read_graphml(text: &str) -> Read {
    let parsed = roxmltree::Document::parse(text).unwrap();
    let namespace = "http://graphml.graphdrawing.org/xmlns";
    let all = |name: &'static str| {
        let all = parsed.descendants();
        all.filter(move |node| node.has_tag_name((namespace, name)))
    };
    let declared: BTreeMap<&str, (&str, &str)> = all("key")
        .map(|key| {
            let attribute = |name| key.attribute(name).unwrap();
            (attribute("id"), (attribute("for"), attribute("attr.name")))
        })
        .collect();
    let data = |of: roxmltree::Node<'_, '_>| -> BTreeMap<String, String> {
        let values = of
            .children()
            .filter(|child| child.has_tag_name((namespace, "data")));
        values
            .map(|value| {
                let (belongs_to, name) = declared[value.attribute("key").unwrap()];
                assert_eq!(belongs_to, of.tag_name().name());
                (name.to_owned(), value.text().unwrap_or_default().to_owned())
            })
            .collect()
    };
    let mut read = Read::default();
    let mut ids = BTreeMap::new();
    for node in all("node") {
        let name = node.attribute("id").unwrap();
        let is_token = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
        assert!(
            !name.is_empty() && name.chars().all(is_token),
            "{name} is no NMTOKEN"
        );
        let mut values = data(node);
        let id = values.remove("id").unwrap();
        assert_eq!(
            ids.insert(name.to_owned(), id.clone()),
            None,
            "{name} stands twice"
        );
        assert_eq!(values["known"] == "true", values.contains_key("signature"));
        read.nodes.insert(id, values.remove("signature"));
    }
    for edge in all("edge") {
        let end = |name| ids[edge.attribute(name).unwrap()].clone();
        let kind = data(edge).remove("kind").unwrap();
        assert_eq!(
            edge.attribute("directed") == Some("false"),
            kind == "frequently_confused_with"
        );
        read.edges.insert((end("source"), end("target"), kind));
    }
    read
}

/// Tokens of a statement: names and texts in quotation marks, read as Graphviz' scanner does, and single signs.
fn dot_tokens(text: &str) -> Vec<(bool, String)> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                let mut token = String::new();
                loop {
                    match chars.next().expect("the string ends") {
                        '"' => break,
                        '\\' if chars.peek() == Some(&'"') => token.extend(chars.next()),
                        '\\' => token.extend(['\\', chars.next().unwrap()]),
                        other => token.push(other),
                    }
                }
                tokens.push((true, token));
            }
            ' ' | '\n' => {}
            '-' if chars.peek() == Some(&'>') => {
                chars.next();
                tokens.push((false, "->".to_owned()));
            }
            'a'..='z' | 'A'..='Z' => {
                let mut token = String::from(char);
                while let Some(next) = chars.next_if(char::is_ascii_alphanumeric) {
                    token.push(next);
                }
                tokens.push((false, token));
            }
            other => tokens.push((false, other.to_string())),
        }
    }
    tokens
}

/// Takes back what a name or label is written with.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next().unwrap() {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                other => out.push(other),
            },
            other => out.push(other),
        }
    }
    out
}

fn read_dot(text: &str) -> Read {
    let (comment, graph) = text.split_once('\n').unwrap();
    assert!(comment.starts_with("//"));
    let body = graph.split_once('{').unwrap().1.strip_suffix("}\n").unwrap();
    let tokens = dot_tokens(body);
    let mut read = Read::default();
    // A statement begins with a name in quotation marks that follows no sign; `[` and `]` stand around attributes.
    let mut at = tokens
        .iter()
        .position(|token| *token == (true, "t/a_b".to_owned()))
        .unwrap();
    while at < tokens.len() {
        let end = tokens[at..]
            .iter()
            .position(|token| *token == (false, "]".to_owned()))
            .unwrap()
            + at;
        let statement = &tokens[at..end];
        let attribute = |name: &str| {
            let place = statement
                .iter()
                .position(|token| *token == (false, name.to_owned()))?;
            Some(statement[place + 2].1.clone())
        };
        let shown = |text: String| plain(&text).replace("&amp;", "&");
        if statement[1].1 == "->" {
            let mut ends = (plain(&statement[0].1), plain(&statement[2].1));
            let kind = attribute("class").unwrap();
            if kind == "preceded_by" {
                ends = (ends.1, ends.0);
            }
            read.edges.insert((ends.0, ends.1, kind));
        } else {
            let id = plain(&statement[0].1);
            assert_eq!(attribute("label").map(shown).as_deref(), Some(id.as_str()));
            read.nodes.insert(id, attribute("tooltip").map(shown));
        }
        at = end + 1;
    }
    read
}

#[test]
fn the_three_forms_say_the_same() {
    let targets = ["t/b", "no such \"error\"", "t/a-b"].map(str::to_owned);
    let generation = generation(["first", "second", "third"], &targets, "under load");
    let json = read_json(&whole(&generation, Format::Json, &[]));
    let ids: Vec<&str> = json.nodes.keys().map(String::as_str).collect();
    assert_eq!(ids, ["no such \"error\"", "t/a-b", "t/a_b", "t/b", "u/v/c"]);
    assert_eq!(json.nodes["t/a-b"], None, "no record has this id");
    assert_eq!(json.edges.len(), 5);
    assert_eq!(read_graphml(&whole(&generation, Format::GraphMl, &[])), json);
    assert_eq!(read_dot(&whole(&generation, Format::Dot, &[])), json);
    let confused = [EdgeKind::FrequentlyConfusedWith];
    let narrowed = read_json(&whole(&generation, Format::Json, &confused));
    assert_eq!(narrowed.edges.len(), 1);
    assert_eq!(
        read_graphml(&whole(&generation, Format::GraphMl, &confused)),
        narrowed
    );
}

#[test]
fn an_empty_graph_is_one() {
    let generation = generation_of(&[]);
    assert_eq!(read_json(&whole(&generation, Format::Json, &[])), Read::default());
    assert_eq!(
        read_graphml(&whole(&generation, Format::GraphMl, &[])),
        Read::default()
    );
    assert!(whole(&generation, Format::Dot, &[]).ends_with("node [shape=box]\n}\n"));
}

#[test]
fn the_pieces_join_without_a_seam() {
    let records: Vec<(String, String)> = (0..600)
        .map(|number| {
            let mut record = document(&format!("t/r{number:03}"), &format!("error number {number}"));
            let next = format!("t/r{:03}", (number + 1) % 600);
            record["transition_graph"] = json!({ "leads_to": [{ "error_id": next }] });
            (record.to_string(), ANNEX.to_owned())
        })
        .collect();
    let generation = generation_of(&records);
    let read = read_json(&whole(&generation, Format::Json, &[]));
    assert_eq!((read.nodes.len(), read.edges.len()), (600, 600));
    assert_eq!(read_graphml(&whole(&generation, Format::GraphMl, &[])), read);
}

#[test]
fn domains_are_joined_by_time_and_apart_from_it() {
    let generation = generation(["first", "second", "third"], &["u/v/c".to_owned()], "x");
    let map = generation.graph.domains();
    let counts: Vec<_> = map
        .domains
        .iter()
        .map(|domain| (domain.name.as_str(), domain.records, domain.inner))
        .collect();
    assert_eq!(counts, [("t", 2, 1), ("u", 1, 0)]);
    let links: Vec<_> = map
        .links
        .iter()
        .map(|link| (link.from.as_str(), link.to.as_str(), link.causal, link.edges))
        .collect();
    assert_eq!(links, [("t", "u", false, 1), ("t", "u", true, 1)]);
    let wanted = Between {
        from: "t",
        to: "u",
        causal: true,
    };
    let kinds: Vec<EdgeKind> = generation.graph.between(wanted).map(|edge| edge.kind).collect();
    assert_eq!(kinds, [EdgeKind::LeadsTo]);
}

/// Texts that are hard to write, though not blank, which no signature may be: quotation marks, backslashes, line ends, mark-up, Chinese, signs that XML forbids.
fn hard_text() -> impl Strategy<Value = String> {
    let pieces = [
        "\"", "\\", "\\n", "\n", "\r", "\t", "&amp;", "<b>", "]]>", "错误", "é", "-> [", "}", "_2f", "x",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 1..8)
        .prop_map(|parts| format!("x{}", parts.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_text_survives_every_form(
        signature in hard_text(),
        targets in proptest::collection::vec(hard_text(), 0..4),
        said in hard_text(),
    ) {
        let generation = generation([&signature, "second", "third"], &targets, &said);
        let json = read_json(&whole(&generation, Format::Json, &[]));
        prop_assert_eq!(json.nodes["t/a_b"].as_ref(), Some(&signature));
        prop_assert!(targets.iter().all(|target| json.nodes.contains_key(target)));
        prop_assert_eq!(&read_graphml(&whole(&generation, Format::GraphMl, &[])), &json);
        prop_assert_eq!(&read_dot(&whole(&generation, Format::Dot, &[])), &json);
    }
}

#[test]
fn signs_that_xml_forbids_are_replaced() {
    let generation = generation(["bell \u{7} and \u{fffe}", "second", "third"], &[], "x");
    let read = read_graphml(&whole(&generation, Format::GraphMl, &[]));
    assert_eq!(read.nodes["t/a_b"].as_deref(), Some("bell \u{fffd} and \u{fffd}"));
}

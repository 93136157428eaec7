//! Published records that may say the same as a draft, for whoever writes it. This refuses nothing: many records may have one
//! code, and two faults may print one line. What a draft would take of others is for the gate.

use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::record::Record;
use serde::Serialize;
use utoipa::ToSchema;

use super::gate::each_hit;
use crate::feed::Generation;
use peerless_search::comparable_code;

const MOST: usize = 10;
const MOST_REASONS: usize = 4;

/// A published record that may say the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Alike {
    /// Its id.
    #[schema(value_type = String)]
    pub record: RecordId,
    /// Its title, or its signature.
    pub title: String,
    /// Why it may.
    pub why: Vec<Likeness>,
}

/// What two records have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Likeness {
    /// The signature, apart from case, blanks, addresses and what stands around words.
    Signature,
    /// A code, in the same domain.
    Code {
        /// As the draft writes it.
        code: String,
    },
    /// Something of the published record takes an example of the draft.
    Example {
        /// Where the example stands in the draft's annex.
        pointer: String,
        /// The pattern or phrase that takes it; `signature` for the words of the signature.
        pattern: String,
    },
}

/// Records that have the draft's signature first, then those whose patterns take its examples, then those with its codes.
///
/// This computes; call it off the async threads.
pub fn alike(draft: &Record, generation: &Generation) -> Vec<Alike> {
    let mut found: BTreeMap<RecordId, Vec<Likeness>> = BTreeMap::new();
    let mut add = |id: &RecordId, why: Likeness| {
        if id != draft.id() {
            let reasons = found.entry(id.clone()).or_default();
            if reasons.len() < MOST_REASONS && !reasons.contains(&why) {
                reasons.push(why);
            }
        }
    };
    let signature = plain_signature(&draft.document.signature);
    if !signature.is_empty() {
        let same = generation
            .records()
            .filter(|published| plain_signature(&published.record.document.signature) == signature);
        for published in same {
            add(published.id(), Likeness::Signature);
        }
    }
    for (at, example) in draft.annex.examples.iter().enumerate() {
        each_hit(&generation.matcher, &example.text, |hit| {
            // Codes are told of by themselves.
            if !hit.pattern.starts_with("code:") {
                let pointer = format!("/examples/{at}");
                let pattern = hit.pattern;
                add(&hit.record, Likeness::Example { pointer, pattern });
            }
        });
    }
    for code in draft.codes() {
        let comparable = comparable_code(&code);
        for id in generation.by_code(&code) {
            let is_same = generation.record(id).is_some_and(|published| {
                published.record.document.domain == draft.document.domain
                    && published
                        .codes
                        .iter()
                        .any(|other| comparable_code(other) == comparable)
            });
            if is_same {
                add(id, Likeness::Code { code: code.clone() });
            }
        }
    }
    let mut found: Vec<(RecordId, Vec<Likeness>)> = found.into_iter().collect();
    found.sort_by_key(|(_, why)| why.first().map(rank));
    let named = found.into_iter().filter_map(|(record, why)| {
        let title = generation.record(&record)?.record.title().to_owned();
        Some(Alike { record, title, why })
    });
    named.take(MOST).collect()
}

fn rank(why: &Likeness) -> u8 {
    match why {
        Likeness::Signature => 0,
        Likeness::Example { .. } => 1,
        Likeness::Code { .. } => 2,
    }
}

/// Words in lower case, without what stands around them. Numbers stay, since they tell errors apart; addresses do not.
fn plain_signature(signature: &str) -> String {
    let words = signature.split_whitespace().map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        match word.strip_prefix("0x") {
            Some(digits) if digits.chars().all(|c| c.is_ascii_hexdigit()) => "0x".to_owned(),
            _ => word,
        }
    });
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::feed::samples::{document, generation_of};

    fn record(id: &str, signature: &str, annex: &serde_json::Value) -> (String, String) {
        let texts = document(id, signature);
        let mut whole = serde_json::json!({"schema_version": 1});
        for (key, value) in annex.as_object().unwrap() {
            whole[key] = value.clone();
        }
        (texts.to_string(), whole.to_string())
    }

    fn published() -> Arc<Generation> {
        generation_of(&[
            record(
                "cuda/wheel",
                "Wheel came off at 0xdead: (again)",
                &serde_json::json!({
                    "codes": ["Zorg 17"],
                    "patterns": [{"id": "axle", "regex": "wheel [0-9]+ left the zorgblat axle"}],
                }),
            ),
            record(
                "nccl/other",
                "marmalade",
                &serde_json::json!({"codes": ["Zorg 17"]}),
            ),
        ])
    }

    fn told(signature: &str, annex: &serde_json::Value, id: &str) -> Vec<(String, Vec<Likeness>)> {
        let (document, annex) = record(id, signature, annex);
        let draft = Record::parse(&document, &annex).unwrap();
        let found = alike(&draft, &published()).into_iter();
        found.map(|one| (one.record.to_string(), one.why)).collect()
    }

    #[test]
    fn signature_code_of_the_domain_and_taken_example_are_each_a_reason() {
        let wheel = |why| vec![("cuda/wheel".to_owned(), vec![why])];
        let nothing = serde_json::json!({});
        let same = told("wheel  came off at 0xBEEF again", &nothing, "cuda/new");
        assert_eq!(same, wheel(Likeness::Signature));
        let code = serde_json::json!({"codes": ["zorg  17"]});
        let of_domain = Likeness::Code {
            code: "zorg  17".to_owned(),
        };
        assert_eq!(told("another", &code, "cuda/new"), wheel(of_domain));
        let example = serde_json::json!({"examples": [
            {"text": "nothing of it"},
            {"text": "[7.1] wheel 3 left the zorgblat axle"},
        ]});
        let taken = Likeness::Example {
            pointer: "/examples/1".to_owned(),
            pattern: "axle".to_owned(),
        };
        assert_eq!(told("another", &example, "cuda/new"), wheel(taken));
    }

    #[test]
    fn what_differs_is_not_alike_and_nothing_is_alike_itself() {
        let nothing = serde_json::json!({});
        assert!(told("Wheel came off at 17 again", &nothing, "cuda/new").is_empty());
        assert!(told("Wheel came off at 0xdead: (again)", &nothing, "cuda/wheel").is_empty());
        let bare = serde_json::json!({"codes": ["17"]});
        assert!(told("another", &bare, "cuda/new").is_empty());
        let elsewhere = serde_json::json!({"codes": ["Zorg 17"]});
        assert!(told("another", &elsewhere, "xid/new").is_empty());
    }
}

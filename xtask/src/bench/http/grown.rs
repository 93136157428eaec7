//! More records than there are: copies of the real ones, each word of their English texts replaced by one drawn from all.
//! They keep their Chinese texts and most facets, and lose what makes them match and what was checked of the original:
//! patterns, codes, edges, the tier.

#![cfg_attr(
    not(feature = "evaluation"),
    allow(dead_code, reason = "only its tests use it")
)]

use std::path::Path;

use anyhow::Result;
#[cfg(feature = "evaluation")]
use {
    anyhow::{Context, ensure},
    peerless::clock::{Clock, SystemClock},
    peerless::config::DataArgs,
    peerless::startup::open_store,
    peerless::store::{SeedRecord, SeedSource},
    std::time::Instant,
};

use serde_json::{Map, Value, json};

use crate::random::Vocabulary;

/// Texts of a document, and of the things that it advises and advises against.
const TEXTS: [&str; 2] = ["signature", "root_cause"];
const LISTS: [(&str, [&str; 2]); 2] = [
    ("workarounds", ["action", "how"]),
    ("dead_ends", ["action", "why_fails"]),
];

const TITLE_CHARS: usize = 70;

/// Puts records into a database that holds `documents`, until it holds `count`: through the store, as an import does behind the
/// gate. The gate asks records about each other one by one, which takes hours for so many.
#[cfg(feature = "evaluation")]
pub(super) fn import(data: &Path, documents: &[Value], count: usize) -> Result<()> {
    let mut vocabulary = Vocabulary::new(documents.iter().flat_map(texts), 65);
    let missing = count.saturating_sub(documents.len());
    let originals = documents.iter().cycle().take(missing).enumerate();
    let seeds = originals.map(|(number, original)| seed(original, number, &mut vocabulary));
    let seeds = seeds.collect::<Result<Vec<SeedRecord>>>()?;
    let database = DataArgs {
        data_dir: data.to_owned(),
        database: None,
        sqlite_max_bytes: None,
    };
    let began = Instant::now();
    let taken_in = async {
        let store = open_store(&database).await?;
        let outcome = store
            .seed(SeedSource::Import, seeds.into(), SystemClock.now())
            .await?;
        anyhow::Ok(outcome.added.len())
    };
    let added = tokio::runtime::Runtime::new()?.block_on(taken_in)?;
    ensure!(
        added == missing,
        "{added} of {missing} made records were taken in"
    );
    println!(
        "{missing} records made and taken in by the store in {:.0} s",
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// [`super::run`] builds this program with the store inside first.
#[cfg(not(feature = "evaluation"))]
pub(super) fn import(_: &Path, _: &[Value], _: usize) -> Result<()> {
    anyhow::bail!("built without the store")
}

fn texts(document: &Value) -> impl Iterator<Item = &str> {
    let own = TEXTS.into_iter().filter_map(|name| document.get(name)?.as_str());
    let advice = document.get("workarounds").and_then(Value::as_array);
    let advice = advice.into_iter().flatten();
    own.chain(advice.filter_map(|entry| entry.get("action")?.as_str()))
}

/// A made record with its annex.
fn made(original: &Value, number: usize, vocabulary: &mut Vocabulary) -> Option<(Value, Value)> {
    let mut document = original.as_object()?.clone();
    let id = format!("{}/grown-{number}", document.get("domain")?.as_str()?);
    document.insert("id".into(), json!(id));
    for name in ["regex", "error_code"] {
        document.insert(name.into(), Value::Null);
    }
    for name in ["aliases", "workarounds_zh"] {
        document.insert(name.into(), json!([]));
    }
    let no_edges = json!({ "leads_to": [], "preceded_by": [], "frequently_confused_with": [] });
    document.insert("transition_graph".into(), no_edges);
    document.insert("verification_tier".into(), json!("ai_generated"));
    redraw(&mut document, &TEXTS, vocabulary);
    for (list, names) in LISTS {
        let entries = document.get_mut(list).and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
            redraw(entry, &names, vocabulary);
        }
    }
    if let Some(Value::String(chinese)) = document.get_mut("signature_zh") {
        chinese.push(' ');
        chinese.push_str(&number.to_string());
    }
    let title: String = document
        .get("signature")?
        .as_str()?
        .chars()
        .take(TITLE_CHARS)
        .collect();
    let annex = json!({
        "schema_version": 1,
        "title": title.split_whitespace().collect::<Vec<_>>().join(" "),
        "codes": [format!("GROWN_CODE_{number}")],
    });
    Some((Value::Object(document), annex))
}

#[cfg(feature = "evaluation")]
fn seed(original: &Value, number: usize, vocabulary: &mut Vocabulary) -> Result<SeedRecord> {
    let (document, annex) =
        made(original, number, vocabulary).context("a document lacks an id or a domain")?;
    let id = document.get("id").and_then(Value::as_str).unwrap_or_default();
    Ok(SeedRecord {
        id: id.parse()?,
        document: document.to_string(),
        annex: annex.to_string(),
    })
}

fn redraw(object: &mut Map<String, Value>, names: &[&str], vocabulary: &mut Vocabulary) {
    for name in names {
        let Some(Value::String(text)) = object.get_mut(*name) else {
            continue;
        };
        *text = vocabulary.instead_of(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_record_says_other_words_and_matches_nothing_of_its_original() {
        let original = json!({
            "id": "cuda/it", "domain": "cuda", "signature": "one two three", "regex": "one",
            "root_cause": "four", "workarounds": [{ "action": "five six", "how": null }],
        });
        let mut vocabulary = Vocabulary::new(texts(&original), 65);
        let (document, annex) = made(&original, 7, &mut vocabulary).unwrap();
        assert_eq!(annex["codes"][0], "GROWN_CODE_7");
        assert_eq!(document["id"], "cuda/grown-7");
        assert_eq!(document["regex"], Value::Null);
        assert_eq!(document["verification_tier"], "ai_generated");
        let signature = document["signature"].as_str().unwrap();
        assert_eq!(signature.split(' ').count(), 3);
        let words = ["one", "two", "three", "four", "five", "six"];
        assert!(
            signature.split(' ').all(|word| words.contains(&word)),
            "{signature}"
        );
        assert_eq!(document["workarounds"][0]["how"], Value::Null);
    }
}

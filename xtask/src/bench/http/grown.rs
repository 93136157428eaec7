//! More records than there are: copies of the real ones, each word of their English texts replaced by one drawn from all.
//! They keep their Chinese texts and most facets, and lose what makes them match and what was checked of the original:
//! patterns, codes, edges, the tier.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::random::Vocabulary;
use crate::shell;

/// Texts of a document, and of the things that it advises and advises against.
const TEXTS: [&str; 2] = ["signature", "root_cause"];
const LISTS: [(&str, [&str; 2]); 2] = [
    ("workarounds", ["action", "how"]),
    ("dead_ends", ["action", "why_fails"]),
];

const TITLE_CHARS: usize = 70;

/// Imports records into a database that holds `documents`, until it holds `count`.
pub(super) fn import(program: &Path, data: &Path, documents: &[Value], count: usize) -> Result<()> {
    let path = data.with_file_name("grown.ndjson");
    let mut lines = BufWriter::new(File::create(&path)?);
    let mut vocabulary = Vocabulary::new(documents.iter().flat_map(texts), 65);
    let missing = count.saturating_sub(documents.len());
    for (number, original) in documents.iter().cycle().take(missing).enumerate() {
        let line = line(original, number, &mut vocabulary).context("a document lacks an id or a domain")?;
        writeln!(lines, "{line}")?;
    }
    lines.into_inner()?.sync_all()?;
    let began = Instant::now();
    let mut import = Command::new(program);
    import.arg("import").arg(&path).arg("--data-dir").arg(data);
    shell::run(import.stdout(Stdio::null()))?;
    println!(
        "{missing} records made and imported in {:.0} s",
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

fn texts(document: &Value) -> impl Iterator<Item = &str> {
    let own = TEXTS.into_iter().filter_map(|name| document.get(name)?.as_str());
    let advice = document.get("workarounds").and_then(Value::as_array);
    let advice = advice.into_iter().flatten();
    own.chain(advice.filter_map(|entry| entry.get("action")?.as_str()))
}

/// A line as an export has it.
fn line(original: &Value, number: usize, vocabulary: &mut Vocabulary) -> Option<Value> {
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
    // The gate refuses a record that is as good an answer to a Chinese signature as its owner.
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
    Some(json!({
        "id": id,
        "revision": 1,
        "document": Value::Object(document).to_string(),
        "annex": annex.to_string(),
    }))
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
        let made = line(&original, 7, &mut vocabulary).unwrap();
        let document: Value = serde_json::from_str(made["document"].as_str().unwrap()).unwrap();
        assert_eq!(made["id"], "cuda/grown-7");
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

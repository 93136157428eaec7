//! All texts of the evaluation sets that are matched: messages, lines without an error, logs. Two ways of matching are compared on them.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Name and text of each.
pub fn texts() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evaluation");
    let mut texts = Vec::new();
    collect(&folder, &mut texts);
    let count = |end: &str| texts.iter().filter(|(name, _)| name.contains(end)).count();
    assert!(count("messages.jsonl") > 700 && count("negatives.jsonl") > 200 && count(".log") > 30);
    texts
}

fn collect(folder: &Path, texts: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.display().to_string();
        if path.is_dir() {
            collect(&path, texts);
        } else if name.ends_with("messages.jsonl") || name.ends_with("negatives.jsonl") {
            for line in fs::read_to_string(&path).unwrap().lines() {
                let item: Value = serde_json::from_str(line).unwrap();
                let id = item["id"].as_str().unwrap();
                texts.push((
                    format!("{name}: {id}"),
                    item["text"].as_str().unwrap().as_bytes().to_vec(),
                ));
            }
        } else if path.extension().is_some_and(|end| end == "log") {
            texts.push((name, fs::read(&path).unwrap()));
        } else if name.ends_with(".log.zst") {
            texts.push((name, zstd::decode_all(fs::File::open(&path).unwrap()).unwrap()));
        }
    }
}

/// An answer of the server as one of the tab: without candidates, which the tab does not look for.
pub fn without_candidates(mut answer: Value) -> Value {
    if answer.get("candidates").is_some() {
        answer["candidates"] = Value::Array(Vec::new());
    }
    answer
}

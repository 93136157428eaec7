//! The records in kb-seed: bytes kept, schemas met, faults listed, examples recognised.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use kb_core::annex::EMPTY;
use kb_core::record::{Record, read_document};
use kb_core::text::{Kind, Node, Sha256, Step, parse, push_step, replace_value};
use kb_core::validate::{Severity, check_record, check_set, is_record_file, is_refused};
use kb_core::{annex, schema};
use proptest::prelude::*;
use serde_json::Value;

const CUDA: &str = include_str!("../../kb-seed/cuda/peer-access-unsupported-by-hardware.json");
const CUDA_ANNEX: &str = include_str!("../../kb-seed/cuda/peer-access-unsupported-by-hardware.ext.json");
const TENSORFLOW: &str = include_str!("../../kb-seed/tensorflow/gpu-peer-access-error.json");
const TENSORFLOW_ANNEX: &str = include_str!("../../kb-seed/tensorflow/gpu-peer-access-error.ext.json");
const README: &str = include_str!("../../kb-seed/README.md");

/// Every record file below kb-seed as (path from there, text).
fn seed_files() -> Vec<(String, String)> {
    fn walk(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{name}/"), found);
            } else if is_record_file(&name) {
                found.push((name, fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(
        &PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kb-seed"),
        "",
        &mut found,
    );
    found.sort();
    found
}

fn pointers(node: &Node, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    let mut go = |step: &Step<'_>, child: &Node| {
        let mut below = pointer.to_owned();
        push_step(&mut below, step);
        pointers(child, &below, found);
    };
    match &node.kind {
        Kind::Object(members) => members.iter().for_each(|m| go(&Step::Key(&m.key), &m.value)),
        Kind::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(i, item)| go(&Step::Index(i), item)),
        _ => {}
    }
}

#[test]
fn the_two_given_records_keep_their_bytes() {
    let given = [
        (
            CUDA,
            CUDA_ANNEX,
            "75b4b91d60140bf667d55b0a0190afeb9f23d8df277403f5c754b25dd73e7696",
        ),
        (
            TENSORFLOW,
            TENSORFLOW_ANNEX,
            "321c846e7dfbe866d068f54751e3ff309e67aede451a1f511b3766b45b2084db",
        ),
    ];
    for (document, annex, sha256) in given {
        assert_eq!(Sha256::of(document).as_str(), sha256);
        let record = Record::parse(document, annex).unwrap();
        assert_eq!(Sha256::of(&record.document_text).as_str(), sha256);
        assert_eq!(record.document.extra, [].into());
        assert_eq!(record.annex.extra, [].into());
        let root = parse(document).unwrap();
        assert_eq!(root.members().unwrap().len(), 30);
        let mut all = Vec::new();
        pointers(&root, "", &mut all);
        for pointer in all {
            let span = root.find(&pointer).unwrap().span.clone();
            let same = replace_value(document, &pointer, &document[span]).unwrap();
            assert_eq!(same, document, "{pointer}");
        }
    }
}

#[test]
fn faults_are_listed_as_the_readme_says() {
    let files = seed_files();
    assert!(files.len() >= 4);
    let found = check_set(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    assert!(
        found
            .iter()
            .all(|finding| finding.violation.severity == Severity::Warning),
        "{found:#?}"
    );
    let mut printed = String::new();
    for finding in &found {
        writeln!(printed, "{finding}").unwrap();
    }
    let block = README
        .split("```text findings\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    assert_eq!(
        block.unwrap_or_default(),
        printed,
        "put into kb-seed/README.md:\n{printed}"
    );
}

#[test]
fn every_record_meets_the_published_schemas() {
    let schemas = schema::all();
    let document_schema = jsonschema::validator_for(&schemas[0].1).unwrap();
    let annex_schema = jsonschema::validator_for(&schemas[1].1).unwrap();
    for (path, text) in seed_files() {
        let value: Value = serde_json::from_str(&text).unwrap();
        let schema = if path.ends_with(".ext.json") {
            &annex_schema
        } else {
            &document_schema
        };
        if let Err(error) = schema.validate(&value) {
            panic!("{path} at {}: {error}", error.instance_path());
        }
    }
    let empty: Value = serde_json::from_str(EMPTY).unwrap();
    assert!(annex_schema.is_valid(&empty));
    assert!(!annex_schema.is_valid(&Value::Object(serde_json::Map::new())));
    assert!(!document_schema.is_valid(&empty));
}

#[test]
fn the_cuda_record_is_known_by_its_codes_and_has_a_probe_rule() {
    let record = Record::parse(CUDA, CUDA_ANNEX).unwrap();
    for code in [
        "cudaErrorPeerAccessUnsupported",
        "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
        "error 217",
    ] {
        assert_eq!(
            record.codes().iter().filter(|known| *known == code).count(),
            1,
            "{code}"
        );
    }
    assert_eq!(record.annex.probe[0].scope, annex::ProbeScope::Pair);
    let tensorflow = Record::parse(TENSORFLOW, TENSORFLOW_ANNEX).unwrap();
    assert_eq!(tensorflow.codes(), [] as [&str; 0], "GPA is no code");
}

#[test]
fn every_workaround_says_what_it_is_and_what_it_would_harm() {
    let files = seed_files();
    let mut seen = 0;
    for (path, document) in files.iter().filter(|(path, _)| !path.ends_with(".ext.json")) {
        let annex_path = path.replace(".json", ".ext.json");
        let annex = files.iter().find(|(path, _)| *path == annex_path);
        let record = Record::parse(document, &annex.unwrap().1).unwrap();
        let (notes, steps) = (&record.annex.workaround_notes, &record.document.workarounds);
        assert_eq!(notes.len(), steps.len(), "{path}");
        for (note, step) in notes.iter().zip(steps) {
            let text = format!("{} {}", step.action, step.how.as_deref().unwrap_or_default());
            // A restart of Docker ends its containers.
            let harming = [
                "--gpu-reset",
                "nvidia-smi -r`",
                "nvidia-smi -r ",
                "systemctl restart docker",
            ];
            let harms = harming.iter().any(|command| text.contains(command));
            assert!(!harms || note.stop_first.is_some(), "{path}: {text}");
            let chinese = note.cost.is_some() == note.cost_zh.is_some()
                && note.stop_first.is_some() == note.stop_first_zh.is_some();
            assert!(chinese, "{path}: {text}");
            seen += 1;
        }
    }
    assert!(seen > 2_000, "{seen}");
}

fn odd_values() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "null",
        "true",
        "0",
        "1",
        "-0",
        "1.0",
        "1e0",
        "2.5",
        "-1",
        "4294967296",
        "1e300",
        "\"\"",
        "\"x\"",
        "\"a/b\"",
        "[]",
        "[null]",
        "[1]",
        "[\"a/b\"]",
        "[[]]",
        "[{}]",
        "{}",
        "{\"a\": null}",
        "{\"action\": 1}",
        "\"2024-01-01\"",
        "\"error\"",
        "\"none\"",
        "\"https://example.org\"",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever value is put anywhere, the table of shapes and the typed views agree, and what they accept meets
    /// the published schema.
    #[test]
    fn shapes_views_and_schemas_agree(
        of_annex in any::<bool>(), cuda in any::<bool>(), at in any::<prop::sample::Index>(), value in odd_values()
    ) {
        thread_local! {
            static SCHEMAS: [jsonschema::Validator; 2] = {
                let schemas = schema::all();
                [&schemas[0].1, &schemas[1].1].map(|schema| jsonschema::validator_for(schema).unwrap())
            };
        }
        let text = match (of_annex, cuda) {
            (false, true) => CUDA,
            (false, false) => TENSORFLOW,
            (true, true) => CUDA_ANNEX,
            (true, false) => TENSORFLOW_ANNEX,
        };
        let mut all = Vec::new();
        pointers(&parse(text).unwrap(), "", &mut all);
        let edited = replace_value(text, &all[at.index(all.len())], value).unwrap();
        let refused = if of_annex {
            annex::read_annex(&edited).err()
        } else {
            read_document(&edited).err()
        };
        let (document, annex) = if of_annex { (CUDA, edited.as_str()) } else { (edited.as_str(), CUDA_ANNEX) };
        let found = check_record(None, document, annex);
        prop_assert!(found.iter().all(|violation| violation.position.is_some() && !violation.fix.is_empty()));
        prop_assert!(refused.is_none() || is_refused(&found));

        let json: Value = serde_json::from_str(&edited).unwrap();
        match refused {
            Some(violations) => prop_assert!(violations.iter().all(|v| v.rule != "unreadable"), "{violations:?}"),
            None => prop_assert!(SCHEMAS.with(|schemas| schemas[usize::from(of_annex)].is_valid(&json))),
        }
    }
}

#[test]
fn the_example_of_a_webhook_is_what_its_record_says() {
    let operations = include_str!("../../docs/OPERATIONS.md");
    let start = operations.find("{\"cause\":").unwrap();
    let mut told = serde_json::Deserializer::from_str(&operations[start..]).into_iter::<Value>();
    let told = told.next().unwrap().unwrap();
    let id = told["record"].as_str().unwrap();
    assert_eq!(told["cause"], id);
    assert!(told["url"].as_str().unwrap().ends_with(&format!("?record={id}")));
    let annex = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../kb-seed/{id}.ext.json"));
    let annex: Value = serde_json::from_str(&fs::read_to_string(annex).unwrap()).unwrap();
    for key in ["title", "severity", "action"] {
        assert_eq!(told[key], annex[key], "{key}");
    }
}

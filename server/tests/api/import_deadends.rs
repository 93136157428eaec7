//! Records of deadends.dev: brought in by the command line, found, and given back.

use std::path::Path;
use std::process::Output;

use kb_core::ids::RecordId;
use peerless::store::{ConnectOptions, RecordState, connect};

use crate::process::{folder, run};

fn canon(environment: &str, regex: &str) -> String {
    let text = r#"{
  "schema_version": "1.0.0",
  "id": "cuda/made-up/ENVIRONMENT",
  "url": "https://deadends.dev/cuda/made-up/ENVIRONMENT",
  "error": {
    "signature": "CUDA error: made up for this test",
    "regex": "REGEX",
    "domain": "cuda",
    "category": "runtime_error",
    "first_seen": "2024-01-01",
    "last_confirmed": "2026-02-13"
  },
  "environment": {
    "runtime": {
      "name": "cuda",
      "version_range": ">=11.0,<13.0"
    },
    "os": "linux"
  },
  "verdict": {
    "resolvable": "true",
    "fix_success_rate": 0.90,
    "confidence": 0.70,
    "last_updated": "2026-02-13",
    "summary": "A test needs it."
  },
  "dead_ends": [],
  "workarounds": [],
  "transition_graph": {
    "leads_to": [],
    "preceded_by": [],
    "frequently_confused_with": []
  },
  "metadata": {
    "generated_by": "hand",
    "generation_date": "2026-02-13",
    "review_status": "human_reviewed",
    "evidence_count": 2,
    "last_verification": "2026-02-13"
  }
}
"#;
    text.replace("ENVIRONMENT", environment).replace("REGEX", regex)
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn import(theirs: &Path, data: &str) -> Output {
    let theirs = theirs.to_str().unwrap();
    run(&["import", "--from", "deadends", theirs, "--data-dir", data])
}

#[test]
fn what_is_imported_is_found_and_goes_back() {
    let (folder, data) = folder();
    let (theirs, back) = (folder.path().join("theirs"), folder.path().join("back"));
    let canons = [
        (
            "data/canons/cuda/made-up/one.json",
            canon("one", "made up for this test"),
        ),
        (
            "data/canons/cuda/made-up/two.json",
            canon("two", "(?<!x)ahead of time"),
        ),
        (
            "data/canons/cuda/made-up/three.json",
            canon("three", "[a-z]{4} [a-z]{2} for this [a-z]+|[0-9]{9}"),
        ),
    ];
    for (file, text) in &canons {
        write(&theirs, file, text);
    }
    write(&theirs, "data/stats.json", "{\"total\": 2}");
    let output = import(&theirs, &data);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for part in [
        "3 canons: 3 would be given back value for value, 3 of them byte for byte; 2 need review",
        "1 other files left out",
        "needs review: cuda/made-up/two: pattern/",
        "asked of every line: cuda/made-up/three, pattern 0 has no literal",
        "not published: cuda/made-up/three: pattern/no-literal",
        "1 kept as drafts because the gate refuses them",
        "2 added",
    ] {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
    let again = String::from_utf8(import(&theirs, &data).stdout).unwrap();
    assert!(again.contains("0 added, 0 updated, 2 unchanged"), "{again}");

    for (line, status, id) in [
        ("CUDA error: made up for this test", 0, "cuda/made-up/one"),
        ("123456789 is a number", 1, "no known error"),
    ] {
        let found = run(&["match", "--text", line, "--data-dir", &data]);
        let said = String::from_utf8_lossy(&found.stdout).to_lowercase();
        assert!(
            found.status.code() == Some(status) && said.contains(id),
            "{line}: {said}"
        );
    }

    let output = run(&[
        "export",
        "--to",
        "deadends",
        back.to_str().unwrap(),
        "--data-dir",
        &data,
    ]);
    assert!(output.status.success());
    for (file, text) in canons.iter().filter(|(file, _)| !file.ends_with("three.json")) {
        assert_eq!(&std::fs::read_to_string(back.join(file)).unwrap(), text, "{file}");
    }
    assert_eq!(
        run(&["export", "--to", "deadends", "--data-dir", &data])
            .status
            .code(),
        Some(64)
    );
    assert_eq!(run(&["import", "--countries", "x"]).status.code(), Some(64));
}

/// What readers see stays; what came for it waits as a draft.
#[test]
fn a_refused_update_becomes_the_draft_of_its_record() {
    let (folder, data) = folder();
    let theirs = folder.path().join("theirs");
    let import_with = |regex: &str| {
        write(&theirs, "data/canons/cuda/made-up/one.json", &canon("one", regex));
        String::from_utf8(import(&theirs, &data).stdout).unwrap()
    };
    assert!(!import_with("made up for this test").contains("kept as drafts"));
    let said = import_with("(?i)error");
    assert!(said.contains("not published: cuda/made-up/one: "), "{said}");
    assert!(said.contains("1 kept as drafts"), "{said}");
    let shown = run(&["record", "cuda/made-up/one", "--data-dir", &data]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("made up for this test"), "{shown}");
}

/// Nothing of what comes is lost: it is published, a draft that says why it is one, or a file that is named.
#[tokio::test]
async fn what_an_import_brings_is_published_or_a_draft_with_its_findings() {
    let (folder, data) = folder();
    let theirs = folder.path().join("theirs");
    let write_canon = |slug: &str, signature: &str, regex: &str, file: &str| {
        let text = canon("any", regex).replace("made-up", slug);
        let text = text.replace("CUDA error: made up for this test", signature);
        write(&theirs, &format!("data/canons/cuda/{slug}/{file}.json"), &text);
    };
    let mut refused = Vec::new();
    for number in 0..60 {
        let slug = format!("quorx-{number}");
        let own = format!("quorx {number} fell off the zorgblat axle {number}");
        let taken = "CUDA error: peer access is not supported between these two devices";
        let (signature, regex, rule) = match number {
            0..30 => (own.as_str(), own.as_str(), None),
            30..40 => (own.as_str(), "(?i)error", Some("matches a line of a healthy run")),
            40..50 => (own.as_str(), "[a-z]{4} [0-9]{9}", Some("no text of 3 bytes")),
            50..55 => (taken, taken, Some("cuda/peer-access-unsupported-by-hardware")),
            // Two files of one id.
            _ => {
                let first = format!("quorx-{}", number - 55);
                let text = own.replace(&number.to_string(), &(number - 55).to_string());
                write_canon(&first, &text, &text, "twice");
                continue;
            }
        };
        write_canon(&slug, signature, regex, "any");
        refused.extend(rule.map(|rule| (format!("cuda/{slug}/any"), rule)));
    }
    let output = import(&theirs, &data);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    for part in [
        "55 canons: ",
        " 5 refused, ",
        "\n30 added, ",
        "\n25 kept as drafts ",
    ] {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
    assert_eq!(said.matches("\nrefused: ").count(), 5, "{said}");
    let store = connect(&format!("{data}/peerless.db"), &ConnectOptions::default())
        .await
        .unwrap();
    for (id, reason) in &refused {
        let id: RecordId = id.parse().unwrap();
        let status = store.status(&id).await.unwrap().unwrap();
        assert_eq!(status.state, RecordState::Draft, "{id}");
        let draft = store.revision(&id, status.head).await.unwrap().unwrap();
        let note = draft.meta.note.unwrap();
        assert!(note.contains(reason), "{id}: {note}");
    }
    assert_eq!(refused.len(), 25);
    let again = String::from_utf8(import(&theirs, &data).stdout).unwrap();
    assert!(again.contains("0 added, 0 updated, 30 unchanged"), "{again}");
}

//! Sixty patterns and rules made to do harm, against all records that ship: too loose, explosive, or taking the lines of other records.
//! None is published, each is refused with a reason, and the refusals are quick.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use peerless::store::Scope;
use serde_json::{Value, json};

use crate::records::document;
use crate::test_app::{TestApp, problem};

/// A refusal takes no longer, on a busy machine without optimisation.
const PATIENCE: Duration = Duration::from_secs(10);
const ID: &str = "local/made-to-do-harm";

/// They take what healthy runs print, or next to anything.
const LOOSE: [&str; 20] = [
    "(?i)error",
    "(?i)warn",
    "(?i)failed",
    "(?i)epoch",
    r"loss[:=] ?\d",
    "NCCL INFO",
    "(?i)cuda",
    "(?i)nvidia",
    r"\d+ \w+",
    ".*",
    "[a-z]+",
    "e",
    "GPU",
    "GPU|the zorgblat axle came off",
    "(?:)",
    "^",
    r"[Ss]tep[: ]+\d+",
    "kernel:",
    "torch",
    r"\brank\b",
];

/// They would cost a server its time or memory.
fn explosive() -> Vec<String> {
    let mut patterns: Vec<String> = [
        r"(?:widget\w{1,999}){1,999}",
        r"widget(a{1000}){1000}",
        r"widget[\p{L}\p{N}]{9999}",
        r"widget(?:(?:x{1,9999}y?){1,9999}z?){1,9999}",
        "e.{0,400}widget.{0,400}done",
        r"widget(?:.{0,900}x){1,900}",
        r"widget{1,99999999999}",
        r"(widget)\1",
        r"(?<=widget)x",
        "widget(?!x)",
    ]
    .map(str::to_owned)
    .into();
    patterns.push(format!("{}widget{}", "(".repeat(300), ")".repeat(300)));
    patterns.push(format!("{}widget{}", "(?:".repeat(8), "){1,99}".repeat(8)));
    patterns.push("widget".repeat(1_000));
    patterns.push(["widget"; 20].join(r"\n"));
    patterns.push(format!("widget(?:{})", vec![r"\w{1,90}\d{1,90}"; 200].join("|")));
    patterns
}

/// Rules over reports that cost too much, read what there is not, or cannot be read.
fn rules() -> Vec<String> {
    let mut rules: Vec<String> = [
        "gpus.all(a, gpus.all(b, gpus.all(c, a == b)))",
        "gpus.map(a, gpus.map(b, string(a) + string(b))).size() > 0",
        "has(pair.verdict.cause",
        "pair.verdict.cause == 'gpu_lost' &&",
        "no_such_variable == 1",
        "pair.verdict.reason.matches('(a+)+$')",
        "duration('1s') > duration('0s')",
    ]
    .map(str::to_owned)
    .into();
    rules.push(format!("{}true{}", "(".repeat(200), ")".repeat(200)));
    rules.push(vec!["true"; 3_000].join(" && "));
    rules.push(format!("[{}].exists(a, a == 1)", vec!["1"; 5_000].join(",")));
    rules
}

/// A pattern that takes this text alone.
fn escaped(text: &str) -> String {
    let sign = |sign: char| {
        if r".\+*?()|[]{}^$".contains(sign) {
            format!("\\{sign}")
        } else {
            sign.to_string()
        }
    };
    text.chars().map(sign).collect()
}

/// Lines of records that ship, each as the whole pattern of another record.
fn stealing() -> Vec<(String, String)> {
    let mut stolen = Vec::new();
    let mut domains = BTreeSet::new();
    for seed in peerless::bundle::embedded().unwrap() {
        let annex: Value = serde_json::from_str(&seed.annex).unwrap();
        let Some(line) = annex.pointer("/examples/0/text").and_then(Value::as_str) else {
            continue;
        };
        let domain = seed.id.as_str().split('/').next().unwrap().to_owned();
        if line.contains('\n') || line.len() > 300 || !domains.insert(domain) {
            continue;
        }
        stolen.push((escaped(line), line.to_owned()));
        if stolen.len() == 15 {
            break;
        }
    }
    stolen
}

fn bodies() -> Vec<(String, Value)> {
    let record = |regex: &str, signature: &str| {
        let mut record: Value = serde_json::from_str(&document(ID, signature)).unwrap();
        record["regex"] = regex.into();
        record
    };
    let bad = LOOSE.map(str::to_owned).into_iter().chain(explosive());
    let bad = bad.map(|regex| {
        (
            regex.clone(),
            json!({ "document": record(&regex, "widget error 3") }),
        )
    });
    let stolen = stealing().into_iter();
    let stolen = stolen.map(|(regex, line)| (regex.clone(), json!({ "document": record(&regex, &line) })));
    let rules = rules().into_iter().map(|when| {
        let rule =
            json!([{ "id": "harm", "scope": "pair", "when": when, "evidence": ["pair.verdict.reason"] }]);
        let ext = json!({ "schema_version": 1, "probe": rule });
        let record = record("the zorgblat axle came off", "the zorgblat axle came off");
        (when, json!({ "document": record, "ext": ext }))
    });
    bad.chain(stolen).chain(rules).collect()
}

#[tokio::test]
async fn none_of_sixty_patterns_and_rules_that_were_made_to_do_harm_is_published() {
    let app = TestApp::start_with(|options| options.seeds = peerless::bundle::embedded().unwrap()).await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let path = format!("/api/v1/records/{ID}");
    let bodies = bodies();
    assert_eq!(bodies.len(), 60);
    let head = app.store.head_seq().await.unwrap();
    let mut published = Vec::new();
    for (what, body) in &bodies {
        let began = Instant::now();
        let put = app
            .put(&format!("{path}?view=full&publish=true"), &token)
            .header("if-none-match", "*")
            .body(body.to_string());
        let answer = put.send().await.unwrap();
        let status = answer.status();
        if status != 422 {
            published.push(format!("{what:.80}: {status}"));
            continue;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "{what:.80} took {:?}",
            began.elapsed()
        );
        problem(app.get(&path).await, 404, "not_found").await;
    }
    assert!(published.is_empty(), "{published:#?}");
    assert_eq!(app.store.head_seq().await.unwrap(), head, "nothing was stored");
    // The same record with a good pattern goes through: the refusals were about the patterns.
    let signature = "widget: the zorgblat axle came off its frobnicator";
    let good = json!({ "document": serde_json::from_str::<Value>(&document(ID, signature)).unwrap() });
    let put = app
        .put(&format!("{path}?view=full&publish=true"), &token)
        .header("if-none-match", "*")
        .body(good.to_string());
    let answer = put.send().await.unwrap();
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
}

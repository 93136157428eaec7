//! The webhook: what is done with records is told to another program, signed, again until it is taken.

use peerless::clock::FixedClock;
use peerless::domain::tell::{Carrier, OLDEST, Outcome, send_next};
use peerless::store::{Delivery, DeliveryEnd, NewDelivery, Scope, Store};
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _};
use time::{Duration, OffsetDateTime};

use crate::database::Database;
use crate::process::until;
use crate::receiver::{Came, Receiver, begun, metric, secret, set};
use crate::records::{P2P, document};
use crate::test_app::{NOW, Options, TestApp};

/// Withdraws a record and publishes it again: an event each.
async fn step(app: &TestApp, token: &str, step: &str) {
    let done = app.post(&format!("{P2P}/-/{step}")).bearer_auth(token).send();
    assert_eq!(done.await.unwrap().status(), 200, "{step}");
}

const WITHDRAW: &str = "withdraw?reason=bogus";

/// Seven events: of a record with reviews, and of one that is published and withdrawn.
async fn curate(app: &TestApp, id: &str) {
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let post = async |step: &str, sent: Value| {
        let request = app
            .post(&format!("{P2P}/-/{step}"))
            .bearer_auth(&token)
            .json(&sent);
        let answer = request.send().await.unwrap();
        assert!(
            answer.status().is_success(),
            "{step}: {}",
            answer.text().await.unwrap()
        );
    };
    let text = app.get(P2P).await.text().await.unwrap();
    for (revision, end) in [(1, "\n"), (2, "\n\n")] {
        let put = app
            .put(P2P, &token)
            .header("if-match", format!("\"r{revision}\""));
        let saved = put.body(format!("{text}{end}")).send().await.unwrap();
        assert_eq!(saved.status(), 200, "{}", saved.text().await.unwrap());
    }
    post("review", json!({ "step": "ask", "revision": 2 })).await;
    let comment = json!({ "revision": 2, "part": "document", "pointer": "/root_cause", "body": "why?" });
    post("comments", comment).await;
    post(
        "review",
        json!({ "step": "send_back", "revision": 2, "reason": "say more" }),
    )
    .await;
    post("review", json!({ "step": "ask", "revision": 3 })).await;
    post(
        "review",
        json!({ "step": "approve", "revision": 3, "reason": "good" }),
    )
    .await;
    let created = app
        .put(&format!("/api/v1/records/{id}?publish=true"), &token)
        .header("if-none-match", "*")
        .body(document(id, "made up to be told by a webhook"))
        .send();
    assert_eq!(created.await.unwrap().status(), 201);
    let withdraw = format!("/api/v1/records/{id}/-/withdraw?reason=bogus");
    let withdrawn = app.post(&withdraw).bearer_auth(&token).send();
    assert_eq!(withdrawn.await.unwrap().status(), 200);
}

async fn told(change: impl FnOnce(&mut Options)) {
    // Fails twice, then leads elsewhere.
    let receiver = Receiver::start(&[500, 503, 302]);
    let secret = secret();
    let app = TestApp::start_with(|options| {
        set(options, &receiver, &secret);
        options.settings.public_url = Some("https://kb.example.org/".to_owned());
        change(options);
    })
    .await;
    begun(&app).await;
    let id = "cuda/of-the-webhook";
    curate(&app, id).await;
    let came = receiver.taken(&app, 7).await;
    let mut last: Vec<&Came> = came.iter().filter(|came| came.status == 204).collect();
    let row = |came: &Came| came.id.strip_prefix("audit-").unwrap().parse::<u32>().unwrap();
    last.sort_by_key(|came| row(came));
    let types: Vec<&str> = last
        .iter()
        .map(|came| came.body["type"].as_str().unwrap())
        .collect();
    let expected = [
        "review.asked",
        "comment.added",
        "review.sent_back",
        "review.asked",
        "review.approved",
        "record.published",
        "record.withdrawn",
    ];
    assert_eq!(types, expected);
    assert!(came.iter().all(|came| came.is_signed), "{came:?}");
    // No redirect was followed.
    assert!(
        came.iter().all(|came| came.path == "/hook?key=of-the-address"),
        "{came:?}"
    );
    let failed: Vec<u16> = came
        .iter()
        .map(|came| came.status)
        .filter(|&status| status != 204)
        .collect();
    assert_eq!(failed, [500, 503, 302]);
    // Every attempt has the id and the text of the first.
    for one in &came {
        let other = last.iter().find(|last| last.id == one.id).unwrap();
        assert_eq!(one.body, other.body);
    }
    let data = &last[2].body["data"];
    assert_eq!(
        (&data["reason"], &data["actor"]["name"]),
        (&json!("say more"), &json!("tester"))
    );
    assert_eq!(last[1].body["data"]["field"], "/root_cause");
    assert_eq!(
        last[6].body["data"]["url"],
        format!("https://kb.example.org/r/{id}")
    );

    metric(&app, "webhook_delivered_total 7").await;
    metric(&app, "webhook_failed_total 3").await;
    metric(&app, "webhook_given_up_total 0").await;
    metric(&app, "webhook_waiting 0").await;
}

#[tokio::test]
async fn what_is_done_with_records_is_told_until_it_is_taken_on_sqlite() {
    told(|_| {}).await;
}

#[tokio::test]
async fn what_is_done_with_records_is_told_until_it_is_taken_on_postgres() {
    let database = Database::make().await;
    told(|options| options.settings.data.database = Some(database.url())).await;
    database.end().await;
}

#[tokio::test]
async fn a_restart_between_an_event_and_its_delivery_loses_nothing() {
    let receiver = Receiver::start(&[500]);
    let secret = secret();
    let app = TestApp::start_with(|options| set(options, &receiver, &secret)).await;
    begun(&app).await;
    let token = app.token(&[Scope::Publish]).await;
    step(&app, &token, WITHDRAW).await;
    metric(&app, "webhook_failed_total 1").await;
    // A server without a webhook takes the next change.
    let folder = app.stop().await;
    let options = Options::new(&folder);
    let app = TestApp::start_in(folder, options).await;
    step(&app, &token, "publish").await;
    let folder = app.stop().await;
    assert_eq!(receiver.came().len(), 1);

    let mut options = Options::new(&folder);
    set(&mut options, &receiver, &secret);
    let app = TestApp::start_in(folder, options).await;
    let came = receiver.taken(&app, 2).await;
    assert_eq!(came.len(), 3);
    let withdrawn = receiver.of_type("record.withdrawn");
    let answers: Vec<u16> = withdrawn.iter().map(|came| came.status).collect();
    assert_eq!(answers, [500, 204]);
    assert_eq!(withdrawn[0].id, withdrawn[1].id);
    assert_eq!(receiver.of_type("record.published").len(), 1);
}

#[tokio::test]
async fn what_nobody_takes_is_given_up_and_shown() {
    let receiver = Receiver::start(&[410, 410]);
    let secret = secret();
    let app = TestApp::start_with(|options| set(options, &receiver, &secret)).await;
    begun(&app).await;
    let token = app.token(&[Scope::Publish, Scope::Admin]).await;
    step(&app, &token, WITHDRAW).await;
    metric(&app, "webhook_failed_total 1").await;
    app.clock.set(NOW + Duration::hours(73));
    metric(&app, "webhook_given_up_total 1").await;
    let audit = app.get_with("/api/v1/audit?action=webhook", &token).await;
    let audit = crate::test_app::json(audit).await;
    let entry = &audit["entries"][0];
    assert_eq!(entry["action"], "webhook.give_up", "{audit}");
    assert_eq!(entry["detail"]["why"], "it answered 410", "{audit}");
    assert_eq!(entry["detail"]["event"], "record.withdrawn");
    // It holds up nothing that comes later.
    step(&app, &token, "publish").await;
    metric(&app, "webhook_delivered_total 1").await;
    metric(&app, "webhook_waiting 0").await;
}

#[tokio::test]
async fn several_servers_on_one_database_send_each_event_once() {
    let database = Database::make().await;
    let receiver = Receiver::start(&[]);
    let secret = secret();
    let start = async || {
        TestApp::start_with(|options| {
            set(options, &receiver, &secret);
            options.settings.data.database = Some(database.url());
        })
        .await
    };
    let servers = [start().await, start().await, start().await];
    begun(&servers[0]).await;
    let token = servers[0].token(&[Scope::Publish]).await;
    for round in 0..10 {
        step(&servers[round % 3], &token, WITHDRAW).await;
        step(&servers[round % 3], &token, "publish").await;
    }
    until("nothing waits", || async {
        let state = servers[0].store.delivery_state(NOW).await.unwrap();
        state.queued_to == Some(state.audit) && state.waiting == 0
    })
    .await;
    let mut ids: Vec<String> = receiver.came().into_iter().map(|came| came.id).collect();
    assert_eq!(ids.len(), 20);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
    for server in servers {
        server.stop().await;
    }
    database.end().await;
}

#[tokio::test]
async fn what_cannot_be_read_holds_up_nothing_else_and_is_counted() {
    let receiver = Receiver::start(&[]);
    let secret = secret();
    let app = TestApp::start_with(|options| set(options, &receiver, &secret)).await;
    begun(&app).await;
    metric(&app, "webhook_errors_total 0").await;
    let audit = app.store.delivery_state(NOW).await.unwrap().audit;
    let url = format!("sqlite://{}/peerless.db", app.folder.path().display());
    let mut database = sqlx::SqliteConnection::connect(&url).await.unwrap();
    // A row in a form that this version does not know.
    let sql = "BEGIN IMMEDIATE; UPDATE counter SET value = value + 1 WHERE name = 'audit'; INSERT INTO audit \
        (n, at, actor_kind, actor_id, actor_name, action, subject, detail) SELECT value, '2026-01-02T00:00:00Z', 'system', \
        'test', 'test', 'review.ask', 'a/b', 'no JSON' FROM counter WHERE name = 'audit'; COMMIT";
    database.execute(sql).await.unwrap();
    database.close().await.unwrap();
    let made = NewDelivery {
        id: "fleet-1".to_owned(),
        kind: "finding.began",
        body: "{}".to_owned(),
        made_at: NOW,
    };
    let queued = app.store.queue_audit((audit, audit), &[made], NOW).await;
    assert_eq!(queued.unwrap(), Some(0));
    metric(&app, "webhook_delivered_total 1").await;
    until("the failure is counted", || async {
        let metrics = app.get("/metrics").await.text().await.unwrap();
        let counted = |line: &str| line.starts_with("webhook_errors_total ") && !line.ends_with(" 0");
        metrics.lines().any(counted)
    })
    .await;
}

/// A receiver that answers so late that another server has the event given up meanwhile.
struct Late<'s> {
    store: &'s dyn Store,
    clock: &'s FixedClock,
}

#[async_trait::async_trait]
impl Carrier for Late<'_> {
    async fn carry(&self, _: &Delivery, now: OffsetDateTime) -> Result<(), String> {
        let late = now + Duration::minutes(2);
        self.clock.set(late);
        let claimed = self.store.claim_delivery(late, late + Duration::minutes(1)).await;
        let claim = claimed.unwrap().unwrap();
        let end = DeliveryEnd::GivenUp {
            why: "of the other server".to_owned(),
        };
        assert!(self.store.settle_delivery(&claim, &end, late).await.unwrap());
        Err("it was too late".to_owned())
    }
}

#[tokio::test]
async fn what_another_server_has_meanwhile_counts_there_alone() {
    let app = TestApp::start().await;
    let store = app.store.as_ref();
    store.begin_deliveries().await.unwrap();
    let audit = store.delivery_state(NOW).await.unwrap().audit;
    let made = NewDelivery {
        id: "audit-1".to_owned(),
        kind: "review.asked",
        body: "{}".to_owned(),
        // Old enough to be given up here, too.
        made_at: NOW - OLDEST - Duration::hours(1),
    };
    let queued = store.queue_audit((audit, audit), &[made], NOW).await.unwrap();
    assert_eq!(queued, Some(0));
    let clock = app.clock.as_ref();
    let sent = send_next(store, &Late { store, clock }, clock).await.unwrap();
    assert_eq!(sent, Some(Outcome::Overtaken));
}

#[test]
fn a_webhook_needs_an_address_and_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let short = folder.path().join("secret");
    std::fs::write(&short, "too short").unwrap();
    let short = short.to_str().unwrap();
    for (arguments, told) in [
        (vec!["--webhook", "https://x.example/"], "--webhook-secret-file"),
        (vec!["--webhook-secret-file", short], "--webhook"),
        (
            vec!["--webhook", "ftp://x", "--webhook-secret-file", short],
            "https://chat.example.org",
        ),
        (
            vec!["--webhook", "http://me:hidden@x/", "--webhook-secret-file", short],
            "https://chat.example.org",
        ),
        (
            vec!["--alertmanager", "http://x/hidden key"],
            "--alertmanager: write an address",
        ),
        (
            vec!["--alertmanager", "http://x/?hidden"],
            "http://alertmanager:9093",
        ),
        (
            vec!["--webhook", "http://127.0.0.1:1", "--webhook-secret-file", short],
            "24 bytes",
        ),
        (
            vec![
                "--webhook",
                "http://127.0.0.1:1",
                "--webhook-secret-file",
                "/nowhere",
            ],
            "/nowhere",
        ),
    ] {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--data-dir", data];
        all.extend(arguments);
        let ended = crate::process::run(&all);
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success() && stderr.contains(told), "{stderr}");
        assert!(
            !stderr.contains("too short") && !stderr.contains("hidden"),
            "{stderr}"
        );
    }
    let mut help = crate::process::peerless();
    for name in ["PEERLESS_WEBHOOK", "PEERLESS_ALERTMANAGER"] {
        help.env(name, "https://x.example/hidden");
    }
    let help = help.args(["serve", "--help"]).output().unwrap();
    assert!(help.status.success());
    assert!(!String::from_utf8_lossy(&help.stdout).contains("hidden"));
}

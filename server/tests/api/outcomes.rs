//! Votes on what a record advises.

use kb_core::ids::Revision;
use kb_core::record::Record;
use peerless::clock::SystemRandom;
use peerless::domain::tokens;
use peerless::store::{
    ActionKind, By, FeedbackState, NewOutcome, Role, Scope, VoteOutcome, Voter, VoterKind,
};
use reqwest::Method;
use serde_json::{Value, json as object};

use crate::records::P2P;
use crate::test_app::{NOW, TestApp, json, problem};

const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";

async fn vote(app: &TestApp, token: &str, body: &Value) -> reqwest::Response {
    let request = app
        .post(&format!("{P2P}/-/outcomes"))
        .bearer_auth(token)
        .json(body);
    request.send().await.unwrap()
}

/// A token of a person's own. Voting needs no scope of it.
async fn own_token(app: &TestApp, person: &str) -> String {
    let by = By::system("test");
    let issued = tokens::issue(
        app.store.as_ref(),
        &SystemRandom,
        tokens::Wanted {
            name: "own".to_owned(),
            person: Some(person.to_owned()),
            ..tokens::Wanted::default()
        },
        &by,
        NOW,
    );
    issued.await.unwrap().text
}

/// Votes of so many people on the first workaround.
async fn people_vote(app: &TestApp, people: std::ops::Range<usize>, driver: &str, outcome: VoteOutcome) {
    let id = RECORD.parse().unwrap();
    let texts = app.store.revision(&id, Revision(1)).await.unwrap().unwrap();
    let record = Record::parse(&texts.document, &texts.annex).unwrap();
    for person in people {
        let saved = app.store.save_outcome(NewOutcome {
            record: id.clone(),
            revision: Revision(1),
            kind: ActionKind::Workaround,
            action: record.document.workarounds[0].action.clone(),
            position: 0,
            environment: "{}".to_owned(),
            model: "h200".to_owned(),
            driver: driver.to_owned(),
            voter: Voter {
                kind: VoterKind::Person,
                id: format!("person {person}"),
            },
            outcome,
            at: NOW,
        });
        saved.await.unwrap();
    }
}

async fn first_action(app: &TestApp) -> Value {
    app.get_json(&format!("{P2P}/-/outcomes")).await["actions"][0].clone()
}

#[tokio::test]
async fn a_share_is_told_from_ten_people_on() {
    let app = TestApp::start().await;
    let nothing = app.get_json(&format!("{P2P}/-/outcomes")).await;
    assert_eq!(nothing["actions"], object!([]));
    people_vote(&app, 0..9, "550.54.14", VoteOutcome::Worked).await;
    let nine = first_action(&app).await;
    assert_eq!((&nine["reporters"], &nine["share"]), (&object!(9), &Value::Null));
    let person = app.person("ada", Role::Viewer, false).await;
    let token = own_token(&app, &person).await;
    let body = object!({"tried": "/workarounds/0", "worked": false, "environment": {"driver": "560.1"}});
    assert_eq!(json(vote(&app, &token, &body).await).await["outcome"], "added");
    insta::assert_json_snapshot!(app.get_json(&format!("{P2P}/-/outcomes")).await);
}

/// Two tokens and a session of one person are one voter, who may say later that the error came back.
#[tokio::test]
async fn a_person_is_one_voter_with_whatever_they_send() {
    let app = TestApp::start().await;
    let person = app.person("ada", Role::Viewer, false).await;
    let (one, other) = (own_token(&app, &person).await, own_token(&app, &person).await);
    let worked = object!({"tried": "/workarounds/0", "worked": true});
    assert_eq!(json(vote(&app, &one, &worked).await).await["outcome"], "added");
    assert_eq!(
        json(vote(&app, &other, &worked).await).await["outcome"],
        "unchanged"
    );
    let came_back = object!({"tried": "/workarounds/0", "worked": true, "came_back": true});
    let browser = app.browser("ada").await;
    let sent = browser
        .request(Method::POST, &format!("{P2P}/-/outcomes"))
        .header("origin", &browser.url)
        .header("x-csrf-token", &browser.csrf)
        .json(&came_back);
    assert_eq!(json(sent.send().await.unwrap()).await["outcome"], "changed");
    assert_eq!(first_action(&app).await["reporters"], 1);
    people_vote(&app, 0..9, "", VoteOutcome::Worked).await;
    let share = first_action(&app).await["share"].clone();
    assert_eq!(
        (&share["n"], &share["worked"], &share["came_back"]),
        (&object!(10), &object!(9), &object!(1))
    );
}

#[tokio::test]
async fn tokens_without_an_owner_count_in_no_share() {
    let app = TestApp::start().await;
    people_vote(&app, 0..9, "", VoteOutcome::Worked).await;
    let token = app.token(&[Scope::Report]).await;
    let worked = object!({"tried": "/workarounds/0", "worked": true});
    assert_eq!(json(vote(&app, &token, &worked).await).await["outcome"], "added");
    let counted = first_action(&app).await;
    assert_eq!(
        (&counted["reporters"], &counted["tokens"]),
        (&object!(9), &object!(1))
    );
    assert_eq!(counted["share"], Value::Null);
}

/// Versions are invented quickly, and components are not.
#[tokio::test]
async fn an_environment_names_what_there_is() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Report]).await;
    for (environment, told) in [
        (object!({"drver": "1"}), "is driver meant?"),
        (object!({"driver": "abc"}), "is no version of driver"),
    ] {
        let body = object!({"tried": "/workarounds/0", "worked": true, "environment": environment});
        let refused = problem(vote(&app, &token, &body).await, 400, "malformed_body").await;
        assert!(refused["detail"].as_str().unwrap().contains(told), "{refused}");
    }
}

#[tokio::test]
async fn without_a_login_votes_go_to_the_queue_alone() {
    let app = TestApp::start_with(|options| options.settings.anonymous_writing = true).await;
    people_vote(&app, 0..9, "", VoteOutcome::Worked).await;
    let path = format!("{P2P}/-/outcomes");
    let good = object!({"tried": "/workarounds/0", "worked": true});
    for _ in 0..20 {
        let receipt = json(app.post(&path).json(&good).send().await.unwrap()).await;
        assert_eq!(receipt["outcome"], "queued");
    }
    let refused = app.post(&path).json(&good).send().await.unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    problem(refused, 429, "rate_limited").await;
    let counted = first_action(&app).await;
    assert_eq!(
        (&counted["reporters"], &counted["share"]),
        (&object!(9), &Value::Null)
    );
    let waiting = app
        .store
        .feedback(FeedbackState::Waiting, None, 100)
        .await
        .unwrap();
    assert_eq!(waiting.len(), 20);
    assert_eq!(waiting[0].from.kind, VoterKind::Anonymous);
    let metrics = app.get("/metrics").await.text().await.unwrap();
    for line in ["anonymous_kept_total 20", "anonymous_refused_total 1"] {
        assert!(metrics.contains(line), "{metrics}");
    }
}

#[tokio::test]
async fn a_vote_needs_a_token_and_something_that_was_tried() {
    let app = TestApp::start().await;
    let good = object!({"tried": "/workarounds/0", "worked": true});
    let path = format!("{P2P}/-/outcomes");
    problem(
        app.post(&path).json(&good).send().await.unwrap(),
        401,
        "unauthorized",
    )
    .await;
    let editor = app.token(&[Scope::Edit]).await;
    problem(vote(&app, &editor, &good).await, 403, "forbidden").await;
    let token = app.token(&[Scope::Report]).await;
    for (bad, status, code) in [
        (
            object!({"tried": "/workarounds/99", "worked": true}),
            400,
            "malformed_body",
        ),
        (
            object!({"tried": "/signature", "worked": true}),
            400,
            "malformed_body",
        ),
        (object!({"tried": "/workarounds/0"}), 400, "malformed_body"),
        (
            object!({"tried": "/workarounds/0", "worked": true, "note": "x"}),
            400,
            "malformed_body",
        ),
        (
            object!({"tried": "/workarounds/0", "worked": false, "came_back": true}),
            400,
            "malformed_body",
        ),
        (
            object!({"tried": "/workarounds/0", "worked": true, "revision": 7}),
            404,
            "not_found",
        ),
        (
            object!({"tried": "/workarounds/0", "worked": true, "environment": {"driver": ""}}),
            400,
            "malformed_body",
        ),
        (
            object!({"tried": "x".repeat(20_000), "worked": true}),
            413,
            "too_large",
        ),
    ] {
        problem(vote(&app, &token, &bad).await, status, code).await;
    }
    for (method, path) in [(Method::GET, "no/such"), (Method::POST, "no/such")] {
        let request = app.request(method, &format!("/api/v1/records/{path}/-/outcomes"));
        let response = request.bearer_auth(&token).json(&good).send().await.unwrap();
        problem(response, 404, "not_found").await;
    }
}

//! Twenty editors at once on shared records: nothing that one of them was told is lost, and none is told that the server failed.

mod checks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use peerless::clock::SystemRandom;
use peerless::domain::accounts::people;
use peerless::domain::tokens;
use peerless::store::{By, Role, Scope, Standing};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::agreement;
use crate::database::Database;
use crate::durability::Chance;
use crate::records::document;
use crate::test_app::{NOW, TestApp};
use checks::{check_readers, check_reviews, check_texts, check_told};

const EDITORS: u64 = 20;
const SHARED: u64 = 10;
/// What each editor does, unless `PEERLESS_TEST_EDITS` says otherwise.
const STEPS: u64 = 15;
const EXPECTED: [u16; 4] = [409, 412, 422, 429];

/// What an editor was told that he had done.
#[derive(Debug)]
struct Told {
    editor: String,
    record: String,
    /// The step's own mark, which stands in the text and the note of what it saved.
    mark: String,
    saved: Option<u32>,
    published: Option<(i64, u32)>,
    asked: Option<u32>,
    sent_back: bool,
}

#[derive(Debug, Default)]
struct Day {
    told: Vec<Told>,
    statuses: BTreeMap<(&'static str, u16), u32>,
}

struct Editor {
    app: Arc<TestApp>,
    name: String,
    token: String,
    chance: Chance,
    day: Day,
}

/// The texts with a mark added, as an editor changes them. Every third mark changes what decides a verdict, too.
fn changed(document: &Value, annex: &Value, mark: &str) -> (Value, Value) {
    let (mut document, mut annex) = (document.clone(), annex.clone());
    let cause = format!("{} {mark}", document["root_cause"].as_str().unwrap());
    document["root_cause"] = cause.into();
    let last = mark.bytes().last().unwrap();
    if last.is_multiple_of(3) {
        annex["severity"] = if last.is_multiple_of(2) { "info" } else { "fatal" }.into();
    }
    (document, annex)
}

impl Editor {
    fn call(&self, method: Method, id: &str, rest: &str) -> RequestBuilder {
        let path = format!("/api/v1/records/{id}{rest}");
        self.app.request(method, &path).bearer_auth(&self.token)
    }

    async fn head(&self, id: &str) -> Value {
        let head = self.call(Method::GET, id, "?view=full&revision=head").send();
        let head = head.await.unwrap();
        assert_eq!(head.status(), 200, "{id}: {}", head.text().await.unwrap());
        serde_json::from_slice(&head.bytes().await.unwrap()).unwrap()
    }

    /// Sends a step; the answer if it was done.
    async fn send(&mut self, step: &'static str, request: RequestBuilder) -> Option<Value> {
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let body = answer.text().await.unwrap();
        *self.day.statuses.entry((step, status.as_u16())).or_default() += 1;
        if !status.is_success() {
            assert!(
                EXPECTED.contains(&status.as_u16()) || status == StatusCode::SERVICE_UNAVAILABLE,
                "{step} by {}: {status} {body}",
                self.name
            );
            return None;
        }
        Some(serde_json::from_str(&body).unwrap())
    }

    fn note(&mut self, id: &str, mark: &str, answer: &Value) -> &mut Told {
        let published = match &answer["published"] {
            Value::Object(_) => &answer["published"],
            _ => answer,
        };
        let published = published["seq"]
            .as_i64()
            .zip(published["revision"].as_u64())
            .map(|(seq, revision)| (seq, u32::try_from(revision).unwrap()));
        self.day.told.push(Told {
            editor: self.name.clone(),
            record: id.to_owned(),
            mark: mark.to_owned(),
            saved: None,
            published,
            asked: None,
            sent_back: false,
        });
        self.day.told.last_mut().unwrap()
    }

    async fn create(&mut self, id: &str, mark: &str) {
        let words = id.replace(['/', '-'], " ");
        let request = self
            .call(Method::PUT, id, &format!("?publish=true&note={mark}"))
            .header("content-type", "application/json")
            .header("if-none-match", "*")
            .body(document(
                id,
                &format!("made up by twenty editors: {words} failed"),
            ));
        let answer = self.send("create", request).await;
        let answer = answer.unwrap_or_else(|| panic!("{id}: {:?}", self.day.statuses));
        self.note(id, mark, &answer).saved = Some(1);
    }

    /// All editors read the same head, and then save upon it at once.
    async fn race(&mut self, id: &str, ready: &Barrier) {
        let head = self.head(id).await;
        ready.wait().await;
        let mark = format!("{}-race", self.name);
        self.save("race", (id, &mark), &head, false).await;
    }

    async fn edit(&mut self, id: &str, mark: &str, publish: bool) {
        let head = self.head(id).await;
        let step = if publish { "edit and publish" } else { "edit" };
        self.save(step, (id, mark), &head, publish).await;
    }

    async fn save(&mut self, step: &'static str, (id, mark): (&str, &str), head: &Value, publish: bool) {
        let (document, annex) = changed(&head["document"], &head["ext"], mark);
        let query = format!("?view=full&publish={publish}&note={mark}");
        let request = self
            .call(Method::PUT, id, &query)
            .header("if-match", format!("\"r{}\"", head["head_revision"]))
            .json(&json!({ "document": document, "ext": annex }));
        if let Some(answer) = self.send(step, request).await {
            assert_eq!(answer["changed"], true, "{answer}");
            let saved = u32::try_from(answer["revision"].as_u64().unwrap()).unwrap();
            self.note(id, mark, &answer).saved = Some(saved);
        }
    }

    async fn review(&mut self, id: &str, mark: &str, step: &'static str) {
        let mut sent = json!({ "step": step, "reason": mark });
        if step != "ask" {
            let reviews = self.call(Method::GET, id, "/-/reviews").send().await.unwrap();
            assert_eq!(reviews.status(), 200);
            let reviews: Value = reviews.json().await.unwrap();
            let open = reviews["reviews"].as_array().unwrap().iter();
            let Some(open) = open.clone().find(|review| review["state"] == "open") else {
                return;
            };
            sent["revision"] = open["revision"].clone();
        }
        let request = self.call(Method::POST, id, "/-/review").json(&sent);
        if let Some(answer) = self.send(step, request).await {
            let asked = answer["review"]["n"].as_u64();
            let told = self.note(id, mark, &answer);
            told.asked = asked.map(|n| u32::try_from(n).unwrap());
            told.sent_back = step == "send_back";
        }
    }

    async fn revert(&mut self, id: &str, mark: &str) {
        let head = self.head(id).await["head_revision"].as_u64().unwrap();
        let request = self
            .call(Method::POST, id, "/-/revert")
            .header("if-match", format!("\"r{head}\""))
            .json(&json!({ "revision": 1 + self.chance.below(head) }));
        if let Some(answer) = self.send("revert", request).await {
            self.note(id, mark, &answer);
        }
    }

    async fn step(&mut self, number: u64) {
        let mark = format!("{}-{number:03}", self.name);
        let shared = format!("cuda/twenty-{:02}", self.chance.below(SHARED));
        let own = format!("cuda/own-{}", self.name);
        match self.chance.below(20) {
            0..5 => self.edit(&shared, &mark, false).await,
            5..7 => self.edit(&shared, &mark, true).await,
            7..9 => self.edit(&own, &mark, true).await,
            9..11 => self.review(&shared, &mark, "ask").await,
            11..13 => self.review(&shared, &mark, "approve").await,
            13 => self.review(&shared, &mark, "send_back").await,
            14..17 => {
                let request = self.call(Method::POST, &shared, "/-/publish");
                if let Some(answer) = self.send("publish", request).await {
                    self.note(&shared, &mark, &answer);
                }
            }
            17..19 => self.revert(&shared, &mark).await,
            _ => {
                let request = self.call(Method::POST, &shared, &format!("/-/withdraw?reason={mark}"));
                if let Some(answer) = self.send("withdraw", request).await {
                    self.note(&shared, &mark, &answer);
                }
            }
        }
    }

    async fn new(app: &Arc<TestApp>, number: u64) -> Self {
        let name = format!("e{number:02}");
        let by = By::system("test");
        let person = people::Wanted {
            login: &name,
            name: "",
            password: None,
            standing: Standing {
                role: Role::Editor,
                operator: false,
            },
        };
        let how = (
            &app.state.passwords,
            &SystemRandom as &dyn peerless::clock::Random,
        );
        let person = people::add(app.store.as_ref(), how, &person, &by, NOW)
            .await
            .unwrap();
        let wanted = tokens::Wanted {
            name: name.clone(),
            scopes: vec![Scope::Edit, Scope::Publish],
            person: Some(person),
            ..tokens::Wanted::default()
        };
        let token = tokens::issue(app.store.as_ref(), &SystemRandom, wanted, &by, NOW);
        Self {
            app: Arc::clone(app),
            name,
            token: token.await.unwrap().text,
            chance: Chance(20_260_119 + number),
            day: Day::default(),
        }
    }
}

async fn twenty_editors(app: TestApp) {
    let steps = std::env::var("PEERLESS_TEST_EDITS").map_or(STEPS, |text| text.parse().unwrap());
    let app = Arc::new(app);
    let mut first = Editor::new(&app, EDITORS).await;
    for number in 0..SHARED {
        let id = format!("cuda/twenty-{number:02}");
        first.create(&id, &format!("{}-{number:03}", first.name)).await;
    }
    let ready = Arc::new(Barrier::new(usize::try_from(EDITORS).unwrap()));
    let mut at_work = JoinSet::new();
    for number in 0..EDITORS {
        let mut editor = Editor::new(&app, number).await;
        let ready = Arc::clone(&ready);
        at_work.spawn(async move {
            editor.race("cuda/twenty-00", &ready).await;
            let own = format!("cuda/own-{}", editor.name);
            editor.create(&own, &format!("{}-own", editor.name)).await;
            for number in 0..steps {
                editor.step(number).await;
            }
            editor.day
        });
    }
    let mut told = first.day.told;
    let mut statuses = BTreeMap::new();
    while let Some(day) = at_work.join_next().await {
        let day = day.unwrap();
        told.extend(day.told);
        for (status, count) in day.statuses {
            *statuses.entry(status).or_insert(0) += count;
        }
    }
    println!("{statuses:?}");
    let unexpected: Vec<_> = statuses
        .iter()
        .filter(|((_, status), _)| *status >= 300 && !EXPECTED.contains(status))
        .collect();
    assert!(unexpected.is_empty(), "{unexpected:?} of {statuses:?}");
    for step in [
        "edit",
        "edit and publish",
        "ask",
        "approve",
        "send_back",
        "publish",
        "revert",
        "withdraw",
    ] {
        assert!(
            statuses
                .iter()
                .any(|((done, status), _)| *done == step && *status < 300),
            "{step} was never done: {statuses:?}"
        );
    }
    let raced = [200, 412].map(|status| statuses.get(&("race", status)).copied());
    assert_eq!(raced, [Some(1), Some(19)], "{statuses:?}");
    let rows = agreement::check(app.store.as_ref()).await;
    check_told(&told, &rows);
    for id in told
        .iter()
        .map(|told| told.record.as_str())
        .collect::<BTreeSet<_>>()
    {
        let id = id.parse().unwrap();
        check_texts(app.store.as_ref(), &id).await;
        check_reviews(app.store.as_ref(), &id, &told, &rows).await;
        check_readers(&app, &id).await;
    }
}

#[tokio::test]
async fn twenty_editors_at_once_lose_nothing_on_sqlite() {
    twenty_editors(TestApp::start_with(|options| options.seeds.clear()).await).await;
}

#[tokio::test]
async fn twenty_editors_at_once_lose_nothing_on_postgres() {
    let database = Database::make().await;
    let app = TestApp::start_with(|options| {
        options.seeds.clear();
        options.settings.data.database = Some(database.url());
    });
    twenty_editors(app.await).await;
    database.end().await;
}

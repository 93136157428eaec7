//! Answers that are shared: shown before they are kept, without names, read by their link until their time is over, and deleted by
//! another link.

use peerless::store::{AnonymousKind, Scope};
use reqwest::Response;
use serde_json::{Value, json};
use time::Duration;

use crate::browser::Browser;
use crate::test_app::{NOW, TestApp};

const ID: &str = "cuda/peer-access-unsupported-by-hardware";
const OTHER: &str = "tensorflow/gpu-peer-access-error";
const KNOWN: &str = "2026-01-02T03:04:05 ann@trainbox-7 RuntimeError: CUDA error: peer access is not supported between these two devices \
    password=hunter2 at 10.1.2.3";
const UNKNOWN: &str = "zorgblat: axle <script>alert(1)</script> failed in /home/ann/secret-project/run.py";
const QUIET: &str = "epoch 12 went well";

async fn open() -> TestApp {
    TestApp::start_with(|options| options.settings.anonymous_writing = true).await
}

fn text() -> String {
    format!("{QUIET}\n{KNOWN}\n{UNKNOWN}\n{QUIET}\n")
}

/// What a form of a page holds.
pub(crate) fn answer_of(page: &str) -> String {
    let (_, rest) = page
        .split_once("name=\"answer\" value=\"")
        .unwrap_or_else(|| panic!("no answer to share: {page}"));
    let value = rest.split('"').next().unwrap();
    let signs = [
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#38;", "&"),
    ];
    signs.iter().fold(value.to_owned(), |text, (escaped, sign)| {
        text.replace(escaped, sign)
    })
}

pub(crate) async fn page(response: Response) -> String {
    let status = response.status();
    let text = response.text().await.unwrap();
    assert_eq!(status, 200, "{text}");
    text
}

pub(crate) async fn post(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> Response {
    browser.form(path, fields).send().await.unwrap()
}

/// The page that shows what would be kept of a text.
async fn preview(browser: &Browser, text: &str) -> String {
    let found = page(post(browser, "/match", &[("text", text)]).await).await;
    let answer = answer_of(&found);
    page(post(browser, "/share", &[("answer", &answer)]).await).await
}

/// Link and deleting link.
async fn share(browser: &Browser, text: &str, days: &str) -> (String, String) {
    let answer = answer_of(&preview(browser, text).await);
    let made = post(browser, "/share/keep", &[("answer", &answer), ("days", days)]).await;
    let made = page(made).await;
    let link = |path: &str| {
        let at = made.find(path).unwrap_or_else(|| panic!("no {path}: {made}"));
        made[at..].split(['"', '?', '<']).next().unwrap().to_owned()
    };
    (link("/a/"), link("/kept/"))
}

async fn kept(app: &TestApp) -> Vec<String> {
    let entries = app.store.anonymous(AnonymousKind::Answer, None, 100).await;
    entries.unwrap().into_iter().map(|entry| entry.body).collect()
}

#[tokio::test]
async fn no_answer_is_shared_unless_the_operator_allows_it() {
    let app = TestApp::start().await;
    let nobody = Browser::new(&app);
    let found = page(post(&nobody, "/match", &[("text", &text())]).await).await;
    assert!(!found.contains("/share"), "{found}");
    for path in ["/share", "/share/keep"] {
        assert_eq!(
            post(&nobody, path, &[("answer", "{}")]).await.status(),
            404,
            "{path}"
        );
    }
    let gone = nobody.get("/a/0123456789abcdef0123456789abcdef").await;
    assert_eq!(gone.status(), 404);
}

#[tokio::test]
async fn what_would_be_kept_is_shown_without_names_and_nothing_is_kept_by_that() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let shown = preview(&nobody, &text()).await;
    assert!(shown.contains("This would be kept, and nothing else"), "{shown}");
    assert!(shown.contains("peer access is not supported") && shown.contains("zorgblat: axle"));
    let answer: Value = serde_json::from_str(&answer_of(&shown)).unwrap();
    let lines = answer["marked"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{answer}");
    assert_eq!((&lines[0]["number"], &lines[1]["number"]), (&json!(2), &json!(3)));
    assert_eq!(answer["faults"][0]["id"], ID);
    for gone in [
        "ann@",
        "ann/",
        "trainbox",
        "hunter2",
        "10.1.2.3",
        "secret-project",
        QUIET,
    ] {
        assert!(!answer.to_string().contains(gone), "{gone}: {answer}");
        assert!(!shown.contains(gone), "{gone}: {shown}");
    }
    assert!(kept(&app).await.is_empty());
}

#[tokio::test]
async fn what_was_shown_is_kept_and_read_by_its_link_in_both_languages() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let shown = answer_of(&preview(&nobody, &text()).await);
    let (link, _) = share(&nobody, &text(), "7").await;
    assert_eq!(kept(&app).await, [shown]);
    let response = nobody.get(&link).await;
    assert_eq!(response.headers()["referrer-policy"], "no-referrer");
    assert_eq!(response.headers()["x-robots-tag"], "noindex");
    assert_eq!(response.headers()["cache-control"], "private, no-cache");
    let read = page(response).await;
    assert!(
        read.contains("<meta name=\"robots\" content=\"noindex\">"),
        "{read}"
    );
    assert!(
        read.contains("A shared answer") && read.contains("2026-01-09"),
        "{read}"
    );
    assert!(read.contains(&format!("href=\"/r/{ID}\"")), "{read}");
    assert!(
        read.contains("id=\"line-2\"") && read.contains("03:04:05"),
        "{read}"
    );
    assert!(read.contains("<mark>"), "{read}");
    // No form, no script of the log, no text of others.
    assert!(
        !read.contains("<script>alert") && !read.contains("name=\"text\""),
        "{read}"
    );
    assert!(read.contains("&#60;script&#62;alert(1)"), "{read}");
    let chinese = page(nobody.get(&format!("{link}?lang=zh")).await).await;
    assert!(
        chinese.contains("分享的结果") && chinese.contains("zorgblat"),
        "{chinese}"
    );
    assert!(
        chinese.contains(&format!("href=\"/r/{ID}?lang=zh\"")),
        "{chinese}"
    );
    // The name itself is not kept.
    let name = link.strip_prefix("/a/").unwrap();
    assert_eq!(name.len(), 32);
    let database = std::fs::read(app.folder.path().join("peerless.db")).unwrap_or_default();
    assert!(!database.windows(name.len()).any(|bytes| bytes == name.as_bytes()));
}

#[tokio::test]
async fn a_log_that_is_sent_as_a_file_is_shared_by_its_marked_lines() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let log = format!("{}{KNOWN}\n", format!("{QUIET}\n").repeat(50_000));
    let found = app.post("/match").header("content-type", "text/plain").body(log);
    let found = page(found.header("accept", "text/html").send().await.unwrap()).await;
    let shown = post(&nobody, "/share", &[("answer", &answer_of(&found))]).await;
    let answer: Value = serde_json::from_str(&answer_of(&page(shown).await)).unwrap();
    assert_eq!(answer["marked"].as_array().unwrap().len(), 1);
    assert_eq!(answer["marked"][0]["number"], 50_001);
    assert!(!answer.to_string().contains("hunter2"), "{answer}");
}

/// The key begins on a line that looks like no error.
#[tokio::test]
async fn lines_of_a_key_are_not_shared() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let text = format!(
        "-----BEGIN EC PRIVATE KEY-----\nzorgblat: error q7Zk\n-----END EC PRIVATE KEY-----\n{KNOWN}\n"
    );
    let answer = answer_of(&preview(&nobody, &text).await);
    assert!(!answer.contains("q7Zk"), "{answer}");
    // A word of a secret that is too long to be shown whole.
    let text = format!(
        "{} password=hunter2 {KNOWN} {}",
        "x ".repeat(1_000),
        "y ".repeat(1_000)
    );
    let answer = answer_of(&preview(&nobody, &text).await);
    assert!(
        answer.contains("peer access") && !answer.contains("hunter2"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_form_that_was_changed_is_shown_again_and_not_kept() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let answer = answer_of(&preview(&nobody, &text()).await);
    let changed = answer.replace("zorgblat", "zorgblat for ann@trainbox-7 password=hunter2");
    let again = post(&nobody, "/share/keep", &[("answer", &changed), ("days", "1")]).await;
    let again = page(again).await;
    assert!(again.contains("Nothing is kept yet"), "{again}");
    assert!(
        !again.contains("hunter2") && !again.contains("trainbox"),
        "{again}"
    );
    assert!(kept(&app).await.is_empty());
    // What is shown now may be kept.
    let fields = [("answer", answer_of(&again)), ("days", "1".to_owned())];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    page(post(&nobody, "/share/keep", &fields).await).await;
    assert_eq!(kept(&app).await.len(), 1);
}

#[tokio::test]
async fn a_form_cannot_call_a_fault_harmless() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let answer = answer_of(&preview(&nobody, &text()).await);
    let mut forged: serde_json::Value = serde_json::from_str(&answer).unwrap();
    for fault in forged["faults"].as_array_mut().unwrap() {
        fault["harmless"] = true.into();
    }
    forged["causes"] = serde_json::json!([]);
    let forged = forged.to_string();
    let shown = page(post(&nobody, "/share", &[("answer", &forged)]).await).await;
    // The form shows the flag as it was sent; the page does not go by it.
    assert!(
        shown.contains("<title>1 known error ·") && !shown.contains("No known error"),
        "{shown}"
    );
}

#[tokio::test]
async fn what_is_no_answer_of_this_server_is_refused() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let answer: Value = serde_json::from_str(&answer_of(&preview(&nobody, &text()).await)).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut changed = answer.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed.to_string()
    };
    let most = u64::MAX;
    for (wrong, status) in [
        (String::new(), 400),
        ("{}".to_owned(), 400),
        (with("/version", json!(2)), 400),
        (with("/faults/0/id", json!("cuda/no-such-record")), 400),
        (with("/faults/0/lines", json!([most])), 400),
        (with("/marked/0/number", json!(0)), 400),
        (with("/marked", json!([])), 400),
        (with("/lines", json!(most)), 400),
        (with("/marked/0", json!({"html": "<b>"})), 400),
        (with("/marked/0/text", json!("x ".repeat(40_000))), 413),
    ] {
        for path in ["/share", "/share/keep"] {
            let mut fields = vec![("answer", wrong.as_str())];
            fields.extend((path == "/share/keep").then_some(("days", "7")));
            assert_eq!(
                post(&nobody, path, &fields).await.status(),
                status,
                "{path} {wrong:.200}"
            );
        }
    }
    // Places that are in no text mark nothing.
    let odd = with("/marked/0/start", json!(u32::MAX));
    page(post(&nobody, "/share", &[("answer", &odd)]).await).await;
    let sound = answer.to_string();
    for days in ["", "2", "31", "-1", "99999999"] {
        let refused = post(&nobody, "/share/keep", &[("answer", &sound), ("days", days)]).await;
        assert_eq!(refused.status(), 400, "{days}");
    }
    let elsewhere = nobody.form("/share/keep", &[("answer", &sound), ("days", "7")]);
    let mut elsewhere = elsewhere.build().unwrap();
    elsewhere
        .headers_mut()
        .insert("origin", "https://evil.example".parse().unwrap());
    let refused = crate::test_app::client().execute(elsewhere).await.unwrap();
    assert_eq!(refused.status(), 403);
    assert!(kept(&app).await.is_empty());
}

#[tokio::test]
async fn an_answer_ends_with_its_time_and_says_so() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let (short, _) = share(&nobody, &text(), "1").await;
    let (long, _) = share(&nobody, &text(), "30").await;
    app.clock.set(NOW + Duration::days(1) - Duration::seconds(1));
    assert_eq!(nobody.get(&short).await.status(), 200);
    app.clock.set(NOW + Duration::days(1));
    let ended = nobody.get(&short).await;
    assert_eq!(ended.status(), 404);
    let ended = ended.text().await.unwrap();
    assert!(
        ended.contains("<h1>This answer is not here any more</h1>"),
        "{ended}"
    );
    assert!(ended.contains("its time is over"), "{ended}");
    assert_eq!(nobody.get(&long).await.status(), 200);
}

#[tokio::test]
async fn an_answer_is_deleted_by_its_own_link_and_by_no_other() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let (one, delete_one) = share(&nobody, &text(), "7").await;
    let (other, delete_other) = share(&nobody, KNOWN, "7").await;
    let name = one.strip_prefix("/a/").unwrap();
    assert_eq!(post(&nobody, &format!("/kept/{name}"), &[]).await.status(), 404);
    // Following the link deletes nothing; its button does, once.
    assert_eq!(nobody.get(&delete_one).await.status(), 200);
    assert_eq!(nobody.get(&one).await.status(), 200);
    assert_eq!(post(&nobody, &delete_other, &[]).await.status(), 200);
    assert_eq!(nobody.get(&other).await.status(), 404);
    assert_eq!(nobody.get(&one).await.status(), 200);
    assert_eq!(post(&nobody, &delete_one, &[]).await.status(), 200);
    assert_eq!(nobody.get(&one).await.status(), 404);
    assert_eq!(post(&nobody, &delete_one, &[]).await.status(), 404);
    let nowhere = nobody.get(&format!("/a/{}", "0".repeat(32))).await;
    assert_eq!(nowhere.status(), 404);
    assert_eq!(nobody.get("/a/x").await.status(), 404);
}

#[tokio::test]
async fn an_address_shares_so_many_a_day_within_the_budget_of_all_that_is_written() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let line = "zorgblat: axle 3 failed";
    let kept = post(&nobody, "/unknown/keep", &[("lines", line)]).await;
    assert_eq!(kept.status(), 200);
    let answer = answer_of(&preview(&nobody, KNOWN).await);
    let keep = async || post(&nobody, "/share/keep", &[("answer", &answer), ("days", "1")]).await;
    for _ in 0..19 {
        assert_eq!(keep().await.status(), 200);
    }
    let refused = keep().await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    let metrics = app.get("/metrics").await.text().await.unwrap();
    for line in [
        "answers_shared_total 19",
        "anonymous_kept_total 20",
        "anonymous_refused_total 1",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[tokio::test]
async fn an_answer_outlives_changes_of_its_records() {
    let app = open().await;
    let nobody = Browser::new(&app);
    let (link, _) = share(&nobody, &text(), "7").await;
    let publisher = app.token(&[Scope::Publish]).await;
    let step = async |id: &str, step: &str| {
        let path = format!("/api/v1/records/{id}/-/{step}");
        let sent = app.post(&path).bearer_auth(&publisher).send().await.unwrap();
        assert_eq!(sent.status(), 200, "{path}");
    };
    let reads = async |wanted: &dyn Fn(&str) -> bool| {
        for _ in 0..100 {
            let read = page(nobody.get(&link).await).await;
            if wanted(&read) {
                return read;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("{link} does not follow its records");
    };
    step(ID, "rename?new_id=cuda/no-peer-access").await;
    let read = reads(&|read| read.contains("href=\"/r/cuda/no-peer-access\"")).await;
    assert!(read.contains("id=\"line-2\""), "{read}");
    step("cuda/no-peer-access", &format!("merge?into={OTHER}")).await;
    let other = format!("href=\"/r/{OTHER}\"");
    reads(&|read| read.contains(&other)).await;
    let by = peerless::store::By::system("test");
    app.store
        .withdraw(&OTHER.parse().unwrap(), &by, NOW)
        .await
        .unwrap();
    let read = reads(&|read| !read.contains(&other)).await;
    assert!(read.contains("peer access is not supported"), "{read}");
}

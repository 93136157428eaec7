//! Lines of a pasted text that nobody knows: shown without names, kept if their owner says so, and taken back by a link.

use peerless::store::{Role, Scope};

use crate::browser::Browser;
use crate::test_app::{TestApp, json, problem};

const KNOWN: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";
const UNKNOWN: &str = "ann@trainbox-7:~$ zorgblat: axle 3 failed, password=hunter2 at 10.1.2.3";

async fn open(is_allowed: bool) -> TestApp {
    TestApp::start_with(|options| options.settings.anonymous_writing = is_allowed).await
}

fn text() -> String {
    format!("{KNOWN}\n{UNKNOWN}\nall is well\n")
}

/// What the form holds that was shown for this text.
async fn shown(browser: &Browser, text: &str) -> String {
    let answer = browser.form("/unknown", &[("text", text)]).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let page = answer.text().await.unwrap();
    let (_, rest) = page
        .split_once("name=\"lines\"")
        .unwrap_or_else(|| panic!("{page}"));
    let rest = rest.split_once('>').unwrap().1;
    rest.split("</textarea>").next().unwrap().trim().to_owned()
}

fn link(page: &str) -> String {
    let at = page.find("/kept/").unwrap_or_else(|| panic!("no link: {page}"));
    page[at..].split(['"', '?']).next().unwrap().to_owned()
}

#[tokio::test]
async fn nothing_is_offered_or_kept_unless_the_operator_allows_it() {
    let app = open(false).await;
    let nobody = Browser::new(&app);
    let page = nobody.form("/match", &[("text", &text())]).send().await.unwrap();
    assert!(!page.text().await.unwrap().contains("formaction=\"/unknown\""));
    for (path, field) in [("/unknown", "text"), ("/unknown/keep", "lines")] {
        let refused = nobody.form(path, &[(field, UNKNOWN)]).send().await.unwrap();
        assert_eq!(refused.status(), 404, "{path}");
    }
}

#[tokio::test]
async fn what_would_be_kept_is_shown_without_names_and_nothing_is_kept_by_that() {
    let app = open(true).await;
    let nobody = Browser::new(&app);
    let page = nobody.form("/match", &[("text", &text())]).send().await.unwrap();
    assert!(page.text().await.unwrap().contains("formaction=\"/unknown\""));
    let lines = shown(&nobody, &text()).await;
    assert!(lines.contains("zorgblat: axle 3 failed"), "{lines}");
    for gone in [
        "ann",
        "trainbox",
        "hunter2",
        "10.1.2.3",
        "peer access",
        "all is well",
    ] {
        assert!(!lines.contains(gone), "{gone}: {lines}");
    }
    let editor = app.token(&[Scope::Edit]).await;
    let kept = json(app.get_with("/api/v1/unmatched?from=pasted", &editor).await).await;
    assert!(kept["unmatched"].as_array().unwrap().is_empty());
}

/// The key begins and ends on lines that look like no error.
#[tokio::test]
async fn a_key_on_several_lines_is_not_shown() {
    let app = open(true).await;
    let nobody = Browser::new(&app);
    let text = "-----BEGIN EC PRIVATE KEY-----\nzorgblat: error q7Zk\n-----END EC PRIVATE KEY-----\n\
        zorgblat: axle 3 failed";
    let lines = shown(&nobody, text).await;
    assert_eq!(lines, "zorgblat: axle 3 failed");
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused_and_of_a_long_one_the_beginning_is_looked_at() {
    let app = open(true).await;
    let nobody = Browser::new(&app);
    let long = "x".repeat((8 << 20) + 1);
    let refused = nobody.form("/unknown", &[("text", &long)]).send().await.unwrap();
    assert_eq!(refused.status(), 413);
    // More than two megabytes that look like errors.
    let line = format!("zorgblat: error {}\n", "a ".repeat(1_900));
    let text = format!("{}zorgblat: axle 3 failed\n", line.repeat(600));
    let lines = shown(&nobody, &text).await;
    assert!(
        lines.starts_with("zorgblat: error") && !lines.contains("axle"),
        "{lines}"
    );
    let more = "more lines that look like errors than are looked at";
    for (text, is_cut) in [(text.as_str(), true), ("zorgblat: axle 3 failed\n", false)] {
        let answer = nobody.form("/unknown", &[("text", text)]).send().await.unwrap();
        assert_eq!(answer.text().await.unwrap().contains(more), is_cut);
    }
}

#[tokio::test]
async fn lines_are_kept_without_names_whatever_the_form_says_and_deleted_by_their_link() {
    let app = open(true).await;
    let nobody = Browser::new(&app);
    // The form was changed: names stand in it again.
    let answer = nobody
        .form("/unknown/keep", &[("lines", UNKNOWN)])
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    let link = link(&answer.text().await.unwrap());
    let editor = app.token(&[Scope::Edit]).await;
    let list = json(app.get_with("/api/v1/unmatched?from=pasted", &editor).await).await;
    let kept = list["unmatched"].as_array().unwrap();
    assert_eq!(kept.len(), 1, "{list}");
    for gone in ["ann", "trainbox", "hunter2", "10.1.2.3"] {
        assert!(!list.to_string().contains(gone), "{gone}: {list}");
    }
    let id = kept[0]["id"].as_str().unwrap();
    let step = app.post(&format!("/api/v1/unmatched/{id}")).bearer_auth(&editor);
    let step = step.json(&serde_json::json!({"step": "take"})).send();
    problem(step.await.unwrap(), 400, "malformed_body").await;
    let draft = json(
        app.get_with(&format!("/api/v1/unmatched/{id}?record=cuda/axle"), &editor)
            .await,
    )
    .await;
    assert!(
        draft["draft"]["annex"]
            .as_str()
            .unwrap()
            .contains("zorgblat: axle"),
        "{draft}"
    );
    app.person("con", Role::Contributor, false).await;
    let con = app.browser("con").await;
    let page = con.page("/unmatched").await;
    assert!(page.contains(&format!("/unmatched/{id}")), "{page}");
    assert!(
        con.page(&format!("/unmatched/{id}"))
            .await
            .contains("/records/new")
    );

    // Following the link deletes nothing; its button does, once.
    assert_eq!(nobody.get(&link).await.status(), 200);
    let list = json(app.get_with("/api/v1/unmatched?from=pasted", &editor).await).await;
    assert_eq!(list["unmatched"].as_array().unwrap().len(), 1);
    assert_eq!(nobody.form(&link, &[]).send().await.unwrap().status(), 200);
    let list = json(app.get_with("/api/v1/unmatched?from=pasted", &editor).await).await;
    assert!(list["unmatched"].as_array().unwrap().is_empty());
    assert_eq!(nobody.form(&link, &[]).send().await.unwrap().status(), 404);
    assert_eq!(nobody.get("/kept/x").await.status(), 404);
}

#[tokio::test]
async fn an_address_keeps_so_much_a_day_and_a_text_without_unknown_lines_nothing() {
    let app = open(true).await;
    let nobody = Browser::new(&app);
    let keep = async |lines: &str| {
        nobody
            .form("/unknown/keep", &[("lines", lines)])
            .send()
            .await
            .unwrap()
    };
    assert_eq!(keep(KNOWN).await.status(), 400);
    assert_eq!(keep("all is well").await.status(), 400);
    for _ in 0..20 {
        assert_eq!(keep(UNKNOWN).await.status(), 200);
    }
    let refused = keep(UNKNOWN).await;
    assert_eq!(refused.status(), 429);
    // Whoever is logged in is counted by address, too.
    assert!(!refused.text().await.unwrap().contains("or log in"));
}

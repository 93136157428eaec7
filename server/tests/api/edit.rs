//! The form of a record, as browsers use it without script.

use peerless::store::Role;

use crate::browser::Browser;
use crate::page_form::PageForm;
use crate::records::P2P;
use crate::test_app::TestApp;

const ID: &str = "cuda/peer-access-unsupported-by-hardware";
const EDIT: &str = "/r/cuda/peer-access-unsupported-by-hardware/-/edit";
const SAVE: (&str, &str) = ("do", "save");

async fn editors(app: &TestApp) -> (Browser, Browser) {
    app.person("ada", Role::Editor, false).await;
    app.person("bob", Role::Contributor, false).await;
    (app.browser("ada").await, app.browser("bob").await)
}

async fn open(browser: &Browser) -> PageForm {
    PageForm::of(&browser.page(EDIT).await, "data-edit")
}

async fn head(app: &TestApp) -> (u32, String, String) {
    let id = ID.parse().unwrap();
    let head = app.store.status(&id).await.unwrap().unwrap().head;
    let texts = app.store.revision(&id, head).await.unwrap().unwrap();
    (head.0, texts.document, texts.annex)
}

#[tokio::test]
async fn a_form_that_comes_back_as_it_was_makes_no_revision() {
    let app = TestApp::start().await;
    let (_, mut bob) = editors(&app).await;
    let form = open(&bob).await;
    let answer = form.send(&mut bob, SAVE).await;
    assert_eq!(answer.status(), 303, "{}", answer.text().await.unwrap());
    assert_eq!(head(&app).await.0, 1);
}

#[tokio::test]
async fn a_corrected_workaround_changes_its_own_bytes_alone() {
    let app = TestApp::start().await;
    let (_, mut bob) = editors(&app).await;
    let (_, before, annex) = head(&app).await;
    let mut form = open(&bob).await;
    let old = form.get("d:/workarounds/0/action").to_owned();
    form.set("d:/workarounds/0/action", "Say \"hello\"\nto <b>it</b>");
    form.set("note", "clearer");
    let answer = form.send(&mut bob, SAVE).await;
    assert_eq!(answer.status(), 303);
    let old = serde_json::to_string(&old).unwrap();
    let expected = before.replacen(&old, r#""Say \"hello\"\nto <b>it</b>""#, 1);
    assert_ne!(expected, before);
    assert_eq!(head(&app).await, (2, expected, annex));
    // The page shows it as text.
    let page = bob.page(EDIT).await;
    assert!(!page.contains("<b>it</b>"), "{page}");
    // Readers see nothing of a draft.
    assert!(!app.get(P2P).await.text().await.unwrap().contains("hello"));
}

#[tokio::test]
async fn a_check_tells_beside_the_field_and_saves_nothing() {
    let app = TestApp::start().await;
    let (_, mut bob) = editors(&app).await;
    let mut form = open(&bob).await;
    form.set("d:/root_cause", " ").set("d:/confidence", "much");
    form.set("d:/transition_graph/leads_to/5/error_id", "cuda/nowhere");
    for (button, status) in [(("do", "check"), 200), (SAVE, 422)] {
        let answer = form.send(&mut bob, button).await;
        assert_eq!(answer.status(), status);
        let page = answer.text().await.unwrap();
        for (field, word) in [
            ("d:/root_cause", "empty"),
            ("d:/confidence", "number"),
            ("d:/transition_graph/leads_to", "No published record"),
        ] {
            let (_, told) = page.split_once(&format!("id=\"{field}")).unwrap();
            assert!(told.contains(word), "{field}: {word}");
        }
        // What was typed is still there.
        let again = PageForm::of(&page, "data-edit");
        assert_eq!(again.get("d:/confidence"), "much");
    }
    assert_eq!(head(&app).await.0, 1);
}

#[tokio::test]
async fn raw_json_and_fields_are_one_text() {
    let app = TestApp::start().await;
    let (_, mut bob) = editors(&app).await;
    let mut form = open(&bob).await;
    let raw = form
        .get("document")
        .replacen("\"tags\": []", "\"tags\": [\"from-raw\"]", 1);
    form.set("document", &raw).set("d:/subcategory", "from_field");
    let answer = form.send(&mut bob, ("do", "check")).await;
    let page = PageForm::of(&answer.text().await.unwrap(), "data-edit");
    assert!(
        page.get("document").contains("from_field"),
        "{}",
        page.get("document")
    );
    assert!(page.get("d:/tags").contains("from-raw"));
    let broken = form.get("document").replacen(':', "", 1);
    form.set("document", &broken);
    let answer = form.send(&mut bob, SAVE).await;
    assert_eq!(answer.status(), 422);
    let page = PageForm::of(&answer.text().await.unwrap(), "data-edit");
    assert_eq!(page.get("document"), broken);
    // What was typed into a field is not lost by that: it is there, and counts once the text can be read.
    assert_eq!(page.get("d:/subcategory"), "from_field");
    let mut mended = page;
    mended.set("document", &raw);
    assert_eq!(mended.send(&mut bob, SAVE).await.status(), 303);
    let (_, document, _) = head(&app).await;
    assert!(
        document.contains("from_field") && document.contains("from-raw"),
        "{document}"
    );
}

#[tokio::test]
async fn rows_move_with_what_stands_beside_them() {
    let app = TestApp::start().await;
    let (_, mut bob) = editors(&app).await;
    let form = open(&bob).await;
    let second = form.get("d:/workarounds/1/action").to_owned();
    let answer = form.send(&mut bob, ("row", "up:d:/workarounds/1")).await;
    let moved = PageForm::of(&answer.text().await.unwrap(), "data-edit");
    assert_eq!(moved.get("d:/workarounds/0/action"), second);
    let answer = moved.send(&mut bob, ("row", "down:d:/workarounds/0")).await;
    let back = PageForm::of(&answer.text().await.unwrap(), "data-edit");
    assert_eq!(back.get("document"), form.get("document"));
    assert_eq!(back.get("annex"), form.get("annex"));
}

#[tokio::test]
async fn two_editors_never_overwrite_each_other_silently() {
    let app = TestApp::start().await;
    let (mut ada, mut bob) = editors(&app).await;
    let (mut hers, mut his) = (open(&ada).await, open(&bob).await);
    hers.set("d:/root_cause", "the cause that ada found");
    hers.set("d:/subcategory", "of_ada");
    assert_eq!(hers.send(&mut ada, SAVE).await.status(), 303);

    his.set("d:/workarounds/0/action", "the step that bob found");
    his.set("d:/subcategory", "of_bob");
    let answer = his.send(&mut bob, SAVE).await;
    assert_eq!(answer.status(), 409);
    assert_eq!(head(&app).await.0, 2, "nothing was saved");
    let page = answer.text().await.unwrap();
    for shown in [
        "the cause that ada found",
        "the step that bob found",
        "of_ada",
        "of_bob",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let mut both = PageForm::of(&page, "data-edit");
    assert_eq!(both.get("base"), "2");
    assert_eq!(both.get("d:/root_cause"), "the cause that ada found");
    assert_eq!(both.get("d:/workarounds/0/action"), "the step that bob found");
    assert_eq!(both.get("d:/subcategory"), "of_ada");
    both.set("take:d:/subcategory", "1");
    assert_eq!(both.send(&mut bob, SAVE).await.status(), 303);
    let (revision, document, _) = head(&app).await;
    assert_eq!(revision, 3);
    for kept in ["the cause that ada found", "the step that bob found", "of_bob"] {
        assert!(document.contains(kept), "{kept}");
    }
}

#[tokio::test]
async fn a_record_is_begun_with_the_form() {
    let app = TestApp::start().await;
    let (_, mut bob) = editors(&app).await;
    let ask = bob.page("/records/new?id=no%20id").await;
    assert!(ask.contains("This is no id"), "{ask}");
    let known = bob.page(&format!("/records/new?id={ID}")).await;
    assert!(known.contains("already"), "{known}");
    let mut form = PageForm::of(&bob.page("/records/new?id=cuda/made-by-hand").await, "data-edit");
    assert_eq!(form.get("d:/domain"), "cuda");
    form.set("d:/signature", "CUDA error: made by hand")
        .set("d:/category", "runtime_error")
        .set("d:/root_cause", "A test.")
        .set("a:/title", "An error that was made by hand")
        .set("a:/patterns/0/id", "p")
        .set("a:/patterns/0/regex", "CUDA error: made by hand");
    let answer = form.send(&mut bob, ("do", "propose")).await;
    assert_eq!(answer.status(), 303, "{}", answer.text().await.unwrap());
    let waiting = app.store.open_reviews(10).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].record.as_str(), "cuda/made-by-hand");
    // Sent again, nothing is overwritten.
    let again = form.send(&mut bob, SAVE).await;
    assert!(
        again.status() == 303 || again.status() == 409,
        "{}",
        again.status()
    );
}

#[tokio::test]
async fn the_head_of_a_long_form_leads_to_its_parts_and_to_what_is_missing() {
    let app = TestApp::start().await;
    let (_, bob) = editors(&app).await;
    let page = bob.page("/records/new?id=local/begun").await;
    let (head, form) = page.split_once("data-raw").unwrap();
    let links: Vec<&str> = head
        .split("href=\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    for link in &links {
        assert!(page.contains(&format!("id=\"{link}\"")), "{link} leads nowhere");
    }
    assert!(
        links.contains(&"section-works") && links.contains(&"save"),
        "{links:?}"
    );
    assert!(form.contains("id=\"save\""));
    // Nothing is told of a new record but the texts that only a person knows.
    let missing: Vec<&&str> = links.iter().filter(|link| link.contains(":/")).collect();
    assert_eq!(missing, [&"d:/signature", &"d:/category", &"d:/root_cause"]);
    assert!(!head.contains("is missing"), "{head}");
}

#[tokio::test]
async fn who_may_not_publish_alone_is_told_which_button_does_it() {
    let app = TestApp::start().await;
    let (mut ada, _) = editors(&app).await;
    let mut form = open(&ada).await;
    form.set("a:/severity", "info");
    let answer = form.send(&mut ada, ("do", "publish")).await;
    assert_eq!(answer.status(), 409);
    let page = answer.text().await.unwrap();
    assert!(
        page.contains("(severity), so somebody else approves it. Press “Save and ask for review”"),
        "{page}"
    );
    assert!(!page.contains("`force`"), "{page}");
    // What was saved is asked for from where one stands.
    let asked = PageForm::of(&page, "data-edit")
        .send(&mut ada, ("do", "propose"))
        .await;
    assert_eq!(asked.status(), 303);
    assert_eq!(app.store.open_reviews(10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn whoever_reviews_is_told_why_and_where_the_changes_stand() {
    let app = TestApp::start().await;
    let (ada, mut bob) = editors(&app).await;
    let mut form = open(&bob).await;
    form.set("a:/title", "Another title")
        .set("note", "the old one was wrong");
    assert_eq!(form.send(&mut bob, ("do", "propose")).await.status(), 303);
    let history = EDIT.replace("/-/edit", "/-/revisions");
    let waits = "Another editor approves it";
    for (browser, own) in [(&ada, false), (&bob, true)] {
        let page = browser.page(&history).await;
        let (review, rest) = page.split_once("name=\"reason\"").unwrap();
        assert!(review.contains("the old one was wrong"), "{review}");
        assert!(
            review.contains("Another title"),
            "the change stands with the question: {review}"
        );
        assert!(review.contains("href=\"#diff\"") && rest.contains("id=\"diff\""));
        assert_eq!(review.contains(waits), own);
        assert!(
            rest.contains("<option value=\"annex:/title\" label=\"Title\">"),
            "{rest}"
        );
    }
    assert!(ada.page("/reviews").await.contains("the old one was wrong"));
}

#[tokio::test]
async fn a_review_is_of_what_was_asked_even_where_somebody_saved_since() {
    let app = TestApp::start().await;
    let (mut ada, mut bob) = editors(&app).await;
    for (browser, title, button) in [
        (&mut bob, "Asked title", "propose"),
        (&mut ada, "Later title", "save"),
    ] {
        let mut form = open(browser).await;
        form.set("a:/title", title);
        assert_eq!(form.send(browser, ("do", button)).await.status(), 303);
    }
    let page = ada.page(&EDIT.replace("/-/edit", "/-/revisions")).await;
    let (review, _) = page.split_once("name=\"reason\"").unwrap();
    assert!(
        review.contains("Asked title") && !review.contains("Later title"),
        "{review}"
    );
}

#[tokio::test]
async fn a_correction_opens_the_form_where_the_draft_has_what_was_read() {
    let app = TestApp::start().await;
    let (ada, mut bob) = editors(&app).await;
    app.person("eve", Role::Viewer, false).await;
    let eve = app.browser("eve").await;
    let record = format!("/r/{ID}");
    let nobody = app.get(&record).await.text().await.unwrap();
    for page in [nobody, eve.page(&record).await] {
        assert!(!page.contains("Correct this"), "{page}");
    }
    let page = bob.page(&record).await;
    let link = |field: &str| format!("{EDIT}?at=d%3A%2F{field}&#38;read=1\"");
    for field in ["workarounds%2F0%2Faction", "dead_ends%2F0%2Faction", "root_cause"] {
        assert!(page.contains(&link(field)), "{field}: {page}");
    }
    let chinese = bob.page(&format!("{record}?lang=zh")).await;
    assert!(
        chinese.contains("/-/edit?at=a%3A%2Fworkarounds_zh%2F0%2Faction"),
        "{chinese}"
    );

    let correct = format!("{EDIT}?at=d%3A%2Fworkarounds%2F0%2Faction&read=1");
    // The field that has the focus.
    let focused = |page: &str| {
        let (before, _) = page.split_once(" autofocus")?;
        let (_, name) = before.rsplit_once(" name=\"")?;
        Some(name.split('"').next().unwrap().to_owned())
    };
    let page = bob.page(&correct).await;
    assert_eq!(focused(&page).unwrap(), "d:/workarounds/0/action");
    let (row, _) = page.split_once(" autofocus").unwrap();
    let (_, row) = row.rsplit_once("<details").unwrap();
    assert!(
        row.starts_with(" class=\"card stack\" open>"),
        "the row is not folded: {row}"
    );

    let mut form = open(&bob).await;
    let (moved, mut bob) = (form.send(&mut bob, ("row", "down:d:/workarounds/0")).await, bob);
    form = PageForm::of(&moved.text().await.unwrap(), "data-edit");
    assert_eq!(form.send(&mut bob, SAVE).await.status(), 303);
    let page = bob.page(&correct).await;
    assert_eq!(focused(&page).unwrap(), "d:/workarounds/1/action");

    let mut form = open(&bob).await;
    form.set("d:/workarounds/1/action", "Another one");
    assert_eq!(form.send(&mut bob, ("do", "propose")).await.status(), 303);
    let page = bob.page(&correct).await;
    assert_eq!(focused(&page), None);
    assert!(page.contains("What you read in r1 is not in the draft"), "{page}");

    // Who comes to the record is led to what waits.
    let page = ada.page(&record).await;
    assert!(
        page.contains("Waiting for review") && page.contains("See what changes"),
        "{page}"
    );
    assert!(!eve.page(&record).await.contains("Waiting for review"));
    let status = bob.get(&format!("{EDIT}?at=x&read=x")).await.status();
    assert!(status.is_client_error(), "{status}");
    // A revision of a record that was merged into this one.
    assert_eq!(focused(&bob.page(&format!("{EDIT}?at=x&read=99")).await), None);
    assert_eq!(focused(&bob.page(&format!("{EDIT}?at=no/such")).await), None);
}

#[tokio::test]
async fn a_preview_is_the_page_in_both_languages() {
    let app = TestApp::start().await;
    let (_, mut bob) = editors(&app).await;
    let mut form = open(&bob).await;
    form.set("d:/root_cause", "only in the preview");
    for (button, word) in [("preview-en", "lang=\"en\""), ("preview-zh", "lang=\"zh")] {
        let page = form.send(&mut bob, ("do", button)).await.text().await.unwrap();
        assert!(page.contains("class=\"record\"") && page.contains(word), "{page}");
    }
    assert_eq!(head(&app).await.0, 1);
}

#[tokio::test]
async fn the_form_is_for_those_who_may_edit() {
    let app = TestApp::start().await;
    app.person("eve", Role::Viewer, false).await;
    let eve = app.browser("eve").await;
    for page in [EDIT, "/records/new"] {
        assert_eq!(app.get(page).await.status(), 401, "{page}");
        assert_eq!(eve.get(page).await.status(), 403, "{page}");
    }
    let (_, bob) = editors(&app).await;
    // Without the proof of the session nothing is done.
    let mut stranger = app.browser("bob").await;
    stranger.csrf = String::new();
    let form = open(&bob).await;
    assert_eq!(form.send(&mut stranger, SAVE).await.status(), 403);
    // Who may not publish saves a draft.
    let page = bob.page(EDIT).await;
    assert!(!page.contains("value=\"publish\""), "{page}");
}

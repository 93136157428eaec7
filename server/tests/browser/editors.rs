//! A new editor corrects a workaround, and a second person publishes it: counted in clicks of both, from the record's page
//! on. Typing is no click.

use peerless::store::Role;
use serde_json::json;

use crate::driver::Browser;
use crate::pages::TOO_FAINT;
use crate::people::PASSWORD;
use crate::test_app::TestApp;

const RECORD: &str = "/r/cuda/peer-access-unsupported-by-hardware";
const CORRECTION: &str = "ZORGBLAT ";
/// Most clicks of both persons together.
const MOST: u32 = 12;

struct Person<'a> {
    browser: Browser,
    app: &'a TestApp,
    clicks: u32,
}

impl<'a> Person<'a> {
    /// Somebody who is logged in and looks at the record.
    async fn at_record(app: &'a TestApp, login: &str, (script, width, lang): (bool, u32, &str)) -> Self {
        let browser = Browser::start_with(script).await;
        browser.viewport(width, 800, "light").await;
        let url = format!(
            "{}/login?return_to={}%3Flang%3D{lang}",
            app.url,
            RECORD.replace('/', "%2F")
        );
        browser.open(&url).await;
        browser.type_into("[name=login]", login).await;
        browser.type_into("[name=password]", PASSWORD).await;
        browser.follow("main form button").await;
        assert!(browser.address().await.contains(RECORD));
        Self {
            browser,
            app,
            clicks: 0,
        }
    }

    async fn follow(&mut self, selector: &str) {
        self.clicks += 1;
        self.browser.follow(selector).await;
    }

    async fn click(&mut self, selector: &str) {
        self.clicks += 1;
        self.browser.click(selector).await;
    }

    /// The page that is open can be read, and nothing sticks out.
    async fn reads_well(&self, width: u32) {
        let place = self.browser.address().await;
        assert!(self.browser.sticks_out(width).await <= 0, "{place}");
        assert_eq!(self.browser.script(TOO_FAINT).await, json!([]), "{place}");
        assert_eq!(self.browser.complaints().await, Vec::<String>::new(), "{place}");
    }

    /// From the record's page to a question for a review.
    async fn correct(&mut self, width: u32, field: &str) {
        self.reads_well(width).await;
        self.follow(".works li:first-child a[href*='/-/edit?']").await;
        // The browser moves the focus with the first picture of the page.
        let has_focus = format!("return document.activeElement.name === '{field}'");
        self.browser.until(&has_focus).await;
        let is_seen = "const box = document.activeElement.getBoundingClientRect(); \
            return box.height > 0 && box.top >= 0 && box.top < innerHeight";
        assert_eq!(self.browser.script(is_seen).await, true, "the field is in sight");
        self.reads_well(width).await;
        self.browser.press(CORRECTION).await;
        self.click("#note").await;
        self.browser.press("read the manual").await;
        self.follow("#save [value=propose]").await;
        assert!(self.browser.address().await.contains("/-/revisions"));
        self.reads_well(width).await;
    }

    /// From the page of the review to readers who see the correction.
    async fn publish(&mut self, width: u32) {
        let asked = self.browser.text("section[aria-labelledby=reviews]").await;
        assert!(
            asked.contains(CORRECTION.trim()),
            "what changes stands with the button: {asked}"
        );
        assert!(asked.contains("read the manual"), "{asked}");
        self.reads_well(width).await;
        // The record has warnings: to publish it in spite of them takes a reason.
        self.click("#reason").await;
        self.browser.press("they are older").await;
        self.follow("[name=do][value=approve]").await;
        let told = self.browser.text("main").await;
        assert!(told.contains("they are older"), "decided: {told}");
        self.browser
            .open(&format!("{}{RECORD}?lang=en", self.app.url))
            .await;
    }
}

async fn played(script: bool, width: u32, lang: &str, field: &str, by_queue: bool) {
    let app = TestApp::start().await;
    app.person("ada", Role::Contributor, false).await;
    app.person("edi", Role::Editor, false).await;
    let mut ada = Person::at_record(&app, "ada", (script, width, lang)).await;
    ada.correct(width, field).await;
    let mut edi = Person::at_record(&app, "edi", (script, width, lang)).await;
    edi.reads_well(width).await;
    if by_queue {
        edi.follow(".desk a[href^='/reviews']").await;
        edi.follow("main tbody a").await;
    } else {
        edi.follow(".note a[href*='/-/revisions']").await;
    }
    edi.publish(width).await;
    let clicks = ada.clicks + edi.clicks;
    assert!(clicks <= MOST, "{clicks} clicks");
    let reader = reqwest::get(format!("{}{RECORD}?lang={lang}", app.url))
        .await
        .unwrap();
    assert!(reader.text().await.unwrap().contains(CORRECTION.trim()));
}

#[tokio::test]
async fn a_correction_is_published_in_a_dozen_clicks() {
    played(true, 1600, "en", "d:/workarounds/0/action", true).await;
}

#[tokio::test]
async fn a_correction_is_published_on_a_phone_without_scripts() {
    played(false, 360, "zh", "a:/workarounds_zh/0/action", false).await;
}

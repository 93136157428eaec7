//! Search as one types, and without any script.

use crate::driver::Browser;
use crate::test_app::TestApp;

const HEADING: &str = "return document.querySelector('[data-heading]').textContent.includes";
const FOUND: &str = "return document.querySelectorAll('.results li').length > 0";

#[tokio::test]
async fn hits_come_while_one_types_in_both_languages() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    for width in [360, 1280] {
        browser.viewport(width, 900, "light").await;
        browser.open(&format!("{}/search?q=frobnicate", app.url)).await;
        assert!(browser.text("[data-heading]").await.contains("Nothing found"));
        browser.type_into("#q", " peer acess").await;
        browser.until(FOUND).await;
        let counted = browser
            .script("return document.querySelector('[role=status]').textContent")
            .await;
        assert!(counted.as_str().unwrap().contains("found"), "{counted}");
        let told = browser.text("main").await;
        assert!(told.contains("Searched for access"), "{told}");
        assert!(told.contains("frobnicate"), "{told}");
        let address = browser.address().await;
        assert!(address.contains("peer") && address.contains("acess"), "{address}");
        let focused = browser.script("return document.activeElement.id").await;
        assert_eq!(focused, "q", "the field keeps the focus");

        browser.open(&format!("{}/search", app.url)).await;
        browser.type_into("#q", "互访").await;
        browser
            .until("return document.querySelectorAll('.results mark').length > 0")
            .await;
        browser.until(&format!("{HEADING}('found')")).await;
        assert!(browser.sticks_out(width).await <= 0, "{width}");
        assert_eq!(browser.complaints().await, Vec::<String>::new(), "{width}");
    }
}

#[tokio::test]
async fn without_scripts_the_button_searches() {
    let app = TestApp::start().await;
    let browser = Browser::start_with(false).await;
    browser.open(&format!("{}/search", app.url)).await;
    browser.type_into("#q", "peer-to-peer").await;
    browser.follow("form[role=search] button").await;
    assert!(browser.text("[data-heading]").await.contains("found"));
    assert!(browser.address().await.contains("q=peer-to-peer"));
}

/// Searches at once where a pause would be waited for, and keeps what is asked for, unanswered.
const HELD: &str = "
    window.asked = [];
    window.setTimeout = (work) => { work(); return 0; };
    window.fetch = (address, options) => new Promise((resolve) => asked.push({ address, resolve, signal: options.signal }));
    const field = document.querySelector('#q');
    const put = (text, inputType) => {
        field.value = text;
        field.dispatchEvent(new InputEvent('input', { inputType }));
    };
";

#[tokio::test]
async fn what_was_typed_last_is_shown_and_what_was_pasted_is_asked_by_nobody() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    let page = format!("{}/search?q=pee", app.url);

    browser.open(&page).await;
    let back = "put('peer'); put('pee'); return asked.map((one) => one.signal.aborted)";
    let overtaken = browser.script(&format!("{HELD}{back}")).await;
    assert_eq!(
        overtaken,
        serde_json::json!([true]),
        "nothing new is asked, the old is not shown"
    );

    browser.open(&page).await;
    let paste = "put('rank 3 of /home/ada', 'insertFromPaste'); put('rank 3 of /home/ada!', 'insertText');
        put('x'.repeat(101), 'insertText'); const pasted = asked.length;
        put('', 'deleteContentBackward'); put('x'.repeat(101), 'insertText'); put('gate', 'insertText');
        return [pasted, asked.map((one) => one.address)]";
    let told = browser.script(&format!("{HELD}{paste}")).await;
    assert_eq!(
        told,
        serde_json::json!([0, ["/search?q=&typing=1", "/search?q=gate&typing=1"]])
    );
}

/// Keys as `WebDriver` names them.
const DOWN: &str = "\u{e015}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

#[tokio::test]
async fn the_search_of_every_page_is_used_by_keyboard_alone() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    let focused = async || browser.script("return document.activeElement.id").await;
    let suggested = "return document.querySelectorAll('#suggested [role=option]').length > 0";
    for width in [360, 1280] {
        browser.viewport(width, 900, "light").await;
        browser.open(&format!("{}/graph", app.url)).await;
        browser.press("/").await;
        assert_eq!(focused().await, "find", "{width}");
        browser.type_into("#find", "peer acess").await;
        browser.until(suggested).await;
        assert!(browser.sticks_out(width).await <= 0, "{width}");
        browser.press(ESCAPE).await;
        assert_ne!(focused().await, "find");
        let is_closed = "return document.querySelector('#suggested').hidden";
        assert_eq!(browser.script(is_closed).await, true);
        // What was typed is selected, so that typing begins anew.
        browser.press("/").await;
        browser.type_into("#find", "peer access").await;
        browser.until(suggested).await;
        browser.press(DOWN).await;
        browser
            .until("return document.querySelector('#suggested-0').getAttribute('aria-selected') === 'true'")
            .await;
        browser.press(ENTER).await;
        browser.until("return location.pathname.startsWith('/r/')").await;
    }
    // What is pasted is a message: it is matched, and stands in no address.
    let paste = "const data = new DataTransfer();
        data.setData('text', 'epoch 1\\nRuntimeError: CUDA error: peer access is not supported between these two devices');
        const field = document.querySelector('#find');
        field.focus();
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
        field.value = data.getData('text');";
    browser.script(paste).await;
    browser.press(ENTER).await;
    browser.until("return location.pathname === '/match'").await;
    assert_eq!(browser.text("h1").await, "1 known error");
    let address = browser.address().await;
    assert!(address.ends_with("/match?answer=1"), "{address}");
    // What was changed after it was pasted is sent as it stands in the field.
    let change = "const data = new DataTransfer();
        data.setData('text', 'epoch 1\\nepoch 2');
        const field = document.querySelector('#find');
        field.focus();
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }));
        field.value = 'epoch 1epoch 2';
        field.dispatchEvent(new InputEvent('input', { inputType: 'insertFromPaste' }));
        field.value = 'peer access is not supported between these two devices';
        field.dispatchEvent(new InputEvent('input', { inputType: 'insertText' }));";
    browser.script(change).await;
    browser.press(ENTER).await;
    browser.until("return location.search === '?answer=2'").await;
    assert_eq!(browser.text("h1").await, "1 known error");
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

//! A log that is read in the tab, with the module itself. `cargo xtask wasm --test` builds it and runs these tests; without it each of
//! them says so and fails.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::driver::Browser;
use crate::evaluated::{texts, without_candidates};
use crate::test_app::TestApp;

const LOG: &str = include_str!("../data/six-faults.log");

fn module() -> PathBuf {
    let folder = std::env::var_os("PEERLESS_TEST_TAB");
    folder
        .map(PathBuf::from)
        .expect("the module for browsers is not there: run `cargo xtask wasm --test`, which builds it")
}

async fn app() -> TestApp {
    TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
        options.settings.tab = Some(module());
    })
    .await
}

/// Chooses a file and waits for its answer.
async fn choose(browser: &Browser, file: &Path) {
    // A hidden field takes no files from a driver, as from no user.
    browser
        .script("document.querySelector('[data-file]').hidden = false; document.querySelector('h1').dataset.before = ''")
        .await;
    browser.type_into("[data-file]", file.to_str().unwrap()).await;
    browser
        .until("return !!document.querySelector('h1') && !document.querySelector('h1[data-before]')")
        .await;
}

/// Number of the last request that the server answered.
fn requests(app: &TestApp) -> u64 {
    let name = app.state.request_ids.next();
    name.rsplit_once('-').unwrap().1.parse().unwrap()
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn a_log_that_is_read_in_the_tab_sends_nothing() {
    let app = app().await;
    let browser = Browser::start().await;
    let file = app.folder.path().join("train.log");
    fs::write(&file, LOG).unwrap();
    for (query, found, said) in [
        ("", "Known errors: 6", "made 0 requests"),
        ("?lang=zh", "已知错误：6", "发出 0 个请求"),
    ] {
        for (width, scheme) in [(1280, "light"), (360, "dark")] {
            browser.viewport(width, 800, scheme).await;
            browser.open(&format!("{}/{query}", app.url)).await;
            choose(&browser, &file).await;
            assert_eq!(browser.text("h1").await, found);
            let before = requests(&app);
            choose(&browser, &file).await;
            assert_eq!(requests(&app), before + 1, "the server was asked for something");
            assert_eq!(browser.text("h1").await, found);
            let told = browser.text("[data-not-sent]").await;
            assert!(told.contains(said), "{told}");
            assert!(browser.text(".log mark").await.contains("Xid"));
            assert!(browser.sticks_out(width).await <= 0);
            assert_eq!(browser.script(crate::pages::TOO_FAINT).await, json!([]));
            let left = "return [...document.querySelectorAll('main, main *')].filter((one) => /\\{\\w+\\}/.test(one.textContent)).length";
            assert_eq!(browser.script(left).await, 0, "a place in a text was not filled");
        }
    }
    // Reload brings the answer back; its records are linked.
    let address = browser.address().await;
    browser.open(&address).await;
    assert_eq!(browser.text("h1").await, "已知错误：6");
    browser.follow("[data-matches] h2 a").await;
    assert!(browser.address().await.contains("/r/"));
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn who_does_not_choose_the_tab_sends_the_file() {
    let app = app().await;
    let browser = Browser::start().await;
    let file = app.folder.path().join("train.log");
    fs::write(&file, LOG).unwrap();
    browser.open(&app.url).await;
    browser.click("[data-tab] input").await;
    choose(&browser, &file).await;
    assert!(
        browser
            .text("[data-answer]")
            .await
            .contains("It was sent to this server")
    );
    // What is in the box is read in the tab when that is asked for.
    browser.open(&app.url).await;
    browser.type_into("#text", LOG).await;
    browser
        .script("document.querySelector('h1').dataset.before = ''")
        .await;
    browser.click("[data-tab-text]").await;
    browser
        .until("return !document.querySelector('h1[data-before]')")
        .await;
    assert_eq!(browser.text("h1").await, "Known errors: 6");
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn what_reads_a_log_comes_while_a_file_is_still_held_above_the_box() {
    let app = app().await;
    let browser = Browser::start().await;
    browser.open(&app.url).await;
    let fetched =
        "return performance.getEntriesByType('resource').some((one) => one.name.includes('/tab/signatures'))";
    assert_eq!(browser.script(fetched).await, false);
    browser
        .script(
            "const held = new DataTransfer(); held.items.add(new File(['x'], 'train.log')); \
             document.querySelector('[data-box]').dispatchEvent(new DragEvent('dragenter', { dataTransfer: held, bubbles: true }))",
        )
        .await;
    browser.until(fetched).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn what_does_not_come_is_asked_for_once_while_a_file_is_held_above_the_box() {
    let app = app().await;
    let browser = Browser::start().await;
    browser.open(&app.url).await;
    browser
        .script(
            "window.asked = 0; \
             window.fetch = () => { window.asked += 1; return Promise.reject(new TypeError('no network')); }; \
             window.enter = () => { \
                 const held = new DataTransfer(); held.items.add(new File(['x'], 'train.log')); \
                 document.querySelector('[data-box]').dispatchEvent(new DragEvent('dragenter', { dataTransfer: held, bubbles: true })); \
             }; \
             window.enter();",
        )
        .await;
    browser.until("return window.asked === 1").await;
    let again = "return (async () => { \
        for (let times = 0; times < 3; times += 1) { \
            await new Promise((done) => setTimeout(done, 50)); \
            window.enter(); \
        } \
        await new Promise((done) => setTimeout(done, 50)); \
        return window.asked; \
    })()";
    assert_eq!(browser.script(again).await, 1);
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn what_cannot_be_read_in_the_tab_is_not_called_healthy() {
    let app = app().await;
    let browser = Browser::start().await;
    let file = app.folder.path().join("core");
    fs::write(&file, [0xff; 4096]).unwrap();
    browser.open(&app.url).await;
    choose(&browser, &file).await;
    let told = browser.text("[data-not-sent]").await;
    assert!(told.contains("not read") && told.contains("not text"), "{told}");
    assert_ne!(browser.text("h1").await, "No known error");
    let file = app.folder.path().join("empty.log");
    fs::write(&file, "").unwrap();
    choose(&browser, &file).await;
    assert!(browser.text("[data-not-sent]").await.contains("it is empty"));
    // What is harmless otherwise is not, where the driver calls the line fatal.
    let file = app.folder.path().join("fatal.log");
    fs::write(
        &file,
        "NVRM: Xid (PCI:0000:af:00): 147, TREX Fatal XC0 i0 Link 07 (0x1)\n",
    )
    .unwrap();
    choose(&browser, &file).await;
    let card = browser.text("[data-matches] article").await;
    assert!(card.contains("The driver calls this line fatal"), "{card}");
    assert!(!card.contains("Do first"), "{card}");
    assert!(browser.text(".faults [data-term]").await.contains("fatal"));
    // A compressed log is unpacked on the way.
    let file = app.folder.path().join("train.log.gz");
    let mut packed =
        flate2::write::GzEncoder::new(fs::File::create(&file).unwrap(), flate2::Compression::fast());
    packed.write_all(LOG.as_bytes()).unwrap();
    packed.finish().unwrap();
    choose(&browser, &file).await;
    assert_eq!(browser.text("h1").await, "Known errors: 6");
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn a_line_that_no_record_explains_is_told_in_the_tab() {
    let app = app().await;
    let browser = Browser::start().await;
    let file = app.folder.path().join("train.log");
    let known = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.\n";
    fs::write(&file, format!("{}zorgblat failed\n", known.repeat(4_000))).unwrap();
    for (query, said) in [
        ("", "no record explains: 4\u{202f}001"),
        ("?lang=zh", "没有记录能解释的行：4\u{202f}001"),
    ] {
        browser.open(&format!("{}/{query}", app.url)).await;
        choose(&browser, &file).await;
        let notes = browser.text("[data-notes]").await;
        assert!(notes.contains(said), "{notes}");
    }
}

/// A worker of one's own in the page, which is asked as the page's script asks it.
const ASK: &str = "
    if (!window.reader) {
        const page = new DOMParser().parseFromString(await (await fetch('/tab')).text(), 'text/html');
        const { worker, module, signatures } = page.querySelector('[data-answer]').dataset;
        const get = async (address) => (await fetch(address)).arrayBuffer();
        window.reader = new Worker(worker);
        window.ask = (message) => new Promise((resolve) => {
            window.reader.onmessage = ({ data }) => 'progress' in data || resolve(data);
            window.reader.postMessage(message);
        });
        await ask({ module: await get(module), signatures: await get(signatures) });
    }
    const answers = [];
    for (const text of TEXTS) {
        const log = new Blob([Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0))]);
        answers.push((await ask({ log, environment: {}, base: location.origin })).answer ?? '{}');
    }
    return answers;";

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn the_module_in_the_tab_answers_as_the_server_does() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    let app = app().await;
    let browser = Browser::start().await;
    browser.open(&app.url).await;
    let all = texts();
    for texts in all.chunks(50) {
        let encoded: Vec<String> = texts.iter().map(|(_, text)| STANDARD.encode(text)).collect();
        let ask = ASK.replace("TEXTS", &json!(encoded).to_string());
        let answers = browser.script(&format!("return (async () => {{{ask}}})()")).await;
        for ((name, text), answer) in texts.iter().zip(answers.as_array().unwrap()) {
            let of_tab: Value = serde_json::from_str(answer.as_str().unwrap()).unwrap();
            let request = app.post("/api/v1/match").header("content-type", "text/plain");
            let of_server = request.body(text.clone()).send().await.unwrap();
            let of_server = without_candidates(crate::test_app::json(of_server).await);
            assert_eq!(of_tab, of_server, "{name}");
        }
    }
}

/// Not a test of what is right: it prints what `docs/benchmarks/tab.md` says. `PEERLESS_TAB_LOG` names the log.
#[tokio::test]
#[ignore = "a measurement: docs/benchmarks/tab.md has its command"]
async fn measured_in_the_tab() {
    let app = app().await;
    let browser = Browser::start().await;
    let file = PathBuf::from(std::env::var_os("PEERLESS_TAB_LOG").expect("PEERLESS_TAB_LOG names a log"));
    let small = app.folder.path().join("small.log");
    fs::write(&small, LOG).unwrap();
    browser.open(&app.url).await;
    for (name, file) in [
        ("first", &small),
        ("small", &small),
        ("log", &file),
        ("log again", &file),
    ] {
        let before = requests(&app);
        browser
            .script(
                "window.gaps = [0]; window.begun = performance.now(); let last = window.begun;
                 const look = (now) => { window.gaps.push(now - last); last = now; window.watch = requestAnimationFrame(look); };
                 cancelAnimationFrame(window.watch); window.watch = requestAnimationFrame(look);
                 window.done = 0; const seen = new MutationObserver(() => {
                    if (document.querySelector('h1') && !document.querySelector('h1[data-before]')) { window.done ||= performance.now(); seen.disconnect(); } });
                 document.querySelector('h1').dataset.before = ''; seen.observe(document.body, { childList: true, subtree: true });",
            )
            .await;
        choose(&browser, file).await;
        let figures = browser
            .script("return [window.done - window.begun, Math.max(...window.gaps), document.querySelector('main').innerText.slice(0, 120)]")
            .await;
        println!("{name}: {figures}, {} requests", requests(&app) - before - 1);
    }
    println!("renderer's memory: {} kB at its peak", browser.renderer_peak());
}

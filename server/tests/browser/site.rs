//! A site of files in a real Chromium, below a path of a plain host with the headers that it asks for. The module is built by
//! `cargo xtask wasm --test`, which runs these tests.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use actix_web::web::{Data, Path};
use actix_web::{App, HttpResponse, HttpServer, web};
use peerless::domain::search::search;
use peerless::feed::{Generation, offline};
use peerless::render::i18n::Language;
use peerless::site::{Module, write};
use peerless_search::SearchRequest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::driver::Browser;

const LOG: &str = include_str!("../data/six-faults.log");
const BOTH: [Language; 2] = [Language::English, Language::Chinese];
const RECORD: &str = "xid/79-gpu-has-fallen-off-the-bus";

static SHIPPED: LazyLock<Arc<Generation>> =
    LazyLock::new(|| Arc::new(offline(peerless::bundle::embedded().unwrap()).unwrap()));

fn module() -> Module {
    let folder = std::env::var_os("PEERLESS_TEST_TAB")
        .map(PathBuf::from)
        .expect("the module for browsers is not there: run `cargo xtask wasm --test`, which builds it");
    Module {
        worker: fs::read(folder.join("worker.js")).unwrap(),
        wasm: fs::read(folder.join("tab.wasm")).unwrap(),
    }
}

/// A host of the site, below `/kb/`.
struct Host {
    url: String,
    folder: TempDir,
    requests: Arc<AtomicUsize>,
}

struct Shared {
    root: PathBuf,
    policies: (String, String),
    requests: Arc<AtomicUsize>,
}

/// What the site's README says of a file: that of the worker, else that of all others.
fn policies(read_me: &str) -> (String, String) {
    let policies: Vec<&str> = read_me
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Content-Security-Policy: "))
        .collect();
    (policies[0].to_owned(), policies[1].to_owned())
}

async fn file(name: Path<String>, shared: Data<Shared>) -> HttpResponse {
    shared.requests.fetch_add(1, Ordering::Relaxed);
    let Ok(body) = fs::read(shared.root.join(name.as_str())) else {
        return HttpResponse::NotFound().finish();
    };
    let kind = match name.rsplit('.').next().unwrap() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let policy = if name.contains("data/worker.") {
        &shared.policies.1
    } else {
        &shared.policies.0
    };
    HttpResponse::Ok()
        .insert_header(("content-type", kind))
        .insert_header(("content-security-policy", policy.as_str()))
        .insert_header(("x-content-type-options", "nosniff"))
        .body(body)
}

fn host(compress: bool) -> Host {
    let folder = TempDir::new().unwrap();
    write(&SHIPPED, &module(), &BOTH, folder.path()).unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    let shared = Data::new(Shared {
        root: folder.path().to_owned(),
        policies: policies(&fs::read_to_string(folder.path().join("README.txt")).unwrap()),
        requests: Arc::clone(&requests),
    });
    let app = move || {
        App::new()
            .app_data(shared.clone())
            .wrap(actix_web::middleware::Condition::new(
                compress,
                actix_web::middleware::Compress::default(),
            ))
            .route("/kb/{name:.*}", web::get().to(file))
    };
    let server = HttpServer::new(app)
        .workers(1)
        .disable_signals()
        .bind("127.0.0.1:0")
        .unwrap();
    let address = server.addrs()[0];
    tokio::spawn(server.run());
    Host {
        url: format!("http://{address}/kb"),
        folder,
        requests,
    }
}

async fn asked(browser: &Browser, text: &str) {
    let text = json!(text);
    browser
        .script(&format!(
            "const q = document.getElementById('q'); q.value = {text}; \
             document.querySelector('[data-told]').textContent = ''; document.querySelector('[data-finder]').requestSubmit()"
        ))
        .await;
    browser
        .until("const told = document.querySelector('[data-told]').textContent; return told !== '' && !told.endsWith('…')")
        .await;
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn a_site_is_searched_and_read_without_a_server() {
    let host = host(false);
    let browser = Browser::start().await;
    for (file, found, title) in [
        ("index.html", "Records found", "Known errors: 6"),
        ("index.zh.html", "找到的记录", "已知错误：6"),
    ] {
        for (width, scheme) in [(1280, "light"), (360, "dark")] {
            browser.viewport(width, 800, scheme).await;
            browser.open(&format!("{}/{file}", host.url)).await;
            asked(&browser, "xid 79").await;
            assert!(browser.text("[data-told]").await.contains(found));
            assert_eq!(browser.text(".results code").await, RECORD);
            assert!(browser.sticks_out(width).await <= 0);
            assert_eq!(browser.script(crate::pages::TOO_FAINT).await, json!([]));
            // A log is read by the same module; nothing is asked for meanwhile.
            browser.type_into("#text", LOG).await;
            browser
                .script("document.querySelector('h1').dataset.before = ''")
                .await;
            browser.click("[data-tab-text]").await;
            browser
                .until("return !document.querySelector('h1[data-before]')")
                .await;
            assert_eq!(browser.text("h1").await, title);
            let before = host.requests.load(Ordering::Relaxed);
            browser.type_into("#text", LOG).await;
            browser
                .script("document.querySelector('h1').dataset.before = ''")
                .await;
            browser.click("[data-tab-text]").await;
            browser
                .until("return !document.querySelector('h1[data-before]')")
                .await;
            assert_eq!(
                host.requests.load(Ordering::Relaxed),
                before,
                "something was asked for"
            );
            assert!(browser.sticks_out(width).await <= 0);
            assert_eq!(browser.script(crate::pages::TOO_FAINT).await, json!([]));
            // Reload brings the answer back, and its records are pages of the site.
            let address = browser.address().await;
            assert!(address.contains("/kb/log"), "{address}");
            browser.open(&address).await;
            assert_eq!(browser.text("h1").await, title);
            browser.follow("[data-matches] h2 a").await;
            assert!(browser.address().await.contains("/kb/r/"));
        }
    }
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn a_record_of_a_site_is_there_in_both_languages() {
    let host = host(true);
    let browser = Browser::start().await;
    browser.viewport(360, 800, "light").await;
    browser.open(&format!("{}/r/{RECORD}.html", host.url)).await;
    assert_eq!(browser.text("#verdict").await, "In short");
    assert!(browser.sticks_out(360).await <= 0);
    // What is written in a shorter way looks the same.
    let looks = "const of = (name) => getComputedStyle(document.querySelector(name)); const [note, muted] = [of('.aside small'), of('.aside .small.muted')]; \
                 return [of('.record pre').whiteSpace, note.color === muted.color, note.fontSize === muted.fontSize]";
    assert_eq!(browser.script(looks).await, json!(["pre-wrap", true, true]));
    browser.follow("nav a[hreflang]").await;
    browser
        .until("return document.documentElement.lang === 'zh-Hans'")
        .await;
    assert_eq!(browser.text("#verdict").await, "概要");
    assert_eq!(browser.text("nav a[hreflang]").await, "English");
    assert!(browser.title().await.contains("GPU"));
    assert!(browser.sticks_out(360).await <= 0);
    // What it leads to is Chinese, too.
    browser.follow(".aside a[href*='.html']").await;
    browser
        .until("return document.documentElement.lang === 'zh-Hans'")
        .await;
    browser.follow("nav ul li:nth-child(2) a").await;
    assert!(browser.address().await.ends_with("/kb/records.zh.html"));
    browser.follow("main ul a").await;
    browser.follow("main ul a").await;
    browser
        .until("return document.documentElement.lang === 'zh-Hans'")
        .await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn without_script_a_site_has_its_records_and_lists() {
    let host = host(false);
    let browser = Browser::start_with(false).await;
    for (file, told) in [
        ("index.html", "needs script"),
        ("search.zh.html", "需要脚本"),
        ("log.html", "needs script"),
    ] {
        browser.open(&format!("{}/{file}", host.url)).await;
        assert!(browser.text("noscript .note").await.contains(told), "{file}");
    }
    browser.open(&format!("{}/graph.html", host.url)).await;
    browser.follow("table a").await;
    browser.follow("main ul a").await;
    assert!(browser.address().await.contains("/kb/r/"));
    assert_eq!(browser.text("#verdict").await, "In short");
    assert!(browser.text("main > noscript .note").await.contains("需要脚本"));
}

#[tokio::test]
#[ignore = "needs the module for browsers: cargo xtask wasm --test"]
async fn the_search_of_a_site_in_the_tab_ranks_as_the_server_does() {
    let host = host(false);
    let browser = Browser::start().await;
    browser.open(&format!("{}/search.html", host.url)).await;
    browser
        .script("window.finder = new Finder(document.querySelector('[data-finder]').dataset)")
        .await;
    let evaluation = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../evaluation");
    let files = fs::read_dir(&evaluation)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("queries.jsonl"));
    let mut queries: Vec<String> = Vec::new();
    for file in files
        .chain([evaluation.join("queries.jsonl")])
        .filter(|file| std::fs::metadata(file).is_ok())
    {
        for line in fs::read_to_string(file).unwrap().lines() {
            let item: Value = serde_json::from_str(line).unwrap();
            queries.push(item["query"].as_str().unwrap().to_owned());
        }
    }
    assert!(queries.len() > 500);
    let (mut first, mut whole) = (0, 0);
    for some in queries.chunks(100) {
        let ask = format!(
            "return (async () => {{ const found = []; for (const text of {}) \
             found.push((await window.finder.find({{ text }})).hits.map((hit) => hit.id)); return found; }})()",
            json!(some)
        );
        let of_site = browser.script(&ask).await;
        for (text, of_site) in some.iter().zip(of_site.as_array().unwrap()) {
            let request = SearchRequest {
                text: text.clone(),
                ..SearchRequest::default()
            };
            let of_server = search(&SHIPPED, &request).unwrap();
            let of_server: Vec<&str> = of_server.hits.iter().map(|hit| hit.id.as_str()).collect();
            let of_site: Vec<&str> = of_site
                .as_array()
                .unwrap()
                .iter()
                .map(|id| id.as_str().unwrap())
                .collect();
            first += usize::from(of_site.first() == of_server.first());
            whole += usize::from(of_site == of_server);
        }
    }
    println!(
        "{} queries: {first} with the same first record, {whole} with the same page",
        queries.len()
    );
    assert!(first * 100 >= queries.len() * 95, "{first} of {}", queries.len());
}

/// Not a test of what is right: it prints what `docs/benchmarks/site.md` says.
#[tokio::test]
#[ignore = "a measurement: docs/benchmarks/site.md has its command"]
async fn measured_on_a_throttled_profile() {
    for compress in [false, true] {
        let host = host(compress);
        println!(
            "the host compresses: {compress}; {} requests so far",
            host.requests.load(Ordering::Relaxed)
        );
        for page in [
            "index.html",
            "index.zh.html",
            "records.html",
            "domains/nccl.html",
            "graph.html",
            "log.html",
            &format!("r/{RECORD}.html"),
            &format!("r/{RECORD}.html?lang=zh"),
        ] {
            let browser = Browser::start().await;
            browser.viewport(412, 823, "light").await;
            browser.open("about:blank").await;
            browser.devtools("Network.enable", json!({})).await;
            // 1.6 Mbit/s down, 0.75 up, 150 ms: a slow 4G, as Lighthouse has it.
            let slow = json!({ "offline": false, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 93_750 });
            browser.devtools("Network.emulateNetworkConditions", slow).await;
            browser
                .devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 4 }))
                .await;
            let watch = "window.shifts = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shifts += one.value; })\
                         .observe({ type: 'layout-shift', buffered: true });";
            browser
                .devtools(
                    "Page.addScriptToEvaluateOnNewDocument",
                    json!({ "source": watch }),
                )
                .await;
            browser.open(&format!("{}/{page}", host.url)).await;
            browser.until("return performance.getEntriesByName('first-contentful-paint').length > 0 && !document.documentElement.classList.contains('waits')").await;
            let figures = browser
                .script("return [Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime), window.shifts, Math.round(performance.now())]")
                .await;
            println!("{page}: first content, layout shift, text there: {figures}");
            if page == "index.html" {
                let begun = std::time::Instant::now();
                asked(&browser, "xid 79").await;
                println!("  first search: {:?}", begun.elapsed());
                let begun = std::time::Instant::now();
                asked(&browser, "nccl timeout").await;
                println!("  next search: {:?}", begun.elapsed());
                println!("  memory: {} kB", browser.renderer_peak());
            }
        }
        let mut sizes = std::collections::BTreeMap::new();
        let mut folders = vec![host.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(host.folder.path()).unwrap();
                    let kind = (
                        name.components().next().unwrap().as_os_str().to_owned(),
                        name.extension().map(std::ffi::OsStr::to_owned),
                    );
                    *sizes.entry(kind).or_insert(0) += path.metadata().unwrap().len();
                }
            }
        }
        println!("{sizes:#?}");
    }
}

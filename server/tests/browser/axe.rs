//! axe-core on every page that the route table has, for an administrator, who sees the most, and for nobody. `cargo xtask axe`
//! fetches axe-core and runs this.

use peerless::store::{Role, UnmatchedSeen};
use peerless::web::auth::Access;
use peerless::web::routes;

use crate::driver::Browser;
use crate::fleet::{REPORT, app_with_fleet_and};
use crate::people::{self, PASSWORD};
use crate::test_app::{NOW, TestApp};

const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";
const OTHER: &str = "tensorflow/gpu-peer-access-error";
const LINES: &str = "0123456789abcdef";
const TEXT: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices\n\
    zorgblat: error: axle 3 failed\n";
/// Answers to GET that are no page: files, feeds, what only leads elsewhere, and what programs ask.
const NO_PAGES: [&str; 16] = [
    "/static/{file}",
    "/tab",
    "/tab/signatures",
    "/tab/{file}",
    "/feed.atom",
    "/llms.txt",
    "/robots.txt",
    "/opensearch.xml",
    "/favicon.ico",
    "/login/oidc",
    "/login/oidc/done",
    "/first-admin",
    "/match",
    "/metrics",
    "/healthz",
    "/readyz",
];

/// What axe-core finds: rule, and the elements that break it.
const FOUND: &str = "return axe.run(document, { resultTypes: ['violations'], preload: false }).then((found) => \
    found.violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 150)).join(' | ')))";

fn after<'a>(page: &'a str, start: &str) -> &'a str {
    let (_, rest) = page
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start}: {page}"));
    rest
}

async fn sent(browser: &people::Browser, path: &str, fields: &[(&str, &str)]) -> String {
    let answer = browser.form(path, fields).send().await.unwrap();
    let status = answer.status();
    let page = answer.text().await.unwrap();
    assert!(status.is_success() || status == 303, "{path}: {status} {page}");
    page
}

/// What a form holds, as text.
fn unescaped(text: &str) -> String {
    let signs = [
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#38;", "&"),
    ];
    let text = text.to_owned();
    signs
        .iter()
        .fold(text, |text, (escaped, sign)| text.replace(escaped, sign))
}

/// Addresses of an answer that was shared, and of lines that were kept.
async fn kept(app: &TestApp) -> [String; 2] {
    let nobody = people::Browser::new(app);
    let link = |page: &str, path: &str| {
        let rest = after(page, path);
        format!("{path}{}", rest.split(['"', '?', '<']).next().unwrap())
    };
    let found = sent(&nobody, "/match", &[("text", TEXT)]).await;
    let answer = after(&found, "name=\"answer\" value=\"")
        .split('"')
        .next()
        .unwrap();
    let shared = sent(
        &nobody,
        "/share/keep",
        &[("answer", &unescaped(answer)), ("days", "7")],
    )
    .await;
    let shown = sent(&nobody, "/unknown", &[("text", TEXT)]).await;
    let lines = after(&shown, "name=\"lines\"").split_once('>').unwrap().1;
    let lines = unescaped(lines.split("</textarea>").next().unwrap().trim());
    let kept = sent(&nobody, "/unknown/keep", &[("lines", &lines)]).await;
    [link(&shared, "/a/"), link(&kept, "/kept/")]
}

/// A server on which every page has something to show.
async fn app() -> TestApp {
    let app = app_with_fleet_and(|settings| settings.anonymous_writing = true).await;
    let seen = UnmatchedSeen {
        id: LINES.to_owned(),
        tokens: vec![
            "zorgblat:".to_owned(),
            " <number>".to_owned(),
            " failed".to_owned(),
        ],
        is_wider: false,
        examples: vec!["zorgblat: 3 failed".to_owned()],
        node: "node-1".to_owned(),
        count: 2,
    };
    app.store.note_unmatched(&[seen], NOW).await.unwrap();
    app.person("ada", Role::Admin, true).await;
    app.person("bob", Role::Contributor, false).await;
    let nobody = people::Browser::new(&app);
    let told = [("about", ""), ("text", "The cause is another one.")];
    let suggested = nobody
        .form(&format!("/r/{RECORD}/-/feedback"), &told[1..])
        .send()
        .await
        .unwrap();
    assert!(suggested.status().as_u16() < 500);
    app
}

/// The addresses of a page; a page that this does not know fails the test.
fn addresses(pattern: &str, kept: &[String; 2]) -> Vec<String> {
    let record = |rest: &str| vec![format!("/r/{RECORD}{rest}")];
    let own = |address: &str| vec![address.to_owned()];
    match pattern {
        "/r/{id:.+}" => record(""),
        "/r/{id:.+}/-/graph" => record("/-/graph"),
        "/r/{id:.+}/-/revisions" => record("/-/revisions"),
        "/r/{id:.+}/-/edit" => [
            record("/-/edit"),
            record("/-/edit?at=d:/workarounds/0/action&read=1"),
        ]
        .concat(),
        "/r/{id:.+}/-/split" => record("/-/split"),
        "/r/{id:.+}/-/rename" => record("/-/rename"),
        "/r/{id:.+}/-/merge" => [record("/-/merge"), record(&format!("/-/merge?into={OTHER}"))].concat(),
        "/nodes/{id}" => own("/nodes/gpu07"),
        "/reports/{id}" => own(REPORT),
        "/a/{name}" => own(&kept[0]),
        "/kept/{key}" => own(&kept[1]),
        "/unmatched/{id}" => own(&format!("/unmatched/{LINES}")),
        "/records/new" => vec![
            "/records/new".to_owned(),
            "/records/new?id=local/begun".to_owned(),
            format!("/records/new?id=local/begun&unmatched={LINES}"),
        ],
        "/search" => vec!["/search".to_owned(), "/search?q=peer&domain=cuda".to_owned()],
        pattern => {
            assert!(!pattern.contains('{'), "where is {pattern}?");
            own(pattern)
        }
    }
}

async fn check(browser: &Browser, axe: &str, place: &str, found: &mut Vec<String>) {
    browser
        .script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        .await;
    browser.script(axe).await;
    for one in browser.script(FOUND).await.as_array().unwrap() {
        found.push(format!("{place}: {}", one.as_str().unwrap()));
    }
    let width = browser.script("return innerWidth").await.as_u64().unwrap();
    let sticks_out = browser.sticks_out(u32::try_from(width).unwrap()).await;
    if sticks_out > 0 {
        found.push(format!("{place}: {sticks_out} pixels stick out"));
    }
}

#[tokio::test]
#[ignore = "needs axe-core: `cargo xtask axe` runs it"]
async fn axe_finds_no_fault_on_any_page_in_either_language_wide_or_on_a_phone() {
    let axe = std::env::var("PEERLESS_TEST_AXE").expect("run this with `cargo xtask axe`");
    let axe = std::fs::read_to_string(axe).unwrap();
    let app = app().await;
    let kept = kept(&app).await;
    let browser = Browser::start().await;
    let table = routes().table();
    let pages: Vec<(Access, String)> = table
        .iter()
        .filter(|route| route.method == "GET" && !route.pattern.starts_with("/api/"))
        .filter(|route| !NO_PAGES.contains(&route.pattern))
        .flat_map(|route| {
            let access = route.access;
            addresses(route.pattern, &kept)
                .into_iter()
                .map(move |address| (access, address))
        })
        .collect();
    assert!(pages.len() > 30, "{pages:?}");
    let mut found = Vec::new();
    for who in ["nobody", "ada"] {
        if who == "ada" {
            browser.open(&format!("{}/login", app.url)).await;
            browser.type_into("[name=login]", "ada").await;
            browser.type_into("[name=password]", PASSWORD).await;
            browser.follow("main form button").await;
        }
        for (lang, width, scheme) in [("en", 1280, "light"), ("zh", 360, "dark")] {
            browser.viewport(width, 900, scheme).await;
            for (_, address) in &pages {
                let sign = if address.contains('?') { '&' } else { '?' };
                browser
                    .open(&format!("{}{address}{sign}lang={lang}", app.url))
                    .await;
                let place = format!("{who} {address} {lang} {width}");
                check(&browser, &axe, &place, &mut found).await;
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

//! The page that answers a text: a paragraph and a row for each fault, no row for each value, what the environment decides,
//! one host alone, and texts for a ticket.

use std::fmt::Write as _;

use crate::browser::Browser;
use crate::test_app::TestApp;

const LOG: &str = include_str!("../data/six-faults.log");

async fn app(records: &[&str]) -> TestApp {
    TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
        options.seeds.retain(|seed| records.contains(&seed.id.as_str()));
    })
    .await
}

async fn answer(app: &TestApp, fields: &[(&str, &str)]) -> String {
    answer_in(app, "", fields).await
}

async fn answer_in(app: &TestApp, query: &str, fields: &[(&str, &str)]) -> String {
    let path = format!("/match{query}");
    let response = Browser::new(app).form(&path, fields).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response.text().await.unwrap()
}

/// What stands between two marks of the page.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let (_, rest) = page
        .split_once(from)
        .unwrap_or_else(|| panic!("{from} is not in {page}"));
    rest.split(to).next().unwrap()
}

fn rows(page: &str) -> usize {
    between(page, "<ol class=\"faults\"", "</ol>")
        .matches("<li ")
        .count()
}

#[tokio::test]
async fn a_row_for_each_fault_says_where_it_stands_and_what_led_to_it() {
    let app = app(&[
        "xid/79-gpu-has-fallen-off-the-bus",
        "pytorch/watchdog-collective-timeout",
    ])
    .await;
    let page = answer(&app, &[("text", LOG)]).await;
    let list = between(&page, "<ol class=\"faults\"", "</ol>");
    for part in [
        "First cause, led to 2",
        "Because of 1",
        "href=\"#line-9\"",
        "×7",
        "Nov 21 03:12:17",
        "gpu08",
        "rank 8",
        "GPU 0000:3b:00<",
        "For your admin",
    ] {
        assert!(list.contains(part), "{part} is not in {list}");
    }
    let summary = between(&page, "<h1>", "<ol class");
    for part in [
        "31 lines",
        "on line 9 (Nov 21 03:02:11, gpu07, GPU 0000:3b:00)",
        "It led to 1 more: 2.",
    ] {
        assert!(summary.contains(part), "{part} is not in {summary}");
    }
    let chinese = answer(&app, &[("text", "all is well\nzorgblat failed")]).await;
    assert!(
        chinese.contains("Not known: line 2 looks like an error"),
        "{chinese}"
    );
}

#[tokio::test]
async fn five_thousand_hits_with_as_many_values_stay_a_small_page() {
    let app = app(&["xid/79-gpu-has-fallen-off-the-bus"]).await;
    let mut log = String::new();
    for n in 0..5_000 {
        writeln!(
            log,
            "[{n}.000000] NVRM: Xid (PCI:{n:04x}:3b:00): 79, pid={n}, GPU has fallen off the bus."
        )
        .unwrap();
    }
    let page = answer(&app, &[("text", &log)]).await;
    assert!(page.len() < 60_000, "{} bytes", page.len());
    assert!(
        page.contains("×5\u{202f}000") && page.contains("more lines like this"),
        "{page}"
    );
    assert!(!page.contains("pid 17"), "a value has a row of its own");
}

#[tokio::test]
async fn the_environment_is_told_where_it_matters() {
    const LINES: &str = "NVRM: Xid (PCI:0000:04:00): 146, TLW_RX/TLW_RX_PIPE0 Fatal XC0 i0 Link 00 (0x0000000a 0x00000004 \
        0x00000000 0x00000000)\nNVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n";
    let app = app(&["xid/146-nvlink-tlw-error", "xid/79-gpu-has-fallen-off-the-bus"]).await;
    let told = |page: &str| between(page, "data-answer", "class=\"beside\"").to_owned();
    let untold = told(&answer(&app, &[("text", LINES)]).await);
    assert!(untold.contains("not told: fill it in below"), "{untold}");
    let given = answer(&app, &[("text", LINES), ("driver", "550.54.14")]).await;
    assert!(told(&given).contains("driver 550.54.14"), "{given}");
    assert_eq!(given.matches("For another environment").count(), 2, "{given}");
    assert!(!given.contains("Environment not compared"), "{given}");
    let without = answer(&app, &[("text", LOG)]).await;
    assert!(!told(&without).contains("Environment:"), "{without}");
}

#[tokio::test]
async fn one_host_rank_or_gpu_is_shown_alone() {
    let app = app(&[
        "xid/79-gpu-has-fallen-off-the-bus",
        "pytorch/watchdog-collective-timeout",
    ])
    .await;
    assert_eq!(rows(&answer(&app, &[("text", LOG)]).await), 2);
    for (name, value) in [
        ("only_host", "gpu08"),
        ("only_rank", "8"),
        ("only_gpu", "0000:3b:00"),
    ] {
        let page = answer(&app, &[("text", LOG), (name, value)]).await;
        assert_eq!(rows(&page), 1, "{name}");
        assert!(page.contains("1 of 2 are shown."), "{name}");
    }
    let page = answer(&app, &[("text", LOG), ("only_host", "<b>")]).await;
    assert!(
        page.contains("0 of 2 are shown.") && !page.contains("<b>"),
        "{page}"
    );
}

#[tokio::test]
async fn a_ticket_has_the_lines_and_the_first_step() {
    let app = app(&["xid/79-gpu-has-fallen-off-the-bus", "xid/74-nvlink-error"]).await;
    let page = answer(&app, &[("text", LOG)]).await;
    let text = between(&page, "id=\"ticket-text\"", "</textarea>");
    let markdown = between(&page, "id=\"ticket-markdown\"", "</textarea>");
    let address = format!("{}/r/xid/79-gpu-has-fallen-off-the-bus", app.url);
    for part in [
        "2 known errors",
        "Do first: Drain the node",
        "GPU has fallen off the bus.",
        &address,
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
        assert!(markdown.contains(part), "{part} is not in {markdown}");
    }
    assert!(
        markdown.contains("```") && markdown.contains("**2 known errors**"),
        "{markdown}"
    );
}

#[tokio::test]
async fn a_line_that_the_driver_calls_fatal_is_not_shown_as_harmless() {
    let app = app(&["xid/147-nvlink-trex-error"]).await;
    for (told, is_fatal) in [("Fatal", true), ("Nonfatal", false)] {
        let line = format!("NVRM: Xid (PCI:0000:af:00): 147, TREX {told} XC0 i0 Link 07 (0x1)");
        let page = answer(&app, &[("text", &line)]).await;
        assert_eq!(
            page.contains("The driver calls this line fatal"),
            is_fatal,
            "{page}"
        );
        assert_eq!(page.contains("For nobody"), !is_fatal, "{page}");
        assert_eq!(
            page.contains(">Unless:") || page.contains(" Unless:"),
            !is_fatal,
            "{page}"
        );
    }
}

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
    let response = Browser::new(app).form("/match", fields).send().await.unwrap();
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
        "Because of fault 1",
        "href=\"#line-9\"",
        "×7",
        "Nov 21 03:12:17",
        "gpu08",
        "rank 8",
        "GPU 0000:3b:00<",
        "To act: your admin",
    ] {
        assert!(list.contains(part), "{part} is not in {list}");
    }
    let summary = between(&page, "<h1>", "<ol class");
    for part in [
        "31 lines",
        "on line 9 (Nov 21 03:02:11, gpu07, GPU 0000:3b:00)",
        "It led to fault 2.",
    ] {
        assert!(summary.contains(part), "{part} is not in {summary}");
    }
    let unknown = answer(&app, &[("text", "all is well\nzorgblat failed")]).await;
    assert!(
        unknown.contains("Not known: line 2 looks like an error"),
        "{unknown}"
    );
}

fn fallen(time: &str, host: &str, pid: usize) -> String {
    format!(
        "Nov 21 {time} {host} kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid={pid}, name=python, GPU has fallen off the bus.\n"
    )
}

#[tokio::test]
async fn the_first_cause_is_the_first_by_its_time_wherever_it_stands() {
    let app = app(&["xid/79-gpu-has-fallen-off-the-bus", "xid/74-nvlink-error"]).await;
    let link = "Nov 21 04:00:00 gpu07 kernel: NVRM: Xid (PCI:0000:3b:00): 74, pid=1, NVLink: fatal error detected on link 3\n";
    let text = fallen("05:00:00", "gpu07", 1) + link + &fallen("03:00:00", "gpu07", 2);
    let page = answer(&app, &[("text", &text)]).await;
    let summary = between(&page, "<h1>", "<ol class");
    assert!(summary.contains("on line 3 (Nov 21 03:00:00, gpu07"), "{summary}");
    assert!(page.contains("id=\"line-3\""), "{page}");
}

#[tokio::test]
async fn every_line_of_a_record_is_known() {
    let app = app(&["xid/79-gpu-has-fallen-off-the-bus"]).await;
    let names = ["python", "vllm", "ray", "trainer", "nccl", "java", "ruby"];
    let lines = (1..)
        .zip(names)
        .map(|(n, name)| fallen(&format!("03:00:0{n}"), "gpu07", n).replace("python", name));
    let page = answer(&app, &[("text", &lines.collect::<String>())]).await;
    assert!(page.contains("No other line looks like an error."), "{page}");
}

#[tokio::test]
async fn noise_hides_no_fault() {
    let app = app(&["xid/79-gpu-has-fallen-off-the-bus"]).await;
    let letters = ('a'..='z').flat_map(|one| ('a'..='z').map(move |other| format!("{one}{other}")));
    let noise = letters.map(|word| format!("WARNING upload failed, zorg{word}\n{}", "step\n".repeat(7)));
    let text = noise.take(250).collect::<String>() + &fallen("03:00:00", "gpu07", 1);
    let page = answer(&app, &[("text", &text)]).await;
    assert!(
        page.contains("href=\"#line-2001\"") && page.contains("id=\"line-2001\""),
        "{page}"
    );
    assert!(page.len() < 60_000, "{} bytes", page.len());
}

#[tokio::test]
async fn every_host_can_be_chosen() {
    let app = app(&["xid/79-gpu-has-fallen-off-the-bus"]).await;
    let text: String = (0..7)
        .map(|n| fallen("03:00:00", &format!("gpu0{n}"), n))
        .collect();
    let page = answer(&app, &[("text", &text), ("only_host", "gpu03")]).await;
    assert_eq!(page.matches("<option value=\"gpu0").count(), 7, "{page}");
    assert_eq!(rows(&page), 1);
    let many: String = (0..90)
        .map(|n| fallen("03:00:00", &format!("gpu{n:02}"), n))
        .collect();
    let page = answer(&app, &[("text", &many), ("only_host", "gpu03")]).await;
    assert_eq!(rows(&page), 1);
    assert!(page.contains("data-any"), "{page}");
}

#[tokio::test]
async fn a_text_of_hundreds_of_errors_stays_a_page() {
    let app = TestApp::start_with(|options| options.seeds = peerless::bundle::embedded().unwrap()).await;
    let seeds = peerless::bundle::embedded().unwrap();
    let examples = seeds.iter().filter_map(|seed| {
        let annex: serde_json::Value = serde_json::from_str(&seed.annex).unwrap();
        Some(annex["examples"][0]["text"].as_str()?.to_owned() + "\n")
    });
    let text: String = examples.take(400).collect();
    let page = answer(&app, &[("text", &text)]).await;
    assert_eq!(rows(&page), 60);
    assert!(page.contains("60 of "), "{page}");
    assert!(page.len() < 500_000, "{} bytes", page.len());
    for line in page.split("href=\"#line-").skip(1) {
        let number = line.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"line-{number}\"")), "line {number}");
    }
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
    assert!(!page.contains("07d0:3b:00"), "a value has a row of its own");
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
    // Chosen for another text.
    let page = answer(&app, &[("text", LOG), ("only_host", "<b>"), ("only_rank", "8")]).await;
    assert!(
        page.contains("1 of 2 are shown.") && !page.contains("<b>"),
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
        assert_eq!(page.contains("nobody: nothing to do"), !is_fatal, "{page}");
        assert_eq!(page.contains("Ignore it"), !is_fatal, "{page}");
        assert_eq!(page.contains("Rebooting the system"), !is_fatal, "{page}");
        let why = "Both cases that the vendor documents are not fatal";
        assert_eq!(page.contains(why), !is_fatal, "{page}");
        assert_eq!(
            page.contains("Not harmless here, against its record"),
            is_fatal,
            "{page}"
        );
        assert_eq!(
            page.contains(">Unless:") || page.contains(" Unless:"),
            !is_fatal,
            "{page}"
        );
    }
}

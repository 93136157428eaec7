//! Codes over the shipped records, in the writings that people put into an address.

use serde_json::Value;

use crate::test_app::TestApp;

/// Id and domain of what an address finds.
async fn found(app: &TestApp, code: &str) -> Vec<(String, String)> {
    let answer = app.get_json(&format!("/api/v1/codes/{code}")).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let records = answer["records"].as_array().unwrap().iter();
    records
        .map(|record| (text(&record["id"]), text(&record["domain"])))
        .collect()
}

fn has(found: &[(String, String)], id: &str, domain: &str) -> bool {
    found.iter().any(|(own, its)| own == id && its == domain)
}

#[tokio::test]
async fn a_code_is_found_in_every_writing_with_all_its_meanings() {
    let app = TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
    })
    .await;
    let xid = "xid/79-gpu-has-fallen-off-the-bus";
    for written in ["79", "xid+79", "Xid%2079", "XID-79"] {
        let found = found(&app, written).await;
        assert!(has(&found, xid, "xid"), "{written}: {found:?}");
    }
    let illegal = "cuda/illegal-address";
    for written in ["700", "error+700", "cudaErrorIllegalAddress"] {
        let found = found(&app, written).await;
        assert!(has(&found, illegal, "cuda"), "{written}: {found:?}");
    }
    // An Xid and an error of CUDA.
    let both = found(&app, "46").await;
    assert!(has(&both, "xid/46-gpu-timeout", "xid"), "{both:?}");
    assert!(
        has(&both, "cuda/device-unavailable-compute-mode", "cuda"),
        "{both:?}"
    );
    let one = found(&app, "xid+46").await;
    assert!(one.iter().all(|(_, domain)| domain == "xid"), "{one:?}");
}

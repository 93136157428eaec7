//! A harmless record takes no line with the status of a lost GPU.

use super::{ANNEX, DOCUMENT, put, rules};
use crate::validate::Severity;

const EXAMPLES: &str =
    r#"[{"text": "good unmap failed; status: Requested object not found [NV_ERR_OBJECT_NOT_FOUND] (0x57)"}]"#;

fn faults(regex: &str, is_harmless: bool) -> Vec<(String, &'static str, Severity)> {
    let document = put(DOCUMENT, "/regex", &serde_json::to_string(regex).unwrap());
    let signature = "\"good unmap failed; status: Requested object not found\"";
    let document = put(&document, "/signature", signature);
    let annex = put(&put(ANNEX, "/patterns", "[]"), "/examples", EXAMPLES);
    let harmless = r#"{"unless": "it repeats", "unless_zh": "反复出现"}"#;
    let annex = if is_harmless {
        put(&annex, "/harmless", harmless)
    } else {
        annex
    };
    let mut found = rules(&document, &annex);
    found.retain(|(_, rule, _)| *rule == "harmless-takes-lost-gpu");
    found
}

#[test]
fn a_harmless_record_names_its_statuses() {
    let fault = (
        "/examples/0/text".to_owned(),
        "harmless-takes-lost-gpu",
        Severity::Error,
    );
    for free in [
        "good unmap failed; status: ",
        r"good unmap failed; status: (?P<status>[^\n]{3,80})",
    ] {
        assert_eq!(faults(free, true), std::slice::from_ref(&fault), "{free}");
        assert_eq!(faults(free, false), [], "{free}");
    }
    assert_eq!(
        faults("good unmap failed; status: Requested object not found", true),
        []
    );
}

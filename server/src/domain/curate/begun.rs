//! What a new record begins with: every key that readers expect, so that whoever writes one sees what there is to fill in.

use kb_core::ids::RecordId;
use serde_json::Value;

const DOCUMENT: &str = r#"{
  "id": <id>,
  "signature": "",
  "signature_zh": null,
  "regex": null,
  "domain": <domain>,
  "category": "",
  "subcategory": null,
  "root_cause": "",
  "root_cause_type": null,
  "root_cause_zh": null,
  "versions": [],
  "os_specific": {},
  "dead_ends": [],
  "workarounds": [],
  "workarounds_zh": [],
  "transition_graph": {
    "leads_to": [],
    "preceded_by": [],
    "frequently_confused_with": []
  },
  "official_doc_url": null,
  "official_doc_section": null,
  "error_code": null,
  "verification_tier": null,
  "confidence": null,
  "fix_success_rate": null,
  "resolvable": null,
  "first_seen": null,
  "last_confirmed": null,
  "last_updated": null,
  "evidence_count": null,
  "tags": [],
  "locale": "en",
  "aliases": []
}
"#;

const ANNEX: &str = r#"{
  "schema_version": 1,
  "title": null,
  "patterns": [],
  "examples": [],
  "near_misses": [],
  "sources": []
}
"#;

/// Document and annex.
pub fn begun(id: &RecordId) -> (String, String) {
    let domain = id.as_str().split('/').next().unwrap_or_default();
    let quoted = |text: &str| Value::from(text).to_string();
    let document = DOCUMENT
        .replace("<id>", &quoted(id.as_str()))
        .replace("<domain>", &quoted(domain));
    (document, ANNEX.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::curate::check_texts;

    #[test]
    fn only_what_a_person_must_fill_in_is_missing() {
        let id: RecordId = "local/begun".parse().unwrap();
        let (document, annex) = begun(&id);
        let filled = document.replace(": \"\"", ": \"a text\"");
        let told = check_texts(&id, &filled, &annex).unwrap();
        let places: Vec<&str> = told.iter().map(|one| one.pointer.as_str()).collect();
        assert_eq!(places, ["/regex"], "a pattern is advised, and nothing else");
    }
}

//! From a record that came from there to its canon again.

use std::path::{Component, Path};

use super::SYSTEM;
use super::canon::{ERROR, METADATA, VERDICT};
use super::make::review_status;
use super::raw::{Members, object, quoted};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// Path below the folder, with `/`.
    pub file: String,
    pub text: String,
}

/// The canon that a record was, with what was changed here since. `None` for records from elsewhere.
pub fn to_canon(document: &str, annex: &str) -> Option<Exported> {
    let document = Members::read(document)?;
    let annex = Members::read(annex)?;
    let origin = annex.object("origin")?;
    if origin.string("system")? != SYSTEM {
        return None;
    }
    let id = document.string("id")?;
    let unknown = |key: &str| origin.object(key).unwrap_or_default();
    let (more, more_error, more_verdict) = (unknown("more"), unknown("more_error"), unknown("more_verdict"));

    let own_regex = document.get("regex").filter(|regex| *regex != "null");
    let regex = own_regex.or_else(|| origin.get("regex"));
    let of_error = |key: &'static str| {
        (
            key,
            if key == "regex" { regex } else { document.get(key) }.unwrap_or("null"),
        )
    };
    let mut error: Vec<(&str, &str)> = ERROR.iter().map(|key| of_error(key)).collect();
    error.extend(more_error.except(&[]));

    let of_verdict = |key: &'static str| {
        let ours = if key == "summary" { "root_cause" } else { key };
        (key, document.get(ours).unwrap_or("null"))
    };
    let mut verdict: Vec<(&str, &str)> = VERDICT.iter().map(|key| of_verdict(key)).collect();
    verdict.extend(more_verdict.except(&[]));

    let tier = document.string("verification_tier").unwrap_or_default();
    let status = quoted(review_status(&tier));
    let provenance = annex.object("provenance").unwrap_or_default();
    let mut metadata = provenance.except(METADATA);
    // They write both after who made the record and when.
    let place = metadata.len().min(2);
    let evidence = document.get("evidence_count").unwrap_or("null");
    metadata.splice(
        place..place,
        [("review_status", status.as_str()), ("evidence_count", evidence)],
    );

    let (error, verdict, metadata) = (object(&error, 1), object(&verdict, 1), object(&metadata, 1));
    let mut members = vec![
        ("schema_version", origin.get("schema_version")?),
        ("id", document.get("id")?),
        ("url", origin.get("url")?),
        ("error", &error),
        ("environment", origin.get("environment")?),
        ("verdict", &verdict),
        ("dead_ends", document.get("dead_ends")?),
        ("workarounds", document.get("workarounds")?),
        ("transition_graph", document.get("transition_graph")?),
        ("metadata", &metadata),
    ];
    members.extend(more.except(&[]));
    let file = origin.string("file").filter(|file| stays_below(file));
    Some(Exported {
        file: file.unwrap_or_else(|| format!("{id}.json")),
        text: format!("{}\n", object(&members, 0)),
    })
}

/// A record must not choose any place on the disk.
fn stays_below(file: &str) -> bool {
    let names_only = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    // Not by `Path::extension`: that takes "a.json/" too, which is no file.
    names_only && file.strip_suffix(".json").is_some_and(|name| !name.is_empty())
}

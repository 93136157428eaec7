//! One of their files, read.

use super::raw::Members;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonError {
    #[error("it is not a canon")]
    NotOne,
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("`{0}` is missing or of another kind")]
    Lacks(&'static str),
}

#[derive(Debug, Clone)]
pub(super) struct Canon<'a> {
    pub(super) text: &'a str,
    pub(super) id: String,
    pub(super) all: Members<'a>,
    pub(super) error: Members<'a>,
    pub(super) environment: Members<'a>,
    pub(super) verdict: Members<'a>,
    pub(super) metadata: Members<'a>,
}

pub(super) const ALL: &[&str] = &[
    "schema_version",
    "id",
    "url",
    "error",
    "environment",
    "verdict",
    "dead_ends",
    "workarounds",
    "transition_graph",
    "metadata",
];
pub(super) const ERROR: &[&str] = &[
    "signature",
    "regex",
    "domain",
    "category",
    "first_seen",
    "last_confirmed",
];
pub(super) const VERDICT: &[&str] = &[
    "resolvable",
    "fix_success_rate",
    "confidence",
    "last_updated",
    "summary",
];
/// Members of `metadata` that a document has a place for.
pub(super) const METADATA: &[&str] = &["review_status", "evidence_count"];

impl<'a> Canon<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, CanonError> {
        let text = std::str::from_utf8(bytes).map_err(|_| CanonError::NotUtf8)?;
        let all: Members<'a> = match serde_json::from_str(text) {
            Ok(all) => all,
            Err(error) if error.is_data() => return Err(CanonError::NotOne),
            Err(error) => return Err(CanonError::NotJson(error.to_string())),
        };
        // What holds neither is a file of theirs of another kind.
        let (Some(id), Some(error)) = (all.string("id"), all.object("error")) else {
            return Err(CanonError::NotOne);
        };
        let part = |key: &'static str| all.object(key).ok_or(CanonError::Lacks(key));
        for list in [
            "dead_ends",
            "workarounds",
            "transition_graph",
            "url",
            "schema_version",
        ] {
            all.get(list).ok_or(CanonError::Lacks(list))?;
        }
        for key in ERROR {
            error.get(key).ok_or(CanonError::Lacks(key))?;
        }
        let verdict = part("verdict")?;
        for key in VERDICT {
            verdict.get(key).ok_or(CanonError::Lacks(key))?;
        }
        let metadata = part("metadata")?;
        for key in METADATA {
            metadata.get(key).ok_or(CanonError::Lacks(key))?;
        }
        Ok(Self {
            text,
            id,
            error,
            environment: part("environment")?,
            verdict,
            metadata,
            all,
        })
    }

    pub(super) fn group(&self) -> String {
        let segments: Vec<&str> = self.id.splitn(3, '/').take(2).collect();
        segments.join("/")
    }

    /// Their records about law, visas, hospitals and the like name a country.
    pub(super) fn is_about_a_country(&self) -> bool {
        let more = self.environment.object("additional");
        more.is_some_and(|more| more.get("country").is_some())
    }

    pub(super) fn targets(&self) -> Vec<String> {
        let graph: serde_json::Value = self
            .all
            .get("transition_graph")
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let lists = graph.as_object().into_iter().flat_map(|graph| graph.values());
        let edges = lists.filter_map(serde_json::Value::as_array).flatten();
        let targets = edges.filter_map(|edge| edge.get("error_id")?.as_str());
        targets.map(str::to_owned).collect()
    }
}

//! What the store derives from a published revision's two texts: the one place that looks into them.

use kb_core::transition::EdgeKind;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Longest code or alias that can be looked up, in bytes; both are keys of an index.
const MAX_KEY_BYTES: usize = 200;

/// What is kept beside the texts, to be found by.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Derived {
    /// Signature, for lists.
    pub(super) signature: Option<String>,
    /// Codes as written, each once (compared by [`fold_code`]).
    pub(super) codes: Vec<String>,
    /// Former ids.
    pub(super) aliases: Vec<String>,
    /// Edges in the order of the document.
    pub(super) edges: Vec<DerivedEdge>,
}

/// An edge as stated.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DerivedEdge {
    pub(super) kind: EdgeKind,
    pub(super) to: String,
    pub(super) probability: Option<f64>,
    pub(super) condition: Option<String>,
    pub(super) distinction: Option<String>,
}

/// Derives; `Err` says why a text cannot be read.
pub(super) fn derive(id: &str, document: &str, annex: &str) -> Result<Derived, String> {
    let document: Document = serde_json::from_str(document).map_err(|error| format!("document: {error}"))?;
    let annex: Annex = serde_json::from_str(annex).map_err(|error| format!("annex: {error}"))?;

    let mut derived = Derived {
        signature: document.signature.text(),
        ..Derived::default()
    };
    let stated_codes = annex.codes.into_iter().chain([document.error_code]);
    for code in stated_codes.filter_map(Lenient::text) {
        let folded = fold_code(&code);
        let usable = !folded.is_empty() && folded.len() <= MAX_KEY_BYTES;
        if usable && !derived.codes.iter().any(|known| fold_code(known) == folded) {
            derived.codes.push(code);
        }
    }
    for alias in document.aliases.into_iter().filter_map(Lenient::text) {
        let usable = !alias.is_empty() && alias.len() <= MAX_KEY_BYTES && alias != id;
        if usable && !derived.aliases.contains(&alias) {
            derived.aliases.push(alias);
        }
    }
    let graph = document.transition_graph;
    let kinds = [
        (EdgeKind::LeadsTo, graph.leads_to),
        (EdgeKind::PrecededBy, graph.preceded_by),
        (EdgeKind::FrequentlyConfusedWith, graph.frequently_confused_with),
    ];
    for (kind, edges) in kinds {
        derived
            .edges
            .extend(edges.into_iter().filter_map(|edge| edge.derived(kind)));
    }
    Ok(derived)
}

/// A code for comparison: lower case, runs of blanks as one.
pub(super) fn fold_code(code: &str) -> String {
    let words: Vec<&str> = code.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// A text, or anything else, which is passed over: what is wrong with a record is for `peerless check` to say.
#[derive(Deserialize, Default)]
#[serde(untagged)]
enum Lenient {
    Text(String),
    Other(IgnoredAny),
    #[default]
    Missing,
}

impl Lenient {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) | Self::Missing => None,
        }
    }
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    signature: Lenient,
    #[serde(default)]
    error_code: Lenient,
    #[serde(default)]
    aliases: Vec<Lenient>,
    #[serde(default)]
    transition_graph: Graph,
}

#[derive(Deserialize)]
struct Annex {
    #[serde(default)]
    codes: Vec<Lenient>,
}

#[derive(Deserialize, Default)]
struct Graph {
    #[serde(default)]
    leads_to: Vec<Edge>,
    #[serde(default)]
    preceded_by: Vec<Edge>,
    #[serde(default)]
    frequently_confused_with: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    #[serde(default)]
    error_id: Lenient,
    probability: Option<f64>,
    #[serde(default)]
    condition: Lenient,
    #[serde(default)]
    distinction: Lenient,
}

impl Edge {
    fn derived(self, kind: EdgeKind) -> Option<DerivedEdge> {
        Some(DerivedEdge {
            kind,
            to: self.error_id.text()?,
            probability: self.probability,
            condition: self.condition.text(),
            distinction: self.distinction.text(),
        })
    }
}

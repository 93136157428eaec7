//! What a search is asked and what it answers.

use kb_core::ids::{RecordId, Seq};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::facets::Facets;
use super::highlight::Highlight;
use crate::index::Facet;
use crate::query::Correction;

#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// What the user typed. Any text; empty lists everything.
    pub text: String,
    pub filters: Filters,
    /// Most hits of a page; 20 unless told, at most [`super::MAX_LIMIT`].
    pub limit: Option<usize>,
    /// Cursor of the page, from the answer before.
    pub cursor: Option<String>,
    /// True while the text is being typed: its last word may be a beginning.
    pub is_typing: bool,
    /// Records that stand before all others, in this order, whatever they contain.
    pub first: Vec<RecordId>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    pub domain: Option<String>,
    pub category: Option<String>,
    pub tag: Option<String>,
    pub tier: Option<String>,
    pub locale: Option<String>,
}

impl Filters {
    pub(super) fn of(&self, facet: Facet) -> Option<&str> {
        let chosen = match facet {
            Facet::Domain => &self.domain,
            Facet::Category => &self.category,
            Facet::Tag => &self.tag,
            Facet::Tier => &self.tier,
            Facet::Locale => &self.locale,
        };
        chosen.as_deref()
    }
}

/// A page of hits.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SearchAnswer {
    /// The hits, best first; equal ones by id.
    pub hits: Vec<SearchHit>,
    /// Hits of all pages together.
    pub total: usize,
    /// True where no record has half of what was asked: the hits are then only the nearest.
    pub near: bool,
    /// Words of the query that no record has, and that are like none: they were passed over.
    pub unknown: Vec<String>,
    /// Words of the query that no record has, each with what it was taken for.
    pub read_as: Vec<Correction>,
    /// How many hits each further choice would leave.
    pub facets: Facets,
    /// Where the next page starts; absent on the last one.
    pub next_cursor: Option<String>,
    /// What was searched.
    pub kb: KnowledgeStamp,
}

/// Which state of the knowledge gave an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KnowledgeStamp {
    /// The feed's seq.
    #[schema(value_type = i64)]
    pub seq: Seq,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SearchHit {
    /// The record.
    #[schema(value_type = String)]
    pub id: RecordId,
    /// What is wrong, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The same in Chinese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_zh: Option<String>,
    /// Its signature.
    pub signature: String,
    /// Its signature in Chinese.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature_zh: Option<String>,
    /// Comparable within one answer only.
    pub score: f32,
    /// Where the words stand.
    pub highlights: Vec<Highlight>,
}

//! The search of a site that has no server: the server's own, over an index that is built here of the records' texts.

use std::sync::Arc;

use kb_core::ids::Seq;
use peerless_search::carried::{CarriedDoc, of_documents};
use peerless_search::{
    Filters, KnowledgeStamp, SearchAnswer, SearchError, SearchIndex, SearchRequest, is_message, recognised,
};
use serde::{Deserialize, Serialize};

use crate::knowledge::Knowledge;
use crate::pack::{ENGINE, UnreadablePack, check_engine};

/// What a browser needs to search the records.
#[derive(Debug, Serialize, Deserialize)]
pub struct FinderPack {
    /// The engine that it was made for: [`ENGINE`].
    pub engine: String,
    /// Which state of the knowledge it is.
    pub kb: KnowledgeStamp,
    /// The texts of each record, and what it counts beside them.
    pub documents: Vec<CarriedDoc>,
}

/// What is asked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct FindRequest {
    /// What the user typed.
    pub text: String,
    /// Of these records alone.
    pub domain: Option<String>,
    /// Whether it is being typed.
    pub typing: bool,
    /// Where the page begins, from the answer before.
    pub cursor: Option<String>,
}

/// Why the search cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FinderError {
    /// What was given is no pack for it.
    #[error(transparent)]
    Pack(#[from] UnreadablePack),
    /// The search refused.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// The records, ready to be searched.
#[derive(Debug)]
pub struct Finder {
    index: SearchIndex,
    seq: Seq,
    knowledge: Option<Arc<Knowledge>>,
}

impl FinderPack {
    /// Of these records, for this engine.
    pub fn new(kb: KnowledgeStamp, documents: Vec<CarriedDoc>) -> Self {
        Self {
            engine: ENGINE.to_owned(),
            kb,
            documents,
        }
    }
}

impl Finder {
    /// Builds the index of a pack.
    pub fn read(packed: &[u8]) -> Result<Self, FinderError> {
        check_engine(packed)?;
        let pack: FinderPack = serde_json::from_slice(packed).map_err(UnreadablePack::from)?;
        Ok(Self {
            index: of_documents(pack.documents)?,
            seq: pack.kb.seq,
            knowledge: None,
        })
    }

    /// Gives it what recognises the records: a whole message finds its own record first.
    pub fn know(&mut self, knowledge: Arc<Knowledge>) {
        self.knowledge = Some(knowledge);
    }

    /// Whether the text is a message and [`Self::know`] was not called yet: its answer would be another than the server's.
    pub fn needs_knowledge(&self, text: &str) -> bool {
        self.knowledge.is_none() && is_message(text)
    }

    /// A page of hits, as the server gives it.
    pub fn find(&self, asked: FindRequest) -> Result<SearchAnswer, SearchError> {
        let first = match &self.knowledge {
            Some(knowledge) => recognised(&knowledge.matcher, &asked.text),
            None => Vec::new(),
        };
        let request = SearchRequest {
            text: asked.text,
            filters: Filters {
                domain: asked.domain,
                ..Filters::default()
            },
            limit: None,
            cursor: asked.cursor,
            is_typing: asked.typing,
            first,
        };
        self.index.search(&request, self.seq)
    }
}

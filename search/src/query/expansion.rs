//! One word of a query as the tokens that may stand for it.

use super::vocabulary::Vocabulary;

/// A token that may stand for a word of the query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryToken {
    pub(crate) text: String,
    /// 1 for the word as written, less for other ways to say it.
    pub(crate) weight: f32,
    pub(crate) documents: u64,
}

/// A word or a name in a query. A document contains it if it contains any of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    pub(crate) tokens: Vec<QueryToken>,
    /// Completions of a word that is being typed. They count as one set, without regard to how rare each is.
    pub(crate) completions: Vec<String>,
    /// Inverse document frequency: the share of the query's meaning that this term carries.
    pub(crate) idf: f32,
}

impl QueryTerm {
    pub(crate) fn all_tokens(&self) -> impl Iterator<Item = &str> {
        let tokens = self.tokens.iter().map(|token| token.text.as_str());
        tokens.chain(self.completions.iter().map(String::as_str))
    }

    pub(super) fn scaled(mut self, factor: f32) -> Self {
        self.idf *= factor;
        self
    }
}

impl Vocabulary<'_> {
    /// The term of these tokens; `None` where no document contains one of them. It is as frequent as the commonest of
    /// them: they are ways to say one thing and mostly stand in the same documents.
    pub(super) fn term(
        &self,
        tokens: &[(String, f32)],
        completions: Vec<String>,
    ) -> tantivy::Result<Option<QueryTerm>> {
        let mut most = 0;
        let mut known: Vec<QueryToken> = Vec::new();
        for (token, weight) in tokens {
            let documents = self.documents(token)?;
            if documents > 0 && !known.iter().any(|seen| seen.text == *token) {
                most = most.max(documents);
                known.push(QueryToken {
                    text: token.clone(),
                    weight: *weight,
                    documents,
                });
            }
        }
        for token in &completions {
            most = most.max(self.documents(token)?);
        }
        Ok((most > 0).then(|| QueryTerm {
            tokens: known,
            completions,
            idf: self.idf_of(most),
        }))
    }

    /// The term of a word as it is written.
    pub(crate) fn exact(&self, word: &str) -> tantivy::Result<Option<QueryTerm>> {
        self.term(&[(word.to_owned(), 1.0)], Vec::new())
    }
}

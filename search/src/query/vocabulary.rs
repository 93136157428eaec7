//! The tokens that documents contain, with how many documents contain each.

use std::collections::HashMap;

use tantivy::schema::Field;

use crate::index::Snapshot;

const MAX_COMPLETIONS: usize = 24;
/// Most tokens of one dictionary that are looked at for a prefix.
const MAX_SCANNED: usize = 4096;

#[derive(Clone, Copy)]
pub(crate) struct Vocabulary<'a> {
    snapshot: &'a Snapshot,
    field: Field,
}

impl<'a> Vocabulary<'a> {
    pub(crate) fn of_every_text(snapshot: &'a Snapshot) -> Self {
        let field = snapshot.fields.every;
        Self { snapshot, field }
    }

    /// Of the texts that name the error.
    pub(crate) fn of_names(snapshot: &'a Snapshot) -> Self {
        let field = snapshot.fields.names;
        Self { snapshot, field }
    }

    pub(super) fn documents(&self, token: &str) -> tantivy::Result<u64> {
        self.snapshot.documents_with(self.field, token)
    }

    pub(super) fn contains(&self, token: &str) -> tantivy::Result<bool> {
        Ok(self.documents(token)? > 0)
    }

    /// Inverse document frequency of tokens that so many documents contain.
    pub(super) fn idf_of(&self, documents: u64) -> f32 {
        self.snapshot.idf(documents)
    }

    /// The commonest longer tokens with this prefix.
    pub(super) fn completions(&self, prefix: &str) -> tantivy::Result<Vec<String>> {
        let mut tokens = self.with_prefix(prefix, |token| token.len() > prefix.len())?;
        commonest_first(&mut tokens);
        let mut commonest: Vec<(String, u64)> = Vec::new();
        for (token, at_most) in tokens {
            let is_full = commonest.len() == MAX_COMPLETIONS;
            if is_full && commonest.last().is_some_and(|(_, least)| *least > at_most) {
                break;
            }
            let documents = self.documents(&token)?;
            if documents > 0 {
                commonest.push((token, documents));
                commonest_first(&mut commonest);
                commonest.truncate(MAX_COMPLETIONS);
            }
        }
        Ok(commonest.into_iter().map(|(token, _)| token).collect())
    }

    /// Tokens with this prefix that are wanted, each with the most documents that may contain it: the dictionaries keep
    /// the tokens of deleted documents until a merge drops them.
    pub(super) fn with_prefix(
        &self,
        prefix: &str,
        mut wanted: impl FnMut(&str) -> bool,
    ) -> tantivy::Result<Vec<(String, u64)>> {
        let mut found: HashMap<String, u64> = HashMap::new();
        for segment in self.snapshot.searcher.segment_readers() {
            let inverted = segment.inverted_index(self.field)?;
            let mut stream = inverted.terms().range().ge(prefix.as_bytes()).into_stream()?;
            for _ in 0..MAX_SCANNED {
                if !stream.advance() || !stream.key().starts_with(prefix.as_bytes()) {
                    break;
                }
                let Ok(token) = std::str::from_utf8(stream.key()) else {
                    continue;
                };
                let documents = u64::from(stream.value().doc_freq);
                if let Some(known) = found.get_mut(token) {
                    *known += documents;
                } else if wanted(token) {
                    found.insert(token.to_owned(), documents);
                }
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// Sorts tokens: those in most documents first, equal ones by the alphabet.
pub(super) fn commonest_first(tokens: &mut [(String, u64)]) {
    tokens.sort_by(|(a, a_documents), (b, b_documents)| b_documents.cmp(a_documents).then_with(|| a.cmp(b)));
}

//! A login that was begun at the provider: what the browser keeps until it comes back.

use subtle::ConstantTimeEq as _;

use crate::render::words::encoded;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    pub(super) state: String,
    pub(super) nonce: String,
    pub(super) verifier: String,
    pub(super) made_at: i64,
    /// Where the reader came from, percent-encoded.
    pub(super) return_to: String,
}

impl Pending {
    #[must_use]
    pub fn leading_to(mut self, address: &str) -> Self {
        self.return_to = encoded(address);
        self
    }

    /// Percent-encoded.
    pub fn return_to(&self) -> &str {
        &self.return_to
    }

    pub(super) fn is_of(&self, state: &str) -> bool {
        !state.is_empty() && bool::from(self.state.as_bytes().ct_eq(state.as_bytes()))
    }

    pub fn text(&self) -> String {
        let Self {
            state,
            nonce,
            verifier,
            made_at,
            return_to,
        } = self;
        format!("{made_at}.{state}.{nonce}.{verifier}.{return_to}")
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '.');
        let mut next = || parts.next();
        Some(Self {
            made_at: next()?.parse().ok()?,
            state: next()?.to_owned(),
            nonce: next()?.to_owned(),
            verifier: next()?.to_owned(),
            return_to: next()?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_browser_keeps_comes_back() {
        let pending = Pending {
            state: "s-_1".to_owned(),
            nonce: "n".to_owned(),
            verifier: "v".to_owned(),
            made_at: 7,
            return_to: String::new(),
        }
        .leading_to("/search?q=a.b&x=;");
        assert!(!pending.text().contains([';', ' ', ',']));
        assert_eq!(Pending::parse(&pending.text()), Some(pending.clone()));
        assert_eq!(Pending::parse("x.y"), None);
        assert!(pending.is_of("s-_1") && !pending.is_of("s-_2") && !pending.is_of(""));
    }
}

//! A text that is looked for, prepared when it is first needed: of many records few are.

use std::sync::OnceLock;

use memchr::memmem::Finder;

#[derive(Debug)]
pub(crate) struct LazyFinder {
    text: Box<[u8]>,
    finder: OnceLock<Box<Finder<'static>>>,
}

impl LazyFinder {
    pub(super) fn new(text: impl Into<Box<[u8]>>) -> Self {
        Self {
            text: text.into(),
            finder: OnceLock::new(),
        }
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where it stands first.
    pub(crate) fn find(&self, within: &[u8]) -> Option<usize> {
        self.finder().find(within)
    }

    pub(super) fn finder(&self) -> &Finder<'static> {
        let made = || Box::new(Finder::new(&self.text).into_owned());
        self.finder.get_or_init(made)
    }
}

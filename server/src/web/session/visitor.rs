//! Who looks at a page, for the head of every page. It goes with the request, not through each page: no page decides by it.

use crate::render::words::encoded;

tokio::task_local! {
    static VISITOR: Visitor;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    pub name: Option<String>,
    /// Where one logs in, and comes back to this page from.
    pub login_href: String,
    /// May propose records, so that the head leads to the pages of editors.
    pub edits: bool,
    /// The server is a demo, which each page says.
    pub is_demo: bool,
}

impl Default for Visitor {
    fn default() -> Self {
        Self {
            name: None,
            login_href: "/login".to_owned(),
            edits: false,
            is_demo: false,
        }
    }
}

impl Visitor {
    /// Of a page at `back`; nothing where one cannot come back to it.
    pub(in crate::web) fn new(name: Option<String>, back: Option<&str>) -> Self {
        let back = back.filter(|back| *back != "/" && !back.starts_with("/login"));
        Self {
            name,
            login_href: back.map_or_else(
                || "/login".to_owned(),
                |back| format!("/login?return_to={}", encoded(back)),
            ),
            edits: false,
            is_demo: false,
        }
    }

    #[must_use]
    pub(in crate::web) fn who_edits(self, edits: bool) -> Self {
        Self { edits, ..self }
    }

    #[must_use]
    pub(in crate::web) fn of_demo(self, is_demo: bool) -> Self {
        Self { is_demo, ..self }
    }
}

pub(in crate::web) fn current() -> Visitor {
    VISITOR.try_with(Clone::clone).unwrap_or_default()
}

pub(in crate::web) async fn scope<F: Future>(visitor: Visitor, future: F) -> F::Output {
    VISITOR.scope(visitor, future).await
}

pub(in crate::web) fn with<T>(visitor: Visitor, work: impl FnOnce() -> T) -> T {
    VISITOR.sync_scope(visitor, work)
}

//! `/docs/problems`: what each code of a problem means. Every problem links here.

use actix_web::HttpResponse;
use askama::Template;

use super::html;
use super::layout::{Layout, Section};
use crate::web::error::{Code, Problem};

/// The page.
#[derive(Debug, Template)]
#[template(path = "pages/problems.html")]
pub struct ProblemsPage {
    layout: Layout,
    codes: &'static [Code],
}

/// Builds the page.
pub fn page() -> ProblemsPage {
    ProblemsPage {
        layout: Layout::new("Problem codes · Peerless", Section::Api).indexed(),
        codes: Code::ALL,
    }
}

/// `GET /docs/problems`.
pub async fn get() -> Result<HttpResponse, Problem> {
    html(&page())
}

//! `/docs/problems`: what each code of a problem means. Every problem links here.

use actix_web::HttpResponse;
use askama::Template;

use super::html;
use super::layout::{Layout, Section};
use crate::web::error::{Code, Problem};

#[derive(Debug, Template)]
#[template(path = "pages/problems.html")]
pub struct ProblemsPage {
    layout: Layout,
    codes: &'static [Code],
}

pub fn page() -> ProblemsPage {
    ProblemsPage {
        layout: Layout::new("Problem codes · Peerless", Section::Api).indexed(),
        codes: Code::ALL,
    }
}

pub async fn get() -> Result<HttpResponse, Problem> {
    html(&page())
}

//! `/docs/api`: the reference, drawn from the OpenAPI document that programs get. No script, nothing from elsewhere.

mod kind;
mod operation;
mod schema;

use actix_web::HttpResponse;
use askama::Template;
use serde_json::Value;
use utoipa::OpenApi as _;

pub use operation::Group;
pub use schema::Schema;

use super::html;
use super::layout::{Layout, Section};
use crate::web::api::openapi::Description;
use crate::web::error::Problem;

#[derive(Debug, Template)]
#[template(path = "pages/api.html")]
pub struct ApiPage {
    pub(super) layout: Layout,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: Vec<String>,
    pub(super) groups: Vec<Group>,
    pub(super) schemas: Vec<Schema>,
}

/// Draws an OpenAPI document. What it does not understand it leaves out; the document itself is linked.
pub fn page(document: &Value) -> ApiPage {
    let info = |key: &str| text_at(document, &format!("/info/{key}"));
    ApiPage {
        layout: Layout::new("API reference · Peerless", Section::Api).indexed(),
        title: "API reference".to_owned(),
        version: info("version"),
        description: paragraphs(&info("description")),
        groups: operation::groups(document),
        schemas: schema::schemas(document),
    }
}

fn text_at(value: &Value, pointer: &str) -> String {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// A text in paragraphs; line ends within a paragraph mean nothing.
fn paragraphs(text: &str) -> Vec<String> {
    let joined = text
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    joined.filter(|paragraph| !paragraph.is_empty()).collect()
}

pub async fn get() -> Result<HttpResponse, Problem> {
    let document = serde_json::to_value(Description::openapi()).map_err(|error| Problem::internal(&error))?;
    html(&page(&document))
}

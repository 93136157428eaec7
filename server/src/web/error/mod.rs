//! One error type for the whole web side: `application/problem+json` (RFC 9457) for programs, a page for browsers.
//! Errors of actix itself are turned into it by [`normalise`].

mod asked;
mod code;
mod from;
mod meant;
mod normalise;
mod page;

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

pub use code::Code;
pub use normalise::normalise;

/// Page of this server that explains the codes; each has an anchor of its name.
pub const DOCS: &str = "/docs/problems";

pub const PROBLEM_JSON: &str = "application/problem+json";

/// The body of a problem, for the API's description.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// Where the code is explained.
    #[schema(example = "/docs/problems#not_found")]
    pub r#type: String,
    /// The same short text for every problem of this code.
    #[schema(example = "Nothing is here")]
    pub title: String,
    /// HTTP status.
    #[schema(example = 404)]
    pub status: u16,
    /// What is wrong with this request, where, and what to do.
    #[schema(example = "there is no record cuda/x")]
    pub detail: String,
    /// Stable name to compare.
    #[schema(example = "not_found")]
    pub code: String,
}

#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    detail: String,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
    cause: Option<String>,
}

impl Problem {
    /// A problem; `detail` says what is wrong with this request, where, and what to do.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            members: Map::new(),
            headers: Vec::new(),
            cause: None,
        }
    }

    /// Something broke that the client cannot mend: the cause goes to the log, never into the answer.
    pub fn internal(cause: &dyn std::error::Error) -> Self {
        let mut problem = Self::new(
            Code::Internal,
            "the cause is in the server's log under this answer's x-request-id",
        );
        problem.cause = Some(chain(cause));
        problem
    }

    #[must_use]
    pub fn with(mut self, member: &str, value: Value) -> Self {
        self.members.insert(member.to_owned(), value);
        self
    }

    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    #[must_use]
    pub fn caused_by(mut self, cause: &dyn std::error::Error) -> Self {
        self.cause = Some(chain(cause));
        self
    }

    pub fn code(&self) -> Code {
        self.code
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The cause for the log, with all that it was caused by.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    pub fn to_json(&self) -> Value {
        let mut body = json!({
            "type": format!("{DOCS}#{}", self.code.name()),
            "title": self.code.title(),
            "status": self.code.status().as_u16(),
            "detail": self.detail,
            "code": self.code.name(),
        });
        if let Some(object) = body.as_object_mut() {
            object.extend(self.members.clone());
        }
        body
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.detail)
    }
}

impl std::error::Error for Problem {}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.code.status()
    }

    fn error_response(&self) -> HttpResponse {
        let mut builder = HttpResponse::build(self.code.status());
        for (name, value) in &self.headers {
            builder.insert_header((name.clone(), value.clone()));
        }
        if matches!(self.code, Code::RequestTimeout | Code::Unavailable) {
            // The rest of the body would keep the connection.
            builder.force_close();
        }
        let mut response = builder
            .insert_header((header::CONTENT_TYPE, PROBLEM_JSON))
            .body(self.to_json().to_string());
        // The page for browsers and the request log are made from it, further out.
        response.extensions_mut().insert(self.clone());
        response
    }
}

/// The error and everything that caused it, in one line.
pub(in crate::web) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

//! How errors of the rooms below look from outside.

use actix_web::http::header;
use kb_core::ids::IdError;

use super::{Code, Problem};
use crate::domain::tokens::TokenError;
use crate::store::StoreError;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::NoRecord(_) | StoreError::NoRevision(..) | StoreError::NoReport(..) => Code::NotFound,
            StoreError::NeverPublished(_) => Code::WrongState,
            StoreError::Unstorable { .. } => Code::MalformedBody,
            StoreError::AliasTaken { .. } => Code::AliasTaken,
            StoreError::AmbiguousReport => Code::AmbiguousReport,
            StoreError::Full(_) => Code::StorageFull,
            StoreError::ReadOnly(_) => Code::ReadOnly,
            StoreError::Unavailable(_) | StoreError::NewerDatabase { .. } => Code::Unavailable,
            StoreError::Damaged { .. }
            | StoreError::OlderDatabase { .. }
            | StoreError::Migration(_)
            | StoreError::Open { .. }
            | StoreError::NotDurable(_)
            | StoreError::Database(_) => return Self::internal(&error),
        };
        match code {
            // What the database says of itself is for the log.
            Code::StorageFull => Self::new(
                code,
                "nothing was stored: the operator must free space; what was stored before is intact",
            )
            .caused_by(&error),
            Code::ReadOnly => Self::new(
                code,
                "nothing was stored: the operator must make the database writable",
            )
            .caused_by(&error),
            Code::Unavailable => Self::new(code, "the database does not answer: try again in a few seconds")
                .with_header(header::RETRY_AFTER, header::HeaderValue::from_static("5"))
                .caused_by(&error),
            _ => Self::new(code, error.to_string()),
        }
    }
}

impl From<IdError> for Problem {
    fn from(error: IdError) -> Self {
        Self::new(Code::BadId, error.to_string())
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Store(error) => error.into(),
            refusal => Self::new(Code::Unauthorized, refusal.to_string()).with_header(
                header::WWW_AUTHENTICATE,
                header::HeaderValue::from_static(r#"Bearer realm="peerless", error="invalid_token""#),
            ),
        }
    }
}

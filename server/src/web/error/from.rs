//! How errors of the rooms below look from outside.

use actix_web::http::header;
use kb_core::ids::{IdError, Revision};
use kb_core::text::Severity;
use serde_json::{Value, json};

use super::{Code, Problem};
use crate::domain::curate::CurateError;
use crate::domain::fleet_filter::Unreadable;
use crate::domain::fleet_findings::HandleError;
use crate::domain::lookup::LookupError;
use crate::domain::tokens::TokenError;
use crate::domain::unmatched::ChangeError;
use crate::store::{Review, StoreError};
use crate::web::etag;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::NoRecord(_) | StoreError::NoRevision(..) | StoreError::NoReport(..) => Code::NotFound,
            StoreError::NeverPublished(_)
            | StoreError::IsPublished(_)
            | StoreError::NotPublished(_)
            | StoreError::NoOpenReview(_)
            | StoreError::AnotherQuestion { .. }
            | StoreError::AskedAlready { .. }
            | StoreError::AnotherPublished(_) => Code::WrongState,
            StoreError::Unstorable { .. } => Code::MalformedBody,
            StoreError::AliasTaken { .. } => Code::AliasTaken,
            StoreError::AmbiguousReport => Code::AmbiguousReport,
            StoreError::Full(_) => Code::StorageFull,
            StoreError::ReadOnly(_) => Code::ReadOnly,
            StoreError::Unavailable(_) | StoreError::Moved(_) | StoreError::NewerDatabase { .. } => {
                Code::Unavailable
            }
            StoreError::Damaged { .. }
            | StoreError::OlderDatabase { .. }
            | StoreError::Migration(_)
            | StoreError::Open { .. }
            | StoreError::NotDurable(_)
            // Only a publication with a condition gets it, and it is tried again.
            | StoreError::FeedMoved(_)
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

impl From<LookupError> for Problem {
    fn from(error: LookupError) -> Self {
        let detail = error.to_string();
        match error {
            LookupError::Environment(error) => {
                let name = error.component().replace('~', "~0").replace('/', "~1");
                Self::new(Code::MalformedBody, detail).with("pointer", format!("/environment/{name}").into())
            }
            LookupError::NotText(_) => Self::new(Code::NotText, detail),
            LookupError::ItemTooLong(_) => Self::new(Code::TooLarge, detail),
            LookupError::OutOfTime(_) => Self::new(Code::TooMuchWork, detail),
        }
    }
}

impl From<ChangeError> for Problem {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Store(error) => error.into(),
            ChangeError::Overtaken(_) => Self::new(Code::Overtaken, error.to_string()),
            ChangeError::Nothing(_) => Self::new(Code::NotFound, error.to_string()),
            ChangeError::Reason | ChangeError::Name => Self::new(Code::MalformedBody, error.to_string()),
        }
    }
}

impl From<HandleError> for Problem {
    fn from(error: HandleError) -> Self {
        match error {
            HandleError::Store(error) => error.into(),
            HandleError::Nothing(..) => Self::new(Code::NotFound, error.to_string()),
            HandleError::Note | HandleError::Owner | HandleError::Until => {
                Self::new(Code::MalformedBody, error.to_string())
            }
        }
    }
}

impl From<Unreadable> for Problem {
    fn from(error: Unreadable) -> Self {
        Self::new(Code::BadQuery, error.to_string())
    }
}

impl From<CurateError> for Problem {
    fn from(error: CurateError) -> Self {
        match error {
            CurateError::Store(error) => error.into(),
            CurateError::NoRecord(_) | CurateError::NoRevision(..) => {
                Self::new(Code::NotFound, error.to_string())
            }
            CurateError::Stale(None) => Self::new(
                Code::Stale,
                "there is no such record: make it with If-None-Match: *",
            ),
            CurateError::Stale(Some(head)) => stale(head),
            CurateError::SecondPerson(_) | CurateError::StillDecides(..) => {
                Self::new(Code::SecondPerson, error.to_string())
            }
            CurateError::NotAsker(_) => Self::new(Code::Forbidden, error.to_string()),
            CurateError::AnotherReview {
                n,
                ref shown,
                ref open,
            } => {
                let shown = shown
                    .as_ref()
                    .map_or_else(|| json!({ "n": n }), |shown| question(shown));
                Self::new(Code::WrongState, error.to_string())
                    .with("shown", shown)
                    .with("open", question(open))
            }
            CurateError::WhichReview(ref open) => {
                Self::new(Code::WrongState, error.to_string()).with("open", question(open))
            }
            CurateError::NoReview(..)
            | CurateError::NothingToReview(_)
            | CurateError::NotSettled(_)
            | CurateError::Became(..)
            | CurateError::TooManyComments => Self::new(Code::WrongState, error.to_string()),
            CurateError::Text(_)
            | CurateError::NoField(_)
            | CurateError::NothingMoves
            | CurateError::NoReplacement(_) => Self::new(Code::MalformedBody, error.to_string()),
            CurateError::ReasonNeeded(warnings) => {
                let detail = format!(
                    "{} warnings, see `violations`: say why in `reason`",
                    warnings.len()
                );
                let warnings = serde_json::to_value(&warnings).unwrap_or_default();
                Self::new(Code::ReasonNeeded, detail).with("violations", warnings)
            }
            CurateError::Overtaken => Self::new(Code::Overtaken, error.to_string())
                .with_header(header::RETRY_AFTER, header::HeaderValue::from_static("1")),
            CurateError::NotAsked | CurateError::NoHealthyLines(_) => Self::internal(&error),
            CurateError::Gate(findings) => {
                let detail = format!(
                    "{} findings, see `violations`: nothing was published. Save it as a draft without publish=true, or an \
                     administrator gives a reason with force=REASON",
                    findings.len()
                );
                let findings = serde_json::to_value(&findings).unwrap_or_default();
                Self::new(Code::GateRefused, detail).with("violations", findings)
            }
            CurateError::Invalid(violations) => {
                let errors = violations
                    .iter()
                    .filter(|found| found.severity == Severity::Error)
                    .count();
                let detail = format!("{errors} errors, see `violations`: nothing was stored");
                let violations = serde_json::to_value(&violations).unwrap_or_default();
                Self::new(Code::InvalidRecord, detail).with("violations", violations)
            }
        }
    }
}

/// A review as far as two of them differ.
fn question(review: &Review) -> Value {
    json!({
        "n": review.n,
        "revision": review.revision.0,
        "withdraws": review.asks.is_withdrawal(),
        "replaced_by": review.asks.replaced_by(),
        "asked_by": review.asked_by.name,
        "note": review.note,
    })
}

fn stale(head: Revision) -> Problem {
    Problem::new(
        Code::Stale,
        format!("the newest revision is {head}: read it with ?revision=head, put your change into it, send it again"),
    )
    .with_header(header::ETAG, etag::of_revision(head))
    .with("head_revision", head.0.into())
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

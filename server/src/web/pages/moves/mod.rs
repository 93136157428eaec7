//! `/r/{id}/-/merge` and `/r/{id}/-/rename`: a published record becomes another; `/r/{id}/-/split`: it becomes two.
//!
//! ```text
//! side  what two records say, beside each other        merge, rename, split  the pages
//! ```

pub mod merge;
pub mod rename;
mod side;
pub mod split;

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use kb_core::ids::{RecordId, Revision};

use super::former_id::moved;
use super::{html_not_shared, locale};
use crate::domain::curate::{Approver, CurateError};
use crate::domain::records::{Found, find};
use crate::domain::tokens::Actor;
use crate::feed::PublishedRecord;
use crate::render::i18n::Locale;
use crate::render::words::record_href;
use crate::store::{Published, RecordStatus};
use crate::web::approver::{admin_reason, approver};
use crate::web::error::{Code, Problem};
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

/// How long the answer waits for this server's readers to see the change.
const PATIENCE: Duration = Duration::from_secs(2);

struct Visit {
    actor: Actor,
    csrf: String,
    locale: Locale,
    record: Arc<PublishedRecord>,
    status: RecordStatus,
}

enum Begun {
    Here(Box<Visit>),
    /// The record has another id now.
    Elsewhere(HttpResponse),
}

async fn begin(
    (actor, session): (Actor, Option<Session>),
    request: &HttpRequest,
    (state, id): (&AppState, &str),
    rest: &str,
) -> Result<Begun, Problem> {
    let nothing = |id: &RecordId| Problem::new(Code::NotFound, format!("there is no published record {id}"));
    let record = match find(&state.knowledge.current(), id)? {
        Found::Published(record) => record,
        Found::Moved(now) => return Ok(Begun::Elsewhere(moved(request, &now, rest))),
        Found::Unpublished(id) => return Err(nothing(&id)),
    };
    let id = record.id();
    let status = state.store.status(id).await?.ok_or_else(|| nothing(id))?;
    Ok(Begun::Here(Box::new(Visit {
        actor,
        csrf: session.map(|session| session.csrf).unwrap_or_default(),
        locale: locale::of(request),
        record,
        status,
    })))
}

impl Visit {
    fn id(&self) -> &RecordId {
        self.record.id()
    }

    fn has_draft(&self) -> bool {
        self.status.published != Some(self.status.head)
    }

    fn href(&self, rest: &str) -> String {
        self.locale
            .href(format!("{}{rest}", record_href(self.id().as_str())))
    }

    fn approver(&self, state: &AppState, alone: &str) -> Result<Approver, Problem> {
        let alone = Some(alone).filter(|reason| !reason.trim().is_empty());
        let alone = admin_reason(("alone", Code::MalformedBody), alone, &self.actor, state)?;
        Ok(approver(&self.actor, alone))
    }

    fn check_head(&self, form: &Form) -> Result<(), Problem> {
        let head = form.get("head").parse().map(Revision);
        let head = head
            .map_err(|_| Problem::new(Code::MalformedBody, "the field head is the number of a revision"))?;
        if head == self.status.head {
            Ok(())
        } else {
            Err(CurateError::Stale(Some(self.status.head)).into())
        }
    }
}

async fn done(state: &AppState, published: Published, address: String) -> HttpResponse {
    state.knowledge.holds(published.seq, PATIENCE).await;
    see(address)
}

fn see(address: String) -> HttpResponse {
    HttpResponse::SeeOther()
        .insert_header((header::LOCATION, address))
        .finish()
}

fn answer(page: &impl Template, status: StatusCode) -> Result<HttpResponse, Problem> {
    let mut response = html_not_shared(page)?;
    *response.status_mut() = status;
    Ok(response)
}

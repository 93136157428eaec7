//! The buttons that keep what the form says: save, ask for a review, publish.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse};

use super::sent::Sent;
use super::{Desktop, Extra, page, texts, together};
use crate::domain::curate::{self, CurateError, Draft, Gate};
use crate::render::i18n::edit::Words;
use crate::render::words::record_href;
use crate::store::Scope;
use crate::web::approver::approver;
use crate::web::error::{Code, Problem};
use crate::web::limits;
use crate::web::state::AppState;

/// How long the answer waits for this server's readers to see the change.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn save(
    request: &HttpRequest,
    state: &AppState,
    desktop: Desktop,
    (sent, mut extra): (Sent, Extra),
    step: &str,
) -> Result<HttpResponse, Problem> {
    if extra.note.chars().count() > limits::NOTE_CHARACTERS {
        let most = limits::NOTE_CHARACTERS;
        return Err(Problem::new(
            Code::MalformedBody,
            format!("note has at most {most} characters"),
        ));
    }
    let now = state.clock.now();
    let by = desktop.actor.by();
    let draft = Draft {
        id: desktop.id.clone(),
        document: sent.now.document.clone(),
        annex: Some(sent.now.annex.clone()),
        expected: desktop.expected(),
        by: by.clone(),
        note: Some(extra.note.clone()).filter(|note| !note.is_empty()),
    };
    let words = Words::of(desktop.locale.language);
    let accepted = match curate::save(state.store.as_ref(), draft, None, now).await {
        Ok(accepted) => accepted,
        Err(CurateError::Invalid(_)) => {
            extra.refusal = Some(words.refused.to_owned());
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return page(request, state, &desktop, sent, extra, status).await;
        }
        Err(CurateError::Stale(Some(head))) => {
            let theirs = texts(state, &desktop.id, head).await?;
            let (sent, together) = together::merged(&desktop.base_texts(), sent, &theirs, desktop.locale);
            extra.together = together;
            let desktop = Desktop {
                base: Some((head, theirs)),
                ..desktop
            };
            return page(request, state, &desktop, sent, extra, StatusCode::CONFLICT).await;
        }
        Err(error) => return Err(error.into()),
    };
    let history = format!("{}/-/revisions", record_href(desktop.id.as_str()));
    let done = match step {
        "propose" => {
            let which = (&desktop.id, Some(accepted.revision));
            // Whoever reviews is told why, too.
            let note = Some(extra.note.clone()).filter(|note| !note.is_empty());
            let asked = curate::propose(state.store.as_ref(), which, note, &by, now).await;
            asked.map(|_| ())
        }
        "publish" if desktop.actor.may(Scope::Publish) => {
            let gate = Gate::Asked(Arc::clone(&state.knowledge));
            let which = (&desktop.id, Some(accepted.revision));
            let approver = approver(&desktop.actor, None);
            let done =
                curate::publish(state.store.as_ref(), (&gate, None), which, (&approver, None), now).await;
            if let Ok(published) = &done {
                state.knowledge.holds(published.seq, PATIENCE).await;
            }
            done.map(|_| ())
        }
        _ => Ok(()),
    };
    let desktop = Desktop {
        base: Some((accepted.revision, sent.now.clone())),
        ..desktop
    };
    match done {
        Ok(()) | Err(CurateError::NothingToReview(_)) => Ok(HttpResponse::SeeOther()
            .insert_header((header::LOCATION, desktop.locale.href(history)))
            .finish()),
        Err(CurateError::Gate(findings)) => {
            extra.refusal = Some(words.not_published.to_owned());
            extra.violations = findings;
            page(
                request,
                state,
                &desktop,
                sent,
                extra,
                StatusCode::UNPROCESSABLE_ENTITY,
            )
            .await
        }
        Err(CurateError::SecondPerson(keys)) => {
            extra.refusal = Some(words.second_person(&keys.join(", ")));
            page(request, state, &desktop, sent, extra, StatusCode::CONFLICT).await
        }
        Err(error) => Err(error.into()),
    }
}

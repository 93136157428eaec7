//! The forms of the history: one address, and the button says what is done.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::{RecordId, Revision, Seq};
use kb_core::text::Part;

use super::locale;
use crate::domain::curate::{self, CurateError, Gate, Shown};
use crate::render::words::record_href;
use crate::store::{NewComment, ReviewState, Scope};
use crate::web::approver::{admin_reason, approver};
use crate::web::auth::{Access, Caller, Editor};
use crate::web::error::{Code, Problem};
use crate::web::session::Form;
use crate::web::state::AppState;

const FIELDS: [&str; 10] = [
    "do", "revision", "review", "head", "note", "reason", "alone", "pointer", "body", "n",
];
/// How long the answer waits for this server's readers to see a change.
const PATIENCE: Duration = Duration::from_secs(2);

pub async fn post(
    editor: Editor,
    request: HttpRequest,
    id: Path<String>,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&FIELDS)?;
    let id: RecordId = id.parse()?;
    let caller = Caller(Some(editor.0.clone()));
    let may = |scope| Access::Scope(scope).check(&caller, state.settings.opened());
    let (store, now, by) = (state.store.as_ref(), state.clock.now(), editor.0.by());
    // The field is there and empty where nobody fills it in.
    let alone = Some(form.get("alone")).filter(|reason| !reason.trim().is_empty());
    let alone = admin_reason(("alone", Code::MalformedBody), alone, &editor.0, &state)?;
    let approver = approver(&editor.0, alone);
    let gate = Gate::Asked(Arc::clone(&state.knowledge));
    let revision = || number(form.get("revision")).map(Revision);
    let shown = || {
        let (revision, n) = (revision()?, Some(number(form.get("review"))?));
        Ok::<_, Problem>(Shown { id: &id, revision, n })
    };
    let reason = form.get("reason");
    match form.get("do") {
        "ask" => {
            let note = Some(form.get("note").to_owned());
            curate::propose(store, (&id, Some(revision()?)), note, &by, now).await?;
        }
        "take-back" => {
            curate::end(store, shown()?, ReviewState::Withdrawn, reason, &by, now).await?;
        }
        "send-back" => {
            may(Scope::Publish)?;
            curate::end(store, shown()?, ReviewState::SentBack, reason, &by, now).await?;
        }
        "approve" => {
            may(Scope::Publish)?;
            let done = curate::approve(store, &gate, shown()?, Some(reason), &approver, now).await?;
            seen(&state, done.seq).await;
        }
        "revert" => {
            may(Scope::Publish)?;
            let head = Revision(number(form.get("head"))?);
            let status = state.store.status(&id).await?;
            if status.is_some_and(|status| status.head != head) {
                return Err(CurateError::Stale(Some(head)).into());
            }
            let which = (&id, revision()?);
            let (_, done) = curate::revert(store, &gate, which, head, &approver, now).await?;
            seen(&state, done.seq).await;
        }
        "comment" => {
            let (part, pointer) = place(form.get("pointer"));
            let comment = NewComment {
                record: id.clone(),
                revision: revision()?,
                part,
                pointer: pointer.to_owned(),
                by,
                body: form.get("body").to_owned(),
                at: now,
            };
            curate::comment(store, comment).await?;
        }
        "done" => {
            curate::resolve(store, &id, number(form.get("n"))?, &by, now).await?;
        }
        other => {
            let detail = format!("the form has no button {other:?}");
            return Err(Problem::new(Code::MalformedBody, detail));
        }
    }
    let history = format!("{}/-/revisions", record_href(id.as_str()));
    Ok(HttpResponse::SeeOther()
        .insert_header((header::LOCATION, locale::of(&request).href(history)))
        .finish())
}

async fn seen(state: &AppState, seq: Seq) {
    state.knowledge.holds(seq, PATIENCE).await;
}

fn number(text: &str) -> Result<u32, Problem> {
    text.parse()
        .map_err(|_| Problem::new(Code::MalformedBody, format!("{text:?} is no number")))
}

/// `annex:/patterns/0` is in the annex; a pointer alone is in the document.
fn place(text: &str) -> (Part, &str) {
    match text.trim().split_once(':') {
        Some(("annex", pointer)) => (Part::Annex, pointer),
        Some(("document", pointer)) => (Part::Document, pointer),
        _ => (Part::Document, text.trim()),
    }
}

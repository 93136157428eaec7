//! A draft that `POST /api/v1/match` tries on a text: a saved one by its id, or one that comes in the body.

use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::record::Record;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::domain::answer_json::ExplainedAnswer;
use crate::domain::curate::{CurateError, Trial, check_texts, try_draft};
use crate::feed::Generation;
use crate::store::Scope;
use crate::web::auth::{Access, Caller};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::state::AppState;

/// An unsaved draft; both texts are read as they stand here.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::web) struct UnsavedDraft {
    /// The document.
    #[schema(value_type = Object)]
    document: Box<RawValue>,
    /// The annex; without one it is empty.
    #[schema(value_type = Option<Object>)]
    ext: Option<Box<RawValue>>,
}

impl UnsavedDraft {
    pub(super) fn texts(self) -> (String, String) {
        let annex = self
            .ext
            .map_or_else(|| kb_core::annex::EMPTY.to_owned(), |ext| ext.get().to_owned());
        (self.document.get().to_owned(), annex)
    }
}

/// The answer of what is published, and what came of a draft, where one was tried.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MatchReply {
    /// What explains the text.
    #[serde(flatten)]
    pub(super) answer: ExplainedAnswer,
    /// The draft on this text, as if it were published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) draft: Option<Trial>,
}

/// Reads the draft that is asked for, which needs the scope `edit`; nothing where none is.
pub(super) async fn asked_for(
    state: &AppState,
    caller: &Caller,
    with: Option<&str>,
    unsaved: Option<UnsavedDraft>,
) -> Result<Option<Record>, Problem> {
    if with.is_none() && unsaved.is_none() {
        return Ok(None);
    }
    Access::Scope(Scope::Edit).check(caller, state.settings.opened())?;
    let (id, document, annex) = match (with, unsaved) {
        (Some(_), Some(_)) => {
            return Err(Problem::new(
                Code::BadQuery,
                "a draft is named by with=ID or comes in the body, not both",
            ));
        }
        (Some(id), None) => saved(state, id.parse()?).await?,
        (None, unsaved) => {
            let Some(draft) = unsaved else {
                return Ok(None);
            };
            let (document, annex) = draft.texts();
            (None, document, annex)
        }
    };
    let record = Record::parse(&document, &annex).map_err(CurateError::Invalid)?;
    let id = id.unwrap_or_else(|| record.id().clone());
    check_texts(&id, &document, &annex).map_err(CurateError::Invalid)?;
    Ok(Some(record))
}

async fn saved(state: &AppState, id: RecordId) -> Result<(Option<RecordId>, String, String), Problem> {
    let status = state.store.status(&id).await?;
    let status = status.ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    let texts = state.store.revision(&id, status.head).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), status.head))?;
    Ok((Some(id), texts.document, texts.annex))
}

pub(super) async fn tried(
    desk: &Desk,
    record: Record,
    generation: Arc<Generation>,
    text: String,
) -> Result<Trial, Problem> {
    let tried = desk.go_on(ALL_RECORDS, move || try_draft(record, &generation, &text));
    Ok(tried.await?.map_err(CurateError::from)?)
}

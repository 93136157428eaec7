//! `POST /api/v1/match/batch`: many short texts at once, answered in their order, each with its own error.

use std::convert::Infallible;
use std::ops::Range;

use actix_web::http::header::ContentType;
use actix_web::web::{self, Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::{Stream, stream};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::domain::answer_json::{Expand, ExplainedAnswer, Explaining, explain};
use crate::domain::lookup::{BatchItem, look_up_item};
use crate::domain::work_time::{Meter, WorkTime};
use crate::web::auth::Anyone;
use crate::web::body::{Bound, Share, Weigher};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::links::base_url;
use crate::web::state::AppState;
use crate::web::{body, limits};

/// Texts to explain.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest<'a> {
    /// At most 1,000 items of at most 64 KiB.
    #[serde(borrow)]
    #[schema(value_type = Vec<BatchItem>)]
    items: Vec<&'a RawValue>,
}

/// The answers, in the order of the items.
#[derive(Debug, Serialize, ToSchema)]
pub struct BatchAnswer {
    /// One for each item.
    #[schema(value_type = Vec<BatchItemAnswer>)]
    items: Vec<Box<RawValue>>,
}

/// What explains one item, or why it could not be read.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum BatchItemAnswer {
    /// What explains it.
    Found(Box<ExplainedAnswer>),
    /// What is wrong with it.
    Problem {
        /// As the body of a problem.
        #[schema(value_type = ProblemBody)]
        problem: serde_json::Value,
    },
}

/// Explains many short texts.
#[utoipa::path(post, path = "/api/v1/match/batch", operation_id = "match_batch", tag = "match", request_body = BatchRequest<'static>, responses(
    (status = 200, description = "One answer for each item, in order", body = BatchAnswer),
    (status = 413, description = "Too many items, or too large", body = ProblemBody),
))]
pub async fn batch(
    _: Anyone,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let texts = items(&request, payload).await?;
    let explaining = Explaining {
        generation: state.knowledge.current(),
        base_url: Some(base_url(&request, &state)),
        expand: Expand::Brief,
    };
    let mut all = All::start(texts, state.answers.share());
    let answers = Desk::of(&request)
        .in_turns(ALL_RECORDS, move || all.step(&explaining))
        .await??;
    Ok(HttpResponse::Ok()
        .content_type(ContentType::json())
        .streaming(answers.in_pieces()))
}

/// Answers that are ready, with their share of what all of them may hold.
struct Answers {
    items: Vec<Box<RawValue>>,
    share: Share,
}

impl Answers {
    /// As [`BatchAnswer`], an item at a time: each is given up when it is sent, and none is copied. The share is held until
    /// the last one, for nobody knows when a client reads.
    fn in_pieces(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        let Self { items, share } = self;
        let mut begin = "{\"items\":[";
        let pieces = items.into_iter().flat_map(move |item| {
            let text: Box<str> = item.into();
            let before = Bytes::from_static(std::mem::replace(&mut begin, ",").as_bytes());
            [before, Bytes::from(String::from(text))]
        });
        // An answer without items has its beginning, too.
        let empty = "{\"items\":[]}";
        let mut pieces = pieces.peekable();
        let end = if pieces.peek().is_none() { empty } else { "]}" };
        let end = std::iter::once_with(move || {
            drop(share);
            Bytes::from_static(end.as_bytes())
        });
        stream::iter(pieces.chain(end).map(Ok))
    }
}

/// A batch on its way: each item is explained once, until the time or the room for answers is gone.
struct All {
    texts: Items,
    items: Vec<Box<RawValue>>,
    time: Meter,
    room: usize,
    share: Share,
}

impl All {
    fn start(texts: Items, share: Share) -> Self {
        Self {
            items: Vec::with_capacity(texts.places.len()),
            texts,
            time: Meter::default(),
            room: limits::BATCH_ANSWER_BYTES,
            share,
        }
    }

    /// Explains the next item; the answers when there is none.
    fn step(&mut self, explaining: &Explaining) -> Option<Result<Answers, Problem>> {
        let Some(item) = self.texts.next() else {
            return Some(Ok(Answers {
                items: std::mem::take(&mut self.items),
                share: std::mem::take(&mut self.share),
            }));
        };
        let used = self.time.spent();
        let answer = self.time.time(|| {
            let time = WorkTime::after(used, limits::WORK_TIME);
            to_raw(&one(explaining, &item, &time))
        });
        self.keep(answer).err().map(Err)
    }

    fn keep(&mut self, mut answer: Box<RawValue>) -> Result<(), Problem> {
        if answer.get().len() > self.room {
            let detail = format!(
                "the answers of a batch have at most {} bytes: send this item in another batch",
                limits::BATCH_ANSWER_BYTES
            );
            let problem = Problem::new(Code::TooLarge, detail).to_json();
            answer = to_raw(&BatchItemAnswer::Problem { problem });
        }
        self.room = self.room.saturating_sub(answer.get().len());
        self.share.grow_to(limits::BATCH_ANSWER_BYTES - self.room)?;
        self.items.push(answer);
        Ok(())
    }
}

/// Plain data with string keys always has a JSON form.
fn to_raw(answer: &BatchItemAnswer) -> Box<RawValue> {
    serde_json::value::to_raw_value(answer).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The items of a batch of any kind, each still to be read. They are places in the body: a copy would be as large again.
pub(super) struct Items {
    body: Bytes,
    places: std::vec::IntoIter<Range<usize>>,
}

impl Iterator for Items {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        self.places.next().map(|place| self.body.slice(place))
    }
}

pub(super) async fn items(request: &HttpRequest, payload: Payload) -> Result<Items, Problem> {
    if !body::is_json(request) {
        return Err(body::json_needed());
    }
    let bound = Bound::Items(limits::BATCH_ITEMS);
    let body = Bytes::from(body::json_text(request, payload, limits::BATCH_BYTES, bound).await?);
    let BatchRequest { items } = body::parse_json(&body)?;
    let place = |item: &RawValue| {
        let start = item.get().as_ptr().addr() - body.as_ptr().addr();
        start..start + item.get().len()
    };
    let places: Vec<Range<usize>> = items.into_iter().map(place).collect();
    Ok(Items {
        body,
        places: places.into_iter(),
    })
}

fn one(explaining: &Explaining, item: &[u8], time: &WorkTime) -> BatchItemAnswer {
    let found = weighed(item, limits::JSON_VALUES)
        .and_then(|()| body::parse_json::<BatchItem>(item))
        .and_then(|item| look_up_item(&explaining.generation, item, time).map_err(Problem::from));
    match found {
        Ok(answer) => BatchItemAnswer::Found(Box::new(explain(answer, explaining))),
        Err(problem) => BatchItemAnswer::Problem {
            problem: problem.to_json(),
        },
    }
}

/// Refuses an item that makes too much in memory.
pub(super) fn weighed(item: &[u8], most: usize) -> Result<(), Problem> {
    let mut weigher = Weigher::default();
    weigher.push(item);
    Ok(weigher.check(Bound::Values(most))?)
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use serde_json::{Value, json};

    use super::*;
    use crate::web::body::{BodyError, Budget};

    fn answers(items: &[Value], share: Share) -> Answers {
        Answers {
            items: items
                .iter()
                .map(|item| serde_json::value::to_raw_value(item).unwrap())
                .collect(),
            share,
        }
    }

    #[actix_web::test]
    async fn an_answer_in_pieces_is_the_answer() {
        for items in [
            vec![],
            vec![json!({"a": 1})],
            vec![json!(1), json!([]), json!("x")],
        ] {
            let pieces = answers(&items, Share::default()).in_pieces();
            let pieces: Vec<Bytes> = pieces.map(Result::unwrap).collect().await;
            let text: Value = serde_json::from_slice(&pieces.concat()).unwrap();
            assert_eq!(text, json!({ "items": items }));
        }
    }

    #[actix_web::test]
    async fn an_answer_that_nobody_reads_keeps_its_share() {
        const LARGE: usize = limits::BODY_FREE_BYTES + (1 << 19);
        let budget = Budget::of(1 << 20, limits::BODY_FREE_BYTES);
        let mut share = budget.share();
        assert_eq!(share.grow_to(LARGE), Ok(()));
        let mut unread = Box::pin(answers(&[json!(1)], share).in_pieces());
        unread.next().await;
        let mut second = budget.share();
        assert_eq!(second.grow_to(LARGE), Ok(()));
        assert_eq!(budget.share().grow_to(LARGE), Err(BodyError::Busy));
        drop(unread);
        assert_eq!(budget.share().grow_to(LARGE), Ok(()));
    }
}

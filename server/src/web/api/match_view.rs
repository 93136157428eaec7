//! The answer as lines: each hit as it is found, the whole answer last.

use actix_web::web::Bytes;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::domain::lookup::{MatchAnswer, Matching};
use crate::web::body::{BodyError, Sink};
use crate::web::error::Problem;

/// Feeds a matching and hands its hits on as lines.
pub(super) struct Lines {
    pub(super) matching: Matching,
    pub(super) sender: mpsc::Sender<Bytes>,
}

/// The last line.
#[derive(Serialize)]
struct Ended<'a> {
    event: &'static str,
    #[serde(flatten)]
    answer: &'a MatchAnswer,
}

impl Sink for Lines {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        for event in self.matching.push(piece) {
            self.sender
                .blocking_send(line(&event))
                .map_err(|_| BodyError::Unread)?;
        }
        Ok(())
    }
}

impl Lines {
    /// Ends the text and sends the last lines.
    pub(super) fn finish(self) {
        let (events, answer) = self.matching.finish_with_events();
        let ended = Ended {
            event: "summary",
            answer: &answer,
        };
        let lines = events.iter().map(line).chain([line(&ended)]);
        for line in lines {
            if self.sender.blocking_send(line).is_err() {
                return;
            }
        }
    }
}

/// A problem after the answer has begun.
pub(super) fn problem_line(problem: &Problem) -> Bytes {
    let mut body = problem.to_json();
    if let Some(object) = body.as_object_mut() {
        object.insert("event".to_owned(), "problem".into());
    }
    line(&body)
}

fn line(value: &impl Serialize) -> Bytes {
    // Plain data with string keys always has a JSON form.
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    Bytes::from(text)
}

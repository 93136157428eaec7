//! The answer as lines: each hit as it is found, the whole answer last.

use std::time::Duration;

use actix_web::web::Bytes;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::domain::answer_json::{ExplainedAnswer, Explaining, explain};
use crate::domain::lookup::Matching;
use crate::web::body::{BodyError, Sink};
use crate::web::error::Problem;

/// Feeds a matching and keeps its hits as lines until they are sent.
pub(super) struct Lines {
    matching: Matching,
    explaining: Explaining,
    ready: Vec<Bytes>,
}

#[derive(Serialize)]
struct Ended<'a> {
    event: &'static str,
    #[serde(flatten)]
    answer: &'a ExplainedAnswer,
}

impl Sink for Lines {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        let events = self.matching.push(piece);
        self.ready.extend(events.iter().map(line));
        Ok(())
    }

    fn memory_usage(&self) -> usize {
        self.matching.memory_usage()
    }
}

impl Lines {
    pub(super) fn start(matching: Matching, explaining: Explaining) -> Self {
        Self {
            matching,
            explaining,
            ready: Vec::new(),
        }
    }

    pub(super) fn take_ready(&mut self) -> Vec<Bytes> {
        std::mem::take(&mut self.ready)
    }

    pub(super) fn finish(mut self) -> Vec<Bytes> {
        let (events, answer) = match self.matching.finish_with_events() {
            Ok(ended) => ended,
            Err(error) => {
                self.ready.push(problem_line(&error.into()));
                return self.ready;
            }
        };
        self.ready.extend(events.iter().map(line));
        self.ready.push(line(&Ended {
            event: "summary",
            answer: &explain(answer, &self.explaining),
        }));
        self.ready
    }
}

#[derive(Debug)]
pub(super) enum Part {
    /// A line, or a problem in its place.
    Line(Bytes),
    End,
}

/// Hands lines to the one who reads the answer, as long as he goes on reading.
pub(super) struct Reader {
    pub(super) sender: mpsc::Sender<Part>,
    pub(super) grace: Duration,
}

impl Reader {
    /// Sends the lines; fails when the reader went away, also where there is nothing to send, or takes nothing for too long.
    pub(super) async fn send(&self, lines: Vec<Bytes>) -> Result<(), BodyError> {
        if self.sender.is_closed() {
            return Err(BodyError::Unread);
        }
        for line in lines {
            self.sender
                .send_timeout(Part::Line(line), self.grace)
                .await
                .map_err(|_| BodyError::Unread)?;
        }
        Ok(())
    }

    pub(super) async fn finish(self) {
        // An error means that nobody reads any more.
        let _ = self.sender.send_timeout(Part::End, self.grace).await;
    }
}

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

//! The pattern workbench: what a pattern or a draft would take, before anything is saved.
//!
//! ```text
//! subject  a pattern or a draft -> matchers, literals, cost     answer   what is told
//! look     a text and a matcher -> hits, within a budget        texts    examples and near misses of a generation
//! source   other lines, by a trait                              reports  log lines of kept reports, newest first
//! rule     a CEL rule over kept reports
//! ```
//!
//! Hits are those of the engine that reads logs, before what records say of each other is applied. "None" is said of what was
//! looked at, and how far that was stands beside it.

mod answer;
mod look;
mod reports;
mod rule;
mod source;
mod subject;
#[cfg(test)]
mod tests;
mod texts;

pub use answer::{Answer, Found, LineView, LookedAt, PatternView, Refusal, SourceView, Taken};
pub use reports::ReportLines;
pub use rule::{RuleAnswer, RuleFault, RuleFinding, fetch, preview_rule};
pub use source::{Gathered, LineSource, SourceText};
pub use subject::Subject;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kb_core::propose::{NoProposal, Proposal, propose};
use kb_core::scanner::{Hit, Sieve};
use kb_core::signature::PatternSpec;

use crate::clean::healthy_lines;
use crate::domain::curate::alike;
use crate::domain::work_time::WorkTime;
use crate::feed::Generation;
use crate::store::StoreError;
use look::each_hit;
use peerless_search::KnowledgeStamp;
use subject::Prepared;
use texts::{Kind, Texts};

pub const MOST_LINES: usize = 500;
/// Pasted lines together, in bytes.
pub const MOST_BYTES: usize = 64 << 10;

#[derive(Debug, Default)]
pub struct Question {
    pub lines: Vec<String>,
    /// What is tried on them; without it the proposal is, where one is asked for.
    pub subject: Option<Subject>,
    pub propose: bool,
}

#[derive(Debug, Default)]
pub struct Workbench {
    texts: Mutex<Option<Arc<Texts>>>,
    sources: Vec<Arc<dyn LineSource>>,
}

impl Workbench {
    pub fn new(sources: Vec<Arc<dyn LineSource>>) -> Self {
        Self {
            texts: Mutex::default(),
            sources,
        }
    }

    /// Lines of all sources, each read for at most so long. What was read before is kept, so that the next question gets further.
    pub async fn gather(&self, patience: Duration) -> Result<Vec<Gathered>, StoreError> {
        let mut all = Vec::with_capacity(self.sources.len());
        for source in &self.sources {
            all.push(source.gather(patience).await?);
        }
        Ok(all)
    }

    /// This computes; call it off the async threads.
    pub fn answer(
        &self,
        question: Question,
        generation: &Arc<Generation>,
        gathered: &[Gathered],
        limit: Duration,
    ) -> Answer {
        let time = WorkTime::start(limit);
        let proposed = question
            .propose
            .then(|| propose(question.lines.iter().map(String::as_str)));
        let subject = question
            .subject
            .or_else(|| Some(Subject::Pattern(spec_of(proposed.as_ref()?.as_ref().ok()?))));
        let alike = match &subject {
            Some(Subject::Record(record)) => Some(alike(record, generation)),
            _ => None,
        };
        let prepared = subject.map(Prepared::of).unwrap_or_default();
        let mut answer = Answer::of(KnowledgeStamp { seq: generation.seq });
        (answer.proposal, answer.no_proposal) = match proposed {
            None => (None, None),
            Some(Ok(proposal)) => (Some(proposal), None),
            Some(Err(reason)) => (None, Some(NoProposal::to_string(&reason))),
        };
        answer.alike = alike;
        answer.lines = lines(&question.lines, &prepared, generation, &time);
        if prepared.on_corpora.is_some() {
            self.look_around(&mut answer, &prepared, generation, gathered, &time);
        }
        answer.patterns = prepared.patterns;
        answer.findings = prepared.findings;
        answer
    }

    fn look_around(
        &self,
        answer: &mut Answer,
        prepared: &Prepared,
        generation: &Generation,
        gathered: &[Gathered],
        time: &WorkTime,
    ) {
        let Some(matcher) = &prepared.on_corpora else {
            return;
        };
        let (mut examples, mut near_misses) = (Found::default(), Found::default());
        let mut sieve = Sieve::of(matcher);
        for text in &self.texts(generation).list {
            let found = match text.kind {
                Kind::Example => &mut examples,
                Kind::NearMiss => &mut near_misses,
            };
            if !sieve.lets_through(text.text.as_bytes()) {
                found.pass(&text.text);
                continue;
            }
            found.look(matcher, &text.text, time, |taken| {
                taken.is_own = prepared.own.as_ref() == Some(&text.record);
                taken.record = Some(text.record.clone());
                taken.pointer = Some(text.pointer.clone());
            });
        }
        let mut clean = Found::default();
        match healthy_lines() {
            Some(lines) => clean.look(matcher, lines, time, |_| {}),
            None => clean.looked_at.is_complete = false,
        }
        for gathered in gathered {
            let mut found = Found::default();
            for text in &gathered.texts {
                found.look(matcher, &text.text, time, |taken| {
                    taken.node = Some(text.node.clone());
                    taken.report = Some(text.report.clone());
                    taken.pointer = Some(text.pointer.clone());
                });
            }
            found.looked_at.is_complete &= gathered.is_complete;
            answer.sources.push(SourceView {
                source: gathered.source,
                found,
            });
        }
        answer.examples = Some(examples);
        answer.near_misses = Some(near_misses);
        answer.clean = Some(clean);
    }

    fn texts(&self, generation: &Generation) -> Arc<Texts> {
        let mut kept = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(texts) = kept
            .as_ref()
            .filter(|texts| texts.generation == generation.number)
        {
            return Arc::clone(texts);
        }
        let texts = Arc::new(Texts::of(generation));
        *kept = Some(Arc::clone(&texts));
        texts
    }
}

fn spec_of(proposal: &Proposal) -> PatternSpec {
    PatternSpec {
        id: "proposed".to_owned(),
        regex: proposal.regex.clone(),
        flags: String::new(),
        captures: Vec::new(),
    }
}

fn lines(
    lines: &[String],
    prepared: &Prepared,
    generation: &Arc<Generation>,
    time: &WorkTime,
) -> Vec<LineView> {
    let text = lines.join("\n");
    let mut views: Vec<LineView> = (1..)
        .zip(lines)
        .map(|(number, line)| LineView::of(number, line))
        .collect();
    if let Some(matcher) = &prepared.on_lines {
        each_hit(matcher, &text, time, |hit, is_generic| {
            for line in lines_of(hit) {
                if let Some(view) = at(&mut views, line) {
                    view.take(hit, is_generic);
                }
            }
        });
    }
    let mut known: Vec<BTreeSet<_>> = vec![BTreeSet::new(); lines.len()];
    each_hit(&generation.matcher, &text, time, |hit, is_generic| {
        for line in lines_of(hit).filter(|_| !is_generic) {
            if let Some(known) = at(&mut known, line) {
                known.insert(hit.record.clone());
            }
        }
    });
    for (view, known) in views.iter_mut().zip(known) {
        view.taken_by = known.into_iter().collect();
    }
    views
}

fn lines_of(hit: &Hit) -> impl Iterator<Item = u64> {
    std::iter::once(hit.line).chain(hit.parts.iter().map(|part| part.line))
}

fn at<T>(list: &mut [T], line: u64) -> Option<&mut T> {
    list.get_mut(usize::try_from(line.checked_sub(1)?).ok()?)
}

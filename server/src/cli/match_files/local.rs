//! Explaining on this machine.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use anyhow::Context as _;
use kb_core::ids::RecordId;
use kb_core::scanner::Event;

use super::explain::{Explainer, Facts, Found};
use super::unpack::Text;
use crate::cli::at_hand::KnowledgeArgs;
use crate::domain::answer_json::{Expand, ExplainedAnswer, Explaining, explain};
use crate::domain::lookup::{MatchAnswer, MatchOptions, Matching, check_environment};
use crate::feed::Generation;
use crate::render::answer_text;

pub(super) const PIECE: usize = 256 << 10;

pub(super) struct Local {
    generation: Arc<Generation>,
    environment: BTreeMap<String, String>,
}

impl Local {
    pub(super) async fn load(
        knowledge: &KnowledgeArgs,
        environment: BTreeMap<String, String>,
    ) -> anyhow::Result<Self> {
        let generation = knowledge.current().await?;
        check_environment(&generation, &environment)?;
        Ok(Self {
            generation,
            environment,
        })
    }

    pub(super) fn start(&self) -> Matching {
        let options = MatchOptions {
            environment: self.environment.clone(),
            without_text: false,
        };
        Matching::start(Arc::clone(&self.generation), options)
    }

    pub(super) fn explain(&self, answer: MatchAnswer) -> ExplainedAnswer {
        let explaining = Explaining {
            generation: Arc::clone(&self.generation),
            base_url: None,
            expand: Expand::Brief,
        };
        explain(answer, &explaining)
    }

    pub(super) fn render(&self, answer: &MatchAnswer) -> String {
        answer_text::render(answer, &self.generation, None)
    }
}

impl Explainer for Local {
    fn answer(&self, text: Text) -> anyhow::Result<(MatchAnswer, Found)> {
        let mut matching = self.start();
        each_piece(text, |piece| {
            matching.feed(piece);
            Ok(())
        })?;
        let answer = matching.finish()?;
        let found = Found::from(&answer);
        Ok((answer, found))
    }

    fn explained(&self, text: Text) -> anyhow::Result<(ExplainedAnswer, Found)> {
        let (answer, found) = self.answer(text)?;
        Ok((self.explain(answer), found))
    }

    fn rendered(&self, text: Text) -> anyhow::Result<(String, Found)> {
        let (answer, found) = self.answer(text)?;
        Ok((self.render(&answer), found))
    }

    fn stepwise(
        &self,
        text: Text,
        each: &mut dyn FnMut(&Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<ExplainedAnswer> {
        let mut matching = self.start();
        each_piece(text, |piece| matching.push(piece).iter().try_for_each(&mut *each))?;
        let (events, answer) = matching.finish_with_events()?;
        events.iter().try_for_each(each)?;
        Ok(self.explain(answer))
    }

    fn facts(&self, id: &RecordId) -> anyhow::Result<Facts> {
        let published = self.generation.record(id);
        let published = published.with_context(|| format!("record {id} is not in this generation"))?;
        Ok(Facts::of(&published.record, None))
    }
}

fn each_piece(mut text: Text, mut take: impl FnMut(&[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let read = text.read(&mut buffer)?;
        match buffer.get(..read) {
            Some(piece) if !piece.is_empty() => take(piece)?,
            _ => return Ok(()),
        }
    }
}

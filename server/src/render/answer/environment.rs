//! What is known of where a text was written, and for which records that matters.

use kb_core::scanner::{Applies, Match};

use crate::domain::lookup::MatchAnswer;
use crate::feed::Generation;
use crate::render::i18n::{Locale, answer::Words, lookup};
use crate::render::words::{Mark, Tone};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// `driver`, `gpu model`.
    pub name: String,
    /// `None` where a record asks for it and the text does not say it.
    pub value: Option<String>,
    pub from: String,
    pub matters: Vec<Decided>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub number: usize,
    pub mark: Mark,
}

/// Every component that the text or its sender told, then those that a record asks for and nobody told.
pub fn components(
    generation: &Generation,
    answer: &MatchAnswer,
    ordered: &[&Match],
    locale: Locale,
) -> Vec<Component> {
    let words = Words::of(locale.language);
    let mut components: Vec<Component> = answer
        .environment
        .iter()
        .map(|known| Component {
            name: known.component.clone(),
            value: Some(known.value.clone()),
            from: known
                .line
                .map_or_else(|| words.given.to_owned(), |line| words.at_line(line)),
            matters: Vec::new(),
        })
        .collect();
    for (at, found) in ordered.iter().enumerate() {
        let Some(published) = generation.record(&found.id) else {
            continue;
        };
        for condition in &published.record.annex.applies_to {
            let known = components
                .iter_mut()
                .position(|known| known.name == condition.component);
            let place = known.unwrap_or_else(|| {
                components.push(Component {
                    name: condition.component.clone(),
                    value: None,
                    from: words.not_told.to_owned(),
                    matters: Vec::new(),
                });
                components.len() - 1
            });
            let decided = Decided {
                number: at + 1,
                mark: mark(found.applies, locale),
            };
            if let Some(known) = components.get_mut(place).filter(|known| {
                let last = known.matters.last();
                last.is_none_or(|last| last.number != decided.number)
            }) {
                known.matters.push(decided);
            }
        }
    }
    for known in &mut components {
        known.name = known.name.replace('_', " ");
    }
    components
}

/// How a record and the environment go together; nothing for a record that names no versions.
pub fn applies(generation: &Generation, found: &Match, locale: Locale) -> Option<Mark> {
    let published = generation.record(&found.id)?;
    (!published.record.annex.applies_to.is_empty()).then(|| mark(found.applies, locale))
}

fn mark(applies: Applies, locale: Locale) -> Mark {
    let words = lookup::Words::of(locale.language);
    let (tone, sign, label) = match applies {
        Applies::Yes => (Tone::Good, "✓", words.fits),
        Applies::Unknown => (Tone::Unknown, "?", words.not_compared),
        Applies::No => (Tone::Warn, "△", words.elsewhere),
    };
    Mark { tone, sign, label }
}

//! The faults of one host, rank or GPU alone: what may be chosen, and what of it was.

use crate::render::answer::Fault;
use crate::render::answer::environment::Choices;
use crate::render::answer::origin::Only;
use crate::render::i18n::answer::Words;

/// One list to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) options: Vec<(String, bool)>,
}

/// The lists; none where all faults are of one host, rank and GPU.
pub(super) fn choices(faults: &[Fault], only: &Only, words: &'static Words) -> Vec<Choice> {
    let all = Choices::of(faults);
    let choice = |name, label, values: Vec<String>, chosen: &Option<String>| Choice {
        name,
        label,
        options: values
            .into_iter()
            .map(|value| {
                let is_chosen = chosen.as_ref() == Some(&value);
                (value, is_chosen)
            })
            .collect(),
    };
    let lists = [
        choice("only_host", words.host, all.hosts, &only.host),
        choice("only_rank", words.rank, all.ranks, &only.rank),
        choice("only_gpu", "GPU", all.gpus, &only.gpu),
    ];
    lists
        .into_iter()
        .filter(|choice| !choice.options.is_empty())
        .collect()
}

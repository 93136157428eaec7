//! The faults of one host, rank or GPU alone: what may be chosen, and what of it was.

use crate::render::answer::Fault;
use crate::render::answer::origin::{Only, Origin};
use crate::render::i18n::answer::Words;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) options: Vec<(String, bool)>,
}

/// The lists of what the faults name. With one alone there is nothing to choose.
pub(super) fn choices(faults: &[Fault], only: &Only, words: &'static Words) -> Vec<Choice> {
    let choice = |name, label, part: fn(&Origin) -> &Vec<String>, chosen: &Option<String>| {
        let mut values: Vec<&String> = faults.iter().flat_map(|fault| part(&fault.origin)).collect();
        values.sort_by_key(|value| (value.len(), *value));
        values.dedup();
        let options = values.into_iter().map(|value| {
            let is_chosen = chosen.as_ref() == Some(value);
            (value.clone(), is_chosen)
        });
        Choice {
            name,
            label,
            options: options.collect(),
        }
    };
    let lists = [
        choice("only_host", words.host, |origin| &origin.hosts, &only.host),
        choice("only_rank", words.rank, |origin| &origin.ranks, &only.rank),
        choice("only_gpu", "GPU", |origin| &origin.gpus, &only.gpu),
    ];
    let lists = lists.into_iter();
    lists.filter(|choice| choice.options.len() > 1).collect()
}

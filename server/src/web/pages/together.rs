//! All nodes together, as the page of nodes shows them: by verdict, what most of them show, who is silent.

use super::nodes::node_href;
use crate::domain::fleet::{Fault, Fleet, SILENT_HOURS};
use crate::render::i18n::Locale;
use crate::render::i18n::fleet::Words;
use crate::render::words::{Link, Mark, grouped, moment, record_href, severity, verdict};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    pub facts: Vec<String>,
    /// Verdicts that some node has, best first.
    pub verdicts: Vec<VerdictView>,
    /// What most nodes show first; notices behind what is a fault.
    pub faults: Vec<FaultView>,
    /// How many had no run that ended lately.
    pub silent: String,
    /// The node longest without a run, and since when.
    pub oldest: Option<(Link, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictView {
    pub verdict: Mark,
    pub nodes: String,
    pub gpus: String,
    /// How many of the nodes were simulated, where any was.
    pub simulated: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultView {
    pub title: String,
    pub severity: Option<Mark>,
    pub record: Option<Link>,
    pub nodes: String,
}

pub(super) fn together(fleet: Fleet, locale: Locale) -> Together {
    let words = Words::of(locale.language);
    let present = fleet.verdicts.iter().filter(|count| count.nodes > 0);
    let verdicts = present.map(|count| VerdictView {
        verdict: verdict(count.verdict, locale.language),
        nodes: grouped(count.nodes),
        gpus: grouped(count.gpus),
        simulated: (count.simulated > 0).then(|| words.simulated_nodes(count.simulated)),
    });
    let oldest = fleet.oldest.first().map(|heard| {
        let link = Link {
            href: node_href(&heard.id, locale),
            text: heard.id.to_string(),
        };
        (link, moment(heard.at))
    });
    let mut faults = fleet.faults;
    faults.sort_by_key(|fault| fault.is_notice);
    Together {
        facts: vec![words.node_count(fleet.nodes), words.gpu_count(fleet.gpus)],
        verdicts: verdicts.collect(),
        silent: words.silent(fleet.silent, u64::from(SILENT_HOURS)),
        oldest,
        faults: faults
            .into_iter()
            .map(|fault| fault_view(fault, locale))
            .collect(),
    }
}

fn fault_view(fault: Fault, locale: Locale) -> FaultView {
    FaultView {
        severity: fault.severity.map(|word| severity(word, locale.language)),
        record: fault.record.map(|id| Link {
            href: locale.href(record_href(id.as_str())),
            text: id.to_string(),
        }),
        title: fault.title,
        nodes: grouped(fault.nodes),
    }
}

#[cfg(test)]
mod tests {
    use kb_core::annex::Severity;

    use super::*;

    #[test]
    fn a_notice_stands_behind_what_is_a_fault_and_each_says_how_bad_it_is() {
        let fault = |title: &str, severity, is_notice, nodes| Fault {
            record: None,
            rule: String::new(),
            title: title.to_owned(),
            severity,
            is_notice,
            nodes,
        };
        let fleet = Fleet {
            nodes: 9,
            gpus: 72,
            verdicts: Vec::new(),
            faults: vec![
                fault("notice", Some(Severity::Info), true, 9),
                fault("fault", Some(Severity::Fatal), false, 2),
                fault("unexplained", None, false, 1),
            ],
            silent: 0,
            oldest: Vec::new(),
        };
        let shown = together(fleet, Locale::ENGLISH).faults;
        let shown: Vec<_> = shown
            .iter()
            .map(|view| (view.title.as_str(), view.severity.map(|mark| mark.label)))
            .collect();
        assert_eq!(
            shown,
            [
                ("fault", Some("fatal")),
                ("unexplained", None),
                ("notice", Some("info"))
            ]
        );
    }
}

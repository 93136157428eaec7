//! GPUs, host facts, failures, log excerpts, and the list of what could not be seen.

use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::report::{Fact, Failure, Gpu, LogExcerpt, Report};
use serde_json::Value;

use crate::render::i18n::{Language, Locale, report::Words, terms};
use crate::render::words::{Link, memory, record_href};

/// What stopped the run or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureView {
    pub step: String,
    /// Name and number of the code; empty where there was none.
    pub code: String,
    pub message: String,
    pub fix: Option<String>,
    pub record: Option<Link>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuView {
    pub index: usize,
    pub nvml: String,
    pub name: String,
    pub pci: String,
    pub memory: String,
    pub compute: String,
    pub uuid: String,
    /// `Facts of GPU 0`.
    pub facts_title: String,
    /// Everything else that was read of it.
    pub facts: Vec<FactView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactView {
    pub name: String,
    pub value: String,
    pub source: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapView {
    pub what: String,
    pub kind: &'static str,
    pub reason: String,
    pub source: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcerptView {
    pub source: String,
    pub when: &'static str,
    pub text: String,
}

pub(super) fn failure(failure: &Failure, locale: Locale) -> FailureView {
    FailureView {
        step: failure.step.clone(),
        code: code(failure.code_name.as_deref(), failure.code, locale.language),
        message: failure.message.clone(),
        fix: failure.fix.clone(),
        record: failure.record.as_ref().map(|id| record(id, locale)),
    }
}

pub(super) fn record(id: &RecordId, locale: Locale) -> Link {
    Link {
        href: locale.href(record_href(id.as_str())),
        text: id.to_string(),
    }
}

/// `CUDA_ERROR_SYSTEM_NOT_READY (802)`.
pub(super) fn code(name: Option<&str>, number: Option<i32>, language: Language) -> String {
    match (name, number) {
        (Some(name), Some(number)) => format!("{name} ({number})"),
        (Some(name), None) => name.to_owned(),
        (None, Some(number)) => Words::of(language).code(&number.to_string()),
        (None, None) => String::new(),
    }
}

pub(super) fn gpu(index: usize, gpu: &Gpu, language: Language) -> GpuView {
    GpuView {
        index,
        nvml: shown(&gpu.nvml_index, language, ToString::to_string),
        name: shown(&gpu.name, language, Clone::clone),
        pci: shown(&gpu.pci_address, language, Clone::clone),
        memory: shown(&gpu.memory_bytes, language, |bytes| memory(*bytes)),
        compute: shown(&gpu.compute_capability, language, Clone::clone),
        uuid: shown(&gpu.uuid, language, Clone::clone),
        facts_title: Words::of(language).gpu_facts(&index.to_string()),
        facts: read(&gpu.facts),
    }
}

/// The value, or why there is none.
pub(super) fn shown<T>(fact: &Fact<T>, language: Language, word: impl Fn(&T) -> String) -> String {
    match (&fact.value, &fact.gap) {
        (Some(value), _) => word(value),
        (None, Some(gap)) => terms::Words::of(language).gap_kind(gap.kind).to_owned(),
        (None, None) => Words::of(language).not_given.to_owned(),
    }
}

pub(super) fn host(report: &Report) -> Vec<FactView> {
    read(&report.host)
}

/// Facts that have a value; those without are told among the gaps.
pub(super) fn read(facts: &BTreeMap<String, Fact>) -> Vec<FactView> {
    let read = facts
        .iter()
        .filter_map(|(name, fact)| Some((name, fact.value.as_ref()?, fact)));
    read.map(|(name, value, fact)| FactView {
        name: name.clone(),
        value: plain(value),
        source: fact.source.clone(),
    })
    .collect()
}

/// A JSON value in one line; texts without quotes.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Everything that could not be seen, host first, then GPUs, pairs and directions. Gaps with the same name's end,
/// reason and source are told once, with the first place and how many more.
pub(super) fn gaps(report: &Report, language: Language) -> Vec<GapView> {
    let mut found = Found {
        gaps: Vec::new(),
        terms: terms::Words::of(language),
    };
    for (name, fact) in &report.host {
        found.see("host", name, fact);
    }
    for (index, gpu) in report.gpus.iter().enumerate() {
        let place = format!("GPU {index}");
        found.see(&place, "NVML index", &gpu.nvml_index);
        found.see(&place, "UUID", &gpu.uuid);
        found.see(&place, "PCI address", &gpu.pci_address);
        found.see(&place, "model", &gpu.name);
        found.see(&place, "memory", &gpu.memory_bytes);
        found.see(&place, "compute capability", &gpu.compute_capability);
        for (name, fact) in &gpu.facts {
            found.see(&place, name, fact);
        }
    }
    for pair in &report.pairs {
        let place = format!("pair {}-{}", pair.a, pair.b);
        found.see(&place, "NVLinks", &pair.nvlinks);
        found.see(&place, "NVSwitch", &pair.nvswitch);
        found.see(&place, "common ancestor", &pair.common_ancestor);
        for (name, fact) in &pair.facts {
            found.see(&place, name, fact);
        }
        for direction in &pair.directions {
            let place = format!("direction {}-{}", direction.initiator, direction.owner);
            found.see(&place, "can access peer", &direction.can_access_peer);
            found.see(&place, "NVML read", &direction.nvml.read);
            found.see(&place, "NVML write", &direction.nvml.write);
            found.see(&place, "NVML NVLink", &direction.nvml.nvlink);
            found.see(&place, "NVML atomics", &direction.nvml.atomics);
            found.see(&place, "NVML PCI", &direction.nvml.pci);
            for (name, fact) in &direction.cuda_attributes {
                found.see(&place, name, fact);
            }
        }
    }
    if let Some(nccl) = &report.nccl {
        found.see("NCCL", "library", &nccl.library);
        found.see("NCCL", "version", &nccl.version);
    }
    found.told(Words::of(language))
}

/// Gaps met so far: what they are, and in how many places.
struct Found {
    gaps: Vec<(String, GapView, usize)>,
    terms: &'static terms::Words,
}

impl Found {
    fn see<T>(&mut self, place: &str, name: &str, fact: &Fact<T>) {
        let Some(gap) = &fact.gap else { return };
        let kind = self.terms.gap_kind(gap.kind);
        let same = self.gaps.iter_mut().find(|(known_name, known, _)| {
            known_name == name
                && known.kind == kind
                && known.reason == gap.reason
                && known.source == fact.source
        });
        if let Some((_, _, places)) = same {
            *places += 1;
            return;
        }
        let view = GapView {
            what: format!("{place}: {name}"),
            kind,
            reason: gap.reason.clone(),
            source: fact.source.clone(),
        };
        self.gaps.push((name.to_owned(), view, 1));
    }

    fn told(self, words: &Words) -> Vec<GapView> {
        let told = self.gaps.into_iter().map(|(_, mut view, places)| {
            if places > 1 {
                view.what = words.and_more(&view.what, &(places - 1).to_string());
            }
            view
        });
        told.collect()
    }
}

pub(super) fn excerpt(excerpt: &LogExcerpt, language: Language) -> ExcerptView {
    ExcerptView {
        source: excerpt.source.clone(),
        when: terms::Words::of(language).when(excerpt.when),
        text: excerpt.text.clone(),
    }
}

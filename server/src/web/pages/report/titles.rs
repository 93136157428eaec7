//! What a measurement is called on a page.

use kb_core::report::{Engine, Measurement, Operation};

use crate::render::i18n::report::Words;
use crate::render::words::memory;

/// `GPU to GPU, both ways at once, copy engine, written by the source, peer access on, 512 MiB`.
pub(super) fn of(item: &Measurement, words: &Words) -> String {
    let operation = match item.operation {
        Operation::Push => Some(words.written),
        Operation::Pull => Some(words.read),
        Operation::Other | Operation::Unrecognised => None,
    };
    let access = item
        .peer_access
        .map(|on| if on { words.peer_on } else { words.staged });
    let mut parts = vec![metric(&item.metric, words)];
    let told = [engine(item.engine, words), operation, access];
    parts.extend(told.into_iter().flatten().map(str::to_owned));
    parts.push(memory(item.bytes));
    parts.join(words.comma)
}

/// What an end that is no GPU is: all the others where a figure is of one GPU and all others.
pub(super) fn no_gpu(item: &Measurement, words: &Words) -> &'static str {
    let fans = ["all_to_one", "one_to_all", "all_to_all"];
    if fans.iter().any(|fan| item.metric.starts_with(fan)) {
        words.other_end
    } else {
        words.host_end
    }
}

/// Who moves the bytes; nothing where the metric says so itself.
fn engine(engine: Engine, words: &Words) -> Option<&'static str> {
    match engine {
        Engine::Ce => Some(words.copy_engine),
        Engine::Sm => Some(words.kernel),
        Engine::Ipc => Some(words.processes),
        Engine::Api | Engine::Nccl | Engine::Unrecognised => None,
    }
}

/// The stable name in words: its ends, then how. A name of a newer version stands as it is, without its underscores.
fn metric(name: &str, words: &Words) -> String {
    let ends = [
        ("d2d_bandwidth", words.gpu_to_gpu),
        ("h2d_bandwidth", words.host_to_gpu),
        ("d2h_bandwidth", words.gpu_to_host),
        ("load_latency", words.load_latency),
        ("host_load_latency", words.host_load_latency),
        ("copy_latency", words.copy_latency),
        ("copy_queueing_time", words.copy_queueing),
        ("all_to_one_bandwidth", words.all_to_one),
        ("one_to_all_bandwidth", words.one_to_all),
        ("all_to_all_bandwidth", words.all_to_all),
    ];
    let found = ends
        .iter()
        .find_map(|(prefix, ends)| Some((*ends, name.strip_prefix(prefix)?)));
    let known = found.and_then(|(ends, how)| Some((ends, variant(how, words)?)));
    match known {
        Some((ends, "")) => ends.to_owned(),
        Some((ends, how)) => [ends, how].join(words.comma),
        None => plain(name),
    }
}

/// What follows the ends in a name; none that is not known.
fn variant(rest: &str, words: &Words) -> Option<&'static str> {
    Some(match rest {
        "" => "",
        "_both_ways" => words.both_ways,
        "_beside_opposite" => words.beside_opposite,
        "_alone" => words.alone,
        "_beside_others" => words.beside_others,
        "_under_load" => words.under_load,
        "_pageable" => words.pageable,
        "_all_gpus" | "_all_at_once" => words.all_gpus,
        _ => return None,
    })
}

/// `d2d_bandwidth_by_magic` -> `D2d bandwidth by magic`.
fn plain(name: &str) -> String {
    let words = name.trim_end_matches("_bandwidth").replace('_', " ");
    let mut chars = words.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::render::i18n::Language;
    use kb_core::report::Report;
    use std::collections::BTreeSet;

    #[test]
    fn engine_and_direction_are_named() {
        let metric = |name| metric(name, Words::of(Language::English));
        assert_eq!(
            metric("h2d_bandwidth_pageable"),
            "Host to GPU, ordinary host memory"
        );
        assert_eq!(metric("d2d_bandwidth"), "GPU to GPU");
        assert_eq!(metric("all_to_one_bandwidth"), "All to one");
        assert_eq!(metric("load_latency_under_load"), "Load latency, under load");
        assert_eq!(metric("d2d_bandwidth_by_magic"), "D2d bandwidth by magic");
        assert_eq!(metric(""), "");
    }

    #[test]
    fn no_two_measurements_of_a_real_report_have_one_title() {
        let bytes = include_bytes!("../../../../../kb-core/tests/data/reports/h200-x2-bench.json");
        let report: Report = serde_json::from_slice(bytes).unwrap();
        let words = Words::of(Language::English);
        let titles: BTreeSet<String> = report.measurements.iter().map(|item| of(item, words)).collect();
        assert_eq!(titles.len(), report.measurements.len(), "{titles:#?}");
        assert!(
            titles.contains(
                "GPU to GPU, both ways at once, kernel, read by the destination, peer access on, 512 MiB"
            ),
            "{titles:#?}"
        );
    }
}

//! The sources of a record: when each was read, and what of the record it bears out.

use kb_core::record::Record;

use crate::render::advice::Citation;
use crate::render::i18n::record::Words;

pub(super) fn sources(record: &Record, words: &Words) -> Vec<Citation> {
    let mut sources: Vec<Citation> = Vec::new();
    let read = |url: &str| record.annex.sources.iter().any(|source| source.url == url);
    let official = record.document.official_doc_url.as_deref();
    if let Some(url) = official.filter(|url| !url.trim().is_empty() && !read(url)) {
        let section = record.document.official_doc_section.as_deref();
        let note = section.map_or_else(
            || words.vendor_page.to_owned(),
            |section| format!("{}: {section}", words.vendor_page),
        );
        sources.push(Citation {
            note: Some(note),
            ..Citation::new(url)
        });
    }
    let supporting = |note: String, pointers: &[String]| match pointers {
        [] => note,
        pointers => format!("{note}, {} {}", words.supports, supported(pointers, words)),
    };
    for source in &record.annex.sources {
        let note = format!("{} {}", words.read_on, source.read_on);
        let note = supporting(note, &source.supports);
        sources.push(Citation {
            note: Some(note),
            ..Citation::new(&source.url)
        });
    }
    for seen in &record.annex.reproduced {
        let mut note = supporting(format!("{}, {}", seen.hardware, seen.on), &seen.supports);
        if let Some(more) = &seen.note {
            note = format!("{note}. {more}");
        }
        let output = seen.output.as_ref().map(|name| format!(" · {name}"));
        let address = format!(
            "{} {}{}",
            words.seen_in_report,
            seen.report,
            output.unwrap_or_default()
        );
        sources.push(Citation {
            note: Some(note),
            ..Citation::new(&address)
        });
    }
    sources
}

/// What pointers into a record stand for, as its page calls it: `Why it happens, What works 1`.
fn supported(pointers: &[String], words: &Words) -> String {
    let mut told: Vec<String> = Vec::new();
    for pointer in pointers {
        let named = named(pointer, words);
        if !told.contains(&named) {
            told.push(named);
        }
    }
    told.join(words.list_comma)
}

fn named(pointer: &str, words: &Words) -> String {
    let mut steps = pointer.trim_start_matches('/').split('/');
    let name = match (steps.next(), steps.next()) {
        (Some("root_cause"), _) => words.root_cause,
        (Some("signature" | "regex"), _) => words.message,
        (Some("official_doc_url"), _) => words.vendor_page,
        (Some("error_code"), _) => words.codes,
        (Some("transition_graph"), Some("leads_to")) => words.leads_to,
        (Some("transition_graph"), Some("preceded_by")) => words.preceded_by,
        (Some("transition_graph"), Some("frequently_confused_with")) => words.confused_with,
        (Some(list @ ("workarounds" | "dead_ends")), Some(position)) => {
            let name = if list == "workarounds" {
                words.workarounds
            } else {
                words.dead_ends
            };
            let number = position.parse::<usize>().map(|position| position + 1);
            return number.map_or_else(|_| name.to_owned(), |number| format!("{name} {number}"));
        }
        _ => pointer,
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::i18n::Language;

    #[test]
    fn what_a_source_bears_out_has_a_name() {
        let pointers = [
            "/root_cause",
            "/workarounds/0",
            "/workarounds/0",
            "/transition_graph/leads_to/2",
            "/x",
        ];
        let pointers = pointers.map(str::to_owned);
        assert_eq!(
            supported(&pointers, Language::English.words()),
            "Why it happens, What works 1, Leads to, /x"
        );
    }
}

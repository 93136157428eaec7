//! A record as Markdown, for a ticket or a wiki: what its page shows, in its order. What works stands before what does not.

use std::fmt::Write as _;

use super::neighbours::NeighbourView;
use super::view::{RecordView, Source, view};
use crate::render::advice::{Advice, Citation, Objection, Text};
use crate::render::i18n::{Language, answer, record::Words};
use crate::render::words::record_href;

pub fn render(source: Source<'_>, language: Language, base_url: &str) -> String {
    let words = language.words();
    let revision = source.revision;
    let shown = view(source, language.into());
    let mut out = String::new();
    let heading = shown.title.as_ref().unwrap_or(&shown.signature);
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(out, "# {}\n", one_line(&heading.text));
    for notice in &shown.notices {
        let _ = writeln!(out, "> **{}** {}\n", notice.title, one_line(&notice.text));
    }
    fence(&mut out, &shown.signature.text);
    for fact in shown.facts.iter().map(String::as_str).chain([shown.tier.label]) {
        let _ = writeln!(out, "- {fact}");
    }
    let verdict = &shown.verdict;
    for (name, value) in [
        (words.severity, verdict.severity.map(|severity| severity.label)),
        (words.resolvable, verdict.resolvable),
        (words.acts, verdict.whose),
        (words.at_fault, verdict.at_fault),
        (words.action, verdict.action),
    ] {
        if let Some(value) = value {
            let _ = writeln!(out, "- {name}: {value}");
        }
    }
    first(&mut out, &shown, language);
    advice(
        &mut out,
        (words.workarounds, words.no_workarounds),
        &shown.workarounds,
        words,
    );
    advice(
        &mut out,
        (words.dead_ends, words.no_dead_ends),
        &shown.dead_ends,
        words,
    );
    let _ = writeln!(
        out,
        "\n## {}\n\n{}",
        words.root_cause,
        shown.root_cause.text.trim()
    );
    objection(&mut out, "\n", shown.root_cause_dispute.as_ref(), words);
    texts(
        &mut out,
        words.examples,
        shown.examples.iter().map(|example| (&example.text, None)),
    );
    let misses = shown.near_misses.iter();
    let misses = misses.map(|miss| (&miss.text, miss.why.as_ref()));
    texts(&mut out, words.near_misses, misses);
    if !shown.codes.is_empty() {
        let codes: Vec<&str> = shown.codes.iter().map(|code| code.text.as_str()).collect();
        let _ = writeln!(out, "\n## {}\n\n{}", words.codes, codes.join(", "));
    }
    for group in &shown.neighbours {
        let _ = writeln!(out, "\n## {}\n", group.title);
        neighbours(&mut out, &group.items, base_url);
        if !group.elsewhere.is_empty() {
            let _ = writeln!(out, "\n{}\n", words.stated_elsewhere);
            neighbours(&mut out, &group.elsewhere, base_url);
        }
    }
    environment(&mut out, &shown, words);
    let _ = writeln!(out, "\n## {}\n", words.sources);
    if shown.sources.is_empty() {
        let _ = writeln!(out, "{}", words.no_sources);
    }
    for source in &shown.sources {
        let note = source.note.as_deref().unwrap_or_default();
        let _ = writeln!(out, "- {} {note}", link(source));
    }
    let address = address(&shown.id, language);
    let _ = writeln!(out, "\n{} {revision}: {base_url}{address}", shown.id);
    out
}

fn texts<'t>(out: &mut String, title: &str, texts: impl Iterator<Item = (&'t String, Option<&'t Text>)>) {
    for (at, (text, why)) in texts.enumerate() {
        let heading = if at == 0 {
            format!("## {title}\n\n")
        } else {
            String::new()
        };
        let _ = write!(out, "\n{heading}");
        fence(out, text);
        if let Some(why) = why {
            let _ = writeln!(out, "{}", one_line(&why.text));
        }
    }
}

/// A record that is not there has no address.
fn neighbours(out: &mut String, items: &[NeighbourView], base_url: &str) {
    for item in items {
        let _ = match &item.href {
            Some(href) => writeln!(out, "- [{}]({base_url}{href})", item.id),
            None => writeln!(out, "- {}", item.id),
        };
    }
}

fn environment(out: &mut String, shown: &RecordView, words: &Words) {
    let _ = writeln!(out, "\n## {}\n", words.environment);
    if shown.applies_to.is_empty() && shown.versions.is_empty() {
        let _ = writeln!(out, "{}", words.any_environment);
    }
    for row in &shown.applies_to {
        let _ = writeln!(out, "- {}: {}", row.name, row.value);
    }
    for version in &shown.versions {
        let _ = writeln!(out, "- {}", one_line(version));
    }
}

fn address(id: &str, language: Language) -> String {
    match language {
        Language::English => record_href(id),
        Language::Chinese => language.address(&record_href(id)),
    }
}

fn first(out: &mut String, shown: &RecordView, language: Language) {
    let Some(first) = &shown.first else {
        return;
    };
    let do_first = answer::Words::of(language).do_first;
    let _ = writeln!(out, "\n**{do_first}** {}\n", one_line(&first.title.text));
    if let Some(command) = &first.command {
        fence(out, command);
    }
}

fn advice(out: &mut String, (title, none): (&str, &str), items: &[Advice], words: &Words) {
    let _ = writeln!(out, "\n## {title}\n");
    if items.is_empty() {
        let _ = writeln!(out, "{none}");
    }
    for (number, item) in (1..).zip(items) {
        let said = said(item.title.as_ref(), item.body.as_ref());
        let struck = if item.dispute.is_some() {
            format!("{} ", words.struck)
        } else {
            String::new()
        };
        let _ = writeln!(out, "{number}. {struck}{said}");
        for more in [&item.kind, &item.rate].into_iter().flatten() {
            let _ = writeln!(out, "   - {more}");
        }
        if let Some(condition) = &item.condition {
            let _ = writeln!(out, "   - {} {}", words.when, one_line(&condition.text));
        }
        if let Some(stopped) = &item.stop_first {
            let _ = writeln!(out, "   - {} {}", words.stop_first, one_line(&stopped.text));
        }
        for source in &item.sources {
            let _ = writeln!(out, "   - {}", link(source));
        }
        objection(out, "   - ", item.dispute.as_ref(), words);
    }
}

/// An advice in sentences. Its lines stay, so that commands stay whole.
fn said(title: Option<&Text>, body: Option<&Text>) -> String {
    let lines = |text: &Text| {
        let lines: Vec<&str> = text
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        lines.join("\n   ")
    };
    let parts: Vec<String> = [title, body].into_iter().flatten().map(lines).collect();
    match parts.as_slice() {
        [title, body] if title.ends_with(['.', '。', ':', '：', '!', '?', '？', '！']) => {
            format!("{title} {body}")
        }
        parts => parts.join(". "),
    }
}

fn objection(out: &mut String, lead: &str, dispute: Option<&Objection>, words: &Words) {
    if let Some(dispute) = dispute {
        let why = one_line(&dispute.why.text);
        let _ = writeln!(out, "{lead}{} {why} {}", words.disputed, link(&dispute.source));
    }
}

fn link(source: &Citation) -> String {
    match &source.href {
        Some(href) => format!("[{}](<{href}>)", source.name.replace(['[', ']'], "")),
        None => source.name.clone(),
    }
}

fn fence(out: &mut String, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}\n{}\n{fence}\n", text.trim());
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stay_as_they_are_written() {
        let text = |text: &str| Text::new(text);
        for (title, body, expected) in [
            ("Build it", "`cmake -B build ..`", "Build it. `cmake -B build ..`"),
            ("Build it.", "`cmake ..`", "Build it. `cmake ..`"),
            (
                "Link it:",
                "`ln -s ../a .`\n`ls`",
                "Link it: `ln -s ../a .`\n   `ls`",
            ),
        ] {
            assert_eq!(said(Some(&text(title)), Some(&text(body))), expected);
        }
    }
}

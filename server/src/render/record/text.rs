//! A record as plain text, for a terminal or a language model: what its page shows, in the order in which somebody who has
//! the error before him reads it. The answer of `view=text`, of the tool `record` and of `peerless record`.

use kb_core::terminal::harmless;

use super::neighbours::{Group, NeighbourView};
use super::view::{Source, view};
use crate::render::advice::{Advice, Citation, Objection};
use crate::render::i18n::{Language, record::Words};

/// Renders a record; the address of its page begins with `base_url`, and is left out where there is no server.
pub fn render(source: Source<'_>, language: Language, base_url: Option<&str>) -> String {
    let words = language.words();
    let revision = source.revision;
    let shown = view(source, language.into());
    let mut sheet = Sheet::default();
    sheet.line(0, &format!("{}  {revision}", shown.id));
    for notice in &shown.notices {
        let link = notice.link.as_ref().map_or("", |link| link.text.as_str());
        sheet.line(0, format!("{} {} {link}", notice.title, notice.text).trim_end());
    }
    if let Some(title) = &shown.title {
        sheet.text(0, &title.text);
    }
    sheet.text(0, &shown.signature.text);
    if let Some(other) = &shown.signature_other {
        sheet.text(0, &other.text);
    }
    let facts = shown.facts.iter().map(String::as_str);
    let facts: Vec<&str> = facts.chain([shown.tier.label]).collect();
    sheet.line(0, &facts.join("  "));
    let codes: Vec<&str> = shown.codes.iter().map(|code| code.text.as_str()).collect();
    sheet.section(words.codes, !codes.is_empty());
    sheet.line(2, &codes.join(", "));

    sheet.section(words.root_cause, true);
    sheet.text(2, &shown.root_cause.text);
    sheet.objection(2, shown.root_cause_dispute.as_ref(), words);
    sheet.advice(words.workarounds, words.no_workarounds, &shown.workarounds, words);
    sheet.advice(words.dead_ends, words.no_dead_ends, &shown.dead_ends, words);
    sheet.section(words.environment, true);
    for row in &shown.applies_to {
        sheet.line(2, &format!("{}: {}", row.name, row.value));
    }
    for version in &shown.versions {
        sheet.line(2, version);
    }
    if shown.applies_to.is_empty() && shown.versions.is_empty() {
        sheet.line(2, words.any_environment);
    }
    for group in &shown.neighbours {
        sheet.group(group, words);
    }
    sheet.section(words.sources, true);
    if shown.sources.is_empty() {
        sheet.line(2, words.no_sources);
    }
    shown.sources.iter().for_each(|source| sheet.citation(2, source));
    if let Some(base_url) = base_url {
        let path = format!("/r/{}", shown.id);
        let path = match language {
            Language::English => path,
            Language::Chinese => language.address(&path),
        };
        sheet.section(&format!("{base_url}{path}"), true);
    }
    sheet.0
}

#[derive(Default)]
struct Sheet(String);

impl Sheet {
    /// One line; nothing where there is nothing to say.
    fn line(&mut self, indent: usize, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.0.extend(std::iter::repeat_n(' ', indent));
        self.0.push_str(harmless(line.trim_end()).as_str());
        self.0.push('\n');
    }

    /// Lines as they are, for some are commands to copy; empty ones between them, too, which may end a file within.
    fn text(&mut self, indent: usize, text: &str) {
        self.lines(indent, text.trim_matches('\n').lines());
    }

    fn lines<'t>(&mut self, indent: usize, lines: impl Iterator<Item = &'t str>) {
        for line in lines {
            if line.trim().is_empty() {
                self.0.push('\n');
            } else {
                self.line(indent, line);
            }
        }
    }

    /// A title with an empty line over it.
    fn section(&mut self, title: &str, is_wanted: bool) {
        if is_wanted {
            self.0.push('\n');
            self.line(0, title);
        }
    }

    fn advice(&mut self, title: &str, none: &str, items: &[Advice], words: &Words) {
        self.section(title, true);
        if items.is_empty() {
            self.line(2, none);
        }
        for (number, item) in (1..).zip(items) {
            // Many records put the whole advice into one of the two.
            let said = [&item.title, &item.body].into_iter().flatten();
            let mut lines = said.flat_map(|text| text.text.trim_matches('\n').lines());
            let first = lines.next().unwrap_or_default();
            // A text cannot be struck through; the word stands where the eye falls first.
            let struck = item
                .dispute
                .as_ref()
                .map_or(String::new(), |_| format!("{} ", words.struck));
            self.line(2, &format!("{number}. {struck}{}", first.trim_start()));
            self.lines(5, lines);
            if let Some(condition) = &item.condition {
                self.line(5, &format!("{} {}", words.when, condition.text));
            }
            if let Some(stopped) = &item.stop_first {
                self.line(5, &format!("{} {}", words.stop_first, stopped.text));
            }
            if let Some(kind) = &item.kind {
                self.line(5, kind);
            }
            if let Some(rate) = &item.rate {
                self.line(5, rate);
            }
            item.sources.iter().for_each(|source| self.citation(5, source));
            self.objection(5, item.dispute.as_ref(), words);
        }
    }

    fn objection(&mut self, indent: usize, dispute: Option<&Objection>, words: &Words) {
        if let Some(dispute) = dispute {
            self.line(indent, &format!("{} {}", words.disputed, dispute.why.text));
            self.citation(indent + 2, &dispute.source);
        }
    }

    fn group(&mut self, group: &Group, words: &Words) {
        self.section(group.title, true);
        self.neighbours(2, &group.items, words);
        if !group.elsewhere.is_empty() {
            self.line(2, words.stated_elsewhere);
            self.neighbours(4, &group.elsewhere, words);
        }
    }

    fn neighbours(&mut self, indent: usize, items: &[NeighbourView], words: &Words) {
        for item in items {
            let missing = if item.href.is_some() {
                ""
            } else {
                words.no_such_record
            };
            self.line(indent, &format!("{} {missing}", item.id));
            for detail in &item.details {
                self.text(indent + 2, &detail.text);
            }
        }
    }

    fn citation(&mut self, indent: usize, source: &Citation) {
        self.line(indent, &source.text);
        self.line(indent + 2, source.note.as_deref().unwrap_or_default());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kb_core::ids::Revision;
    use kb_core::record::Record;

    use super::*;
    use crate::feed::samples::PEER_ACCESS;

    fn rendered(change: impl FnOnce(&mut Record), language: Language) -> String {
        let (document, annex) = PEER_ACCESS;
        let mut record = Record::parse(document, annex).unwrap();
        change(&mut record);
        let source = Source {
            record: &record,
            revision: Revision(7),
            withdrawn: false,
            forced: None,
            neighbours: &[],
        };
        render(source, language, Some("http://a.example"))
    }

    #[test]
    fn what_to_do_and_what_not_stand_in_it_in_either_language() {
        let english = rendered(|_| (), Language::English);
        let order = [
            "cuda/peer-access-unsupported-by-hardware  r7\n",
            "\nWhy it happens\n  ",
            "\nWhat works\n  1. ",
            "\nDo not waste time on\n  1. ",
            "\nEnvironment\n",
            "\nSources\n",
            "\nhttp://a.example/r/cuda/peer-access-unsupported-by-hardware\n",
        ];
        let places: Vec<_> = order.iter().map(|part| english.find(part)).collect();
        assert!(places.iter().all(Option::is_some), "{places:?}\n{english}");
        assert!(places.is_sorted(), "{places:?}\n{english}");
        let chinese = rendered(|_| (), Language::Chinese);
        assert!(
            chinese.contains("\n有效的做法\n  1. ") && chinese.ends_with("?lang=zh\n"),
            "{chinese}"
        );
    }

    #[test]
    fn what_is_disputed_stands_last_and_says_why() {
        let english = rendered(|_| (), Language::English);
        assert!(
            english.contains("\n  2. (disputed) If using multiple GPUs"),
            "{english}"
        );
        assert!(
            english.contains("\n     Disputed: A process for each GPU"),
            "{english}"
        );
        let chinese = rendered(|_| (), Language::Chinese);
        assert!(chinese.contains("\n  2. （有争议） 使用多块 GPU"), "{chinese}");
        assert!(chinese.contains("\n     有争议： 每块 GPU 一个进程"), "{chinese}");
        let moved = rendered(
            |record| "/workarounds/0".clone_into(&mut record.annex.disputes.first_mut().unwrap().pointer),
            Language::English,
        );
        assert!(moved.contains("\n  1. If using multiple GPUs"), "{moved}");
        assert!(
            moved.contains("\n  2. (disputed) Disable peer-to-peer"),
            "{moved}"
        );
        let cause = rendered(
            |record| "/root_cause".clone_into(&mut record.annex.disputes.first_mut().unwrap().pointer),
            Language::English,
        );
        let place = cause.find("\n  Disputed: A process").unwrap();
        assert!(place < cause.find("\nWhat works\n").unwrap(), "{cause}");
    }

    #[test]
    fn a_record_does_not_drive_the_terminal_and_its_commands_stay_lines() {
        let text = rendered(
            |record| {
                let first = record.document.workarounds.first_mut().unwrap();
                first.action = "Turn it off".to_owned();
                first.how = Some("one \\\n\n  --two\u{1b}[2J\n".to_owned());
            },
            Language::English,
        );
        assert!(
            text.contains("  1. Turn it off\n     one \\\n\n       --two\\u001b[2J\n"),
            "{text}"
        );
    }
}

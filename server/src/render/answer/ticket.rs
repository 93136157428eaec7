//! An answer for a ticket, as text and as Markdown: what was found, the lines that prove it, and what to do first.

use std::fmt::Write as _;

use super::faults::Fault;
use crate::render::i18n::{Locale, answer::Words, lookup};
use crate::render::record::first::FirstThing;
use crate::render::words::record_href;

/// Longest line that is quoted, in characters.
const MOST_CHARS: usize = 500;

#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    pub fault: &'a Fault,
    pub line: Option<&'a str>,
    pub first: Option<&'a FirstThing>,
    pub warning: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    pub heading: &'a str,
    pub sentences: &'a [String],
    /// What addresses begin with.
    pub base_url: &'a str,
}

pub fn text(head: Head<'_>, items: &[Item<'_>], locale: Locale) -> String {
    let words = Words::of(locale.language);
    let mut out = format!("{}\n{}\n", head.heading, head.sentences.join(" "));
    for item in items {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            out,
            "\n{}. {} ({})",
            item.fault.number,
            item.fault.title.text,
            facts(item.fault, locale)
        );
        if let Some(line) = item.line {
            let _ = writeln!(out, "   > {}", cut(line));
        }
        if let Some(warning) = item.warning {
            let _ = writeln!(out, "   {warning}");
        }
        if let Some(first) = item.first {
            let _ = writeln!(out, "   {} {}", words.do_first, first.title.text);
            if let Some(command) = &first.command {
                let _ = writeln!(out, "   $ {command}");
            }
        }
        let _ = writeln!(out, "   {}", address(head.base_url, item.fault, locale));
    }
    out
}

/// As Markdown. Lines of the log stand in fences, so that nothing of them is read as Markdown.
pub fn markdown(head: Head<'_>, items: &[Item<'_>], locale: Locale) -> String {
    let words = Words::of(locale.language);
    let sentences = head.sentences.iter().map(|sentence| escaped(sentence));
    let sentences: Vec<String> = sentences.collect();
    let mut out = format!("**{}**\n\n{}\n", escaped(head.heading), sentences.join(" "));
    for item in items {
        let _ = writeln!(
            out,
            "\n{}. **[{}]({})** ({})",
            item.fault.number,
            escaped(&item.fault.title.text),
            address(head.base_url, item.fault, locale),
            escaped(&facts(item.fault, locale))
        );
        if let Some(line) = item.line {
            fenced(&mut out, &cut(line));
        }
        if let Some(warning) = item.warning {
            let _ = writeln!(out, "\n   {}", escaped(warning));
        }
        if let Some(first) = item.first {
            let _ = writeln!(out, "\n   {} {}", words.do_first, escaped(&first.title.text));
            if let Some(command) = &first.command {
                fenced(&mut out, command);
            }
        }
    }
    out
}

/// `line 12, 03:02:14, gpu07; First cause; fatal`
fn facts(fault: &Fault, locale: Locale) -> String {
    let comma = lookup::Words::of(locale.language).list_comma;
    let mut facts = vec![lookup::Words::of(locale.language).step_line(fault.line)];
    facts.extend(fault.origin.time.clone());
    facts.extend(fault.places.iter().cloned());
    facts.extend(Some(fault.relation.clone()).filter(|relation| !relation.is_empty()));
    facts.extend(fault.severity.map(|severity| severity.label.to_owned()));
    facts.join(comma)
}

fn address(base_url: &str, fault: &Fault, locale: Locale) -> String {
    format!("{base_url}{}", locale.href(record_href(fault.id.as_str())))
}

fn cut(line: &str) -> String {
    let mut cut: String = line.trim().chars().take(MOST_CHARS).collect();
    if line.trim().chars().count() > MOST_CHARS {
        cut.push('…');
    }
    cut
}

fn fenced(out: &mut String, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "\n   {fence}\n   {text}\n   {fence}");
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_never_markdown() {
        let mut out = String::new();
        fenced(&mut out, "a ``` b");
        assert_eq!(out, "\n   ````\n   a ``` b\n   ````\n");
        assert_eq!(escaped("<b>*x*</b>"), "\\<b\\>\\*x\\*\\</b\\>");
        assert_eq!(cut(&"x".repeat(MOST_CHARS + 1)).chars().count(), MOST_CHARS + 1);
    }
}

//! What a pattern would take, as plain text for the command line.

use std::fmt::{Result, Write as _};

use kb_core::terminal::harmless;

use super::words::bytes;
use crate::domain::workbench::{Answer, Found, LookedAt, PatternView, Taken};

pub fn render(answer: &Answer) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_answer(&mut text, answer);
    text
}

fn write_answer(text: &mut String, answer: &Answer) -> Result {
    if let Some(proposal) = &answer.proposal {
        writeln!(text, "Proposal: {}", harmless(&proposal.regex))?;
    }
    if let Some(reason) = &answer.no_proposal {
        writeln!(text, "No proposal: {}", harmless(reason))?;
    }
    for pattern in &answer.patterns {
        write_pattern(text, pattern)?;
    }
    for finding in &answer.findings {
        writeln!(
            text,
            "{}: {}; {}",
            finding.rule,
            harmless(&finding.reason),
            finding.fix
        )?;
    }
    if !answer.lines.is_empty() {
        writeln!(text, "\nPasted lines")?;
    }
    for line in &answer.lines {
        let sign = if line.taken.is_some() { "+" } else { "-" };
        writeln!(text, "{sign} {:>4} {}", line.line, harmless(&line.text))?;
        if line.is_generic {
            writeln!(
                text,
                "         generic words, which count beside words of the domain"
            )?;
        }
        for (name, value) in &line.captures {
            writeln!(text, "         {name} = {}", harmless(value))?;
        }
        for record in &line.taken_by {
            writeln!(text, "         taken now by {record}")?;
        }
    }
    let places = [
        ("Examples of records", &answer.examples),
        ("Near misses of records", &answer.near_misses),
        ("Lines of healthy runs", &answer.clean),
    ];
    for (name, found) in places {
        if let Some(found) = found {
            write_found(text, name, found)?;
        }
    }
    for source in &answer.sources {
        write_found(text, &format!("Lines of {}", source.source), &source.found)?;
    }
    Ok(())
}

fn write_pattern(text: &mut String, pattern: &PatternView) -> Result {
    writeln!(text, "Pattern {}: {}", pattern.id, harmless(&pattern.regex))?;
    if let Some(refused) = &pattern.refused {
        return writeln!(
            text,
            "  may be in no record ({}): {}; {}",
            refused.rule,
            harmless(&refused.reason),
            refused.fix
        );
    }
    let literals: Vec<String> = pattern
        .literals
        .iter()
        .map(|literal| format!("{literal:?}"))
        .collect();
    writeln!(text, "  literal: {}", literals.join(" or "))?;
    if let (Some(ways), Some(most)) = (pattern.ways, pattern.most_ways) {
        writeln!(text, "  cost: {ways} of {most} ways to go on")?;
    }
    if !pattern.captures.is_empty() {
        writeln!(text, "  captures: {}", pattern.captures.join(", "))?;
    }
    Ok(())
}

fn write_found(text: &mut String, name: &str, found: &Found) -> Result {
    writeln!(text, "\n{name}: {}, {}", found.count, far(&found.looked_at))?;
    for taken in &found.lines {
        writeln!(text, "  {}{}", place(taken), harmless(&taken.text))?;
    }
    let left = found.count.saturating_sub(found.lines.len() as u64);
    if left > 0 {
        writeln!(text, "  … and {left} more")?;
    }
    Ok(())
}

fn far(looked_at: &LookedAt) -> String {
    let LookedAt {
        texts,
        bytes: size,
        is_complete,
    } = looked_at;
    let whole = if *is_complete {
        "all there are"
    } else {
        "not all there are"
    };
    format!("in {texts} texts of {}, {whole}", bytes(*size))
}

fn place(taken: &Taken) -> String {
    let line = taken.line;
    let pointer = taken.pointer.as_deref().unwrap_or_default();
    if let Some(record) = &taken.record {
        let own = if taken.is_own { " (its own)" } else { "" };
        return format!("{record}{pointer}:{line}{own}: ");
    }
    if let (Some(node), Some(report)) = (&taken.node, &taken.report) {
        return format!("{} {}{pointer}:{line}: ", node.as_str(), report.as_str());
    }
    String::new()
}

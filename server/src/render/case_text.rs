//! A node's case file as Markdown, in English: it goes to a vendor.

use std::fmt::Write as _;

use kb_core::baseline::Outlier;
use kb_core::render::baseline as words;

use crate::domain::case::{Answer, Case, Happened};

pub fn markdown(case: &Case) -> String {
    let mut text = String::new();
    head(case, &mut text);
    form(case, &mut text);
    timeline(case, &mut text);
    findings(case, &mut text);
    proofs(case, &mut text);
    measurements(case, &mut text);
    tried(case, &mut text);
    text
}

// Writing to a String cannot fail, here and below.
fn head(case: &Case, text: &mut String) {
    let _ = writeln!(text, "# Case file of {}\n", inline(&case.node.id));
    if case.simulated {
        let _ = writeln!(
            text,
            "**Simulated:** a stand-in took the driver's place. Nothing here is of a machine.\n"
        );
    }
    let standing = &case.standing;
    let _ = writeln!(text, "- Made: {}", case.made_at);
    if let Some(hostname) = &case.node.hostname {
        let _ = writeln!(text, "- Host: {}", inline(hostname));
    }
    for (name, value) in &case.node.labels {
        let _ = writeln!(text, "- Label {}: {}", inline(name), inline(value));
    }
    let _ = writeln!(
        text,
        "- Verdict: **{}**, {} (report {}, {})",
        standing.verdict,
        inline(&standing.reason),
        standing.report_id,
        standing.at
    );
    let _ = writeln!(
        text,
        "- Reports: {}, the first on {}\n",
        case.node.reports, case.node.first_seen
    );
}

fn form(case: &Case, text: &mut String) {
    text.push_str("## What the form asks\n\n| of | question | answer |\n| --- | --- | --- |\n");
    for answer in &case.form {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            answer.about,
            answer.question,
            answered(answer)
        );
    }
    text.push('\n');
}

fn answered(answer: &Answer) -> String {
    match (&answer.answer, &answer.how) {
        (Some(known), _) => inline(known),
        (None, Some(how)) => format!("not known ({})", inline(how)),
        (None, None) => "not known".to_owned(),
    }
}

fn timeline(case: &Case, text: &mut String) {
    text.push_str("## Xids and other faults\n\n");
    if case.timeline.is_empty() {
        text.push_str("None: no report that was looked at tells of one.\n\n");
        return;
    }
    text.push_str("| first | last | device | what | times | from | text |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for happened in &case.timeline {
        let _ = writeln!(text, "{}", row(happened));
    }
    text.push('\n');
}

fn row(happened: &Happened) -> String {
    let time = |time: &Option<String>| time.clone().unwrap_or_else(|| "not known".to_owned());
    let record = happened
        .record
        .as_ref()
        .map(|id| format!(" ({id})"))
        .unwrap_or_default();
    format!(
        "| {} | {} | {} | {}{record} | {} | {} | {} |",
        time(&happened.first_at),
        time(&happened.last_at),
        inline(&happened.device),
        inline(&happened.what),
        happened.count,
        happened.known_from,
        inline(happened.text.as_deref().unwrap_or_default())
    )
}

fn findings(case: &Case, text: &mut String) {
    text.push_str("## Findings\n\n");
    if case.findings.is_empty() {
        text.push_str("None in the report whose verdict stands.\n\n");
        return;
    }
    for finding in &case.findings {
        let record = finding.record.as_ref().map_or("no record", String::as_str);
        let _ = writeln!(
            text,
            "- {}: {} ({record})",
            inline(&finding.subject),
            inline(&finding.title)
        );
    }
    text.push('\n');
}

fn proofs(case: &Case, text: &mut String) {
    text.push_str("## Proofs\n\n");
    if case.proofs.is_empty() {
        text.push_str(
            "None among the newest reports: no run made GPUs work with each other and came to a verdict.\n\n",
        );
        return;
    }
    for proof in &case.proofs {
        let _ = writeln!(
            text,
            "- {}: **{}** with {} GPUs, {} (report {})",
            proof.at,
            proof.verdict,
            proof.gpus,
            inline(&proof.reason),
            proof.report_id
        );
    }
    text.push('\n');
}

fn measurements(case: &Case, text: &mut String) {
    text.push_str("## Measurements\n\n");
    let Some(measured) = &case.measurements else {
        text.push_str("None: no report measured anything. `peerless-agent bench` does.\n\n");
        return;
    };
    let _ = writeln!(
        text,
        "Report {}, {}, compared with {}.\n",
        measured.report_id,
        measured.at,
        inline(&measured.cohort)
    );
    for outlier in &measured.outliers {
        let _ = writeln!(
            text,
            "- **{}** stands out: {}",
            words::subject(&outlier.subject),
            tests(outlier)
        );
    }
    for line in &measured.lines {
        let _ = writeln!(text, "- {}", inline(line));
    }
    text.push('\n');
}

fn tests(outlier: &Outlier) -> String {
    let tests = outlier.tests.iter().map(|test| {
        format!(
            "{} of {} bytes {:+.1} %",
            test.test,
            test.bytes,
            100.0 * test.difference
        )
    });
    tests.collect::<Vec<String>>().join(", ")
}

fn tried(case: &Case, text: &mut String) {
    text.push_str("## What was tried\n\n");
    let tried = &case.tried;
    if tried.clears.is_empty() && tried.events.is_empty() {
        text.push_str("Not known: the server has been told of nothing. Add what was done: resets, reboots, reseating, exchanged parts.\n");
        return;
    }
    for clear in &tried.clears {
        let _ = writeln!(
            text,
            "- {}: {} ended {}, because {}",
            clear.at,
            inline(&clear.by),
            inline(&clear.entries.join(", ")),
            inline(&clear.reason)
        );
    }
    for event in &tried.events {
        let _ = writeln!(text, "- {}: {}", event.at, inline(&event.text));
    }
}

/// A text of others in one line, in which no character acts as markup.
fn inline(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => written.push(' '),
            '\\' | '`' | '*' | '_' | '<' | '>' | '#' | '|' | '[' | ']' => {
                written.push('\\');
                written.push(character);
            }
            _ if character.is_control() => {}
            _ => written.push(character),
        }
    }
    written
}

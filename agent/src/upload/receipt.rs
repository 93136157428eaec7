//! What the server says of a report that it has taken.

use std::fmt;

use kb_core::terminal::harmless;
use serde_json::Value;

pub(crate) struct Receipt {
    server: String,
    known_before: bool,
    answer: Value,
}

impl Receipt {
    pub(super) fn of(server: String, known_before: bool, answer: Value) -> Self {
        Self {
            server,
            known_before,
            answer,
        }
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = &self.server;
        if self.known_before {
            write!(f, "report known to {server} already")?;
        } else {
            write!(f, "report uploaded to {server}")?;
        }
        let Some(findings) = self.answer.get("findings").and_then(Value::as_array) else {
            return Ok(());
        };
        for finding in findings {
            write!(f, "\n  {}", describe(finding))?;
        }
        Ok(())
    }
}

/// `pair 0-1: title (record)`, of what the finding has.
fn describe(finding: &Value) -> String {
    let text = |name: &str| finding.get(name).and_then(Value::as_str);
    let subject = text("subject").unwrap_or("finding");
    let title = text("title").or_else(|| text("rule")).unwrap_or("no title");
    // A server's words must not pass for the agent's own, nor act on the terminal.
    harmless(&match text("record") {
        Some(record) => format!("{subject}: {title} ({record})"),
        None => format!("{subject}: {title}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_a_server_are_one_harmless_line_each() {
        let finding = serde_json::json!({
            "subject": "pair 0-1",
            "title": "\u{1b}[2Jall is well\npeerless-agent: healthy",
            "record": "a/b\rc",
        });
        assert_eq!(
            describe(&finding),
            "pair 0-1: \\u001b[2Jall is well\\u000apeerless-agent: healthy (a/b\\u000dc)"
        );
    }
}

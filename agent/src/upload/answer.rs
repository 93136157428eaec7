//! What came back to a request: from a Peerless server, or from something that stands before one.

use std::time::Duration;

use kb_core::terminal::harmless;
use reqwest::blocking::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::secret::Secret;
use super::within;

const MOST_BYTES: u64 = 1 << 20;
/// As much of a foreign answer as a message shows, in characters.
const MOST_SHOWN: usize = 80;
/// Media type of a problem (RFC 9457).
const PROBLEM: &str = "application/problem+json";

#[derive(Debug, Default)]
pub(super) struct Answer {
    media_type: String,
    text: String,
    /// What went out with the question: some servers and proxies repeat it in what they say.
    secret: Secret,
}

impl Answer {
    pub(super) fn read(response: Response, secret: Secret, limit: Duration) -> Result<Self, String> {
        let media_type = response.headers().get(CONTENT_TYPE);
        let media_type = media_type
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let media_type = media_type.to_ascii_lowercase();
        let read = within::read(response, MOST_BYTES, limit);
        let bytes = read.map_err(|error| format!("the answer broke off: {error}"))?;
        Ok(Self {
            media_type,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            secret,
        })
    }

    /// The body, without the secret; null where it is no JSON.
    pub(super) fn json(&self) -> Value {
        let mut json = serde_json::from_slice(self.text.as_bytes()).unwrap_or_default();
        self.secret.withhold_in(&mut json);
        json
    }

    /// The stable code of a Peerless problem. Proxies refuse without one.
    pub(super) fn code(&self) -> Option<String> {
        if self.media_type != PROBLEM {
            return None;
        }
        self.json().get("code")?.as_str().map(str::to_owned)
    }

    /// What a problem says, else the first words of whatever it is, behind a colon.
    pub(super) fn detail(&self) -> String {
        let json = self.json();
        let words: Vec<&str> = ["title", "detail"]
            .iter()
            .filter_map(|name| json.get(name)?.as_str())
            .collect();
        if !words.is_empty() {
            return format!(": {}", harmless(&words.join(": ")));
        }
        // JSON without such words is the server's own, or as short.
        if self.text.trim().is_empty() || json.is_object() {
            return String::new();
        }
        format!(": {}", self.shown())
    }

    pub(super) fn shown(&self) -> String {
        let media_type = match self.media_type.as_str() {
            "" => "no media type",
            known => known,
        };
        // Before it is cut: a part of a secret is one, too.
        let text = self.secret.withheld(&self.text);
        let words: Vec<&str> = text.split_whitespace().take(MOST_SHOWN).collect();
        let words: String = words.join(" ").chars().take(MOST_SHOWN).collect();
        // Quoted as in a program, so that nothing of it reaches the terminal as a command.
        format!("{media_type} {words:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(media_type: &str, text: &str) -> Answer {
        Answer {
            media_type: media_type.to_owned(),
            text: text.to_owned(),
            secret: Secret::default(),
        }
    }

    #[test]
    fn only_a_problem_with_a_code_is_the_servers_own_word() {
        let code = r#"{"code": "bad_encoding"}"#;
        assert_eq!(answer(PROBLEM, code).code().as_deref(), Some("bad_encoding"));
        for (media_type, text) in [
            ("application/json", code),
            ("text/html", "<html>"),
            (PROBLEM, "{}"),
            (PROBLEM, r#"{"code": 7}"#),
        ] {
            assert_eq!(answer(media_type, text).code(), None, "{media_type} {text}");
        }
    }

    #[test]
    fn what_a_stranger_says_is_shown_short_and_harmless() {
        let page = answer("text/html", &format!("<html>\n \u{1b}[2J {}", "long ".repeat(99)));
        let shown = page.shown();
        assert!(
            shown.starts_with(r#"text/html "<html> \u{1b}[2J long"#),
            "{shown}"
        );
        assert!(shown.len() < 120, "{shown}");
        assert_eq!(answer("", "").detail(), "");
        assert_eq!(
            answer(PROBLEM, r#"{"title": "Busy", "detail": "later"}"#).detail(),
            ": Busy: later"
        );
        let hostile = answer(PROBLEM, r#"{"title": "\u001b[2J\npeerless-agent: healthy"}"#);
        assert_eq!(hostile.detail(), ": \\u001b[2J\\u000apeerless-agent: healthy");
    }
}

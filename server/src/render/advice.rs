//! Dead ends and workarounds, and texts that know their language; shared by answers and records.

use super::command::leading_command;
use super::words::{Mark, is_chinese, web_href};

/// A text with its language, so that screen readers and fonts get it right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub text: String,
    /// BCP 47.
    pub lang: &'static str,
}

impl Text {
    /// A text; Chinese where it holds Chinese characters, else English.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let lang = if is_chinese(&text) { "zh-Hans" } else { "en" };
        Self { text, lang }
    }

    /// A text unless it is absent or blank.
    pub fn filled(text: Option<&str>) -> Option<Self> {
        text.map(str::trim).filter(|text| !text.is_empty()).map(Self::new)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    pub text: String,
    /// What a link to it says: `NVIDIA/nccl#1229`.
    pub name: String,
    pub href: Option<String>,
    pub note: Option<String>,
}

impl Citation {
    pub fn new(address: &str) -> Self {
        Self {
            text: address.to_owned(),
            name: name_of(address),
            href: web_href(address),
            note: None,
        }
    }
}

/// A short name for a page: of a repository's thread its number, of another page its host and the last step.
fn name_of(address: &str) -> String {
    let Some((_, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (path, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let path = path.split('?').next().unwrap_or(path);
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    let host = steps.next().unwrap_or_default().trim_start_matches("www.");
    let steps: Vec<&str> = steps.filter(|step| !step.starts_with("index.")).collect();
    let name = match (host, steps.as_slice()) {
        ("github.com", [owner, repository, "issues" | "pull" | "discussions", number, ..]) => {
            return format!("{owner}/{repository}#{number}");
        }
        ("github.com", [owner, repository]) => return format!("{owner}/{repository}"),
        ("github.com", [owner, repository, .., last]) => format!("{owner}/{repository}: {last}"),
        (_, [.., last]) => format!("{host}: {last}"),
        (_, []) => host.to_owned(),
    };
    if fragment.is_empty() || fragment.len() > MAX_FRAGMENT {
        name
    } else {
        format!("{name}#{fragment}")
    }
}

/// Longer ones are no names.
const MAX_FRAGMENT: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    pub title: Option<Text>,
    pub body: Option<Text>,
    pub condition: Option<Text>,
    /// What the step does to the error, what it costs and touches; of a workaround alone.
    pub kind: Option<String>,
    /// The same in parts; of a workaround alone.
    pub nature: Option<Nature>,
    /// What must be stopped before it.
    pub stop_first: Option<Text>,
    pub rate: Option<String>,
    pub sources: Vec<Citation>,
    /// Why it is not to be believed; it is shown struck then.
    pub dispute: Option<Objection>,
    /// Its place in the document's list, from 0.
    pub position: usize,
    /// What people said of it; on the page of a record alone.
    pub votes: Option<AdviceVotes>,
    /// Where an editor corrects it; on the page of a record alone.
    pub correct: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nature {
    pub kind: Mark,
    pub scope: &'static str,
    pub cost: Option<Text>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdviceVotes {
    /// Whom it helped; where enough people said so.
    pub share: Option<String>,
    /// The same by driver and GPU model.
    pub groups: Vec<String>,
    pub own: Option<&'static str>,
    pub form: Option<VoteForm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteForm {
    pub action: String,
    pub csrf: String,
    /// Pointer into the document.
    pub tried: String,
    pub revision: u32,
    /// Outcomes to choose, as the API calls them, with the words of their buttons.
    pub outcomes: Vec<(&'static str, &'static str)>,
    pub place: &'static str,
    pub driver: &'static str,
    pub gpu_model: &'static str,
    /// What the reader said before: with another GPU model it would be another vote.
    pub driver_value: String,
    pub gpu_model_value: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    pub why: Text,
    pub source: Citation,
}

/// Longest title that is set in bold, in characters; many records put the whole advice into it.
const MAX_HEADLINE: usize = 100;

impl Advice {
    /// The command that the step is, as it is to be typed. One that only looks at what the step did is none.
    pub fn command(&self) -> Option<String> {
        let mut texts = [&self.title, &self.body].into_iter().flatten();
        texts
            .find_map(|text| leading_command(&text.text))
            .map(str::to_owned)
    }

    pub fn is_headline(&self) -> bool {
        self.title
            .as_ref()
            .is_some_and(|title| title.text.chars().count() <= MAX_HEADLINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_short_names() {
        for (address, name) in [
            (
                "https://github.com/NVIDIA/nccl/issues/1229#issuecomment-1",
                "NVIDIA/nccl#1229",
            ),
            (
                "https://github.com/NVIDIA/nccl/blob/v2/src/init.cc#L12",
                "NVIDIA/nccl: init.cc#L12",
            ),
            (
                "https://docs.nvidia.com/deploy/xid-errors/index.html",
                "docs.nvidia.com: xid-errors",
            ),
            ("https://www.example.org", "example.org"),
            ("a book", "a book"),
        ] {
            assert_eq!(name_of(address), name);
        }
    }
}

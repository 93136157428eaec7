//! How answers are printed, and the exit code that they add up to.

use std::process::ExitCode;

use anyhow::Context as _;
use kb_core::scanner::Event;
use kb_core::terminal::harmless;
use serde::Serialize;

use super::FailOn;
use super::explain::{Explainer, Found};
use super::input::Input;
use super::sarif::Sarif;
use crate::cli::{explain as explained, say};
use crate::domain::answer_json::ExplainedAnswer;
use crate::web::api::match_text::UNEXPLAINED_HEADER;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
    Lines,
    Sarif,
}

/// Prints answers, and remembers what became of them.
#[derive(Debug)]
pub(super) struct Output {
    form: Form,
    several: bool,
    sarif: Sarif,
    fail_on: Option<FailOn>,
    found: bool,
    /// Texts with something that no record explains; counted only with [`FailOn::Unexplained`].
    unexplained: usize,
    failed: bool,
}

/// A line or an answer, and the file that it is about.
#[derive(Serialize)]
struct Of<'a, T> {
    file: &'a str,
    #[serde(flatten)]
    content: &'a T,
}

#[derive(Serialize)]
struct Ended<'a> {
    event: &'static str,
    #[serde(flatten)]
    answer: &'a ExplainedAnswer,
}

impl Output {
    pub(super) fn new(form: Form, several: bool, fail_on: Option<FailOn>) -> Self {
        Self {
            form,
            several,
            sarif: Sarif::default(),
            fail_on,
            found: false,
            unexplained: 0,
            failed: false,
        }
    }

    /// An archive was found to hold several texts.
    pub(super) fn expect_several(&mut self) {
        self.several = true;
    }

    /// Explains one text and prints the answer.
    pub(super) fn explain(&mut self, explainer: &dyn Explainer, input: &Input) -> anyhow::Result<()> {
        let text = input.open().with_context(|| input.shown())?;
        let shown = || input.shown();
        match self.form {
            Form::Text => {
                let (text, found) = explainer.rendered(text).with_context(shown)?;
                self.text(input, &text, found)
            }
            Form::Json => {
                let (answer, found) = explainer.explained(text).with_context(shown)?;
                self.count(found)?;
                say_json(&input.name(), &answer)
            }
            Form::Lines => {
                let name = input.name();
                let answer = explainer.stepwise(text, &mut |event| say_json(&name, event));
                self.summary(input, &answer.with_context(shown)?)
            }
            Form::Sarif => {
                let (answer, found) = explainer.answer(text).with_context(shown)?;
                self.count(found)?;
                self.sarif.add(input, &answer, explainer)
            }
        }
    }

    pub(super) fn hit(&self, input: &Input, event: &Event) -> anyhow::Result<()> {
        if self.form == Form::Lines {
            return say_json(&input.name(), event);
        }
        // Other events are for programs.
        if let Event::Hit(hit) = event {
            let text = hit.text.as_ref().map_or("", |marked| marked.text.as_str());
            let text = harmless(text);
            say(format_args!(
                "{}:{}: {}: {text}",
                input.shown(),
                hit.line,
                hit.record
            ))?;
        }
        Ok(())
    }

    /// Prints what a text comes to, for people.
    pub(super) fn text(&mut self, input: &Input, text: &str, found: Found) -> anyhow::Result<()> {
        if self.several {
            say(format_args!("== {}", input.shown()))?;
        }
        say(text.trim_end())?;
        self.count(found)
    }

    /// Prints the last line of a file.
    pub(super) fn summary(&mut self, input: &Input, answer: &ExplainedAnswer) -> anyhow::Result<()> {
        self.count(Found::from(answer))?;
        let event = "summary";
        say_json(&input.name(), &Ended { event, answer })
    }

    /// Remembers what an answer comes to. Where the caller asks for what a server does not say, that is no "none".
    fn count(&mut self, found: Found) -> anyhow::Result<()> {
        self.found |= found.error;
        if self.fail_on.is_some() {
            let unexplained = found.unexplained.with_context(|| {
                format!(
                    "the server does not say {UNEXPLAINED_HEADER}: it is older than this program and cannot tell what --fail-on asks for"
                )
            })?;
            self.unexplained += usize::from(unexplained);
        }
        Ok(())
    }

    /// True when hits are lines of JSON.
    pub(super) fn is_lines(&self) -> bool {
        self.form == Form::Lines
    }

    /// Says what was wrong with a text.
    pub(super) fn fail(&mut self, input: &Input, error: &anyhow::Error) {
        self.failed = true;
        let error = explained(error);
        self.sarif.fail(input, &error);
        eprintln!("peerless: {error}");
    }

    pub(super) fn finish(self) -> anyhow::Result<ExitCode> {
        if self.form == Form::Sarif {
            say(serde_json::to_string_pretty(&self.sarif.log())?)?;
        }
        Ok(if self.failed {
            ExitCode::from(crate::cli::TROUBLE)
        } else if self.unexplained > 0 {
            ExitCode::from(super::UNEXPLAINED)
        } else if self.found {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

fn say_json(file: &str, content: &impl Serialize) -> anyhow::Result<()> {
    Ok(say(serde_json::to_string(&Of { file, content })?)?)
}

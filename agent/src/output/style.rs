//! Colours, where a terminal shows them and nobody asked for none (<https://no-color.org>).

use kb_core::verdict::Verdict;

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// With ANSI escape sequences.
    Coloured,
}

impl Style {
    /// For standard output, as the environment wants it.
    pub(crate) fn of_terminal(is_terminal: bool) -> Self {
        let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if is_terminal && !wants_none {
            Self::Coloured
        } else {
            Self::Plain
        }
    }

    /// A word in the colour of a verdict.
    pub(super) fn verdict(self, verdict: Verdict, text: &str) -> String {
        let colour = match verdict {
            Verdict::Healthy | Verdict::NoFaultSeen => 32,
            Verdict::Degraded | Verdict::Unknown => 33,
            Verdict::Refused | Verdict::Broken => 31,
        };
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\x1b[{colour}m{text}\x1b[0m"),
        }
    }
}

//! Colours, where a terminal shows them and nobody asked for none (<https://no-color.org>).

use kb_core::terminal::harmless_lines;
use kb_core::verdict::Verdict;

const ESCAPE: char = '\x1b';
/// The colours of verdicts, and their end.
const COLOURS: [&str; 4] = ["[31m", "[32m", "[33m", "[0m"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Coloured,
}

impl Style {
    pub(crate) fn of_terminal(is_terminal: bool) -> Self {
        let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if is_terminal && !wants_none {
            Self::Coloured
        } else {
            Self::Plain
        }
    }

    /// A table as it may be printed: what it shows of drivers, hosts and logs does not act on the terminal. Only colours stay.
    pub(super) fn harmless(self, table: &str) -> String {
        match self {
            Self::Plain => harmless_lines(table),
            Self::Coloured => {
                let pieces = table.split(ESCAPE).enumerate();
                let pieces = pieces.map(|(number, piece)| {
                    let is_colour = COLOURS.iter().any(|colour| piece.starts_with(colour));
                    let escape = match (number, is_colour) {
                        (0, _) => String::new(),
                        (_, true) => ESCAPE.to_string(),
                        (_, false) => harmless_lines(&ESCAPE.to_string()),
                    };
                    escape + &harmless_lines(piece)
                });
                pieces.collect()
            }
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_colours_and_nothing_else_that_acts() {
        let style = Style::Coloured;
        let table = format!("{}: \x1b[2J\u{9b}\n", style.verdict(Verdict::Broken, "broken"));
        assert_eq!(
            style.harmless(&table),
            "\x1b[31mbroken\x1b[0m: \\u001b[2J\\u009b\n"
        );
        assert_eq!(Style::Plain.harmless("a\x1b[31mb\n"), "a\\u001b[31mb\n");
    }
}

//! Patterns of several lines, cut at their line breaks: `Traceback.*\n(?:.*\n)*RuntimeError` is one pattern for a line and
//! one for a later line. Each part is looked for on its own, so that what others write between them does not matter. Lines that
//! are counted, `(?:.*\n){0,8}`, say how far the next part may stand: in a table the next row like it may be of something else.

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{Ast, Literal, RepetitionKind, RepetitionRange};

use super::groups::named_groups;
use super::parse::{MAX_NESTING, parse};
use super::{PatternError, PatternSpec};

pub(crate) const MAX_PARTS: usize = 16;
/// A line of a signature shorter than this says nothing, in bytes.
const MIN_PART: usize = 3;

#[derive(Debug)]
pub(crate) struct LineSpec {
    pub(crate) spec: PatternSpec,
    /// Furthest that it may stand behind the part before it, in lines; `None` where the pattern does not say.
    pub(crate) reach: Option<u64>,
}

/// Whether the text of a pattern has a line break at all.
pub(crate) fn may_have_parts(spec: &PatternSpec) -> bool {
    spec.regex.contains('\n') || spec.regex.contains(r"\n")
}

/// The parts of a pattern that needs a line break; `None` for any other. One that cannot be cut at its breaks is refused.
pub(crate) fn parts(spec: &PatternSpec) -> Result<Option<Vec<LineSpec>>, PatternError> {
    if !may_have_parts(spec) {
        return Ok(None);
    }
    let parsed = ParserBuilder::new()
        .nest_limit(MAX_NESTING)
        .ignore_whitespace(spec.flags.contains('x'))
        .build()
        .parse(&spec.regex);
    // What does not parse is refused elsewhere, with its place.
    let Ok(parsed) = parsed else {
        return Ok(None);
    };
    let Ast::Concat(top) = &parsed else {
        return Ok(None);
    };
    if !top.asts.iter().any(is_break) {
        return Ok(None);
    }
    let mut cut = Cut::default();
    for item in &top.asts {
        let span = item.span().start.offset..item.span().end.offset;
        let text = spec.regex.get(span).unwrap_or_default();
        match item {
            Ast::Flags(_) => cut.flags.push_str(text),
            _ if is_filler(item) => cut.skip(most_lines(item)),
            _ if is_break(item) => cut.break_line(),
            _ => cut.part.push_str(text),
        }
    }
    cut.end_part();
    let texts = cut.parts;
    let mut given = spec.captures.iter();
    let mut parts = Vec::new();
    for (regex, reach) in texts {
        let mut part = PatternSpec {
            id: spec.id.clone(),
            regex,
            flags: spec.flags.clone(),
            captures: Vec::new(),
        };
        let hir = parse(&part)?;
        let groups = hir.properties().explicit_captures_len() - named_groups(&hir);
        part.captures = given.by_ref().take(groups).cloned().collect();
        if hir.properties().minimum_len() != Some(0) {
            parts.push(LineSpec { spec: part, reach });
        }
    }
    if given.next().is_some() || !(2..=MAX_PARTS).contains(&parts.len()) {
        return Err(PatternError::new(
            "pattern/line-break",
            format!(
                "the pattern needs a line break, and cut there it has {} parts that say something; 2 to {MAX_PARTS} can \
                 be looked for",
                parts.len()
            ),
            "leave the break out of a pattern for one line; capture nothing across lines",
        ));
    }
    Ok(Some(parts))
}

pub(crate) fn parts_of_text(text: &str) -> Option<Vec<LineSpec>> {
    let lines = text.lines().map(str::trim).filter(|line| line.len() >= MIN_PART);
    let lines: Vec<&str> = lines.take(MAX_PARTS).collect();
    let part = |line: &str| LineSpec {
        spec: PatternSpec {
            id: "signature".to_owned(),
            regex: regex_syntax::escape(line),
            flags: "i".to_owned(),
            captures: Vec::new(),
        },
        reach: None,
    };
    (lines.len() >= 2).then(|| lines.into_iter().map(part).collect())
}

#[derive(Default)]
struct Cut {
    /// Inline flags so far; they hold for the parts behind them too.
    flags: String,
    part: String,
    parts: Vec<(String, Option<u64>)>,
    /// Line breaks since the part before.
    breaks: u64,
    /// Whole lines that may stand since then, where all of them are counted.
    lines: Option<u64>,
    is_open: bool,
}

impl Cut {
    fn break_line(&mut self) {
        self.end_part();
        self.breaks += 1;
    }

    fn skip(&mut self, most: Option<u64>) {
        self.end_part();
        match most {
            Some(most) => self.lines = Some(self.lines.unwrap_or(0) + most),
            None => self.is_open = true,
        }
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        if part.is_empty() {
            return;
        }
        let reach = self.lines.filter(|_| !self.is_open);
        let reach = reach.map(|lines| lines + self.breaks);
        self.parts.push((format!("{}{part}", self.flags), reach));
        (self.breaks, self.lines, self.is_open) = (0, None, false);
    }
}

/// Nothing but line breaks and blanks, with one line break at least.
fn is_break(ast: &Ast) -> bool {
    holds_newline(ast) && is_blank(ast) && !may_be_left_out(ast)
}

/// Whole lines that may stand there or not: `(?:.*\n)*`.
fn is_filler(ast: &Ast) -> bool {
    holds_newline(ast) && may_be_left_out(ast)
}

/// How many whole lines a filler takes at most, where it says so.
fn most_lines(ast: &Ast) -> Option<u64> {
    let Ast::Repetition(repetition) = ast else {
        return None;
    };
    match &repetition.op.kind {
        RepetitionKind::ZeroOrOne => Some(1),
        RepetitionKind::Range(RepetitionRange::Bounded(_, most)) => Some(u64::from(*most)),
        _ => None,
    }
}

fn may_be_left_out(ast: &Ast) -> bool {
    let Ast::Repetition(repetition) = ast else {
        return false;
    };
    match &repetition.op.kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore => true,
        RepetitionKind::OneOrMore => false,
        RepetitionKind::Range(range) => match range {
            RepetitionRange::Exactly(least)
            | RepetitionRange::AtLeast(least)
            | RepetitionRange::Bounded(least, _) => *least == 0,
        },
    }
}

fn holds_newline(ast: &Ast) -> bool {
    match ast {
        Ast::Literal(literal) => is_newline(literal),
        Ast::Repetition(repetition) => holds_newline(&repetition.ast),
        Ast::Group(group) => holds_newline(&group.ast),
        Ast::Concat(concat) => concat.asts.iter().any(holds_newline),
        Ast::Alternation(alternation) => alternation.asts.iter().any(holds_newline),
        _ => false,
    }
}

fn is_blank(ast: &Ast) -> bool {
    match ast {
        Ast::Literal(literal) => literal.c.is_ascii_whitespace(),
        Ast::ClassPerl(class) => {
            matches!(class.kind, regex_syntax::ast::ClassPerlKind::Space) && !class.negated
        }
        Ast::Repetition(repetition) => is_blank(&repetition.ast),
        Ast::Group(group) => is_blank(&group.ast),
        Ast::Concat(concat) => concat.asts.iter().all(is_blank),
        Ast::Alternation(alternation) => alternation.asts.iter().all(is_blank),
        Ast::Empty(_) => true,
        _ => false,
    }
}

fn is_newline(literal: &Literal) -> bool {
    literal.c == '\n'
}

//! The alternatives of a pattern, each as a pattern of its own: one good alternative must not vouch for the others.

use regex_syntax::ast::{Alternation, Ast, parse};

use super::PatternSpec;
use super::parse::MAX_NESTING;

/// Patterns that are made of one: the texts of the alternatives of a pattern are bounded, and so is their number.
const MOST: usize = 64;

/// For each branch of each alternation, the pattern with that branch alone; none without one, or where it cannot be read.
pub fn branches(spec: &PatternSpec) -> Vec<PatternSpec> {
    let mut parser = parse::ParserBuilder::new();
    parser.nest_limit(MAX_NESTING);
    parser.ignore_whitespace(spec.flags.contains('x'));
    let Ok(ast) = parser.build().parse(&spec.regex) else {
        return Vec::new();
    };
    let mut alternations = Vec::new();
    collect(&ast, &mut alternations);
    let each = alternations.into_iter().flat_map(|alternation| {
        let flags = leading_flags(&spec.regex, alternation);
        let branches = alternation.asts.iter().enumerate();
        branches.filter_map(move |(number, branch)| {
            let branch = text(&spec.regex, branch.span())?;
            let before = spec.regex.get(..alternation.span.start.offset)?;
            let after = spec.regex.get(alternation.span.end.offset..)?;
            let flags = if number == 0 { "" } else { flags };
            Some(format!("{before}(?:{flags}{branch}){after}"))
        })
    });
    let numbered = each.take(MOST).zip(1..);
    let specs = numbered.map(|(regex, number)| PatternSpec {
        id: format!("{}, alternative {number}", spec.id),
        regex,
        ..spec.clone()
    });
    specs.collect()
}

fn collect<'a>(ast: &'a Ast, found: &mut Vec<&'a Alternation>) {
    match ast {
        Ast::Alternation(alternation) => {
            found.push(alternation);
            alternation.asts.iter().for_each(|ast| collect(ast, found));
        }
        Ast::Concat(concat) => concat.asts.iter().for_each(|ast| collect(ast, found)),
        Ast::Group(group) => collect(&group.ast, found),
        Ast::Repetition(repetition) => collect(&repetition.ast, found),
        _ => {}
    }
}

fn leading_flags<'r>(regex: &'r str, alternation: &Alternation) -> &'r str {
    let first = match alternation.asts.first() {
        Some(Ast::Concat(concat)) => concat.asts.first(),
        first => first,
    };
    match first {
        Some(flags @ Ast::Flags(_)) => text(regex, flags.span()).unwrap_or_default(),
        _ => "",
    }
}

fn text<'r>(regex: &'r str, span: &regex_syntax::ast::Span) -> Option<&'r str> {
    regex.get(span.start.offset..span.end.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(regex: &str) -> Vec<String> {
        let spec = PatternSpec {
            id: "0".to_owned(),
            regex: regex.to_owned(),
            flags: String::new(),
            captures: Vec::new(),
        };
        branches(&spec).into_iter().map(|branch| branch.regex).collect()
    }

    #[test]
    fn each_alternative_stands_alone_once() {
        assert_eq!(of("no choice [ab]+"), [] as [&str; 0]);
        assert_eq!(of("one|two"), ["(?:one)", "(?:two)"]);
        assert_eq!(
            of("a (b|c(d|e)) f"),
            [
                "a ((?:b)) f",
                "a ((?:c(d|e))) f",
                "a (b|c((?:d))) f",
                "a (b|c((?:e))) f"
            ]
        );
        assert_eq!(of("(?i)one|two"), ["(?:(?i)one)", "(?:(?i)two)"]);
        assert_eq!(of("(one"), [] as [&str; 0]);
        assert_eq!(of(&"(a|b)".repeat(100)).len(), MOST);
    }
}

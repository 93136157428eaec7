//! The tree of a pattern from which its literals are read, quickly: every start reads thousands of patterns.
//!
//! Without Unicode, classes are sets of bytes, and `s` and `k` fold to nothing beyond ASCII. Such a tree has the literals of
//! the other one but for patterns that may mean a character beyond ASCII by a class that is small without it.

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{Ast, ClassSetBinaryOp, ClassSetItem, Flag, Flags, Visitor, visit};
use regex_syntax::hir::Hir;
use regex_syntax::hir::translate::TranslatorBuilder;

use super::parse::{MAX_NESTING, MAX_PATTERN_BYTES, names_others, parse};
use super::{PatternError, PatternSpec};

/// A tree with the literals, chains and groups of [`parse`]; a class of more than a few characters may be one of bytes.
pub(super) fn parse_for_literals(spec: &PatternSpec) -> Result<Hir, PatternError> {
    // What is refused is refused by the other one, which says why.
    tree(spec).map_or_else(|| parse(spec), Ok)
}

fn tree(spec: &PatternSpec) -> Option<Hir> {
    if spec.regex.len() > MAX_PATTERN_BYTES || names_others(spec) {
        return None;
    }
    let has = |flag| spec.flags.contains(flag);
    if spec.flags.chars().any(|flag| !"imsx".contains(flag)) {
        return None;
    }
    let mut parser = ParserBuilder::new();
    parser.nest_limit(MAX_NESTING).ignore_whitespace(has('x'));
    let ast = parser.build().parse(&spec.regex).ok()?;
    if visit(&ast, Beyond(false)).unwrap_or(true) {
        return None;
    }
    let mut translator = TranslatorBuilder::new();
    translator
        .utf8(false)
        .unicode(false)
        .case_insensitive(has('i'))
        .multi_line(has('m'))
        .dot_matches_new_line(has('s'));
    // Fails where the pattern names Unicode's classes.
    translator.build().translate(&spec.regex, &ast).ok()
}

/// Whether a part of a pattern may be small without Unicode and large with it: a class made of others (`[^\S\n]`, `[\w--a]`),
/// or a part that says itself whether it means Unicode.
struct Beyond(bool);

impl Beyond {
    fn flags(&mut self, flags: &Flags) {
        self.0 |= flags.flag_state(Flag::Unicode).is_some();
    }
}

impl Visitor for Beyond {
    type Output = bool;
    type Err = ();

    fn finish(self) -> Result<bool, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
        match ast {
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => {
                if let Some(flags) = group.flags() {
                    self.flags(flags);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), ()> {
        self.0 |= match item {
            ClassSetItem::Bracketed(_) => true,
            ClassSetItem::Perl(class) => class.negated,
            _ => false,
        };
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<(), ()> {
        self.0 = true;
        Ok(())
    }
}

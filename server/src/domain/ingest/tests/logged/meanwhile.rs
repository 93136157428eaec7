//! Reports that come while other rules count than those that their node was judged by.

use super::rules::{DOUBLE, IGNORED, XID_48, judge_those_due, send_later, stands, start_with};
use super::*;
use crate::domain::correlate::judge_again;

fn told() -> (Verdict, Vec<String>) {
    (Verdict::Broken, vec!["xid/48-double-bit-ecc".to_owned()])
}

#[tokio::test]
async fn a_report_before_the_node_is_judged_anew_hides_nothing() {
    let mut door = door_by(&[owned(XID_48)], IGNORED, &[]).await;
    let fault = readable(with_line("told", 10, ("before", DOUBLE)));
    assert_eq!(send_later(&door, &fault, 1).await, Verdict::Healthy);
    // The server is started without the rule, and did not come to the node yet.
    door.correlator = Arc::new(Correlator::new());
    judge_again(door.store.as_ref(), &door.correlator, &door.generation)
        .await
        .unwrap();
    send_later(&door, &run("unread", 20, &[0, 1], false), 2).await;
    assert_eq!(stands(&door).await, told());
    judge_those_due(&door).await;
    assert_eq!(stands(&door).await, told());
}

#[tokio::test]
async fn a_line_that_a_policy_ignored_is_no_sign_that_its_fault_is_over() {
    let mut door = door_with(&[XID_48]).await;
    let with_fault = |id, minute| readable(with_line(id, minute, ("before", DOUBLE)));
    assert_eq!(
        send_later(&door, &with_fault("first", 10), 1).await,
        Verdict::Broken
    );
    start_with(&mut door, IGNORED).await;
    for (body, minutes) in [
        (with_fault("again", 20), 2),
        (run("unread", 30, &[0, 1], false), 3),
    ] {
        assert_eq!(send_later(&door, &body, minutes).await, Verdict::Healthy);
    }
    start_with(&mut door, "").await;
    assert_eq!(stands(&door).await, told());
}

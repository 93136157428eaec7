//! How often an Xid came, and when last.

use std::fs;

use fake_gpu::scenario::Condition;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::passive::{GPU, daemon, looked, metrics, node, xid};
use crate::tree::write;

#[test]
fn equal_xids_of_two_looks_count_two_and_have_the_time_of_the_last() {
    let node = node(Condition::default());
    write(&node.path(""), "host/proc/uptime", "7200.00 100.00\n");
    let log = |number: u64, seconds: u64| {
        let text = format!(
            "3,{number},{seconds}000000,-;{}\n",
            xid(79, "GPU has fallen off the bus.")
        );
        let path = node.path("host/dev/kmsg");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, before + &text).unwrap();
    };
    let last = || {
        let report = looked(&node);
        let counter = report.health.unwrap().counters.remove(0);
        let time = |text: &str| OffsetDateTime::parse(text, &Rfc3339).unwrap();
        let at = time(&counter.last_at);
        let age = (time(&report.finished_at) - at).whole_seconds();
        (counter.count, age, at)
    };
    log(2, 0);
    assert_eq!(daemon(&node, &[]).code, 2);
    let (count, age, _) = last();
    assert!(count == 1 && (7_140..7_260).contains(&age), "{count} {age}");
    log(3, 3_600);
    assert_eq!(daemon(&node, &[]).code, 2);
    let (count, age, at) = last();
    assert!(count == 2 && (3_540..3_660).contains(&age), "{count} {age}");
    let metrics = metrics(&node);
    let labels = format!("{{gpu=\"{GPU}\",xid=\"79\"}}");
    assert!(
        metrics.contains(&format!("peerless_agent_xids_total{labels} 2\n")),
        "{metrics}"
    );
    let told = format!("peerless_agent_xid_last_timestamp_seconds{labels} ");
    let told = metrics.lines().find_map(|line| line.strip_prefix(&told)).unwrap();
    let told: f64 = told.parse().unwrap();
    let expected = at.unix_timestamp();
    assert!(
        (told - f64::from(u32::try_from(expected).unwrap())).abs() < 2.0,
        "{told} {expected}"
    );
    // A look that sees nothing new changes neither.
    assert_eq!(daemon(&node, &[]).code, 2);
    assert_eq!((last().0, last().2), (2, at));
}

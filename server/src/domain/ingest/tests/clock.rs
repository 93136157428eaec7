//! Clocks that are wrong: no fault stays hidden behind health that a wrong clock has put after it.

use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use super::warned::{all, measured};
use super::{Door, Verdict, run, standing};
use crate::domain::ingest::Arrival;

const NOON: OffsetDateTime = datetime!(2026-11-21 12:00 UTC);

/// A report of two GPUs whose run ended so many minutes from noon by the node's clock.
fn ended(id: &str, minutes: i64, is_broken: bool) -> Value {
    at(NOON + Duration::minutes(minutes), run(id, 0, &[0, 1], is_broken))
}

/// The same run, ended then by the node's clock.
fn at(ended: OffsetDateTime, mut run: Value) -> Value {
    let time = |time: OffsetDateTime| json!(time.format(&Rfc3339).unwrap());
    run["started_at"] = time(ended - Duration::seconds(30));
    run["finished_at"] = time(ended);
    run
}

/// Sends reports one minute after the other from noon on; `ahead`: minutes that the sender's clock is ahead, where it tells.
async fn after(reports: &[(Value, Option<i64>)]) -> String {
    let door = Door::open().await;
    for (minute, (body, ahead)) in (0_i64..).zip(reports) {
        let received_at = NOON + Duration::minutes(minute);
        let arrival = Arrival {
            received_at,
            sent_at: ahead.map(|ahead| received_at + Duration::minutes(ahead)),
        };
        door.send_at(body.to_string().as_bytes(), arrival).await.unwrap();
    }
    standing(&door).await.0
}

#[tokio::test]
async fn health_of_the_future_hides_no_fault_that_comes_later() {
    for ahead in [4, 120, 400 * 24 * 60, 70 * 365 * 24 * 60] {
        let (health, fault) = (ended("health", ahead, false), ended("fault", -1, true));
        assert_eq!(
            after(&[(health.clone(), None), (fault.clone(), None)]).await,
            "fault"
        );
        // The clock was set right between the two.
        assert_eq!(after(&[(health, None), (fault, Some(0))]).await, "fault");
    }
}

#[tokio::test]
async fn health_ends_a_fault_of_the_future() {
    let fault = ended("fault", 60, true);
    let health = ended("health", 1, false);
    let other = ended("other", 0, false);
    assert_eq!(
        after(&[(fault.clone(), None), (other, None), (health.clone(), None)]).await,
        "health"
    );
    // One that ran before the fault came does not end it: nobody knows which was first.
    let before = ended("health", -1, false);
    assert_eq!(after(&[(fault, None), (before, None)]).await, "fault");
}

#[tokio::test]
async fn a_clock_that_is_behind_hides_no_fault() {
    let (health, fault) = (ended("health", -1, false), ended("fault", -600, true));
    // Ten hours behind: it ended just now.
    let behind = after(&[(health.clone(), Some(0)), (fault.clone(), Some(-599))]).await;
    assert_eq!(behind, "fault");
    // Out of the spool: it is over.
    let waited = after(&[(health.clone(), Some(0)), (fault.clone(), Some(0))]).await;
    assert_eq!(waited, "health");
    // Nobody knows: the fault is told.
    let unknown = after(&[(health, None), (fault.clone(), None)]).await;
    assert_eq!(unknown, "fault");
    // Health whose clock is behind ends the fault all the same.
    let mended = ended("mended", -598, false);
    assert_eq!(
        after(&[(fault, Some(-600)), (mended, Some(-600))]).await,
        "mended"
    );
}

#[tokio::test]
async fn an_alarm_with_a_clock_that_is_behind_ends_proven_health() {
    let health = ended("health", -1, false);
    let mut failed = ended("failed", -600, false);
    failed["pairs"] = json!([]);
    failed["conclusion"] =
        json!({"verdict": "unknown", "exit_code": 3, "reason": "the driver does not start"});
    failed["failures"] =
        json!([{ "step": "cuInit", "code": 802, "code_name": null, "message": "not ready" }]);
    for ahead in [None, Some(-600)] {
        let reports = [(health.clone(), ahead.map(|_| 0)), (failed.clone(), ahead)];
        assert_eq!(after(&reports).await, "failed");
    }
    assert_eq!(after(&[(health, Some(0)), (failed, Some(0))]).await, "health");
}

/// A report of two GPUs whose run ended so many seconds from noon by the node's clock.
fn ended_at(id: &str, seconds: i64, is_broken: bool) -> Value {
    at(NOON + Duration::seconds(seconds), ended(id, 0, is_broken))
}

/// Sends reports, each with the seconds from noon when it comes and when its sender says that it was sent.
async fn sent(reports: &[(Value, i64, i64)]) -> String {
    let door = Door::open().await;
    for (body, comes, says) in reports {
        let arrival = Arrival {
            received_at: NOON + Duration::seconds(*comes),
            sent_at: Some(NOON + Duration::seconds(*says)),
        };
        door.send_at(body.to_string().as_bytes(), arrival).await.unwrap();
    }
    standing(&door).await.0
}

#[tokio::test]
async fn a_clock_that_steps_less_than_is_told_of_hides_no_fault() {
    for by in [3, 10, 60, 95, 119] {
        let (health, fault) = (ended_at("health", -5, false), ended_at("fault", -1 - by, true));
        // Stepped back after the health.
        let stepped = sent(&[(health.clone(), -4, -4), (fault.clone(), 0, -by)]).await;
        assert_eq!(stepped, "fault", "back by {by} s");
        // In either order of arrival.
        let other = sent(&[(fault, 0, -by), (health, 1, 1)]).await;
        assert_eq!(other, "fault", "back by {by} s, health comes late");
        // Ahead while it was healthy, and set right then.
        let ahead = ended_at("health", -90 + by, false);
        let fault = ended_at("fault", -80, true);
        let set_right = sent(&[(ahead, -89, -89 + by), (fault, -79, -79)]).await;
        assert_eq!(set_right, "fault", "ahead by {by} s");
    }
}

#[tokio::test]
async fn a_clock_that_is_a_little_wrong_does_not_keep_faults() {
    for by in [-119, -60, -3, 3, 60, 119] {
        let fault = ended_at("fault", -60 + by, true);
        let mended = ended_at("mended", -31 + by, false);
        let told = sent(&[(fault, -59, -59 + by), (mended, -30, -30 + by)]).await;
        assert_eq!(told, "mended", "{by} s");
    }
}

/// A report of this boot.
fn booted(mut report: Value, boot: &str) -> Value {
    report["node"]["boot_id"] = json!(boot);
    report
}

#[tokio::test]
async fn a_fault_in_a_boot_that_no_later_report_is_of_is_hidden_by_no_clock_that_is_behind() {
    let years = 26 * 365 * 24 * 60;
    let health = booted(ended("health", -60, false), "a");
    for (minutes, boot) in [(-years, "b"), (-years, "a"), (-90, "b")] {
        let fault = booted(ended("fault", minutes, true), boot);
        let told = after(&[(health.clone(), Some(0)), (fault.clone(), Some(0))]).await;
        assert_eq!(told, "fault", "{minutes} {boot}");
        // A proof after it ends it.
        let mended = (booted(ended("mended", 1, false), "c"), Some(0));
        let told = after(&[(health.clone(), Some(0)), (fault, Some(0)), mended]).await;
        assert_eq!(told, "mended", "{minutes} {boot}");
    }
    // Between two reports of one other boot it cannot have been.
    let earlier = booted(ended("earlier", -120, false), "a");
    let fault = booted(ended("fault", -90, true), "b");
    let told = after(&[(earlier, Some(0)), (health.clone(), Some(0)), (fault, Some(0))]).await;
    assert_eq!(told, "fault");
}

#[tokio::test]
async fn a_fault_that_waited_and_fits_between_the_boots_is_over() {
    let health = booted(ended("health", -60, false), "c");
    for earlier in [
        booted(ended("earlier", -120, false), "a"),
        booted(ended("earlier", -120, false), "b"),
    ] {
        let fault = booted(ended("fault", -90, true), "b");
        let told = after(&[(earlier, Some(0)), (health.clone(), Some(0)), (fault, Some(0))]).await;
        assert_eq!(told, "health");
    }
    // A later report is of its boot.
    let fault = booted(ended("fault", -90, true), "c");
    assert_eq!(after(&[(health, Some(0)), (fault, Some(0))]).await, "health");
}

#[tokio::test]
async fn what_a_run_that_could_not_tell_warned_of_is_hidden_by_no_clock_that_is_behind() {
    let good = |id: &str, minutes: i64| at(NOON + Duration::minutes(minutes), measured(id, 0, &all(), None));
    let health = booted(good("health", -60), "a");
    let mut doubtful = booted(good("doubtful", -90), "b");
    doubtful["pairs"][0]["verdict"] = json!({
        "verdict": "unknown", "cause": "gpu_busy", "beside": ["slow_pair"], "reason": "in use",
        "evidence": ["/measurements/0"],
    });
    doubtful["conclusion"] = json!({ "verdict": "unknown", "exit_code": 3, "reason": "in use" });
    let reports = [(health, Some(0)), (doubtful, Some(0))];
    assert_eq!(after(&reports).await, "doubtful");
    let [health, (doubtful, sent)] = reports;
    let mended = (booted(good("mended", 2), "c"), Some(0));
    let told = after(&[health.clone(), (doubtful.clone(), sent), mended]).await;
    assert_eq!(told, "mended");
    // One that waited and is of the boot of the report after it.
    let told = after(&[health, (booted(doubtful, "a"), sent)]).await;
    assert_eq!(told, "health");
}

/// As from two servers, of which one has a clock that is ahead of the other's.
#[tokio::test]
async fn an_upload_comes_after_all_that_is_kept_whatever_the_servers_clocks_say() {
    let door = Door::open().await;
    let good = run("good", 20, &[0, 1], false);
    let bad = run("bad", 10, &[0, 1], true);
    for (body, minutes) in [(good, 5), (bad, 4)] {
        let arrival = Arrival {
            received_at: NOON + Duration::minutes(minutes),
            sent_at: None,
        };
        door.send_at(body.to_string().as_bytes(), arrival).await.unwrap();
    }
    let (id, verdict, _) = standing(&door).await;
    assert_eq!((id.as_str(), verdict), ("bad", Verdict::Broken));
}

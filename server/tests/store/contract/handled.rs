//! What people said of a finding, and what that covers.

use std::sync::Arc;

use kb_core::verdict::Verdict;
use peerless::store::{
    By, Causes, FindingChange, FindingStep, Judged, NewFinding, NewReport, NodeFinding, ReportSaved, Store,
    Weight,
};

use super::alerts::{NAME, RESET, group, tell, untold};
use super::fleet_summary::{finding, found};
use crate::support::{Place, at, report};

const UNNAMED: &str = "rule:verdict/broken";

/// A look, one every ten seconds, that tells of a fault by its verdict alone, and ends what the look before it told.
async fn broken(store: &dyn Store, second: i64, causes: &[&str], ends_last: bool) {
    let judged = Judged {
        reports: u32::try_from(second / 10 - 1).unwrap(),
        ends: vec![format!("r{}", second - 10).parse().unwrap()],
        ..Judged::default()
    };
    let sent = NewReport {
        simulated: false,
        verdict: Verdict::Broken,
        weight: Weight::Alarm,
        causes: Causes {
            names: causes.iter().map(|name| (*name).to_owned()).collect(),
            ..Causes::default()
        },
        judged: ends_last.then_some(judged),
        found: found(vec![NewFinding {
            title: format!("{causes:?}"),
            ..finding(None, "verdict/broken", RESET)
        }]),
        ..report("n1", &format!("r{second}"), second)
    };
    assert_eq!(store.save_report(sent).await.unwrap(), ReportSaved::Stored);
}

async fn take_step(store: &dyn Store, name: &str, step: FindingStep, second: i64) {
    let change = FindingChange {
        node: "n1".parse().unwrap(),
        name: name.to_owned(),
        step,
        by: By::system("ada"),
        at: at(second),
    };
    assert!(store.change_finding(change).await.unwrap());
}

async fn finding_of(store: &dyn Store, name: &str) -> NodeFinding {
    let findings = store.node_findings(&"n1".parse().unwrap()).await.unwrap();
    findings.into_iter().find(|finding| finding.name == name).unwrap()
}

/// All faults without a record have one name on their node.
pub(crate) async fn a_silence_covers_the_fault_that_was_seen(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let until = at(10_000);
    let silence = || FindingStep::Silence {
        until,
        note: Some("vendor case".to_owned()),
    };
    let news = [("n1".to_owned(), false)];
    broken(store, 10, &["gpu:GPU-1", "state:ecc@1", "state:ecc@2"], false).await;
    tell(store, 11, group(UNNAMED, false, &["n1"])).await;
    take_step(store, UNNAMED, silence(), 12).await;
    // The same, or a part of it, of a longer run of other GPUs.
    broken(store, 20, &["gpu:GPU-2", "run", "state:ecc@1"], true).await;
    assert_eq!(untold(store, 21).await, []);
    assert!(finding_of(store, UNNAMED).await.handling.is_some());
    // Another GPU, while what was seen is open, and after that.
    for (second, causes, ends_last) in [
        (30, ["state:ecc@1", "state:remap@0"], false),
        (40, ["state:lost@3", "state:remap@0"], true),
    ] {
        broken(store, second, &causes, ends_last).await;
        assert_eq!(untold(store, second + 1).await, news);
        let finding = finding_of(store, UNNAMED).await;
        assert_eq!((finding.handling, finding.opened_at), (None, at(second - 5)));
        assert_eq!(finding.title, format!("{causes:?}"));
        take_step(store, UNNAMED, silence(), second + 2).await;
        assert_eq!(untold(store, second + 3).await, []);
    }
    // Nobody said anything of it, and it was told.
    take_step(store, UNNAMED, FindingStep::Release, 45).await;
    tell(store, 46, group(UNNAMED, false, &["n1"])).await;
    broken(store, 50, &["state:lost@3", "state:lost@4"], true).await;
    assert_eq!(untold(store, 51).await, news);
}

pub(crate) async fn an_acknowledgement_covers_no_other_gpu(place: Arc<Place>) {
    let store = place.store().await;
    let store = store.as_ref();
    let lost = async |second: i64, gpus: &[&str]| {
        let subject = |gpu: &&str| NewFinding {
            subject: (*gpu).to_owned(),
            ..finding(None, "xid-79", RESET)
        };
        let sent = NewReport {
            simulated: false,
            found: found(gpus.iter().map(subject).collect()),
            ..report("n1", &format!("r{second}"), second)
        };
        store.save_report(sent).await.unwrap();
    };
    lost(10, &["GPU 1", "report"]).await;
    take_step(store, NAME, FindingStep::Acknowledge { note: None }, 11).await;
    lost(20, &["GPU 1"]).await;
    assert_eq!(untold(store, 21).await, []);
    lost(30, &["GPU 1", "GPU 5"]).await;
    assert_eq!(untold(store, 31).await, [("n1".to_owned(), false)]);
    assert_eq!(finding_of(store, NAME).await.handling, None);
}

//! What a run comes to beside what is open on the node.

use kb_core::health::Entry;
use kb_core::policy::Policy;
use kb_core::report::{Fact, Node};
use kb_core::verdict::Verdict;

use super::*;

fn report() -> Report {
    let sample = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
    serde_json::from_str(sample).unwrap()
}

fn entry(cause: &str, device: &str, bearing: &str) -> Entry {
    serde_json::from_value(serde_json::json!({
        "id": format!("{cause}@{device}"), "cause": cause, "nature": "event", "bearing": bearing, "device": device,
        "count": 1, "first_at": "2026-11-24T10:00:00Z", "last_at": "2026-11-24T10:00:00Z", "text": bearing,
    }))
    .unwrap()
}

fn health(entries: &[Entry]) -> Health {
    let mut ledger = Ledger::default();
    ledger.add_open(entries.to_vec());
    ledger.health(Vec::new())
}

#[test]
fn a_run_has_what_the_daemon_of_the_node_tells_or_says_that_it_could_not_be_read() {
    let of = |told| of_run_beside(told, &report(), Scope::All, &Policy::default());
    assert_eq!(of(Ok(None)), None, "no daemon");
    let unread = of(Err("permission denied".to_owned())).unwrap();
    assert_eq!(unread.verdict, Verdict::Unknown);
    assert_eq!(
        (&*unread.unread[0].what, &*unread.unread[0].why),
        (LEDGER, "permission denied")
    );
    let mut ledger = Ledger::default();
    ledger.add_open(vec![entry("xid", "node", "fault")]);
    let told = of(Ok(Some(ledger))).unwrap();
    assert_eq!((told.verdict, told.open.len()), (Verdict::Broken, 1));
    let quiet = of(Ok(Some(Ledger::default()))).unwrap();
    assert_eq!((quiet.verdict, quiet.open), (Verdict::NoFaultSeen, Vec::new()));
}

#[test]
fn of_two_ledgers_the_worst_is_the_verdict_and_stands_first() {
    let own = health(&[
        entry("throttled", "a", "warning"),
        entry("log_missed", "node", "unknown"),
    ]);
    let of_node = health(&[entry("xid", "b", "fault"), entry("throttled", "a", "fault")]);
    for (one, other) in [(&own, &of_node), (&of_node, &own)] {
        let merged = both(one.clone(), other.clone());
        assert_eq!(merged.verdict, Verdict::Broken);
        let mut open: Vec<(&str, &str)> = merged
            .open
            .iter()
            .map(|entry| (entry.id.as_str(), entry.text.as_str()))
            .collect();
        assert_eq!(open.pop(), Some(("log_missed@node", "unknown")));
        open.sort_unstable();
        assert_eq!(open, [("throttled@a", "fault"), ("xid@b", "fault")]);
    }
    let unread = without_ledger(health(&[]), "gone");
    let merged = both(health(&[entry("throttled", "a", "warning")]), unread);
    assert_eq!((merged.verdict, merged.unread.len()), (Verdict::Unknown, 1));
}

#[test]
fn a_lost_gpu_shifts_the_numbers_of_those_behind_it() {
    let report = report();
    let addresses = report.gpus.iter().filter_map(|gpu| gpu.pci_address.value.clone());
    let farthest = addresses.max().unwrap();
    let is_in_doubt =
        |cause, device: &str| numbers_are_in_doubt(&health(&[entry(cause, device, "fault")]), &report.gpus);
    assert!(is_in_doubt(cause::GPU_LOST, "0000:00:00.0"));
    assert!(!is_in_doubt(cause::GPU_LOST, &farthest));
    assert!(!is_in_doubt(cause::GPU_LOST, "ffff:00:00.0"));
    assert!(!is_in_doubt("xid", "0000:00:00.0"));
}

/// Without a machine id and a boot id an agent knows neither itself nor whose the ledger is.
#[test]
fn a_ledger_stays_where_it_is_for_an_agent_that_cannot_name_its_node() {
    let folder = tempfile::tempdir().unwrap();
    let file = LedgerFile::of(folder.path().to_owned());
    let now = OffsetDateTime::UNIX_EPOCH;
    let known = report().node;
    let open = || vec![entry("xid", "node", "fault")];
    let kept = file.update(now, Some(&known), |ledger| ledger.add_open(open()));
    assert_eq!(kept.unwrap().unkept, None);
    let before = std::fs::read(file.path()).unwrap();
    let nobody = Node {
        id: "unnamed".parse().unwrap(),
        hostname: None,
        boot_id: None,
    };
    let refused = file.update(now, Some(&nobody), |_| ()).map(|_| ());
    assert!(refused.unwrap_err().contains("cannot be told"));
    let unread = file.note_run(
        &HostRoot::new(folder.path()),
        &report_of(&nobody),
        Scope::All,
        now,
    );
    assert_eq!(unread.value.unread.last().unwrap().what, LEDGER);
    assert_eq!(unread.value.verdict, Verdict::Unknown);
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
    let read = file.read(Some(&known)).unwrap().unwrap();
    assert_eq!(read.health(Vec::new()).open.len(), 1);
}

/// Another process that reads the file gives the next place to something else.
#[test]
fn what_could_not_be_kept_is_told_without_a_place_in_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let file = LedgerFile::of(folder.path().to_owned());
    let now = OffsetDateTime::UNIX_EPOCH;
    let mut report = report();
    let kept = file.update(now, Some(&report.node), |ledger| {
        ledger.add_open(vec![entry("xid", "node", "fault")]);
    });
    assert_eq!(kept.unwrap().unkept, None);
    let failed = Fact::read(serde_json::json!(true), "nvml");
    report.gpus[0]
        .facts
        .insert("remapped_rows.failure".to_owned(), failed);
    let root = HostRoot::new(folder.path());
    let lock = folder.path().join("ledger.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let mut unkept = None;
    let mut told = || {
        let health = file.observe(&root, (&report, Scope::All), &Policy::default(), now, &mut unkept);
        let open = health.open.into_iter();
        let (placed, others): (Vec<Entry>, Vec<Entry>) = open.partition(|entry| entry.order.is_some());
        (placed.len(), others.len())
    };
    for _ in 0..2 {
        let (placed, others) = told();
        assert_eq!(placed, 1, "what was kept before");
        assert!(others > 0);
    }
    std::fs::remove_dir(&lock).unwrap();
    let (placed, others) = told();
    assert!(placed > 1);
    assert_eq!(others, 0);
}

fn report_of(node: &Node) -> Report {
    Report {
        node: node.clone(),
        ..report()
    }
}

/// A container has no device for the kernel's log, and syslog's file of the node.
#[test]
fn what_a_run_in_a_container_told_in_a_new_boot_the_daemon_does_not_count_again() {
    let (container, node) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |folder: &std::path::Path, path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let line = |seconds: u32, number: u32| {
        let message = format!("NVRM: Xid (PCI:0000:3b:00): {number}, x");
        let syslog = format!("Nov 24 10:00:00 gpu-17 kernel: [{seconds:5}.000000] {message}\n");
        (syslog, format!("3,{seconds},{seconds}000000,-;{message}\n"))
    };
    let (first, second, third) = (line(10, 79), line(20, 79), line(30, 79));
    let begins = "Nov 24 10:00:00 gpu-17 kernel: [    0.000000] Linux version 6.8.0\n";
    let seen_by_container = [begins, &first.0, &second.0].concat();
    write(container.path(), "var/log/kern.log", &seen_by_container);
    let kmsg = ["6,0,0,-;Linux version 6.8.0\n", &first.1, &second.1, &third.1].concat();
    write(node.path(), "dev/kmsg", &kmsg);
    let now = time::macros::datetime!(2026-11-24 10:00 UTC);
    let mut report = report();
    report.node.boot_id = Some("b".to_owned());
    let mut ledger = Ledger::default();
    ledger.log = Some(kb_core::health::LogPlace {
        boot_id: Some("a".to_owned()),
        place: kb_core::health::Place::Kmsg {
            sequence: 500,
            forms: 0,
        },
    });
    let policy = Policy::default();
    let count = |health: &Health| {
        let mut entries = health.open.iter().filter(|entry| entry.number == Some(79));
        entries.next().map(|entry| entry.count)
    };
    let root = HostRoot::new(container.path());
    let taken = run::take_in(&mut ledger, &root, (&report, Scope::All), &policy, now);
    assert_eq!(count(&taken.health), Some(2));
    let root = HostRoot::new(node.path());
    // What was cleared in between is not told again, and the third is.
    let mut cleared = ledger.clone();
    cleared
        .clear("xid", "exchanged", "ops", "2026-11-24T10:00:00Z")
        .unwrap();
    let health = take_in(&mut cleared, &root, (&report, Scope::All), &policy, now);
    assert_eq!(count(&health), Some(1));
    for _ in 0..2 {
        let health = take_in(&mut ledger, &root, (&report, Scope::All), &policy, now);
        // The third is in the kernel's own log alone.
        assert_eq!(count(&health), Some(3));
    }
}

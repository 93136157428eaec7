//! How states and events open, count and end.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

mod admission;
mod bus;
mod counted;
mod doubt;
mod endings;
mod lifetime;
mod links;
mod missing;
mod orders;
mod policy;
mod recovery;
mod sentences;

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Bearing, Entry, Health, Ledger, Look, Occurrence, conclude, read_line};
use crate::report::{Fact, Gap, GapKind, ReasonCode, Report};

const HEALTHY: &str = include_str!("../../../tests/data/reports/h200-x2-ladder.json");
const GPU_0: &str = "0000:00:06.0";

/// A look at two GPUs in a boot: the sample of real hardware without its checks, and with an NVML that answers.
fn looked(boot: &str) -> Report {
    let mut report: Report = serde_json::from_str(HEALTHY).unwrap();
    report.node.boot_id = Some(boot.to_owned());
    report.finished_at = "2026-11-24T10:00:00Z".to_owned();
    let nvml = Fact::read(json!("580.159.04"), "nvmlSystemGetDriverVersion");
    report.host.insert("nvml.driver_version".to_owned(), nvml);
    for direction in report.pairs.iter_mut().flat_map(|pair| &mut pair.directions) {
        direction.checks.clear();
    }
    for gpu in &mut report.gpus {
        for (name, value) in [
            ("recovery.action", json!("none")),
            ("remapped_rows.pending", json!(false)),
            ("remapped_rows.failure", json!(false)),
            ("ecc.volatile_uncorrected", json!(0)),
            ("nvlink.links_active", json!(18)),
            ("nvlink.links_expected", json!(18)),
            ("fabric.state", json!("completed")),
            ("fabric.status", json!("success")),
            ("throttle.reasons", json!(["sw_power_cap"])),
            ("pcie.link_width", json!(16)),
            ("pcie.link_width_max", json!(16)),
        ] {
            gpu.facts.insert(name.to_owned(), Fact::read(value, "nvml"));
        }
    }
    crate::verdict::judge(&mut report, crate::verdict::Expect::Auto);
    report
}

/// A run in a boot that proved both GPUs.
fn proven(boot: &str) -> Report {
    let mut report: Report = serde_json::from_str(HEALTHY).unwrap();
    report.node.boot_id = Some(boot.to_owned());
    report.finished_at = "2026-11-21T10:00:00Z".to_owned();
    crate::verdict::judge(&mut report, crate::verdict::Expect::Auto);
    assert_eq!(
        report.conclusion.verdict.word(),
        "healthy",
        "{:?}",
        report.conclusion
    );
    report
}

/// The same with minutes of load that passed.
fn admitted(boot: &str) -> Report {
    let mut report = proven(boot);
    crate::verdict::tests::load::add_load(&mut report);
    assert_eq!(crate::verdict::not_admitted(&report), None);
    report
}

fn set(report: &mut Report, gpu: usize, name: &str, value: Value) {
    report.gpus[gpu]
        .facts
        .insert(name.to_owned(), Fact::read(value, "nvml"));
}

fn gap(report: &mut Report, gpu: usize, name: &str, kind: GapKind, reason: &str) {
    report.gpus[gpu]
        .facts
        .insert(name.to_owned(), Fact::missing(kind, reason, "nvml"));
}

/// Takes in a look at some GPUs, with lines of the log.
fn look(ledger: &mut Ledger, report: &Report, lines: &[&str]) -> Health {
    take_in(ledger, Look::of(report), report, lines)
}

fn look_at_all(ledger: &mut Ledger, report: &Report, lines: &[&str]) -> Health {
    take_in(ledger, Look::of_all(report), report, lines)
}

fn take_in(ledger: &mut Ledger, mut look: Look, report: &Report, lines: &[&str]) -> Health {
    look.events = lines
        .iter()
        .map(|line| Occurrence {
            event: read_line(line).unwrap_or_else(|| panic!("{line}")),
            at: report.finished_at.clone(),
            boot_id: report.node.boot_id.clone(),
            is_in_doubt: false,
        })
        .collect();
    ledger.look(&look);
    ledger.health(look.unread)
}

/// The only entry that is open.
fn only(health: &Health) -> &Entry {
    assert_eq!(health.open.len(), 1, "{:?}", health.open);
    &health.open[0]
}

fn reason(report: &mut Report, health: Health) -> String {
    let now = OffsetDateTime::parse("2026-11-24T10:00:05Z", &Rfc3339).unwrap();
    conclude(report, health, now);
    report.conclusion.reason.clone()
}

fn xid(device: &str, rest: &str) -> String {
    let slot = device.trim_end_matches(".0");
    format!("NVRM: Xid (PCI:{slot}): {rest}")
}

/// Of each thing that is looked at, by its name: good, then bad, then good again.
#[test]
fn each_state_opens_when_it_reads_bad_and_ends_when_it_reads_good() {
    for (name, bad, cause, bearing) in [
        (
            "recovery.action",
            json!("reboot"),
            "recovery_action",
            Bearing::Fault,
        ),
        (
            "recovery.action",
            json!("unrecognised (5)"),
            "recovery_action",
            Bearing::Fault,
        ),
        (
            "remapped_rows.failure",
            json!(true),
            "remap_failed",
            Bearing::Fault,
        ),
        (
            "remapped_rows.pending",
            json!(true),
            "remap_pending",
            Bearing::Fault,
        ),
        (
            "ecc.sram_threshold_exceeded",
            json!(true),
            "sram_errors",
            Bearing::Fault,
        ),
        (
            "fabric.state",
            json!("in_progress"),
            "fabric_not_ready",
            Bearing::Fault,
        ),
        (
            "fabric.status",
            json!("timeout"),
            "fabric_not_ready",
            Bearing::Fault,
        ),
        (
            "fabric.health",
            json!(["route_unhealthy"]),
            "fabric_unhealthy",
            Bearing::Warning,
        ),
        ("nvlink.links_active", json!(17), "links_down", Bearing::Warning),
        (
            "pcie.link_width",
            json!(8),
            "pcie_link_degraded",
            Bearing::Warning,
        ),
        (
            "throttle.reasons",
            json!(["hw_thermal_slowdown"]),
            "throttled",
            Bearing::Warning,
        ),
    ] {
        let mut ledger = Ledger::default();
        let mut report = looked("a");
        for gpu in 0..2 {
            for (name, good) in [
                ("ecc.sram_threshold_exceeded", json!(false)),
                ("fabric.health", json!([])),
            ] {
                set(&mut report, gpu, name, good);
            }
        }
        let good = report.clone();
        set(&mut report, 0, name, bad);
        let health = look(&mut ledger, &report, &[]);
        let entry = only(&health);
        assert_eq!((entry.cause.as_str(), entry.bearing), (cause, bearing), "{name}");
        assert_eq!(entry.device, GPU_0);
        let verdict = if bearing == Bearing::Fault {
            "broken"
        } else {
            "degraded"
        };
        assert_eq!(health.verdict.word(), verdict, "{name}");
        let health = look(&mut ledger, &good, &[]);
        assert_eq!(health.open, []);
        assert_eq!(health.verdict.word(), "no_fault_seen");
    }
}

#[test]
fn an_idle_gpu_tells_nothing_of_what_held_it_down() {
    let mut ledger = Ledger::default();
    let good = looked("a");
    let with = |reasons: &[&str]| {
        let mut report = good.clone();
        set(&mut report, 0, "throttle.reasons", json!(reasons));
        report
    };
    // Idle alone is no warning, and nothing that could not be read.
    let health = look(&mut ledger, &with(&["gpu_idle"]), &[]);
    assert_eq!((health.open.len(), health.unread.len()), (0, 0));
    look(&mut ledger, &with(&["hw_thermal_slowdown"]), &[]);
    let health = look(&mut ledger, &with(&["gpu_idle"]), &[]);
    assert_eq!(only(&health).cause, "throttled");
    // A new boot says nothing of it, either.
    let mut booted = with(&["gpu_idle"]);
    booted.node.boot_id = Some("b".to_owned());
    let health = look(&mut ledger, &booted, &[]);
    assert_eq!(only(&health).cause, "throttled");
    // At work, and nothing holds it down.
    assert_eq!(look(&mut ledger, &good, &[]).open, []);
}

#[test]
fn a_gpu_that_nvml_calls_lost_is_a_fault_and_nothing_else_of_it_is_asked_for() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    for name in ["recovery.action", "remapped_rows.pending", "throttle.reasons"] {
        let gap = Gap::new(GapKind::Failed, "x").coded(ReasonCode::GpuLost);
        let facts = &mut report.gpus[0].facts;
        facts.insert(name.to_owned(), Fact::without(gap, "nvml"));
    }
    let health = look(&mut ledger, &report, &[]);
    assert_eq!(only(&health).id, format!("gpu_lost@{GPU_0}"));
    assert_eq!(health.unread, []);
    assert_eq!(health.verdict.word(), "broken");
}

#[test]
fn what_could_not_be_read_is_told_and_what_a_gpu_does_not_have_is_not() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    gap(
        &mut report,
        0,
        "remapped_rows.pending",
        GapKind::NotSupported,
        "no",
    );
    assert_eq!(look(&mut ledger, &report, &[]).verdict.word(), "no_fault_seen");
    gap(
        &mut report,
        0,
        "remapped_rows.pending",
        GapKind::NoPermission,
        "no",
    );
    let health = look(&mut ledger, &report, &[]);
    assert_eq!(health.unread[0].what, format!("remapped_rows.pending@{GPU_0}"));
    assert_eq!(health.verdict.word(), "unknown");
    // What is wrong is told beside it, and a fault outweighs it.
    set(&mut report, 0, "remapped_rows.failure", json!(true));
    assert_eq!(look(&mut ledger, &report, &[]).verdict.word(), "broken");

    let mut without = looked("a");
    let gap = Fact::missing(GapKind::NotSupported, "NVML cannot be used", "nvml");
    without.host.insert("nvml.driver_version".to_owned(), gap);
    let health = look(&mut Ledger::default(), &without, &[]);
    assert_eq!((health.unread.len(), health.verdict.word()), (1, "unknown"));
    without.gpus.clear();
    let health = look(&mut Ledger::default(), &without, &[]);
    assert_eq!(health.unread[1].what, "gpus");
}

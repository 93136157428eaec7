//! A fault of the hardware ends by an admission or a clear, another event also by a proof after a new boot, and by nothing else.

use serde_json::json;

use super::super::{Bearing, Ledger, Look, Missed, Nature};
use super::{GPU_0, admitted, gap, look, look_at_all, looked, only, proven, set, xid};
use crate::policy::Policy;
use crate::report::{Absence, AbsentGpu, Fact, Gap, GapKind, ReasonCode};
use crate::verdict::Verdict;

#[test]
fn an_xid_outlives_looks_boots_and_proofs_of_its_own_boot() {
    let mut ledger = Ledger::default();
    let line = xid(
        GPU_0,
        "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    );
    let health = look(&mut ledger, &looked("a"), &[&line]);
    let entry = only(&health);
    assert_eq!((entry.nature, entry.bearing), (Nature::Event, Bearing::Fault));
    assert_eq!(
        entry.record.as_ref().unwrap().as_str(),
        "xid/79-gpu-has-fallen-off-the-bus"
    );
    ledger.proof(&admitted("a"), &Policy::default());
    assert_eq!(look(&mut ledger, &looked("a"), &[]).verdict, Verdict::Broken);
    assert_eq!(look(&mut ledger, &looked("b"), &[]).verdict, Verdict::Broken);
    ledger.proof(&proven("b"), &Policy::default());
    assert_eq!(look(&mut ledger, &looked("b"), &[]).verdict, Verdict::Broken);
    // A run that failed, or told nothing, is no proof.
    let mut failed = admitted("b");
    failed.conclusion.verdict = Verdict::Unknown;
    ledger.proof(&failed, &Policy::default());
    ledger.proof(&looked("b"), &Policy::default());
    assert_eq!(look(&mut ledger, &looked("b"), &[]).verdict, Verdict::Broken);
    ledger.proof(&admitted("b"), &Policy::default());
    let health = look(&mut ledger, &looked("b"), &[]);
    assert_eq!((health.open.len(), health.verdict), (0, Verdict::NoFaultSeen));
    assert_eq!(health.counters[0].count, 1, "counters go on");
}

#[test]
fn a_boot_that_is_not_known_ends_nothing() {
    for (event, proof) in [(None, Some("b")), (Some("a"), None)] {
        let mut ledger = Ledger::default();
        let mut report = looked("a");
        report.node.boot_id = event.map(str::to_owned);
        look(&mut ledger, &report, &[&xid(GPU_0, "48, x")]);
        let mut run = admitted("b");
        run.node.boot_id = proof.map(str::to_owned);
        ledger.proof(&run, &Policy::default());
        assert_eq!(look(&mut ledger, &looked("b"), &[]).verdict, Verdict::Broken);
    }
}

#[test]
fn a_proof_ends_events_of_the_gpus_that_it_proved_alone() {
    let line = xid(GPU_0, "48, x");
    let switch = "nvidia-nvswitch2: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 30 LTSSM Fault Up";
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    // A third GPU, so that a run over two is one over a part.
    let mut third = report.gpus[1].clone();
    third.pci_address.value = Some("0000:00:09.0".to_owned());
    report.gpus.push(third);
    look(
        &mut ledger,
        &report,
        &[&line, &xid("0000:00:09.0", "48, x"), switch],
    );
    ledger.proof(&admitted("b"), &Policy::default());
    let health = ledger.health(Vec::new());
    let open: Vec<&str> = health.open.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(open, ["xid-48@0000:00:09.0", "sxid-20034@0000:c5:00.0"]);
    assert_eq!(health.last_proof, None, "a run over a part proves no node");

    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[switch]);
    ledger.proof(&admitted("b"), &Policy::default());
    assert_eq!(ledger.health(Vec::new()).verdict, Verdict::NoFaultSeen);
}

/// As a probe of some GPUs tells the ledger: first what it read of them, then what it proved.
#[test]
fn a_run_over_some_gpus_ends_nothing_of_the_others() {
    let third = "0000:00:09.0";
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    let mut gpu = report.gpus[1].clone();
    gpu.pci_address.value = Some(third.to_owned());
    report.gpus.push(gpu);
    let lines = [xid(third, "79, x"), xid(GPU_0, "48, x")];
    look_at_all(&mut ledger, &report, &[&lines[0], &lines[1]]);
    let open = |ledger: &Ledger| -> Vec<String> {
        let health = ledger.health(Vec::new());
        health.open.iter().map(|entry| entry.id.clone()).collect()
    };
    // In the new boot some are asked for.
    look(&mut ledger, &admitted("b"), &[]);
    ledger.proof(&admitted("b"), &Policy::default());
    assert_eq!(open(&ledger), [format!("xid-79@{third}")]);
    assert_eq!(ledger.health(Vec::new()).last_proof, None);
    // The third is gone from the bus: all that are left are proven, and nothing of the one that is gone.
    look_at_all(&mut ledger, &admitted("c"), &[]);
    ledger.proof(&admitted("c"), &Policy::default());
    assert_eq!(open(&ledger), [format!("xid-79@{third}")]);
    assert_eq!(
        ledger.health(Vec::new()).last_proof,
        None,
        "a run beside an open fault does not end as good"
    );
    // It is there again, and proven.
    let mut back = admitted("d");
    back.gpus[1].pci_address.value = Some(third.to_owned());
    ledger.proof(&back, &Policy::default());
    assert_eq!(open(&ledger), [""; 0]);
}

#[test]
fn uncorrected_errors_of_a_new_boot_are_all_new() {
    let mut ledger = Ledger::default();
    let mut errors = |boot: &str, count: u64| {
        let mut report = looked(boot);
        set(&mut report, 0, "ecc.volatile_uncorrected", json!(count));
        look(&mut ledger, &report, &[])
    };
    assert_eq!(only(&errors("a", 3)).count, 3);
    assert_eq!(
        only(&errors("b", 3)).count,
        6,
        "as many as before, and all of them new"
    );
    assert_eq!(only(&errors("b", 5)).count, 8);
}

#[test]
fn a_lost_gpu_without_an_address_is_kept_until_all_are_read() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    let lost = AbsentGpu::new(Absence::Lost, "number 2 of NVML's list: GPU is lost");
    report.absent.push(lost);
    assert_eq!(only(&look_at_all(&mut ledger, &report, &[])).id, "gpu_lost@node");
    let mut without_nvml = looked("a");
    let gap = Fact::missing(GapKind::Failed, "no", "nvml");
    without_nvml.host.insert("nvml.driver_version".to_owned(), gap);
    assert_eq!(
        only(&look_at_all(&mut ledger, &without_nvml, &[])).id,
        "gpu_lost@node"
    );
    // A look at some of them tells nothing of the others.
    assert_eq!(only(&look(&mut ledger, &looked("a"), &[])).id, "gpu_lost@node");
    assert_eq!(look_at_all(&mut ledger, &looked("a"), &[]).open, []);
}

#[test]
fn lines_that_were_gone_before_the_first_look_of_all_are_told_and_no_fault() {
    for (missed, verdict) in [
        (Missed::Nothing, Verdict::NoFaultSeen),
        (Missed::BeforeFirstLook, Verdict::NoFaultSeen),
        (Missed::BetweenLooks, Verdict::Degraded),
    ] {
        let mut ledger = Ledger::default();
        let mut look = Look::of(&looked("a"));
        look.missed = missed.clone();
        ledger.look(&look);
        let health = ledger.health(Vec::new());
        assert_eq!(
            (health.verdict, health.open.is_empty()),
            (verdict, missed == Missed::Nothing),
            "{missed:?}"
        );
    }
}

#[test]
fn a_look_that_cannot_read_a_state_does_not_end_it() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    set(&mut report, 0, "remapped_rows.pending", json!(true));
    look(&mut ledger, &report, &[]);
    for kind in [GapKind::Failed, GapKind::NotSupported, GapKind::NotVisible] {
        gap(&mut report, 0, "remapped_rows.pending", kind, "no");
        assert_eq!(
            look(&mut ledger, &report, &[]).verdict,
            Verdict::Broken,
            "{kind:?}"
        );
    }
    report.gpus.remove(0);
    assert_eq!(look(&mut ledger, &report, &[]).verdict, Verdict::Broken);
    ledger.proof(&proven("b"), &Policy::default());
    assert_eq!(
        look(&mut ledger, &report, &[]).verdict,
        Verdict::Broken,
        "a state is read, not proven"
    );
}

#[test]
fn uncorrected_errors_count_from_look_to_look_and_anew_after_a_reset() {
    let mut ledger = Ledger::default();
    let mut report = looked("a");
    let mut errors = |ledger: &mut Ledger, count: u64| {
        set(&mut report, 0, "ecc.volatile_uncorrected", json!(count));
        look(ledger, &report, &[])
    };
    assert_eq!(errors(&mut ledger, 0).verdict, Verdict::NoFaultSeen);
    assert_eq!(only(&errors(&mut ledger, 3)).count, 3);
    assert_eq!(only(&errors(&mut ledger, 3)).count, 3);
    assert_eq!(only(&errors(&mut ledger, 4)).count, 4);
    ledger.clear("ecc_uncorrected", "exchanged", "op", "now").unwrap();
    assert_eq!(errors(&mut ledger, 4).verdict, Verdict::NoFaultSeen);
    assert_eq!(only(&errors(&mut ledger, 1)).count, 1, "reset, and one more");
}

#[test]
fn a_clear_ends_what_it_names_and_is_kept() {
    let mut ledger = Ledger::default();
    let lines = [
        xid(GPU_0, "79, x"),
        xid("0000:00:07.0", "79, x"),
        xid(GPU_0, "48, x"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    look(&mut ledger, &looked("a"), &lines);
    let error = ledger.clear("xid-13@x", "r", "me", "t").unwrap_err().to_string();
    assert!(error.contains(&format!("xid-79@{GPU_0}")), "{error}");
    let id = format!("xid-79@{GPU_0}");
    ledger
        .clear(&id, "card exchanged", "me", "2026-11-24T11:00:00Z")
        .unwrap();
    let clear = ledger.clear("xid", "all exchanged", "me", "t").unwrap();
    assert_eq!(clear.entries.len(), 2);
    let health = look(&mut ledger, &looked("a"), &[]);
    assert_eq!((health.open.len(), health.clears.len()), (0, 2));
    assert_eq!(health.clears[0].entries, [id]);
}

#[test]
fn two_equal_xids_count_two_and_what_a_job_left_is_no_fault() {
    let mut ledger = Ledger::default();
    let line = xid(GPU_0, "45, pid=7, name=python3, Ch 00000008");
    let lines = vec![line.as_str(); 11_760];
    let health = look(&mut ledger, &looked("a"), &lines);
    assert_eq!(health.verdict, Verdict::NoFaultSeen);
    assert_eq!((health.counters.len(), health.counters[0].count), (1, 11_760));
    assert_eq!(only(&health).bearing, Bearing::Event);
    for number in [13, 31, 43] {
        look(&mut ledger, &looked("a"), &[&xid(GPU_0, &format!("{number}, x"))]);
    }
    assert_eq!(ledger.health(Vec::new()).verdict, Verdict::NoFaultSeen);
    let unknown = look(&mut ledger, &looked("a"), &[&xid(GPU_0, "61, x")]);
    assert_eq!(
        unknown.verdict,
        Verdict::Degraded,
        "of which no record says anything"
    );
}

#[test]
fn a_link_that_was_fatal_once_stays_so_behind_a_nonfatal_line() {
    let mut ledger = Ledger::default();
    let fatal = xid(GPU_0, "149, NETIR Fatal XC0 i0 Link 3 (0x1)");
    let nonfatal = xid(GPU_0, "149, NETIR Nonfatal XC0 i0 Link 3 (0x1)");
    let health = look(&mut ledger, &looked("a"), &[&nonfatal]);
    assert_eq!(health.verdict, Verdict::Degraded);
    let health = look(&mut ledger, &looked("a"), &[&fatal, &nonfatal]);
    assert_eq!((only(&health).count, health.verdict), (3, Verdict::Broken));
}

#[test]
fn a_ledger_is_written_and_read_back_and_a_damaged_one_tells_nothing_good() {
    let mut ledger = Ledger::default();
    look(&mut ledger, &looked("a"), &[&xid(GPU_0, "79, x")]);
    ledger.proof(&admitted("a"), &Policy::default());
    assert_eq!(Ledger::from_json(&ledger.to_json().unwrap()), Ok(ledger.clone()));
    let newer = String::from_utf8(ledger.to_json().unwrap()).unwrap();
    let newer = newer.replacen("\"version\":1", "\"version\":2", 1);
    for damaged in ["", "{}", "{\"version\":1", &newer] {
        assert!(Ledger::from_json(damaged.as_bytes()).is_err(), "{damaged}");
    }
    let mut new = Ledger::in_place_of_damaged("cut short", "t", Some("a"));
    assert_eq!(look(&mut new, &looked("a"), &[]).verdict, Verdict::Unknown);
    new.proof(&admitted("a"), &Policy::default());
    assert_eq!(look(&mut new, &looked("a"), &[]).verdict, Verdict::Unknown);
    new.proof(&admitted("b"), &Policy::default());
    assert_eq!(look(&mut new, &looked("b"), &[]).verdict, Verdict::NoFaultSeen);
}

#[test]
fn a_gpu_that_was_listed_in_this_boot_and_is_no_more_is_lost() {
    let mut ledger = Ledger::default();
    let both = looked("a");
    let mut one = both.clone();
    let left = one.gpus.pop().unwrap().pci_address.value.unwrap();
    one.pairs.clear();
    assert_eq!(look_at_all(&mut ledger, &both, &[]).open, []);
    // A look at some tells nothing of the others.
    assert_eq!(look(&mut ledger, &one, &[]).open, []);
    let lost = look_at_all(&mut ledger, &one, &[]);
    assert_eq!(only(&lost).id, format!("gpu_lost@{left}"));
    assert_eq!(lost.verdict, Verdict::Broken);
    assert_eq!(look_at_all(&mut ledger, &both, &[]).open, [], "it is back");
    look_at_all(&mut ledger, &one, &[]);
    // Where it is not known whether it is there, it stays lost; given to another driver, it is not.
    let mut unknown = one.clone();
    unknown.absent.push(AbsentGpu {
        pci_address: Some(left.clone()),
        ..AbsentGpu::new(Absence::NotGranted, "a container")
    });
    assert_eq!(only(&look_at_all(&mut ledger, &unknown, &[])).cause, "gpu_lost");
    let mut given = one.clone();
    given.absent.push(AbsentGpu {
        pci_address: Some(left),
        ..AbsentGpu::new(Absence::OtherDriver, "the driver vfio-pci has it")
    });
    assert_eq!(look_at_all(&mut ledger, &given, &[]).open, []);
    // One that was taken out between two boots is not lost either.
    let mut ledger = Ledger::default();
    look_at_all(&mut ledger, &both, &[]);
    one.node.boot_id = Some("b".to_owned());
    assert_eq!(look_at_all(&mut ledger, &one, &[]).open, []);
}

/// A value that is there and cannot be judged is no good value.
#[test]
fn a_value_that_cannot_be_judged_is_told() {
    let verdict = |name: &str, value: Option<serde_json::Value>| {
        let mut report = looked("a");
        match value {
            Some(value) => set(&mut report, 0, name, value),
            None => gap(&mut report, 0, name, GapKind::Failed, "NVML said no"),
        }
        look_at_all(&mut Ledger::default(), &report, &[])
    };
    for (name, value, unread) in [
        ("nvlink.links_expected", None, "nvlink.links_expected"),
        ("pcie.link_width_max", None, "pcie.link_width_max"),
        ("nvlink.links_active", Some(json!("many")), "nvlink.links_active"),
        (
            "remapped_rows.pending",
            Some(json!("yes")),
            "remapped_rows.pending",
        ),
        (
            "ecc.volatile_uncorrected",
            Some(json!("3")),
            "ecc.volatile_uncorrected",
        ),
    ] {
        let health = verdict(name, value);
        assert_eq!(health.verdict, Verdict::Unknown, "{name}");
        assert_eq!(health.unread[0].what, format!("{unread}@{GPU_0}"));
    }
    // What the GPU does not have is nothing that should have been read.
    let mut report = looked("a");
    gap(
        &mut report,
        0,
        "nvlink.links_expected",
        GapKind::NotSupported,
        "no NVLink",
    );
    let health = look_at_all(&mut Ledger::default(), &report, &[]);
    assert_eq!(health.verdict, Verdict::NoFaultSeen);
}

/// CUDA lists the GPU, and nobody asks NVML whether it is lost.
#[test]
fn a_look_without_nvml_does_not_end_a_lost_gpu() {
    let mut ledger = Ledger::default();
    let mut lost = looked("a");
    let gap = Gap::new(GapKind::Failed, "the GPU is lost (15)").coded(ReasonCode::GpuLost);
    lost.gpus[0]
        .facts
        .insert("recovery.action".to_owned(), Fact::without(gap, "nvml"));
    let health = look_at_all(&mut ledger, &lost, &[]);
    assert_eq!(only(&health).cause, "gpu_lost");
    let mut blind = looked("a");
    let missing = Fact::missing(GapKind::Failed, "nvmlInit_v2: unknown error", "nvmlInit_v2");
    blind.host.insert("nvml.driver_version".to_owned(), missing);
    for gpu in &mut blind.gpus {
        gpu.facts.clear();
    }
    let health = look_at_all(&mut ledger, &blind, &[]);
    assert_eq!(
        (only(&health).cause.as_str(), health.verdict),
        ("gpu_lost", Verdict::Broken)
    );
    let health = look_at_all(&mut ledger, &looked("a"), &[]);
    assert_eq!(health.verdict, Verdict::NoFaultSeen);
}

#[test]
fn a_gpu_of_which_nvml_tells_nothing_is_no_all_clear() {
    let refused = || Fact::missing(GapKind::NoPermission, "the user may not ask", "nvml");
    let absent = || Fact::missing(GapKind::NotSupported, "this GPU has none", "nvml");
    for (fact, verdict) in [
        (None, Verdict::Unknown),
        (Some(refused()), Verdict::Unknown),
        (Some(absent()), Verdict::NoFaultSeen),
    ] {
        let mut report = looked("a");
        let names: Vec<String> = report.gpus[1].facts.keys().cloned().collect();
        report.gpus[1].facts.clear();
        if let Some(fact) = fact {
            report.gpus[1].facts = names.into_iter().map(|name| (name, fact.clone())).collect();
        }
        let health = look(&mut Ledger::default(), &report, &[]);
        assert_eq!(
            health.verdict,
            verdict,
            "{:?}",
            report.gpus[1].facts.values().next()
        );
    }
}

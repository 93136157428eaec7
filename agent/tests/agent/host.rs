//! Machines that are not at hand, as trees of files: what the host shows decides the cause.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault, Counted, LogLine, Pairs};
use kb_core::report::{Fact, GapKind, Report, When};
use kb_core::verdict::{Verdict, cause};
use serde_json::{Value, json};

use crate::node::Node;
use crate::tree::{
    ACS_REDIRECT, ACS_VALIDATE, PEX_PORTS, PEX_UPSTREAM, attribute, config_with_acs, device, group,
    pex_switch, write,
};

/// Where the stand-in's GPUs without NVLink sit.
const GPUS: [&str; 2] = ["0000:01:00.0", "0000:02:00.0"];

/// Two GPUs that are joined by PCIe alone and granted access.
fn pcie() -> Scenario {
    let mut scenario = Scenario::refused_gns();
    scenario.pairs = Pairs::granted(2);
    scenario
}

/// The same, and nothing that one stores at the other arrives.
fn dropping() -> Scenario {
    let mut scenario = pcie();
    scenario.memory_faults = Scenario::writes_dropped().memory_faults;
    scenario
}

/// A node of this scenario on a machine that the second argument builds.
fn machine(scenario: &Scenario, build: impl FnOnce(&Path)) -> Node {
    let node = Node::with(scenario);
    let root = node.path("host");
    write(&root, "proc/cpuinfo", "flags\t\t: fpu sse2\n");
    build(&root);
    node
}

/// Both GPUs below a PEX switch, in groups of one type, on a machine with this IOMMU.
fn behind_a_switch(root: &Path, acs: u16, iommu: &str, kind: &str) {
    pex_switch(root, GPUS, acs);
    for (number, address) in (0..).zip(GPUS) {
        group(root, address, number, kind);
    }
    write(root, &format!("sys/class/iommu/{iommu}/name"), "");
}

fn judged(report: &Report) -> (Verdict, Option<&str>) {
    let verdict = &report.pairs[0].verdict;
    (verdict.verdict, verdict.cause.as_deref())
}

fn value<'a>(facts: &'a std::collections::BTreeMap<String, Fact>, name: &str) -> &'a Value {
    let fact = &facts[name];
    fact.value.as_ref().unwrap_or_else(|| panic!("{name}: {fact:?}"))
}

fn gap(facts: &std::collections::BTreeMap<String, Fact>, name: &str) -> GapKind {
    assert_eq!(facts[name].value, None, "{name}");
    facts[name].gap.as_ref().unwrap().kind
}

#[test]
fn lost_data_is_explained_by_acs_and_the_iommu() {
    let dropped = cause::WRITES_DROPPED;
    for (iommu, options, kind, acs, mode, expected) in [
        (
            "ivhd0",
            "amd_iommu=on",
            "DMA-FQ",
            ACS_REDIRECT,
            "translating",
            cause::ACS_REDIRECT,
        ),
        (
            "ivhd0",
            "amd_iommu=on",
            "DMA-FQ",
            ACS_VALIDATE,
            "translating",
            cause::IOMMU_TRANSLATION,
        ),
        (
            "dmar0",
            "intel_iommu=on",
            "DMA",
            ACS_REDIRECT,
            "translating",
            cause::ACS_REDIRECT,
        ),
        (
            "ivhd0",
            "iommu=pt",
            "identity",
            ACS_REDIRECT,
            "passthrough",
            dropped,
        ),
        (
            "dmar0",
            "intel_iommu=on iommu=pt",
            "identity",
            ACS_VALIDATE,
            "passthrough",
            dropped,
        ),
    ] {
        let node = machine(&dropping(), |root| {
            behind_a_switch(root, acs, iommu, kind);
            write(root, "proc/cmdline", format!("ro quiet {options}\n"));
        });
        let (report, run) = node.probe(&[]);
        assert_eq!(
            judged(&report),
            (Verdict::Broken, Some(expected)),
            "{iommu} {options}"
        );
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert_eq!(value(&report.host, "iommu.mode"), mode);
        assert_eq!(value(&report.host, "iommu.kernel_options"), options);
        assert_eq!(value(&report.host, "iommu.units"), &json!([iommu]));
        let facts = &report.pairs[0].facts;
        let redirecting = if acs == ACS_REDIRECT {
            json!(PEX_PORTS)
        } else {
            json!([])
        };
        assert_eq!(value(facts, "acs.redirecting_bridges"), &redirecting);
        assert_eq!(value(facts, "pcie.common_bridge"), PEX_UPSTREAM);
        assert_eq!(value(facts, "pcie.same_switch"), true);
        assert_eq!(value(facts, "iommu.same_group"), false);
        assert_eq!(value(&report.gpus[0].facts, "iommu.group_type"), kind);
    }
}

/// Linux sets the redirect bits of root ports where the IOMMU is on. Between two of them they decide nothing: clearing
/// them would be advice that helps nobody.
#[test]
fn redirect_bits_of_two_root_ports_are_not_blamed() {
    let ports = ["0000:00:01.0", "0000:00:03.0"];
    let node = machine(&dropping(), |root| {
        for ((port, gpu), number) in ports.into_iter().zip(GPUS).zip(0..) {
            device(root, &[port, gpu]);
            attribute(root, port, "config", config_with_acs(0x7f, ACS_REDIRECT));
            group(root, gpu, number, "DMA-FQ");
        }
        write(root, "sys/class/iommu/ivhd0/name", "");
    });
    let (report, run) = node.probe(&[]);
    let facts = &report.pairs[0].facts;
    assert_eq!(value(facts, "pcie.same_switch"), false);
    assert_eq!(value(facts, "acs.redirecting_bridges"), &json!(ports));
    let translation = (Verdict::Broken, Some(cause::IOMMU_TRANSLATION));
    assert_eq!(judged(&report), translation, "{}", run.stderr);
    let verdict = &report.pairs[0].verdict;
    let acs = "/pairs/0/facts/acs.redirecting_bridges".to_owned();
    assert!(verdict.evidence.contains(&acs), "{verdict:?}");
    let fix = verdict.fix.as_deref().unwrap();
    assert!(fix.contains("iommu=pt") && !fix.contains("setpci"), "{fix}");
}

#[test]
fn a_bridge_with_half_its_lanes_is_named() {
    let node = machine(&pcie(), |root| {
        behind_a_switch(root, ACS_VALIDATE, "ivhd0", "identity");
        attribute(root, PEX_UPSTREAM, "current_link_width", "8\n");
    });
    let (report, run) = node.probe(&[]);
    assert_eq!(
        judged(&report),
        (Verdict::Degraded, Some(cause::PCIE_LINK_DEGRADED))
    );
    assert_eq!(run.code, 1, "{}", run.stderr);
    let reason = &report.pairs[0].verdict.reason;
    assert!(
        reason.contains(PEX_UPSTREAM) && reason.contains("8 of 16"),
        "{reason}"
    );
    let path = value(&report.gpus[0].facts, "pci.path");
    assert_eq!(
        (&path[2]["link_width"], &path[2]["link_width_max"]),
        (&json!(8), &json!(16))
    );
    assert_eq!(path[3]["link_width"], 16);
}

#[test]
fn a_small_bar1_is_evidence_where_memory_cannot_be_mapped() {
    let mut scenario = pcie();
    scenario.call_faults.push(CallFault {
        call: "cuCtxEnablePeerAccess".to_owned(),
        after: 0,
        times: None,
        counted: Counted::Process,
        effect: CallEffect::Return(205),
    });
    let node = machine(&scenario, |root| {
        behind_a_switch(root, ACS_VALIDATE, "ivhd0", "identity");
        for address in GPUS {
            let resource = "0xfa000000 0xfaffffff 0x40200\n0xd0000000 0xdfffffff 0x14220c\n";
            attribute(root, address, "resource", resource);
        }
    });
    let (report, run) = node.probe(&[]);
    assert_eq!(
        judged(&report),
        (Verdict::Broken, Some(cause::MAP_FAILED)),
        "{}",
        run.stderr
    );
    assert_eq!(value(&report.gpus[0].facts, "pci.bar1_bytes"), &json!(256 << 20));
    let evidence = &report.pairs[0].verdict.evidence;
    assert!(
        evidence.iter().any(|pointer| pointer.contains("bar1")),
        "{evidence:?}"
    );
}

#[test]
fn a_guest_and_a_masked_container_blame_nothing_that_they_do_not_see() {
    let guest = machine(&dropping(), |root| {
        write(root, "proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
        for address in GPUS {
            device(root, &[address]);
        }
        for folder in ["sys/kernel/iommu_groups", "sys/class/iommu"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
    });
    let masked = machine(&dropping(), |root| {
        write(root, ".dockerenv", "");
        for folder in ["sys/kernel/iommu_groups", "sys/bus/pci/devices", "sys/module"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
    });
    for (node, container) in [(guest, false), (masked, true)] {
        let (report, run) = node.probe(&[]);
        assert_eq!(judged(&report), (Verdict::Broken, Some(cause::WRITES_DROPPED)));
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert_eq!(gap(&report.host, "iommu.mode"), GapKind::NotVisible);
        assert_eq!(gap(&report.host, "kernel_log.readable"), GapKind::NotVisible);
        for name in [
            "pcie.common_bridge",
            "pcie.same_switch",
            "acs.redirecting_bridges",
            "iommu.same_group",
        ] {
            assert_eq!(gap(&report.pairs[0].facts, name), GapKind::NotVisible, "{name}");
        }
        let path = &report.gpus[0].facts["pci.path"];
        assert_eq!(path.value.is_none(), container, "{path:?}");
        assert_eq!(
            report.host["host.container"].value == Some(json!("docker")),
            container
        );
    }
}

/// What the kernel writes when the driver is first asked for peer access.
fn logging(mut scenario: Scenario, file: PathBuf, message: &str) -> Scenario {
    scenario.log.push(LogLine {
        after_call: "cuCtxEnablePeerAccess".to_owned(),
        times: 1,
        file,
        text: format!("3,4242,{{us}},-;{message}"),
    });
    scenario
}

#[test]
fn only_what_is_logged_during_the_run_is_evidence() {
    let fault = "nvidia 0000:01:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0xf2000000 flags=0x0020]";
    let xid = "NVRM: Xid (PCI:0000:01:00): 79, pid=4711, GPU has fallen off the bus.";
    let error = "pcieport 0000:a0:01.0: AER: Corrected error message received from 0000:a0:01.0";
    for (scenario, message, expected) in [
        (dropping(), fault, cause::IO_PAGE_FAULT),
        (dropping(), error, cause::WRITES_DROPPED),
        (dropping(), xid, cause::GPU_LOST),
    ] {
        for is_during in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let log = folder.path().join("kmsg");
            let before = format!("6,1,1000,-;Linux version 6.8.0\n3,2,2000,-;{message}\n");
            let first = "6,1,1000,-;Linux version 6.8.0\n";
            fs::write(&log, if is_during { first } else { before.as_str() }).unwrap();
            let scenario = if is_during {
                logging(scenario.clone(), log.clone(), message)
            } else {
                scenario.clone()
            };
            let node = machine(&scenario, |root| {
                behind_a_switch(root, ACS_VALIDATE, "ivhd0", "identity");
                fs::create_dir_all(root.join("dev")).unwrap();
                fs::hard_link(&log, root.join("dev/kmsg")).unwrap();
            });
            let (report, _) = node.probe(&[]);
            let expected = if is_during {
                expected
            } else {
                cause::WRITES_DROPPED
            };
            assert_eq!(judged(&report), (Verdict::Broken, Some(expected)), "{message}");
            let when = if is_during { When::During } else { When::Before };
            assert_eq!(report.logs.len(), 1, "{:?}", report.logs);
            assert_eq!(
                (report.logs[0].when, report.logs[0].source.as_str()),
                (when, "kmsg")
            );
            assert!(report.logs[0].text.ends_with(message), "{:?}", report.logs);
            assert_eq!(value(&report.host, "kernel_log.readable"), true);
        }
    }
}

#[test]
fn a_host_that_fails_during_the_run_leaves_it_unknown() {
    let failure = "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 4: be00000000800400";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("kmsg");
    fs::write(&log, "6,1,1000,-;Linux version 6.8.0\n").unwrap();
    let node = machine(&logging(pcie(), log.clone(), failure), |root| {
        fs::create_dir_all(root.join("dev")).unwrap();
        fs::hard_link(&log, root.join("dev/kmsg")).unwrap();
    });
    let (report, run) = node.probe(&[]);
    assert_eq!(report.conclusion.verdict, Verdict::Unknown);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        report.conclusion.reason.contains(failure),
        "{}",
        report.conclusion.reason
    );
}

#[test]
fn counters_of_the_bus_are_compared_with_those_before() {
    let node = machine(&pcie(), |root| {
        behind_a_switch(root, ACS_VALIDATE, "ivhd0", "identity");
        attribute(root, GPUS[0], "aer_dev_correctable", "RxErr 3\nTOTAL_ERR_COR 3\n");
    });
    let (report, _) = node.probe(&[]);
    let facts = &report.gpus[0].facts;
    assert_eq!(value(facts, "pci.aer_correctable"), 3);
    assert_eq!(value(facts, "during.pci.aer_correctable"), 0);
    assert_eq!(gap(facts, "during.pci.aer_fatal"), GapKind::NotVisible);
}

#[test]
fn as_root_a_library_that_others_could_have_written_is_not_opened() {
    let node = Node::with(&Scenario::healthy(2));
    let folder = node.path("libraries");
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    let (report, _) = node.probe(&[]);
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        assert_eq!(report.conclusion.verdict, Verdict::Unknown);
        let message = &report.failures[0].message;
        assert!(
            message.contains("was not loaded") && message.contains(&*folder.to_string_lossy()),
            "{message}"
        );
        assert!(report.gpus.is_empty());
    } else {
        // An ordinary user can only harm himself.
        assert_eq!(report.gpus.len(), 2);
    }
}

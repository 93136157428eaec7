//! The PCIe tree of a machine whose GPUs hang on one switch, as the agent writes it.

use std::collections::BTreeMap;

use kb_core::report::{Fact, fact_name};
use serde_json::{Value, json};

const TREE: &str = "/sys/bus/pci/devices";
const ROOT_PORT: &str = "0000:16:01.0";
const UPSTREAM: &str = "0000:17:00.0";

pub(super) fn address(gpu: usize) -> String {
    format!("0000:{:02x}:00.0", 0x19 + gpu)
}

/// The port of the switch that a GPU hangs on.
pub(super) fn port(gpu: usize) -> String {
    format!("0000:18:{:02x}.0", 4 * gpu)
}

/// From the root port to the GPU.
pub(super) fn path(gpu: usize, redirects: bool) -> Value {
    let device = |address: &str, class: &str, acs: Value| {
        json!({
            "address": address, "class": class, "acs": acs,
            "vendor": if class == "0x030200" { "0x10de" } else { "0x1000" },
            "device": if class == "0x030200" { "0x2235" } else { "0xc030" },
            "link_generation": 4, "link_generation_max": 4, "link_width": 16, "link_width_max": 16,
        })
    };
    json!([
        device(ROOT_PORT, "0x060400", acs(true, false)),
        device(UPSTREAM, "0x060400", acs(false, false)),
        device(&port(gpu), "0x060400", acs(true, redirects)),
        device(&address(gpu), "0x030200", acs(false, false)),
    ])
}

fn acs(present: bool, redirects: bool) -> Value {
    let supported: &[&str] = if present {
        &[
            "source_validation",
            "translation_blocking",
            "request_redirect",
            "completion_redirect",
            "upstream_forwarding",
        ]
    } else {
        &[]
    };
    json!({
        "present": present, "supported": supported,
        "source_validation": redirects, "translation_blocking": false, "request_redirect": redirects,
        "completion_redirect": redirects, "upstream_forwarding": redirects, "egress_control": false,
        "direct_translated": false,
    })
}

/// Facts of a pair below the switch; the ports that redirect.
pub(super) fn pair_facts(redirecting: &[String]) -> BTreeMap<String, Fact> {
    [
        (fact_name::ACS_REDIRECTING_BRIDGES, json!(redirecting)),
        ("iommu.same_group", json!(redirecting.is_empty())),
        (fact_name::PCIE_COMMON_BRIDGE, json!(UPSTREAM)),
        ("pcie.same_numa_node", json!(true)),
        (fact_name::PCIE_SAME_SWITCH, json!(true)),
    ]
    .map(|(name, value)| (name.to_owned(), Fact::read(value, TREE)))
    .into()
}

//! The NVIDIA kernel driver as it shows itself below /proc/driver/nvidia.

use std::collections::BTreeMap;

use kb_core::report::{Fact, fact_name};
use serde_json::{Map, Value};

use super::{HostRoot, text};

/// `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build …`
const VERSION: &str = "proc/driver/nvidia/version";
/// A folder for each GPU, by its address.
const GPUS: &str = "proc/driver/nvidia/gpus";
/// `Name: value`, one module parameter a line; texts in quotes.
const PARAMETERS: &str = "proc/driver/nvidia/params";

/// The parameters that change how GPUs reach each other, or the network, or the host.
const RECORDED: [&str; 13] = [
    "DmaRemapPeerMmio",
    "EnableGpuFirmware",
    "EnablePCIERelaxedOrderingMode",
    "EnableResizableBar",
    "EnableStreamMemOPs",
    "ExcludedGpus",
    "GrdmaPciTopoCheckOverride",
    "ImexChannelCount",
    "NvLinkDisable",
    "RegisterPCIDriver",
    "RmNvlinkBandwidth",
    "RmNvlinkBandwidthLinkCount",
    "UsePageAttributeTable",
];
/// The parameters that hold registry keys as `Name=value;Name=value`.
const REGISTRY: [&str; 2] = ["RegistryDwords", "RegistryDwordsPerDevice"];

pub(super) fn facts(root: &HostRoot) -> BTreeMap<String, Fact> {
    let parameters = root.find(PARAMETERS, "it has no line of the form Name: value", parse);
    let recorded = parameters.clone().map(|all| {
        let wanted = all.iter().filter(|(name, _)| RECORDED.contains(&name.as_str()));
        Value::Object(
            wanted
                .map(|(name, value)| (name.clone(), number_or_text(value)))
                .collect(),
        )
    });
    let registry = parameters.map(|all| {
        let texts = REGISTRY.iter().filter_map(|name| all.get(*name));
        Value::Object(texts.flat_map(|text| registry_keys(text)).collect())
    });
    BTreeMap::from([
        (fact_name::DRIVER_VERSION.to_owned(), text(version(root))),
        ("driver.flavour".to_owned(), text(flavour(root))),
        ("driver.parameters".to_owned(), recorded),
        (fact_name::DRIVER_REGISTRY_DWORDS.to_owned(), registry),
    ])
}

/// The model of all GPUs that the driver has; `None` where there are several, or none can be read.
pub(crate) fn gpu_model(root: &HostRoot) -> Option<String> {
    let gpus = root.names(GPUS).value?;
    let model = |address: &String| {
        let text = root.text(&format!("{GPUS}/{address}/information")).value?;
        let line = text.lines().find_map(|line| line.strip_prefix("Model:"))?;
        Some(line.trim().to_owned())
    };
    let mut models: Vec<String> = gpus.iter().filter_map(model).collect();
    models.sort_unstable();
    models.dedup();
    let model = models.pop()?;
    models.is_empty().then_some(model)
}

pub(crate) fn version(root: &HostRoot) -> Fact<String> {
    root.find(VERSION, "it names no version", |content| {
        let line = content.lines().find(|line| line.starts_with("NVRM version:"))?;
        let mut words = line.split_whitespace();
        words.find(|word| is_version(word)).map(str::to_owned)
    })
}

/// Three or two numbers, as in `580.159.04`.
fn is_version(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (2..=3).contains(&parts.len()) && parts.iter().all(is_number)
}

pub(super) fn flavour(root: &HostRoot) -> Fact<String> {
    root.find(VERSION, "it has no version line", |content| {
        let line = content.lines().find(|line| line.starts_with("NVRM version:"))?;
        let flavour = if line.contains("Open Kernel Module") {
            "open"
        } else {
            "proprietary"
        };
        Some(flavour.to_owned())
    })
}

fn parse(content: &str) -> Option<BTreeMap<String, String>> {
    let pairs = content.lines().filter_map(|line| line.split_once(':'));
    let clean = |value: &str| value.trim().trim_matches('"').to_owned();
    let all: BTreeMap<_, _> = pairs
        .map(|(name, value)| (name.trim().to_owned(), clean(value)))
        .collect();
    (!all.is_empty()).then_some(all)
}

/// `ForceP2P=17;RMForceP2PType=1`. Per-device texts begin with `pci=…`, which is a key like the others.
fn registry_keys(text: &str) -> Map<String, Value> {
    let pairs = text.split([';', ',']).filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.trim().to_owned(), number_or_text(value.trim())))
        .collect()
}

fn number_or_text(text: &str) -> Value {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    number.map_or_else(|| Value::from(text), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::tree::tree;

    #[test]
    fn parameters_and_registry_keys_are_read() {
        let folder = tree(&[(
            PARAMETERS,
            "ResmanDebugLevel: 4294967295\nDmaRemapPeerMmio: 1\nEnableResizableBar: 0\nExcludedGpus: \"\"\n\
             RegistryDwords: \"ForceP2P=0x11;RMForceP2PType=1\"\nRegistryDwordsPerDevice: \"\"\n",
        )]);
        let facts = facts(&HostRoot::new(folder.path()));
        let parameters = facts["driver.parameters"].value.as_ref().unwrap();
        assert_eq!(parameters["DmaRemapPeerMmio"], 1);
        assert_eq!(parameters["ExcludedGpus"], "");
        assert_eq!(parameters.get("ResmanDebugLevel"), None);
        let registry = facts["driver.registry_dwords"].value.as_ref().unwrap();
        assert_eq!(
            registry,
            &serde_json::json!({"ForceP2P": 17, "RMForceP2PType": 1})
        );
        assert_eq!(facts["driver.parameters"].source, format!("/{PARAMETERS}"));
    }

    #[test]
    fn no_keys_is_a_value_and_no_file_is_a_gap() {
        let folder = tree(&[(PARAMETERS, "RegistryDwords: \"\"\n")]);
        let some = facts(&HostRoot::new(folder.path()));
        assert_eq!(some["driver.registry_dwords"].value, Some(serde_json::json!({})));
        let none = facts(&HostRoot::new(folder.path().join("nothing")));
        assert!(none["driver.registry_dwords"].gap.is_some());
    }
}

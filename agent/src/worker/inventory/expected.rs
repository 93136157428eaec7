//! How many NVLinks a board should have, as far as the node itself can tell.

use kb_core::report::{Fact, Gap, GapKind, Gpu, fact_name};
use serde_json::Value;

const STATE: &str = "nvmlDeviceGetNvLinkState";
const PEERS: &str = "the most links of a GPU of the same model on this node";

const NO_BRIDGE: &str = "none of its NVLinks is up and it hangs on no NVSwitch: whether a bridge is meant to join it \
                         to another GPU is not visible from here";

/// Adds the fact to every GPU: what NVML says that the board has (links that are up, and of those that are down the
/// ones of capability "valid", else all), unless a GPU of the same model has more. A board that can be bridged has
/// its links without a bridge too, so where all are down and the node has no NVSwitch, none may be meant to be up.
pub(super) fn add(gpus: &mut [Gpu], valid_of_down: &[Option<u32>]) {
    let own: Vec<Fact<u64>> = gpus
        .iter()
        .zip(valid_of_down)
        .map(|(gpu, valid_of_down)| of_board(gpu, *valid_of_down))
        .collect();
    let is_switched = gpus.iter().any(has_links_to_switch);
    let models: Vec<Option<String>> = gpus.iter().map(|gpu| gpu.name.value.clone()).collect();
    for ((gpu, model), fact) in gpus.iter_mut().zip(&models).zip(&own) {
        let peers = models
            .iter()
            .zip(&own)
            .filter(|(other, _)| model.is_some() && *other == model);
        let most = peers.filter_map(|(_, fact)| fact.value).max();
        let fact = match most {
            Some(1..) if !is_switched && may_be_unbridged(gpu) => {
                Fact::missing(GapKind::NotVisible, NO_BRIDGE, STATE)
            }
            Some(most) if fact.value.is_none_or(|links| links < most) => Fact::read(most, PEERS),
            _ => fact.clone(),
        };
        gpu.facts
            .insert(fact_name::NVLINK_LINKS_EXPECTED.to_owned(), fact.map(Into::into));
    }
}

/// The driver tells of a fabric's state only from Hopper on; before that, links of any GPU into an NVSwitch show it.
fn has_links_to_switch(gpu: &Gpu) -> bool {
    let links = gpu.facts.get(fact_name::NVLINK_LINKS_TO_SWITCH);
    let links = links.and_then(|fact| fact.value.as_ref());
    links.and_then(Value::as_u64).is_some_and(|links| links > 0)
}

fn may_be_unbridged(gpu: &Gpu) -> bool {
    let value = |name: &str| gpu.facts.get(name).and_then(|fact| fact.value.as_ref());
    let fabric = value(fact_name::FABRIC_STATE).and_then(Value::as_str);
    value(fact_name::NVLINK_LINKS_ACTIVE).and_then(Value::as_u64) == Some(0)
        && matches!(fabric, None | Some("not_supported"))
}

fn of_board(gpu: &Gpu, valid_of_down: Option<u32>) -> Fact<u64> {
    let number = |name: &str| gpu.facts.get(name)?.value.as_ref()?.as_u64();
    if let (Some(valid), Some(up)) = (valid_of_down, number(fact_name::NVLINK_LINKS_ACTIVE)) {
        return Fact::read(up + u64::from(valid), "nvmlDeviceGetNvLinkCapability");
    }
    if let Some(known) = number(fact_name::NVLINK_LINKS) {
        return Fact::read(known, STATE);
    }
    let gap = gpu
        .facts
        .get(fact_name::NVLINK_LINKS)
        .and_then(|links| links.gap.clone());
    let unread = || Gap::new(GapKind::Failed, "the links were not counted");
    Fact::without(gap.unwrap_or_else(unread), STATE)
}

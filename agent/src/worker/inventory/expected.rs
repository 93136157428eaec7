//! How many NVLinks a board should have, as far as the node itself can tell.

use kb_core::report::{Fact, Gpu};
use serde_json::Value;

const NAME: &str = "nvlink.links_expected";
const PEERS: &str = "the most links of a GPU of the same model on this node";

/// Adds the fact to every GPU: what NVML says that the board has (links of capability "valid", else all that it
/// knows, up or not), unless a GPU of the same model has more. Boards that can be bridged count unbridged links too,
/// so no active link at all is a fault only where something is there to join.
pub(super) fn add(gpus: &mut [Gpu], valid: &[Option<u32>]) {
    let own: Vec<Fact<u64>> = gpus
        .iter()
        .zip(valid)
        .map(|(gpu, valid)| of_board(gpu, *valid))
        .collect();
    let models: Vec<Option<String>> = gpus.iter().map(|gpu| gpu.name.value.clone()).collect();
    for ((gpu, model), fact) in gpus.iter_mut().zip(&models).zip(&own) {
        let peers = models
            .iter()
            .zip(&own)
            .filter(|(other, _)| model.is_some() && *other == model);
        let most = peers.filter_map(|(_, fact)| fact.value).max();
        let fact = match most {
            Some(most) if fact.value.is_none_or(|links| links < most) => Fact::read(most, PEERS),
            _ => fact.clone(),
        };
        gpu.facts.insert(NAME.to_owned(), fact.map(Into::into));
    }
}

fn of_board(gpu: &Gpu, valid: Option<u32>) -> Fact<u64> {
    match (valid, gpu.facts.get("nvlink.links")) {
        (Some(valid @ 1..), _) => Fact::read(valid.into(), "nvmlDeviceGetNvLinkCapability"),
        (_, Some(known)) => Fact {
            value: known.value.as_ref().and_then(Value::as_u64),
            source: known.source.clone(),
            gap: known.gap.clone(),
        },
        (_, None) => Fact::missing(
            kb_core::report::GapKind::Skipped,
            "the links were not counted",
            "nvmlDeviceGetNvLinkState",
        ),
    }
}

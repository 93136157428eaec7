//! What may have led to a match: records that the graph puts before it and that no line of the text proves. They are told
//! where the agent can find out which it is, because a rule over its report decides one of them.

use kb_core::ids::RecordId;
use kb_core::transition::EdgeKind;

use super::lookup::MatchAnswer;
use crate::feed::Generation;

/// What finds out which of them it is.
pub const FIND_OUT: &str = "peerless-agent probe";
/// Most of one match; the record has them all.
const MOST: usize = 12;

/// What may have led to a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    pub id: RecordId,
    /// When it is this one, in the words of whichever record states the edge.
    pub condition: Option<String>,
}

/// What may have led to this match, those first that the agent can prove; empty where it can prove none.
pub fn of(generation: &Generation, answer: &MatchAnswer, id: &RecordId) -> Vec<Suspect> {
    let is_matched = |other: &RecordId| answer.matches.iter().any(|found| found.id == *other);
    let mut provable: Vec<Suspect> = Vec::new();
    let mut others = Vec::new();
    for neighbour in generation.graph.neighbours(id) {
        let Ok(other) = neighbour.id.parse::<RecordId>() else {
            continue;
        };
        let is_known = provable.iter().chain(&others).any(|suspect| suspect.id == other);
        if neighbour.relation != EdgeKind::PrecededBy || is_known || is_matched(&other) {
            continue;
        }
        let Some(published) = generation.record(&other) else {
            continue;
        };
        let suspect = Suspect {
            id: other,
            condition: neighbour.condition,
        };
        if published.record.annex.probe.is_empty() {
            others.push(suspect);
        } else {
            provable.push(suspect);
        }
    }
    if provable.is_empty() {
        return Vec::new();
    }
    provable.append(&mut others);
    provable.truncate(MOST);
    provable
}

#[cfg(test)]
mod tests {
    use crate::domain::answer_text::render;
    use crate::domain::evaluation::shipped;
    use crate::domain::lookup::{MatchOptions, look_up};

    fn told(text: &str) -> String {
        let generation = shipped();
        let answer = look_up(generation, text.as_bytes(), MatchOptions::default()).unwrap();
        render(&answer, generation, None)
    }

    #[test]
    fn refused_peer_access_leads_to_its_causes_and_to_the_probe() {
        let text = told("RuntimeError: CUDA error: peer access is not supported between these two devices");
        for cause in [
            "p2p/gpu-model-without-peer-access",
            "p2p/chipset-does-not-forward-peer-traffic",
            "p2p/gpus-behind-different-io-hubs",
            "p2p/not-supported-no-path",
            "iommu/translation-breaks-p2p",
            "p2p/cuda-ipc-between-processes-fails",
            "p2p/refused-without-reason",
        ] {
            assert!(text.contains(&format!("\n    {cause}  ")), "{cause}\n{text}");
        }
        for word in ["GNS", "CNS", "TNS", "topology", "IOMMU", "container"] {
            assert!(text.contains(word), "{word}\n{text}");
        }
        assert!(
            text.contains("\n  Find out which: peerless-agent probe\n"),
            "{text}"
        );
    }

    #[test]
    fn what_the_agent_cannot_decide_names_no_probe() {
        let text = told("RuntimeError: CUDA error: an illegal memory access was encountered");
        assert!(text.starts_with("cuda/illegal-address"), "{text}");
        assert!(!text.contains("peerless-agent"), "{text}");
    }

    #[test]
    fn what_the_text_proves_is_no_suspect() {
        let refused = "CUDA error: peer access is not supported between these two devices";
        let proven = "GPU 0 and GPU 1: refused_by_policy: NVML says GNS: this GPU model has peer access off";
        let text = told(&format!("{proven}\n{refused}\n"));
        assert!(text.contains("\n    p2p/mixed-gpu-models  "), "{text}");
        assert!(
            !text.contains("\n    p2p/gpu-model-without-peer-access  "),
            "{text}"
        );
    }

    #[test]
    fn no_answer_begins_with_a_disputed_workaround() {
        let text = told("RuntimeError: CUDA error: peer access is not supported between these two devices");
        let first = text.lines().find(|line| line.starts_with("  Do: ")).unwrap();
        assert!(
            first.contains("NCCL_P2P_DISABLE=1") && !first.contains("NCCL_SHM_DISABLE"),
            "{text}"
        );
        let (_, after) = text.split_once("\n  Disputed advice: ").unwrap();
        assert!(!after.contains("\n  Do: "), "{text}");
        assert!(
            after.contains("\n      Disputed: ") && after.contains("/env.html)"),
            "{text}"
        );
        for published in shipped().records() {
            let workarounds = published.record.workarounds();
            let first = workarounds.first();
            let all = workarounds.iter().all(|advised| advised.dispute.is_some());
            assert!(
                all || first.is_some_and(|first| first.dispute.is_none()),
                "{}",
                published.id()
            );
        }
    }
}

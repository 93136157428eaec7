//! What happened to a node, in one sentence each.

use crate::store::{Former, MovedGpu, NodeChange};

const NAMED: usize = 4;

pub fn sentence(change: &NodeChange) -> String {
    match change {
        NodeChange::Renamed { from, to } => format!("renamed: the host was {from} and is {to} now"),
        NodeChange::GpusChanged { left, came } => {
            let parts = [("went away", "now on", left), ("came", "before on", came)];
            let told = parts.into_iter().filter(|(.., gpus)| !gpus.is_empty());
            let told: Vec<String> = told
                .map(|(what, place, gpus)| format!("{what} {}", listed(gpus, place)))
                .collect();
            format!("GPUs changed: {}", told.join("; "))
        }
        NodeChange::GpusElsewhere { gpus, node } => {
            let gpus: Vec<MovedGpu> = gpus
                .iter()
                .map(|uuid| MovedGpu {
                    uuid: uuid.clone(),
                    node: None,
                })
                .collect();
            format!(
                "node {node} shows GPUs that were last seen here: {}",
                listed(&gpus, "")
            )
        }
        NodeChange::Reinstalled { from, by } if by == "machine" => {
            format!("this machine enrolled before as node {from}: it was installed anew, or given another id")
        }
        NodeChange::Reinstalled { from, .. } => {
            format!(
                "all of these GPUs were last seen on node {from}: the machine was installed anew, or given another id"
            )
        }
        NodeChange::Enrolled {
            before: Former::AnotherMachine,
            with,
        } => {
            format!(
                "another machine was this node before, and its credential works no more: this one enrolled with the join token {with}"
            )
        }
        NodeChange::Enrolled {
            before: Former::SameMachine,
            with,
        } => {
            format!(
                "enrolled again with the join token {with}, and the credential of before works no more: if nobody did so on this machine, \
                somebody else knows what it calls itself"
            )
        }
        NodeChange::Enrolled {
            before: Former::NoCredential,
            with,
        } => {
            format!(
                "enrolled with the join token {with}: reports before were written with tokens that are not this node's own"
            )
        }
        NodeChange::ClockAhead { seconds } => {
            format!(
                "the clock is {} minutes ahead of the server's: times of this node are wrong",
                seconds / 60
            )
        }
        NodeChange::ClockBehind { seconds } => {
            format!(
                "the clock is {} minutes behind the server's: times of this node are wrong",
                seconds / 60
            )
        }
        NodeChange::ClockUnsure { seconds } => {
            format!(
                "a report came {} minutes after its run ended by the node's clock: it waited, or the clock is behind",
                seconds / 60
            )
        }
        NodeChange::ClockRight => "the clock agrees with the server's again".to_owned(),
    }
}

fn listed(gpus: &[MovedGpu], place: &str) -> String {
    let mut named: Vec<String> = gpus
        .iter()
        .take(NAMED)
        .map(|gpu| match &gpu.node {
            Some(node) => format!("{} ({place} node {node})", gpu.uuid),
            None => gpu.uuid.clone(),
        })
        .collect();
    if gpus.len() > NAMED {
        named.push(format!("{} more", gpus.len() - NAMED));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_which_gpus_and_where() {
        let gpu = |uuid: &str, node: Option<&str>| MovedGpu {
            uuid: uuid.to_owned(),
            node: node.map(|node| node.parse().unwrap()),
        };
        let change = NodeChange::GpusChanged {
            left: vec![gpu("GPU-a", Some("n2"))],
            came: vec![gpu("GPU-b", None)],
        };
        assert_eq!(
            sentence(&change),
            "GPUs changed: went away GPU-a (now on node n2); came GPU-b"
        );
        let many = (0..6).map(|number| gpu(&format!("GPU-{number}"), None)).collect();
        let change = NodeChange::GpusChanged {
            left: many,
            came: Vec::new(),
        };
        assert!(sentence(&change).ends_with("GPU-3, 2 more"));
    }
}

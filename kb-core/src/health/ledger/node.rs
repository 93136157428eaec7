//! Which node a ledger is about.

use super::Ledger;
use crate::ids::NodeId;
use crate::policy::Policy;
use crate::report::{Bearing, Entry, Node};

/// Ids of one node, at most; the newest are kept. Some containers have another machine id each time.
const MOST_NODES: usize = 16;

/// Why a ledger is not taken for that of this node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOurs {
    /// It is another node's.
    #[error("it is of the node {other}, and this one is {own}")]
    Another {
        /// The id under which it was written last.
        other: NodeId,
        /// The id of this node.
        own: NodeId,
    },
    /// It may be this node's under another id: without a boot id nobody can say.
    #[error(
        "it is of the node {other}, this one is {own}, and whether the two are the same cannot be told, since no boot id can be read \
         (/proc/sys/kernel/random/boot_id): see that it can, or move the file away if it is another node's"
    )]
    Unknown {
        /// The id under which it was written last.
        other: NodeId,
        /// The id of this node, which may be made up where no machine id can be read.
        own: NodeId,
    },
}

impl Ledger {
    /// Refuses a ledger of another node, as the copy of a disk brings it along. The same boot id means the same node, whatever its id is.
    /// A ledger without node ids (of an older agent) is accepted.
    pub fn check_node(&self, node: &Node) -> Result<(), NotOurs> {
        let is_known = self.nodes.is_empty() || self.nodes.contains(&node.id);
        let Some(other) = self.nodes.last().filter(|_| !is_known).cloned() else {
            return Ok(());
        };
        let own = node.id.clone();
        match &node.boot_id {
            None => Err(NotOurs::Unknown { other, own }),
            boot if *boot == self.nodes_boot => Ok(()),
            Some(_) => Err(NotOurs::Another { other, own }),
        }
    }

    /// Remembers the node that it is about.
    pub fn set_node(&mut self, node: &Node) {
        self.nodes.retain(|known| *known != node.id);
        self.nodes.push(node.id.clone());
        let surplus = self.nodes.len().saturating_sub(MOST_NODES);
        self.nodes.drain(..surplus);
        if node.boot_id.is_some() {
            self.nodes_boot.clone_from(&node.boot_id);
        }
    }

    /// What other users may know: which faults are open by the records or the site's policy, and what may hide one, with `text` in
    /// place of what the log says.
    #[must_use]
    pub fn for_others(&self, text: &str, policy: &Policy) -> Self {
        let mut open = self.open.clone();
        let counts = |entry: &Entry| {
            let mut by_policy = entry.clone();
            policy.judge_entry(&mut by_policy, &[]);
            entry.bearing.max(by_policy.bearing) >= Bearing::Unknown
        };
        open.retain(counts);
        for entry in &mut open {
            text.clone_into(&mut entry.text);
        }
        Self {
            open,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: usize, boot: &str) -> Node {
        Node {
            id: format!("pod-{id}").parse().unwrap(),
            boot_id: Some(boot.to_owned()),
            ..crate::verdict::tests::healthy(1).node
        }
    }

    /// A container that is named anew at each rollout stays the same node over a boot that it keeps its last name in.
    #[test]
    fn the_newest_names_of_a_node_are_known() {
        let mut ledger = Ledger::default();
        for id in 0..MOST_NODES + 5 {
            ledger.set_node(&node(id, "a"));
        }
        assert_eq!(ledger.nodes.len(), MOST_NODES);
        assert_eq!(ledger.check_node(&node(MOST_NODES + 4, "b")), Ok(()));
        assert_eq!(ledger.check_node(&node(5, "b")), Ok(()));
        let why = ledger.check_node(&node(4, "b")).unwrap_err().to_string();
        assert!(why.contains("the node pod-20, and this one is pod-4"), "{why}");
    }

    /// A node that can read neither its id nor its boot id may own any ledger.
    #[test]
    fn without_a_boot_id_no_ledger_is_another_nodes() {
        let mut ledger = Ledger::default();
        ledger.set_node(&node(1, "a"));
        let mut nobody = node(2, "b");
        assert!(matches!(ledger.check_node(&nobody), Err(NotOurs::Another { .. })));
        nobody.boot_id = None;
        assert!(matches!(ledger.check_node(&nobody), Err(NotOurs::Unknown { .. })));
    }
}

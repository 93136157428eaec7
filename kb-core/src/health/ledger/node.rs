//! Which node a ledger is about.

use super::Ledger;
use crate::report::{Bearing, Node};

/// Ids of one node, at most: some containers have another machine id each time.
const MOST_NODES: usize = 16;

impl Ledger {
    /// Refuses a ledger of another node, as the copy of a disk brings it along. Whoever was booted at the same time is the same node,
    /// whatever it calls itself, and one that names no node is anybody's.
    pub fn check_node(&self, node: &Node) -> Result<(), String> {
        let is_known = self.nodes.is_empty() || self.nodes.contains(&node.id);
        let is_same_boot = node.boot_id.is_some() && node.boot_id == self.nodes_boot;
        match self.nodes.first() {
            Some(other) if !is_known && !is_same_boot => {
                Err(format!("it is of the node {other}, and this one is {}", node.id))
            }
            _ => Ok(()),
        }
    }

    /// Remembers the node that it is about.
    pub fn set_node(&mut self, node: &Node) {
        if self.nodes.len() < MOST_NODES {
            self.nodes.insert(node.id.clone());
        }
        if node.boot_id.is_some() {
            self.nodes_boot.clone_from(&node.boot_id);
        }
    }

    /// What other users may know: which faults are open, and what may hide one, with `text` in place of what the log says.
    #[must_use]
    pub fn for_others(&self, text: &str) -> Self {
        let mut open = self.open.clone();
        open.retain(|entry| entry.bearing >= Bearing::Unknown);
        for entry in &mut open {
            text.clone_into(&mut entry.text);
        }
        Self {
            open,
            ..Self::default()
        }
    }
}

//! What sets affected nodes apart from others: said as association, never as cause. No action follows from it.
//!
//! ```text
//! report taken in -> told     versions and settings, kept by node
//! beside requests -> gather   all nodes, in columns
//!                 -> work     what is looked at, a step at a time
//!                 -> affected what is wrong with nodes: open findings, tests in which they are slower than their like
//!                 -> part     what a facet is of
//!                 -> exact    how likely it is by chance, within racks and models
//! ```

mod affected;
mod exact;
mod gather;
mod part;
mod told;
mod work;

#[cfg(test)]
mod tests;

pub use affected::Affected;
pub use gather::{Fleet, Pages};
pub use part::FacetPart;
pub use told::told;
pub use work::Work;

/// A facet that affected nodes have far more often than others.
#[derive(Debug, Clone, PartialEq)]
pub struct Association {
    pub facet: String,
    pub value: String,
    pub affected: Affected,
    /// Affected nodes with the facet, of all with it.
    pub with: (u32, u32),
    /// The same of nodes of the same models without it.
    pub without: (u32, u32),
    pub racks: u32,
    /// Of as much or more by chance, times the number of tries; at most 1.
    pub chance: f64,
}

impl Association {
    pub fn part(&self) -> FacetPart {
        FacetPart::of(&self.facet)
    }
}

/// All nodes of one kind, looked at together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facets {
    pub nodes: u32,
    /// There are more nodes than were looked at.
    pub are_more: bool,
    /// Nodes without the label that says the rack: they tell of no facet by themselves.
    pub without_rack: u32,
    /// Pairs of facet and affliction that were tried.
    pub tries: u32,
    /// The least likely by chance first.
    pub associations: Vec<Association>,
}

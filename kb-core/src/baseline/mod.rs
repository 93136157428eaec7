//! Is this number normal? What a report measured, held against figures of the same kind.
//!
//! ```text
//! report -> cohort (model, driver branch) -> figures, each with its series (link class, test, engine, direction, size)
//! figures of one series -> group (median, spread) -> compared (in the node, with peers, with the node's own last good
//!                                                    run, with a reference) -> outliers (pairs, GPUs, the node)
//! ```
//!
//! All of it is data. Nothing here is a verdict, and no figure is held against a constant: the only constants say by
//! how much good machines are known to differ, and they make a comparison milder, never stricter.

mod cohort;
mod compare;
mod figure;
mod floor;
mod group;
mod link;
mod outlier;
mod review;

#[cfg(test)]
mod tests;

pub use cohort::{Cohort, Unplaced};
pub use compare::{
    Against, Compared, LEAST_NODES, LEAST_VALUES, Standing, WATCH_SPREADS, earlier, spreads_worse,
};
pub use figure::{Figure, Series, figures, test_name};
pub use floor::floor;
pub use group::{Group, Summary};
pub use link::{LinkClass, Nominal, link_class, nominal};
pub use outlier::{Outlier, Subject, Test, outliers};
pub use review::{Reviewed, in_node, review};

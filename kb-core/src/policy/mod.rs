//! The site's policy: what codes and events mean here, where that is not what their records say.
//!
//! ```text
//! code    what a rule is about         rule    a rule, a policy, its version
//! check   rules that make no sense     models  names of GPUs
//! decide  the rule for something that was seen, and what becomes of it
//! explain the same in words            given   what a server gives an agent
//! share   on how many nodes a policy is tried    times   how often something was seen, for rules with a count
//! ```
//!
//! A policy decides about what was *seen*: codes of the kernel log, states and counts of a GPU, warnings of a run. It never decides
//! about what a proof saw broken or refused, about a GPU that is lost, or about what could not be told.

mod check;
mod code;
mod decide;
mod explain;
mod given;
mod models;
mod rule;
mod share;
#[cfg(test)]
pub(crate) mod tests;
mod times;

pub use check::{Fault, PolicyError, check, check_by};
pub use code::{Code, PAIR_WARNINGS, Unknown, is_own_record, tells_of_loss};
pub use decide::Subject;
pub(crate) use decide::models_at;
pub use explain::{Explained, Said, table};
pub use given::{Given, Stage};
pub use models::KNOWN_MODELS;
pub use rule::{Policy, Rule, window_words};
pub use share::Share;
pub(crate) use times::add_time;
pub use times::{MOST_TIMES, Seen};

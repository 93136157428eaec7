//! What is done with a result: pass, drain the node, hold the job, or only say so.
//!
//! ```text
//! what the agent said (seen) --.
//! what Slurm says (cluster)  ---+-> decide -> an action, carried out by commands::gate
//! settings (limit, doubt) -----'
//! ```
//!
//! All of it is data in and data out; nothing here starts a program or reads a file.

#[cfg(test)]
mod bad_rules;
mod cluster;
mod decide;
mod limit;
mod seen;
mod silence;

pub(crate) use cluster::{OURS, drained_before, is_as_drained, standing};
pub(crate) use decide::{Action, Cause, InDoubt, Place, Question, decide};
pub(crate) use limit::Limit;
pub(crate) use seen::{Doubt, Ended, Found, Seen, of_look, of_probe, of_status};
pub(crate) use silence::{INTERVAL, oldest_look};

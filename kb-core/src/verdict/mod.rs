//! From what was observed to a verdict and an exit code: one table, worst first.
//!
//! ```text
//! facts, checks, timings, kernel log -> rows (the first that applies) -> cause, verdict, evidence, record, fix
//!                                          -> expect (is a refusal information?) -> worst of the run -> exit code
//! ```

mod admitted;
mod again;
mod bus_errors;
mod by_policy;
pub mod cause;
mod consistency;
mod contradiction;
mod counted;
mod evidence;
mod exit;
mod expect;
mod hardware;
mod kernel_log;
mod load;
mod load_rates;
mod logged;
mod nominal;
mod pair;
mod peers;
mod proven;
mod remapped;
mod rows;
mod run;
mod rung;
mod scene;
mod speed;
#[cfg(test)]
pub(crate) mod tests;
mod unread;
mod unrecorded;

pub use admitted::not_admitted;
pub(crate) use again::{Unexplained, is_one_that_differs, judge_again};
pub use contradiction::{contradiction, contradiction_by, judged};
pub use exit::FailOn;
pub use expect::Expect;
pub use hardware::is_hardware_code;
pub(crate) use load::findings as load_findings;
pub use logged::is_told_by_log;
pub(crate) use logged::untested;
pub use nominal::{add_nominal, nominal_between, nominal_with_host};
pub use proven::{all_passed, check_passed, unproven};
pub use remapped::{Remapped, remapped_during};
pub use rows::{Named, table};
pub(crate) use run::worst_absent;
pub use run::{judge, judge_by};
pub use rung::checked_rungs;
pub(crate) use rung::rung;
pub use unread::unread_states;
pub use unrecorded::{Unrecorded, unrecorded};

pub use crate::report::{ExitCode, Verdict};

//! The worker process: it alone opens the driver's libraries, so that what hangs or dies there takes nothing with it.
//!
//! ```text
//! parent                                        child (`peerless-agent worker`)
//! handle: spawn, ask under a deadline, kill --- stdin: commands ---> serve: one command, one answer
//!         answers            <---------------- stdout: answers -----   '-> check on places: contexts, buffers
//!         breadcrumbs        <---------------- own pipe: "about to call X"
//!         last words         <---------------- stderr
//! ```

mod check;
mod lines;
pub(crate) mod lock;
mod place;

pub(crate) mod handle;
pub(crate) mod inventory;
pub(crate) mod protocol;
pub(crate) mod serve;

//! The worker process: it alone opens the driver's libraries, so that what hangs or dies there takes nothing with it.
//!
//! ```text
//! parent                                        child (`peerless-agent worker`)
//! handle: spawn, ask under a deadline, kill --- stdin: commands ---> serve -> obey: one command, one answer
//!         answers            <---------------- stdout: answers -----   '-> check, exchange, sharing on places
//!         descriptors        <--- stdin is a socket: memory ------->
//!         breadcrumbs        <---------------- own pipe: "about to call X"
//!         last words         <---------------- stderr
//! ```

mod atomic;
mod bench;
mod check;
mod exchange;
mod lines;
mod link;
pub(crate) mod lock;
mod nccl;
mod near;
mod obey;
mod outcome;
mod place;
mod sharing;
mod zones;

pub(crate) mod handle;
pub(crate) mod inventory;
pub(crate) mod protocol;
pub(crate) mod serve;

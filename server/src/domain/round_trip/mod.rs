//! Records in a folder and in the database, and what they had in common last: three sides, of which two may have changed.
//!
//! [`plan`] says what an import would do, [`refused`] which of it the gate of publishing refuses, and [`carry_out`] does it.
//! [`bases`] finds the third side of a bundle. [`to_write`] says what an export does to a file. Nothing here reads or writes files.

mod bases;
mod carry_out;
mod outward;
mod plan;
mod renames;
mod stands;
mod step;

pub use bases::bases;
pub use carry_out::{Comes, Done, carry_out, refused};
pub use outward::{Outward, to_write};
pub use plan::{Folder, Plan, Planned, plan};
pub use stands::{Head, Published, Stands, stands};
pub use step::{Conflict, Side, Wishes};

//! Whole runs of the agent's binary against the stand-in for the driver.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

mod absent;
mod admit;
mod another_node;
mod bench;
mod clock_set;
mod context_codes;
mod convert;
mod counters;
mod credential;
mod deployment;
mod driver_reload;
mod enrol;
mod facts;
mod feedback;
mod finding;
mod first_admission;
mod flow;
mod gate;
mod gate_scripts;
mod hardware_codes;
mod host;
mod host_root;
mod kernel_lines;
mod killed;
mod ladder;
mod last_admit;
mod last_line;
mod listed_earlier;
mod log_unread;
mod lossless;
mod manners;
mod matching;
mod nccl;
mod never_kept;
mod node;
mod noted;
mod off_the_bus;
mod older_server;
mod one_gpu;
mod open_warning;
mod other_user;
mod own_line;
mod pairs;
mod passive;
mod pipes;
mod policy;
mod policy_unread;
mod processes;
mod returning;
mod scenarios;
mod simulate;
mod slurm;
mod spool;
mod status;
mod strangers;
mod stub;
mod table;
mod tree;
mod unexplained;
mod unkept;
mod unread_states;
mod unresponsive;
mod upload;
mod watching;
mod whose_lines;
mod wording;

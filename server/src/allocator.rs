//! The allocator, and its options that are not the default. Reason: docs/adr/0016.

use std::env;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// What differs from the defaults.
const OPTIONS: [(&str, &str); 2] = [
    // Milliseconds for which free memory is kept. mimalloc seldom reuses memory that was just freed, so with a delay of seconds the
    // memory of several bursts adds up. Without any delay a search costs half as much again.
    ("MIMALLOC_PURGE_DELAY", "50"),
    // Huge pages of the system hold memory that was never asked for, and go back only as a whole.
    ("MIMALLOC_ALLOW_THP", "0"),
];

/// Starts this program again with the options set that are not, under the same process id: the allocator reads them from the
/// environment, and before `main`. Returns where all are set, or with the reason where the program could not be started again.
pub(crate) fn start_again_with_options() -> io::Result<()> {
    let missing: Vec<(&str, &str)> = OPTIONS
        .into_iter()
        .filter(|(name, _)| env::var_os(name).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut arguments = env::args_os();
    let mut again = Command::new(env::current_exe()?);
    if let Some(own_name) = arguments.next() {
        again.arg0(own_name);
    }
    Err(again.args(arguments).envs(missing).exec())
}

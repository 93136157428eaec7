//! The allocator, and its one option that is not the default. Reason: docs/adr/0016.

use std::env;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Milliseconds for which free memory is kept. After the default of one second, the memory of every former generation goes
/// back to the system from within the threads that serve, which stand still meanwhile.
const KEPT: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "5000");

/// Starts this program again with the option set, under the same process id: the allocator reads it from the environment,
/// and before `main`. Returns where it is set, or with the reason where the program could not be started again.
pub(crate) fn start_again_with_option() -> io::Result<()> {
    let (name, value) = KEPT;
    if env::var_os(name).is_some() {
        return Ok(());
    }
    let mut arguments = env::args_os();
    let mut again = Command::new(env::current_exe()?);
    if let Some(own_name) = arguments.next() {
        again.arg0(own_name);
    }
    Err(again.args(arguments).env(name, value).exec())
}

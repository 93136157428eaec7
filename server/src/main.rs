//! Entry point: everything is in the library, so that tests start the same program.

mod allocator;

use std::process::ExitCode;

use kb_core::terminal::harmless_lines;
use peerless::cli;

fn main() -> ExitCode {
    // Also before a refusal: a setting that is missing may be one whose name was misspelt.
    for warning in cli::strange_variables() {
        eprintln!("peerless: warning: {warning}");
    }
    let command = match cli::parse(std::env::args_os()) {
        Ok(command) => command,
        Err(refusal) => return cli::refuse(&refusal),
    };
    if command.is_server()
        && let Err(error) = allocator::start_again_with_options()
    {
        eprintln!("peerless: warning: the options of the allocator could not be set: {error}");
    }
    let failed = command.failure_code();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("peerless: cannot start threads: {error}");
            return ExitCode::from(failed);
        }
    };
    match runtime.block_on(cli::run(command)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("peerless: {}", harmless_lines(&cli::explain(&error)));
            ExitCode::from(failed)
        }
    }
}

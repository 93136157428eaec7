//! The Peerless agent: proves whether the GPUs of a node can reach each other's memory.
//!
//! ```text
//! cli -> commands -> probe (parent, no driver library) -> worker (child process) -> gpu (unsafe, libcuda, NVML)
//!                      |-> host (files)                 report -> output (terminal, JSON), upload (server, spool)
//! ```

mod cli;
mod clock;
mod commands;
mod decompress;
mod drained;
mod files;
mod gate;
mod gpu;
mod host;
mod ledger;
mod output;
mod policy;
mod probe;
mod process;
mod signatures;
mod slurm;
mod upload;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use kb_core::verdict::ExitCode as Code;

use cli::{Cli, Verb};

fn main() -> ExitCode {
    process::forbid_core_files();
    let arguments = match cli::with_file(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(why) => {
            warn_of_variables();
            process::say(&why);
            return ExitCode::from(Code::Usage.number());
        }
    };
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                warn_of_variables();
            }
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() {
                Code::Usage.number()
            } else {
                0
            });
        }
    };
    if let Err(why) = cli.verb.check_host_root() {
        process::say(&why);
        return ExitCode::from(Code::Usage.number());
    }
    if let Some(devices) = cli.verb.devices()
        && let Err(error) = process::see_only(devices)
    {
        process::say(&format!("--devices: {error}"));
        return ExitCode::from(Code::Unknown.number());
    }
    if matches!(&cli.verb, Verb::Daemon(arguments) if arguments.run.devices.is_none())
        && let Err(error) = process::see_all()
    {
        process::say(&format!("{}: {error}", process::VISIBLE_GPUS));
        return ExitCode::from(Code::Unknown.number());
    }
    // Behind the lines above, which start the program anew: it is said once. A worker has its parent's environment.
    if !matches!(cli.verb, Verb::Worker(_)) {
        warn_of_variables();
    }
    let result = match &cli.verb {
        Verb::Probe(arguments) => commands::probe(arguments),
        Verb::Bench(arguments) => commands::bench(arguments),
        Verb::Admit(arguments) => commands::admit(arguments),
        Verb::Report(arguments) => commands::report(arguments),
        Verb::Daemon(arguments) => commands::daemon(arguments),
        Verb::Status(arguments) => commands::status(arguments),
        Verb::Gate(arguments) => Ok(commands::gate(arguments, cli.config.as_deref())),
        Verb::Feedback(arguments) => commands::feedback(arguments),
        Verb::Enrol(arguments) => commands::enrol(arguments),
        Verb::Clear(arguments) => commands::clear(arguments),
        Verb::Watch(arguments) => commands::watch(arguments),
        Verb::Policy(arguments) => commands::policy(arguments),
        Verb::Match(arguments) => commands::match_files(arguments),
        Verb::Completions(arguments) => commands::completions(arguments),
        Verb::Man => commands::man(),
        Verb::Upload(arguments) => commands::upload(arguments),
        Verb::Bundle(arguments) => commands::bundle(arguments),
        Verb::Convert(arguments) => commands::convert(arguments),
        Verb::Worker(arguments) => worker::serve::run(arguments).map(|()| 0).map_err(Into::into),
    };
    match result {
        Ok(exit_code) => ExitCode::from(exit_code),
        Err(error) => {
            process::say(&format!("{error:#}"));
            let is_usage = error.is::<upload::ConfigurationError>() || error.is::<commands::InputError>();
            // A run that could not even be made has no verdict that `--fail-on` could pass over.
            let code = if is_usage { Code::Usage } else { Code::Unknown };
            ExitCode::from(code.number())
        }
    }
}

fn warn_of_variables() {
    for warning in cli::strange_variables() {
        process::say(&format!("warning: {warning}"));
    }
}

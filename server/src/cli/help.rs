//! `peerless completions` and `peerless man`: what packages carry beside the program.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};

use super::Cli;

/// Which shell.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn completions(arguments: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "peerless", &mut script);
    write(&script)
}

/// One page for the program and all its commands.
pub(super) fn man() -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let manual = clap_mangen::Man::new(command.clone());
    manual.render(&mut page)?;
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        section(command, &mut page)?;
        for below in command
            .get_subcommands()
            .filter(|below| below.get_name() != "help")
        {
            section(below, &mut page)?;
        }
    }
    write(&page)
}

fn section(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    writeln!(page, ".SH {}", name.to_uppercase())?;
    let manual = clap_mangen::Man::new(command.clone());
    manual.render_description_section(page)?;
    manual.render_options_section(page)
}

fn write(text: &[u8]) -> anyhow::Result<ExitCode> {
    io::stdout().lock().write_all(text)?;
    Ok(ExitCode::SUCCESS)
}

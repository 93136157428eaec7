//! Settings in the environment that the program does not read.

use clap::CommandFactory as _;
use kb_core::variables;

use super::Cli;

/// One sentence for each variable that is meant for Peerless and that no program of it reads.
pub fn strange_variables() -> Vec<String> {
    let names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    variables::strange(names.iter().map(String::as_str), &options(&Cli::command()))
}

fn options(command: &clap::Command) -> Vec<String> {
    let own = command
        .get_arguments()
        .filter_map(|option| option.get_long().map(str::to_owned));
    own.chain(command.get_subcommands().flat_map(options)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(command: &clap::Command) {
        for variable in command.get_arguments().filter_map(|option| option.get_env()) {
            let name = variable.to_str().unwrap();
            assert!(variables::KNOWN.contains(&name), "{name}");
        }
        command.get_subcommands().for_each(known);
    }

    #[test]
    fn every_variable_of_the_command_line_is_known() {
        known(&Cli::command());
    }
}

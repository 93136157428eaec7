//! Settings in the environment that the agent does not read.

use clap::CommandFactory as _;
use kb_core::variables;

use super::Cli;

pub(crate) fn strange_variables() -> Vec<String> {
    let names: Vec<String> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    let cli = Cli::command();
    let options: Vec<String> = cli
        .get_subcommands()
        .flat_map(clap::Command::get_arguments)
        .filter_map(|option| option.get_long().map(str::to_owned))
        .collect();
    variables::strange(names.iter().map(String::as_str), &options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_of_the_command_line_is_known() {
        for verb in Cli::command().get_subcommands() {
            for variable in verb.get_arguments().filter_map(|option| option.get_env()) {
                let name = variable.to_str().unwrap();
                assert!(variables::KNOWN.contains(&name), "{name}");
            }
        }
    }
}

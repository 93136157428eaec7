//! What shells and `man` read, made from the command line itself.

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArgs};

use super::print;

const NAME: &str = "peerless-agent";

pub(crate) fn completions(arguments: &CompletionsArgs) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), NAME, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

pub(crate) fn man() -> anyhow::Result<u8> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for verb in command
        .get_subcommands()
        .filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
    {
        page.extend(
            format!(".SH \"{} {}\"\n", NAME, verb.get_name())
                .to_uppercase()
                .into_bytes(),
        );
        let man = clap_mangen::Man::new(verb.clone());
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    print(&String::from_utf8_lossy(&page))?;
    Ok(0)
}

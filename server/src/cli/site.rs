//! `peerless site DIR`: the records at hand as a site of files, for any host that gives out files.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::at_hand::KnowledgeArgs;
use super::language::Lang;
use super::say;
use crate::render::i18n::Language;
use crate::render::words::{bytes, grouped};
use crate::site;
use crate::startup::tab_module;

const HELP: &str = "\
What it has: a page for each record, lists by domain, the graph, a search and the reading of logs; the last two run in the reader's \
browser, in WebAssembly. README.txt in DIR says how a host gives it out and which headers it needs. DIR may be put at any path.

Records have one page each. It is in the first language of --lang; the second comes into it by script. For pages of records in both \
languages without script write two sites.

A DIR that this command wrote is brought up to date; files in it that are not the site's stay. While it is written, and where that is \
broken off, peerless-site.json in it says \"complete\": false.

Examples:
  peerless site public
  peerless site --lang zh,en public
  peerless site --tab target/tab public";

/// Where the site goes, and in which languages.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct SiteArgs {
    /// Folder of the site; made when it is missing, else empty or one that this command wrote
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Languages, the first one that of the records' pages
    #[arg(
        long,
        value_enum,
        value_name = "LANGUAGES",
        value_delimiter = ',',
        default_value = "en,zh"
    )]
    lang: Vec<Lang>,
    /// Folder with the module for browsers, which `cargo xtask wasm` wrote; unless given, the one that was built in
    #[arg(long, value_name = "DIR", env = "PEERLESS_TAB")]
    tab: Option<PathBuf>,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

pub(super) async fn run(arguments: SiteArgs) -> anyhow::Result<ExitCode> {
    let Some(module) = tab_module(arguments.tab.as_deref())? else {
        anyhow::bail!(
            "this program has no module for browsers, without which a site has neither search nor log reading: build it with \
             `cargo xtask wasm` (it says what to install), then name its folder with --tab target/tab"
        );
    };
    let mut languages: Vec<Language> = Vec::new();
    for language in arguments.lang.iter().map(|lang| Language::from(*lang)) {
        if !languages.contains(&language) {
            languages.push(language);
        }
    }
    let generation = arguments.knowledge.current().await?;
    if generation.is_empty() {
        anyhow::bail!(
            "there are no records, so there is no site: leave out --without-shipped, or import records first"
        );
    }
    let folder = arguments.folder.clone();
    let write = move || site::write(&generation, &module, &languages, &arguments.folder);
    let written = tokio::task::spawn_blocking(write).await??;
    say(format_args!(
        "{}: {} records in {} files, {}; README.txt in it says how to give it out",
        folder.display(),
        grouped(written.records as u64),
        grouped(written.files as u64),
        bytes(written.bytes),
    ))?;
    Ok(ExitCode::SUCCESS)
}

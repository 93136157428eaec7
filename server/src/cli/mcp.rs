//! `peerless mcp`: the tools for one coding assistant, over standard input and output.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use rmcp::ServiceExt as _;

use crate::bundle;
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;
use crate::domain::tokens;
use crate::feed;
use crate::startup::open_store;
use crate::web::mcp::{Source, Tools};

/// Whose knowledge the tools have, and who calls them.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Token of this database, for the tool `outcome`
    #[arg(long, env = "PEERLESS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: &McpArgs) -> anyhow::Result<ExitCode> {
    let clock = SystemClock;
    // The database where there is one already; it is not made for this.
    let has_database = arguments.data.database.is_some() || arguments.data.sqlite_file().try_exists()?;
    let mut tools = Tools {
        source: Source::Fixed(Arc::new(feed::offline(Vec::new())?)),
        store: None,
        clock: Arc::new(clock),
        caller: None,
        base_url: None,
    };
    if has_database {
        let store = open_store(&arguments.data).await?;
        let follower = feed::load(Arc::clone(&store)).await?;
        tools.source = Source::Live(follower.knowledge());
        // Until the program ends: an assistant may stay for days.
        tokio::spawn(follower.run(feed::DEFAULT_INTERVAL, std::future::pending()));
        if let Some(token) = &arguments.token {
            tools.caller = Some(tokens::authenticate(store.as_ref(), token.trim(), clock.now()).await?);
        }
        tools.store = Some(store);
    } else {
        tools.source = Source::Fixed(Arc::new(feed::offline(bundle::embedded()?)?));
    }
    let service = tools.serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(ExitCode::SUCCESS)
}

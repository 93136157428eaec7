//! `peerless mcp`: the tools for one coding assistant, over standard input and output.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use rmcp::ServiceExt as _;

use super::at_hand::KnowledgeArgs;
use crate::bundle;
use crate::clock::{Clock as _, SystemClock};
use crate::domain::tokens;
use crate::feed;
use crate::startup::open_store;
use crate::web::body::Budget;
use crate::web::compute::Desk;
use crate::web::mcp::{Source, Tools};

/// Whose knowledge the tools have, and who calls them.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Token of this database with the scope `report`, for the tool `outcome`; looked up at each call, so that one that is
    /// revoked or expires no longer counts
    #[arg(long, env = "PEERLESS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

pub(super) async fn run(arguments: &McpArgs) -> anyhow::Result<ExitCode> {
    let clock = SystemClock;
    let data = &arguments.knowledge.data;
    // A variable that is set to nothing is none.
    let token = arguments.token.as_deref().map(str::trim);
    let token = token.filter(|token| !token.is_empty());
    let mut tools = Tools {
        source: Source::Fixed(Arc::new(feed::offline(Vec::new())?)),
        store: None,
        clock: Arc::new(clock),
        token: None,
        base_url: None,
        answers: Budget::of_answers(),
        desk: Desk::of_one(),
    };
    // The database where there is one already; it is not made for this.
    if data.database.is_some() || data.sqlite_file().try_exists()? {
        let store = open_store(data).await?;
        let follower = arguments.knowledge.follow(&store).await?;
        tools.source = Source::Live(follower.knowledge());
        // Until the program ends: an assistant may stay for days.
        tokio::spawn(follower.run(feed::DEFAULT_INTERVAL, std::future::pending()));
        if let Some(token) = token {
            // Told here, where somebody sets it up, and not only to the assistant that uses it later.
            tokens::authenticate(store.as_ref(), token, clock.now())
                .await
                .context("--token (or PEERLESS_TOKEN) is of no use")?;
            tools.token = Some(token.into());
        }
        tools.store = Some(store);
    } else if token.is_some() {
        bail!(
            "--token (or PEERLESS_TOKEN) belongs to a database, and there is none at {}: name it by --data-dir or \
             --database, or leave the token out",
            data.shown()
        );
    } else {
        let shipped = feed::offline(bundle::embedded()?)?;
        shipped.begin_index();
        tools.source = Source::Fixed(Arc::new(shipped));
    }
    let service = tools.serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    Ok(ExitCode::SUCCESS)
}

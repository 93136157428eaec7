//! `peerless token create|list|revoke`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use kb_core::ids::NodeId;

use super::{open_existing, refuse_missing, say};
use crate::clock::{Clock as _, SystemClock, SystemRandom};
use crate::config::DataArgs;
use crate::domain::join_tokens::{self, Wanted, parse_duration, parse_name};
use crate::domain::labels;
use crate::domain::tokens;
use crate::startup::open_store;
use crate::store::{Bounds, By, Scope, StoredToken};

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token; it is printed once and kept hashed
    Create(CreateArgs),
    /// List tokens
    List(DataArgs),
    /// Take a token back
    Revoke(RevokeArgs),
}

/// The token to make.
#[derive(Debug, Args)]
pub struct CreateArgs {
    /// Who or what it is for; revisions made with it carry this name
    #[arg(long, value_parser = parse_name)]
    name: String,
    /// What it may do, once for each: edit (drafts), publish, report (upload), enrol (let nodes join), fleet (read reports),
    /// admin (all)
    #[arg(long = "scope", required = true, value_parser = parse_scope)]
    scopes: Vec<Scope>,
    /// Ends after this time: 12h, 90d, 2w [default: never]
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    expires_in: Option<Duration>,
    /// With the scope enrol: so many nodes may join with it [default: any number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    uses: Option<u32>,
    /// With the scope enrol: a label of the nodes that join with it, once for each: rack=r17
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = labels::parse)]
    labels: Vec<(String, String)>,
    /// With the scope enrol: nodes may enrol with it under an id whose credential another machine has; that one is revoked.
    /// Needs --uses and --expires-in
    #[arg(long)]
    adopt: bool,
    /// With the scope enrol: make so many tokens, a line each
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(join_tokens::MAX_AT_ONCE)))]
    count: u32,
    /// With the scope report: it writes reports of this node alone
    #[arg(long, value_name = "ID", conflicts_with = "uses")]
    node: Option<NodeId>,
    /// Make the database where there is none yet: a token made in a new database does not work on a server that uses another database
    #[arg(long)]
    init: bool,
    #[command(flatten)]
    data: DataArgs,
}

/// The token to take back.
#[derive(Debug, Args)]
pub struct RevokeArgs {
    /// The id that `list` shows: the middle part of the token
    id: String,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(command: TokenCommand) -> anyhow::Result<ExitCode> {
    match command {
        TokenCommand::Create(arguments) => create(arguments).await,
        TokenCommand::List(data) => list(&data).await,
        TokenCommand::Revoke(arguments) => revoke(&arguments).await,
    }
}

async fn create(arguments: CreateArgs) -> anyhow::Result<ExitCode> {
    if !arguments.init {
        refuse_missing(&arguments.data).map_err(|error| anyhow!("{error}; or make it with --init"))?;
    }
    if arguments.uses.is_some() && arguments.scopes != [Scope::Enrol] {
        bail!("--uses is for a token whose one scope is enrol");
    }
    let is_for_many = !arguments.labels.is_empty() || arguments.count > 1 || arguments.adopt;
    if is_for_many && arguments.scopes != [Scope::Enrol] {
        bail!("--label, --count and --adopt are for a token whose one scope is enrol");
    }
    if arguments.node.is_some() && arguments.scopes != [Scope::Report] {
        bail!("--node is for a token whose one scope is report");
    }
    let store = open_store(&arguments.data).await?;
    if let Some(node) = &arguments.node {
        let mut tokens = store.tokens().await?.into_iter();
        let held =
            tokens.find(|held| held.revoked_at.is_none() && held.token.bounds.node.as_ref() == Some(node));
        if let Some(held) = held {
            bail!(
                "node {node} has the token {id} already: take it back first with `peerless token revoke {id}`",
                id = held.token.id
            );
        }
    }
    let issued = if arguments.scopes == [Scope::Enrol] {
        let wanted = Wanted {
            name: arguments.name,
            uses: arguments.uses,
            expires_in: arguments.expires_in,
            adopts: arguments.adopt,
            labels: labels::from_pairs(arguments.labels).map_err(|why| anyhow!("labels: {why}"))?,
            count: arguments.count,
        };
        join_tokens::make(
            store.as_ref(),
            &SystemRandom,
            &wanted,
            &By::command_line(),
            SystemClock.now(),
        )
        .await?
    } else {
        let now = SystemClock.now();
        let expires_at = arguments.expires_in.map(|duration| now + duration);
        let bounds = Bounds {
            node: arguments.node,
            ..Bounds::default()
        };
        let wanted = tokens::Wanted {
            name: arguments.name,
            scopes: arguments.scopes,
            expires_at,
            bounds,
            person: None,
        };
        vec![tokens::issue(store.as_ref(), &SystemRandom, wanted, &By::command_line(), now).await?]
    };
    for token in &issued {
        say(format_args!("{}", token.text))?;
    }
    let first = issued.first().map_or("ID", |issued| issued.token.id.as_str());
    eprintln!(
        "made in {}; this is the only time it is shown; take it back with: peerless token revoke {first}",
        arguments.data.shown(),
    );
    Ok(ExitCode::SUCCESS)
}

async fn list(data: &DataArgs) -> anyhow::Result<ExitCode> {
    let now = SystemClock.now();
    for stored in open_existing(data).await?.tokens().await? {
        let scopes: Vec<_> = stored.token.scopes.iter().copied().map(Scope::as_str).collect();
        let mut state = state(&stored, now);
        if let Some(left) = stored.token.bounds.uses_left {
            state = format!("{state}, {left} enrolments left");
        }
        if stored.token.bounds.adopts {
            state = format!("{state}, may take ids over");
        }
        if let Some(node) = &stored.token.bounds.node {
            state = format!("{state}, node {node} alone");
        }
        for (name, value) in &stored.token.bounds.labels {
            state = format!("{state}, {name}={value}");
        }
        say(format_args!(
            "{}  {:<20}  {:<24}  {state}",
            stored.token.id,
            stored.token.name,
            scopes.join(",")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn state(stored: &StoredToken, now: time::OffsetDateTime) -> String {
    match (stored.revoked_at, stored.token.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if at <= now => format!("expired {at}"),
        (None, Some(at)) => format!("until {at}"),
        (None, None) => "no end".to_owned(),
    }
}

async fn revoke(arguments: &RevokeArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    if !store
        .revoke_token(&arguments.id, &By::command_line(), SystemClock.now())
        .await?
    {
        bail!(
            "there is no token {}; `peerless token list` shows them",
            arguments.id
        );
    }
    say(format_args!("revoked {}", arguments.id))?;
    Ok(ExitCode::SUCCESS)
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    Scope::from_word(text).ok_or_else(|| "write edit, publish, report, enrol, fleet or admin".to_owned())
}

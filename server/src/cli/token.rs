//! `peerless token create|list|revoke`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use kb_core::ids::NodeId;

use super::{open_existing, refuse_missing, say};
use crate::clock::{Clock as _, SystemClock, SystemRandom};
use crate::config::DataArgs;
use crate::domain::tokens;
use crate::startup::open_store;
use crate::store::{Bounds, Scope, StoredToken};

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
    let now = SystemClock.now();
    let expires_at = arguments.expires_in.map(|duration| now + duration);
    let bounds = Bounds {
        node: arguments.node,
        machine_sha256: None,
        enrolled_by: None,
        uses_left: arguments.uses,
    };
    let issued = tokens::issue(
        store.as_ref(),
        &SystemRandom,
        &arguments.name,
        arguments.scopes,
        (now, expires_at),
        bounds,
    )
    .await?;
    say(format_args!("{}", issued.text))?;
    eprintln!(
        "made in {}; this is the only time it is shown; take it back with: peerless token revoke {}",
        arguments.data.shown(),
        issued.token.id
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
        if let Some(node) = &stored.token.bounds.node {
            state = format!("{state}, node {node} alone");
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
    if !store.revoke_token(&arguments.id, SystemClock.now()).await? {
        bail!(
            "there is no token {}; `peerless token list` shows them",
            arguments.id
        );
    }
    say(format_args!("revoked {}", arguments.id))?;
    Ok(ExitCode::SUCCESS)
}

/// Longest name of a token, in characters.
const NAME_MAX: usize = 100;

fn parse_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() || name.chars().count() > NAME_MAX || name.chars().any(char::is_control) {
        return Err(format!("a name has 1 to {NAME_MAX} characters, all in one line"));
    }
    Ok(name.to_owned())
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    Scope::from_word(text).ok_or_else(|| "write edit, publish, report, enrol, fleet or admin".to_owned())
}

/// Reads `90d` and the like.
fn parse_duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "write a number and m, h, d or w: 90d";
    let digits = text
        .find(|character: char| !character.is_ascii_digit())
        .ok_or(FORM)?;
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| FORM)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(FORM.to_owned()),
    };
    // A hundred years: beyond it the calendar ends before the token.
    let limit = 36_525 * 86_400;
    number
        .checked_mul(seconds)
        .filter(|total| *total > 0 && *total <= limit)
        .map(Duration::from_secs)
        .ok_or_else(|| "a token lasts between a minute and a hundred years".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_into_a_list() {
        assert_eq!(parse_name(" node fleet "), Ok("node fleet".to_owned()));
        for bad in ["", "  ", "a\nb", "a\u{1b}[2J", &"x".repeat(NAME_MAX + 1)] {
            assert!(parse_name(bad).is_err(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn durations_are_a_number_and_a_unit() {
        assert_eq!(parse_duration("90d"), Ok(Duration::from_hours(90 * 24)));
        assert_eq!(parse_duration("12h"), Ok(Duration::from_hours(12)));
        for bad in ["", "d", "90", "90x", "-1d", "0d", "999999w", "1d2h"] {
            assert!(parse_duration(bad).is_err(), "{bad:?} was accepted");
        }
    }
}

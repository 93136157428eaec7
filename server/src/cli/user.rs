//! `peerless user add|list|set-role|disable|enable|password`.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand};

use super::{open_existing, refuse_missing, say};
use crate::clock::{Clock as _, SystemClock, SystemRandom};
use crate::config::DataArgs;
use crate::domain::accounts::{MAX_PASSWORD_BYTES, Passwords, people};
use crate::startup::open_store;
use crate::store::{By, Person, Role, Standing, Store};

/// What to do with accounts.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Make an account; the password is asked for, or read from standard input
    Add(AddArgs),
    /// List accounts
    List(DataArgs),
    /// Give an account another role; its sessions end
    SetRole(RoleArgs),
    /// Shut an account out, with its sessions and tokens
    Disable(OneArgs),
    /// Let an account in again
    Enable(OneArgs),
    /// Set another password, asked for or read from standard input; its sessions end
    Password(OneArgs),
}

/// The account to make.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// What the person logs in with
    login: String,
    /// What readers see beside revisions [default: the login]
    #[arg(long, default_value = "", hide_default_value = true)]
    name: String,
    /// viewer (reads), contributor (proposes), editor (publishes), admin (all)
    #[arg(long, value_parser = parse_role, default_value = "viewer")]
    role: Role,
    /// The person runs nodes, too: reads nodes and reports, uploads reports, lets nodes join
    #[arg(long)]
    operator: bool,
    /// Without a password, for somebody who logs in at a proxy or a provider
    #[arg(long)]
    without_password: bool,
    /// Make the database where there is none yet
    #[arg(long)]
    init: bool,
    #[command(flatten)]
    data: DataArgs,
}

/// The role to give.
#[derive(Debug, Args)]
pub struct RoleArgs {
    /// What the person logs in with
    login: String,
    /// viewer (reads), contributor (proposes), editor (publishes), admin (all)
    #[arg(value_parser = parse_role)]
    role: Role,
    /// Whether the person runs nodes, too [default: as before]
    #[arg(long, value_name = "BOOL")]
    operator: Option<bool>,
    #[command(flatten)]
    data: DataArgs,
}

/// An account.
#[derive(Debug, Args)]
pub struct OneArgs {
    /// What the person logs in with
    login: String,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(command: UserCommand) -> anyhow::Result<ExitCode> {
    match command {
        UserCommand::Add(arguments) => add(arguments).await?,
        UserCommand::List(data) => list(&data).await?,
        UserCommand::SetRole(arguments) => set_role(arguments).await?,
        UserCommand::Disable(arguments) => set_disabled(arguments, true).await?,
        UserCommand::Enable(arguments) => set_disabled(arguments, false).await?,
        UserCommand::Password(arguments) => password(arguments).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn add(arguments: AddArgs) -> anyhow::Result<()> {
    if !arguments.init {
        refuse_missing(&arguments.data).map_err(|error| anyhow!("{error}; or make it with --init"))?;
    }
    let password = if arguments.without_password {
        None
    } else {
        Some(read_password()?)
    };
    let store = open_store(&arguments.data).await?;
    let passwords = Passwords::new(&SystemRandom)?;
    let wanted = people::Wanted {
        login: &arguments.login,
        name: &arguments.name,
        password: password.as_deref(),
        standing: Standing {
            role: arguments.role,
            operator: arguments.operator,
        },
    };
    let now = SystemClock.now();
    let how = (&passwords, &SystemRandom as &dyn crate::clock::Random);
    people::add(store.as_ref(), how, &wanted, &By::command_line(), now).await?;
    say(format_args!("added {}", arguments.login.trim()))?;
    Ok(())
}

async fn list(data: &DataArgs) -> anyhow::Result<()> {
    for person in open_existing(data).await?.persons().await? {
        let mut role = person.standing.role.as_str().to_owned();
        if person.standing.operator {
            role += " + operator";
        }
        let how = match (&person.password_hash, &person.subject) {
            (Some(_), _) => "password".to_owned(),
            (None, Some((issuer, _))) => issuer.clone(),
            (None, None) => "no password".to_owned(),
        };
        let state = match person.disabled_at {
            Some(at) => format!("disabled {at}"),
            None => format!("since {}", person.created_at),
        };
        say(format_args!(
            "{:<20}  {:<24}  {role:<22}  {how:<12}  {state}",
            person.login, person.name
        ))?;
    }
    Ok(())
}

async fn set_role(arguments: RoleArgs) -> anyhow::Result<()> {
    let (store, person) = find(&arguments.data, &arguments.login).await?;
    let standing = Standing {
        role: arguments.role,
        operator: arguments.operator.unwrap_or(person.standing.operator),
    };
    let (by, now) = (By::command_line(), SystemClock.now());
    people::set_role(store.as_ref(), &person.id, standing, &by, now).await?;
    say(format_args!("{} is {}", person.login, arguments.role.as_str()))?;
    Ok(())
}

async fn set_disabled(arguments: OneArgs, disabled: bool) -> anyhow::Result<()> {
    let (store, person) = find(&arguments.data, &arguments.login).await?;
    let (by, now) = (By::command_line(), SystemClock.now());
    people::set_disabled(store.as_ref(), &person.id, disabled, &by, now).await?;
    let done = if disabled { "shut out" } else { "let in again" };
    say(format_args!("{} is {done}", person.login))?;
    Ok(())
}

async fn password(arguments: OneArgs) -> anyhow::Result<()> {
    let (store, person) = find(&arguments.data, &arguments.login).await?;
    let password = read_password()?;
    let passwords = Passwords::new(&SystemRandom)?;
    let (by, now) = (By::command_line(), SystemClock.now());
    let how = (&passwords, &SystemRandom as &dyn crate::clock::Random);
    people::set_password(store.as_ref(), how, &person, &password, &by, now).await?;
    say(format_args!("{} has another password", person.login))?;
    Ok(())
}

async fn find(data: &DataArgs, login: &str) -> anyhow::Result<(Arc<dyn Store>, Person)> {
    let store = open_existing(data).await?;
    match store.person_by_login(login.trim()).await? {
        Some(person) => Ok((store, person)),
        None => bail!("there is nobody with the login {login}; `peerless user list` shows all"),
    }
}

/// Asks for the password twice, or reads one line from standard input. Arguments are seen by everybody on the machine.
fn read_password() -> anyhow::Result<String> {
    if io::stdin().is_terminal() {
        let password = rpassword::prompt_password("Password: ").context("cannot ask for the password")?;
        let again = rpassword::prompt_password("Password again: ").context("cannot ask for the password")?;
        if password != again {
            bail!("the two passwords differ");
        }
        return Ok(password);
    }
    let mut line = String::new();
    let longest = u64::try_from(MAX_PASSWORD_BYTES)? + 3;
    let mut input = io::Read::take(io::stdin().lock(), longest);
    input
        .read_line(&mut line)
        .context("cannot read the password from standard input")?;
    let password = line.strip_suffix('\n').unwrap_or(&line);
    let password = password.strip_suffix('\r').unwrap_or(password);
    if password.is_empty() {
        bail!(
            "no password came on standard input: `peerless user add LOGIN < FILE`, or run it on a terminal"
        );
    }
    Ok(password.to_owned())
}

fn parse_role(text: &str) -> Result<Role, String> {
    Role::from_word(text).ok_or_else(|| "write viewer, contributor, editor or admin".to_owned())
}

//! All settings: flags, environment names and defaults in one place, shown by `--help`.

mod login;
mod network;
mod policy;
mod served;
mod tell;

use std::path::PathBuf;

use clap::Args;

pub use login::{OidcArgs, RoleOf};
pub use network::{Network, NetworkError};
pub use policy::PolicyArgs;
pub use tell::TellArgs;

use crate::telemetry::LogFormat;

/// Requests per second and client that are let through on the long run, unless `--rate-limit` says otherwise.
pub const RATE_PER_SECOND: u32 = 100;

/// Where the data is.
#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// Folder for the SQLite file; `serve` and `import` make it when it is missing
    #[arg(long, env = "PEERLESS_DATA_DIR", default_value = "data", value_name = "DIR")]
    pub data_dir: PathBuf,

    /// Database, `sqlite://FILE` or `postgres://USER:PASSWORD@HOST/NAME` [default: a SQLite file in the data folder]
    #[arg(long, env = "PEERLESS_DATABASE", value_name = "URL", hide_env_values = true)]
    pub database: Option<String>,

    /// Size in bytes that the SQLite file may reach [default: what the disk holds]
    #[arg(long, env = "PEERLESS_SQLITE_MAX_BYTES", value_name = "BYTES")]
    pub sqlite_max_bytes: Option<u64>,
}

const SQLITE_FILE: &str = "peerless.db";

impl DataArgs {
    /// The SQLite file that is used unless another database is asked for.
    pub fn sqlite_file(&self) -> PathBuf {
        self.data_dir.join(SQLITE_FILE)
    }

    pub fn url(&self) -> String {
        match &self.database {
            Some(url) => url.clone(),
            None => format!("sqlite://{}", self.sqlite_file().display()),
        }
    }

    /// The URL as it may be shown: without its password.
    pub fn shown(&self) -> String {
        without_password(&self.url())
    }
}

/// Parameters of a database URL that may be shown with their values. Any other may be a secret, or a misspelt one.
const SHOWN_PARAMETERS: [&str; 7] = [
    "host",
    "port",
    "dbname",
    "user",
    "sslmode",
    "application_name",
    "options",
];

/// Replaces the password of a URL by dots, wherever it stands.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // `host=db password=…` is no path, and is refused; it is not printed either.
        if url.contains("password") && url.contains('=') {
            return "…".to_owned();
        }
        return url.to_owned();
    };
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(authority_end);
    let authority = match authority.rsplit_once('@') {
        Some((user_info, host)) => match user_info.split_once(':') {
            Some((user, _)) => format!("{user}:…@{host}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    let (path, parameters) = match tail.split_once('?') {
        Some((path, parameters)) => (path, Some(parameters)),
        None => (tail, None),
    };
    let shown = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if !SHOWN_PARAMETERS.contains(&name) => format!("{name}=…"),
        _ => parameter.to_owned(),
    };
    let parameters = parameters.map_or_else(String::new, |parameters| {
        let shown: Vec<String> = parameters.split('&').map(shown).collect();
        format!("?{}", shown.join("&"))
    });
    format!("{scheme}://{authority}{path}{parameters}")
}

/// How the server runs.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct ServeArgs {
    /// Address and port to serve on; port 0 takes any free one
    #[arg(
        long,
        env = "PEERLESS_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDR:PORT"
    )]
    pub listen: String,

    /// Where the data is.
    #[command(flatten)]
    pub data: DataArgs,

    /// Where users reach this server, when a proxy stands in front
    #[arg(long, env = "PEERLESS_PUBLIC_URL", value_name = "URL", value_parser = served::public_url)]
    pub public_url: Option<String>,

    /// Proxies whose X-Forwarded-For is believed: addresses or networks, separated by commas
    #[arg(
        long,
        env = "PEERLESS_TRUSTED_PROXIES",
        value_name = "NET,…",
        value_delimiter = ','
    )]
    pub trusted_proxies: Vec<Network>,

    /// Let people log in over plain http from other machines: whoever is on the way reads their passwords
    #[arg(long, env = "PEERLESS_INSECURE_LOGIN")]
    pub insecure_login: bool,

    /// Header in which a proxy that signs people on names their login. Believed from the proxies of --trusted-proxies, which must
    /// take it away from what clients send
    #[arg(
        long,
        env = "PEERLESS_LOGIN_HEADER",
        value_name = "NAME",
        value_parser = login::header,
        requires = "trusted_proxies"
    )]
    pub login_header: Option<String>,

    /// Login with OpenID Connect.
    #[command(flatten)]
    pub oidc: OidcArgs,

    /// Programs that are told what happens.
    #[command(flatten)]
    pub tell: TellArgs,

    /// What codes and events mean here.
    #[command(flatten)]
    pub policy: PolicyArgs,

    /// Let everybody read nodes and reports
    #[arg(long, env = "PEERLESS_PUBLIC_FLEET")]
    pub public_fleet: bool,

    /// Show what the server does, with nodes that are made up and some recorded runs, in a database that is gone afterwards. Serves
    /// this machine alone; nobody can write
    #[arg(long, conflicts_with_all = ["data_dir", "database", "login_header", "issuer", "anonymous_writing", "without_shipped", "webhook", "alertmanager", "policy"])]
    pub demo: bool,

    /// Let people write without a login: votes, suggestions and lines that nobody knows, for editors to read. 64 kB each, 20 a day
    /// and address, 256 MiB in all
    #[arg(long, env = "PEERLESS_ANONYMOUS_WRITING")]
    pub anonymous_writing: bool,

    /// Take reports from enrolled nodes alone, each with the credential of its own; tokens that write any node are refused
    #[arg(long, env = "PEERLESS_ENROL_ONLY")]
    pub enrol_only: bool,

    /// Requests per second and client that are let through on the long run; 0 lets all through
    #[arg(long, env = "PEERLESS_RATE_LIMIT", default_value_t = RATE_PER_SECOND, value_name = "N")]
    pub rate_limit: u32,

    /// Threads that answer requests [default: one for each processor]
    #[arg(long, env = "PEERLESS_WORKERS", value_name = "N", value_parser = served::workers)]
    pub workers: Option<usize>,

    /// Leave out the records that ship with the program, for a base of one's own
    #[arg(long, env = "PEERLESS_WITHOUT_SHIPPED")]
    pub without_shipped: bool,

    /// Folder that `cargo xtask wasm` wrote: with it browsers look through logs themselves [default: what is built in, if anything]
    #[arg(long, env = "PEERLESS_TAB", value_name = "DIR")]
    pub tab: Option<PathBuf>,

    /// Form of the log lines on standard error
    #[arg(long, env = "PEERLESS_LOG", default_value = "text", value_enum)]
    pub log: LogFormat,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(
            without_password("postgres://me:s3:cr@t@db:5432/kb?x=1"),
            "postgres://me:…@db:5432/kb?x=…"
        );
        for (given, shown) in [
            (
                "postgres://db/kb?user=me&password=s3cr@t",
                "postgres://db/kb?user=me&password=…",
            ),
            (
                "postgres:///kb?p%61ssword=s3cret&host=/run/pg",
                "postgres:///kb?p%61ssword=…&host=/run/pg",
            ),
            (
                "postgres://me:s3cret@db?passwrod=s3cret",
                "postgres://me:…@db?passwrod=…",
            ),
            ("host=db user=me password=s3cret", "…"),
        ] {
            assert_eq!(without_password(given), shown);
        }
        assert_eq!(without_password("postgres://me@db/kb"), "postgres://me@db/kb");
        assert_eq!(
            without_password("sqlite://data/peerless.db"),
            "sqlite://data/peerless.db"
        );
    }
}

//! What uploading takes: server, token, spool, patience.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::StateArgs;
use crate::process::say;
use crate::upload::{ConfigurationError, Limits, Spool, Uploader, own_credential};

/// How the server is spoken to.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[arg(
        long,
        value_name = "FILE",
        help = "File with the API token [else the value of PEERLESS_TOKEN, else the node's credential in the state folder]"
    )]
    token_file: Option<PathBuf>,
    /// Certificates (PEM) to trust in place of the system's
    #[arg(long, value_name = "FILE", env = "PEERLESS_CA_FILE")]
    pub(crate) ca_file: Option<PathBuf>,
}

impl ServerArgs {
    /// True where a token was given, so that the node's own credential is not asked for.
    pub(crate) fn has_token(&self) -> bool {
        self.token_file.is_some() || std::env::var_os("PEERLESS_TOKEN").is_some()
    }

    /// Checks every setting, and warns of unsafe ones; nothing is sent yet. The node's own credential is looked for in
    /// this state folder, and goes to the server that gave it alone.
    pub(crate) fn uploader(&self, server: &str, state: &Path) -> Result<Uploader, ConfigurationError> {
        let own = if self.has_token() {
            None
        } else {
            match own_credential(state, server) {
                Ok(file) => file,
                Err(warning) => {
                    say(&format!("warning: {warning}"));
                    None
                }
            }
        };
        let token_file = own.as_deref().or(self.token_file.as_deref());
        let uploader =
            Uploader::new(server, token_file, self.ca_file.as_deref()).map_err(|error| match &own {
                Some(own) => error.of_credential(own),
                None => error,
            })?;
        for warning in uploader.warnings() {
            say(&format!("warning: {warning}"));
        }
        Ok(uploader)
    }
}

/// Where reports wait.
#[derive(Debug, Args)]
pub(crate) struct SpoolArgs {
    /// Folder for reports that could not be uploaded [default: /var/lib/peerless-agent/spool, or one of the user's own]
    #[arg(long, value_name = "DIR", env = "PEERLESS_SPOOL")]
    spool: Option<PathBuf>,
    /// Most that waits there, in MiB; the oldest goes, with a line that begins with LOST
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=1 << 20), env = "PEERLESS_SPOOL_MAX_MIB")]
    spool_max_mib: u64,
    /// Longest that a report waits there, in days; then it goes, with a line that begins with LOST
    #[arg(long, value_name = "DAYS", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=3650), env = "PEERLESS_SPOOL_MAX_DAYS")]
    spool_max_days: u64,
}

impl SpoolArgs {
    pub(crate) fn spool(&self) -> Spool {
        let limits = Limits {
            bytes: self.spool_max_mib << 20,
            age: Duration::from_hours(24 * self.spool_max_days),
        };
        Spool::at(self.spool.clone(), limits)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code: 0 all went, 1 some reports still wait, were refused for good (….rejected in the spool) or \
    are damaged, 64 usage or configuration error, such as a file without a report."
)]
pub(crate) struct UploadArgs {
    /// Reports (JSON, or as the spool keeps them) and bundles; without any the spool is emptied
    pub(crate) files: Vec<PathBuf>,
    /// Server to upload to, by its http or https address
    #[arg(long, value_name = "URL", env = "PEERLESS_SERVER", hide_env_values = true)]
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) access: ServerArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) spool: SpoolArgs,
    /// How long to try again where the server does not answer or is busy, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = super::seconds)]
    pub(crate) retry_for: Duration,
}

#[derive(Debug, Args)]
#[command(after_help = "Damaged files stay in the spool and are named; the exit code is then 1.")]
pub(crate) struct BundleArgs {
    /// File to write
    pub(crate) out: PathBuf,
    /// Take the reports out of the spool once the bundle is on disk
    #[arg(long)]
    pub(crate) remove: bool,
    #[command(flatten)]
    pub(crate) spool: SpoolArgs,
}

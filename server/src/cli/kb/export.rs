//! `peerless kb export FILE`.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::ids::Revision;

use crate::bundle::{self, Line, SignKey, write_signed};
use crate::cli::export::published_lines;
use crate::cli::{open_existing, say};
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;

const HELP: &str = "\
The records are those of the database, or those that ship with this program where there is no database. Annexes say where each \
record comes from. A key is made with `minisign -G`, or with -W without a password; the password is asked for, or is in \
PEERLESS_SIGN_PASSWORD. `minisign -V` checks a bundle, too: the first four lines are the signature of what follows.

Example:
  peerless kb export records.bundle --sign-key minisign.key";

/// What to write, and how to sign it.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct KbExportArgs {
    /// The file to make; one that is there is never written over
    file: PathBuf,
    /// File with the secret key, as minisign makes it
    #[arg(long, value_name = "FILE")]
    sign_key: PathBuf,
    /// Who makes the bundle; whoever takes it reads this name
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: &KbExportArgs) -> anyhow::Result<ExitCode> {
    // Before the work of seconds. The file is made at the end, and is refused then, too.
    if arguments.file.try_exists()? {
        bail!("{} is there already", arguments.file.display());
    }
    let key = SignKey::read(&arguments.sign_key, password)?;
    let lines = lines(&arguments.data).await?;
    if lines.is_empty() {
        bail!("there are no published records in {}", arguments.data.shown());
    }
    let now = SystemClock.now();
    let packed = write_signed((now, arguments.from.clone()), &lines, &key)?;
    if packed.len() as u64 > bundle::MOST_BYTES {
        bail!("the bundle would be larger than {} MiB", bundle::MOST_BYTES >> 20);
    }
    write_new(&arguments.file, &packed).with_context(|| arguments.file.display().to_string())?;
    say(format_args!(
        "{}: {} records of {}, {} bytes",
        arguments.file.display(),
        lines.len(),
        now.date(),
        packed.len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

async fn lines(data: &DataArgs) -> anyhow::Result<Vec<Line>> {
    let there = data.database.is_some() || data.sqlite_file().try_exists()?;
    if there {
        let store = open_existing(data).await?;
        let mut lines = Vec::new();
        published_lines(store.as_ref(), |line| {
            lines.push(line);
            Ok(())
        })
        .await?;
        lines.sort_by(|one: &Line, other| one.id.cmp(&other.id));
        return Ok(lines);
    }
    let shipped = bundle::embedded()?.into_iter().map(|seed| Line {
        id: seed.id,
        revision: Revision(1),
        document: seed.document,
        annex: seed.annex,
        withdrawn: false,
    });
    Ok(shipped.collect())
}

fn write_new(file: &std::path::Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut part = tempfile::NamedTempFile::new_in(folder.unwrap_or_else(|| std::path::Path::new(".")))?;
    part.write_all(bytes)?;
    part.as_file().sync_all()?;
    part.persist_noclobber(file)?;
    Ok(())
}

fn password() -> io::Result<String> {
    if let Ok(password) = std::env::var("PEERLESS_SIGN_PASSWORD") {
        return Ok(password);
    }
    if !io::stdin().is_terminal() {
        return Err(io::Error::other(
            "the key has a password: give it in PEERLESS_SIGN_PASSWORD, or run this on a terminal",
        ));
    }
    rpassword::prompt_password("Password of the key: ")
}

//! What recognises errors, fetched from a server once and kept, so that `match` and `watch` need no network. The
//! server's entity tag makes asking again cheap.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kb_core::annex::{Action, Blame, Severity};
use kb_core::ids::RecordId;
use kb_core::matcher::Matcher;
use kb_core::signature::RecordSignatures;
use serde::{Deserialize, Serialize};

use crate::files::{FOR_ALL, write_whole};
use crate::upload::{UploadError, Uploader};

/// What a server's address ends in, as the cache names it.
const REPORTS: &str = "api/v1/reports";

/// The file: the server's answer, and what it was known by.
#[derive(Debug, Serialize, Deserialize)]
struct Cached {
    /// Where it came from: another server's tags mean nothing, even where they read alike. None in older files.
    #[serde(default)]
    server: Option<String>,
    etag: String,
    records: Vec<RecordSignatures>,
}

#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) matcher: Arc<Matcher>,
    records: BTreeMap<RecordId, About>,
    /// Address of the server, with a slash at the end.
    server: Option<String>,
}

/// What a record says of itself in a word each; nothing where it does not.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct About {
    pub(crate) signature: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<Action>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at_fault: Option<Blame>,
    /// Where the message is harmless: when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) harmless: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
}

impl Known {
    pub(crate) fn about(&self, id: &RecordId) -> About {
        let address = self.server.as_ref().map(|server| format!("{server}r/{id}"));
        About {
            address,
            ..self.records.get(id).cloned().unwrap_or_default()
        }
    }
}

impl About {
    /// `severity error, action reset gpu, at fault link`; empty where nothing is known.
    pub(crate) fn weight(&self) -> String {
        let named = [
            ("severity", word(self.severity)),
            ("action", word(self.action)),
            ("at fault", word(self.at_fault)),
        ];
        let told = named
            .into_iter()
            .filter_map(|(name, word)| Some(format!("{name} {}", word?)));
        let harmless = self.harmless.is_some().then(|| "harmless".to_owned());
        told.chain(harmless).collect::<Vec<_>>().join(", ")
    }
}

fn word(value: Option<impl Serialize>) -> Option<String> {
    let value = serde_json::to_value(value?).ok()?;
    Some(value.as_str()?.replace('_', " "))
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SignaturesError {
    #[error("{} holds no signatures yet: name a server once with --server URL", .0.display())]
    None(PathBuf),
    #[error("{}: {why}; remove it, and name a server with --server URL", .path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("the server's signatures cannot be read: {0}")]
    Answer(String),
    #[error(
        "the server has {newer} records and {kept} are here already: it looks emptied; remove {} where it is right",
        .path.display()
    )]
    Shrunk {
        newer: usize,
        kept: usize,
        path: PathBuf,
    },
    #[error("the server has no records: is it a Peerless server with its records loaded?")]
    Empty,
    /// No answer, or a refusal, and no cache to fall back on.
    #[error(transparent)]
    Server(#[from] UploadError),
}

/// The cache's default place: the system's for root, else one of the user's own.
pub(crate) fn default_path() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/cache/peerless-agent/signatures.json");
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = cache.filter(|path| path.is_absolute()).or(home);
    folder
        .unwrap_or_else(std::env::temp_dir)
        .join("peerless-agent/signatures.json")
}

/// The matcher from the cache, which is brought up to date where a server is named. A server that does not answer,
/// or not with signatures, is said, and the cache used as it is; so is a cache that cannot be written.
pub(crate) fn matcher(
    path: &Path,
    server: Option<&Uploader>,
    say: &dyn Fn(&str),
) -> Result<Known, SignaturesError> {
    let cached = match read(path) {
        Err(SignaturesError::Damaged { path, why }) if server.is_some() => {
            say(&format!("{}: {why}; it is fetched anew", path.display()));
            None
        }
        cached => cached?,
    };
    let cached = match server {
        None => cached,
        Some(server) => match refresh(path, server, cached.as_ref(), say) {
            Ok(Some(newer)) => Some(newer),
            Ok(None) => cached,
            Err(
                error @ (SignaturesError::Server(_)
                | SignaturesError::Answer(_)
                | SignaturesError::Shrunk { .. }
                | SignaturesError::Empty),
            ) if cached.is_some() => {
                say(&format!("{error}; the signatures that are here already are used"));
                cached
            }
            Err(error) => return Err(error),
        },
    };
    let cached = cached.ok_or_else(|| SignaturesError::None(path.to_owned()))?;
    let about = |record: &RecordSignatures| {
        let about = About {
            signature: record.signature.clone(),
            severity: record.severity,
            action: record.action,
            at_fault: record.at_fault,
            harmless: record.harmless.clone(),
            address: None,
        };
        (record.id.clone(), about)
    };
    let records = cached.records.iter().map(about).collect();
    let address = cached.server.as_deref();
    let address = address.and_then(|address| address.strip_suffix(REPORTS).map(str::to_owned));
    let (matcher, rejected) = Matcher::build(cached.records);
    if !rejected.is_empty() {
        let count = rejected.len();
        say(&format!(
            "{count} patterns of a newer server are not understood and left out: update the agent"
        ));
    }
    Ok(Known {
        matcher: Arc::new(matcher),
        records,
        server: address,
    })
}

fn read(path: &Path) -> Result<Option<Cached>, SignaturesError> {
    let damaged = |why: String| SignaturesError::Damaged {
        path: path.to_owned(),
        why,
    };
    match fs::read(path) {
        Ok(bytes) => match serde_json::from_slice::<Cached>(&bytes) {
            // As an older agent kept what an emptied server sent.
            Ok(cached) if cached.records.is_empty() => Err(damaged("it has no records".to_owned())),
            Ok(cached) => Ok(Some(cached)),
            Err(error) => Err(damaged(format!("no signatures: {error}"))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(damaged(error.to_string())),
    }
}

fn refresh(
    path: &Path,
    server: &Uploader,
    cached: Option<&Cached>,
    say: &dyn Fn(&str),
) -> Result<Option<Cached>, SignaturesError> {
    #[derive(Deserialize)]
    struct Answer {
        records: Vec<RecordSignatures>,
    }
    let known = cached.filter(|cached| cached.server.as_deref() == Some(server.address()));
    let Some((etag, bytes)) = server.signatures(known.map(|cached| cached.etag.as_str()))? else {
        return Ok(None);
    };
    let answer: Answer =
        serde_json::from_slice(&bytes).map_err(|error| SignaturesError::Answer(error.to_string()))?;
    let (newer, kept) = (
        answer.records.len(),
        cached.map_or(0, |cached| cached.records.len()),
    );
    if newer == 0 {
        return Err(SignaturesError::Empty);
    }
    // Records are withdrawn one by one; a set that lost half of itself is a mistake, and would pass errors over.
    if newer < kept.div_ceil(2) {
        return Err(SignaturesError::Shrunk {
            newer,
            kept,
            path: path.to_owned(),
        });
    }
    let newer = Cached {
        server: Some(server.address().to_owned()),
        etag,
        records: answer.records,
    };
    let written = serde_json::to_vec(&newer)
        .map_err(io::Error::from)
        .and_then(|json| write_whole(path, &json, FOR_ALL));
    if let Err(error) = written {
        say(&format!(
            "{}: {error}; the signatures are used and not kept",
            path.display()
        ));
    }
    Ok(Some(newer))
}

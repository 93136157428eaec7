//! Reports on their way by hand: a bundle is the spool's zstd frames one behind the other, so that `zstd -dc` shows the
//! reports, and two bundles one behind the other are a bundle too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::body::{self, Body};
use super::{ConfigurationError, Spool, read_kept, remove};
use crate::files::{FOR_OWNER, unfinished};

pub(crate) struct Packed {
    pub(crate) count: usize,
    /// Files of the spool that no server could take, each with the reason.
    pub(crate) left: Vec<String>,
}

pub(crate) struct Unpacked {
    pub(crate) bodies: Vec<Body>,
    /// Which reports of a bundle cannot, each with the reason.
    pub(crate) damaged: Vec<String>,
}

/// Writes what the spool holds into one file of its owner's, whole or not at all. What is damaged stays behind: it would
/// only lie in the way of the others. With `empties` the reports packed leave the spool once the bundle is on disk.
pub(crate) fn pack(spool: &Spool, out: &Path, empties: bool) -> io::Result<Packed> {
    let unfinished = unfinished(out)?;
    let mut packed = Vec::new();
    let mut left = Vec::new();
    let written = (|| -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FOR_OWNER)
            .open(&unfinished)?;
        for path in spool.kept() {
            let body = match read_kept(&path) {
                Ok(Some(body)) => body,
                // What another process has sent meanwhile need not travel.
                Ok(None) => continue,
                Err(error) => {
                    left.push(format!("{} cannot be read: {error}", path.display()));
                    continue;
                }
            };
            if let Err(why) = body.id() {
                left.push(format!("{} is damaged: {why}", path.display()));
                continue;
            }
            file.write_all(&body.0)?;
            packed.push(path);
        }
        file.sync_all()?;
        fs::rename(&unfinished, out)?;
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    })();
    if written.is_err() {
        // Nothing half-written stays; if even that fails, the first error says more.
        let _ = fs::remove_file(&unfinished);
    }
    written?;
    if empties {
        for path in &packed {
            remove(path)?;
        }
    }
    Ok(Packed {
        count: packed.len(),
        left,
    })
}

/// The reports of a file: JSON, a file of the spool, or a bundle. Each is checked before the first is sent; of a bundle
/// that is damaged, those that are whole are found. A file with none of them is refused.
pub(crate) fn unpack(path: &Path) -> Result<Unpacked, ConfigurationError> {
    let refused = |why: String| ConfigurationError::File {
        option: "upload",
        path: path.to_owned(),
        why,
    };
    let bytes = fs::read(path).map_err(|error| refused(error.to_string()))?;
    let mut found = Unpacked {
        bodies: Vec::new(),
        damaged: Vec::new(),
    };
    if !bytes.starts_with(&body::ZSTD_MAGIC) {
        found.bodies.push(body::read_body("upload", path)?.1);
        return Ok(found);
    }
    let mut rest = bytes.as_slice();
    for number in 1_usize.. {
        if rest.is_empty() {
            break;
        }
        match first_report(rest) {
            Ok((body, behind)) => {
                found.bodies.push(body);
                rest = behind;
            }
            Err(why) => {
                found.damaged.push(format!("report {number} of the bundle {why}"));
                rest = behind_damage(rest);
            }
        }
    }
    match found.damaged.first() {
        Some(why) if found.bodies.is_empty() => Err(refused(why.clone())),
        _ => Ok(found),
    }
}

fn first_report(bytes: &[u8]) -> Result<(Body, &[u8]), String> {
    let cut = || "is cut off or damaged: copy the bundle again".to_owned();
    let length = zstd::zstd_safe::find_frame_compressed_size(bytes).map_err(|_| cut())?;
    let (frame, behind) = bytes.split_at_checked(length).ok_or_else(cut)?;
    let body = Body(frame.to_vec());
    body.report().map_err(|why| format!("cannot be sent: {why}"))?;
    Ok((body, behind))
}

/// From the next frame on. The length of a damaged one is not to be trusted: it may reach over whole ones.
fn behind_damage(bytes: &[u8]) -> &[u8] {
    let magic = body::ZSTD_MAGIC;
    let next = (1..bytes.len()).find_map(|start| {
        let rest = bytes.get(start..)?;
        rest.starts_with(&magic).then_some(rest)
    });
    next.unwrap_or_default()
}

//! Reports on their way by hand: a bundle is the spool's zstd frames one behind the other, so that `zstd -dc` shows the
//! reports, and two bundles one behind the other are a bundle too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::body::{self, Body};
use super::{ConfigurationError, Spool, read_kept, remove};
use crate::files::FOR_OWNER;

/// Writes all that the spool holds into one file of its owner's, whole or not at all, and says how many reports that is. With
/// `empties` they leave the spool once the bundle is on disk.
pub(crate) fn pack(spool: &Spool, out: &Path, empties: bool) -> io::Result<usize> {
    let kept = spool.kept();
    let name = out
        .file_name()
        .ok_or_else(|| io::Error::other("this names no file"))?;
    let unfinished = out.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let written = (|| -> io::Result<usize> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FOR_OWNER)
            .open(&unfinished)?;
        let mut packed = 0;
        for path in &kept {
            // What another process has sent meanwhile need not travel.
            if let Some(body) = read_kept(path)? {
                file.write_all(&body.0)?;
                packed += 1;
            }
        }
        file.sync_all()?;
        fs::rename(&unfinished, out)?;
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(packed)
    })();
    if written.is_err() {
        // Nothing half-written stays; if even that fails, the first error says more.
        let _ = fs::remove_file(&unfinished);
    }
    let packed = written?;
    if empties {
        for path in &kept {
            remove(path)?;
        }
    }
    Ok(packed)
}

/// The reports of a file: JSON, a file of the spool, or a bundle. Each is checked before the first is sent.
pub(crate) fn unpack(path: &Path) -> Result<Vec<Body>, ConfigurationError> {
    let refused = |why: String| ConfigurationError::File {
        option: "upload",
        path: path.to_owned(),
        why,
    };
    let bytes = fs::read(path).map_err(|error| refused(error.to_string()))?;
    if !bytes.starts_with(&body::ZSTD_MAGIC) {
        return Ok(vec![body::read_body("upload", path)?.1]);
    }
    let mut rest = bytes.as_slice();
    let mut bodies = Vec::new();
    while !rest.is_empty() {
        let number = bodies.len() + 1;
        let cut = || {
            refused(format!(
                "report {number} of the bundle is cut off or damaged: copy the bundle again"
            ))
        };
        let length = zstd::zstd_safe::find_frame_compressed_size(rest).map_err(|_| cut())?;
        let (frame, behind) = rest.split_at_checked(length).ok_or_else(cut)?;
        let body = Body(frame.to_vec());
        body.report()
            .map_err(|why| refused(format!("report {number} of the bundle: {why}")))?;
        bodies.push(body);
        rest = behind;
    }
    Ok(bodies)
}

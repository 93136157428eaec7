//! Reports on their way by hand: a bundle is the spool's zstd frames one behind the other, so that `zstd -dc` shows the
//! reports, and two bundles one behind the other are a bundle too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::body::{self, Body};
use super::{ConfigurationError, Spool};
use crate::files::FOR_OWNER;

/// Writes all that the spool holds into one file of its owner's, whole or not at all, and says how many reports that is. With
/// `remove` they leave the spool once the bundle is on disk.
pub(crate) fn pack(spool: &Spool, out: &Path, remove: bool) -> io::Result<usize> {
    let kept = spool.kept();
    let name = out
        .file_name()
        .ok_or_else(|| io::Error::other("this names no file"))?;
    let unfinished = out.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FOR_OWNER)
            .open(&unfinished)?;
        for path in &kept {
            file.write_all(&fs::read(path)?)?;
        }
        file.sync_all()?;
        fs::rename(&unfinished, out)?;
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    })();
    if let Err(error) = written {
        // Nothing half-written stays; if even that fails, the first error says more.
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    if remove {
        for path in &kept {
            fs::remove_file(path)?;
        }
    }
    Ok(kept.len())
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

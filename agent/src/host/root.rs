//! The folder that stands for `/`, and reading one file below it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use kb_core::report::{Fact, GapKind};

/// More than any of the files read here has; what is longer is cut.
const MOST_BYTES: u64 = 256 * 1024;

/// Where the host's files are read: `/`, unless `--host-root` says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct HostRoot(PathBuf);

impl HostRoot {
    /// A folder that stands for `/`.
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The text of a file; `path` is relative, the fact's source is absolute as on the host.
    pub(crate) fn text(&self, path: &str) -> Fact<String> {
        match read_some(&self.0.join(path)) {
            Ok(bytes) => Fact::read(String::from_utf8_lossy(&bytes).into_owned(), format!("/{path}")),
            Err(error) => {
                let kind = match error.kind() {
                    io::ErrorKind::NotFound => GapKind::NotVisible,
                    io::ErrorKind::PermissionDenied => GapKind::NoPermission,
                    _ => GapKind::Failed,
                };
                super::absent(kind, path, error.to_string())
            }
        }
    }

    /// A file of one line, without its end. An empty one is a gap.
    pub(crate) fn line(&self, path: &str) -> Fact<String> {
        self.find(path, "it is empty", |content| {
            let line = content.trim();
            (!line.is_empty()).then(|| line.to_owned())
        })
    }

    /// What `pick` finds in a file; `otherwise` says what is wrong with a file where it finds nothing.
    pub(crate) fn find(
        &self,
        path: &str,
        otherwise: &str,
        pick: impl FnOnce(&str) -> Option<String>,
    ) -> Fact<String> {
        let text = self.text(path);
        let Some(content) = &text.value else {
            return text;
        };
        match pick(content) {
            Some(value) => Fact::read(value, text.source),
            None => super::absent(GapKind::Failed, path, otherwise),
        }
    }

    /// Whether something is there under that name; `None` where even that is not to be seen.
    pub(crate) fn has(&self, path: &str) -> Option<bool> {
        self.0.join(path).try_exists().ok()
    }
}

fn read_some(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(MOST_BYTES)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

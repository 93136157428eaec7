//! The folder that stands for `/`, and reading one file below it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use kb_core::report::{Fact, GapKind};
use rustix::io::Errno;

use crate::files::NO_WAIT;

/// More than any of the files read here has; what is longer is cut.
const MOST_BYTES: u64 = 256 * 1024;
/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Where the host's files are read: `/`, unless `--host-root` says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct HostRoot(PathBuf);

impl HostRoot {
    pub(crate) fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Why a root other than `/` is none of a running Linux host: a folder that is empty or another one would hide what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        const BOOT_ID: &str = "proc/sys/kernel/random/boot_id";
        let root = self.0.display();
        if self.is_own() {
            return Ok(());
        }
        match std::fs::metadata(&self.0) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => {
                return Err(format!(
                    "{root} is no folder: name the one where the host's / is mounted"
                ));
            }
            Err(error) => {
                return Err(format!(
                    "{root}: {error}: name the folder where the host's / is mounted"
                ));
            }
        }
        let gap = self.line(BOOT_ID).gap;
        gap.map_or(Ok(()), |gap| {
            Err(format!(
                "{root} is not the root of a running Linux host: {BOOT_ID} was looked for there ({}). Mount the host's / with what \
                 is mounted below it (/proc, /sys)",
                gap.reason
            ))
        })
    }

    /// True where its paths are those of this process.
    pub(crate) fn is_own(&self) -> bool {
        self.0.as_os_str() == "/"
    }

    /// Where a host file or folder lies for this process, links followed: absolute links must not leave a root other than `/`.
    pub(crate) fn path(&self, path: &str) -> io::Result<PathBuf> {
        if self.is_own() {
            return Ok(self.unfollowed(path));
        }
        Ok(self.unfollowed(&self.followed(path)?))
    }

    fn unfollowed(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// A path without links, whether or not something is there. `/usr` in the text of a link is the root's.
    fn followed(&self, path: &str) -> io::Result<String> {
        let mut free = joined("", path);
        for _ in 0..=MOST_LINKS {
            let Some(link) = first_link(&self.0, &free) else {
                return Ok(free);
            };
            let target = std::fs::read_link(self.unfollowed(&link))?;
            let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder);
            let rest = free.strip_prefix(&link).unwrap_or_default();
            free = joined(folder, &format!("{}/{rest}", target.to_string_lossy()));
        }
        Err(Errno::LOOP.into())
    }

    /// Waits for nobody: a pipe in the place of a file is an error.
    pub(super) fn open(&self, path: &str) -> io::Result<File> {
        let file = File::options()
            .read(true)
            .custom_flags(NO_WAIT)
            .open(self.path(path)?)?;
        if file.metadata()?.file_type().is_fifo() {
            return Err(io::Error::other("it is a pipe"));
        }
        Ok(file)
    }

    /// The first bytes of a file; `path` is relative, the fact's source is absolute as on the host.
    pub(super) fn bytes(&self, path: &str, most: u64) -> Fact<Vec<u8>> {
        match self.open(path).and_then(|file| read_some(file, most)) {
            Ok(bytes) => Fact::read(bytes, format!("/{path}")),
            Err(error) => unread(path, &error),
        }
    }

    pub(crate) fn text(&self, path: &str) -> Fact<String> {
        self.text_up_to(path, MOST_BYTES)
    }

    pub(super) fn text_up_to(&self, path: &str, most: u64) -> Fact<String> {
        self.bytes(path, most)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file of one line, without its end. An empty one is a gap.
    pub(crate) fn line(&self, path: &str) -> Fact<String> {
        self.find(path, "it is empty", |content| {
            let line = content.trim();
            (!line.is_empty()).then(|| line.to_owned())
        })
    }

    /// What `pick` finds in a file; `otherwise` says what is wrong with a file where it finds nothing.
    pub(crate) fn find<T>(
        &self,
        path: &str,
        otherwise: &str,
        pick: impl FnOnce(&str) -> Option<T>,
    ) -> Fact<T> {
        let text = self.text(path);
        match (text.value.as_deref().map(pick), text.gap) {
            (Some(Some(value)), _) => Fact::read(value, text.source),
            (Some(None), _) => super::absent(GapKind::Failed, path, otherwise),
            (None, gap) => Fact {
                value: None,
                source: text.source,
                gap,
            },
        }
    }

    /// Where a link leads, as a path below the root with `.` and `..` resolved, by its text alone.
    pub(super) fn link(&self, path: &str) -> Fact<String> {
        match std::fs::read_link(self.unfollowed(path)) {
            Ok(target) => {
                let from = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                Fact::read(joined(from, &target.to_string_lossy()), format!("/{path}"))
            }
            Err(error) => unread(path, &error),
        }
    }

    /// The path of what is there under that name, without links; `None` where nothing is.
    pub(super) fn real(&self, path: &str) -> Option<String> {
        let real = self.followed(path).ok()?;
        let is_there = self.unfollowed(&real).try_exists();
        is_there.is_ok_and(|is_there| is_there).then_some(real)
    }

    pub(super) fn names(&self, path: &str) -> Fact<Vec<String>> {
        let entries = self.path(path).and_then(std::fs::read_dir);
        let entries = entries.and_then(Iterator::collect::<io::Result<Vec<_>>>);
        match entries {
            Ok(entries) => {
                let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
                let mut names: Vec<String> = entries.into_iter().map(name).collect();
                names.sort_unstable();
                Fact::read(names, format!("/{path}"))
            }
            Err(error) => unread(path, &error),
        }
    }

    /// Whether something is there under that name; `None` where even that is not to be seen.
    pub(crate) fn has(&self, path: &str) -> Option<bool> {
        self.path(path).and_then(|path| path.try_exists()).ok()
    }
}

pub(super) fn unread<T>(path: &str, error: &io::Error) -> Fact<T> {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => GapKind::NotVisible,
        io::ErrorKind::PermissionDenied => GapKind::NoPermission,
        _ => GapKind::Failed,
    };
    super::absent(kind, path, error.to_string())
}

fn first_link(root: &Path, path: &str) -> Option<String> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let beginnings = ends.filter_map(|end| path.get(..end));
    let mut links = beginnings.filter(|beginning| root.join(beginning).is_symlink());
    links.next().map(str::to_owned)
}

/// `target` as seen from the folder `from`, both below the root.
fn joined(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let start = if target.starts_with('/') { "" } else { from };
    for part in start.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn read_some(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::host::tests::tree::tree;

    #[test]
    fn links_do_not_lead_out_of_the_root() {
        let folder = tree(&[("usr/lib/name", "inside\n")]);
        for (link, target) in [
            ("name", "/usr/lib/name"),
            ("folder", "/usr/lib"),
            ("circle", "circle"),
            ("outside", "/proc/self/status"),
        ] {
            symlink(target, folder.path().join(link)).unwrap();
        }
        let root = HostRoot::new(folder.path());
        for path in ["name", "folder/name", "folder/../../../name"] {
            assert_eq!(root.line(path).value.as_deref(), Some("inside"), "{path}");
        }
        assert_eq!(root.names("folder").value.unwrap(), ["name"]);
        assert_eq!(root.real("circle"), None);
        assert_eq!(root.real("outside"), None);
        assert_eq!(root.text("outside").gap.unwrap().kind, GapKind::NotVisible);
    }

    #[test]
    fn links_are_resolved_below_the_root() {
        let device = joined("sys/bus/pci/devices", "../../../devices/pci0000:00/0000:00:01.0");
        assert_eq!(device, "sys/devices/pci0000:00/0000:00:01.0");
        assert_eq!(joined("etc", "/usr/lib/./os-release"), "usr/lib/os-release");
        assert_eq!(joined("a", "../../../b"), "b");
    }

    #[test]
    fn a_refusal_is_told_from_an_absence() {
        let kind = |kind: io::ErrorKind| unread::<()>("sys", &kind.into()).gap.map(|gap| gap.kind);
        assert_eq!(kind(io::ErrorKind::NotFound), Some(GapKind::NotVisible));
        assert_eq!(kind(io::ErrorKind::PermissionDenied), Some(GapKind::NoPermission));
        assert_eq!(kind(io::ErrorKind::IsADirectory), Some(GapKind::Failed));
    }
}

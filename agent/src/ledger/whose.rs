//! Whose ledgers count for a run: the user's own, and that of the node's daemon.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::LedgerFile;

/// Where a daemon that root runs keeps what it knows.
pub(crate) const OF_THE_NODE: &str = "/var/lib/peerless-agent";
const ROOT: u32 = 0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// The ledger here takes the run in.
    pub(crate) own: Option<PathBuf>,
    /// The daemon of this folder is another user's. It tells what is open.
    pub(crate) of_node: Option<PathBuf>,
}

/// `named`: the state folder of the settings, the same for all users; `default`: the user's, where none is named.
pub(crate) fn folders(
    user: u32,
    named: Option<&Path>,
    default: PathBuf,
    owner: impl Fn(&Path) -> Option<u32>,
) -> Folders {
    let (own, of_node) = match named {
        _ if user == ROOT => (Some(named.map_or(default, Path::to_owned)), None),
        None => (Some(default), Some(PathBuf::from(OF_THE_NODE))),
        Some(folder) if owner(folder).is_some_and(|owner| owner != user) => (None, Some(folder.to_owned())),
        Some(folder) => (Some(folder.to_owned()), None),
    };
    Folders { own, of_node }
}

/// Who keeps the ledger of a folder. Where there is none yet, whose the folder is; nothing where that cannot be seen.
pub(crate) fn owner(folder: &Path) -> Option<u32> {
    let ledger = LedgerFile::of(folder.to_owned()).path();
    let about = fs::metadata(ledger).or_else(|_| fs::metadata(folder)).ok()?;
    Some(about.uid())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: u32 = 1_000;

    fn of(user: u32, named: Option<&str>, owner: Option<u32>) -> (Option<String>, Option<String>) {
        let Folders { own, of_node } =
            folders(user, named.map(Path::new), PathBuf::from("default"), |_| owner);
        let name = |path: PathBuf| path.to_string_lossy().into_owned();
        (own.map(name), of_node.map(name))
    }

    fn told(own: Option<&str>, of_node: Option<&str>) -> (Option<String>, Option<String>) {
        (own.map(str::to_owned), of_node.map(str::to_owned))
    }

    #[test]
    fn each_user_has_a_ledger_and_asks_that_of_the_node() {
        // Root reads any.
        assert_eq!(of(ROOT, None, Some(ROOT)), told(Some("default"), None));
        assert_eq!(of(ROOT, Some("named"), Some(USER)), told(Some("named"), None));
        assert_eq!(
            of(USER, None, Some(ROOT)),
            told(Some("default"), Some(OF_THE_NODE))
        );
        assert_eq!(of(USER, Some("named"), Some(USER)), told(Some("named"), None));
        assert_eq!(of(USER, Some("named"), Some(ROOT)), told(None, Some("named")));
        // Not there, or in a folder that the user may not search.
        assert_eq!(of(USER, Some("named"), None), told(Some("named"), None));
    }

    #[test]
    fn a_ledger_is_of_whoever_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(owner(folder.path()), Some(own));
        assert_eq!(owner(&folder.path().join("none")), None);
    }
}

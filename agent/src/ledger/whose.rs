//! Whose ledgers count for a run, the user's own and that of the node's daemon; and whose a policy is that lies beside one.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use kb_core::ids::NodeId;
use kb_core::policy::Policy;
use kb_core::report::Node;
use serde::Deserialize;

use super::{ABOUT, LedgerFile};
use crate::files::read_plain;
use crate::policy::{PolicyFile, Whose};
use crate::process::say;

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

impl LedgerFile {
    /// The site's policy, as it is kept beside the ledger, for the node that asks.
    pub(crate) fn policy(&self, node: Option<&Node>) -> Policy {
        let whose = |given: &NodeId| whose(self, given, node);
        PolicyFile::of(&self.folder).policy(&whose, &say)
    }
}

/// What the daemon of a folder tells of itself.
#[derive(Deserialize)]
struct About {
    node_id: Option<NodeId>,
    boot_id: Option<String>,
}

/// Whose a policy is that was `given` to a node of this id, and is asked for by `node`. An agent in a container may call the node
/// otherwise; then the daemon of this boot does, or the ledger has both names. A node that is not known is held against nothing.
fn whose(file: &LedgerFile, given: &NodeId, node: Option<&Node>) -> Whose {
    let Some(node) = node else {
        return Whose::NotAsked;
    };
    if node.id == *given {
        return Whose::ThisNodes;
    }
    let about = read_plain(&file.folder.join(ABOUT)).ok();
    let about: Option<About> = about.and_then(|text| serde_json::from_slice(&text).ok());
    let is_of_daemon = |about: About| {
        about.node_id.as_ref() == Some(given) && node.boot_id.is_some() && about.boot_id == node.boot_id
    };
    if about.is_some_and(is_of_daemon) {
        return Whose::ThisNodes;
    }
    let named = Node {
        id: given.clone(),
        hostname: None,
        boot_id: None,
    };
    // One that is not there, cannot be read, or is not this node's tells nothing of its names.
    match file.read(Some(node)) {
        Ok(Some(ledger)) if ledger.check_node(&named).is_ok() => Whose::ThisNodes,
        Ok(Some(_)) => Whose::AnotherNodes,
        Ok(None) | Err(_) => Whose::NotKnown,
    }
}

#[cfg(test)]
mod tests {
    use kb_core::health::Ledger;
    use time::OffsetDateTime;

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

    #[test]
    fn a_policy_is_another_nodes_only_by_a_ledger_of_this_node_that_was_read() {
        let named = |id: &str| Node {
            id: id.parse().unwrap(),
            hostname: None,
            boot_id: Some("a".to_owned()),
        };
        let folder = tempfile::tempdir().unwrap();
        let file = LedgerFile::of(folder.path().to_owned());
        let (own, other) = (named("own"), named("other"));
        assert_eq!(whose(&file, &other.id, None), Whose::NotAsked);
        let whose = |node: &Node| whose(&file, &other.id, Some(node));
        assert_eq!(whose(&other), Whose::ThisNodes);
        assert_eq!(whose(&own), Whose::NotKnown, "no ledger");
        fs::write(file.path(), "{").unwrap();
        assert_eq!(whose(&own), Whose::NotKnown, "a damaged ledger");
        fs::remove_file(file.path()).unwrap();
        let update = |node: &Node| {
            let kept = file.update(OffsetDateTime::UNIX_EPOCH, Some(node), |_: &mut Ledger| ());
            assert_eq!(kept.unwrap().unkept, None);
        };
        update(&own);
        assert_eq!(whose(&own), Whose::AnotherNodes);
        let daemon = |boot: &str| {
            let about = format!(r#"{{"interval_seconds": 60, "node_id": "other", "boot_id": "{boot}"}}"#);
            fs::write(folder.path().join(ABOUT), about).unwrap();
        };
        daemon("a");
        assert_eq!(whose(&own), Whose::ThisNodes, "its daemon calls it so");
        daemon("b");
        assert_eq!(whose(&own), Whose::AnotherNodes);
        update(&other);
        assert_eq!(whose(&own), Whose::ThisNodes, "both names");
    }
}

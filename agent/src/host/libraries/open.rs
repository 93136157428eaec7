//! Which file to open for a library's name, and whether it may be.

use std::path::{Path, PathBuf};

use kb_core::report::ReasonCode;

use super::super::HostRoot;
use super::search::Search;
use super::trust;

/// Beginnings of the names of what the driver's libraries open in their turn.
const DRIVER_LIBRARIES: [&str; 2] = ["libcuda", "libnvidia-"];
/// The same of what libnccl opens: its plugins, and the libraries of network cards.
const NCCL_LIBRARIES: [&str; 4] = ["libnccl", "libibverbs", "libmlx5", "libgdrapi"];
/// Opened by libcuda for the first kernel that has to be translated.
const COMPILER: &str = "libnvidia-ptxjitcompiler.so.1";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotLoaded {
    pub(crate) code: ReasonCode,
    pub(crate) message: String,
}

/// What the dynamic loader says of a file that is not there.
const NO_FILE: &str = "cannot open shared object file";

impl NotLoaded {
    /// With the text of the dynamic loader, which has no codes: its words are read here only.
    pub(crate) fn by_loader(message: String) -> Self {
        let code = if message.contains(NO_FILE) {
            ReasonCode::LibraryNotFound
        } else {
            ReasonCode::LibraryNotLoaded
        };
        Self { code, message }
    }
}

/// What to give the dynamic loader for a library of the driver: its name, or as root the full path of the file that
/// the name leads to, once nobody but root can have written it or what it opens in its turn. The error says why not.
pub(crate) fn file_to_open(name: &str) -> Result<PathBuf, NotLoaded> {
    if !rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from(name));
    }
    let library_path = std::env::var_os("LD_LIBRARY_PATH");
    let library_path = library_path.as_ref().map(|value| value.to_string_lossy());
    let foreign = owner_from_outside();
    let is_trusted = |owner: u32| owner == 0 || Some(owner) == foreign;
    as_root(name, library_path.as_deref(), &is_trusted)
}

/// The same for a copy found where no loader looks: as root only where nobody else can have written it.
pub(crate) fn found_file(path: &Path) -> Result<&Path, NotLoaded> {
    if !rustix::process::geteuid().is_root() {
        return Ok(path);
    }
    let foreign = owner_from_outside();
    let is_trusted = |owner: u32| owner == 0 || Some(owner) == foreign;
    match trust::check(path, &is_trusted) {
        Ok(()) => Ok(path),
        Err(distrust) => Err(refusal(path, &distrust)),
    }
}

fn as_root(
    name: &str,
    library_path: Option<&str>,
    is_trusted: &dyn Fn(u32) -> bool,
) -> Result<PathBuf, NotLoaded> {
    let root = HostRoot::new("/");
    let search = Search::new(&root, library_path, |cached| cached == name || cached == COMPILER);
    let Some(found) = search.find(name) else {
        // The words of the loader, by which people and records know the error.
        return Err(NotLoaded {
            code: ReasonCode::LibraryNotFound,
            message: format!("dlopen failed: {name}: {NO_FILE}: No such file or directory"),
        });
    };
    let found = Path::new("/").join(found);
    let of_nccl = name.starts_with("libnccl");
    let is_opened = |name: &String| {
        let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        begins(&DRIVER_LIBRARIES) || (of_nccl && begins(&NCCL_LIBRARIES))
    };
    // The loader looks into these folders first for whatever it opens later. The system's own libraries among that
    // were taken from there when this process started, so that only the driver's are left to look at.
    let beside = search.named.iter().flat_map(|folder| {
        let names = root.names(folder).value.unwrap_or_default();
        let paths = names.into_iter().filter(is_opened);
        paths
            .map(|name| Path::new("/").join(folder).join(name))
            .collect::<Vec<_>>()
    });
    let compiler = search.find(COMPILER).map(|path| Path::new("/").join(path));
    for path in std::iter::once(found.clone()).chain(compiler).chain(beside) {
        trust::check(&path, is_trusted).map_err(|distrust| refusal(&path, &distrust))?;
    }
    Ok(found)
}

fn refusal(path: &Path, distrust: &trust::Distrust) -> NotLoaded {
    let message = format!(
        "{} was not loaded: {distrust}, so that an ordinary user could have put code there that would run as root; \
         take its folder out of LD_LIBRARY_PATH, make it root's alone, or run the agent as an ordinary user",
        path.display()
    );
    NotLoaded {
        code: ReasonCode::LibraryNotLoaded,
        message,
    }
}

/// The user that owns files from outside, where this process is root of a user namespace of its own: nobody in there
/// can be that user (`user_namespaces(7)`). The driver's libraries are mounted into such containers from the host.
fn owner_from_outside() -> Option<u32> {
    let root = HostRoot::new("/");
    let map = root.line("proc/self/uid_map").value?;
    let is_whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    if is_whole {
        return None;
    }
    root.line("proc/sys/kernel/overflowuid").value?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const NAME: &str = "libcuda-of-this-test.so.1";

    fn open(folder: &Path) -> Result<PathBuf, NotLoaded> {
        let own = rustix::process::geteuid().as_raw();
        as_root(NAME, folder.to_str(), &|owner| owner == 0 || owner == own)
    }

    /// A folder with the header of this program under the library's name.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let header = fs::read("/proc/self/exe").unwrap();
        let file = folder.path().join(NAME);
        fs::write(&file, &header[..64]).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        folder
    }

    #[test]
    fn the_full_path_is_opened() {
        let folder = folder();
        assert_eq!(open(folder.path()), Ok(folder.path().join(NAME)));
    }

    #[test]
    fn a_library_that_another_one_would_open_is_looked_at_too() {
        let folder = folder();
        let beside = folder.path().join("libnvidia-nvvm.so.4");
        fs::write(&beside, "").unwrap();
        fs::set_permissions(&beside, Permissions::from_mode(0o666)).unwrap();
        let NotLoaded {
            code,
            message: refused,
        } = open(folder.path()).unwrap_err();
        assert_eq!(code, ReasonCode::LibraryNotLoaded);
        assert!(
            refused.contains("libnvidia-nvvm.so.4 was not loaded"),
            "{refused}"
        );
    }

    #[test]
    fn a_plugin_that_nccl_would_open_is_looked_at_for_nccl_alone() {
        const NCCL: &str = "libnccl-of-this-test.so.2";
        let folder = folder();
        fs::copy(folder.path().join(NAME), folder.path().join(NCCL)).unwrap();
        let beside = folder.path().join("libibverbs.so.1");
        fs::write(&beside, "").unwrap();
        fs::set_permissions(&beside, Permissions::from_mode(0o666)).unwrap();
        assert!(open(folder.path()).is_ok());
        let own = rustix::process::geteuid().as_raw();
        let is_trusted = |owner| owner == 0 || owner == own;
        let refused = as_root(NCCL, folder.path().to_str(), &is_trusted)
            .unwrap_err()
            .message;
        assert!(refused.contains("libibverbs.so.1 was not loaded"), "{refused}");
    }

    #[test]
    fn a_folder_that_all_can_write_to_is_refused() {
        let folder = folder();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let NotLoaded {
            code,
            message: refused,
        } = open(folder.path()).unwrap_err();
        assert_eq!(code, ReasonCode::LibraryNotLoaded);
        assert!(
            refused.contains("mode 777") && refused.contains("LD_LIBRARY_PATH"),
            "{refused}"
        );
    }

    #[test]
    fn a_library_of_another_machine_is_passed_over() {
        let folder = folder();
        let mut header = fs::read(folder.path().join(NAME)).unwrap();
        header[18] ^= 0xFF;
        fs::write(folder.path().join(NAME), header).unwrap();
        let missing = open(folder.path()).unwrap_err();
        assert_eq!(missing.code, ReasonCode::LibraryNotFound);
        assert_eq!(NotLoaded::by_loader(missing.message.clone()), missing);
    }
}

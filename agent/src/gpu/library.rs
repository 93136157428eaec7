//! Opens libcuda.so.1 by that name, and says which file that was.

use std::path::{Path, PathBuf};

use libloading::Library;

use crate::host::{NotLoaded, file_to_open};

/// The name that the driver installs. `libcuda.so` is a toolkit's link-time stub as often as not.
pub(super) const LIBRARY_NAME: &str = "libcuda.so.1";

/// Exported by the stand-in that the tests use (fake-gpu), and by no driver.
const SIMULATED_MARKER: &str = "fake_gpu_marker\0";

pub(super) struct OpenLibrary {
    /// Never unloaded: the driver's own threads run its code until the process ends.
    pub(super) library: &'static Library,
    pub(super) path: Option<PathBuf>,
    pub(super) simulated: bool,
}

/// Opens the library; the error has the dynamic loader's own text, or says why the file must not be opened as root.
pub(super) fn open() -> Result<OpenLibrary, NotLoaded> {
    let file = file_to_open(LIBRARY_NAME)?;
    // SAFETY: loading the vendor's driver library runs its initialisers, which is what the worker exists for. As root
    // it is a file that nobody else can have written.
    let library = unsafe { Library::new(file) };
    let library = library.map_err(|error| NotLoaded::by_loader(with_causes(&error)))?;
    // SAFETY: the symbol is only looked for, never called or read.
    let simulated = unsafe { library.get::<*const ()>(SIMULATED_MARKER) }.is_ok();
    Ok(OpenLibrary {
        library: Box::leak(Box::new(library)),
        path: mapped_file(LIBRARY_NAME),
        simulated,
    })
}

/// An error with its causes: libloading's own text is "dlopen failed", the loader's text lies behind it.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// The file behind a loaded library, by the memory map of this process: the loader follows links, so the mapped name
/// is `libcuda.so.580.159.04` where `libcuda.so.1` was asked for.
pub(super) fn mapped_file(name: &str) -> Option<PathBuf> {
    let stem = name.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path_of = |line: &str| line.find('/').and_then(|at| line.get(at..).map(PathBuf::from));
    let is_it = |path: &PathBuf| {
        let file = path.file_name().map(std::ffi::OsStr::to_string_lossy);
        file.is_some_and(|file| file.starts_with(stem))
    };
    maps.lines()
        .filter_map(path_of)
        .find(is_it)
        .or_else(|| link_on_search_path(name))
}

/// The stand-in is a link to a file of another name: follow it where `LD_LIBRARY_PATH` names it.
fn link_on_search_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("LD_LIBRARY_PATH")?;
    let mut candidates = std::env::split_paths(&folders).map(|folder| folder.join(name));
    candidates.find(|path| Path::try_exists(path).unwrap_or(false))
}

//! Puts the stand-in where a program under test will open it, with a scenario beside it.

use crate::{calls, elf, scenario::Library, scenario::Scenario};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
};

/// Names the scenario file to the shared library.
pub(crate) const SCENARIO_VARIABLE: &str = "FAKE_GPU_SCENARIO";
/// Names the folder of device memory and counters to the shared library.
pub(crate) const STATE_VARIABLE: &str = "FAKE_GPU_STATE";

/// A stand-in that is ready to be opened.
#[derive(Debug)]
pub struct Installed {
    dir: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Installed {
    /// What a program under test needs in its environment. `LD_LIBRARY_PATH` holds the folder alone; `cuInit` obeys
    /// `CUDA_VISIBLE_DEVICES`, which a test that cares removes or sets itself.
    pub fn environment(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.environment
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Where a library lies, whether the scenario has it or not.
    pub fn library(&self, library: Library) -> PathBuf {
        self.dir.join(library.file_name())
    }

    /// How often each function was called so far, by all processes; functions never called are left out.
    pub fn calls(&self) -> io::Result<BTreeMap<&'static str, u64>> {
        calls::read(&self.dir.join("state"))
    }
}

/// Makes `dir` (which exists and is empty) a folder for `LD_LIBRARY_PATH`: links under the vendor's names to the
/// shared library that cargo built beside the running test, the scenario, and a folder for device memory. Fails when
/// the scenario contradicts itself and when the shared library is not found.
pub fn install(dir: &Path, scenario: &Scenario) -> io::Result<Installed> {
    scenario
        .check()
        .map_err(|why| io::Error::other(format!("scenario '{}': {why}", scenario.name)))?;
    let dir = fs::canonicalize(dir)?;
    let scenario_file = dir.join("scenario.json");
    fs::write(&scenario_file, serde_json::to_vec_pretty(scenario)?)?;
    let state = dir.join("state");
    fs::create_dir(&state)?;
    calls::create(&state)?;

    let library = library_to_link(&dir, scenario)?;
    for name in Library::ALL
        .into_iter()
        .filter(|name| !scenario.absent.libraries.contains(name))
    {
        std::os::unix::fs::symlink(&library, dir.join(name.file_name()))?;
    }
    let environment = vec![
        ("LD_LIBRARY_PATH".into(), dir.clone().into()),
        (SCENARIO_VARIABLE.into(), scenario_file.into()),
        (STATE_VARIABLE.into(), state.into()),
        // Whoever runs with the stand-in asks for its results.
        ("PEERLESS_ALLOW_SIMULATED".into(), "true".into()),
    ];
    Ok(Installed { dir, environment })
}

/// The shared library itself, or a copy that lacks the symbols which the scenario calls absent.
fn library_to_link(dir: &Path, scenario: &Scenario) -> io::Result<PathBuf> {
    let built = built_library()?;
    if scenario.absent.symbols.is_empty() {
        return Ok(built);
    }
    let mut image = fs::read(&built)?;
    for symbol in &scenario.absent.symbols {
        elf::hide_symbol(&mut image, symbol)
            .map_err(|why| io::Error::other(format!("hiding {symbol} in {}: {why}", built.display())))?;
    }
    let copy = dir.join("libfake_gpu.so");
    fs::write(&copy, image)?;
    Ok(copy)
}

/// Cargo builds every crate type of a library that a test depends on, into the folder of the test's own executable
/// (`deps`); the folder above has a copy only where this crate was itself asked for, perhaps long ago.
fn built_library() -> io::Result<PathBuf> {
    let name = "libfake_gpu.so";
    let executable = std::env::current_exe()?;
    let folders = executable.ancestors().skip(1).take(2);
    for folder in folders.flat_map(|folder| [folder.join("deps"), folder.to_path_buf()]) {
        let candidate = folder.join(name);
        if candidate.try_exists()? {
            return Ok(candidate);
        }
    }
    let message = format!(
        "no {name} beside {}: is fake-gpu a dependency of this test?",
        executable.display()
    );
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}

//! The driver's libraries and NCCL: every copy that is found, its version, and which one a process would get.

mod cache;
mod open;
mod places;
mod search;
mod trust;

pub(crate) use open::{NotLoaded, file_to_open, found_file};

use std::collections::{BTreeMap, BTreeSet};

use kb_core::report::{Fact, GapKind, fact_name};
use serde_json::{Value, json};

use super::{HostRoot, embedded};
use places::{Place, places};
use search::Search;

/// Fact, the name that programs open, and what the files' names begin with.
const LIBRARIES: [(&str, &str, &str); 4] = [
    ("libraries.cuda", "libcuda.so.1", "libcuda.so"),
    ("libraries.nvml", "libnvidia-ml.so.1", "libnvidia-ml.so"),
    (fact_name::LIBRARIES_NCCL, "libnccl.so.2", "libnccl.so"),
    (
        "libraries.ptxjit",
        "libnvidia-ptxjitcompiler.so.1",
        "libnvidia-ptxjitcompiler.so",
    ),
];

#[derive(Debug, Default, Clone)]
pub(super) struct Surroundings {
    pub(super) library_path: Option<String>,
    /// Folders of Python and conda environments, and of the user.
    pub(super) virtual_env: Option<String>,
    pub(super) conda_prefix: Option<String>,
    pub(super) home: Option<String>,
}

impl Surroundings {
    pub(super) fn of_this_process() -> Self {
        let variable = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self {
            library_path: variable("LD_LIBRARY_PATH"),
            virtual_env: variable("VIRTUAL_ENV"),
            conda_prefix: variable("CONDA_PREFIX"),
            home: variable("HOME"),
        }
    }
}

/// The facts under `libraries.`: a list each, empty where no copy was found in any place that was looked at.
pub(super) fn facts(root: &HostRoot, surroundings: &Surroundings) -> BTreeMap<String, Fact> {
    let is_wanted = |name: &str| LIBRARIES.iter().any(|(_, _, start)| name.starts_with(start));
    let search = Search::new(root, surroundings.library_path.as_deref(), is_wanted);
    let places = places(root, &search, surroundings);
    // Each folder is listed once.
    let listed: Vec<(&Place, Vec<String>)> = places
        .iter()
        .map(|place| {
            let names = root.names(&place.folder).value.unwrap_or_default();
            (place, names.into_iter().filter(|name| is_wanted(name)).collect())
        })
        .collect();
    let facts = LIBRARIES.map(|(fact, name, start)| {
        let taken = search.find(name).and_then(|path| root.real(&path));
        let mut copies = BTreeSet::new();
        let mut found = Vec::new();
        for (place, names) in &listed {
            // The name that programs open first, then longer ones: a copy is listed under the name it is taken by.
            let of_library = names.iter().filter(|file| file.starts_with(start));
            let (exact, others): (Vec<_>, Vec<_>) = of_library.partition(|file| *file == name);
            for file in exact.into_iter().chain(others) {
                let path = format!("{}/{file}", place.folder);
                let Some(real) = root.real(&path) else { continue };
                if copies.insert(real.clone()) {
                    let is_taken = taken.as_ref() == Some(&real);
                    found.push(describe(root, place, &path, &real, is_taken));
                }
            }
        }
        (
            fact.to_owned(),
            Fact::read(found.into(), "ld.so(8) and usual folders"),
        )
    });
    BTreeMap::from(facts)
}

fn describe(root: &HostRoot, place: &Place, path: &str, real: &str, taken: bool) -> Value {
    json!({
        "path": format!("/{path}"),
        "version": embedded(version(root, place, real)),
        "taken": taken,
        "note": place.note,
    })
}

/// By the file's name, which the driver and NCCL give their version; else by what the wheel is called.
fn version(root: &HostRoot, place: &Place, real: &str) -> Fact<String> {
    let file = real.rsplit('/').next().unwrap_or_default();
    let behind = file.split_once(".so.").map(|(_, version)| version);
    if let Some(version) = behind.filter(|version| version.contains('.')) {
        return Fact::read(version.to_owned(), format!("/{real}"));
    }
    let wheel = place.wheel.as_ref().and_then(|wheel| wheel.version(root));
    match wheel {
        Some(version) => Fact::read(version, format!("/{real}")),
        None => super::absent(
            GapKind::NotVisible,
            real,
            "neither the file's name nor a wheel tells",
        ),
    }
}

#[cfg(test)]
mod tests;

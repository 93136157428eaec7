//! The folders in which copies of the libraries are looked for.

use super::super::HostRoot;
use super::Surroundings;
use super::search::Search;

/// Where containers and distributions put the driver's libraries beside the loader's own folders.
const DRIVER: [&str; 6] = [
    "usr/local/nvidia/lib64",
    "usr/local/nvidia/lib",
    "usr/lib/wsl/lib",
    "usr/local/lib",
    "usr/local/lib64",
    "home/kubernetes/bin/nvidia/lib64",
];
/// Folders of a CUDA toolkit, below `usr/local/cuda*`, with what a library there is.
const TOOLKIT: [(&str, &str); 4] = [
    ("compat", "forward-compatibility copy of the toolkit"),
    ("lib64/stubs", STUB),
    ("targets/x86_64-linux/lib/stubs", STUB),
    ("targets/sbsa-linux/lib/stubs", STUB),
];
const STUB: &str = "toolkit's stub, for linking only: a program that gets it fails with error 34";
/// Folders below which there are `python3.*` folders.
const PYTHONS: [&str; 4] = ["usr/lib", "usr/lib64", "usr/local/lib", "opt/conda/lib"];

pub(super) struct Place {
    pub(super) folder: String,
    pub(super) note: String,
    pub(super) wheel: Option<Wheel>,
}

/// A package of NVIDIA's: `site-packages/nvidia/nccl`.
pub(super) struct Wheel {
    packages: String,
    name: String,
}

impl Wheel {
    /// By the folder `nvidia_nccl_cu12-2.28.9.dist-info` beside it.
    pub(super) fn version(&self, root: &HostRoot) -> Option<String> {
        let names = root.names(&self.packages).value?;
        let start = format!("nvidia_{}", self.name);
        names.iter().find_map(|name| {
            let (package, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
            let rest = package.strip_prefix(&start)?;
            (rest.is_empty() || rest.starts_with('_')).then(|| version.to_owned())
        })
    }
}

/// Every folder to look into, in the loader's order as far as it looks there, each once.
pub(super) fn places(root: &HostRoot, search: &Search<'_>, surroundings: &Surroundings) -> Vec<Place> {
    let mut places = Vec::new();
    let mut add = |folder: String, note: &str, wheel| {
        let note = note_of(&folder).unwrap_or(note).to_owned();
        places.push(Place { folder, note, wheel });
    };
    for folder in &search.named {
        add(folder.clone(), "named by LD_LIBRARY_PATH", None);
    }
    for entry in &search.cached {
        let folder = entry.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        add(
            folder.trim_start_matches('/').to_owned(),
            "in the loader's cache",
            None,
        );
    }
    for folder in &search.usual {
        add(folder.clone(), "in a folder that the loader looks into", None);
    }
    for folder in DRIVER {
        add(folder.to_owned(), "in a usual folder, not in the loader's", None);
    }
    for toolkit in beginning_with(root, "usr/local", "cuda") {
        for (folder, note) in TOOLKIT {
            add(format!("{toolkit}/{folder}"), note, None);
        }
    }
    let relative = |folder: &Option<String>| folder.as_deref().map(|path| path.trim_matches('/').to_owned());
    let conda = relative(&surroundings.conda_prefix);
    if let Some(prefix) = &conda {
        add(format!("{prefix}/lib"), "conda environment", None);
    }
    let own = [relative(&surroundings.virtual_env), conda].into_iter().flatten();
    let own = own.map(|prefix| format!("{prefix}/lib"));
    let home = relative(&surroundings.home).map(|home| format!("{home}/.local/lib"));
    for lib in PYTHONS.map(str::to_owned).into_iter().chain(own).chain(home) {
        for python in beginning_with(root, &lib, "python3") {
            for packages in ["site-packages", "dist-packages"].map(|name| format!("{python}/{name}")) {
                for name in root
                    .names(&format!("{packages}/nvidia"))
                    .value
                    .unwrap_or_default()
                {
                    let folder = format!("{packages}/nvidia/{name}/lib");
                    let wheel = Wheel {
                        packages: packages.clone(),
                        name,
                    };
                    add(folder, "Python package", Some(wheel));
                }
            }
        }
    }
    places
}

fn note_of(folder: &str) -> Option<&'static str> {
    let mut parts = folder.split('/');
    if parts.clone().any(|part| part == "stubs") {
        return Some(STUB);
    }
    parts
        .any(|part| part == "compat")
        .then_some("forward-compatibility copy of the toolkit")
}

fn beginning_with(root: &HostRoot, folder: &str, start: &str) -> Vec<String> {
    let names = root.names(folder).value.unwrap_or_default();
    let fitting = names.into_iter().filter(|name| name.starts_with(start));
    fitting.map(|name| format!("{folder}/{name}")).collect()
}

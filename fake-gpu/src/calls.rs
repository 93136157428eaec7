//! Names of the exported functions and how often each was called: a small file that all processes of a machine map,
//! one 64-bit counter for each name in [`NAMES`].

use std::{collections::BTreeMap, fs, io, path::Path};

mod names;

pub(crate) use names::NAMES;

const FILE: &str = "calls";

pub(crate) fn place(name: &str) -> Option<usize> {
    NAMES.binary_search(&name).ok()
}

/// The name under which launches of a kernel are counted, if they are.
pub(crate) fn kernel(name: &str) -> Option<&'static str> {
    let is_it = |counted: &&&str| counted.strip_prefix("kernel ") == Some(name);
    NAMES.iter().find(is_it).copied()
}

pub(crate) fn file_bytes() -> usize {
    NAMES.len() * size_of::<u64>()
}

pub(crate) fn file(state: &Path) -> std::path::PathBuf {
    state.join(FILE)
}

pub(crate) fn create(state: &Path) -> io::Result<()> {
    fs::write(file(state), vec![0; file_bytes()])
}

/// Reads the counters that are not zero.
pub(crate) fn read(state: &Path) -> io::Result<BTreeMap<&'static str, u64>> {
    let bytes = fs::read(file(state))?;
    let (counters, _) = bytes.as_chunks::<8>();
    let named = NAMES
        .iter()
        .copied()
        .zip(counters.iter().map(|counter| u64::from_ne_bytes(*counter)));
    Ok(named.filter(|(_, count)| *count > 0).collect())
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use std::{collections::BTreeSet, fs, path::Path};

    /// A function that is not in the list would be exported, but neither counted nor hit by faults.
    #[test]
    fn every_exported_function_is_named() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut exported = BTreeSet::new();
        for folder in ["driver", "nvml", "nccl"] {
            for file in fs::read_dir(source.join(folder)).unwrap() {
                let text = fs::read_to_string(file.unwrap().path()).unwrap();
                let functions = text.split("extern \"C\" fn ").skip(1);
                exported.extend(
                    functions
                        .filter_map(|rest| rest.split_once('('))
                        .map(|(name, _)| name.to_owned()),
                );
            }
        }
        for text in ["nvmlErrorString", "ncclGetErrorString", "ncclGetLastError"] {
            assert!(
                exported.remove(text),
                "{text} gives a text, not a code: it is not counted"
            );
        }
        exported.insert("kernel burn".to_owned());
        assert_eq!(
            exported.iter().collect::<Vec<_>>(),
            NAMES.iter().collect::<Vec<_>>()
        );
        assert!(NAMES.is_sorted());
    }
}

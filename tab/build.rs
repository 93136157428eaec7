//! Names the engine by its sources. A module and a server of other sources could disagree on what a record recognises.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Hash bytes in the name: enough to tell versions apart.
const BYTES: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let mut hash = Sha256::new();
    for folder in ["../kb-core/src", "../search/src", "src"] {
        println!("cargo::rerun-if-changed={folder}");
        let mut files = Vec::new();
        collect(Path::new(folder), &mut files)?;
        files.sort();
        for file in files {
            hash.update(file.to_string_lossy().as_bytes());
            hash.update(fs::read(&file)?);
        }
    }
    let name = hash.finalize();
    let name = hex::encode(name.get(..BYTES).unwrap_or_default());
    println!("cargo::rustc-env=PEERLESS_ENGINE={name}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

//! Rebuilds the server when a migration changes: they are embedded by a macro that cargo cannot see through. Packs the records
//! that ship with a release: 13 MB of JSON in 2 MB. A debug build reads them from the source tree.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

const RECORDS: &str = "../kb-seed";
/// Names a folder that `cargo xtask wasm` wrote: what is in it becomes part of the program.
const TAB: &str = "PEERLESS_TAB_MODULE";
/// Effort of compression: once for each release.
const LEVEL: i32 = 19;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=../migrations");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={TAB}");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    embed_tab(&folder)?;
    if std::env::var("PROFILE")? == "release" {
        println!("cargo::rerun-if-changed={RECORDS}");
        pack(&folder)?;
    }
    Ok(())
}

/// Writes `records.list`, a line for each file with its length and its path, and `records.zst`, their texts one behind the other.
fn pack(into: &Path) -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    collect(Path::new(RECORDS), &mut files)?;
    files.sort();
    let (mut list, mut texts) = (String::new(), Vec::new());
    for file in files {
        let text = fs::read(&file)?;
        let path = file
            .strip_prefix(RECORDS)?
            .to_str()
            .ok_or("a path is not UTF-8")?;
        writeln!(list, "{} {path}", text.len())?;
        texts.extend(text);
    }
    fs::write(into.join("records.list"), list)?;
    fs::write(
        into.join("records.zst"),
        zstd::encode_all(texts.as_slice(), LEVEL)?,
    )?;
    Ok(())
}

/// Writes `tab.rs`, which holds the worker's script and the module for browsers where they were named, packed.
fn embed_tab(into: &Path) -> Result<(), Box<dyn Error>> {
    let kind = "pub(super) const MODULE: Option<(&[u8], &[u8])>";
    let Some(folder) = std::env::var_os(TAB).filter(|folder| !folder.is_empty()) else {
        fs::write(into.join("tab.rs"), format!("{kind} = None;\n"))?;
        return Ok(());
    };
    for name in ["worker.js", "tab.wasm"] {
        // A path that is not absolute begins at the root of the repository.
        let file = Path::new("..").join(&folder).join(name);
        println!("cargo::rerun-if-changed={}", file.display());
        let bytes = fs::read(&file).map_err(|error| format!("{TAB}: {}: {error}", file.display()))?;
        fs::write(
            into.join(format!("{name}.zst")),
            zstd::encode_all(bytes.as_slice(), LEVEL)?,
        )?;
    }
    let both = r#"Some((include_bytes!("worker.js.zst"), include_bytes!("tab.wasm.zst")))"#;
    fs::write(into.join("tab.rs"), format!("{kind} = {both};\n"))?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
    }
    Ok(())
}

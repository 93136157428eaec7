//! From what the compiler wrote to the two files that a server gives out.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use wasm_bindgen_cli_support::Bindgen;

use crate::shell;

/// Most bytes that the module and its script may have, compressed. The signatures come on top.
const MOST_BYTES: usize = 3_000_000;

pub(super) fn write(folder: &Path) -> Result<()> {
    let built = shell::target().join("wasm/wasm32-unknown-unknown/tab/peerless_tab.wasm");
    let scratch = tempfile::tempdir()?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(&built)
        .no_modules(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .out_name("tab");
    bindgen
        .generate(scratch.path())
        .with_context(|| built.display().to_string())?;
    fs::create_dir_all(folder)?;
    fs::copy(scratch.path().join("tab_bg.wasm"), folder.join("tab.wasm"))?;
    let glue = fs::read_to_string(scratch.path().join("tab.js"))?;
    let worker = fs::read_to_string(shell::root().join("tab/web/worker.js"))?;
    fs::write(folder.join("worker.js"), format!("{glue}\n{worker}"))?;
    let mut all = 0;
    for name in ["tab.wasm", "worker.js"] {
        let bytes = fs::read(folder.join(name))?;
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes)?;
        let packed = packed.finish()?.len();
        println!("{name}: {} bytes, {packed} compressed", bytes.len());
        all += packed;
    }
    if all > MOST_BYTES {
        bail!("together they have {all} bytes compressed, and may have {MOST_BYTES}");
    }
    Ok(())
}

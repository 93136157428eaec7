//! The module for browsers: of a folder that is named, else the one that was built in, else none.

use std::fs;
use std::path::Path;

use super::StartupError;
use crate::site::Module;
use crate::web::tab_module::TabModule;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/tab.rs"));
}

const WORKER: &str = "worker.js";
const MODULE: &str = "tab.wasm";

pub(super) fn load(folder: Option<&Path>) -> Result<Option<TabModule>, StartupError> {
    let module = tab_module(folder)?;
    Ok(module.map(|module| TabModule::new(module.worker, module.wasm)))
}

/// The files of the module; `None` where no folder is named and none was built in.
pub fn tab_module(folder: Option<&Path>) -> Result<Option<Module>, StartupError> {
    let Some(folder) = folder else {
        let unpack = |packed: &[u8]| zstd::decode_all(packed);
        return match embedded::MODULE {
            None => Ok(None),
            Some((worker, module)) => match (unpack(worker), unpack(module)) {
                (Ok(worker), Ok(wasm)) => Ok(Some(Module { worker, wasm })),
                (Err(error), _) | (_, Err(error)) => {
                    Err(StartupError::Tab(format!("what is built in is damaged: {error}")))
                }
            },
        };
    };
    let read = |name: &str| {
        let file = folder.join(name);
        fs::read(&file).map_err(|error| {
            let file = file.display();
            StartupError::Tab(format!(
                "{file}: {error}; name a folder that `cargo xtask wasm` wrote"
            ))
        })
    };
    Ok(Some(Module {
        worker: read(WORKER)?,
        wasm: read(MODULE)?,
    }))
}

//! What only scripts read: the module, its worker, what recognises records, and what they are searched by. All but the worker is packed,
//! for a host may not pack it on the way.

use std::io::{self, Write as _};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::write::Module;
use crate::domain::tab::{finder, pack};
use crate::feed::Generation;
use crate::web::pages::assets::hashed;

/// Names of the files, below the root of the site. Each holds the hash of its content.
#[derive(Debug)]
pub(super) struct DataFiles {
    pub(super) worker: String,
    pub(super) module: String,
    pub(super) signatures: String,
    pub(super) index: String,
}

/// The files with their content.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) names: DataFiles,
    pub(super) bodies: Vec<(String, Vec<u8>)>,
}

impl Data {
    pub(super) fn of(generation: &Arc<Generation>, module: &Module) -> io::Result<Self> {
        let signatures = packed(&pack(generation)?)?;
        let index = packed(&finder(generation)?)?;
        let code = packed(&module.wasm)?;
        let names = DataFiles {
            worker: hashed("data", "worker", "js", &module.worker),
            module: hashed("data", "tab", "wasm.gz", &code),
            signatures: hashed("data", "signatures", "json.gz", &signatures),
            index: hashed("data", "index", "json.gz", &index),
        };
        let bodies = vec![
            (names.worker.clone(), module.worker.clone()),
            (names.module.clone(), code),
            (names.signatures.clone(), signatures),
            (names.index.clone(), index),
        ];
        Ok(Self { names, bodies })
    }
}

/// Packed the same way whenever it is: no time stands in it.
pub(super) fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packing = GzEncoder::new(Vec::new(), Compression::best());
    packing.write_all(bytes)?;
    packing.finish()
}

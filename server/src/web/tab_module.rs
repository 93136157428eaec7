//! The files of the module for browsers, as they are given out.

use actix_web::web::Bytes;

use super::pages::assets::hashed;

/// The two files that `cargo xtask wasm` writes, each under an address that holds the hash of its content.
#[derive(Debug)]
pub struct TabModule {
    pub(super) worker: File,
    pub(super) module: File,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) href: String,
    pub(super) body: Bytes,
}

impl File {
    fn new(name: &str, extension: &str, body: Vec<u8>) -> Self {
        Self {
            href: hashed("/tab", name, extension, &body),
            body: body.into(),
        }
    }
}

impl TabModule {
    pub fn new(worker: Vec<u8>, module: Vec<u8>) -> Self {
        Self {
            worker: File::new("worker", "js", worker),
            module: File::new("tab", "wasm", module),
        }
    }

    pub(super) fn worker(&self) -> &str {
        &self.worker.href
    }

    pub(super) fn module(&self) -> &str {
        &self.module.href
    }
}

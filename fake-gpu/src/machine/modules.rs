//! Loaded modules and the functions taken from them.

use super::{context::Context, table::Table};
use crate::ptx::{Kernel, Module};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Modules {
    pub(crate) loaded: Table<Arc<Loaded>>,
    pub(crate) functions: Table<Function>,
}

pub(crate) struct Loaded {
    pub(crate) module: Module,
    pub(crate) context: Arc<Context>,
}

#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) of: Arc<Loaded>,
}

impl Modules {
    /// Unloads a module; its functions go with it. False when there is none.
    pub(crate) fn unload(&self, handle: usize) -> bool {
        let Some(loaded) = self.loaded.remove(handle) else {
            return false;
        };
        self.functions
            .remove_all(|function| Arc::ptr_eq(&function.of, &loaded));
        true
    }

    pub(crate) fn remove_all(&self, context: &Arc<Context>) {
        self.functions
            .remove_all(|function| Arc::ptr_eq(&function.of.context, context));
        self.loaded
            .remove_all(|loaded| Arc::ptr_eq(&loaded.context, context));
    }
}

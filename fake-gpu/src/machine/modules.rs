//! Loaded modules and the functions taken from them.

use super::{context::Context, table::Table};
use crate::ptx::{Kernel, Module};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Default)]
pub(crate) struct Modules {
    pub(crate) loaded: Table<Arc<Loaded>>,
    pub(crate) functions: Table<Function>,
    /// Launches of each kernel on each GPU, by this process.
    launches: Mutex<HashMap<(String, usize), u64>>,
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
    /// Counts a launch; gives how many there were before.
    pub(crate) fn launch(&self, kernel: &str, gpu: usize) -> u64 {
        let mut launches = self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        let count = launches.entry((kernel.to_owned(), gpu)).or_default();
        *count += 1;
        *count - 1
    }

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

//! Breadcrumbs: the name of each driver call is written to a descriptor of its own before the call is made, so that
//! the parent can name the call in which a worker hangs or dies. A code that means broken hardware, or a context that is
//! gone, goes the same way, so that it is known whoever made the call, and what the worker did with the error.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// A driver call returned a code that means broken hardware, or that its context is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct HardwareError {
    /// Whose context was current, in CUDA's order; none where there was no context.
    pub(crate) gpu: Option<u32>,
    pub(crate) code: i32,
    pub(crate) code_name: String,
    pub(crate) call: String,
}

/// A line of the pipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Breadcrumb {
    /// About to make this call.
    Call(String),
    Hardware(HardwareError),
}

#[derive(Clone, Default)]
pub(crate) struct Trace {
    descriptor: Option<Rc<File>>,
    /// A context that is spoiled returns its code for every call.
    told: Rc<RefCell<BTreeSet<HardwareError>>>,
}

impl Trace {
    /// Breadcrumbs into this pipe, one a line.
    pub(crate) fn into_pipe(pipe: File) -> Self {
        Self {
            descriptor: Some(Rc::new(pipe)),
            told: Rc::default(),
        }
    }

    /// About to call `name`. One write, unbuffered, so that it is out before the call.
    pub(crate) fn about_to(&self, name: &str) {
        self.write(&Breadcrumb::Call(name.to_owned()));
    }

    pub(crate) fn broken(&self, error: HardwareError) {
        if self.told.borrow_mut().insert(error.clone()) {
            self.write(&Breadcrumb::Hardware(error));
        }
    }

    fn write(&self, crumb: &Breadcrumb) {
        let Some(descriptor) = &self.descriptor else {
            return;
        };
        let Ok(mut line) = serde_json::to_vec(crumb) else {
            return;
        };
        line.push(b'\n');
        // A parent that is gone cannot read it, and this process ends with its parent anyway.
        let _ = descriptor.as_ref().write_all(&line);
    }
}

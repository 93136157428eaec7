//! Breadcrumbs: the name of each driver call is written to a descriptor of its own before the call is made, so that
//! the parent can name the call in which a worker hangs or dies.

use std::fs::File;
use std::io::Write;
use std::rc::Rc;

#[derive(Clone, Default)]
pub(crate) struct Trace {
    descriptor: Option<Rc<File>>,
}

impl Trace {
    /// Breadcrumbs into this pipe, one name a line.
    pub(crate) fn into_pipe(pipe: File) -> Self {
        Self {
            descriptor: Some(Rc::new(pipe)),
        }
    }

    /// About to call `name`. One write, unbuffered, so that it is out before the call.
    pub(crate) fn about_to(&self, name: &str) {
        let Some(descriptor) = &self.descriptor else {
            return;
        };
        let line = format!("{name}\n");
        // A parent that is gone cannot read it, and this process ends with its parent anyway.
        let _ = descriptor.as_ref().write_all(line.as_bytes());
    }
}

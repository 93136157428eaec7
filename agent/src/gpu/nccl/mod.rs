//! NCCL by the agent's own loader, as libcuda: a missing function is `None`, a result a number.

mod collective;
mod communicator;
mod run;
mod symbols;

pub(crate) use collective::Collective;
pub(crate) use communicator::{Communicator, UniqueId};
pub(crate) use run::Member;

use std::ffi::{CStr, c_int};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use libloading::Library;

use super::call::{CallError, call};
use super::library::{mapped_file, with_causes};
use super::trace::Trace;
use crate::host::{file_to_open, found_file};
use symbols::{LastError, Symbols};

/// What programs open, and what a development package adds.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

const RESULTS: [&str; 8] = [
    "ncclSuccess",
    "ncclUnhandledCudaError",
    "ncclSystemError",
    "ncclInternalError",
    "ncclInvalidArgument",
    "ncclInvalidUsage",
    "ncclRemoteError",
    "ncclInProgress",
];

struct Api {
    symbols: Symbols,
    last_error: Option<LastError>,
    trace: Trace,
}

impl Api {
    fn checked(&self, call: &'static str, code: i32) -> Result<(), CallError> {
        if code == 0 {
            return Ok(());
        }
        let known = usize::try_from(code).ok().and_then(|code| RESULTS.get(code));
        let name = known.copied().unwrap_or("unknown code");
        let name = match self.last_error() {
            Some(said) => format!("{name}: {said}"),
            None => name.to_owned(),
        };
        Err(CallError::Code { call, code, name })
    }

    fn last_error(&self) -> Option<String> {
        let ask = self.last_error?;
        // SAFETY: it takes a communicator that it does not look at (nccl.h), and gives a text that stays.
        let text = unsafe { ask(std::ptr::null_mut()) };
        if text.is_null() {
            return None;
        }
        // SAFETY: as above, zero-terminated.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

#[derive(Clone)]
pub(crate) struct Nccl {
    api: Rc<Api>,
    pub(crate) path: Option<PathBuf>,
}

impl Nccl {
    /// Opens the file that was chosen, else what the loader finds by name, else one of the copies that were found
    /// elsewhere. `Err` says why the first of these could not be opened.
    pub(crate) fn load(trace: Trace, chosen: Option<&Path>, copies: &[PathBuf]) -> Result<Self, String> {
        let (library, path) = match chosen {
            Some(file) => {
                trace.about_to(NAMES[0]);
                (open(file)?, Some(file.to_path_buf()))
            }
            None => find(&trace, copies)?,
        };
        // Never unloaded: its own threads run its code until the process ends.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: it was opened under NCCL's name, or the operator says that it is NCCL.
        let symbols = unsafe { Symbols::resolve(library) };
        // SAFETY: the same; the signature is that of nccl.h.
        let last_error = unsafe { library.get::<LastError>("ncclGetLastError\0") };
        let api = Api {
            symbols,
            last_error: last_error.ok().map(|found| *found),
            trace,
        };
        let api = Rc::new(api);
        Ok(Self { api, path })
    }

    /// `ncclGetVersion`: 22809 is 2.28.9.
    pub(crate) fn version(&self) -> Result<i32, CallError> {
        let mut version: c_int = 0;
        // SAFETY: a place for one int.
        unsafe { call!(self.api, ncclGetVersion(&raw mut version)) }?;
        Ok(version)
    }

    /// What is called in `body` begins together at its end.
    fn group(&self, body: impl FnOnce() -> Result<(), CallError>) -> Result<(), CallError> {
        // SAFETY: no arguments; every start has its end below.
        unsafe { call!(self.api, ncclGroupStart()) }?;
        let done = body();
        // SAFETY: ends the group that began above.
        let ended = unsafe { call!(self.api, ncclGroupEnd()) };
        done.and(ended)
    }
}

fn open(file: &Path) -> Result<Library, String> {
    // SAFETY: loading NCCL runs its initialisers, which is what this process exists for. As root it is a file that
    // nobody else can have written, or one that the operator chose.
    unsafe { Library::new(file) }.map_err(|error| with_causes(&error))
}

fn find(trace: &Trace, copies: &[PathBuf]) -> Result<(Library, Option<PathBuf>), String> {
    let mut first = None;
    for name in NAMES {
        trace.about_to(name);
        let file = file_to_open(name).map_err(|error| error.message);
        match file.and_then(|file| open(&file)) {
            Ok(library) => return Ok((library, mapped_file(name))),
            Err(why) => first = first.or(Some(why)),
        }
    }
    for copy in copies {
        match found_file(copy).map_err(|error| error.message).and_then(open) {
            Ok(library) => return Ok((library, Some(copy.clone()))),
            Err(why) => first = Some(format!("{}; {why}", first.unwrap_or_default())),
        }
    }
    Err(first.unwrap_or_default())
}

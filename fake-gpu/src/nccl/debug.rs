//! Warnings, where `NCCL_DEBUG` and `NCCL_DEBUG_FILE` want them, and the last one for `ncclGetLastError`.

use std::{
    ffi::CString,
    fs::OpenOptions,
    io::Write,
    sync::{Mutex, PoisonError},
};

/// Never freed: the caller keeps the pointer.
static LAST: Mutex<Option<&'static CString>> = Mutex::new(None);

pub(super) fn warn(gpu: usize, text: &str) {
    let kept = CString::new(text).unwrap_or_default();
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::leak(Box::new(kept)));
    let wanted = std::env::var("NCCL_DEBUG").unwrap_or_default();
    if !["WARN", "INFO", "TRACE"].contains(&wanted.to_ascii_uppercase().as_str()) {
        return;
    }
    let pid = std::process::id();
    let line = format!("\nnode:{pid}:{pid} [{gpu}] fake.cc:1 NCCL WARN {text}\n");
    let file = std::env::var_os("NCCL_DEBUG_FILE");
    let file = file.and_then(|path| OpenOptions::new().append(true).create(true).open(path).ok());
    match file {
        // A log that cannot be written is nobody's failure.
        Some(mut file) => drop(file.write_all(line.as_bytes())),
        None => print!("{line}"),
    }
}

pub(super) fn last() -> *const std::ffi::c_char {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.map_or(c"".as_ptr(), |text| text.as_ptr())
}

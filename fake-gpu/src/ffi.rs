//! Foreign pointers, wrapped once. A value of these types only ever comes from a caller of an exported function, and
//! the C interface makes the caller answer for what it points to; the functions below rely on that and on nothing
//! else.

use std::ffi::{CStr, c_char, c_void};

/// The caller gave no pointer where one is needed.
#[derive(Debug)]
pub(crate) struct NullPointer;

/// A place where the caller wants a value, or has one.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// A pointer that the caller has put among its options as a number.
    pub(crate) fn from_option(value: usize) -> Self {
        Self(value as *mut T)
    }

    /// The same place for a value of another type, where the interface has several for one pointer.
    pub(crate) fn cast<U>(&self) -> Out<U> {
        Out(self.0.cast())
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Where one value of the caller's array lies, as a number.
    pub(crate) fn address_at(&self, index: usize) -> usize {
        self.0.wrapping_add(index) as usize
    }

    pub(crate) fn put(&self, value: T) -> Result<(), NullPointer> {
        self.put_at(0, value)
    }

    /// Writes one value of the caller's array, which is known to have so many.
    pub(crate) fn put_at(&self, index: usize, value: T) -> Result<(), NullPointer> {
        if self.is_null() {
            return Err(NullPointer);
        }
        // SAFETY: the caller gives a pointer to as many writable values as the interface asks for.
        unsafe { self.0.add(index).write_unaligned(value) };
        Ok(())
    }

    pub(crate) fn get(&self) -> Result<T, NullPointer> {
        self.get_at(0)
    }

    /// Reads one value of the caller's array, which is known to have so many.
    pub(crate) fn get_at(&self, index: usize) -> Result<T, NullPointer> {
        if self.is_null() {
            return Err(NullPointer);
        }
        // SAFETY: the caller gives a pointer to as many initialised values as the interface asks for.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }
}

/// Writes `text` and a zero into the caller's buffer of `capacity` bytes. False, with nothing written, when it does not fit.
pub(crate) fn put_text(buffer: &Out<c_char>, capacity: usize, text: &str) -> Result<bool, NullPointer> {
    if buffer.is_null() {
        return Err(NullPointer);
    }
    if text.len() >= capacity {
        return Ok(false);
    }
    for (index, byte) in text.bytes().chain([0]).enumerate() {
        buffer.put_at(index, byte as c_char)?;
    }
    Ok(true)
}

/// Writes what fits of `text`, always terminated (`cuDeviceGetName`, the JIT's logs). Gives the bytes without the zero.
pub(crate) fn put_cut(buffer: &Out<c_char>, capacity: usize, text: &str) -> Result<usize, NullPointer> {
    let Some(room) = capacity.checked_sub(1) else {
        return Ok(0);
    };
    let mut end = text.len().min(room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let cut = text.get(..end).unwrap_or_default();
    put_text(buffer, capacity, cut)?;
    Ok(cut.len())
}

/// A zero-terminated text of the caller.
#[repr(transparent)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// Its bytes without the zero.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, NullPointer> {
        if self.0.is_null() {
            return Err(NullPointer);
        }
        // SAFETY: the caller gives a zero-terminated text.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }

    /// Its text; what is not UTF-8 is replaced.
    pub(crate) fn text(&self) -> Result<String, NullPointer> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }
}

/// Bytes in the caller's ordinary memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct HostBytes(*mut c_void);

// SAFETY: a plain address; what is behind it stays valid until the copy it was given for is done, by the interface.
unsafe impl Send for HostBytes {}

impl HostBytes {
    pub(crate) fn from_option(value: usize) -> Self {
        Self(value as *mut c_void)
    }

    /// The address as a number: pinned memory has the same on both sides.
    pub(crate) fn address(self) -> u64 {
        self.0 as u64
    }

    pub(crate) fn write(self, bytes: &[u8]) -> Result<(), NullPointer> {
        if self.0.is_null() {
            return Err(NullPointer);
        }
        // SAFETY: the caller gives so many writable bytes; they cannot overlap a slice of ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast::<u8>(), bytes.len()) };
        Ok(())
    }

    pub(crate) fn read(self, count: usize) -> Result<Vec<u8>, NullPointer> {
        if self.0.is_null() {
            return Err(NullPointer);
        }
        let mut bytes = vec![0; count];
        // SAFETY: the caller gives so many readable bytes; the vector is new and of that size.
        unsafe { std::ptr::copy_nonoverlapping(self.0.cast::<u8>(), bytes.as_mut_ptr(), count) };
        Ok(bytes)
    }
}

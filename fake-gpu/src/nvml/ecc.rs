//! Error correction and repairs of the memory.

use super::{Code, about::about};
use crate::{ffi::Out, scenario::Ecc};
use std::ffi::{c_int, c_uint, c_ulonglong};

/// `nvmlEccSramErrorStatus_v1_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct SramStatus {
    version: c_uint,
    aggregate_parity: c_ulonglong,
    aggregate_sec_ded: c_ulonglong,
    aggregate_corrected: c_ulonglong,
    volatile_parity: c_ulonglong,
    volatile_sec_ded: c_ulonglong,
    volatile_corrected: c_ulonglong,
    /// L2, multiprocessors, PCIe, microcontrollers, other.
    aggregate_by_place: [c_ulonglong; 5],
    threshold_exceeded: c_uint,
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetEccMode(handle: usize, current: Out<c_uint>, pending: Out<c_uint>) -> c_int {
    about("nvmlDeviceGetEccMode", handle, |about| {
        let on = c_uint::from(about.now.ecc.on.ok_or(Code::NOT_SUPPORTED)?);
        current.put(on)?;
        Ok(pending.put(on)?)
    })
}

/// Error 3 where error correction is off or unknown to the model.
fn counting(ecc: Ecc) -> Result<Ecc, Code> {
    ecc.on.filter(|on| *on).map(|_| ecc).ok_or(Code::NOT_SUPPORTED)
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetTotalEccErrors(
    handle: usize,
    kind: c_uint,
    counter: c_uint,
    count: Out<c_ulonglong>,
) -> c_int {
    about("nvmlDeviceGetTotalEccErrors", handle, |about| {
        let ecc = counting(about.now.ecc)?;
        let errors = match (kind, counter) {
            (0, 0) => ecc.volatile_corrected,
            (1, 0) => ecc.volatile_uncorrected,
            (0, 1) => ecc.aggregate_corrected,
            (1, 1) => ecc.aggregate_uncorrected,
            _ => return Err(Code::INVALID_ARGUMENT),
        };
        Ok(count.put(errors)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetSramEccErrorStatus(handle: usize, status: Out<SramStatus>) -> c_int {
    about("nvmlDeviceGetSramEccErrorStatus", handle, |about| {
        let version = status.get()?.version;
        if version != size_of::<SramStatus>() as c_uint | 1 << 24 {
            return Err(Code::VERSION_MISMATCH);
        }
        let ecc = counting(about.now.ecc)?;
        Ok(status.put(SramStatus {
            version,
            aggregate_parity: 0,
            aggregate_sec_ded: ecc.sram_uncorrected,
            aggregate_corrected: 0,
            volatile_parity: 0,
            volatile_sec_ded: 0,
            volatile_corrected: 0,
            aggregate_by_place: [ecc.sram_uncorrected, 0, 0, 0, 0],
            threshold_exceeded: c_uint::from(ecc.sram_threshold_exceeded),
        })?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetRemappedRows(
    handle: usize,
    corrected: Out<c_uint>,
    uncorrected: Out<c_uint>,
    pending: Out<c_uint>,
    failure: Out<c_uint>,
) -> c_int {
    about("nvmlDeviceGetRemappedRows", handle, |about| {
        let rows = about.now.remapped_rows;
        corrected.put(rows.corrected)?;
        uncorrected.put(rows.uncorrected)?;
        pending.put(c_uint::from(rows.pending))?;
        Ok(failure.put(c_uint::from(rows.failure))?)
    })
}

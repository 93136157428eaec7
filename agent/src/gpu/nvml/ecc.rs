//! Errors of the memory, and its repairs.

use kb_core::report::fact_name;
use nvml_wrapper::Device;
use nvml_wrapper::enum_wrappers::device::{EccCounter, MemoryError};
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper_sys::bindings::nvmlEccSramErrorStatus_t;

use super::raw::{SWITCH, found, get, stamp, state, word};
use super::{Managed, Sheet};

pub(super) fn read_settings(gpu: &Managed, sheet: &mut Sheet) {
    let mode = gpu.ask("nvmlDeviceGetEccMode", |device| {
        state(device, &device.nvml().lib().nvmlDeviceGetEccMode)
    });
    sheet.put("ecc.mode", mode.map(|number| word(number, &SWITCH)));
    sheet.put(
        "ecc.aggregate_uncorrected",
        total(gpu, MemoryError::Uncorrected, EccCounter::Aggregate),
    );
}

/// What may rise during a run. Volatile counts begin with the driver.
pub(super) fn read_counters(gpu: &Managed, sheet: &mut Sheet) {
    sheet.put(
        fact_name::ECC_VOLATILE_CORRECTED,
        total(gpu, MemoryError::Corrected, EccCounter::Volatile),
    );
    sheet.put(
        fact_name::ECC_VOLATILE_UNCORRECTED,
        total(gpu, MemoryError::Uncorrected, EccCounter::Volatile),
    );
    let rows = gpu.ask("nvmlDeviceGetRemappedRows", remapped_rows);
    sheet.put_part(fact_name::REMAPPED_ROWS_CORRECTED, &rows, |rows| rows.corrected);
    sheet.put_part(fact_name::REMAPPED_ROWS_UNCORRECTED, &rows, |rows| {
        rows.uncorrected
    });
    sheet.put_part(fact_name::REMAPPED_ROWS_PENDING, &rows, |rows| rows.pending != 0);
    sheet.put_part(fact_name::REMAPPED_ROWS_FAILURE, &rows, |rows| rows.failure != 0);
    let sram = gpu.ask("nvmlDeviceGetSramEccErrorStatus", |device| {
        let lib = device.nvml().lib();
        get(device, &lib.nvmlDeviceGetSramEccErrorStatus, blank_sram())
    });
    sheet.put_part("ecc.sram_uncorrected", &sram, |sram| {
        sram.aggregateUncParity + sram.aggregateUncSecDed
    });
    sheet.put_part(fact_name::ECC_SRAM_THRESHOLD_EXCEEDED, &sram, |sram| {
        sram.bThresholdExceeded != 0
    });
}

fn total(gpu: &Managed, kind: MemoryError, counter: EccCounter) -> kb_core::report::Fact<u64> {
    gpu.ask("nvmlDeviceGetTotalEccErrors", |device| {
        device.total_ecc_errors(kind, counter)
    })
}

#[derive(Clone, Copy, Default)]
struct RemappedRows {
    corrected: u32,
    uncorrected: u32,
    pending: u32,
    failure: u32,
}

fn remapped_rows(device: &Device<'_>) -> Result<RemappedRows, NvmlError> {
    let function = found(&device.nvml().lib().nvmlDeviceGetRemappedRows)?;
    let mut rows = RemappedRows::default();
    // SAFETY: a live handle and places for four unsigned ints.
    nvml_try(unsafe {
        function(
            device.handle(),
            &raw mut rows.corrected,
            &raw mut rows.uncorrected,
            &raw mut rows.pending,
            &raw mut rows.failure,
        )
    })?;
    Ok(rows)
}

fn blank_sram() -> nvmlEccSramErrorStatus_t {
    nvmlEccSramErrorStatus_t {
        version: stamp::<nvmlEccSramErrorStatus_t>(1),
        aggregateUncParity: 0,
        aggregateUncSecDed: 0,
        aggregateCor: 0,
        volatileUncParity: 0,
        volatileUncSecDed: 0,
        volatileCor: 0,
        aggregateUncBucketL2: 0,
        aggregateUncBucketSm: 0,
        aggregateUncBucketPcie: 0,
        aggregateUncBucketMcu: 0,
        aggregateUncBucketOther: 0,
        bThresholdExceeded: 0,
    }
}

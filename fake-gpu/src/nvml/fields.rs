//! Field values: many questions in one call, each with its own answer.

use super::{
    Code,
    about::{About, about},
    links::link,
};
use crate::{ffi::Out, scenario::LinkErrors};
use std::ffi::{c_int, c_longlong, c_uint, c_ulonglong};

/// `NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY`, `…_DL_RECOVERY`, `…_DL_CRC`: of the link in the scope.
const REPLAY: c_uint = 161;
const RECOVERY: c_uint = 162;
const CRC: c_uint = 163;
/// `NVML_FI_DEV_NVLINK_GET_SPEED`: of the link in the scope.
const SPEED: c_uint = 164;
/// `NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS`: of the link in the scope.
const RECOVERY_EVENTS: c_uint = 215;
/// `NVML_FI_DEV_GET_GPU_RECOVERY_ACTION`.
const RECOVERY_ACTION: c_uint = 230;

/// `nvmlValueType_t`.
const UNSIGNED_INT: c_uint = 1;
const UNSIGNED_LONG_LONG: c_uint = 3;

/// `nvmlFieldValue_t`; the union at its end is 8 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
struct FieldValue {
    field: c_uint,
    scope: c_uint,
    timestamp: c_longlong,
    latency: c_longlong,
    value_type: c_uint,
    code: c_uint,
    value: c_ulonglong,
}

/// The errors of a link that the GPU has.
pub(super) fn errors(about: &About, number: c_uint) -> Result<LinkErrors, Code> {
    link(about, number)?;
    let known = about.now.link_errors.iter();
    let found = known.copied().find(|errors| errors.link == number);
    Ok(found.unwrap_or_default())
}

/// Type and bits of an answer.
fn answer(about: &About, field: c_uint, scope: c_uint) -> Result<(c_uint, u64), Code> {
    about.supported(&format!("field {field}"))?;
    Ok(match field {
        REPLAY => (UNSIGNED_LONG_LONG, errors(about, scope)?.replay),
        RECOVERY => (UNSIGNED_LONG_LONG, errors(about, scope)?.recovery),
        CRC => (UNSIGNED_LONG_LONG, errors(about, scope)?.crc),
        // In place of 162 with NVLink 5.
        RECOVERY_EVENTS if about.supported("field 162").is_err() => {
            (UNSIGNED_LONG_LONG, errors(about, scope)?.recovery)
        }
        SPEED => (UNSIGNED_INT, u64::from(link(about, scope)?.speed_mb_s)),
        RECOVERY_ACTION => (UNSIGNED_INT, u64::from(about.now.recovery_action)),
        _ => return Err(Code::NOT_SUPPORTED),
    })
}

#[unsafe(no_mangle)]
extern "C" fn nvmlDeviceGetFieldValues(handle: usize, count: c_int, values: Out<FieldValue>) -> c_int {
    about("nvmlDeviceGetFieldValues", handle, |about| {
        for index in 0..count as usize {
            let mut asked = values.get_at(index)?;
            match answer(about, asked.field, asked.scope) {
                Ok((value_type, value)) => {
                    asked.code = Code::SUCCESS.0 as c_uint;
                    asked.value_type = value_type;
                    asked.value = value;
                }
                Err(code) => asked.code = code.0 as c_uint,
            }
            values.put_at(index, asked)?;
        }
        Ok(())
    })
}

//! Field values: many questions in one call, each with its own answer.

use nvml_wrapper::Device;
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper_sys::bindings::{nvmlFieldValue_t, nvmlValue_t};

use super::raw::found;

/// A field, `NVML_FI_DEV_…`, and what of the GPU it is about. Only numbers below 251: CUDA 13 drivers have moved those above.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    field: u32,
    scope: u32,
}

impl Question {
    pub(super) fn of_gpu(field: u32) -> Self {
        Self { field, scope: 0 }
    }

    pub(super) fn of_link(field: u32, link: u32) -> Self {
        Self { field, scope: link }
    }

    fn blank(self) -> nvmlFieldValue_t {
        nvmlFieldValue_t {
            fieldId: self.field,
            scopeId: self.scope,
            timestamp: 0,
            latencyUsec: 0,
            valueType: 0,
            nvmlReturn: 0,
            value: nvmlValue_t { ullVal: 0 },
        }
    }
}

/// The answers in the order of the questions.
pub(super) fn all(
    device: &Device<'_>,
    questions: &[Question],
) -> Result<Vec<Result<u64, NvmlError>>, NvmlError> {
    let function = found(&device.nvml().lib().nvmlDeviceGetFieldValues)?;
    let mut values: Vec<nvmlFieldValue_t> = questions.iter().map(|question| question.blank()).collect();
    let count = i32::try_from(values.len()).map_err(|_| NvmlError::InvalidArg)?;
    // SAFETY: a live handle and as many values as said.
    nvml_try(unsafe { function(device.handle(), count, values.as_mut_ptr()) })?;
    Ok(values.iter().map(number).collect())
}

pub(super) fn one(device: &Device<'_>, question: Question) -> Result<u64, NvmlError> {
    let answers = all(device, &[question])?;
    answers.into_iter().next().unwrap_or(Err(NvmlError::NoData))
}

/// A count or a code, which is never negative. The type is read as a number: newer drivers have more of them.
fn number(value: &nvmlFieldValue_t) -> Result<u64, NvmlError> {
    nvml_try(value.nvmlReturn)?;
    let bits = value.value;
    // SAFETY: a union of plain numbers, all of its bytes set before the call.
    unsafe {
        match value.valueType {
            1 => Ok(u64::from(bits.uiVal)),
            2 | 3 => Ok(bits.ullVal),
            4 => u64::try_from(bits.sllVal).map_err(|_| NvmlError::NoData),
            5 => u64::try_from(bits.siVal).map_err(|_| NvmlError::NoData),
            6 => Ok(u64::from(bits.usVal)),
            // A double, or what no header knows yet.
            other => Err(NvmlError::UnexpectedVariant(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: u32, value: nvmlValue_t) -> Result<u64, NvmlError> {
        let mut answer = Question::of_gpu(230).blank();
        answer.valueType = kind;
        answer.value = value;
        number(&answer)
    }

    #[test]
    fn values_are_read_by_their_stated_type() {
        // The upper half is what another type would read.
        let both = nvmlValue_t {
            ullVal: 0x7_0000_0003,
        };
        assert_eq!(answer(1, both).unwrap(), 3);
        assert_eq!(answer(3, both).unwrap(), 0x7_0000_0003);
        assert_eq!(answer(6, both).unwrap(), 3);
        assert!(answer(5, nvmlValue_t { siVal: -1 }).is_err());
        assert!(matches!(answer(99, both), Err(NvmlError::UnexpectedVariant(99))));
    }

    #[test]
    fn an_answers_own_code_comes_before_its_value() {
        let mut answer = Question::of_link(163, 2).blank();
        answer.nvmlReturn = 3;
        assert!(matches!(number(&answer), Err(NvmlError::NotSupported)));
    }
}

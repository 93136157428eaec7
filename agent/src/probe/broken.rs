//! Codes of broken hardware, and of a context that is gone, which no check of the report holds: of a call that frees, of a copy that
//! was only timed, of an attempt whose repetition came to something else.

use std::collections::BTreeMap;

use kb_core::report::{Fact, Failure, Load, fact_name};
use kb_core::verdict::is_hardware_code;
use serde_json::{Value, json};

use crate::gpu::HardwareError;

use super::Found;
use super::setup::Setup;

/// Into the facts of the GPU, by which its pairs are judged; where there is no such pair, it is a failure of the run.
pub(super) fn tell(found: &mut Found, setup: &Setup) {
    let mut of_gpus: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for error in setup.broken.borrow().iter() {
        if !is_hardware_code(error.code) || is_told(found, error) {
            continue;
        }
        match error.gpu.filter(|gpu| has_pair(found, *gpu)).and_then(position) {
            Some(gpu) => of_gpus.entry(gpu).or_default().push(json!({
                "call": error.call,
                "code": error.code,
                "code_name": error.code_name,
            })),
            None => found.failures.push(failure(error)),
        }
    }
    for (gpu, errors) in of_gpus {
        if let Some(gpu) = found.gpus.get_mut(gpu) {
            let fact = Fact::read(errors.into(), "what calls of CUDA returned");
            gpu.facts.insert(fact_name::CUDA_HARDWARE_ERRORS.to_owned(), fact);
        }
    }
}

/// Work on a GPU failed, and nothing else of the report says so: what the run proved is in doubt. Of the processes that ladder, bench and
/// load had: NCCL's have a verdict of their own.
pub(super) fn tell_contexts(found: &mut Found, setup: &Setup) {
    let mut gone: BTreeMap<(Option<u32>, i32), Vec<HardwareError>> = BTreeMap::new();
    for error in setup.broken.borrow().iter() {
        if !is_hardware_code(error.code) && !is_told(found, error) && !stopped(found, error.code) {
            gone.entry((error.gpu, error.code))
                .or_default()
                .push(error.clone());
        }
    }
    for errors in gone.values() {
        let Some(first) = errors.first() else { continue };
        let told = failure(first);
        let others = match errors.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} other calls did"),
        };
        found.failures.push(Failure {
            message: format!("{}{others}, outside of any check", told.message),
            ..told
        });
    }
}

/// True where the code stands in what stopped the load, or some other part of the run.
fn stopped(found: &Found, code: i32) -> bool {
    let of_load = |load: &Load| load.ended.as_ref().is_some_and(|ended| ended.code == Some(code));
    let mut failures = found.failures.iter();
    found.load.as_ref().is_some_and(of_load) || failures.any(|failure| failure.code == Some(code))
}

fn position(gpu: u32) -> Option<usize> {
    usize::try_from(gpu).ok()
}

fn has_pair(found: &Found, gpu: u32) -> bool {
    found.pairs.iter().any(|pair| [pair.a, pair.b].contains(&gpu))
}

/// True where the code stands in a check of the GPU. The calls that clean up behind the check return it, too.
fn is_told(found: &Found, error: &HardwareError) -> bool {
    let mut pairs = found
        .pairs
        .iter()
        .filter(|pair| error.gpu.is_none_or(|gpu| [pair.a, pair.b].contains(&gpu)));
    let by_pair = pairs.any(|pair| {
        let mut checks = pair.directions.iter().flat_map(|way| &way.checks);
        checks.any(|check| check.code == Some(error.code))
    });
    let alone = |failure: &Failure| failure.step == Failure::OWN_MEMORY && failure.code == Some(error.code);
    by_pair || found.failures.iter().any(alone)
}

fn failure(error: &HardwareError) -> Failure {
    let HardwareError {
        gpu,
        code,
        code_name,
        call,
    } = error;
    let whose = gpu.map_or_else(String::new, |gpu| format!("GPU {gpu}: "));
    Failure {
        code: Some(*code),
        code_name: Some(code_name.clone()),
        ..Failure::new(
            Failure::USE_GPU,
            format!("{whose}{call} returned {code} ({code_name})"),
        )
    }
}

//! Codes of broken hardware that no check of the report holds: of a call that frees, of a copy that was only timed, of
//! an attempt whose repetition came to something else.

use std::collections::BTreeMap;

use kb_core::report::{Fact, Failure, fact_name};
use serde_json::{Value, json};

use crate::gpu::HardwareError;

use super::Found;
use super::setup::Setup;

/// Into the facts of the GPU, by which its pairs are judged; where there is no such pair, it is a failure of the run.
pub(super) fn tell(found: &mut Found, setup: &Setup) {
    let mut of_gpus: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for error in setup.broken.borrow().iter() {
        if is_told(found, error) {
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

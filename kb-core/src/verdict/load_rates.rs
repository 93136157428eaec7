//! Rates under load: at the end beside the begin, beside GPUs of the same model, beside the last good run.

use super::load::{Found, pointer};
use super::rows::load as rows;
use crate::report::{Load, LoadOfGpu, Report};

/// The compute kernel, and copies between GPUs, may lose so much from the first third of the load to the last: a GPU that warms
/// up leaks more current, and one at its power cap then lowers its clocks by a few per cent.
const FALL_SHARE: f64 = 0.85;
/// The same of copies with host memory, whose ways are shared with the rest of the machine.
const FALL_SHARE_HOST: f64 = 0.7;
/// A GPU computes as fast as others of its model beside it, but for what dies differ in at the power cap: a few per cent.
const SISTER_SHARE: f64 = 0.9;
/// A GPU reaches again what it has reached, by the same kernel and the same copies.
const EARLIER_SHARE: f64 = 0.9;
/// The same of copies with host memory.
const EARLIER_SHARE_HOST: f64 = 0.7;

fn is_host(rate: &str) -> bool {
    rate == Load::FROM_HOST || rate == Load::TO_HOST
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.0} %", part / whole * 100.0)
}

/// GPUs that end the load clearly more slowly than they begin it.
pub(super) fn falls(load: &Load) -> Vec<Found> {
    let mut found = Vec::new();
    for (place, of) in load.gpus.iter().enumerate() {
        for rate in Load::RATES {
            let Some(spread) = of.figures.get(rate) else {
                continue;
            };
            let share = if is_host(rate) {
                FALL_SHARE_HOST
            } else {
                FALL_SHARE
            };
            if spread.last < share * spread.first {
                let told = format!(
                    "{rate} was {:.1} in the first third of the load and {:.1} in the last, {}",
                    spread.first,
                    spread.last,
                    percent(spread.last, spread.first)
                );
                let evidence = vec![pointer(place, &format!("figures/{rate}"))];
                found.push(Found::of_gpu(&rows::SLOWS_DOWN, of.gpu, told, evidence));
            }
        }
    }
    found
}

/// GPUs that compute clearly slower than the fastest of their model. Copies depend on the place in the machine: not compared.
pub(super) fn sisters(report: &Report, load: &Load) -> Vec<Found> {
    let model = |of: &LoadOfGpu| {
        let gpu = usize::try_from(of.gpu).ok().and_then(|gpu| report.gpus.get(gpu));
        gpu.and_then(|gpu| gpu.name.value.as_deref())
    };
    let rate = |of: &LoadOfGpu| of.figures.get(Load::FMA_RATE).map(|spread| spread.median);
    let mut found = Vec::new();
    for (place, of) in load.gpus.iter().enumerate() {
        let others = load.gpus.iter().filter(|other| other.gpu != of.gpu);
        let alike = others.filter(|other| model(other).is_some() && model(other) == model(of));
        let best = alike.filter_map(rate).fold(0.0, f64::max);
        if let Some(own) = rate(of).filter(|own| *own < SISTER_SHARE * best) {
            let told = format!(
                "its kernel reaches {own:.1}, {} of the {best:.1} of another GPU of its model",
                percent(own, best)
            );
            let evidence = vec![pointer(place, "figures/fma_rate/median")];
            found.push(Found::of_gpu(&rows::SLOWER_THAN_SISTERS, of.gpu, told, evidence));
        }
    }
    found
}

/// GPUs that reach clearly less than in the last good run.
pub(super) fn earlier(load: &Load) -> Vec<Found> {
    let Some(earlier) = &load.earlier.value else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (place, of) in load.gpus.iter().enumerate() {
        let Some(then) = earlier.gpus.iter().find(|then| then.gpu == of.gpu) else {
            continue;
        };
        for rate in Load::RATES {
            let (Some(now), Some(then)) = (of.figures.get(rate), then.medians.get(rate)) else {
                continue;
            };
            let share = if is_host(rate) {
                EARLIER_SHARE_HOST
            } else {
                EARLIER_SHARE
            };
            if now.median < share * then {
                let told = format!(
                    "{rate} is {:.1}, {} of the {then:.1} of the good runs until {}",
                    now.median,
                    percent(now.median, *then),
                    earlier.at
                );
                let evidence = vec![
                    pointer(place, &format!("figures/{rate}/median")),
                    "/load/earlier".to_owned(),
                ];
                found.push(Found::of_gpu(&rows::SLOWER_THAN_BEFORE, of.gpu, told, evidence));
            }
        }
    }
    found
}
